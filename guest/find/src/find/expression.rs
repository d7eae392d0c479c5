//! Expressions: tests and actions joined by operators, compiled to a list of steps.
//!
//! The steps set one truth value, and jumps skip steps that cannot change it. No tree of operators is built: a command
//! line with a hundred thousand parentheses is compiled and run in constant stack.

use isopod_sys::files;

use super::action::Action;
use super::arguments::Follow;
use super::primary::{Primary, Settings};
use super::sink::OUTPUT;
use super::test::Test;

/// A compiled expression, which is run on each file.
pub(super) struct Expression {
    pub(super) steps: Vec<Step>,
    pub(super) actions: Vec<Action>,
}

/// A step.
pub(super) enum Step {
    /// Sets the truth value to the result of a test.
    Test(Test),
    /// Sets the truth value to the result of an action, named by its number.
    Act(usize),
    /// Negates the truth value.
    Not,
    /// Continues at a step if the truth value is this.
    JumpIf(bool, usize),
}

/// A reason to end without an expression.
pub(super) enum Stop {
    /// `-help`.
    Help,
    /// `-version`.
    Version,
    /// The message for an invalid expression.
    Wrong(String),
}

impl From<String> for Stop {
    fn from(message: String) -> Stop {
        Stop::Wrong(message)
    }
}

/// The state of one level of parentheses: jumps whose target is not known yet.
#[derive(Default)]
struct Level {
    /// Jumps past the rest of a chain of `-a`.
    ands: Vec<usize>,
    /// Jumps past the rest of a chain of `-o`.
    ors: Vec<usize>,
    /// True if the operand to come is negated.
    negated: bool,
    /// True if an operand has just ended.
    has_operand: bool,
}

struct Compiler {
    steps: Vec<Step>,
    actions: Vec<Action>,
    levels: Vec<Level>,
    /// The operator that was read last, while its operand is missing.
    waiting: Option<String>,
}

/// Compiles an expression. Without an action, `-print` is added.
pub(super) fn parse(args: &[String], follow: Follow) -> Result<(Expression, Settings), Stop> {
    let mut compiler =
        Compiler { steps: Vec::new(), actions: Vec::new(), levels: vec![Level::default()], waiting: None };
    let mut settings = Settings::new(follow);
    let mut at = 0;
    let mut previous = None;
    while let Some(arg) = args.get(at) {
        let is_last = at + 1 == args.len();
        at += 1;
        match arg.as_str() {
            "(" => compiler.open(is_last)?,
            ")" => compiler.close()?,
            "!" | "-not" => compiler.not(arg),
            "-a" | "-and" => compiler.binary(arg, Compiler::and)?,
            "-o" | "-or" => compiler.binary(arg, Compiler::or)?,
            "," => compiler.binary(arg, Compiler::comma)?,
            "-help" | "--help" => return Err(Stop::Help),
            "-version" | "--version" => return Err(Stop::Version),
            word if !word.starts_with('-') || word.len() == 1 => return Err(misplaced(word, previous)),
            _ => {
                previous = Some(arg.as_str());
                let step = match settings.primary(arg, args, &mut at)? {
                    Primary::Test(test) => Step::Test(test),
                    Primary::Action(action) => {
                        compiler.actions.push(action);
                        Step::Act(compiler.actions.len() - 1)
                    }
                };
                compiler.operand(step);
            }
        }
    }
    let mut expression = compiler.finish()?;
    if !expression.actions.iter().any(Action::replaces_print) {
        if !expression.steps.is_empty() {
            let end = expression.steps.len() + 2;
            expression.steps.push(Step::JumpIf(false, end));
        }
        expression.actions.push(Action::Print { sink: OUTPUT, end: b'\n' });
        expression.steps.push(Step::Act(expression.actions.len() - 1));
    }
    settings.check()?;
    Ok((expression, settings))
}

