//! The programs that run often, in one small component.
//!
//! # Layout
//! - `backup`: backups of files that are replaced
//! - `canonical`: paths without links
//! - `headers`: headers between files, for `head` and `tail`
//! - `copying`, `removal`: trees of files, for `cp`, `mv` and `rm`
//! - `programs`: the programs, one file each

mod backup;
mod canonical;
mod copying;
mod headers;
mod programs;
mod removal;

isopod_gnu::component!(programs::PROGRAMS);
