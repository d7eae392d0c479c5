//! Examples of the engine's promises. The answers are glibc's.

use crate::{Captures, Error, Flags, Lines, Regex, Syntax, Whole};

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
fn matches_are_found_wherever_the_text_they_need_is() {
    for (pattern, text, found) in [
        // Every match begins with the literal text, but the text also occurs outside of a match.
        ("ab[0-9]*c", "abx ab12c", Some((4, 9))),
        ("ab[0-9]*c", "abx\nab\nx ab1c", Some((9, 13))),
        ("aab*", "aaab", Some((0, 2))),
        ("a[ab]*c", "aabx\naabc", Some((5, 9))),
        ("\\(ab\\)c*\\1", "abcx abcab", Some((5, 10))),
        ("ab\\b", "abc ab", Some((4, 6))),
        ("abé*c", "abé abéc", Some((5, 10))),
        // The literal text is at the end or in the middle of a match.
        ("[0-9]*ab", "x 12ab", Some((2, 6))),
        ("[0-9]ab[0-9]", "ab1 1ab\n1ab1", Some((8, 12))),
        ("^ab[0-9]", "xab1\nab1", Some((5, 8))),
    ] {
        for icase in [false, true] {
            let flags = Flags { lines: Lines::Records(b'\n'), icase, ..Flags::default() };
            let regex = Regex::new(pattern.as_bytes(), Syntax::Grep, flags).unwrap();
            let text = if icase { text.to_uppercase() } else { text.to_owned() };
            assert_eq!(regex.find_at(text.as_bytes(), 0), found, "{pattern} {text}");
            assert_eq!(regex.shortest_at(text.as_bytes(), 0).is_some(), found.is_some(), "{pattern} {text}");
        }
    }
}

#[test]
fn a_text_that_is_everywhere_is_not_looked_for_first() {
    let flags = Flags { lines: Lines::Records(b'\n'), ..Flags::default() };
    let regex = Regex::new(b"a[0-9]", Syntax::Grep, flags).unwrap();
    let text = [b"a a a a\n".repeat(200), b"x a1\n".to_vec()].concat();
    assert_eq!(regex.find_at(&text, 0), Some((1602, 1604)));
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

#[test]
fn dialects_differ_where_glibc_has_it() {
    let found = |pattern: &str, syntax: Syntax, text: &str| {
        Regex::new(pattern.as_bytes(), syntax, Flags::default()).map(|regex| regex.find_at(text.as_bytes(), 0))
    };
    assert_eq!(found("a+", Syntax::Basic, "aa+"), Ok(Some((1, 3))));
    assert_eq!(found("a\\+", Syntax::Basic, "aa+"), Ok(Some((0, 2))));
    assert_eq!(found("a+", Syntax::Extended, "aa+"), Ok(Some((0, 2))));
    assert_eq!(found("*a", Syntax::Basic, "x*a"), Ok(Some((1, 3))));
    assert_eq!(found("*a", Syntax::Extended, "x*a"), Err(Error::Repetition));
    assert_eq!(found("*a", Syntax::Egrep, "x*a"), Ok(Some((2, 3))));
    assert_eq!(found("*a", Syntax::Awk, "x*a"), Ok(Some((1, 3))));
    assert_eq!(found("a{1", Syntax::Egrep, "a{1"), Ok(Some((0, 3))));
    assert_eq!(found("a{1", Syntax::Extended, "a{1"), Err(Error::Brace));
    assert_eq!(found("a)", Syntax::Shell, "a)"), Ok(Some((0, 2))));
    assert_eq!(found("a)", Syntax::Extended, "a)"), Err(Error::CloseParenthesis));
    assert_eq!(found("[\\]]", Syntax::Awk, "x]"), Ok(Some((1, 2))));
    assert_eq!(found("a\\(b+\\)?", Syntax::Emacs, "abb"), Ok(Some((0, 3))));
    assert_eq!(found("a.b", Syntax::Fixed, "axb a.b"), Ok(Some((4, 7))));
    assert_eq!(found("\\(a\\)\\|\\1", Syntax::Basic, "a"), Err(Error::BackReference));
    assert_eq!(found("[b-a]", Syntax::Extended, ""), Err(Error::Range));
    assert_eq!(found("[[:nosuch:]]", Syntax::Extended, ""), Err(Error::Class));
}

#[test]
fn bytes_that_are_no_characters_match_only_themselves() {
    let find = |pattern: &[u8], bytes: bool| {
        let flags = Flags { bytes, ..Flags::default() };
        Regex::new(pattern, Syntax::Extended, flags).unwrap().find_at(b"a\xffb", 0)
    };
    assert_eq!(find(b"a.b", false), None);
    assert_eq!(find(b"a[^x]b", false), None);
    assert_eq!(find(b"\xff", false), Some((1, 2)));
    assert_eq!(find(b"a.b", true), Some((0, 3)));
    assert_eq!(find(b"[\x80-\xff]", true), Some((1, 2)));
}

#[test]
fn words_and_lines_stand_alone() {
    let find = |pattern: &str, whole: Whole, text: &str| {
        let flags = Flags { whole, lines: Lines::Records(b'\n'), icase: true, ..Flags::default() };
        Regex::new(pattern.as_bytes(), Syntax::Egrep, flags).unwrap().find_at(text.as_bytes(), 0)
    };
    assert_eq!(find("foo", Whole::Word, "xfoo foo_ FOO"), Some((10, 13)));
    assert_eq!(find("foo", Whole::Word, "éfoo foo"), Some((6, 9)));
    assert_eq!(find("b|bc", Whole::Line, "bcd\nbc"), Some((4, 6)));
}

#[test]
fn nothing_is_found_inside_of_a_character() {
    let regex = Regex::new(b"x*", Syntax::Extended, Flags::default()).unwrap();
    assert_eq!(regex.find_at("é".as_bytes(), 1), Some((2, 2)));
}

#[test]
fn hopeless_searches_give_up() {
    let regex = Regex::new(b"(a*)*(a*)*(a*)*(a*)*\\1\\2\\3\\4b", Syntax::Extended, Flags::default()).unwrap();
    let text = [b"a".repeat(40), b"cb".to_vec()].concat();
    assert!(regex.find_at(&text, 0).is_none() || regex.gave_up());
}

#[test]
fn successive_matches_are_those_that_sed_replaces() {
    for (pattern, text, expected) in [
        ("a", "banana", vec![(1, 2), (3, 4), (5, 6)]),
        ("x*", "axxb", vec![(0, 0), (1, 3), (4, 4)]),
        ("", "é!", vec![(0, 0), (2, 2), (3, 3)]),
        ("b*", "", vec![(0, 0)]),
        ("z", "abc", vec![]),
    ] {
        let regex = Regex::new(pattern.as_bytes(), Syntax::Extended, Flags::default()).unwrap();
        let mut captures = Captures::default();
        for with_groups in [false, true] {
            let mut matches = regex.matches(text.as_bytes());
            let mut found = Vec::new();
            while let Some(span) = matches.next(with_groups.then_some(&mut captures)) {
                found.push(span);
            }
            assert_eq!(found, expected, "{pattern} {text}");
        }
    }
}
