//! The output of a command as it arrives.

use std::sync::Arc;

use isopod::backend::OutputStream;
use isopod::kernel::Transcript;
use pyo3::prelude::*;
use tokio::sync::Mutex;

use crate::backend::Handle;
use crate::call::Call;
use crate::closing::Closing;
use crate::errors::Raised;
use crate::values::{Chunk, Output};

/// A running command. It makes progress while the next piece is awaited; dropping or closing the stream ends it.
#[pyclass(frozen, module = "isopod._isopod")]
pub(crate) struct Stream {
    /// `None` at the end or after it is closed. `next` holds the lock while it waits.
    running: Arc<Mutex<Option<Running>>>,
    closing: Closing,
    handle: Handle,
}

struct Running {
    stream: Box<dyn OutputStream>,
    transcript: Transcript,
}

impl Stream {
    pub(crate) fn new(stream: Box<dyn OutputStream>, handle: Handle) -> Stream {
        let running = Running { stream, transcript: Transcript::new(handle.output()) };
        Stream { running: Arc::new(Mutex::new(Some(running))), closing: Closing::new(), handle }
    }
}

#[pymethods]
impl Stream {
    /// Returns the next piece of output, or none at the end.
    fn next(&self) -> Call {
        let (running, closing) = (self.running.clone(), self.closing.clone());
        let next = async move {
            let mut running = running.lock().await;
            let Running { stream, transcript } = running.as_mut()?;
            let chunk = stream.next().await?;
            transcript.push(chunk.channel, &chunk.bytes);
            Some(Chunk::from(chunk))
        };
        Call::new(self.handle.clone().until_closed(async { Ok::<_, Raised>(closing.until(next).await.flatten()) }))
    }

    /// Waits for the end. Returns the result of the command.
    fn finish(&self) -> Call {
        let (running, closing) = (self.running.clone(), self.closing.clone());
        let finish = async move {
            let Running { mut stream, mut transcript } = running.lock().await.take()?;
            while let Some(chunk) = stream.next().await {
                transcript.push(chunk.channel, &chunk.bytes);
            }
            Some(Output::from(isopod::Output::new(transcript, stream.finish().await)))
        };
        let over = || Raised::of("ClosedError", "the stream is closed");
        let work = async move { closing.until(finish).await.flatten().ok_or_else(over) };
        Call::new(self.handle.clone().until_closed(work))
    }

    /// Ends the command.
    fn close(&self) -> Call {
        self.closing.close();
        let running = self.running.clone();
        Call::new(async move {
            drop(running.lock().await.take());
            Ok::<_, Raised>(())
        })
    }
}
