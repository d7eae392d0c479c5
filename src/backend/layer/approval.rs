//! Asking someone before a command is executed or a file is changed.

use std::sync::Arc;

use async_trait::async_trait;

use super::super::{Backend, BackendError, Result};
use super::gate::{Call, Gate, Guarded, Operation, Permit};

/// What the one who was asked says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Do it.
    Approve,
    /// Leave it, for this reason.
    Deny(String),
}

/// Someone to ask: a person behind a prompt, or a policy. Closures are such.
#[async_trait]
pub trait Approver: Send + Sync + 'static {
    /// Decides about an operation. The time it takes is not that of the command.
    async fn decide(&self, call: &Call) -> Verdict;
}

#[async_trait]
impl<F: Fn(&Call) -> Verdict + Send + Sync + 'static> Approver for F {
    async fn decide(&self, call: &Call) -> Verdict {
        self(call)
    }
}

/// Asks before each command and each change of files. Reading needs no approval.
///
/// Whoever is asked sees the text of a command, and [`Call::plan`] tells what that would run: each program with its
/// arguments and the files it writes, from the syntax tree, and where the text does not tell. A plan is for the one who
/// decides. It stops nothing: `x=rm; $x f` is a program that no text names. What may run at all is enforced where the
/// kernel starts processes ([`allow_programs`](crate::SandboxBuilder::allow_programs)), for whatever was approved.
///
/// ```
/// use isopod::backend::layer::{Call, Verdict};
///
/// fn decide(call: &Call) -> Verdict {
///     let Some(plan) = call.plan() else { return Verdict::Approve };
///     let reads = |program: &str| matches!(program, "ls" | "cat" | "grep" | "cd" | "echo");
///     let is_harmless = plan.is_whole()
///         && plan.steps.iter().all(|step| {
///             step.writes.is_empty() && step.program.as_ref().is_none_or(|program| reads(&program.text))
///         });
///     match is_harmless {
///         true => Verdict::Approve,
///         false => Verdict::Deny("a person has to look at it".to_owned()),
///     }
/// }
/// ```
pub struct Approval {
    approver: Box<dyn Approver>,
}

impl Approval {
    /// Around a backend.
    pub fn around(inner: Arc<dyn Backend>, approver: impl Approver) -> Guarded<Approval> {
        Guarded::new(inner, Approval { approver: Box::new(approver) })
    }
}

#[async_trait]
impl Gate for Approval {
    async fn admit(&self, call: &Call, _inner: &dyn Backend) -> Result<Permit> {
        if !call.writes() && call.operation != Operation::Execute {
            return Ok(None);
        }
        match self.approver.decide(call).await {
            Verdict::Approve => Ok(None),
            Verdict::Deny(reason) => Err(BackendError::Refused { layer: "approval", reason }),
        }
    }
}
