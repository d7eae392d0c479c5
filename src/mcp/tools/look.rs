//! The tools `read` and `ls`.

use std::fmt::Write as _;

use rmcp::model::ContentBlock;
use rmcp::schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Effect, FileKind, Refusal, Reply, Tool, listing, reason};
use crate::backend::profile::base64;
use crate::backend::{Backend, Content, Page, ReadAs, ReadRequest};
use crate::limits::server::mcp as limits;

pub(super) struct Read;

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct ReadArguments {
    /// The file: an absolute path, or one below /workspace.
    path: String,
    /// Lines to skip at the start.
    #[serde(default)]
    offset: u64,
    /// Lines to read, 2000 by default.
    #[serde(default)]
    limit: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct ReadAnswer {
    /// The lines, without a line end after the last. Empty for an image, which is shown beside this.
    content: String,
    /// The number of lines in content.
    lines: u64,
    /// The number of lines in the file, if it is known.
    total_lines: Option<u64>,
    /// The offset of the next page; null at the end of the file.
    next_offset: Option<u64>,
    /// The last line is cut, because the page is full.
    is_cut: bool,
    /// The media type of an image.
    image: Option<&'static str>,
}

impl Tool for Read {
    const NAME: &'static str = "read";
    const TITLE: &'static str = "Read a file";
    const DESCRIPTION: &'static str = "Read lines of a text file, unchanged. A long file comes in pages: offset and \
        limit choose the lines, and the answer says how to go on. A PNG, JPEG, GIF or WebP file is shown as an \
        image. `download` has the bytes of any other file.";
    const EFFECT: Effect = Effect::Reads;
    type Arguments = ReadArguments;
    type Answer = ReadAnswer;

    async fn call(arguments: ReadArguments, call: Call) -> Result<Reply<ReadAnswer>, Refusal> {
        let ReadArguments { path, offset, limit } = arguments;
        let r#as = ReadAs::Text {
            offset,
            limit: limit.unwrap_or(limits::PAGE_LINES),
            most: limits::TEXT_BYTES,
            universal_newlines: false,
        };
        let files = &call.session.workspace().files;
        match files.read(ReadRequest { path: path.clone(), r#as }).await? {
            Content::Text(page) => Ok(page_reply(page)),
            Content::Empty => Ok(Reply::text(ReadAnswer::of_nothing(Some(0)), "(the file is empty)")),
            Content::NoLines => Ok(Reply::text(ReadAnswer::of_nothing(None), "(no lines were asked for)")),
            Content::Bytes(bytes) => {
                let image = image(&bytes).filter(|_| bytes.len() as u64 <= limits::DOWNLOAD_BYTES);
                let refused = || Refusal(format!("{path}: {} bytes that are not text; download has them", bytes.len()));
                let image = image.ok_or_else(refused)?;
                let answer = ReadAnswer { image: Some(image), ..ReadAnswer::of_nothing(None) };
                Ok(Reply { answer, shown: ContentBlock::image(base64(&bytes), image) })
            }
        }
    }
}

impl ReadAnswer {
    fn of_nothing(total_lines: Option<u64>) -> ReadAnswer {
        ReadAnswer { content: String::new(), lines: 0, total_lines, next_offset: None, is_cut: false, image: None }
    }
}

fn page_reply(page: Page) -> Reply<ReadAnswer> {
    let Page { text, offset, lines, total_lines, next_offset, is_cut } = page;
    let mut shown = text.clone();
    if let Some(next) = next_offset {
        let total = total_lines.map_or_else(|| "more".to_owned(), |total| total.to_string());
        // Writing to a String cannot fail.
        let _ = write!(shown, "\n[lines {} to {} of {total}; offset {next} goes on]", offset + 1, offset + lines);
    }
    if is_cut {
        shown.push_str("\n[the last line is cut]");
    }
    Reply::text(ReadAnswer { content: text, lines, total_lines, next_offset, is_cut, image: None }, shown)
}

/// Returns the media type of an image by its first bytes. The file's name may say anything.
fn image(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

pub(super) struct Ls;

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct LsArguments {
    /// The directory: an absolute path, or one below /workspace; /workspace itself by default.
    #[serde(default = "here")]
    path: String,
}

#[derive(Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct LsAnswer {
    /// The entries in the order of their names, with hidden ones.
    entries: Vec<LsEntry>,
    /// The reason why there may be more; null if this is all.
    truncated: Option<&'static str>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct LsEntry {
    name: String,
    kind: FileKind,
    /// Size in bytes.
    size: u64,
    /// Time of the last change, in milliseconds since 1970.
    modified_ms: u64,
}

impl Tool for Ls {
    const NAME: &'static str = "ls";
    const TITLE: &'static str = "List a directory";
    const DESCRIPTION: &'static str = "List the entries of a directory, one level deep, with hidden names. `glob` \
        finds files at any depth.";
    const EFFECT: Effect = Effect::Reads;
    type Arguments = LsArguments;
    type Answer = LsAnswer;

    async fn call(arguments: LsArguments, call: Call) -> Result<Reply<LsAnswer>, Refusal> {
        let mut listed = call.session.workspace().files.ls(&arguments.path).await?;
        let mut truncated = listed.cut.map(reason);
        if listed.entries.len() > limits::NAMES {
            listed.entries.truncate(limits::NAMES);
            truncated = Some("there are more names; glob or execute can choose among them");
        }
        let (mut lines, mut entries) = (String::new(), Vec::new());
        for entry in listed.entries {
            let kind = FileKind::from(entry.kind);
            // A name with a line end in it must not look like two names.
            let name =
                if entry.name.chars().any(char::is_control) { format!("{:?}", entry.name) } else { entry.name.clone() };
            let _ = match kind {
                FileKind::Directory => writeln!(lines, "{name}/"),
                FileKind::Symlink => writeln!(lines, "{name}@"),
                _ => writeln!(lines, "{name}  {}", entry.size),
            };
            entries.push(LsEntry { name: entry.name, kind, size: entry.size, modified_ms: entry.modified / 1_000_000 });
        }
        let shown = listing(lines, "the directory is empty", truncated);
        Ok(Reply::text(LsAnswer { entries, truncated }, shown))
    }
}

/// The default directory of searches and listings.
pub(super) fn here() -> String {
    ".".to_owned()
}
