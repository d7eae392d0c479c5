//! `groups`: the groups a user is in.

use isopod_gnu::accounts;
use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote;

/// `groups`.
pub(crate) const PROGRAM: Program = Program {
    name: "groups",
    operands: &["[OPTION]... [USERNAME]..."],
    about: "Print group memberships for each USERNAME or, if no USERNAME is specified, for the current process.",
    syntax: Syntax::Mixed,
    options: &[],
    failure: 1,
    run,
};

fn run(call: &Call) -> u8 {
    let mut out = Out::new();
    let mut code = 0;
    if call.operands.is_empty() {
        let user = accounts::user_name(accounts::USER).unwrap_or_default();
        out.push(names(&user, accounts::GROUP).as_bytes());
    }
    let users = accounts::users();
    for operand in &call.operands {
        match users.iter().find(|user| user.name == *operand) {
            Some(user) => out.push(format!("{operand} : {}", names(operand, user.gid)).as_bytes()),
            None => {
                call.complain(&format!("{}: no such user", quote::plain(operand)));
                code = 1;
            }
        }
    }
    call.finish(out, code)
}

fn names(user: &str, first: u32) -> String {
    let name = |gid: u32| accounts::group_name(gid).unwrap_or_else(|| gid.to_string());
    let names: Vec<String> = accounts::groups_of(user, first).into_iter().map(name).collect();
    format!("{}\n", names.join(" "))
}
