//! Cases as data: files, calls of a framework, and the expected answers.

use std::collections::BTreeMap;

use isopod::backend::Upload;
use serde::Deserialize;
use serde_json::Value;

use crate::call;
use crate::subject::Subject;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseFile {
    case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    /// Features that the backend has to have: see `has`.
    #[serde(default)]
    needs: Vec<String>,
    /// Name and content of each file.
    #[serde(default)]
    files: BTreeMap<String, String>,
    /// Name and target of each link.
    #[serde(default)]
    links: BTreeMap<String, String>,
    step: Vec<Step>,
}

#[derive(Deserialize)]
struct Step {
    /// The call: a framework and its method.
    call: String,
    /// The expected answer: an object contains at least these members, a list exactly these items. `<null>` stands for
    /// null and `<any>` for any value.
    answer: Option<toml::Value>,
    #[serde(flatten)]
    arguments: toml::Table,
}

/// Runs all cases. A case that fails does not stop the others.
pub async fn all(subject: &Subject) {
    let (mut passed, mut skipped, mut failed) = (0, BTreeMap::<String, usize>::new(), Vec::new());
    for (number, (file, case)) in cases().into_iter().enumerate() {
        if let Some(need) = case.needs.iter().find(|need| !has(subject, need)) {
            *skipped.entry(need.clone()).or_default() += 1;
            continue;
        }
        let root = format!("{}/c{number}", subject.root);
        match one(subject, &case, &format!("c{number}"), &root).await {
            Ok(()) => passed += 1,
            Err(text) => failed.push(format!("{file}: {}: {text}", case.name)),
        }
    }
    let left_out: Vec<String> = skipped.iter().map(|(need, count)| format!("{count} need {need}")).collect();
    println!("{}: {passed} cases passed, {} failed; left out: {}", subject.name, failed.len(), left_out.join(", "));
    assert!(failed.is_empty(), "{}:\n{}", subject.name, failed.join("\n"));
}

fn has(subject: &Subject, need: &str) -> bool {
    match need {
        "links" => subject.can_link(),
        "execute" => subject.executing().is_some(),
        "rust-regex" => !subject.is_by_commands,
        "names" => subject.names_are_the_same,
        "confined" => subject.is_confined,
        need => panic!("nobody knows what {need:?} is"),
    }
}

fn cases() -> Vec<(String, Case)> {
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/cases");
    let mut files: Vec<_> = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let read = |path: &std::path::PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let cases = toml::from_str::<CaseFile>(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        cases.case.into_iter().map(move |case| (name.clone(), case)).collect::<Vec<_>>()
    };
    files.iter().flat_map(read).collect()
}

async fn one(subject: &Subject, case: &Case, below: &str, root: &str) -> Result<(), String> {
    let files = case.files.iter().map(|(name, text)| Upload::new(format!("{root}/{name}"), expand(text, root)));
    for answer in subject.backend.upload(files.chain([Upload::new(format!("{root}/.keep"), "")]).collect()).await {
        answer.map_err(|error| format!("cannot be prepared: {error}"))?;
    }
    subject.backend.delete(&format!("{root}/.keep")).await.map_err(|error| format!("cannot be prepared: {error}"))?;
    for (name, target) in &case.links {
        assert!(subject.link(&expand(target, root), &format!("{below}/{name}")), "cannot make {name}");
    }
    for (number, step) in case.step.iter().enumerate() {
        let arguments = expand_all(json(&toml::Value::Table(step.arguments.clone())), root);
        let answer = call::call(subject, &step.call, &arguments).await;
        if let Some(expected) = &step.answer {
            let expected = expand_all(json(expected), root);
            let at = format!("step {} ({})", number + 1, step.call);
            compare(&expected, &answer).map_err(|text| format!("{at}: {text}\n    answer: {}", short(&answer)))?;
        }
    }
    Ok(())
}

/// Returns the value as JSON.
fn json(value: &toml::Value) -> Value {
    match value {
        toml::Value::String(text) if text == "<null>" => Value::Null,
        toml::Value::Array(values) => values.iter().map(json).collect(),
        toml::Value::Table(table) => table.iter().map(|(name, value)| (name.clone(), json(value))).collect(),
        value => serde_json::to_value(value).unwrap(),
    }
}

/// Expands `$root` to the directory of the case, and `<repeat TEXT COUNT>` to a repeated text.
fn expand(text: &str, root: &str) -> String {
    let mut text = text.replace("$root", root);
    while let Some(start) = text.find("<repeat ") {
        let end = start + text[start..].find('>').unwrap();
        let (what, count) = text[start + 8..end].rsplit_once(' ').unwrap();
        let repeated = what.replace("\\n", "\n").repeat(count.parse().unwrap());
        text.replace_range(start..=end, &repeated);
    }
    text
}

fn expand_all(value: Value, root: &str) -> Value {
    match value {
        Value::String(text) => Value::String(expand(&text, root)),
        Value::Array(values) => values.into_iter().map(|value| expand_all(value, root)).collect(),
        Value::Object(map) => map.into_iter().map(|(name, value)| (name, expand_all(value, root))).collect(),
        value => value,
    }
}

fn compare(expected: &Value, answer: &Value) -> Result<(), String> {
    match (expected, answer) {
        (Value::String(text), answer) if text == "<any>" && !answer.is_null() => Ok(()),
        (Value::String(text), Value::String(answer)) if text.starts_with("<has ") => {
            let part = &text[5..text.len() - 1];
            if answer.contains(part) { Ok(()) } else { Err(format!("no {part:?}")) }
        }
        (Value::Object(expected), Value::Object(answer)) => {
            for (name, value) in expected {
                let found = answer.get(name).ok_or_else(|| format!("no {name}"))?;
                compare(value, found).map_err(|text| format!("{name}: {text}"))?;
            }
            Ok(())
        }
        (Value::Array(expected), Value::Array(answer)) => {
            if expected.len() != answer.len() {
                return Err(format!("{} instead of {}", answer.len(), expected.len()));
            }
            for (at, (expected, answer)) in expected.iter().zip(answer).enumerate() {
                compare(expected, answer).map_err(|text| format!("[{at}] {text}"))?;
            }
            Ok(())
        }
        (expected, answer) if expected == answer => Ok(()),
        (expected, answer) => Err(format!("{} instead of {}", short(answer), short(expected))),
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    if text.len() > 600 {
        format!("{}… ({} bytes)", &text[..text.floor_char_boundary(600)], text.len())
    } else {
        text
    }
}
