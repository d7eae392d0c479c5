//! Isopod against native processes, containers and another sandbox: the same work by all of them, in turns, in one run.
//!
//! `cargo bench --bench versus -- --help` shows the options; `benches/versus/all` also starts docker and builds the
//! peers. Every answer is checked. A wrong one is shown as wrong and never as a time.

#![allow(clippy::print_stdout, missing_docs, unreachable_pub, reason = "a benchmark")]

mod backends;
mod bashkit;
#[path = "../common/mod.rs"]
mod common;
mod containers;
mod field;
mod goals;
mod growth;
mod isopod_shells;
mod machine;
mod many;
mod measure;
mod options;
mod page;
mod plot;
mod programs;
mod progress;
mod results;
mod rows;
mod shell;
mod summary;
mod table;
mod workspace;

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use field::Field;
use measure::Budget;
use options::Options;
use progress::Progress;
use results::Results;

type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

/// Numbers of concurrent sandboxes, and of idle ones.
const AT_ONCE: [usize; 4] = [1, 10, 100, 1000];
const IDLE: [usize; 2] = [1000, 10_000];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let answer = match arguments.first().map(String::as_str) {
        Some(many::WEIGH) => weigh(&arguments),
        _ => compare(arguments),
    };
    answer.unwrap_or_else(|error| {
        eprintln!("versus: {error}");
        ExitCode::from(2)
    })
}

fn compare(arguments: Vec<String>) -> Fallible<ExitCode> {
    let Some(options) = Options::parse(arguments.into_iter())? else {
        print!("{}", options::HELP);
        return Ok(ExitCode::SUCCESS);
    };
    let names = names(&options);
    if options.list {
        names.iter().for_each(|name| println!("{name}"));
        return Ok(ExitCode::SUCCESS);
    }
    let chosen: Vec<&String> = names.iter().filter(|name| options.is_chosen(name)).collect();
    if chosen.is_empty() {
        return Err("no row has such a name; --list names them".into());
    }
    let results = measure_all(&options, &chosen)?;
    write(&options, &results)?;
    let missed = results.goals.iter().filter(|goal| goal.met == Some(false)).count();
    Ok(if options.strict && missed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Returns the names of all measurements in their order.
fn names(options: &Options) -> Vec<String> {
    let mut names: Vec<String> = [rows::LIVE_ECHO, rows::NEW_ECHO].map(str::to_owned).into();
    names.extend(rows::scripts(options).into_iter().map(|script| script.name));
    names.extend(backends::names(options));
    names.extend(AT_ONCE.into_iter().map(many::at_once_name));
    names.extend(IDLE.into_iter().map(many::idle_name));
    names.push(many::fork_name(options));
    names.extend(growth::all(options).into_iter().map(|growth| growth_name(&growth)));
    names
}

fn growth_name(growth: &growth::Growth) -> String {
    format!("growth: {}", growth.name)
}

fn measure_all(options: &Options, chosen: &[&String]) -> Fallible<Results> {
    let mut progress = Progress::new(chosen.len());
    let (directory, scratch) = (tempfile::tempdir()?, tempfile::tempdir()?);
    progress.say("making files");
    let needs_trees = chosen.iter().any(|name| name.contains("files") || name.starts_with("growth"));
    workspace::fill(directory.path(), options, needs_trees)?;
    progress.say("looking for contenders");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut results = Results::default();
    let field = Field::find(options, &runtime, directory.path(), scratch.path(), &mut results.left_out)?;
    for (what, why) in &results.left_out {
        progress.say(&format!("left out: {what}: {why}"));
    }
    results.machine = machine::describe(options, &field);
    let budget = options.size(
        Budget { time: Duration::from_millis(1000), fewest: 3, most: 1000 },
        Budget { time: Duration::from_millis(60), fewest: 2, most: 100 },
    );
    let is_chosen = |name: &str| options.is_chosen(name);
    for (name, is_live) in [(rows::LIVE_ECHO, true), (rows::NEW_ECHO, false)] {
        if is_chosen(name) {
            results.rows.push(rows::echoes(&field, budget, &mut progress, is_live));
        }
    }
    for script in rows::scripts(options).iter().filter(|script| is_chosen(&script.name)) {
        match rows::run(script, &field, budget, &mut progress) {
            Ok(row) => results.rows.push(row),
            Err(why) => results.left_out.push((script.name.clone(), why)),
        }
    }
    results.rows.extend(backends::run(options, &field, budget, &mut progress)?);
    for count in AT_ONCE.into_iter().filter(|count| is_chosen(&many::at_once_name(*count))) {
        results.rows.push(many::at_once(&field, count, budget, &mut progress));
    }
    for count in IDLE.into_iter().filter(|count| is_chosen(&many::idle_name(*count))) {
        results.rows.push(many::idle(&field, count, &mut progress));
    }
    if is_chosen(&many::fork_name(options)) {
        results.rows.push(many::copies(options, budget, &mut progress)?);
    }
    let budget = Budget { time: budget.time / 3, fewest: 2, most: 100 };
    for growth in growth::all(options).iter().filter(|growth| is_chosen(&growth_name(growth))) {
        results.curves.push(growth::run(growth, &field, budget, &mut progress)?);
    }
    results.goals = goals::check(options, &results);
    progress.done();
    Ok(results)
}

#[allow(clippy::disallowed_methods, reason = "the files that its caller asked for")]
fn write(options: &Options, results: &Results) -> Fallible<()> {
    let (table, json) = (table::markdown(results), format!("{:#}\n", results.json()));
    std::fs::create_dir_all(&options.out)?;
    let files: [(&str, &str); 7] = [
        ("table.md", &table),
        ("summary.md", &summary::markdown(results)),
        ("results.json", &json),
        ("rows.svg", &plot::rows(results)),
        ("comparison.svg", &plot::headline(results)),
        ("growth.svg", &plot::growth(results)),
        ("index.html", &page::html(results)),
    ];
    for (name, content) in files {
        std::fs::write(options.out.join(name), content)?;
    }
    match options.json.as_deref() {
        Some("-") => {
            eprint!("{table}");
            print!("{json}");
        }
        Some(file) => {
            std::fs::write(Path::new(file), json)?;
            print!("{table}");
        }
        None => print!("{table}"),
    }
    eprintln!("written to {}", options.out.display());
    Ok(())
}

fn weigh(arguments: &[String]) -> Fallible<ExitCode> {
    let [_, what, count] = arguments else { return Err("expected a kind and a count".into()) };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    println!("{}", many::weigh(&runtime, what, count.parse()?)?);
    Ok(ExitCode::SUCCESS)
}
