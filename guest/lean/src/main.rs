//! The programs that run often, in one small component.
//!
//! # Layout
//! - `backup`: what is kept of files that are replaced
//! - `canonical`: paths without links
//! - `copying`, `removal`: trees of files, for `cp`, `mv` and `rm`
//! - `programs`: the programs, one file each

mod backup;
mod canonical;
mod copying;
mod programs;
mod removal;

isopod_gnu::component!(programs::PROGRAMS);
