//! The end of overlays: their changes are shown, written or discarded.

use clap::Args;
use isopod::Sandbox;
use isopod::vfs::{Change, ChangeKind, Kind};
use serde_json::{Value, json};

/// The options for the changes in overlays.
#[derive(Args)]
pub(super) struct OverlayOptions {
    /// At the end, print the changes in --overlay directories: a list, and a patch
    #[arg(long, requires = "overlay")]
    diff: bool,

    /// At the end, write the changes to --overlay directories, if the command succeeded
    #[arg(long, requires = "overlay", conflicts_with = "diff")]
    commit: bool,
}

impl OverlayOptions {
    /// Returns the chosen action.
    pub(super) fn action(&self) -> OverlayAction {
        match (self.diff, self.commit) {
            (true, _) => OverlayAction::Diff,
            (_, true) => OverlayAction::Commit,
            _ => OverlayAction::Discard,
        }
    }
}

/// The action on the changes in overlays.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum OverlayAction {
    /// Discards them.
    Discard,
    /// Prints them.
    Diff,
    /// Writes them to the host, if the command succeeded.
    Commit,
}

/// The result of the action.
pub(super) struct OverlayReport {
    /// For standard output.
    pub(super) text: String,
    /// For standard error, a line each.
    pub(super) notes: Vec<String>,
    /// The changes, for `--json`.
    pub(super) json: Value,
}

/// Shows, writes or discards the changes. An error is one line. The directory that it names is unchanged, or some of its files
/// were written.
pub(super) fn finish(sandbox: &Sandbox, action: OverlayAction, exit_code: u8) -> Result<OverlayReport, String> {
    let (mut text, mut notes, mut json) = (String::new(), Vec::new(), Vec::new());
    for (at, overlay) in sandbox.overlays() {
        let diff = overlay.diff().map_err(|errno| format!("cannot compare {at}: {errno}"))?;
        let changes = match diff.changes().len() {
            1 => format!("1 change in {at} was"),
            more => format!("{more} changes in {at} were"),
        };
        let is_committed = action == OverlayAction::Commit && exit_code == 0;
        let mut entry = json!({
            "path": at,
            "changes": diff.changes().iter().map(as_json).collect::<Vec<_>>(),
            "committed": is_committed,
        });
        match action {
            OverlayAction::Diff => {
                let patch = diff.patch().map_err(|errno| format!("cannot compare {at}: {errno}"))?;
                text.extend(diff.changes().iter().map(|change| format!("{change}\n")));
                text.push_str(&patch);
                entry["patch"] = patch.into();
            }
            OverlayAction::Commit if is_committed => {
                overlay.commit().map_err(|error| format!("{at}: {error}"))?;
            }
            OverlayAction::Commit if !diff.is_empty() => {
                notes.push(format!("the command failed: {changes} not written"));
            }
            OverlayAction::Discard if !diff.is_empty() => {
                notes.push(format!("{changes} discarded; --diff shows them, --commit writes them"));
            }
            _ => {}
        }
        json.push(entry);
    }
    Ok(OverlayReport { text, notes, json: json.into() })
}

fn as_json(change: &Change) -> Value {
    let kind = match change.kind {
        Kind::Directory => "directory",
        Kind::Symlink => "symlink",
        Kind::File => "file",
        Kind::Device | Kind::Pipe => "special",
    };
    let mut entry = json!({ "path": change.path, "kind": kind });
    match change.change {
        ChangeKind::Created { mode } => {
            entry["change"] = "created".into();
            entry["mode"] = format!("{mode:04o}").into();
        }
        ChangeKind::Changed { content, mode, times } => {
            entry["change"] = "changed".into();
            entry["content"] = content.into();
            entry["times"] = times.into();
            if let Some((old, new)) = mode {
                entry["mode"] = json!([format!("{old:04o}"), format!("{new:04o}")]);
            }
        }
        ChangeKind::Deleted => entry["change"] = "deleted".into(),
    }
    entry
}
