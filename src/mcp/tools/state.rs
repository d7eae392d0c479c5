//! The tools `snapshot`, `fork`, `diff` and `commit`: states of the files, and their changes.

use rmcp::schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Effect, FileKind, Refusal, Reply, Tool, listing};
use crate::limits::server::mcp as limits;
use crate::vfs;

/// The name of a tool that exists only if the server's owner enables it.
pub(in crate::mcp) const COMMIT: &str = "commit";

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct NoArguments {}

pub(super) struct Snapshot;

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct SnapshotArguments {
    /// The name of the snapshot, for `fork`. An existing snapshot of this name is replaced.
    name: String,
}

#[derive(Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct SnapshotAnswer {
    /// The names of all snapshots.
    snapshots: Vec<String>,
}

impl Tool for Snapshot {
    const NAME: &'static str = "snapshot";
    const TITLE: &'static str = "Keep the files as they are";
    const DESCRIPTION: &'static str = "Keep all files under a name, to go back to with `fork`. It takes \
        microseconds, however many files there are. Processes and the shell's variables are not part of a snapshot, \
        and neither are directories of the user that are mounted read-write.";
    const EFFECT: Effect = Effect::Adds;
    type Arguments = SnapshotArguments;
    type Answer = SnapshotAnswer;

    async fn call(arguments: SnapshotArguments, call: Call) -> Result<Reply<SnapshotAnswer>, Refusal> {
        let snapshots = call.session.snapshot(&arguments.name)?;
        let shown = format!("snapshots: {}", snapshots.join(", "));
        Ok(Reply::text(SnapshotAnswer { snapshots }, shown))
    }
}

pub(super) struct Fork;

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct ForkArguments {
    /// The name of the snapshot. `start` is the initial state of the sandbox.
    snapshot: String,
}

#[derive(Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct ForkAnswer {
    /// The snapshot that the files are a copy of.
    snapshot: String,
}

impl Tool for Fork {
    const NAME: &'static str = "fork";
    const TITLE: &'static str = "Go on from a snapshot";
    const DESCRIPTION: &'static str = "Continue in a copy of a snapshot: all files are those of the snapshot, the \
        shell is new, and running processes have ended. The snapshot itself does not change, so you can continue \
        from it again and try something else. Changes since then are lost, unless `snapshot` kept them first.";
    const EFFECT: Effect = Effect::ChangesOnce;
    type Arguments = ForkArguments;
    type Answer = ForkAnswer;

    async fn call(ForkArguments { snapshot }: ForkArguments, call: Call) -> Result<Reply<ForkAnswer>, Refusal> {
        call.session.fork(&snapshot).await?;
        let shown = format!("the files are a copy of {snapshot:?}; the shell is new");
        Ok(Reply::text(ForkAnswer { snapshot }, shown))
    }
}

pub(super) struct Diff;

#[derive(Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct DiffAnswer {
    /// Every path that was created, changed or deleted.
    changes: Vec<Change>,
    /// The changes of text files and links, for `git apply` or `patch -p1`, relative to the root of each directory.
    patch: String,
    /// The reason why changes or parts of the patch are left out; null if this is all.
    truncated: Option<&'static str>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct Change {
    /// An absolute path.
    path: String,
    change: ChangeKind,
    kind: FileKind,
}

#[derive(Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(rename_all = "lowercase")]
enum ChangeKind {
    Created,
    Changed,
    Deleted,
}

impl Tool for Diff {
    const NAME: &'static str = "diff";
    const TITLE: &'static str = "Show what was changed";
    const DESCRIPTION: &'static str = "Show the changes in the directories that keep track of them: in /workspace \
        since the sandbox began, and in directories of the user that are mounted as overlays compared with the \
        user's files. A list of paths, and a patch.";
    const EFFECT: Effect = Effect::Reads;
    type Arguments = NoArguments;
    type Answer = DiffAnswer;

