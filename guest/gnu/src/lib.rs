//! Code that the programs of the sandbox share.
//!
//! Nothing here costs start-up: there is no argument parser crate and no localisation, and the kernel's calls stand in
//! place of std's files, so that a `cat` is a few reads and writes.
//!
//! # Layout
//! - `program`: a program's description, and its start by the name in /bin
//! - `component`: the `main` of a component with several programs
//! - `options`: GNU's `getopt_long`, over a table
//! - `output`: standard output in large pieces, and complaints on standard error
//! - `pattern`, `mode`: patterns of names, and permissions
//! - `calendar`, `zone`, `strftime`, `moment`: dates, time zones, the formats of dates, and the texts of `date -d`
//! - `ancestors`: the directories around a walk, so that no link leads it round in circles
//! - `natural`, `long_double`: numbers of any length, and C's `long double`
//! - `input`, `quote`, `path`, `prompt`, `human`, `size`, `width`, `version`, `signals`, `duration`, `accounts`,
//!   `child`, `digits`, `locale`: smaller things that several programs need

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
pub mod strftime;
pub mod version;
pub mod width;
pub mod zone;
