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

use isopod_gnu::program::{Program, main_of};

/// All programs, sorted by name. `programs.txt` lists the same names for the host's build.
const PROGRAMS: &[&Program] = &[&cmp::PROGRAM, &diff::PROGRAM, &diff3::PROGRAM, &patch::PROGRAM];

fn main() {
    main_of(PROGRAMS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_for_the_host_names_these_programs() {
        let listed: Vec<&str> = include_str!("../programs.txt").lines().collect();
        let names: Vec<&str> = PROGRAMS.iter().map(|program| program.name).collect();
        assert_eq!(names, listed);
    }
}