    async fn call(_: NoArguments, call: Call) -> Result<Reply<DiffAnswer>, Refusal> {
        let workspace = call.session.workspace();
        // The comparison reads the changed files, in the sandbox and on the host.
        let compared = tokio::task::spawn_blocking(move || differences(&workspace.sandbox)).await;
        let answer = compared.map_err(|error| Refusal(error.to_string()))??;
        let lines = answer.changes.iter().map(|Change { path, change, kind }| {
            let letter = match change {
                ChangeKind::Created => 'A',
                ChangeKind::Changed => 'M',
                ChangeKind::Deleted => 'D',
            };
            let slash = if matches!(kind, FileKind::Directory) { "/" } else { "" };
            match path.chars().any(char::is_control) {
                true => format!("{letter} {path:?}{slash}\n"),
                false => format!("{letter} {path}{slash}\n"),
            }
        });
        let shown = listing(lines.chain([answer.patch.clone()]).collect(), "nothing was changed", answer.truncated);
        Ok(Reply::text(answer, shown))
    }
}

fn differences(sandbox: &crate::Sandbox) -> Result<DiffAnswer, Refusal> {
    let overlays = sandbox.overlays();
    if overlays.is_empty() {
        let why = "there is nothing to compare with: the user's directory is mounted read-write, and not as an overlay";
        return Err(Refusal(why.to_owned()));
    }
    let (mut changes, mut patch, mut truncated) = (Vec::new(), String::new(), None);
    for (at, overlay) in overlays {
        let refused = |errno| Refusal(format!("cannot compare {at}: {errno}"));
        let diff = overlay.diff().map_err(refused)?;
        // A patch that will not be shown need not be made.
        if (patch.len() as u64) < limits::TEXT_BYTES {
            patch.push_str(&diff.patch().map_err(refused)?);
        }
        changes.extend(diff.changes().iter().map(|change| Change::of(&at, change)));
    }
    if changes.len() > limits::NAMES {
        changes.truncate(limits::NAMES);
        truncated = Some("there are more changes");
    }
    let most = usize::try_from(limits::TEXT_BYTES).unwrap_or(usize::MAX);
    if patch.len() > most {
        let end = patch.floor_char_boundary(most);
        patch.truncate(patch[..end].rfind('\n').map_or(0, |at| at + 1));
        truncated = Some("the patch is too long, and cut");
    }
    Ok(DiffAnswer { changes, patch, truncated })
}

impl Change {
    fn of(at: &str, change: &vfs::Change) -> Change {
        let below = if change.path.is_empty() { String::new() } else { format!("/{}", change.path) };
        Change {
            path: format!("{}{below}", at.trim_end_matches('/')),
            change: match change.change {
                vfs::ChangeKind::Created { .. } => ChangeKind::Created,
                vfs::ChangeKind::Changed { .. } => ChangeKind::Changed,
                vfs::ChangeKind::Deleted => ChangeKind::Deleted,
            },
            kind: change.kind.into(),
        }
    }
}

pub(super) struct Commit;

#[derive(Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct CommitAnswer {
    /// The number of changes that were written to the user's directories.
    changes: usize,
}

impl Tool for Commit {
    const NAME: &'static str = COMMIT;
    const TITLE: &'static str = "Write the changes to the user's files";
    const DESCRIPTION: &'static str = "Write the changes in directories that are mounted as overlays to the user's \
        own files. `diff` shows them before. It cannot be undone.";
    const EFFECT: Effect = Effect::ChangesOnce;
    type Arguments = NoArguments;
    type Answer = CommitAnswer;

    async fn call(_: NoArguments, call: Call) -> Result<Reply<CommitAnswer>, Refusal> {
        let workspace = call.session.workspace();
        let committed = tokio::task::spawn_blocking(move || commit(&workspace.sandbox)).await;
        let changes = committed.map_err(|error| Refusal(error.to_string()))??;
        Ok(Reply::text(CommitAnswer { changes }, format!("wrote {changes} changes to the user's files")))
    }
}

fn commit(sandbox: &crate::Sandbox) -> Result<usize, Refusal> {
    let mut changes = 0;
    for (at, overlay) in sandbox.overlays().into_iter().filter(|(_, overlay)| overlay.is_over_host()) {
        let diff = overlay.diff().map_err(|errno| Refusal(format!("cannot compare {at}: {errno}")))?;
        overlay.commit().map_err(|error| Refusal(format!("{at}: {error}")))?;
        changes += diff.changes().len();
    }
    Ok(changes)
}
