//! The bytes of a typed array as an argument, or those of a text in UTF-8.

use rquickjs::{Ctx, Exception, FromJs, Result, TypedArray, Value};

use super::Text;

/// The bytes, copied: a script could change or free the memory behind a view.
pub(super) struct View(pub(super) Vec<u8>);

impl<'js> FromJs<'js> for View {
    fn from_js(ctx: &Ctx<'js>, value: Value<'js>) -> Result<View> {
        if !value.is_object() {
            return Ok(View(Text::from_js(ctx, value)?.0.into_bytes()));
        }
        let array = TypedArray::<u8>::from_js(ctx, value)?;
        #[allow(unsafe_code, reason = "the engine's binding has no other way to the bytes of an array")]
        // SAFETY: no JavaScript runs between here and the end of the copy.
        let bytes = unsafe { array.as_bytes() };
        bytes
            .map(|bytes| View(bytes.to_vec()))
            .ok_or_else(|| Exception::throw_type(ctx, "Cannot perform the operation on a detached ArrayBuffer"))
    }
}
