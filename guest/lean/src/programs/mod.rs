//! The programs, one file each.

mod arch;
mod cat;
mod chmod;
mod cp;
mod du;
mod echo;
mod env;
mod factor;
mod groups;
mod head;
mod hostname;
mod id;
mod kill;
mod ls;
mod mkdir;
mod mkfifo;
mod mktemp;
mod mv;
mod nproc;
mod printenv;
mod pwd;
mod rm;
mod rmdir;
mod sleep;
mod sort;
mod stat;
mod tabs;
mod tac;
mod tail;
mod test;
mod timeout;
mod truth;
mod uname;
mod wc;
mod whoami;
mod yes;

use isopod_gnu::program::Program;

/// All programs, sorted by name. `programs.txt` lists the same names for the host's build.
pub(crate) const PROGRAMS: &[&Program] = &[
    &test::BRACKET,
    &arch::PROGRAM,
    &cat::PROGRAM,
    &chmod::PROGRAM,
    &cp::PROGRAM,
    &du::PROGRAM,
    &echo::PROGRAM,
    &env::PROGRAM,
    &tabs::EXPAND,
    &factor::PROGRAM,
    &truth::FALSE,
    &groups::PROGRAM,
    &head::PROGRAM,
    &hostname::PROGRAM,
    &id::PROGRAM,
    &kill::PROGRAM,
    &ls::PROGRAM,
    &mkdir::PROGRAM,
    &mkfifo::PROGRAM,
    &mktemp::PROGRAM,
    &mv::PROGRAM,
    &nproc::PROGRAM,
    &printenv::PROGRAM,
    &pwd::PROGRAM,
    &rm::PROGRAM,
    &rmdir::PROGRAM,
    &sleep::PROGRAM,
    &sort::PROGRAM,
    &stat::PROGRAM,
    &tac::PROGRAM,
    &tail::PROGRAM,
    &test::TEST,
    &timeout::PROGRAM,
    &truth::TRUE,
    &uname::PROGRAM,
    &tabs::UNEXPAND,
    &wc::PROGRAM,
    &whoami::PROGRAM,
    &yes::PROGRAM,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_for_the_host_names_these_programs() {
        let listed: Vec<&str> = include_str!("../../programs.txt").lines().collect();
        let names: Vec<&str> = PROGRAMS.iter().map(|program| program.name).collect();
        assert_eq!(names, listed);
        assert!(names.is_sorted());
    }
}
