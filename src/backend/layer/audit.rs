//! A record of everything that is asked and of what became of it.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::super::{Backend, BackendError, Result};
use super::gate::{Call, Gate, Guarded, Outcome, Permit};

/// Where records go. Each is handed over whole, with its end of line, so that records of several writers do not mix.
pub trait AuditSink: Send + Sync + 'static {
    /// Takes a record.
    fn record(&self, line: &[u8]) -> io::Result<()>;
}

/// Something to write to. The lock guards one write.
impl<W: Write + Send + 'static> AuditSink for Mutex<W> {
    fn record(&self, line: &[u8]) -> io::Result<()> {
        let mut to = self.lock().unwrap_or_else(PoisonError::into_inner);
        to.write_all(line)?;
        to.flush()
    }
}

/// Writes JSON lines: the intent before an operation, the outcome after it. An operation whose intent cannot be recorded
/// is not done, so nothing is done unrecorded. JSON escapes what would end or forge a line.
pub struct Audit {
    sink: Box<dyn AuditSink>,
    actor: String,
    next: AtomicU64,
    /// The numbers of the intents that have no outcome yet, by what was asked.
    open: Mutex<Vec<(Call, u64)>>,
}

impl Audit {
    /// Around a backend, on behalf of `actor`.
    pub fn around(inner: Arc<dyn Backend>, sink: impl AuditSink, actor: impl Into<String>) -> Guarded<Audit> {
        let (sink, actor) = (Box::new(sink), actor.into());
        Guarded::new(inner, Audit { sink, actor, next: AtomicU64::new(1), open: Mutex::default() })
    }

    fn write(&self, event: &str, number: u64, call: &Call, facts: Map<String, Value>) -> io::Result<()> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut record = Map::new();
        record.insert("time_us".to_owned(), json!(since.as_micros() as u64));
        record.insert("event".to_owned(), json!(event));
        record.insert("number".to_owned(), json!(number));
        record.insert("actor".to_owned(), json!(self.actor));
        record.insert("operation".to_owned(), json!(call.operation));
        let texts = [("path", &call.path), ("pattern", &call.pattern), ("command", &call.command), ("cwd", &call.cwd)];
        for (name, text) in texts {
            if let Some(text) = text {
                record.insert(name.to_owned(), json!(text));
            }
        }
        record.extend(facts);
        let mut line = Value::Object(record).to_string();
        line.push('\n');
        self.sink.record(line.as_bytes())
    }

    fn open(&self) -> std::sync::MutexGuard<'_, Vec<(Call, u64)>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Gate for Audit {
    async fn admit(&self, call: &Call, _inner: &dyn Backend) -> Result<Permit> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let mut facts = Map::new();
        if let Some(bytes) = call.bytes {
            facts.insert("bytes".to_owned(), json!(bytes));
        }
        self.write("intent", number, call, facts).map_err(|error| BackendError::Refused {
            layer: "audit",
            reason: format!("cannot be recorded: {error}"),
        })?;
        self.open().push((call.clone(), number));
        Ok(None)
    }

    fn settle(&self, call: &Call, outcome: &Outcome<'_>) {
        let number = {
            let mut open = self.open();
            let at = open.iter().position(|(other, _)| other == call);
            at.map_or(0, |at| open.swap_remove(at).1)
        };
        let mut facts = Map::new();
        let word = match outcome {
            Outcome { is_cancelled: true, .. } => "cancelled",
            Outcome { error: Some(_), .. } => "error",
            _ => "ok",
        };
        facts.insert("outcome".to_owned(), json!(word));
        facts.insert("duration_us".to_owned(), json!(outcome.duration.as_micros() as u64));
        if let Some(bytes) = outcome.bytes {
            facts.insert("bytes".to_owned(), json!(bytes));
        }
        if let Some(code) = outcome.exit_code {
            facts.insert("exit_code".to_owned(), json!(code));
        }
        if let Some(error) = outcome.error {
            facts.insert("error".to_owned(), json!(error.to_string()));
        }
        // The deed is done: there is nobody left to refuse it to.
        let _ = self.write("outcome", number, call, facts);
    }
}
