//! `find`: files that pass tests, and actions on them.
//!
//! An expression is compiled to a list of steps with jumps, so that neither a deep expression nor a deep tree needs a
//! deep stack. The attributes of a file are read by the first test that needs them: `-name` and `-type` never do.
//!
//! # Layout
//! - `arguments`: options, starting points and the start of the expression
//! - `expression`: operators; `primary`: everything else that has a name
//! - `test`, `compare`, `age`, `permissions`, `regex`: the tests
//! - `action`, `exec`, `format`, `print`, `listing`, `sink`: the actions
//! - `walk`: the tree, and `visit`: one file of it

mod action;
mod age;
mod arguments;
mod compare;
mod exec;
mod expression;
mod format;
mod listing;
mod permissions;
mod primary;
mod print;
mod regex;
mod sink;
mod test;
mod visit;
mod walk;

use isopod_gnu::program::{Call, Program, Syntax};

use arguments::Arguments;
use walk::Walk;

/// `find`.
pub(crate) const PROGRAM: Program = Program {
    name: "find",
    operands: &["[-H] [-L] [-P] [-Olevel] [path...] [expression]"],
    about: "Search for files in a directory hierarchy.\n\n\
Default path is the current directory; default expression is -print.\n\
Operators (decreasing precedence; -and is implicit where no others are given):\n\
      ( EXPR )   ! EXPR   -not EXPR   EXPR1 -a EXPR2   EXPR1 -and EXPR2\n\
      EXPR1 -o EXPR2   EXPR1 -or EXPR2   EXPR1 , EXPR2\n\
Positional options (always true):\n\
      -daystart -follow -nowarn -regextype -warn\n\
Normal options (always true, specified before other expressions):\n\
      -depth -d -files0-from FILE -maxdepth LEVELS -mindepth LEVELS -mount -noleaf -xdev\n\
      -ignore_readdir_race -noignore_readdir_race\n\
Tests (N can be +N or -N or N):\n\
      -amin N -anewer FILE -atime N -cmin N -cnewer FILE -ctime N -empty -executable -false -gid N\n\
      -group NAME -ilname PATTERN -iname PATTERN -inum N -ipath PATTERN -iregex PATTERN -iwholename PATTERN\n\
      -links N -lname PATTERN -mmin N -mtime N -name PATTERN -newer FILE -newerXY REFERENCE -nogroup -nouser\n\
      -path PATTERN -perm [-/]MODE -readable -regex PATTERN -samefile FILE -size N[bcwkMG] -true\n\
      -type [dflpc] -uid N -used N -user NAME -wholename PATTERN -writable -xtype [dflpc]\n\
Actions:\n\
      -delete -exec COMMAND ; -exec COMMAND {} + -execdir COMMAND ; -execdir COMMAND {} +\n\
      -fls FILE -fprint FILE -fprint0 FILE -fprintf FILE FORMAT -ls -print -print0 -printf FORMAT -prune -quit",
    syntax: Syntax::Own,
    options: &[],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

fn run(call: &Call) -> Result<u8, u8> {
    let fail = |message: String| {
        call.complain(&message);
        1
    };
    let arguments = Arguments::read(&call.operands).map_err(fail)?;
    let (expression, settings) = match expression::parse(arguments.expression, arguments.follow) {
        Ok(parsed) => parsed,
        Err(expression::Stop::Help) => return Err(call.help()),
        Err(expression::Stop::Version) => return Err(call.version()),
        Err(expression::Stop::Wrong(message)) => return Err(fail(message)),
    };
    for warning in &settings.warnings {
        call.complain(&format!("warning: {warning}"));
    }
    let starts = arguments::starting_points(arguments.paths, settings.files0_from.as_deref()).map_err(fail)?;
    Walk::new(call, expression, settings).run(starts)
}
