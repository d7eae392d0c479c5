//! The parser, printer, expansion, patterns, expressions and arithmetic of the shell. Nothing is run: the shell that
//! expands is under `set -n`.

use isopod_sh::pattern::Pattern;
use isopod_sh::regex::Regex;
use isopod_sh::state::Shell;
use isopod_sh::state::options::{SetOption, Shopt};
use isopod_sh::state::variable::Variable;
use isopod_sh::syntax::tree::{Kind, List, Part, Word};
use isopod_sh::syntax::{Parser, list_text};

/// Maximum length of a text. Errors that need a longer one are errors of size, which have their own tests.
const LONGEST: usize = 2000;

/// Runs every step on one text.
pub fn shell(data: &[u8]) {
    let text = String::from_utf8_lossy(&data[..data.len().min(LONGEST)]).into_owned();
    // Natively a level of nesting takes more stack than in the program, and a thread has little.
    let tried = std::thread::Builder::new().stack_size(256 << 20).spawn(move || try_text(&text));
    let ended = tried.map(std::thread::JoinHandle::join);
    assert!(matches!(ended, Ok(Ok(()))), "{:?}", String::from_utf8_lossy(data));
}

/// Runs every step on one text, on a stack that is large enough.
pub fn try_text(text: &str) {
    let mut shell = quiet_shell();
    for extglob in [false, true] {
        let mut parser = Parser::new(text, 1);
        parser.extglob = extglob;
        parser.keep_sources = extglob;
        while let Ok(Some(list)) = parser.next_command() {
            // Printed text is parsed again, even if it is refused.
            let _ = Parser::new(list_text(&list), 1).next_command();
            expand_list(&mut shell, &list);
        }
    }
    if let Ok(word) = Parser::new(text, 1).quoted_text() {
        let _ = shell.expand_string(&word);
    }
    let _ = shell.evaluate(text);
    let middle = (0..=text.len() / 2).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let (half, rest) = text.split_at(middle);
    let _ = Pattern::new(half, true, false).matches(rest);
    let _ = Pattern::new(half, false, true).prefix(rest, true);
    if let Ok(regex) = Regex::new(half, false) {
        let _ = regex.captures(rest);
    }
}

/// Returns a shell that runs nothing, reads no file, and has some variables.
fn quiet_shell() -> Shell {
    let mut shell = Shell::default();
    shell.options.switch(SetOption::NOEXEC, true);
    shell.options.switch(SetOption::NOGLOB, true);
    shell.options.switch_shopt(Shopt::EXTGLOB, true);
    for (name, value) in [("x", "a b*c"), ("y", "12"), ("z", "x"), ("a", "y + 1")] {
        shell.variables.insert(name, Variable::scalar(value));
    }
    shell
}

/// Expands the words of the simple commands of a list.
fn expand_list(shell: &mut Shell, list: &List) {
    for item in &list.items {
        let rest = item.chain.rest.iter().map(|(_, pipeline)| pipeline);
        for stage in std::iter::once(&item.chain.first).chain(rest).flat_map(|pipeline| &pipeline.stages) {
            match &stage.kind {
                Kind::Simple(simple) => expand_words(shell, &simple.words),
                Kind::For(node) => expand_words(shell, node.words.as_deref().unwrap_or_default()),
                Kind::Arith(arith) => {
                    let _ = shell.arith(arith);
                }
                _ => {}
            }
        }
    }
}

fn expand_words(shell: &mut Shell, words: &[Word]) {
    for word in words {
        // Braces beside braces multiply up to a limit, which takes a while without optimisation.
        if word.parts.iter().filter(|part| matches!(part, Part::Brace(_))).count() > 3 {
            continue;
        }
        let mut out = Vec::new();
        let _ = shell.expand_word(word, &mut out);
    }
}
