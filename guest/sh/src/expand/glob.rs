//! Pathname expansion.

use isopod_sys::files;

use crate::order::sort_texts;
use crate::pattern::{self, Pattern};
use crate::state::options::{Options, Shopt};
use crate::state::{Shell, Stop};

impl Shell {
    /// Adds the matching paths, or the substitute that the options ask for.
    pub(super) fn glob(&mut self, text: String, pattern: &str, out: &mut Vec<String>) -> Result<(), Stop> {
        let mut paths = glob_paths(pattern, &self.options, !self.ignored().is_empty());
        for ignore in self.ignored() {
            // A star does not match a slash, as in the pattern itself.
            let ignore: Vec<Pattern> = ignore.split('/').map(|piece| Pattern::new(piece, true, false)).collect();
            paths.retain(|path| {
                let pieces = path.split('/');
                pieces.clone().count() != ignore.len() || !pieces.zip(&ignore).all(|(name, piece)| piece.matches(name))
            });
        }
        match () {
            () if !paths.is_empty() => out.append(&mut paths),
            () if self.options.shopt(Shopt::FAILGLOB) => {
                return Err(self.refuse(&format!("no match: {text}")));
            }
            () if self.options.shopt(Shopt::NULLGLOB) => {}
            () => out.push(text),
        }
        Ok(())
    }

    fn ignored(&self) -> Vec<String> {
        let ignore = self.variables.get("GLOBIGNORE").and_then(|v| v.text()).unwrap_or_default();
        let mut patterns = vec![String::new()];
        // The colons of `[[:digit:]]` separate nothing.
        let mut class = false;
        let mut last = '\0';
        for c in ignore.chars() {
            match c {
                ':' if !class && last != '[' => patterns.push(String::new()),
                c => {
                    class = (class || (last == '[' && c == ':')) && !(last == ':' && c == ']');
                    patterns.iter_mut().last().into_iter().for_each(|pattern| pattern.push(c));
                }
            }
            last = c;
        }
        patterns.retain(|pattern| !pattern.is_empty());
        patterns
    }
}

/// One piece of a pattern between slashes.
enum Component {
    Literal(String),
    Pattern {
        pattern: Pattern,
        hidden: bool,
    },
    /// `**`
    Tree,
}

/// Returns the paths that match a pattern, sorted.
pub fn glob_paths(pattern: &str, options: &Options, hidden: bool) -> Vec<String> {
    let dots = hidden || options.shopt(Shopt::DOTGLOB);
    let components: Vec<Component> = pattern.split('/').map(|c| component(c, options, dots)).collect();
    let mut prefixes = vec![String::new()];
    let mut depth = 0;
    // An absolute pattern starts with an empty piece.
    if pattern.starts_with('/') {
        prefixes = vec!["/".to_owned()];
        depth = 1;
    }
    while depth < components.len() && !prefixes.is_empty() {
        let last = depth + 1 == components.len();
        let mut next = Vec::new();
        for prefix in &prefixes {
            extend(prefix, &components[depth], last, dots, &mut next);
        }
        prefixes = next;
        depth += 1;
    }
    sort_texts(&mut prefixes);
    prefixes
}

fn extend(prefix: &str, component: &Component, last: bool, dots: bool, next: &mut Vec<String>) {
    let slash = if last { "" } else { "/" };
    match component {
        // A pattern that ends in a slash matches directories.
        Component::Literal(name) if last && name.is_empty() => {
            if files::stat(prefix, true).is_ok_and(|a| a.kind == files::Kind::Directory) {
                next.push(prefix.to_owned());
            }
        }
        Component::Literal(name) if last => {
            let path = format!("{prefix}{name}");
            if exists(&path) {
                next.push(path);
            }
        }
        Component::Literal(name) => next.push(format!("{prefix}{name}/")),
        Component::Pattern { pattern, hidden } => {
            for name in names_in(prefix) {
                if (*hidden || !has_hidden_name(&name))
                    && pattern.matches(&crate::text::from_bytes(name.clone().into()))
                {
                    next.push(format!("{prefix}{name}{slash}"));
                }
            }
        }
        Component::Tree => {
            // The tree includes its root, unless that is the working directory and the pattern ends here.
            if !(last && prefix.is_empty()) {
                next.push(prefix.to_owned());
            }
            let mut pending = vec![prefix.to_owned()];
            while let Some(directory) = pending.pop() {
                for name in names_in(&directory) {
                    if !dots && has_hidden_name(&name) {
                        continue;
                    }
                    let path = format!("{directory}{name}");
                    // Links are not followed, since a link to a parent would make the walk endless.
                    let is_directory = files::stat(&path, false).is_ok_and(|a| a.kind == files::Kind::Directory);
                    if is_directory {
                        pending.push(format!("{path}/"));
                    }
                    if last {
                        next.push(path);
                    } else if is_directory {
                        next.push(format!("{path}/"));
                    }
                }
            }
        }
    }
}

fn component(text: &str, options: &Options, dots: bool) -> Component {
    if text == "**" && options.shopt(Shopt::GLOBSTAR) {
        return Component::Tree;
    }
    let extended = options.shopt(Shopt::EXTGLOB);
    if !pattern::is_pattern(text, extended) {
        let mut literal = String::new();
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            literal.push(if c == '\\' { chars.next().unwrap_or(c) } else { c });
        }
        return Component::Literal(literal);
    }
    let hidden = dots
        || text.starts_with('.')
        || text.starts_with("\\.")
        || (extended && (text.contains("(.") || text.contains("|.") || text.contains("(\\.")));
    Component::Pattern { pattern: Pattern::new(text, extended, options.shopt(Shopt::NOCASEGLOB)), hidden }
}

/// Returns true if a file name is hidden from patterns.
pub fn has_hidden_name(name: &str) -> bool {
    name.starts_with('.')
}

fn names_in(prefix: &str) -> Vec<String> {
    files::read_dir(if prefix.is_empty() { "." } else { prefix }).unwrap_or_default()
}

fn exists(path: &str) -> bool {
    files::stat(path, false).is_ok()
}
