//! The programs, one file or directory each.

mod arch;
mod cat;
mod chmod;
mod chown;
mod cp;
mod dd;
mod dircolors;
mod du;
mod echo;
mod env;
mod factor;
mod groups;
mod head;
mod hostname;
mod id;
mod install;
mod kill;
mod ln;
mod lookup;
mod ls;
mod machine;
mod mkdir;
mod mkfifo;
mod mktemp;
mod mv;
mod nproc;
mod pager;
mod pathchk;
mod printenv;
mod processes;
mod pwd;
mod readlink;
mod refused;
mod rm;
mod rmdir;
mod session;
mod shred;
mod sleep;
mod sort;
mod stat;
mod tabs;
mod tac;
mod tail;
mod test;
mod timeout;
mod truncate;
mod truth;
mod uname;
mod wc;
mod whoami;
mod wrappers;
mod yes;

use isopod_gnu::program::Program;

/// The programs, sorted by name.
pub(crate) const PROGRAMS: &[&Program] = &[
    &test::BRACKET,
    &refused::APK,
    &refused::APT,
    &refused::APT_CACHE,
    &refused::APT_GET,
    &arch::PROGRAM,
    &refused::BREW,
    &refused::CARGO,
    &cat::PROGRAM,
    &chown::CHGRP,
    &chmod::PROGRAM,
    &chown::CHOWN,
    &lookup::CLEAR,
    &refused::CONDA,
    &cp::PROGRAM,
    &refused::CURL,
    &dd::PROGRAM,
    &machine::DF,
    &ls::DIR,
    &dircolors::PROGRAM,
    &refused::DNF,
    &refused::DPKG,
    &du::PROGRAM,
    &echo::PROGRAM,
    &env::PROGRAM,
    &tabs::EXPAND,
    &factor::PROGRAM,
    &truth::FALSE,
    &machine::FREE,
    &refused::GEM,
    &lookup::GETENT,
    &refused::GIT,
    &groups::PROGRAM,
    &head::PROGRAM,
    &session::HOSTID,
    &hostname::PROGRAM,
    &id::PROGRAM,
    &install::PROGRAM,
    &kill::PROGRAM,
    &pager::LESS,
    &ln::LINK,
    &ln::LN,
    &lookup::LOCALE,
    &session::LOGNAME,
    &ls::PROGRAM,
    &refused::MAN,
    &mkdir::PROGRAM,
    &mkfifo::PROGRAM,
    &mktemp::PROGRAM,
    &pager::MORE,
    &mv::PROGRAM,
    &wrappers::NICE,
    &wrappers::NOHUP,
    &refused::NPM,
    &nproc::PROGRAM,
    &refused::NPX,
    &refused::PACMAN,
    &pathchk::PROGRAM,
    &processes::PGREP,
    &processes::PKILL,
    &refused::PNPM,
    &printenv::PROGRAM,
    &processes::PS,
    &pwd::PROGRAM,
    &readlink::READLINK,
    &readlink::REALPATH,
    &lookup::RESET,
    &rm::PROGRAM,
    &rmdir::PROGRAM,
    &shred::PROGRAM,
    &sleep::PROGRAM,
    &sort::PROGRAM,
    &stat::PROGRAM,
    &wrappers::STDBUF,
    &refused::STTY,
    &refused::SU,
    &wrappers::SUDO,
    &session::SYNC,
    &tac::PROGRAM,
    &tail::PROGRAM,
    &test::TEST,
    &wrappers::TIME,
    &timeout::PROGRAM,
    &refused::TOP,
    &lookup::TPUT,
    &truth::TRUE,
    &truncate::PROGRAM,
    &session::TTY,
    &uname::PROGRAM,
    &tabs::UNEXPAND,
    &ln::UNLINK,
    &machine::UPTIME,
    &session::USERS,
    &refused::UV,
    &ls::VDIR,
    &refused::WATCH,
    &wc::PROGRAM,
    &refused::WGET,
    &session::WHO,
    &whoami::PROGRAM,
    &refused::YARN,
    &yes::PROGRAM,
    &refused::YUM,
];
