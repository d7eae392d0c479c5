//! Compiling scripts, starting modules, and facts about values that only the engine knows.

use rquickjs::context::EvalOptions;
use rquickjs::prelude::Func;
use rquickjs::promise::PromiseState;
use rquickjs::{Array, Ctx, FromJs, Object, Promise, Proxy, Result, Value};

use super::Text;
use crate::{library, modules};

pub(super) fn add(sys: &Object<'_>) -> Result<()> {
    sys.set("part", Func::from(part))?;
    sys.set("evaluate", Func::from(evaluate))?;
    sys.set("runModule", Func::from(run_module))?;
    sys.set("requireModule", Func::from(require_module))?;
    sys.set("checkModule", Func::from(check_module))?;
    sys.set("kind", Func::from(kind))?;
    sys.set("proxy", Func::from(proxy))?;
    sys.set("promise", Func::from(promise))
}

/// Evaluates a script in the global scope.
pub(crate) fn script<'js, R: FromJs<'js>>(ctx: &Ctx<'js>, source: &str, path: &str) -> Result<R> {
    let mut options = EvalOptions::default();
    options.strict = false;
    options.filename = Some(path.to_owned());
    ctx.eval_with_options(source, options)
}

fn part<'js>(ctx: Ctx<'js>, name: String) -> Result<Value<'js>> {
    library::compile(&ctx, &name)
}

/// `evaluate(source, path)`: returns the value of a script.
fn evaluate<'js>(ctx: Ctx<'js>, source: Text, path: Text) -> Result<Value<'js>> {
    script(&ctx, &source.0, &path.0)
}

/// `runModule(name, source, meta)`: returns the promise of the module's end.
fn run_module<'js>(ctx: Ctx<'js>, name: Text, source: Text, meta: Object<'js>) -> Result<Promise<'js>> {
    modules::run(ctx, name.0, source.0, meta)
}

/// `requireModule(name, source, meta)`: returns the promise of the module's end, and its exports.
fn require_module<'js>(ctx: Ctx<'js>, name: Text, source: Text, meta: Object<'js>) -> Result<Array<'js>> {
    let (promise, namespace) = modules::require(&ctx, &name.0, source.0, meta)?;
    let pair = Array::new(ctx)?;
    pair.set(0, promise)?;
    pair.set(1, namespace)?;
    Ok(pair)
}

fn check_module(ctx: Ctx<'_>, name: Text, source: Text) -> Result<()> {
    modules::check(ctx, name.0, source.0)
}

/// Returns the kind of an object, for kinds that scripts cannot detect.
fn kind(value: Value<'_>) -> &'static str {
    if value.is_proxy() {
        "Proxy"
    } else if value.is_error() {
        "Error"
    } else if value.is_promise() {
        "Promise"
    } else {
        ""
    }
}

/// Returns a proxy's target and handler, null if it was revoked.
fn proxy<'js>(ctx: Ctx<'js>, value: Value<'js>) -> Result<Array<'js>> {
    let proxy = Proxy::from_js(&ctx, value)?;
    let pair = Array::new(ctx.clone())?;
    pair.set(0, proxy.target().ok())?;
    pair.set(1, proxy.handler().ok())?;
    Ok(pair)
}

/// Returns a promise's state, and its value in `out.value`.
fn promise<'js>(ctx: Ctx<'js>, value: Value<'js>, out: Object<'js>) -> Result<&'static str> {
    let promise = Promise::from_js(&ctx, value)?;
    let state = match promise.state() {
        PromiseState::Pending => return Ok("pending"),
        PromiseState::Resolved => "fulfilled",
        PromiseState::Rejected => "rejected",
    };
    let value = match promise.result::<Value>() {
        Some(Ok(value)) => value,
        _ => ctx.catch(),
    };
    out.set("value", value)?;
    Ok(state)
}
