//! Listing and reading by commands.

use super::super::pager::{PageRequest, Pager, is_text};
use super::super::{BackendError, Content, Entry, Listed, Page, ReadAs, ReadRequest, Result, bounds};
use super::ExecFiles;
use super::script::{Script, decode, transport};
use crate::vfs::Kind;

/// Exits with a fault if `$p` is not a readable file.
const READABLE: &str = "[ -e \"$p\" ] || exit 40; [ -d \"$p\" ] && exit 41; [ -f \"$p\" ] || exit 43; \
                        [ -r \"$p\" ] || exit 44\n";

/// Exits with a fault if `$p` is not a searchable directory, and changes to it.
pub(super) const SEARCHABLE: &str = "[ -e \"$p\" ] || exit 40; [ -d \"$p\" ] || exit 42; \
                                     [ -r \"$p\" ] && cd -- \"$p\" || exit 44\n";

/// A file that was fetched.
pub(super) struct FetchedFile {
    pub(super) content: Vec<u8>,
    /// The checksum of `cksum`.
    pub(super) sum: String,
}

impl ExecFiles {
    pub(super) async fn list(&self, path: &str) -> Result<Listed> {
        let at = self.parse(path).await?;
        let script = format!("{SEARCHABLE}find . ! -name . -prune -exec stat --printf '%f %s %Y %n\\0' {{}} +");
        let answer = self.run(path, Script::new(script).path(&at).output(bounds::LISTING_BYTES)).await?;
        let prefix = at.as_str().trim_end_matches('/');
        let entry = |record: Record| Entry {
            path: format!("{prefix}/{}", record.path),
            name: record.path,
            kind: record.kind,
            size: record.size,
            modified: record.modified,
        };
        let records = answer.stdout.split(|byte| *byte == 0).filter(|record| !record.is_empty());
        let entries: Option<Vec<Entry>> = records.map(|record| Some(entry(Record::parse(record)?))).collect();
        let mut entries = entries.ok_or_else(|| transport("the answer is no listing"))?;
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(Listed { entries, cut: None })
    }

