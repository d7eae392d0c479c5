//! The tools: the trait, the table, and the parts that they share.

mod change;
mod execute;
mod look;
mod schema;
mod search;
mod state;
mod transfer;

use std::future::Future;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use rmcp::model::{CallToolResult, ContentBlock, Tool as Description, ToolAnnotations};
use rmcp::schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::progress::Progress;
use super::session::ClientSession;
use crate::backend::{BackendError, Cut};
use crate::sandbox::{BuildError, ExecuteError};
use crate::vfs::Kind;

pub(super) use state::COMMIT;

/// All tools.
pub(super) static TOOLS: [Entry; 14] = [
    entry::<execute::Execute>(),
    entry::<look::Read>(),
    entry::<change::Write>(),
    entry::<change::Edit>(),
    entry::<change::Delete>(),
    entry::<look::Ls>(),
    entry::<search::Glob>(),
    entry::<search::Grep>(),
    entry::<transfer::Upload>(),
    entry::<transfer::Download>(),
    entry::<state::Snapshot>(),
    entry::<state::Fork>(),
    entry::<state::Diff>(),
    entry::<state::Commit>(),
];

/// A tool: its description for a model, and its implementation.
trait Tool {
    const NAME: &'static str;
    const TITLE: &'static str;
    const DESCRIPTION: &'static str;
    const EFFECT: Effect;
    /// The schema is made of the fields and their doc comments.
    type Arguments: DeserializeOwned + JsonSchema + Send + 'static;
    type Answer: Serialize + JsonSchema + 'static;

    fn call(
        arguments: Self::Arguments,
        call: Call,
    ) -> impl Future<Output = Result<Reply<Self::Answer>, Refusal>> + Send;
}

/// The effect of a tool on the sandbox. No tool has an effect outside of it, so none has an "open world".
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// Changes nothing.
    Reads,
    /// Adds something, and removes nothing.
    Adds,
    /// May remove something.
    Changes,
    /// May remove something; a second call with the same arguments changes nothing more.
    ChangesOnce,
}

/// A call of a tool.
pub(super) struct Call {
    pub(super) session: Arc<ClientSession>,
    pub(super) progress: Progress,
}

/// The answer of a tool: data for a program, and content for a model.
struct Reply<A> {
    answer: A,
    shown: ContentBlock,
}

/// The reason why a tool did nothing, in one line.
#[derive(Debug)]
pub(super) struct Refusal(pub(super) String);

/// A tool in the table.
pub(super) struct Entry {
    pub(super) name: &'static str,
    pub(super) describe: fn() -> Description,
    pub(super) call: fn(Value, Call) -> BoxFuture<'static, CallToolResult>,
}

const fn entry<T: Tool + 'static>() -> Entry {
    Entry { name: T::NAME, describe: describe::<T>, call: |arguments, call| answer::<T>(arguments, call).boxed() }
}

fn describe<T: Tool>() -> Description {
    Description::new(T::NAME, T::DESCRIPTION, schema::of_arguments::<T::Arguments>())
        .with_title(T::TITLE)
        .with_raw_output_schema(schema::of_answer::<T::Answer>())
        .with_annotations(
            ToolAnnotations::with_title(T::TITLE)
                .read_only(T::EFFECT == Effect::Reads)
                .destructive(matches!(T::EFFECT, Effect::Changes | Effect::ChangesOnce))
                .idempotent(matches!(T::EFFECT, Effect::Reads | Effect::ChangesOnce))
                .open_world(false),
        )
}

async fn answer<T: Tool>(arguments: Value, call: Call) -> CallToolResult {
    // A tool error and not a protocol error: a model reads it and can correct its call.
    let arguments = serde_json::from_value(arguments).map_err(|error| Refusal(format!("arguments: {error}")));
    let reply = match arguments {
        Ok(arguments) => T::call(arguments, call).await,
        Err(refusal) => Err(refusal),
    };
    let reply = reply.and_then(|Reply { answer, shown }| {
        let answer = serde_json::to_value(answer).map_err(|error| Refusal(error.to_string()))?;
        let mut result = CallToolResult::success(vec![shown]);
        result.structured_content = Some(answer);
        Ok(result)
    });
    reply.unwrap_or_else(Refusal::into_result)
}

impl<A> Reply<A> {
    fn text(answer: A, text: impl Into<String>) -> Reply<A> {
        Reply { answer, shown: ContentBlock::text(text) }
    }
}

impl Refusal {
    pub(super) fn into_result(self) -> CallToolResult {
        CallToolResult::error(vec![ContentBlock::text(self.0)])
    }
}

impl From<BackendError> for Refusal {
    fn from(error: BackendError) -> Refusal {
        Refusal(error.to_string())
    }
}

impl From<ExecuteError> for Refusal {
    fn from(error: ExecuteError) -> Refusal {
        Refusal(error.to_string())
    }
}

impl From<BuildError> for Refusal {
    fn from(error: BuildError) -> Refusal {
        Refusal(error.to_string())
    }
}

/// The kind of a file.
#[derive(Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(rename_all = "lowercase")]
enum FileKind {
    File,
    Directory,
    Symlink,
    Special,
}

impl From<Kind> for FileKind {
    fn from(kind: Kind) -> FileKind {
        match kind {
            Kind::File => FileKind::File,
            Kind::Directory => FileKind::Directory,
            Kind::Symlink => FileKind::Symlink,
            Kind::Device | Kind::Pipe => FileKind::Special,
        }
    }
}

/// Explains to a model why an answer may be incomplete.
fn reason(cut: Cut) -> &'static str {
    match cut {
        Cut::Count => "there are more",
        Cut::Unreadable => "something could not be read",
        _ => "the search took too long",
    }
}

/// Returns lines for a model, with a note if they are none or not all.
fn listing(mut lines: String, nothing: &str, truncated: Option<&str>) -> String {
    if lines.is_empty() {
        lines = format!("({nothing})\n");
    }
    if let Some(why) = truncated {
        lines.push_str(&format!("[not complete: {why}]\n"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_has_a_schema_that_says_what_each_argument_is() {
        for entry in &TOOLS {
            let tool = (entry.describe)();
            assert_eq!(tool.input_schema["type"], "object", "{}", entry.name);
            assert_eq!(tool.input_schema["additionalProperties"], false, "{}", entry.name);
            for (name, argument) in tool.input_schema["properties"].as_object().unwrap() {
                assert!(argument["description"].is_string(), "{name} of {}", entry.name);
                assert!(
                    argument["type"].is_string() || argument["enum"].is_array() || argument["anyOf"].is_array(),
                    "{name} of {}: {argument}",
                    entry.name
                );
            }
            assert_eq!(tool.output_schema.unwrap()["type"], "object", "{}", entry.name);
        }
    }
}
