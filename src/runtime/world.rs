//! What a guest can import: WASI's io, clocks, random and cli, our file system, the kernel's calls. Nothing else:
//! sockets and http are not there to be refused, they do not exist.

use wasmtime::component::{HasSelf, Linker};
use wasmtime::{Engine, Result};
use wasmtime_wasi::WasiView;
use wasmtime_wasi::cli::{WasiCli, WasiCliView};
use wasmtime_wasi::p2::bindings::{cli, random};
use wasmtime_wasi::random::WasiRandom;

use super::bindings::{isopod::kernel, wasi::filesystem};
use super::guest::Guest;

pub(super) fn linker(engine: &Engine) -> Result<Linker<Guest>> {
    let mut linker = Linker::new(engine);
    let l = &mut linker;
    // Streams, pollables, clocks, the secure random source, standard streams.
    wasmtime_wasi::p2::add_to_linker_proxy_interfaces_async(l)?;
    random::insecure::add_to_linker::<Guest, WasiRandom>(l, |guest| guest.ctx().ctx.random())?;
    random::insecure_seed::add_to_linker::<Guest, WasiRandom>(l, |guest| guest.ctx().ctx.random())?;
    cli::exit::add_to_linker::<Guest, WasiCli>(l, Guest::cli)?;
    cli::environment::add_to_linker::<Guest, WasiCli>(l, Guest::cli)?;
    cli::terminal_input::add_to_linker::<Guest, WasiCli>(l, Guest::cli)?;
    cli::terminal_output::add_to_linker::<Guest, WasiCli>(l, Guest::cli)?;
    cli::terminal_stdin::add_to_linker::<Guest, WasiCli>(l, Guest::cli)?;
    cli::terminal_stdout::add_to_linker::<Guest, WasiCli>(l, Guest::cli)?;
    cli::terminal_stderr::add_to_linker::<Guest, WasiCli>(l, Guest::cli)?;
    filesystem::types::add_to_linker::<Guest, HasSelf<Guest>>(l, |guest| guest)?;
    filesystem::preopens::add_to_linker::<Guest, HasSelf<Guest>>(l, |guest| guest)?;
    kernel::types::add_to_linker::<Guest, HasSelf<Guest>>(l, |guest| guest)?;
    kernel::files::add_to_linker::<Guest, HasSelf<Guest>>(l, |guest| guest)?;
    kernel::process::add_to_linker::<Guest, HasSelf<Guest>>(l, |guest| guest)?;
    Ok(linker)
}
