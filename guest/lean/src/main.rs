//! The programs that run often, in one small component.
//!
//! What costs start-up is left out: no argument parser crate, no localisation, and the kernel's calls in place
//! of std's files, so that a `cat` is a few reads and writes and nothing else.
//!
//! # Layout
//! - `program`: what a program is, and how one is started by its name in /bin
//! - `options`: GNU's `getopt_long`, over a table
//! - `output`: standard output in large pieces, and complaints on standard error
//! - `copying`, `removal`: trees of files, for `cp`, `mv` and `rm`
//! - `input`, `quote`, `path`, `prompt`, `glob`, `human`, `size`, `width`, `version`, `signals`, `duration`,
//!   `accounts`, `calendar`, `child`: what several programs have in common
//! - `programs`: the programs, one file each

mod accounts;
mod calendar;
mod child;
mod copying;
mod duration;
mod glob;
mod human;
mod input;
mod options;
mod output;
mod path;
mod program;
mod programs;
mod prompt;
mod quote;
mod removal;
mod signals;
mod size;
mod version;
mod width;

fn main() {
    // Not `isopod_sys::entry`: paths go to the kernel, which knows the working directory, so that std need not.
    isopod_sys::exit(program::start(&isopod_sys::process::program(), std::env::args().collect()))
}
