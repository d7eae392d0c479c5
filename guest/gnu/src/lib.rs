//! What the programs of the sandbox have in common.
//!
//! What costs start-up is left out: no argument parser crate, no localisation, and the kernel's calls in place
//! of std's files, so that a `cat` is a few reads and writes and nothing else.
//!
//! # Layout
//! - `program`: what a program is, and how one is started by its name in /bin
//! - `component`: the `main` of a component with several programs
//! - `options`: GNU's `getopt_long`, over a table
//! - `output`: standard output in large pieces, and complaints on standard error
//! - `pattern`, `moment`, `mode`: names, dates and permissions as people write them, for programs that choose files
//! - `ancestors`: where a walk through directories is, so that no link leads it round in circles
//! - `natural`, `long_double`: numbers of any length, and C's `long double`
//! - `input`, `quote`, `path`, `prompt`, `human`, `size`, `width`, `version`, `signals`, `duration`, `accounts`,
//!   `calendar`, `child`, `digits`, `locale`: what several programs share

pub mod accounts;
pub mod ancestors;
pub mod calendar;
pub mod child;
mod component;
pub mod digits;
pub mod duration;
pub mod human;
pub mod input;
pub mod locale;
pub mod long_double;
pub mod mode;
pub mod moment;
pub mod natural;
pub mod options;
pub mod output;
pub mod path;
pub mod pattern;
pub mod program;
pub mod prompt;
pub mod quote;
pub mod signals;
pub mod size;
pub mod version;
pub mod width;
