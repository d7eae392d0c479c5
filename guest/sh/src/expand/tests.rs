//! Tests of the expansions that need no kernel.

use crate::state::Shell;
use crate::syntax::Parser;
use crate::syntax::tree::{Kind, Word};

fn words(text: &str) -> Vec<Word> {
    let list = Parser::new(format!("echo {text}"), 1).next_command().unwrap().unwrap();
    match &list.items[0].chain.first.stages[0].kind {
        Kind::Simple(simple) => simple.words[1..].to_vec(),
        other => panic!("{other:?}"),
    }
}

fn shell() -> Shell {
    let mut shell = Shell::default();
    shell.options.switch(crate::state::options::SetOption::NOGLOB, true);
    for (name, value) in [("x", "a b"), ("e", ""), ("p", "/usr/lib/x.tar.gz"), ("HOME", "/h"), ("n", "12")] {
        shell.assign(name, value.to_owned()).unwrap();
    }
    shell
}

fn expand(text: &str) -> Vec<String> {
    shell().expand_words(&words(text)).unwrap()
}

#[test]
fn words_are_split_unless_quoted() {
    assert_eq!(expand("$x"), ["a", "b"]);
    assert_eq!(expand("\"$x\""), ["a b"]);
    assert_eq!(expand("1$x\"$x\"2"), ["1a", "ba b2"]);
    assert_eq!(expand("$e \"$e\" ''"), ["", ""]);
    assert_eq!(expand("${nope:-c d} ${nope:-'c d'}"), ["c", "d", "c d"]);
}

#[test]
fn separators_follow_ifs() {
    let mut shell = shell();
    shell.assign("IFS", ":".into()).unwrap();
    shell.assign("y", "a::b:".into()).unwrap();
    assert_eq!(shell.expand_words(&words("$y")).unwrap(), ["a", "", "b"]);
}

#[test]
fn operators() {
    assert_eq!(
        expand("${p##*/} ${p%.*} ${p%%.*} ${p#*/}"),
        ["x.tar.gz", "/usr/lib/x.tar", "/usr/lib/x", "usr/lib/x.tar.gz"]
    );
    assert_eq!(expand("${#p} ${n:1} ${n: -1} ${p/usr/U} ${p//[a-z]}"), ["17", "2", "2", "/U/lib/x.tar.gz", "///.."]);
    assert_eq!(expand("${n^} \"${x^^}\" ${nope-d} ${e:-d} ${e-d}z"), ["12", "A B", "d", "d", "z"]);
}

#[test]
fn braces_come_first() {
    assert_eq!(expand("{a,b}{1..3..2} {x} {01..03}"), ["a1", "a3", "b1", "b3", "{x}", "01", "02", "03"]);
    assert_eq!(expand("{$n,'a b'}"), ["12", "a b"]);
}

#[test]
fn tildes_need_to_be_bare_and_first() {
    assert_eq!(expand("~ ~/x \"~\" a~ y=~/z"), ["/h", "/h/x", "~", "a~", "y=/h/z"]);
}

#[test]
fn arithmetic_is_expanded_first_and_parsed_then() {
    let mut shell = shell();
    shell.assign("s", "1+2".into()).unwrap();
    assert_eq!(shell.expand_words(&words("$((s*2)) $(($s*2)) $((n+1))")).unwrap(), ["6", "5", "13"]);
}

#[test]
fn too_many_words_are_refused() {
    assert!(shell().expand_words(&words("{1..9999999}")).is_err());
    assert!(shell().expand_words(&words("{1..2000}{1..2000}")).is_err());
}
