//! Plans of commands from arbitrary text: complete, or with a reason.

use isopod::backend::plan::Plan;

/// Reads the plan of a command.
pub fn plan(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let plan = Plan::of(&text);
    let lines = text.lines().count() as u32 + 1;
    for (at, step) in plan.steps.iter().enumerate() {
        assert!(step.line <= lines, "line {} of {text:?}", step.line);
        assert!(step.within.is_none_or(|outer| outer < plan.steps.len() && outer != at), "{text:?}");
    }
}
