//! `who`, `users`, `logname`, `tty`, `hostid` and `sync`: the login session.
//!
//! A sandbox has no logins and no terminal: these answer as GNU's do on a machine without logins.

use isopod_gnu::options::Opt;
use isopod_gnu::program::{Program, Syntax};

/// `who`.
pub(crate) const WHO: Program = Program {
    name: "who",
    operands: &["[OPTION]... [FILE | ARG1 ARG2]"],
    about: "Print information about users who are currently logged in: nobody is.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('a', "all", "all there is"),
        Opt::flag('H', "heading", "print line of column headings"),
        Opt::letter('m', "m", "only hostname and user associated with stdin"),
        Opt::flag('q', "count", "all login names and number of users logged on"),
        Opt::flag('s', "short", "print only name, line, and time (default)"),
        Opt::flag('u', "users", "list users logged in"),
    ],
    failure: 1,
    run: |call| match (call.has("count"), call.has("heading")) {
        (true, _) => call.print("\n# users=0\n"),
        (false, true) => call.print("NAME     LINE         TIME             COMMENT\n"),
        (false, false) => 0,
    },
};

/// `users`.
pub(crate) const USERS: Program = Program {
    name: "users",
    operands: &["[OPTION]... [FILE]"],
    about: "Output who is currently logged in: nobody is.",
    syntax: Syntax::Mixed,
    options: &[],
    failure: 1,
    run: |_| 0,
};

/// `logname`.
pub(crate) const LOGNAME: Program = Program {
    name: "logname",
    operands: &["[OPTION]"],
    about: "Print the user's login name.",
    syntax: Syntax::Mixed,
    options: &[],
    failure: 1,
    run: |call| match call.at_most(0) {
        Ok(()) => {
            call.complain("no login name");
            1
        }
        Err(code) => code,
    },
};

/// `tty`.
pub(crate) const TTY: Program = Program {
    name: "tty",
    operands: &["[OPTION]..."],
    about: "Print the file name of the terminal connected to standard input.",
    syntax: Syntax::Mixed,
    options: &[Opt::flag('s', "silent", "print nothing, only return an exit status"), Opt::long("quiet", "same as -s")],
    failure: 2,
    run: |call| match call.at_most(0) {
        Ok(()) if call.has("silent") || call.has("quiet") => 1,
        Ok(()) => match call.print("not a tty\n") {
            0 => 1,
            _ => 3,
        },
        Err(code) => code,
    },
};

/// `hostid`.
pub(crate) const HOSTID: Program = Program {
    name: "hostid",
    operands: &["[OPTION]"],
    about: "Print the numeric identifier (in hexadecimal) for the current host.",
    syntax: Syntax::Mixed,
    options: &[],
    failure: 1,
    run: |call| match call.at_most(0) {
        // The number that C's library makes of 127.0.0.1: every sandbox is its own host.
        Ok(()) => call.print("007f0100\n"),
        Err(code) => code,
    },
};

/// `sync`.
pub(crate) const SYNC: Program = Program {
    name: "sync",
    operands: &["[OPTION] [FILE]..."],
    about: "Synchronize cached writes to persistent storage: every write is done when it returns.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('d', "data", "sync only file data, no unneeded metadata"),
        Opt::flag('f', "file-system", "sync the file systems that contain the files"),
    ],
    failure: 1,
    run: |call| {
        if call.has("data") && call.operands.is_empty() {
            return call.misused("--data needs at least one argument");
        }
        let mut code = 0;
        for path in &call.operands {
            if let Err(errno) = isopod_sys::files::stat(path, true) {
                let shown = isopod_gnu::quote::shell(path);
                call.complain(&format!("error opening {shown}: {}", isopod_sys::text(errno)));
                code = 1;
            }
        }
        code
    },
};
