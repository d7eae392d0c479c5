//! ES modules: `lib/modules.js` resolves names to files and reads them. CommonJS and the library's own modules are ES
//! modules of a few lines that fetch their exports when they are evaluated.

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{Ctx, Module, Object, Promise, Result};

use crate::engine::Library;

/// Resolves the name of an import.
pub(crate) struct Finder(pub(crate) Library);

impl Resolver for Finder {
    fn resolve<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> Result<String> {
        self.0.call(ctx, "locate", (name, base))
    }
}

/// Loads resolved modules.
pub(crate) struct Reader(pub(crate) Library);

impl Loader for Reader {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        attributes: Option<ImportAttributes<'js>>,
    ) -> Result<Module<'js, Declared>> {
        let kind = attributes.map(|attributes| attributes.get_type()).transpose()?.flatten();
        let read: Object = self.0.call(ctx, "read", (name, kind))?;
        declare(ctx, name, read.get("source")?, read.get("meta")?)
    }
}

/// Starts a module as the main program. Returns the promise of its end.
pub(crate) fn run<'js>(ctx: Ctx<'js>, name: String, source: String, meta: Object<'js>) -> Result<Promise<'js>> {
    Ok(declare(&ctx, &name, source, meta)?.eval()?.1)
}

/// Starts a module. Returns the promise of its end and its exports.
pub(crate) fn require<'js>(
    ctx: &Ctx<'js>,
    name: &str,
    source: String,
    meta: Object<'js>,
) -> Result<(Promise<'js>, Object<'js>)> {
    let (module, promise) = declare(ctx, name, source, meta)?.eval()?;
    Ok((promise, module.namespace()?))
}

/// Compiles a module without running it.
pub(crate) fn check(ctx: Ctx<'_>, name: String, source: String) -> Result<()> {
    Module::declare(ctx, name, source).map(|_| ())
}

fn declare<'js>(ctx: &Ctx<'js>, name: &str, source: String, meta: Object<'js>) -> Result<Module<'js, Declared>> {
    let module = Module::declare(ctx.clone(), name, source)?;
    let target = module.meta()?;
    for property in meta.props::<rquickjs::Atom, rquickjs::Value>() {
        let (name, value) = property?;
        target.set(name, value)?;
    }
    Ok(module)
}