fn misplaced(word: &str, previous: Option<&str>) -> Stop {
    let mut message = format!("paths must precede expression: `{word}'");
    let patterns = ["-name", "-iname", "-path", "-ipath", "-lname", "-ilname", "-wholename", "-iwholename"];
    // If the second name exists, the shell has expanded a pattern.
    let expanded = |name: &&str| patterns.contains(name) && files::stat(word, false).is_ok();
    if let Some(pattern) = previous.filter(expanded) {
        message.push_str(&format!("\nfind: possible unquoted pattern after predicate `{pattern}'?"));
    }
    Stop::Wrong(message)
}

impl Compiler {
    /// Returns the innermost open level. There is always one.
    fn level(&mut self) -> &mut Level {
        if self.levels.is_empty() {
            self.levels.push(Level::default());
        }
        let last = self.levels.len() - 1;
        &mut self.levels[last]
    }

    fn operand(&mut self, step: Step) {
        self.begin_operand();
        self.steps.push(step);
        self.end_operand();
    }

    /// Joins two operands side by side by `-a`.
    fn begin_operand(&mut self) {
        if self.level().has_operand {
            self.and();
        }
        self.waiting = None;
    }

    fn end_operand(&mut self) {
        if std::mem::take(&mut self.level().negated) {
            self.steps.push(Step::Not);
        }
        self.level().has_operand = true;
    }

    fn not(&mut self, name: &str) {
        self.begin_operand();
        let level = self.level();
        level.negated = !level.negated;
        level.has_operand = false;
        self.waiting = Some(name.to_owned());
    }

    fn open(&mut self, is_last: bool) -> Result<(), Stop> {
        if is_last {
            return Err(Stop::Wrong(
                "invalid expression; expected to find a ')' but didn't see one. Perhaps you need an extra predicate \
                 after '('"
                    .into(),
            ));
        }
        self.begin_operand();
        self.level().has_operand = false;
        self.levels.push(Level::default());
        Ok(())
    }

    fn close(&mut self) -> Result<(), Stop> {
        if self.levels.len() == 1 {
            return Err(Stop::Wrong("you have too many ')'".into()));
        }
        if let Some(operator) = &self.waiting {
            return Err(Stop::Wrong(format!("expected an expression between '{operator}' and ')'")));
        }
        if !self.level().has_operand {
            return Err(Stop::Wrong("invalid expression; empty parentheses are not allowed.".into()));
        }
        self.end_ors();
        self.levels.pop();
        self.end_operand();
        Ok(())
    }

    fn binary(&mut self, name: &str, join: fn(&mut Compiler)) -> Result<(), Stop> {
        if self.waiting.is_some() || !self.level().has_operand {
            return Err(Stop::Wrong(format!(
                "invalid expression; you have used a binary operator '{name}' with nothing before it."
            )));
        }
        join(self);
        self.level().has_operand = false;
        self.waiting = Some(name.to_owned());
        Ok(())
    }

    fn and(&mut self) {
        let at = self.jump(false);
        self.level().ands.push(at);
    }

    fn or(&mut self) {
        self.end_ands();
        let at = self.jump(true);
        self.level().ors.push(at);
    }

    fn comma(&mut self) {
        self.end_ors();
    }

    fn jump(&mut self, condition: bool) -> usize {
        self.steps.push(Step::JumpIf(condition, 0));
        self.steps.len() - 1
    }

    fn end_ands(&mut self) {
        let ends = std::mem::take(&mut self.level().ands);
        self.land(&ends);
    }

    fn end_ors(&mut self) {
        self.end_ands();
        let ends = std::mem::take(&mut self.level().ors);
        self.land(&ends);
    }

    fn land(&mut self, jumps: &[usize]) {
        let here = self.steps.len();
        for jump in jumps {
            if let Step::JumpIf(_, to) = &mut self.steps[*jump] {
                *to = here;
            }
        }
    }

    fn finish(mut self) -> Result<Expression, Stop> {
        if let Some(operator) = &self.waiting {
            return Err(Stop::Wrong(format!("expected an expression after '{operator}'")));
        }
        if self.levels.len() > 1 {
            return Err(Stop::Wrong(
                "invalid expression; I was expecting to find a ')' somewhere but did not see one.".into(),
            ));
        }
        self.end_ors();
        Ok(Expression { steps: self.steps, actions: self.actions })
    }
}
