//! What the programs of the sandbox have in common.
//!
//! What costs start-up is left out: no argument parser crate, no localisation, and the kernel's calls in place
//! of std's files, so that a `cat` is a few reads and writes and nothing else.
//!
//! # Layout
//! - `program`: what a program is, and how one is started by its name in /bin
//! - `options`: GNU's `getopt_long`, over a table
//! - `output`: standard output in large pieces, and complaints on standard error
//! - `input`, `quote`, `path`, `prompt`, `glob`, `human`, `size`, `width`, `version`, `signals`, `duration`,
//!   `accounts`, `calendar`, `child`: what several programs share

pub mod accounts;
pub mod calendar;
pub mod child;
pub mod duration;
pub mod glob;
pub mod human;
pub mod input;
pub mod options;
pub mod output;
pub mod path;
pub mod program;
pub mod prompt;
pub mod quote;
pub mod signals;
pub mod size;
pub mod version;
pub mod width;
