//! Tests of arithmetic.

use isopod_syntax::arith::compile;

use crate::state::Shell;

fn value(text: &str) -> i64 {
    Shell::default().evaluate(text).unwrap()
}

fn fails(text: &str) -> bool {
    Shell::default().evaluate(text).is_err()
}

#[test]
fn operators_bind_as_in_c() {
    assert_eq!(value("1+2*3"), 7);
    assert_eq!(value("2**3**2"), 512);
    assert_eq!(value("-2**2"), 4);
    assert_eq!(value("1<<2+1"), 8);
    assert_eq!(value("1|2^3&4"), 3);
    assert_eq!(value("0?1:0?2:3"), 3);
    assert_eq!(value("(1,2,3)"), 3);
    assert_eq!(value("5--3"), 8);
}

#[test]
fn constants_have_bases() {
    assert_eq!(value("0x1F + 017 + 2#101 + 64#_"), 31 + 15 + 5 + 63);
    assert!(fails("08"));
    assert!(fails("2#3"));
    assert!(fails("99#1"));
}

#[test]
fn results_wrap() {
    assert_eq!(value("9223372036854775807 + 1"), i64::MIN);
    assert_eq!(value("-9223372036854775808 / -1"), i64::MIN);
}

#[test]
fn what_is_skipped_has_no_effect() {
    let mut shell = Shell::default();
    assert_eq!(shell.evaluate("0 && (x=1), 1 || (y=1), 1 ? 2 : (z=1)"), Ok(2));
    assert!(shell.text_of("x").is_none() && shell.text_of("y").is_none() && shell.text_of("z").is_none());
}

#[test]
fn variables_are_expressions() {
    let mut shell = Shell::default();
    shell.assign("a", "b+1".into()).unwrap();
    shell.assign("b", "4".into()).unwrap();
    assert_eq!(shell.evaluate("a*2"), Ok(10));
    shell.assign("a", "a".into()).unwrap();
    assert!(shell.evaluate("a").is_err());
}

#[test]
fn elements_can_be_assigned() {
    let mut shell = Shell::default();
    assert_eq!(shell.evaluate("x[2]=5, x[1+1]++, x[2]"), Ok(6));
}

#[test]
fn nonsense_is_refused() {
    for text in [
        "\u{1}", "1+", "(1", "1 2", "*", "1=2", "1.5", "a[", "a[1", "1?2", "?", "1+(2", "x=", "++", "1/0", "1%0",
        "2**-1",
    ] {
        assert!(fails(text), "{text}");
    }
}

#[test]
fn depth_is_bounded_and_length_is_not() {
    assert!(compile(&"(".repeat(1_000_000)).is_err());
    assert!(compile(&"-".repeat(1_000_000)).is_err());
    assert!(compile(&"a[".repeat(100_000)).is_err());
    assert!(compile(&"1?".repeat(100_000)).is_err());
    assert!(compile(&"a=".repeat(100_000)).is_err());
    assert_eq!(value(&format!("0{}", "+1".repeat(100_000))), 100_000);
}
