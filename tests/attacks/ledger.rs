//! Checks of THREATS.md: every row names tests, every named test exists, and every attack is cited.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::report;

pub const CHECKS: &[(&str, fn())] = &[
    ("every_row_of_the_ledger_names_tests_that_are_there", rows_name_tests),
    ("every_attack_is_cited_by_a_row_of_the_ledger", attacks_are_cited),
    ("every_number_from_1_to_104_has_an_attack", numbers_are_whole),
    ("every_id_of_the_ledger_is_there_once", ids_are_unique),
];

/// A row of the ledger: its id and its tests.
struct Row {
    id: String,
    tests: Vec<String>,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the rows: lines of a table whose first cell is an id such as TM-CPU-001.
fn ledger() -> Vec<Row> {
    let text = fs::read_to_string(root().join("THREATS.md")).unwrap();
    let rows = text.lines().filter(|line| line.starts_with("| TM-"));
    rows.map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let tests = cells.last().unwrap().split('`').skip(1).step_by(2).map(str::to_owned).collect();
        Row { id: cells[0].to_owned(), tests }
    })
    .collect()
}

/// Returns every source file with tests, and its text.
pub fn sources() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut directories: Vec<PathBuf> =
        ["src", "tests", "guest", "fuzz", "precompile"].map(|name| root().join(name)).into();
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() && entry.file_name() != "target" {
                directories.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    found
}

/// Returns the names of all tests: functions with the attribute, and the names in the tables of this binary.
fn tests() -> BTreeMap<String, PathBuf> {
    let mut names = BTreeMap::new();
    for (path, text) in sources() {
        let mut is_test = false;
        for line in text.lines().map(str::trim) {
            let name = line.trim_start_matches("pub ").trim_start_matches("async ").strip_prefix("fn ");
            match name.and_then(|rest| rest.split_once('(')) {
                Some((name, _)) if is_test => drop(names.insert(name.to_owned(), path.clone())),
                _ => {}
            }
            is_test =
                line.starts_with("#[test]") || line.starts_with("#[tokio::test") || (is_test && line.starts_with("#["));
        }
        if path.starts_with(root().join("tests/attacks")) {
            for name in text
                .split('"')
                .filter(|piece| piece.contains("_") && !piece.ends_with("_") && piece.bytes().all(is_name))
            {
                names.insert(name.to_owned(), path.clone());
            }
        }
    }
    names
}

fn is_name(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

fn rows_name_tests() {
    let (tests, rows) = (tests(), ledger());
    assert!(rows.len() >= 40, "{} rows", rows.len());
    for Row { id, tests: named } in &rows {
        assert!(!named.is_empty(), "{id} names no test");
        for name in named {
            // A name may be preceded by its module.
            let own = name.rsplit("::").next().unwrap();
            assert!(tests.contains_key(own), "{id} names {name}, which is not there");
        }
    }
}

fn attacks_are_cited() {
    let rows = ledger();
    let cited: BTreeSet<&str> =
        rows.iter().flat_map(|row| &row.tests).map(|name| name.rsplit("::").next().unwrap()).collect();
    let tests = tests();
    let missing: Vec<&String> =
        tests.keys().filter(|name| name.starts_with("attack") && !cited.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "no row of THREATS.md cites {missing:#?}");
}

fn numbers_are_whole() {
    let names = crate::CHAPTERS.iter().copied().flatten();
    let numbers: BTreeSet<u32> = names.filter_map(|(name, _)| report::parse(name)).map(|(number, _)| number).collect();
    assert_eq!(numbers, (1..=104).collect());
}

fn ids_are_unique() {
    let mut seen = BTreeSet::new();
    for Row { id, .. } in ledger() {
        assert!(seen.insert(id.clone()), "{id} is there twice");
    }
}
