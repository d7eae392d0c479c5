//! The contenders: the installed and working ones, and the reasons why others are left out.

use std::path::Path;
use std::rc::Rc;

use isopod::Sandbox;
use tokio::runtime::Runtime;

use crate::bashkit::{Interpreter, Peer};
use crate::common::host;
use crate::containers::{self, Container};
use crate::isopod_shells::{Live, New, Warm, builder};
use crate::options::Options;
use crate::programs::{self, Program};
use crate::shell::Shell;

/// All contenders.
pub struct Field<'a> {
    pub runtime: &'a Runtime,
    pub live: Live<'a>,
    pub warm: Warm<'a>,
    pub new: New<'a>,
    pub command_line: Program,
    pub dash: Option<Program>,
    pub bash: Option<Program>,
    pub bubblewrap: Option<Program>,
    pub docker_run: Option<Program>,
    pub docker_exec: Option<Program>,
    pub container: Option<Container>,
    /// podman, runc, crun.
    pub without_daemon: Vec<Program>,
    pub wasmtime: Option<Program>,
    pub bashkit: Option<Rc<Peer>>,
    pub bashkit_live: Option<Interpreter>,
    pub bashkit_new: Option<Interpreter>,
}

impl<'a> Field<'a> {
    /// Looks for all contenders. `scratch` is for files of containers.
    pub fn find(
        options: &Options,
        runtime: &'a Runtime,
        directory: &'a Path,
        scratch: &Path,
        left_out: &mut Vec<(String, String)>,
    ) -> Result<Field<'a>, Box<dyn std::error::Error>> {
        // With the machine's own Python first, because a wrapper script would take longer than Python.
        let path = std::env::var_os("PATH").map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
        let python = host::python().and_then(|python| Some(Path::new(&python).parent()?.display().to_string()));
        let path = python.map(|directory| format!("{directory}:{path}")).unwrap_or(path);
        let mut usable = |program: Program| match program.probe() {
            Ok(()) => Some(program),
            Err(why) => {
                left_out.push((program.name().to_owned(), why));
                None
            }
        };
        let native = |name, shell: &str| Program::new(name, [shell, "-c"], directory).env("PATH", path.clone());
        let (dash, bash) = (usable(native(programs::DASH, "dash")), usable(native(programs::BASH, "bash")));
        let bubblewrap = usable(programs::bubblewrap(directory).env("PATH", path.clone()));
        let container = Container::start(&options.image, directory);
        let (docker_run, docker_exec) = match &container {
            Ok(container) => (
                usable(containers::docker_run(&options.image, directory)),
                usable(containers::docker_exec(container, directory)),
            ),
            Err(_) => (None, None),
        };
        let wasmtime = usable(programs::wasmtime(&options.wasmtime, &options.coreutils, directory));
        if let Err(why) = &container {
            left_out.push(("docker".to_owned(), why.clone()));
        }
        let without_daemon = containers::without_daemon(scratch, left_out);
        let bashkit = Peer::start(&options.bashkit, directory);
        if let Err(why) = &bashkit {
            left_out.push(("bashkit".to_owned(), why.clone()));
        }
        let bashkit = bashkit.ok();
        let interpreter = |is_new| bashkit.clone().map(|peer| Interpreter { peer, is_new });
        let binary = env!("CARGO_BIN_EXE_isopod");
        Ok(Field {
            runtime,
            live: Live { runtime, session: Sandbox::builder().build()?.session()? },
            warm: Warm { runtime, sandbox: builder(directory).build()? },
            new: New { runtime },
            command_line: Program::new(programs::COMMAND_LINE, [binary, "run", "--"], directory),
            dash,
            bash,
            bubblewrap,
            docker_run,
            docker_exec,
            container: container.ok(),
            without_daemon,
            wasmtime,
            bashkit_live: interpreter(false),
            bashkit_new: interpreter(true),
            bashkit,
        })
    }

    /// Returns the contenders with something warm, for longer scripts, Isopod first.
    pub fn workers(&self) -> Vec<&dyn Shell> {
        let natives = [&self.dash, &self.bash, &self.bubblewrap, &self.docker_exec];
        let natives = natives.into_iter().flatten().map(|program| program as &dyn Shell);
        let bashkit = self.bashkit_live.iter().map(|interpreter| interpreter as &dyn Shell);
        std::iter::once(&self.warm as &dyn Shell).chain(natives).chain(bashkit).collect()
    }

    /// Returns those that can run a script, and also the one without a shell if the script is a single command.
    pub fn workers_for(&self, script: &str) -> Vec<&dyn Shell> {
        let shell_less = self.wasmtime.iter().filter(|program| program.understands(script));
        self.workers().into_iter().chain(shell_less.map(|program| program as &dyn Shell)).collect()
    }

    /// Returns the contenders that start anew for each script, Isopod first.
    pub fn starters(&self) -> Vec<&dyn Shell> {
        let programs = [&self.dash, &self.bash, &self.bubblewrap, &self.docker_run, &self.wasmtime];
        let programs = programs.into_iter().flatten().chain(&self.without_daemon).map(|p| p as &dyn Shell);
        let bashkit = self.bashkit_new.iter().map(|interpreter| interpreter as &dyn Shell);
        let isopod: [&dyn Shell; 2] = [&self.new, &self.command_line];
        isopod.into_iter().chain(programs).chain(bashkit).collect()
    }

    /// Returns the shell that gives the right answers.
    pub fn reference(&self) -> Option<&Program> {
        self.bash.as_ref().or(self.dash.as_ref())
    }
}
