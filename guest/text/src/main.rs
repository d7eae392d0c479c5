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

use isopod_gnu::program::{Program, main_of};

/// All programs, sorted by name. `programs.txt` lists the same names for the host's build.
const PROGRAMS: &[&Program] = &[&grep::EGREP, &grep::FGREP, &grep::GREP, &rg::PROGRAM, &sed::PROGRAM];

fn main() {
    main_of(PROGRAMS)
}

#[cfg(test)]
mod tests {
    use super::PROGRAMS;

    #[test]
    fn list_for_the_host_names_these_programs() {
        let listed: Vec<&str> = include_str!("../programs.txt").lines().collect();
        let names: Vec<&str> = PROGRAMS.iter().map(|program| program.name).collect();
        assert_eq!(names, listed);
        assert!(names.is_sorted());
    }
}
