//! `isopod fs ls` and `read`.

use clap::Args;
use isopod::backend::profile::base64;
use isopod::backend::{Backend, Content, Cut, Page, ReadRequest};
use isopod::vfs::Kind;
use serde_json::{Value, json};

use crate::cli::answer::{Answer, Failure};

/// List a directory: a name a line, a directory's with `/`
///
/// Example:
///   isopod fs ls --sandbox 1a2b3c4d src
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Ls {
    /// The directory
    #[arg(default_value = ".")]
    path: String,
}

impl Ls {
    pub(super) async fn run(&self, backend: &dyn Backend) -> Result<Answer, Failure> {
        let listed = backend.ls(&self.path).await?;
        let (mut text, mut entries) = (String::new(), Vec::new());
        for entry in &listed.entries {
            text.push_str(&entry.name);
            text.push_str(if entry.kind == Kind::Directory { "/\n" } else { "\n" });
            entries.push(json!({
                "name": entry.name,
                "path": entry.path,
                "kind": entry.kind.word(),
                "size": entry.size,
                "modified_ms": entry.modified / 1_000_000,
            }));
        }
        let cut = listed.cut.map(Cut::word);
        Ok(Answer::new(text, json!({ "entries": entries, "cut": cut })).cut(cut))
    }
}

/// Print a file as it is, or some of its lines
///
/// Examples:
///   isopod fs read --sandbox 1a2b3c4d image.png > image.png
///   isopod fs read --dir . log.txt --offset 100 --limit 20
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Read {
    /// The file
    path: String,

    /// The first line to print, from 0
    #[arg(long, value_name = "N")]
    offset: Option<u64>,

    /// The number of lines to print
    #[arg(long, value_name = "N")]
    limit: Option<u64>,

    /// Do not escape control characters when the output goes to a terminal
    #[arg(long)]
    pub(super) raw: bool,
}

impl Read {
    pub(super) async fn run(&self, backend: &dyn Backend) -> Result<Answer, Failure> {
        if self.offset.is_none() && self.limit.is_none() {
            let bytes = backend.download(vec![self.path.clone()]).await.remove(0)?;
            let json = self.whole(&bytes);
            return Ok(Answer::new(bytes, json));
        }
        let request = ReadRequest::lines(&self.path, self.offset.unwrap_or(0), self.limit.unwrap_or(u64::MAX));
        match backend.read(request).await? {
            Content::Text(page) => Ok(self.page(page)),
            Content::Bytes(_) => Err(Failure::refused(format!("{}: not a text file", self.path))),
            Content::Empty | Content::NoLines => Ok(self.page(Page {
                text: String::new(),
                offset: self.offset.unwrap_or(0),
                lines: 0,
                total_lines: None,
                next_offset: None,
                is_cut: false,
            })),
        }
    }

    fn whole(&self, bytes: &[u8]) -> Value {
        let (encoding, content) = match std::str::from_utf8(bytes) {
            Ok(text) => ("utf-8", text.to_owned()),
            Err(_) => ("base64", base64(bytes)),
        };
        json!({ "path": self.path, "encoding": encoding, "content": content, "bytes": bytes.len() })
    }

    fn page(&self, page: Page) -> Answer {
        let end = if page.lines > 0 { "\n" } else { "" };
        let cut = page.is_cut.then_some("the last line is cut");
        let json = json!({
            "path": self.path,
            "encoding": "utf-8",
            "content": page.text,
            "offset": page.offset,
            "lines": page.lines,
            "total_lines": page.total_lines,
            "next_offset": page.next_offset,
            "is_cut": page.is_cut,
        });
        Answer::new(format!("{}{end}", page.text), json).cut(cut)
    }
}
