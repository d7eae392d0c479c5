//! `diff`, `diff3`, `cmp` and `patch`.
//!
//! # Layout
//! - `lines`: what changed between two files
//! - `diff`: the program, its formats and its walk over trees
//! - `diff3`, `cmp`, `patch`: the other programs

mod cmp;
mod diff;
mod diff3;
mod lines;
mod patch;

use isopod_gnu::program::Program;

/// The programs, sorted by name.
const PROGRAMS: &[&Program] = &[&cmp::PROGRAM, &diff::PROGRAM, &diff3::PROGRAM, &patch::PROGRAM];

isopod_gnu::component!(PROGRAMS);
