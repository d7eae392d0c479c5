//! Layers: backends that wrap a backend. They can be stacked in any order.
//!
//! Most layers only check an operation before it is done and see its outcome after: they implement [`Gate`], and
//! [`GatedBackend`] is the backend that asks them. [`Redact`] and [`PathMap`] change requests or results; [`DryRun`]
//! sends operations to a copy.
//!
//! A layer sees the operations that pass through it: the request to execute a command, not the actions of the command.
//! Rules that also hold for commands belong below: protected paths and read-only mounts in the VFS, limits in the
//! kernel. The programs that may run are restricted where the kernel starts processes, since `eval`, `xargs` and `sh
//! -c` make a decision on the text of a command worthless. So a list of programs is not a layer.

mod approval;
mod audit;
mod dry_run;
mod gate;
mod path_map;
mod redact;
mod rules;
mod write_quota;

pub use approval::{Approval, Approver, Decision};
pub use audit::{Audit, AuditSink};
pub use dry_run::{Change, ChangeKind, Diff, DryRun};
pub use gate::{AdmissionGuard, Call, Gate, GatedBackend, Operation, Outcome};
pub use path_map::PathMap;
pub use redact::Redact;
pub use rules::{AllowList, DenyList};
pub use write_quota::WriteQuota;
