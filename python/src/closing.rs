//! A flag that ends operations when their object is closed.

use std::future::Future;
use std::sync::Arc;

use tokio::sync::watch;

/// An object that is closed once. Clones are handles to the same one.
#[derive(Clone)]
pub(crate) struct Closing(Arc<watch::Sender<bool>>);

impl Closing {
    pub(crate) fn new() -> Closing {
        Closing(Arc::new(watch::Sender::new(false)))
    }

    pub(crate) fn close(&self) {
        self.0.send_replace(true);
    }

    /// Runs work until this is closed. Returns `None` if it was closed first; the work is then dropped.
    pub(crate) async fn until<T>(self, work: impl Future<Output = T>) -> Option<T> {
        let mut is_closed = self.0.subscribe();
        tokio::select! {
            biased;
            _ = is_closed.wait_for(|is_closed| *is_closed) => None,
            answer = work => Some(answer),
        }
    }
}
