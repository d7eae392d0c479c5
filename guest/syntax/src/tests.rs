//! Tests of the parser: trees of valid texts, messages for invalid ones, bounds for hostile ones.

use super::tree::{Kind, List, Part, Simple};
use super::{Fault, Parser, function_text, list_text};

fn parse(text: &str) -> Result<List, super::SyntaxError> {
    let mut parser = Parser::new(text, 1);
    let mut whole = List::default();
    while let Some(list) = parser.next_command()? {
        whole.items.extend(list.items);
    }
    Ok(whole)
}

fn simple(text: &str) -> std::rc::Rc<Simple> {
    let list = parse(text).unwrap();
    match &list.items[0].chain.first.stages[0].kind {
        Kind::Simple(simple) => simple.clone(),
        other => panic!("not a simple command: {other:?}"),
    }
}

fn fault(text: &str) -> (u32, Fault) {
    let error = parse(text).unwrap_err();
    (error.line, error.fault)
}

fn token(text: &str) -> String {
    match fault(text) {
        (_, Fault::Unexpected(token, _)) => token,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_plain_word_is_one_bare_part() {
    let command = simple("echo hi");
    assert_eq!(command.words[1].parts, [Part::Bare("hi".into())]);
}

#[test]
fn quoted_and_unquoted_text_are_kept_apart() {
    let command = simple(r#"echo a'b'"c"\d*"#);
    let parts = &command.words[1].parts;
    assert_eq!(parts[..], [Part::Bare("a".into()), Part::Text("bcd".into()), Part::Glob("*".into())]);
}

#[test]
fn an_empty_quotation_is_a_part() {
    assert_eq!(simple("echo ''").words[1].parts, [Part::Text(String::new())]);
}

#[test]
fn commands_come_one_line_at_a_time() {
    let mut parser = Parser::new("a; b\nc\n", 1);
    assert_eq!(parser.next_command().unwrap().unwrap().items.len(), 2);
    assert_eq!(parser.rest(), "c\n");
    assert_eq!(parser.next_command().unwrap().unwrap().items.len(), 1);
    assert!(parser.next_command().unwrap().is_none());
}

#[test]
fn here_documents_are_read_after_their_line() {
    let command = simple("cat <<A <<'B'; echo x\n$y\nA\n$z\nB\n");
    let documents: Vec<_> = command.redirects.iter().map(|r| r.document.clone().unwrap()).collect();
    assert!(matches!(documents[0].borrow().parts[0], Part::Parameter(_)));
    assert_eq!(documents[1].borrow().parts, [Part::Text("$z\n".into())]);
}

#[test]
fn arithmetic_and_nested_subshells_are_told_apart() {
    assert!(matches!(parse("((1+2))").unwrap().items[0].chain.first.stages[0].kind, Kind::Arith(_)));
    assert!(matches!(parse("((a); b)").unwrap().items[0].chain.first.stages[0].kind, Kind::Subshell(_)));
}

#[test]
fn errors_name_the_token() {
    assert_eq!(token("echo )"), ")");
    assert_eq!(token("if true; then fi"), "fi");
    assert_eq!(token("a;; b"), ";;");
    assert_eq!(token("for\n"), "newline");
    assert_eq!(token("echo a &&& b"), "&");
    assert_eq!(token("foo bar() { :; }"), "(");
}

#[test]
fn errors_have_the_line() {
    assert_eq!(fault("a\nb\n)\n").0, 3);
    assert_eq!(fault("a\nif\n"), (3, Fault::EndOfFile));
    assert_eq!(fault("a\nif"), (3, Fault::EndOfFile));
    assert_eq!(fault("echo 'x\ny").1, Fault::Unmatched('\''));
    assert_eq!(fault("echo \"x").1, Fault::Unmatched('"'));
    assert_eq!(fault("echo ${x").1, Fault::Unmatched('}'));
    assert_eq!(fault("echo $(x").1, Fault::Unmatched(')'));
}

#[test]
fn nesting_is_bounded() {
    // Without optimisation a level takes much more stack than in the program.
    let parsing = || {
        for open in ["(", "$(", "{ ", "if ", "while ", "${x:-", "`\\`", "[[ ( ", "((", "$((", "case x in x) ", "x=${y/"]
        {
            assert!(parse(&open.repeat(100_000)).is_err(), "{open}");
            let _ = parse(&format!("echo {}", open.repeat(100_000)));
        }
        assert!(parse(&format!("{} x {}", "(".repeat(150), ")".repeat(150))).is_ok());
    };
    std::thread::Builder::new().stack_size(64 << 20).spawn(parsing).unwrap().join().unwrap();
}

#[test]
fn long_chains_are_not_deep() {
    assert!(parse(&format!("a{}", " && a".repeat(50_000))).is_ok());
    assert!(parse(&format!("[[ a{} ]]", " && a".repeat(50_000))).is_ok());
    assert!(parse(&format!("a{}", " | a".repeat(50_000))).is_ok());
}

#[test]
fn hostile_braces_take_no_time() {
    assert!(parse(&format!("echo {}", "{".repeat(200_000))).is_ok());
    assert!(parse(&format!("echo {}", "{a,".repeat(50_000))).is_ok());
    assert!(parse(&format!("echo {}{}", "{a,".repeat(5_000), "}".repeat(5_000))).is_ok());
}

#[test]
fn printing_a_function_shows_it_as_bash_does() {
    let list = parse("f() { echo \"$x\" | cat; if a; then b; elif c; then d; fi; }").unwrap();
    let Kind::Function(function) = &list.items[0].chain.first.stages[0].kind else { panic!() };
    let shown = [
        "f () ",
        "{ ",
        "    echo \"$x\" | cat;",
        "    if a; then",
        "        b;",
        "    else",
        "        if c; then",
        "            d;",
        "        fi;",
        "    fi",
        "}",
    ];
    assert_eq!(function_text(function), shown.join("\n"));
}

#[test]
fn printed_text_parses_to_the_same_tree() {
    for text in [
        "echo 'a b' \"$x\" ${y:-z} $((1+2)) > f 2>&1 | cat && ! d || e",
        "for i in a b; do while x; do y; done; done",
        "case $x in a|b) c;; *) d;& esac",
        "[[ -f a && ( $b == c* || ! $d =~ e ) ]]",
        "a=1 b=(x [3]=y) c",
    ] {
        let tree = parse(text).unwrap();
        let again = parse(&list_text(&tree)).unwrap();
        assert_eq!(list_text(&tree), list_text(&again), "{text}");
    }
}

#[test]
fn trees_survive_the_post() {
    let tree = parse("f() { cat <<E\n$x\nE\n}; a=(1 2) [[ x ]] && for ((;;)); do (b); done & coproc c").unwrap();
    let bytes = postcard::to_allocvec(&tree).unwrap();
    assert_eq!(postcard::from_bytes::<List>(&bytes).unwrap(), tree);
}

/// Random combinations of tokens cause no panic and no hang.
#[test]
fn random_programs_do_not_panic() {
    let pieces = [
        "a",
        " ",
        "\n",
        ";",
        "&",
        "|",
        "(",
        ")",
        "{",
        "}",
        "<",
        ">",
        "<<E",
        "E\n",
        "$",
        "${",
        "$(",
        "$((",
        "))",
        "'",
        "\"",
        "`",
        "\\",
        "#",
        "!",
        "[[",
        "]]",
        "if",
        "then",
        "fi",
        "do",
        "done",
        "for",
        "in",
        "case",
        "esac",
        "while",
        "=",
        "+=",
        "[",
        "]",
        "*",
        "?",
        "~",
        "é",
        ":-",
        "//",
        "@",
        "x=(",
        "function ",
        "coproc ",
        "time ",
        ",",
        "..",
        "1",
        "&&",
        "<(",
    ];
    let mut state = 1u32;
    let mut next = |bound: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % bound
    };
    for _ in 0..20_000 {
        let length = 1 + next(30);
        let text: String = (0..length).map(|_| pieces[next(pieces.len())]).collect();
        let _ = parse(&text);
    }
}
