//! The programs that search and change text.
//!
//! # Layout
//! - `grep`: `grep`, `egrep`, `fgrep`
//! - `rg`: what agents use of ripgrep
//! - `sed`: the stream editor
//! - `perl`: Perl's expressions, for `grep -P` and `rg -P`

mod grep;
mod perl;
mod rg;
mod sed;

use isopod_gnu::program::Program;

/// The programs, sorted by name.
const PROGRAMS: &[&Program] = &[&grep::EGREP, &grep::FGREP, &grep::GREP, &rg::PROGRAM, &sed::PROGRAM];

isopod_gnu::component!(PROGRAMS);
