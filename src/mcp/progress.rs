//! Progress notifications of a running command.

use std::time::Instant;

use crate::limits::server::mcp as limits;
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};

/// Notifies a client, if it asked for progress.
pub(super) struct Progress {
    token: Option<ProgressToken>,
    peer: Peer<RoleServer>,
    began: Instant,
}

impl Progress {
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Progress {
        Progress { token: context.meta.get_progress_token(), peer: context.peer.clone(), began: Instant::now() }
    }

    pub(super) fn is_wanted(&self) -> bool {
        self.token.is_some()
    }

    /// Notifies the client of the elapsed seconds and the last line of output.
    pub(super) async fn tell(&self, line: &str) {
        let Some(token) = self.token.clone() else { return };
        let seconds = self.began.elapsed().as_secs_f64();
        let message = match line {
            "" => format!("running for {seconds:.0} s"),
            line => line.chars().take(limits::PROGRESS_CHARS).flat_map(char::escape_debug).collect(),
        };
        let progress = ProgressNotificationParam::new(token, seconds).with_message(message);
        // The task that reads from the client notices a disconnect.
        let _ = self.peer.notify_progress(progress).await;
    }
}

/// The last line of output so far.
#[derive(Default)]
pub(super) struct LastLine {
    text: Vec<u8>,
    is_whole: bool,
}

impl LastLine {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        // Enough bytes for the characters of a notification in UTF-8. The rest of a flood of output is not copied.
        let bytes = &bytes[bytes.len().saturating_sub(8 * limits::PROGRESS_CHARS)..];
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            if std::mem::take(&mut self.is_whole) {
                self.text.clear();
            }
            self.is_whole = line.ends_with(b"\n");
            if self.text.len() < 4 * limits::PROGRESS_CHARS {
                self.text.extend_from_slice(line);
            }
        }
    }

    pub(super) fn get(&self) -> String {
        String::from_utf8_lossy(&self.text).trim().to_owned()
    }
}
