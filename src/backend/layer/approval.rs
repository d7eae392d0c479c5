//! Approval of commands and of changes to files.

use std::sync::Arc;

use async_trait::async_trait;

use super::super::{Backend, BackendError, Result};
use super::gate::{AdmissionGuard, Call, Gate, GatedBackend, Operation};

/// The decision of an approver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// The operation may be done.
    Approve,
    /// The operation is refused, for this reason.
    Deny(String),
}

/// Decides about operations: a person behind a prompt, or a policy. Closures implement it.
#[async_trait]
pub trait Approver: Send + Sync + 'static {
    /// Decides about an operation. The time for the decision does not count as time of the command.
    async fn decide(&self, call: &Call) -> Decision;
}

#[async_trait]
impl<F: Fn(&Call) -> Decision + Send + Sync + 'static> Approver for F {
    async fn decide(&self, call: &Call) -> Decision {
        self(call)
    }
}

/// Asks an approver before each command and each change of files. Reading needs no approval.
///
/// The approver sees the text of a command. [`Call::plan`] lists the programs that it would run, with their arguments
/// and the files they write, from the syntax tree, and marks the parts that the text does not determine. A plan is
/// information and enforces nothing: `x=rm; $x f` runs a program that the text does not name. The kernel enforces the
/// list of allowed programs ([`allow_programs`](crate::SandboxBuilder::allow_programs)), also for approved commands.
///
/// ```
/// use isopod::backend::layer::{Call, Decision};
///
/// fn decide(call: &Call) -> Decision {
///     let Some(plan) = call.plan() else { return Decision::Approve };
///     let reads = |program: &str| matches!(program, "ls" | "cat" | "grep" | "cd" | "echo");
///     let is_harmless = plan.is_whole()
///         && plan.steps.iter().all(|step| {
///             step.writes.is_empty() && step.program.as_ref().is_none_or(|program| reads(&program.text))
///         });
///     match is_harmless {
///         true => Decision::Approve,
///         false => Decision::Deny("a person has to look at it".to_owned()),
///     }
/// }
/// ```
pub struct Approval {
    approver: Box<dyn Approver>,
}

impl Approval {
    /// Wraps a backend.
    pub fn around(inner: Arc<dyn Backend>, approver: impl Approver) -> GatedBackend<Approval> {
        GatedBackend::new(inner, Approval { approver: Box::new(approver) })
    }
}

#[async_trait]
impl Gate for Approval {
    async fn admit(&self, call: &Call, _inner: &dyn Backend) -> Result<AdmissionGuard> {
        if !call.writes() && call.operation != Operation::Execute {
            return Ok(None);
        }
        match self.approver.decide(call).await {
            Decision::Approve => Ok(None),
            Decision::Deny(reason) => Err(BackendError::Refused { layer: "approval", reason }),
        }
    }
}
