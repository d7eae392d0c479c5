//! `snapshot`, `fork`, `diff` and `commit`: what became of the files, and the way back.

use rmcp::schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Effect, FileKind, Refusal, Reply, Tool, listing};
use crate::mcp::bounds;
use crate::vfs::{self, ChangeKind};

/// A tool that is there only if the server's owner says so.
pub(in crate::mcp) const COMMIT: &str = "commit";

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

pub(super) struct Snapshot;

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct SnapshotArguments {
    /// What to call it, for `fork`. A snapshot of this name is replaced.
    name: String,
}

#[derive(Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Snapshots {
    /// The snapshots that there are now.
    snapshots: Vec<String>,
}

impl Tool for Snapshot {
    const NAME: &'static str = "snapshot";
    const TITLE: &'static str = "Keep the files as they are";
    const DESCRIPTION: &'static str = "Keep all files as they are now under a name, to go back to with `fork`. It takes \
microseconds, however many files there are. Processes and the shell's variables are no part of it, and neither are \
directories of the user that are mounted read-write.";
    const EFFECT: Effect = Effect::Adds;
    type Arguments = SnapshotArguments;
    type Answer = Snapshots;

    async fn call(arguments: SnapshotArguments, call: Call) -> Result<Reply<Snapshots>, Refusal> {
        let snapshots = call.seat.snapshot(&arguments.name)?;
        let shown = format!("snapshots: {}", snapshots.join(", "));
        Ok(Reply::text(Snapshots { snapshots }, shown))
    }
}

pub(super) struct Fork;

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct ForkArguments {
    /// The name of the snapshot; `start` is how the sandbox began.
    snapshot: String,
}

#[derive(Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Forked {
    /// Where the sandbox goes on from.
    snapshot: String,
}

impl Tool for Fork {
    const NAME: &'static str = "fork";
    const TITLE: &'static str = "Go on from a snapshot";
    const DESCRIPTION: &'static str = "Go on in a copy of a snapshot: all files are as they were, the shell is new, and what \
ran has ended. The snapshot stays as it is, so one can go on from it again and try something else. What was done since is \
lost, unless `snapshot` kept it first.";
    const EFFECT: Effect = Effect::ChangesOnce;
    type Arguments = ForkArguments;
    type Answer = Forked;

    async fn call(ForkArguments { snapshot }: ForkArguments, call: Call) -> Result<Reply<Forked>, Refusal> {
        call.seat.fork(&snapshot).await?;
        let shown = format!("the files are those of {snapshot:?}; the shell is new");
        Ok(Reply::text(Forked { snapshot }, shown))
    }
}

pub(super) struct Diff;

#[derive(Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Differences {
    /// Every path that is not what it was.
    changes: Vec<Change>,
    /// The changes of text files and links, for `git apply` or `patch -p1`, for each directory from its own root.
    patch: String,
    /// Why changes or parts of the patch are left out; null if this is all.
    truncated: Option<&'static str>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct Change {
    /// An absolute path.
    path: String,
    change: Happened,
    kind: FileKind,
}

#[derive(Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(rename_all = "lowercase")]
enum Happened {
    Created,
    Changed,
    Deleted,
}

impl Tool for Diff {
    const NAME: &'static str = "diff";
    const TITLE: &'static str = "Show what was changed";
    const DESCRIPTION: &'static str = "Show what is different in the directories that keep track of it: in /workspace since \
the sandbox began, and in directories of the user that are mounted as overlays against what the user has. A list of paths, \
and a patch.";
    const EFFECT: Effect = Effect::Reads;
    type Arguments = Nothing;
    type Answer = Differences;

    async fn call(_: Nothing, call: Call) -> Result<Reply<Differences>, Refusal> {
        let room = call.seat.room();
        // It reads what was changed, and the host's files that were.
        let compared = tokio::task::spawn_blocking(move || differences(&room.sandbox)).await;
        let answer = compared.map_err(|error| Refusal(error.to_string()))??;
        let lines = answer.changes.iter().map(|Change { path, change, kind }| {
            let letter = match change {
                Happened::Created => 'A',
                Happened::Changed => 'M',
                Happened::Deleted => 'D',
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

fn differences(sandbox: &crate::Sandbox) -> Result<Differences, Refusal> {
    let overlays = sandbox.overlays();
    if overlays.is_empty() {
        let why =
            "there is nothing to compare with: the user's directory is written to as it is, and not as an overlay";
        return Err(Refusal(why.to_owned()));
    }
    let (mut changes, mut patch, mut truncated) = (Vec::new(), String::new(), None);
    for (at, overlay) in overlays {
        let refused = |errno| Refusal(format!("cannot compare {at}: {errno}"));
        let diff = overlay.diff().map_err(refused)?;
        // What is not shown is not compared line by line either.
        if (patch.len() as u64) < bounds::TEXT_BYTES {
            patch.push_str(&diff.patch().map_err(refused)?);
        }
        changes.extend(diff.changes().iter().map(|change| Change::of(&at, change)));
    }
    if changes.len() > bounds::NAMES {
        changes.truncate(bounds::NAMES);
        truncated = Some("there are more changes");
    }
    let most = usize::try_from(bounds::TEXT_BYTES).unwrap_or(usize::MAX);
    if patch.len() > most {
        let end = patch.floor_char_boundary(most);
        patch.truncate(patch[..end].rfind('\n').map_or(0, |at| at + 1));
        truncated = Some("the patch is too long, and cut");
    }
    Ok(Differences { changes, patch, truncated })
}

impl Change {
    fn of(at: &str, change: &vfs::Change) -> Change {
        let below = if change.path.is_empty() { String::new() } else { format!("/{}", change.path) };
        Change {
            path: format!("{}{below}", at.trim_end_matches('/')),
            change: match change.change {
                ChangeKind::Created { .. } => Happened::Created,
                ChangeKind::Changed { .. } => Happened::Changed,
                ChangeKind::Deleted => Happened::Deleted,
            },
            kind: change.kind.into(),
        }
    }
}

pub(super) struct Commit;

#[derive(Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Committed {
    /// How many changes were written to the user's directories.
    changes: usize,
}

impl Tool for Commit {
    const NAME: &'static str = COMMIT;
    const TITLE: &'static str = "Write the changes to the user's files";
    const DESCRIPTION: &'static str = "Write what was changed in directories that are mounted as overlays to the user's own \
files. `diff` shows it before. It cannot be undone.";
    const EFFECT: Effect = Effect::ChangesOnce;
    type Arguments = Nothing;
    type Answer = Committed;

    async fn call(_: Nothing, call: Call) -> Result<Reply<Committed>, Refusal> {
        let room = call.seat.room();
        let committed = tokio::task::spawn_blocking(move || commit(&room.sandbox)).await;
        let changes = committed.map_err(|error| Refusal(error.to_string()))??;
        Ok(Reply::text(Committed { changes }, format!("wrote {changes} changes to the user's files")))
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
