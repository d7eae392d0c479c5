//! The library's text. Each part is the body of a function that is compiled when it is first needed.

use rquickjs::{Ctx, Exception, FromJs, Result};

use crate::natives;

macro_rules! parts {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../lib/", $name, ".js")))),*]
    };
}

/// The parts by name. `lib/boot.js` knows which of them are Node's modules.
const PARTS: &[(&str, &str)] = parts! {
    "assert" "boot" "buffer" "child_process" "console" "crypto" "errors" "events" "exported" "fs" "fs_promises"
    "inspect" "kinds" "locale" "loop" "modules" "os" "path" "process" "querystring" "readline" "resolve" "stdio" "stream"
    "string_decoder" "test" "timers" "url" "util" "web"
};

/// Returns the function of a part. `boot` takes the arguments that all other parts get from it.
pub(crate) fn compile<'js, R: FromJs<'js>>(ctx: &Ctx<'js>, name: &str) -> Result<R> {
    let Some((_, body)) = PARTS.iter().find(|(known, _)| *known == name) else {
        return Err(Exception::throw_message(ctx, &format!("no part {name} of the library")));
    };
    let parameters = if name == "boot" { "sys" } else { "exports, require, module, sys, internal" };
    natives::script(ctx, &format!("(function ({parameters}) {{{body}\n}})"), &format!("node:{name}"))
}
