//! Audit: a record of every operation and its outcome.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use serde::Serialize;

use super::super::{Backend, BackendError, CommandLineJson, Result};
use super::gate::{AdmissionGuard, Call, Gate, GatedBackend, Operation, Outcome};
use crate::sandbox::CommandLine;
use crate::sync::lock;

/// The destination of records. Each record is one call, with its end of line, so that records of several writers do not
/// mix.
pub trait AuditSink: Send + Sync + 'static {
    /// Writes a record.
    fn record(&self, line: &[u8]) -> io::Result<()>;
}

/// A sink that writes to a writer. The lock guards one write.
impl<W: Write + Send + 'static> AuditSink for Mutex<W> {
    fn record(&self, line: &[u8]) -> io::Result<()> {
        let mut to = lock(self);
        to.write_all(line)?;
        to.flush()
    }
}

/// Writes JSON lines: the intent before an operation, the outcome after it. An operation whose intent cannot be
/// recorded is refused, so no operation goes unrecorded. JSON escapes characters that would end or forge a line.
///
/// Each record is a `tracing` event too, with the target `isopod::audit`, the level INFO and the same fields but for
/// the time, which a subscriber adds. Texts of the guest are fields and never the message, so a guest cannot forge the
/// output of a subscriber that escapes fields. Only the sink can refuse: a subscriber does not report a lost event.
pub struct Audit {
    sink: Option<Box<dyn AuditSink>>,
    actor: String,
    next: AtomicU64,
    /// Guards the numbers of the intents that have no outcome yet, by operation. A leaf.
    open: Mutex<Vec<(Call, u64)>>,
}

impl Audit {
    /// Wraps a backend, on behalf of `actor`.
    pub fn around(inner: Arc<dyn Backend>, sink: impl AuditSink, actor: impl Into<String>) -> GatedBackend<Audit> {
        Audit::with(inner, Some(Box::new(sink)), actor.into())
    }

    /// Wraps a backend, with `tracing` events alone.
    pub fn traced(inner: Arc<dyn Backend>, actor: impl Into<String>) -> GatedBackend<Audit> {
        Audit::with(inner, None, actor.into())
    }

    fn with(inner: Arc<dyn Backend>, sink: Option<Box<dyn AuditSink>>, actor: String) -> GatedBackend<Audit> {
        GatedBackend::new(inner, Audit { sink, actor, next: AtomicU64::new(1), open: Mutex::default() })
    }

    fn record<'a>(&'a self, event: &'static str, number: u64, call: &'a Call) -> Record<'a> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Record {
            time_us: since.as_micros() as u64,
            event,
            number,
            actor: &self.actor,
            operation: call.operation,
            path: call.path.as_deref(),
            pattern: call.pattern.as_deref(),
            command: call.command.clone().map(CommandLineJson::from),
            cwd: call.cwd.as_deref(),
            outcome: None,
            duration_us: None,
            bytes: call.bytes,
            exit_code: None,
            error: None,
        }
    }

    fn write(&self, record: &Record<'_>) -> io::Result<()> {
        let Some(sink) = &self.sink else { return Ok(()) };
        let mut line = serde_json::to_vec(record)?;
        line.push(b'\n');
        sink.record(&line)
    }

    fn open(&self) -> std::sync::MutexGuard<'_, Vec<(Call, u64)>> {
        lock(&self.open)
    }
}

/// A line of the record.
#[derive(Serialize)]
struct Record<'a> {
    time_us: u64,
    event: &'static str,
    number: u64,
    actor: &'a str,
    operation: Operation,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pattern: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<CommandLineJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_us: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl Record<'_> {
    fn trace(&self) {
        tracing::info!(
            target: "isopod::audit",
            event = self.event,
            number = self.number,
            actor = self.actor,
            operation = self.operation.name(),
            path = self.path,
            pattern = self.pattern,
            command = self.command.clone().map(|line| CommandLine::from(line).to_shell().into_owned()),
            cwd = self.cwd,
            outcome = self.outcome,
            duration_us = self.duration_us,
            bytes = self.bytes,
            exit_code = self.exit_code,
            error = self.error.as_deref(),
        );
    }
}

#[async_trait]
impl Gate for Audit {
    async fn admit(&self, call: &Call, _inner: &dyn Backend) -> Result<AdmissionGuard> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let record = self.record("intent", number, call);
        self.write(&record).map_err(|error| BackendError::Refused {
            layer: "audit",
            reason: format!("cannot be recorded: {error}"),
        })?;
        record.trace();
        self.open().push((call.clone(), number));
        Ok(None)
    }

    fn settle(&self, call: &Call, outcome: &Outcome<'_>) {
        let number = {
            let mut open = self.open();
            let at = open.iter().position(|(other, _)| other == call);
            at.map_or(0, |at| open.swap_remove(at).1)
        };
        let word = match outcome {
            Outcome { is_cancelled: true, .. } => "cancelled",
            Outcome { error: Some(_), .. } => "error",
            _ => "ok",
        };
        let record = Record {
            outcome: Some(word),
            duration_us: Some(outcome.duration.as_micros() as u64),
            bytes: outcome.bytes,
            exit_code: outcome.exit_code,
            error: outcome.error.map(ToString::to_string),
            ..self.record("outcome", number, call)
        };
        // The operation is done: a failure to record its outcome cannot refuse it any more.
        let _ = self.write(&record);
        record.trace();
    }
}
