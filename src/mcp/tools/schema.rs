//! Schemas for models.
//!
//! Many clients pass a schema on to a model's API, and some of these APIs refuse valid JSON Schema: a list of types, a
//! default of null, the width of a number. An optional argument loses nothing without them.

use std::sync::Arc;

use rmcp::handler::server::tool::{schema_for_input, schema_for_output};
use rmcp::model::JsonObject;
use rmcp::schemars::JsonSchema;
use serde_json::Value;

/// The schema of a tool's arguments.
pub(super) fn of_arguments<T: JsonSchema + 'static>() -> Arc<JsonObject> {
    // Only a type that is no object has no schema; the test `every_tool_has_a_schema…` checks all tools.
    plain(schema_for_input::<T>().unwrap_or_default(), true)
}

/// The schema of a tool's answer.
pub(super) fn of_answer<T: JsonSchema + 'static>() -> Arc<JsonObject> {
    plain(schema_for_output::<T>(), false)
}

fn plain(schema: Arc<JsonObject>, is_input: bool) -> Arc<JsonObject> {
    let mut schema = Arc::unwrap_or_clone(schema);
    // The schemas are those of our own types, so the recursion is as shallow as these.
    schema.values_mut().for_each(|value| simplify(value, is_input));
    // Some clients require `properties`, even if it is empty.
    schema.entry("properties").or_insert_with(|| Value::Object(JsonObject::new()));
    Arc::new(schema)
}

fn simplify(value: &mut Value, is_input: bool) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(|value| simplify(value, is_input)),
        Value::Object(object) => {
            if let Some(Value::String(text)) = object.get_mut("description") {
                *text = text.replace('\n', " ");
            }
            if object.get("format").is_some_and(Value::is_string) {
                object.remove("format");
            }
            if is_input && object.get("default").is_some_and(Value::is_null) {
                object.remove("default");
            }
            if is_input && let Some(Value::Array(types)) = object.get_mut("type") {
                types.retain(|name| name != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    object.insert("type".to_owned(), only);
                }
            }
            object.values_mut().for_each(|value| simplify(value, is_input));
        }
        _ => {}
    }
}
