//! A tree as text, in the form of `declare -f`.
//!
//! Words of functions are shown as they were written. In job lists and traces only the parts are available, and quoting
//! is added where it is needed.

use super::print_word::{arith_text, assignment_text, expression_text, parts_text, word_text};
use super::quote;
use super::tree::{
    Arith, ArmEnd, Chain, Command, Condition, Connector, Descriptor, For, Function, Kind, List, Part, Pipeline,
    Redirect, RedirectAction, Simple, TimeFormat,
};

/// Prints a function definition.
pub fn function_text(function: &Function) -> String {
    let mut printer = Printer::default();
    printer.function(function);
    printer.out
}

/// Prints a list on one line.
pub fn list_text(list: &List) -> String {
    let mut printer = Printer { inline: true, ..Printer::default() };
    printer.list(list);
    printer.out.trim_end_matches(';').to_owned()
}

/// Prints a chain on one line.
pub fn chain_text(chain: &Chain) -> String {
    let mut printer = Printer { inline: true, ..Printer::default() };
    printer.chain(chain);
    printer.out
}

/// Prints a simple command.
pub fn simple_text(simple: &Simple) -> String {
    let mut printer = Printer { inline: true, ..Printer::default() };
    printer.simple(simple);
    printer.out
}

/// Prints the first line of a `for`.
pub fn for_text(node: &For) -> String {
    let words: Vec<String> = match &node.words {
        Some(words) => words.iter().map(word_text).collect(),
        None => vec!["\"$@\"".to_owned()],
    };
    format!("for {} in {}", node.name, words.join(" "))
}

/// `[[ … ]]`
pub fn condition_text(condition: &Condition) -> String {
    format!("[[ {} ]]", expression_text(condition))
}

#[derive(Default)]
struct Printer {
    out: String,
    indent: usize,
    /// Here-documents whose text follows the line.
    documents: Vec<String>,
    /// A here-document was printed since the last semicolon, which the next command omits.
    documented: bool,
    inline: bool,
}

impl Printer {
    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn newline(&mut self) {
        if self.inline {
            self.put(" ");
            return;
        }
        self.put("\n");
        let indent = self.indent * 4;
        self.out.extend(std::iter::repeat_n(' ', indent));
    }

    fn function(&mut self, function: &Function) {
        self.put(&function.name);
        self.put(" () ");
        self.newline();
        match &function.body.kind {
            Kind::Group(list) => self.braces(list),
            // Any other body is shown in braces.
            _ => {
                self.put("{ ");
                self.indent += 1;
                self.newline();
                let plain = Command { redirects: function.body.redirects.clone(), ..function.body.clone() };
                self.command(&plain);
                self.indent -= 1;
                self.newline();
                self.put("}");
                return;
            }
        }
        self.redirects(&function.body.redirects);
    }

    fn braces(&mut self, list: &List) {
        self.put("{ ");
        self.indent += 1;
        self.newline();
        self.list(list);
        self.indent -= 1;
        self.newline();
        self.put("}");
    }

    fn list(&mut self, list: &List) {
        let count = list.items.len();
        for (i, item) in list.items.iter().enumerate() {
            self.chain(&item.chain);
            let last = i + 1 == count;
            if item.background {
                self.put(" &");
                if !last {
                    self.put(" ");
                }
                continue;
            }
            if !last {
                if self.documents.is_empty() && !std::mem::take(&mut self.documented) {
                    self.put(";");
                }
                self.finish_documents();
                self.newline();
            } else {
                self.finish_documents();
            }
        }
    }

    /// Prints a body and ends its last command by a semicolon too.
    fn body(&mut self, list: &List) {
        self.indent += 1;
        self.newline();
        self.list(list);
        if !self.out.ends_with('\n') && !self.out.ends_with('&') {
            self.put(";");
        }
        self.indent -= 1;
        self.newline();
    }

