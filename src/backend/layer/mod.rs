//! Layers: backends around a backend, stacked as one likes.
//!
//! Most only look at an operation before it is done and at its outcome after: they are a [`Gate`], and [`Guarded`] is
//! the backend around it. [`Redact`] and [`PathMap`] change what goes in or comes out; [`DryRun`] sends it elsewhere.
//!
//! A layer sees what goes through it: the request that a command is executed, and not what the command does. Rules that
//! hold for commands too belong below: protected paths and read-only mounts in the VFS, limits in the kernel. Which
//! programs may run is to be decided where the kernel spawns, since `eval`, `xargs` and `sh -c` make any decision on the
//! text of a command worthless; a list of programs is therefore not a layer.

mod approval;
mod audit;
mod dry_run;
mod gate;
mod path_map;
mod redact;
mod rules;
mod write_quota;

pub use approval::{Approval, Approver, Verdict};
pub use audit::{Audit, AuditSink};
pub use dry_run::{Change, Diff, DryRun, What};
pub use gate::{Call, Gate, Guarded, Operation, Outcome, Permit};
pub use path_map::PathMap;
pub use redact::Redact;
pub use rules::{AllowList, DenyList};
pub use write_quota::WriteQuota;
