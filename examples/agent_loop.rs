//! The loop of a coding agent: a model asks for tools, the loop runs them in a sandbox and hands the results back.
//!
//! The model here is a script, so that the example runs anywhere; a real one is a call to an API in its place. Around the
//! sandbox stand two layers: every operation is written to an audit log, and a policy is asked before anything changes.
//!
//! ```sh
//! cargo run --example agent_loop
//! ```

#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "an example stands for a program of the host")]

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use isopod::Sandbox;
use isopod::backend::layer::{Approval, Audit, Call, Decision};
use isopod::backend::{Backend, EditRequest, Isopod, WriteRequest};

/// A tool call of a model.
enum ToolCall {
    Write { path: &'static str, content: &'static str },
    Edit { path: &'static str, old: &'static str, new: &'static str },
    Execute(&'static str),
}

/// A model that has made up its mind: it writes a program, runs its test, and mends what the test shows.
struct Model {
    script: VecDeque<ToolCall>,
}

impl Model {
    fn new() -> Model {
        let script = [
            ToolCall::Write { path: "add.sh", content: "add() { echo $(($1 - $2)); }\n" },
            ToolCall::Execute("source add.sh; test \"$(add 2 3)\" = 5 && echo ok || echo wrong: $(add 2 3)"),
            ToolCall::Execute("rm -rf /workspace"),
            ToolCall::Edit { path: "add.sh", old: "-", new: "+" },
            ToolCall::Execute("source add.sh; test \"$(add 2 3)\" = 5 && echo ok || echo wrong: $(add 2 3)"),
        ];
        Model { script: script.into() }
    }

    /// The next call; a real model would read `observation` first.
    fn next(&mut self, observation: Option<&str>) -> Option<ToolCall> {
        if let Some(text) = observation {
            println!("  → {}", text.trim_end());
        }
        self.script.pop_front()
    }
}

/// Refuses commands that would run `rm`, by the plan that the shell's own parser makes of the text.
fn policy(call: &Call) -> Decision {
    let removes = |plan: &isopod::backend::plan::Plan| {
        plan.steps.iter().any(|step| step.program.as_ref().is_some_and(|program| program.text == "rm"))
    };
    match call.plan().is_some_and(|plan| removes(&plan)) {
        true => Decision::Deny("rm needs a person's consent".to_owned()),
        false => Decision::Approve,
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let log = Arc::new(Mutex::new(Vec::new()));
    let sandbox: Arc<dyn Backend> = Arc::new(Isopod::new("agent", Sandbox::builder().build()?)?);
    let approved = Arc::new(Approval::around(sandbox, policy));
    let agent = Audit::around(approved, Shared(log.clone()), "model");

    let mut model = Model::new();
    let mut observation: Option<String> = None;
    let mut observations = Vec::new();
    while let Some(call) = model.next(observation.as_deref()) {
        let result = match call {
            ToolCall::Write { path, content } => {
                println!("write {path}");
                agent.write(WriteRequest::new(path, content)).await.map(|_| "written".to_owned())
            }
            ToolCall::Edit { path, old, new } => {
                println!("edit {path}");
                agent.edit(EditRequest::new(path, old, new)).await.map(|_| "edited".to_owned())
            }
            ToolCall::Execute(line) => {
                println!("execute {line}");
                let sandbox = agent.sandbox().ok_or("the backend executes no commands")?;
                sandbox.execute(line.into()).await.map(|output| String::from_utf8_lossy(&output.output).into_owned())
            }
        };
        // A refusal goes to the model as well: it can try something else.
        let text = result.unwrap_or_else(|error| format!("error: {error}"));
        observations.push(text.clone());
        observation = Some(text);
    }
    println!("  → {}", observations.last().map_or("", |text| text.trim_end()));
    assert_eq!(observations.last().map(String::as_str), Some("ok\n"));
    assert!(observations[2].contains("consent"));

    let records = log.lock().map_err(|_| "the log's lock is poisoned")?.iter().filter(|byte| **byte == b'\n').count();
    println!("{records} audit records");
    assert!(records >= observations.len());
    Ok(())
}

/// A log that the example can read after the agent has written to it.
struct Shared(Arc<Mutex<Vec<u8>>>);

impl isopod::backend::layer::AuditSink for Shared {
    fn record(&self, line: &[u8]) -> std::io::Result<()> {
        let mut log = self.0.lock().map_err(|_| std::io::Error::other("the log's lock is poisoned"))?;
        log.extend_from_slice(line);
        Ok(())
    }
}