    fn finish_documents(&mut self) {
        for (i, document) in std::mem::take(&mut self.documents).iter().enumerate() {
            if i == 0 {
                self.put("\n");
            }
            self.put(document);
            self.documented = true;
        }
    }

    fn chain(&mut self, chain: &Chain) {
        self.pipeline(&chain.first);
        for (connector, pipeline) in &chain.rest {
            self.put(match connector {
                Connector::And => " && ",
                Connector::Or => " || ",
            });
            if !self.documents.is_empty() {
                self.finish_documents();
                self.put(" ");
            }
            self.pipeline(pipeline);
            self.finish_documents();
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        match pipeline.timed {
            Some(TimeFormat::Variable) => self.put("time "),
            Some(TimeFormat::Posix) => self.put("time -p "),
            None => {}
        }
        if pipeline.negated {
            self.put("! ");
        }
        for (i, stage) in pipeline.stages.iter().enumerate() {
            if i > 0 {
                match self.documents.is_empty() {
                    true => self.put(" | "),
                    false => {
                        self.put(" |");
                        self.finish_documents();
                        self.put("  ");
                    }
                }
            }
            self.command(stage);
            if i > 0 {
                self.finish_documents();
            }
        }
    }

    fn command(&mut self, command: &Command) {
        match &command.kind {
            Kind::Simple(simple) => return self.simple(simple),
            Kind::Group(list) => self.braces(list),
            Kind::Subshell(list) => {
                self.put("( ");
                self.list(list);
                self.put(" )");
            }
            Kind::If(arms, otherwise) => self.if_clause(arms, otherwise.as_ref()),
            Kind::While { until, condition, body } => {
                self.put(if *until { "until " } else { "while " });
                self.inlined(condition);
                self.put("; do");
                self.body(body);
                self.put("done");
            }
            Kind::For(node) | Kind::Select(node) => {
                let text = for_text(node);
                match command.kind {
                    Kind::Select(_) => self.put(&text.replacen("for", "select", 1)),
                    _ => self.put(&text),
                }
                self.put(";");
                self.newline();
                self.put("do");
                self.body(&node.body);
                self.put("done");
            }
            Kind::ForArith(node) => {
                let part = |a: &Option<Arith>, default: &str| match a {
                    Some(a) => arith_text(a).trim_start().to_owned(),
                    None => default.to_owned(),
                };
                self.put(&format!(
                    "for (({}; {}; {}))",
                    part(&node.initial, "1"),
                    part(&node.condition, "1"),
                    part(&node.step, "1")
                ));
                self.newline();
                self.put("do");
                self.body(&node.body);
                self.put("done");
            }
            Kind::Case(node) => self.case(node),
            Kind::Arith(arith) => self.put(&format!("(({}))", arith_text(arith))),
            Kind::Condition(condition) => self.put(&condition_text(condition)),
            Kind::Function(function) => {
                self.put("function ");
                self.function(function);
            }
            Kind::Coproc(coproc) => {
                self.put(&format!("coproc {} ", coproc.name));
                self.command(&coproc.body);
            }
        }
        self.redirects(&command.redirects);
    }

    fn inlined(&mut self, list: &List) {
        let count = list.items.len();
        for (i, item) in list.items.iter().enumerate() {
            self.chain(&item.chain);
            if i + 1 < count {
                self.put(if item.background { " & " } else { "; " });
            }
        }
    }

    fn if_clause(&mut self, arms: &[(List, List)], otherwise: Option<&List>) {
        let Some(((condition, body), rest)) = arms.split_first() else { return };
        self.put("if ");
        self.inlined(condition);
        self.put("; then");
        self.body(body);
        if !rest.is_empty() {
            // `elif` is printed as `else` with an `if` inside.
            self.put("else");
            self.indent += 1;
            self.newline();
            self.if_clause(rest, otherwise);
            self.put(";");
            self.indent -= 1;
            self.newline();
        } else if let Some(list) = otherwise {
            self.put("else");
            self.body(list);
        }
        self.put("fi");
    }

    fn case(&mut self, node: &super::tree::Case) {
        self.put(&format!("case {} in ", word_text(&node.word)));
        self.indent += 1;
        for arm in &node.arms {
            self.newline();
            let patterns: Vec<String> = arm.patterns.iter().map(word_text).collect();
            self.put(&format!("{})", patterns.join(" | ")));
            self.indent += 1;
            match arm.body.items.is_empty() {
                true => self.put("\n"),
                false => {
                    self.newline();
                    self.list(&arm.body);
                }
            }
            self.indent -= 1;
            self.newline();
            self.put(match arm.end {
                ArmEnd::Break => ";;",
                ArmEnd::FallThrough => ";&",
                ArmEnd::Continue => ";;&",
            });
        }
        self.indent -= 1;
        self.newline();
        self.put("esac");
    }

    fn simple(&mut self, simple: &Simple) {
        let words = simple.assignments.iter().map(assignment_text).chain(simple.words.iter().map(word_text));
        let text = words.collect::<Vec<_>>().join(" ");
        let empty = text.is_empty();
        self.put(&text);
        for (i, redirect) in simple.redirects.iter().enumerate() {
            if !(empty && i == 0) {
                self.put(" ");
            }
            self.redirect(redirect);
        }
    }

    fn redirects(&mut self, redirects: &[Redirect]) {
        for redirect in redirects {
            self.put(" ");
            self.redirect(redirect);
        }
    }

    fn redirect(&mut self, redirect: &Redirect) {
        let descriptor = match &redirect.descriptor {
            None => String::new(),
            Some(Descriptor::Number(number)) => number.to_string(),
            Some(Descriptor::Variable(name)) => format!("{{{name}}}"),
        };
        let target = match redirect.target.parts.as_slice() {
            [Part::Text(text)] if redirect.document.is_some() => text.clone(),
            _ => word_text(&redirect.target),
        };
        let text = match redirect.action {
            RedirectAction::Read => format!("< {target}"),
            RedirectAction::Write => format!("> {target}"),
            RedirectAction::Clobber => format!(">| {target}"),
            RedirectAction::Append => format!(">> {target}"),
            RedirectAction::ReadWrite if descriptor.is_empty() => format!("0<> {target}"),
            RedirectAction::ReadWrite => format!("<> {target}"),
            // The default number is printed, and closing is always printed as `>&-`.
            RedirectAction::DuplicateRead if target == "-" => {
                format!("{}>&-", if descriptor.is_empty() { "0" } else { "" })
            }
            RedirectAction::DuplicateRead if descriptor.is_empty() => format!("0<&{target}"),
            RedirectAction::DuplicateRead => format!("<&{target}"),
            RedirectAction::DuplicateWrite if descriptor.is_empty() => format!("1>&{target}"),
            RedirectAction::DuplicateWrite => format!(">&{target}"),
            RedirectAction::Both => format!("&> {target}"),
            RedirectAction::AppendBoth => format!("&>> {target}"),
            RedirectAction::String => format!("<<< {target}"),
            RedirectAction::Document | RedirectAction::DocumentTabs => {
                let operator = if redirect.action == RedirectAction::Document { "<<" } else { "<<-" };
                let delimiter = target.replace(['\'', '"', '\\'], "");
                if let Some(document) = &redirect.document {
                    let document = document.borrow();
                    let body = match &document.source {
                        Some(source) => source.to_string(),
                        None => parts_text(&document.parts, true),
                    };
                    self.documents.push(format!("{body}{delimiter}\n"));
                }
                match delimiter == target {
                    true => format!("{operator}{target}"),
                    false => format!("{operator}{}", quote::single(&delimiter)),
                }
            }
        };
        self.put(&format!("{descriptor}{text}"));
    }
}
