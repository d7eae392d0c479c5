//! What the engine promises, in examples whose answers are glibc's.

use crate::{Captures, Error, Flags, Lines, Regex, Syntax};

#[test]
fn matches_are_leftmost_and_longest() {
    for (pattern, text, found) in [
        ("a|ab|abc", "xabcd", Some((1, 4))),
        ("x*", "aaa", Some((0, 0))),
        ("(a|ab)(c|bcd)", "abcd", Some((0, 4))),
        ("b+", "abbbc", Some((1, 4))),
        ("^b", "ab", None),
        ("(.)\\1", "abccd", Some((2, 4))),
        ("\\bé\\b", "a é b", Some((2, 4))),
        ("[[:alpha:]]+", "1éñ2", Some((1, 5))),
    ] {
        let regex = Regex::new(pattern.as_bytes(), Syntax::Extended, Flags::default()).unwrap();
        assert_eq!(regex.find_at(text.as_bytes(), 0), found, "{pattern} {text}");
    }
}

#[test]
fn groups_are_as_glibc_has_them() {
    for (pattern, text, found) in [
        ("(a*)*", "b", vec![Some((0, 0)), Some((0, 0))]),
        ("(a?)*", "aab", vec![Some((0, 2)), Some((1, 2))]),
        ("(a|ab)(c|bcd)(d*)", "abcd", vec![Some((0, 4)), Some((0, 1)), Some((1, 4)), Some((4, 4))]),
        ("(|a)b", "ab", vec![Some((0, 2)), Some((0, 1))]),
    ] {
        let regex = Regex::new(pattern.as_bytes(), Syntax::Extended, Flags::default()).unwrap();
        let mut captures = Captures::default();
        assert!(regex.captures_at(text.as_bytes(), 0, &mut captures));
        let spans: Vec<_> = (0..captures.count()).map(|group| captures.get(group)).collect();
        assert_eq!(spans, found, "{pattern} {text}");
    }
}

#[test]
fn records_are_texts_of_their_own() {
    let flags = Flags { lines: Lines::Records(b'\n'), ..Flags::default() };
    let regex = Regex::new(b"b[^x]*$", Syntax::Grep, flags).unwrap();
    assert_eq!(regex.find_at(b"a\nbc\nd", 0), Some((2, 4)));
    assert_eq!(regex.find_at("a\nñ\nbñ\nd".as_bytes(), 0), Some((5, 8)));
}

#[test]
fn deep_patterns_are_refused() {
    let deep = [b"(".repeat(5000), b"a".to_vec(), b")".repeat(5000)].concat();
    assert_eq!(Regex::new(&deep, Syntax::Extended, Flags::default()).err(), Some(Error::TooBig));
    assert_eq!(Regex::new(b"(a{999}){999}", Syntax::Extended, Flags::default()).err(), Some(Error::TooBig));
    let stars = [b"a".to_vec(), b"*".repeat(50_000)].concat();
    assert!(Regex::new(&stars, Syntax::Extended, Flags::default()).is_ok());
    let braces = [b"a".to_vec(), b"{".repeat(50_000)].concat();
    assert!(Regex::new(&braces, Syntax::Egrep, Flags::default()).is_ok());
}
