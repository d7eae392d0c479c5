//! Programs that look for files and say what they are, in one component.
//!
//! # Layout
//! - `find`, `xargs`, `tree`, `file`: the programs, a directory each; `which`, `locate`: in a file
//! - `messages`: how findutils quote names
//! - the library: patterns and dates, which the archivers use too

mod file;
mod find;
mod locate;
mod messages;
mod tree;
mod which;
mod xargs;

use isopod_gnu::program::{Program, main_of};

/// All programs, sorted by name. `programs.txt` lists the same names for the host's build.
const PROGRAMS: &[&Program] =
    &[&file::PROGRAM, &find::PROGRAM, &locate::PROGRAM, &tree::PROGRAM, &which::PROGRAM, &xargs::PROGRAM];

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
        assert!(names.is_sorted());
    }
}