    pub(super) async fn read_page(&self, request: &ReadRequest) -> Result<Content> {
        let path = &request.path;
        let (offset, limit, most, universal_newlines) = match request.r#as {
            ReadAs::Bytes { most } => return self.read_bytes(path, most).await,
            ReadAs::Text { offset, limit, most, universal_newlines } => (offset, limit, most, universal_newlines),
        };
        let at = self.parse(path).await?;
        // One line and some bytes more than the page, to find out if there are more.
        let (from, lines, bytes) = (offset.saturating_add(1), limit.saturating_add(1), most.saturating_add(8));
        let script = format!(
            "{READABLE}s=$(wc -c < \"$p\") || exit 44\necho $s\nhead -c {sniff} < \"$p\" | base64 | tr -d '\\n'; echo\n\
             tail -n +{from} < \"$p\" | head -n {lines} | head -c {bytes} | base64 | tr -d '\\n'; echo\n\
             wc -l < \"$p\"; tail -c 1 < \"$p\" | base64 | tr -d '\\n'; echo",
            sniff = bounds::SNIFF_BYTES,
        );
        let output = bounds::OUTPUT_BYTES.saturating_add(most.saturating_mul(2));
        let answer = self.run(path, Script::new(script).path(&at).output(output)).await?.text();
        let fields: Vec<&str> = answer.lines().collect();
        let parsed = (|| {
            let [size, start, page, newlines, last] = fields.as_slice() else { return None };
            let whole_lines: u64 = newlines.trim().parse().ok()?;
            let lines = whole_lines + u64::from(decode(last.as_bytes())? != b"\n");
            Some((size.trim().parse::<u64>().ok()?, decode(start.as_bytes())?, decode(page.as_bytes())?, lines))
        })();
        let (size, start, page, total) = parsed.ok_or_else(|| transport("the answer is no page"))?;
        if size == 0 {
            return Ok(Content::Empty);
        }
        if !is_text(&start) {
            return self.read_bytes(path, u64::MAX).await;
        }
        if limit == 0 {
            return Ok(Content::NoLines);
        }
        if page.is_empty() {
            return Err(BackendError::PastEnd { path: path.clone(), offset, lines: total });
        }
        let mut pager = Pager::new(PageRequest { offset: 0, limit, most, universal_newlines }, u64::MAX);
        pager.feed(&page);
        let page = pager.finish(path, false)?;
        let end = offset + page.lines;
        let known = size <= bounds::COUNT_BYTES || end >= total;
        let next_offset = if end < total { Some(end) } else { None };
        Ok(Content::Text(Page { offset, total_lines: known.then_some(total), next_offset, ..page }))
    }

    async fn read_bytes(&self, path: &str, most: u64) -> Result<Content> {
        let content = self.fetch(path, most.min(bounds::FILE_BYTES)).await?.content;
        Ok(if content.is_empty() { Content::Empty } else { Content::Bytes(content) })
    }

    /// Reads all bytes of a file, if there are no more than `most`.
    pub(super) async fn fetch(&self, path: &str, most: u64) -> Result<FetchedFile> {
        let at = self.parse(path).await?;
        let mut content: Vec<u8> = Vec::new();
        let (mut size, mut sum) = (0, String::new());
        while content.is_empty() || (content.len() as u64) < size {
            // The size is read in every iteration: the file may shrink, and then there are no more bytes.
            let from = content.len() + 1;
            let sum_first = if content.is_empty() { "cksum < \"$p\" || exit 44" } else { "echo" };
            let script = format!(
                "{READABLE}s=$(wc -c < \"$p\") || exit 44\necho $s\nif [ $s -gt {most} ]; then exit 0; fi\n{sum_first}\n\
                 tail -c +{from} < \"$p\" | head -c {piece} | base64",
                piece = bounds::FETCH_BYTES,
            );
            let answer = self.run(path, Script::new(script).path(&at).output(bounds::FETCH_BYTES * 2)).await?.text();
            let mut lines = answer.splitn(3, '\n');
            size = lines.next().and_then(|size| size.trim().parse().ok()).ok_or_else(|| transport("no size"))?;
            if size > most {
                return Err(BackendError::TooLarge { path: path.to_owned(), size, limit: most });
            }
            let this_sum = lines.next().unwrap_or_default().trim();
            if content.is_empty() {
                sum = this_sum.to_owned();
            }
            let piece = decode(lines.next().unwrap_or_default().as_bytes()).ok_or_else(|| transport("no base64"))?;
            if piece.is_empty() {
                break;
            }
            content.extend_from_slice(&piece);
        }
        Ok(FetchedFile { content, sum })
    }
}

/// The output of `stat` for a name.
pub(super) struct Record {
    pub(super) path: String,
    pub(super) kind: Kind,
    pub(super) size: u64,
    pub(super) modified: u64,
}

impl Record {
    /// Parses `mode size seconds ./path`, with the mode in hexadecimal.
    pub(super) fn parse(record: &[u8]) -> Option<Record> {
        let text = String::from_utf8_lossy(record);
        let mut fields = text.splitn(4, ' ');
        let mode = u32::from_str_radix(fields.next()?, 16).ok()?;
        let size = fields.next()?.parse().ok()?;
        let seconds: u64 = fields.next()?.parse::<i64>().ok()?.max(0) as u64;
        let path = fields.next()?;
        let kind = match mode & 0o170_000 {
            0o100_000 => Kind::File,
            0o040_000 => Kind::Directory,
            0o120_000 => Kind::Symlink,
            0o010_000 => Kind::Pipe,
            _ => Kind::Device,
        };
        let path = path.strip_prefix("./").unwrap_or(path).to_owned();
        Some(Record { path, kind, size, modified: seconds.saturating_mul(1_000_000_000) })
    }
}
