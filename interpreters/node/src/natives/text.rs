//! Texts as arguments. A JavaScript string may hold half of a surrogate pair, which UTF-8 cannot: it becomes U+FFFD, as
//! in Node.

use rquickjs::prelude::This;
use rquickjs::{Coerced, Ctx, Error, FromJs, Function, Object, Result, Value};

/// Any argument, converted to text.
pub(super) struct Text(pub(super) String);

impl<'js> FromJs<'js> for Text {
    fn from_js(ctx: &Ctx<'js>, value: Value<'js>) -> Result<Text> {
        match Coerced::<String>::from_js(ctx, value.clone()) {
            Ok(text) => Ok(Text(text.0)),
            Err(Error::Utf8(_)) => {
                let prototype: Object = ctx.globals().get::<_, Object>("String")?.get("prototype")?;
                Ok(Text(prototype.get::<_, Function>("toWellFormed")?.call((This(value),))?))
            }
            Err(error) => Err(error),
        }
    }
}
