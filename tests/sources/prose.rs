//! The form of doc comments.

use std::sync::LazyLock;

use regex::Regex;

use crate::tree::{Source, sources};

/// Openings that are questions: "Returns true if …" and "The …" say the same without a riddle.
static QUESTION: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^(What|Whether|How|Who|Whoever|Where)\b").unwrap());

/// Clauses that stand for a noun: "what was written" is the output.
static RIDDLE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)\b(?:what|who(?:ever)?) (?:is|was|has|had|are|were|does|did)\b").unwrap());

#[test]
fn at_most_one_doc_comment_in_twenty_opens_with_a_question() {
    for tree in ["src", "guest"] {
        let openings: Vec<String> = sources(&[tree]).iter().flat_map(openings).collect();
        let questions = openings.iter().filter(|line| QUESTION.is_match(line)).count();
        assert!(questions * 20 <= openings.len(), "{tree}: {questions} of {}", openings.len());
    }
}

#[test]
fn comments_name_things_instead_of_describing_them() {
    for tree in ["src", "guest"] {
        let comments: Vec<String> = sources(&[tree]).iter().flat_map(comments).collect();
        let words: usize = comments.iter().map(|line| line.split_whitespace().count()).sum();
        let riddles: usize = comments.iter().map(|line| RIDDLE.find_iter(line).count()).sum();
        assert!(riddles * 10_000 <= words * 5, "{tree}: {riddles} clauses in {words} words");
    }
}

/// The text of each line that is a comment.
fn comments(source: &Source) -> Vec<String> {
    let text =
        |line: &str| Some(line.trim_start().strip_prefix("//")?.trim_start_matches(['/', '!']).trim().to_owned());
    source.text.lines().filter_map(text).collect()
}

/// The first line of each doc comment.
fn openings(source: &Source) -> Vec<String> {
    let mut openings = Vec::new();
    let mut is_inside = false;
    for line in source.text.lines().map(str::trim_start) {
        let text = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        if let (Some(text), false) = (text, is_inside) {
            openings.push(text.trim().to_owned());
        }
        is_inside = text.is_some();
    }
    openings
}
