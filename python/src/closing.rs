//! The end of something that several have in hand.

use std::future::Future;
use std::sync::Arc;

use tokio::sync::watch;

/// Something that is closed once. Clones are handles to the same one.
#[derive(Clone)]
pub(crate) struct Closing(Arc<watch::Sender<bool>>);

impl Closing {
    pub(crate) fn new() -> Closing {
        Closing(Arc::new(watch::Sender::new(false)))
    }

    pub(crate) fn close(&self) {
        self.0.send_replace(true);
    }

    /// What the work came to; none if it was closed before, and then the work is dropped.
    pub(crate) async fn until<T>(self, work: impl Future<Output = T>) -> Option<T> {
        let mut is_closed = self.0.subscribe();
        tokio::select! {
            biased;
            _ = is_closed.wait_for(|is_closed| *is_closed) => None,
            answer = work => Some(answer),
        }
    }
}
