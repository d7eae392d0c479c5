//! Expressions of mikefarah's yq, as programs of jq.

use isopod_gnu::output::read_file;
use isopod_sys::text;

use crate::json;
use crate::value::Value;
use crate::yaml;

/// The largest file that `load` reads.
const LARGEST_FILE: usize = 1 << 28;

/// Functions that jq has under another name, or not at all. Keys keep their order here.
const PRELUDE: &str = "def keys: keys_unsorted; def downcase: ascii_downcase; def upcase: ascii_upcase; \
    def to_number: tonumber; def to_string: tostring; def to_json: tojson; def from_json: fromjson; \
    def with(p; f): p |= f; def omit($names): with_entries(select(.key as $k | $names | index([$k]) | not)); \
    def tag: {\"null\": \"!!null\", \"boolean\": \"!!bool\", \"string\": \"!!str\", \"array\": \"!!seq\", \
    \"object\": \"!!map\"}[type] // if . == floor then \"!!int\" else \"!!float\" end; \
    def kind: {\"array\": \"seq\", \"object\": \"map\"}[type] // \"scalar\"; \
    def sort_keys(p): p |= if type == \"object\" then to_entries | sort_by(.key) | from_entries else . end; \
    def sortKeys(p): sort_keys(p); ";

/// Operators of yq that have no meaning for plain values.
const REFUSED: &[&str] = &[
    "style",
    "lineComment",
    "line_comment",
    "headComment",
    "head_comment",
    "footComment",
    "foot_comment",
    "comments",
    "anchor",
    "alias",
    "explode",
    "splitDoc",
    "split_doc",
    "documentIndex",
    "document_index",
    "di",
    "parent",
    "eval",
    "to_yaml",
    "from_yaml",
    "to_props",
    "from_props",
    "to_xml",
    "from_xml",
    "load_str",
    "envsubst",
    "line",
    "column",
];

/// Returns the jq program of an expression.
pub(super) fn translate(expression: &str, is_all: bool) -> Result<String, String> {
    let mut out = String::from(PRELUDE);
    let bytes = expression.as_bytes();
    let mut body = String::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &expression[at..];
        match bytes[at] {
            b'"' => {
                let length = string_length(rest);
                body.push_str(&rest[..length]);
                at += length;
            }
            byte if byte.is_ascii_alphabetic() || byte == b'_' => {
                let length = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
                let word = &rest[..length];
                let is_field = body.ends_with(['.', '$', '@']);
                at += length;
                if is_field {
                    body.push_str(word);
                    continue;
                }
                let argument = argument(&expression[at..]);
                match (word, argument) {
                    ("env" | "strenv", Some(name)) => {
                        body.push_str(&variable(name, word == "strenv")?);
                        at += name.len() + 2;
                    }
                    ("load", Some(path)) if path.starts_with('"') && path.ends_with('"') && path.len() > 1 => {
                        body.push_str(&loaded(&path[1..path.len() - 1])?);
                        at += path.len() + 2;
                    }
                    ("load", _) => return Err("load takes the name of a file in quotes".into()),
                    (word, _) if REFUSED.contains(&word) => {
                        // `{line: 1}` and `.line` are keys, not operators.
                        if expression[at..].trim_start().starts_with(':') {
                            body.push_str(word);
                        } else {
                            return Err(format!("operator '{word}' is not supported"));
                        }
                    }
                    _ => body.push_str(word),
                }
            }
            _ => {
                let length = rest.chars().next().map_or(1, char::len_utf8);
                body.push_str(&rest[..length]);
                at += length;
            }
        }
    }
    if is_all {
        body = over_all(&body)?;
    }
    out.push_str(&body);
    Ok(out)
}

/// Translates expressions over the documents of all files: the two ways to merge them.
fn over_all(body: &str) -> Result<String, String> {
    let squeezed: String = body.split_whitespace().collect();
    let index = |text: &str| -> Option<usize> {
        let inner = text.strip_prefix("select(")?.strip_suffix(')')?;
        let number = inner.strip_prefix("fileIndex==").or_else(|| inner.strip_prefix("fi=="));
        number.or_else(|| inner.strip_prefix("file_index=="))?.parse().ok()
    };
    let factors: Option<Vec<String>> =
        squeezed.split('*').map(|part| index(part).map(|index| format!("$__documents[{index}]"))).collect();
    if let Some(factors) = factors {
        return Ok(factors.join(" * "));
    }
    if let Some((variable, rest)) = body.trim().strip_prefix(". as $").and_then(|rest| rest.split_once("ireduce")) {
        return Ok(format!("reduce $__documents[] as ${} {rest}", variable.trim()));
    }
    let mut words = body.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '.');
    if words.any(|word| matches!(word, "fileIndex" | "file_index" | "fi" | "ireduce")) {
        return Err("this use of eval-all is not supported".into());
    }
    Ok(format!("$__documents[] | ({body})"))
}

/// Returns the text between the parentheses that follow, if it has no parentheses itself.
fn argument(rest: &str) -> Option<&str> {
    let inner = rest.strip_prefix('(')?;
    let end = inner.find(')')?;
    Some(&inner[..end])
}

fn variable(name: &str, is_text: bool) -> Result<String, String> {
    let value =
        std::env::var(name.trim()).map_err(|_| format!("value for env variable '{name}' not provided in env()"))?;
    if is_text {
        return Ok(json::compact(&Value::text(value)));
    }
    let parsed = yaml::parse(&value)?.into_iter().next().unwrap_or_default();
    Ok(json::compact(&parsed))
}

fn loaded(path: &str) -> Result<String, String> {
    let bytes = read_file(path, LARGEST_FILE).map_err(|errno| format!("failed to load {path}: {}", text(errno)))?;
    let value = yaml::parse(&String::from_utf8_lossy(&bytes))?.into_iter().next().unwrap_or_default();
    Ok(format!("({})", json::compact(&value)))
}

fn string_length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}
