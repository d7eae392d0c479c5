//! The imports of a guest: WASI's io, clocks, random and cli, our file system, and the kernel's calls. Nothing else:
//! sockets and http are not refused, they do not exist.

use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, HasSelf, Linker, ResourceType};
use wasmtime::{Engine, Error, Result};
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

/// Satisfies the imports of a component whose libc was made for a world with sockets. A call of such an import ends the
/// process. Python's own code reports that there is no network before it comes to that.
pub(super) fn without_sockets(linker: &Linker<Guest>, component: &Component) -> Result<Linker<Guest>> {
    let mut linker = linker.clone();
    let engine = linker.engine().clone();
    for (name, item) in component.component_type().imports(&engine) {
        let ComponentItem::ComponentInstance(interface) = item.ty else { continue };
        if !name.starts_with("wasi:sockets/") {
            continue;
        }
        let mut instance = linker.instance(name)?;
        for (export, item) in interface.exports(&engine) {
            match item.ty {
                ComponentItem::ComponentFunc(_) => {
                    instance.func_new(export, |_, _, _, _| Err(Error::msg("there are no sockets here")))?;
                }
                // These resources belong to wasi:io, also where another interface mentions them.
                ComponentItem::Resource(_) if !["pollable", "input-stream", "output-stream"].contains(&export) => {
                    instance.resource(export, ResourceType::host::<NoSocket>(), |_, _| Ok(()))?;
                }
                _ => {}
            }
        }
    }
    Ok(linker)
}

/// The resource type of sockets. There is no value of it.
struct NoSocket;
