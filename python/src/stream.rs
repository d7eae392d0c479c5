//! The output of a command as it comes.

use std::sync::Arc;

use isopod::Execution;
use isopod::backend::{Ending, Executed, OutputStream, Transcript};
use pyo3::prelude::*;
use tokio::sync::Mutex;

use crate::backend::Handle;
use crate::call::Call;
use crate::errors::Raised;
use crate::values::{Chunk, Output};

/// A command that runs. It goes on when someone asks for the next piece; dropping or closing it ends it.
#[pyclass(frozen, module = "isopod._isopod")]
pub(crate) struct Stream {
    /// None when it is closed or at its end. Whoever asks for the next piece holds it.
    running: Arc<Mutex<Option<Running>>>,
    handle: Handle,
}

struct Running {
    stream: Box<dyn OutputStream>,
    transcript: Transcript,
}

impl Stream {
    pub(crate) fn new(stream: Box<dyn OutputStream>, handle: Handle) -> Stream {
        let running = Running { stream, transcript: Transcript::new(handle.output()) };
        Stream { running: Arc::new(Mutex::new(Some(running))), handle }
    }
}

#[pymethods]
impl Stream {
    /// The next piece of output, none at the end.
    fn next(&self) -> Call {
        let running = self.running.clone();
        Call::new(self.handle.clone().until_closed(async move {
            let mut running = running.lock().await;
            let Some(Running { stream, transcript }) = running.as_mut() else { return Ok(None) };
            let chunk = stream.next().await;
            if let Some(chunk) = &chunk {
                transcript.push(chunk.channel, &chunk.bytes);
            }
            Ok::<_, Raised>(chunk.map(Chunk::from))
        }))
    }

    /// Waits for the end, and answers what the command left behind.
    fn finish(&self) -> Call {
        let running = self.running.clone();
        Call::new(self.handle.clone().until_closed(async move {
            let Some(Running { mut stream, mut transcript }) = running.lock().await.take() else {
                return Err(Raised::of("ClosedError", "the stream is closed"));
            };
            while let Some(chunk) = stream.next().await {
                transcript.push(chunk.channel, &chunk.bytes);
            }
            Ok(Output::from(Executed { transcript, ending: stream.finish().await }))
        }))
    }

    /// Ends the command.
    fn close(&self) -> Call {
        let running = self.running.clone();
        Call::new(async move {
            drop(running.lock().await.take());
            Ok::<_, Raised>(())
        })
    }
}

/// A command of a live session.
pub(crate) struct InSession(pub(crate) Execution);

#[async_trait::async_trait]
impl OutputStream for InSession {
    async fn next(&mut self) -> Option<isopod::Chunk> {
        self.0.next().await
    }

    async fn finish(self: Box<Self>) -> Ending {
        let outcome = self.0.finish().await;
        Ending {
            exit_code: outcome.exit_code,
            timed_out: outcome.timed_out,
            limits: outcome.limits,
            wall: outcome.wall,
        }
    }
}
