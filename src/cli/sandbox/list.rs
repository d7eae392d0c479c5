//! `isopod sandbox list`.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;
use serde_json::{Value, json};

use super::{as_json, state};
use crate::cli::answer::{Answer, Failure};
use crate::cli::location::RootOptions;

/// List the sandboxes: id, state, time since the last use, thread and user, metadata
///
/// States: leased (a process uses it) or stored.
///
/// Examples:
///   isopod sandbox list
///   isopod sandbox list --json | jq -r '.sandboxes[] | select(.state == "stored").id'
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(super) struct List {}

impl List {
    pub(super) async fn run(&self, place: &RootOptions) -> Result<Answer, Failure> {
        let provider = place.open()?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let (mut text, mut sandboxes, mut cursor) = (String::new(), Vec::new(), None);
        loop {
            let page = provider.list(cursor).await?;
            for info in &page.items {
                let idle = now.saturating_sub(info.last_used / 1_000_000_000);
                // Writing to a String cannot fail.
                let _ = write!(text, "{}  {:6}  {:>4}", info.id, state(info.state), age(idle));
                let owner = [("thread", &info.thread), ("user", &info.user), ("damaged", &info.damage)];
                for (name, value) in owner.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?))) {
                    let _ = write!(text, "  {name}={value:?}");
                }
                for (key, value) in &info.metadata {
                    let _ = write!(text, "  {}={value:?}", key.escape_debug());
                }
                text.push('\n');
            }
            sandboxes.extend(page.items.iter().map(as_json));
            match page.cursor {
                Some(next) => cursor = Some(next),
                None => return Ok(Answer::new(text, json!({ "sandboxes": Value::Array(sandboxes) }))),
            }
        }
    }
}

/// Seconds, in the unit that leaves few digits.
fn age(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds}s"),
        120..7200 => format!("{}m", seconds / 60),
        7200..172_800 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86400),
    }
}
