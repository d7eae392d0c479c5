//! `isopod programs`: the programs of the sandbox.

use std::process::ExitCode;

use clap::Args;
use isopod::Runtime;

use super::{NO_SANDBOX, print, refuse};

/// List the programs of the sandbox
#[derive(Args)]
pub(super) struct Programs {
    /// Print JSON: name, component and digest of each
    #[arg(long)]
    json: bool,

    /// Check that the code of every program is as it was built; exit code 125 if not
    #[arg(long)]
    verify: bool,
}

impl Programs {
    pub(super) fn run(&self) -> ExitCode {
        if self.verify
            && let Err(error) = Runtime::verify()
        {
            return refuse(NO_SANDBOX, error);
        }
        let programs = match Runtime::on_demand() {
            Ok(runtime) => runtime.programs(),
            Err(error) => return refuse(NO_SANDBOX, error),
        };
        if !self.json {
            return print(programs.iter().map(|program| format!("{}\n", program.name)).collect::<String>(), 0);
        }
        match serde_json::to_string_pretty(&programs) {
            Ok(json) => print(format!("{json}\n"), 0),
            Err(error) => refuse(NO_SANDBOX, error),
        }
    }
}
