//! `-c`: compares files with recorded digests.

use isopod_gnu::input::or_standard_input;
use isopod_gnu::output::Out;
use isopod_gnu::program::Call;
use isopod_gnu::quote::name;
use isopod_sys::{Errno, text};

use super::algorithm::Algorithm;
use super::hash;
use crate::lines::{Lines, complain};

/// A line that names a file and its digest.
struct DigestLine {
    algorithm: Algorithm,
    digest: String,
    file: String,
}

/// Checks all lists. Without an algorithm, the lines must name theirs.
pub(super) fn run(call: &Call, algorithm: Option<Algorithm>) -> Result<u8, u8> {
    let mut out = Out::new();
    let mut ok = true;
    for path in or_standard_input(&call.operands) {
        match list(call, path, algorithm, &mut out) {
            Ok(fine) => ok &= fine,
            Err(errno) => {
                complain(call, path, errno);
                ok = false;
            }
        }
    }
    Ok(call.finish(out, u8::from(!ok)))
}

fn list(call: &Call, path: &str, algorithm: Option<Algorithm>, out: &mut Out) -> Result<bool, Errno> {
    let quiet = call.has("quiet") || call.has("status");
    let silent = call.has("status");
    let (mut wrong, mut unread, mut mismatched) = (0u64, 0u64, 0u64);
    let (mut proper, mut verified, mut number) = (false, false, 0u64);
    let mut lines = Lines::open(path, b'\n')?;
    while let Some(line) = lines.next()? {
        number += 1;
        if line.first() == Some(&b'#') {
            continue;
        }
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            continue;
        }
        let Some(entry) = parse(line, algorithm) else {
            wrong += 1;
            if call.has("warn") {
                out.flush();
                let tag = algorithm.map_or("", Algorithm::tag);
                let shown = if path == "-" { "'standard input'".to_owned() } else { name(path).into_owned() };
                call.complain(&format!("{shown}: {number}: improperly formatted {tag} checksum line"));
            }
            continue;
        };
        proper = true;
        let escaped = entry.file.contains(['\n', '\r']);
        let shown = if escaped {
            format!("\\{}", entry.file.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r"))
        } else {
            entry.file.clone()
        };
        let mut say = |what: &str| {
            out.push(format!("{shown}: {what}\n").as_bytes());
        };
        match hash(entry.algorithm, &entry.file, entry.digest.len() / 2) {
            Err(Errno::NoEntry) if call.has("ignore-missing") => {}
            Err(errno) => {
                unread += 1;
                if !silent {
                    say("FAILED open or read");
                }
                out.flush();
                call.complain(&format!("{}: {}", name(&entry.file), text(errno)));
            }
            Ok(digest) if digest.eq_ignore_ascii_case(&entry.digest) => {
                verified = true;
                if !quiet {
                    say("OK");
                }
            }
            Ok(_) => {
                mismatched += 1;
                if !silent {
                    say("FAILED");
                }
            }
        }
    }
    out.flush();
    let shown = if path == "-" { "'standard input'".to_owned() } else { name(path).into_owned() };
    if !proper {
        call.complain(&format!("{shown}: no properly formatted checksum lines found"));
        return Ok(false);
    }
    if !silent {
        let plural = |count: u64, one: &str, many: &str| {
            if count > 0 {
                call.complain(&format!("WARNING: {count} {}", if count == 1 { one } else { many }));
            }
        };
        plural(wrong, "line is improperly formatted", "lines are improperly formatted");
        plural(unread, "listed file could not be read", "listed files could not be read");
        plural(mismatched, "computed checksum did NOT match", "computed checksums did NOT match");
        if call.has("ignore-missing") && !verified && mismatched == 0 {
            call.complain(&format!("{shown}: no file was verified"));
        }
    }
    let none = call.has("ignore-missing") && !verified;
    Ok(mismatched == 0 && unread == 0 && !none && !(call.has("strict") && wrong > 0))
}

fn parse(line: &[u8], algorithm: Option<Algorithm>) -> Option<DigestLine> {
    let line = std::str::from_utf8(line).ok()?;
    let line = line.trim_start_matches([' ', '\t']);
    let (line, escaped) = line.strip_prefix('\\').map_or((line, false), |rest| (rest, true));
    let mut entry = match tagged(line) {
        Some(entry) => entry,
        None => untagged(line, algorithm?)?,
    };
    let whole = entry.algorithm.length() * 2;
    let fits = match entry.algorithm {
        Algorithm::Blake2b => (2..=whole).contains(&entry.digest.len()) && entry.digest.len() % 2 == 0,
        _ => entry.digest.len() == whole,
    };
    let known = algorithm.is_none_or(|algorithm| algorithm == entry.algorithm);
    if !fits || !known || !entry.digest.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    if escaped {
        entry.file = unescape(&entry.file)?;
    }
    Some(entry)
}

/// `SHA256 (FILE) = DIGEST`.
fn tagged(line: &str) -> Option<DigestLine> {
    let open = line.find('(')?;
    let tag = line[..open].trim_end_matches(' ');
    let (tag, bits) = match tag.split_once('-') {
        Some((tag, bits)) => (tag, Some(bits.parse::<usize>().ok()?)),
        None => (tag, None),
    };
    let algorithm = Algorithm::tagged(tag)?;
    let close = line.rfind(')')?;
    let digest =
        line.get(close + 1..)?.trim_start_matches([' ', '\t']).strip_prefix('=')?.trim_start_matches([' ', '\t']);
    if bits.is_some_and(|bits| bits != digest.len() * 4) {
        return None;
    }
    Some(DigestLine { algorithm, digest: digest.to_owned(), file: line.get(open + 1..close)?.to_owned() })
}

/// `DIGEST  FILE` or `DIGEST *FILE`.
fn untagged(line: &str, algorithm: Algorithm) -> Option<DigestLine> {
    let end = line.find([' ', '\t'])?;
    let rest = &line[end + 1..];
    let file = rest.strip_prefix([' ', '*']).unwrap_or(rest);
    if file.is_empty() {
        return None;
    }
    Some(DigestLine { algorithm, digest: line[..end].to_owned(), file: file.to_owned() })
}

fn unescape(name: &str) -> Option<String> {
    let mut text = String::new();
    let mut chars = name.chars();
    while let Some(c) = chars.next() {
        text.push(match c {
            '\\' => match chars.next()? {
                'n' => '\n',
                'r' => '\r',
                '\\' => '\\',
                _ => return None,
            },
            c => c,
        });
    }
    Some(text)
}
