//! Operations of agent frameworks: file operations of the backends over one tree, compared with a search by GNU grep.

use std::sync::Arc;
use std::time::Instant;

use isopod::Sandbox;
use isopod::backend::{
    Backend, Bubblewrap, Docker, EditRequest, ExecFiles, GrepRequest, Isopod, LocalShell, ReadRequest, WriteRequest,
};
use tokio::runtime::Runtime;

use crate::field::Field;
use crate::isopod_shells::limits;
use crate::measure::{self, Budget, Contender, Fault};
use crate::options::Options;
use crate::progress::Progress;
use crate::results::Row;
use crate::rows::{grouped, row_trees};
use crate::shell::{Expected, Shell, contender};
use crate::workspace::{path, tree};

pub const ON_HOST: &str = "isopod, a directory of the host";
/// GNU grep, started by fork and exec.
pub const GNU_GREP: &str = "native GNU grep";
const OPERATIONS: [&str; 3] = ["read", "write", "edit"];

/// Returns the name of the row of the search.
pub fn grep_name(options: &Options) -> String {
    format!("backend: grep over {} files", grouped(row_trees(options)[0]))
}

pub fn names(options: &Options) -> Vec<String> {
    OPERATIONS.iter().map(|operation| format!("backend: {operation}")).chain([grep_name(options)]).collect()
}

/// A backend with a tree below `root`.
struct Peer {
    name: &'static str,
    backend: Arc<dyn Backend>,
    root: String,
    /// A file with a needle that only this peer edits: some peers share the tree.
    file: String,
}

/// Measures the selected operations.
pub fn run(
    options: &Options,
    field: &Field<'_>,
    budget: Budget,
    progress: &mut Progress,
) -> Result<Vec<Row>, Box<dyn std::error::Error>> {
    let names = names(options);
    if !names.iter().any(|name| options.is_chosen(name)) {
        return Ok(Vec::new());
    }
    let files = row_trees(options)[0];
    let place = tempfile::tempdir()?;
    tree(place.path(), files)?;
    let peers = peers(field, place.path(), files)?;
    let needles = files.div_ceil(50);
    let mut rows = Vec::new();
    for (name, operation) in names.iter().zip(["read", "write", "edit", "grep"]) {
        if !options.is_chosen(name) {
            continue;
        }
        let script = format!("cd '{}' && grep -rn needle .", place.path().display());
        let searched = field.dash.as_ref().filter(|_| operation == "grep").map(|dash| (dash, dash.run(&script)));
        let expected = match &searched {
            Some((_, Ok(answer))) => Expected { stdout: answer.stdout.clone(), sorted: true },
            _ => Expected::text(""),
        };
        let mut contenders: Vec<Contender<'_>> = Vec::new();
        for peer in &peers {
            let (mut run, runtime) = (0, field.runtime);
            contenders.push(Contender::new(peer.name, move || {
                run += 1;
                let begin = Instant::now();
                perform(runtime, peer, operation, run, needles)?;
                Ok(begin.elapsed())
            }));
        }
        if let Some((dash, Ok(_))) = searched {
            contenders.push(contender(dash, &script, &expected).called(GNU_GREP));
        }
        rows.push(measure::row(name, "backend", budget, progress, contenders));
    }
    Ok(rows)
}

fn peers(field: &Field<'_>, place: &std::path::Path, files: usize) -> Result<Vec<Peer>, Box<dyn std::error::Error>> {
    let local = place.to_str().ok_or("the temporary directory has a name that is no text")?.to_owned();
    let workspace = || "/workspace".to_owned();
    let memory = Sandbox::builder().limits(limits()).build()?;
    copy(field.runtime, &memory, place)?;
    let host = Sandbox::builder().limits(limits()).mount(place, "/workspace").build()?;
    let mut peers: Vec<Peer> = Vec::new();
    let mut add = |name, backend: Arc<dyn Backend>, root: String| {
        let file = format!("{root}/{}", path(files, 50 * peers.len()));
        peers.push(Peer { name, backend, root, file });
    };
    add(ON_HOST, Arc::new(Isopod::new("host", host)?), workspace());
    add("isopod, files in memory", Arc::new(Isopod::new("memory", memory)?), workspace());
    add("native shell", Arc::new(ExecFiles::new(Arc::new(LocalShell::unconfined(place)?))), local);
    if field.bubblewrap.is_some() {
        add("bubblewrap", Arc::new(Bubblewrap::new(place).backend()), workspace());
    }
    if let Some(container) = &field.container {
        let mut docker = Docker::new("docker", &container.name);
        if let Some(host) = std::env::var_os("DOCKER_HOST") {
            docker = docker.client_env("DOCKER_HOST", host.to_string_lossy());
        }
        // The container sees the files read-only, so it has a copy of its own.
        let prepare = format!("cp -r /workspace/tree{files} /tmp/backend");
        let prepared = field.docker_exec.as_ref().map(|docker| docker.run(&prepare));
        if prepared.is_some_and(|answer| answer.is_ok_and(|answer| answer.exit_code == 0)) {
            add("docker exec", Arc::new(docker.backend()), "/tmp/backend".to_owned());
        }
    }
    Ok(peers)
}

/// Copies the tree into the memory of a sandbox.
fn copy(runtime: &Runtime, memory: &Sandbox, place: &std::path::Path) -> Result<(), Box<dyn std::error::Error>> {
    let source = Sandbox::builder().limits(limits()).mount_read_only(place, "/workspace").build()?;
    let archive = runtime.block_on(source.execute("tar -cf - ."))?.stdout;
    let unpack = isopod::Command::shell("tar -xf -").stdin(archive);
    match runtime.block_on(memory.execute(unpack))? {
        output if output.exit_code == 0 => Ok(()),
        output => Err(String::from_utf8_lossy(&output.stderr).into_owned().into()),
    }
}

fn perform(runtime: &Runtime, peer: &Peer, operation: &str, run: usize, needles: usize) -> Result<(), Fault> {
    // An error is not a wrong answer: the caller knows that there is no result.
    let error =
        |error: isopod::backend::BackendError| Fault::Unsupported(format!("{error:?}").chars().take(100).collect());
    let is_right = match operation {
        "read" => {
            let read = peer.backend.read(ReadRequest::lines(&*peer.file, 0, 2000));
            let content = runtime.block_on(read).map_err(error)?;
            format!("{content:?}").contains("in it")
        }
        "write" => {
            let request = WriteRequest::new(format!("{}/written", peer.root), "0123456789abcdef".repeat(64));
            runtime.block_on(peer.backend.write(request)).map_err(error)?.bytes == 1024
        }
        "edit" => {
            let (old, new) =
                if run % 2 == 1 { ("needle in it", "thread in it") } else { ("thread in it", "needle in it") };
            let request = EditRequest::new(&*peer.file, old, new);
            runtime.block_on(peer.backend.edit(request)).map_err(error)?.occurrences == 1
        }
        _ => {
            let request = GrepRequest::literal("needle", &*peer.root);
            let grepped = runtime.block_on(peer.backend.grep(request)).map_err(error)?;
            // The edited files may be without their needle at the moment.
            (needles - 5..=needles).contains(&grepped.matches.len())
        }
    };
    if is_right { Ok(()) } else { Err(Fault::Wrong("a wrong answer".to_owned())) }
}
