//! Telling a client how far a command is.

use std::time::Instant;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};

use super::bounds;

/// Whom to tell, if anyone asked.
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

    /// Tells how many seconds it took so far, and the last line of output.
    pub(super) async fn tell(&self, line: &str) {
        let Some(token) = self.token.clone() else { return };
        let seconds = self.began.elapsed().as_secs_f64();
        let message = match line {
            "" => format!("running for {seconds:.0} s"),
            line => line.chars().take(bounds::PROGRESS_CHARS).flat_map(char::escape_debug).collect(),
        };
        let progress = ProgressNotificationParam::new(token, seconds).with_message(message);
        // A client that has gone is noticed by whoever reads from it.
        let _ = self.peer.notify_progress(progress).await;
    }
}

/// The last line of output so far, kept for a notification.
#[derive(Default)]
pub(super) struct LastLine {
    text: Vec<u8>,
    is_whole: bool,
}

impl LastLine {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        // Enough for a line that is shown, in UTF-8; no more is copied of output that floods.
        let bytes = &bytes[bytes.len().saturating_sub(8 * bounds::PROGRESS_CHARS)..];
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            if std::mem::take(&mut self.is_whole) {
                self.text.clear();
            }
            self.is_whole = line.ends_with(b"\n");
            if self.text.len() < 4 * bounds::PROGRESS_CHARS {
                self.text.extend_from_slice(line);
            }
        }
    }

    pub(super) fn get(&self) -> String {
        String::from_utf8_lossy(&self.text).trim().to_owned()
    }
}
