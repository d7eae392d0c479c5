//! `id`: user and groups, in names and numbers.

use isopod_gnu::accounts::{self, User};
use isopod_gnu::options::Opt;
use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote;

/// `id`.
pub(crate) const PROGRAM: Program = Program {
    name: "id",
    operands: &["[OPTION]... [USER]..."],
    about: "Print user and group information for each specified USER, or (when USER omitted) for the current process.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::letter('a', "a", "ignore, for compatibility with other versions"),
        Opt::flag('g', "group", "print only the effective group ID"),
        Opt::flag('G', "groups", "print all group IDs"),
        Opt::flag('n', "name", "print a name instead of a number, for -ugG"),
        Opt::flag('r', "real", "print the real ID instead of the effective ID, with -ugG"),
        Opt::flag('u', "user", "print only the effective user ID"),
        Opt::flag('z', "zero", "delimit entries with NUL characters, not whitespace; not permitted in default format"),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

/// The part of the identity that is printed.
#[derive(Clone, Copy, PartialEq)]
enum Report {
    User,
    Group,
    Groups,
    All,
}

fn run(call: &Call) -> Result<u8, u8> {
    let refuse = |message: &str| {
        call.complain(message);
        1
    };
    let mut chosen = [("user", Report::User), ("group", Report::Group), ("groups", Report::Groups)]
        .into_iter()
        .filter(|(o, _)| call.has(o));
    let report = chosen.next().map_or(Report::All, |(_, report)| report);
    if chosen.next().is_some() {
        return Err(refuse("cannot print \"only\" of more than one choice"));
    }
    let (names, zero) = (call.has("name"), call.has("zero"));
    if report == Report::All && (names || call.has("real")) {
        return Err(refuse("cannot print only names or real IDs in default format"));
    }
    if report == Report::All && zero {
        return Err(refuse("option --zero not permitted in default format"));
    }

    let mut out = Out::new();
    let mut code = 0;
    let users = accounts::users();
    let mut print = |user: &User, several: bool| {
        let (separator, end) = if zero { ("\0", "\0") } else { (" ", "\n") };
        out.push(describe(user, report, names, separator).as_bytes());
        out.push(end.as_bytes());
        // Lists of several users are set apart by a second NUL.
        if zero && several && report == Report::Groups {
            out.byte(0);
        }
    };
    if call.operands.is_empty() {
        let name = accounts::user_name(accounts::USER).unwrap_or_else(|| accounts::USER.to_string());
        print(&User { name, uid: accounts::USER, gid: accounts::GROUP }, false);
    }
    for operand in &call.operands {
        let numeric = operand.strip_prefix('+').unwrap_or(operand).parse().ok();
        let user =
            users.iter().find(|user| user.name == *operand).or(users.iter().find(|user| Some(user.uid) == numeric));
        match user {
            Some(user) => print(user, call.operands.len() > 1),
            None => code = refuse(&format!("{}: no such user", quote::plain(operand))),
        }
    }
    Ok(call.finish(out, code))
}

fn describe(user: &User, report: Report, names: bool, separator: &str) -> String {
    let group = |gid: u32| if names { accounts::group_name(gid) } else { None }.unwrap_or_else(|| gid.to_string());
    let with_name = |id: u32, name: Option<String>| name.map_or(id.to_string(), |name| format!("{id}({name})"));
    let groups = accounts::groups_of(&user.name, user.gid);
    match report {
        Report::User if names => user.name.clone(),
        Report::User => user.uid.to_string(),
        Report::Group => group(user.gid),
        Report::Groups => groups.into_iter().map(group).collect::<Vec<_>>().join(separator),
        Report::All => {
            let all: Vec<String> = groups.into_iter().map(|gid| with_name(gid, accounts::group_name(gid))).collect();
            let first = with_name(user.gid, accounts::group_name(user.gid));
            format!("uid={} gid={first} groups={}", with_name(user.uid, accounts::user_name(user.uid)), all.join(","))
        }
    }
}
