//! Tests of patterns.

use std::time::Instant;

use super::Pattern;

fn matches(pattern: &str, text: &str) -> bool {
    Pattern::new(pattern, true, false).matches(text)
}

#[test]
fn plain_patterns() {
    for (pattern, text, expected) in [
        ("*", "", true),
        ("a*c", "abbc", true),
        ("a*c", "abb", false),
        ("?", "é", true),
        ("??", "é", false),
        ("[a-c]x", "bx", true),
        ("[!a-c]x", "bx", false),
        ("[]a]", "]", true),
        ("[a-]", "-", true),
        ("[[:digit:]]*", "5x", true),
        ("\\*", "*", true),
        ("\\*", "x", false),
        ("[", "[", true),
        ("[a", "[a", true),
        ("a\\", "a\\", true),
        ("*a*b*", "xaxbx", true),
    ] {
        assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
    }
}

#[test]
fn extended_patterns() {
    for (pattern, text, expected) in [
        ("@(a|bc)", "bc", true),
        ("?(a)b", "b", true),
        ("*(ab)c", "ababc", true),
        ("+(a)", "", false),
        ("+(a|b)c", "abac", true),
        ("!(a)", "a", false),
        ("!(a)", "b", true),
        ("!(*.c)", "x.h", true),
        ("a!(b)c", "abc", false),
        ("a!(b)c", "abbc", true),
        ("@(a|@(b|c))d", "cd", true),
        ("@(a", "@(a", true),
    ] {
        assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
    }
}

#[test]
fn ends_of_matches() {
    let pattern = Pattern::new("*/", false, false);
    assert_eq!(pattern.prefix("a/b/c", false), Some(2));
    assert_eq!(pattern.prefix("a/b/c", true), Some(4));
    let pattern = Pattern::new(".*", false, false);
    assert_eq!(pattern.suffix("a.b.c", false), Some(3));
    assert_eq!(pattern.suffix("a.b.c", true), Some(1));
}

#[test]
fn case_can_be_ignored() {
    assert!(Pattern::new("ABC", false, true).matches("abc"));
    assert!(Pattern::new("[a-c]*", false, true).matches("Bx"));
}

#[test]
fn hostile_patterns_take_no_time() {
    let start = Instant::now();
    let text = "a".repeat(2_000);
    assert!(!matches(&format!("{}b", "*a".repeat(50)), &text));
    assert!(!matches(&format!("{}b", "*(a|aa)".repeat(10)), &text[..300]));
    assert!(!matches(&"@(".repeat(10_000), &text));
    assert!(Pattern::new("*x", false, false).prefix(&"y".repeat(100_000), true).is_none());
    assert!(start.elapsed().as_secs() < 20);
}
