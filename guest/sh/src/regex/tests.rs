//! Tests of regular expressions.

use std::time::Instant;

use super::Regex;

fn groups(pattern: &str, text: &str) -> Option<Vec<Option<String>>> {
    let captures = Regex::new(pattern, false).unwrap().captures(text)?;
    Some(captures.into_iter().map(|g| g.map(|(a, b)| text[a..b].to_owned())).collect())
}

fn whole(pattern: &str, text: &str) -> Option<String> {
    groups(pattern, text)?.swap_remove(0)
}

#[test]
fn the_match_is_leftmost_and_longest() {
    assert_eq!(whole("ab|abcd", "xabcd").as_deref(), Some("abcd"));
    assert_eq!(whole("a*", "baaa").as_deref(), Some(""));
    assert_eq!(whole("x*|xyz", "xyz").as_deref(), Some("xyz"));
    assert_eq!(whole("b+", "abbbab").as_deref(), Some("bbb"));
}

#[test]
fn groups_are_kept() {
    let found = groups("^([a-z]+)@([a-z.]+)$", "me@x.org").unwrap();
    assert_eq!(found, [Some("me@x.org".into()), Some("me".into()), Some("x.org".into())]);
    assert_eq!(groups("a(b)?c", "ac").unwrap(), [Some("ac".into()), None]);
    assert_eq!(groups("(ab)+", "abab").unwrap(), [Some("abab".into()), Some("ab".into())]);
}

#[test]
fn operators() {
    for (pattern, text, expected) in [
        ("^a{2,3}$", "aaa", true),
        ("^a{2}$", "a", false),
        ("^[[:upper:]]$", "É", true),
        ("[^a]", "a", false),
        ("[]]", "]", true),
        ("a\\.b", "a.b", true),
        ("a\\.b", "axb", false),
        ("\\bfoo\\b", "a foo", true),
        ("\\bfoo\\b", "afoo", false),
        ("a.c", "a\nc", true),
        ("^$", "", true),
        ("a|^b", "xb", false),
        ("()", "x", true),
        ("a)", "a)", true),
    ] {
        assert_eq!(whole(pattern, text).is_some(), expected, "{pattern} {text}");
    }
    assert!(Regex::new("ABC", true).unwrap().captures("xabcx").is_some());
}

#[test]
fn nonsense_is_refused() {
    for pattern in
        ["(", "[a", "a{2,1}", "*a", "+", "a{", "{", "^*", "(*a)", "a{99999}", "\\", "(.)\\1", "[[:nope:]]", "[b-a]"]
    {
        assert!(Regex::new(pattern, false).is_err(), "{pattern}");
    }
    assert!(Regex::new(&"(".repeat(100_000), false).is_err());
    assert!(Regex::new("((a{1000}){1000}){1000}", false).is_err());
}

#[test]
fn hostile_patterns_take_no_time() {
    let start = Instant::now();
    assert!(Regex::new("(a+)+$", false).unwrap().captures(&format!("{}b", "a".repeat(20_000))).is_none());
    assert!(Regex::new("(a|a)*b", false).unwrap().captures(&"a".repeat(20_000)).is_none());
    assert!(start.elapsed().as_secs() < 20);
}
