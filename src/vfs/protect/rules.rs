//! The list of protected paths.

use std::collections::HashMap;

use crate::vfs::fold::fold;

/// The default list: files that programs of the host run or obey when a user opens the directory, starts a shell or
/// calls git in it. A pattern names a file, or a directory with its content, anywhere in the tree; `**` stands for any
/// names.
const STANDARD: [&str; 54] = [
    // git: hooks are programs, and the configuration names programs, also through another file or directory.
    ".git/hooks",
    ".git/config",
    ".git/config.worktree",
    ".git/commondir",
    ".git/modules/**/hooks",
    ".git/modules/**/config",
    ".git/modules/**/config.worktree",
    ".git/modules/**/commondir",
    ".git/worktrees/**/config.worktree",
    ".git/worktrees/**/commondir",
    ".gitmodules",
    ".gitconfig",
    ".config/git",
    ".husky",
    // Shells and their startup files.
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".mkshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".logout",
    ".inputrc",
    ".config/fish",
    ".envrc",
    ".direnv",
    // Editors and debuggers, which run tasks of the directory they are opened in.
    ".vscode",
    ".idea",
    ".devcontainer",
    ".devcontainer.json",
    ".vimrc",
    ".exrc",
    ".nvim.lua",
    ".gdbinit",
    ".lldbinit",
    // Agents, whose tools are configured here.
    ".mcp.json",
    ".claude",
    ".cursor",
    ".codex",
    ".gemini",
    ".continue",
    ".windsurf",
    // Logins, and programs started with the session.
    ".ssh",
    ".gnupg",
    ".config/autostart",
];

/// A list of protected paths, empty by default.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    patterns: Vec<Vec<String>>,
    /// Patterns by first name, so that a name on no list costs one lookup.
    starts: HashMap<String, Vec<usize>>,
}

/// The result of matching the names of a path: protected or not, and the patterns it matches in part. Below two paths
/// with the same state the same paths are protected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PathState {
    pub(super) is_protected: bool,
    /// True if the last name is that of the git directory. A `.git` that is not a directory refers to another one.
    pub(super) is_git: bool,
    /// Patterns and the number of their matched names, sorted, without duplicates.
    partial: Vec<(usize, usize)>,
}

impl Rules {
    /// Returns the default list.
    pub fn standard() -> Rules {
        STANDARD.iter().fold(Rules::none(), |rules, pattern| rules.protect(pattern))
    }

    /// Returns the default list without these patterns; `all` stands for every pattern.
    pub fn standard_but<T: AsRef<str>>(allowed: &[T]) -> Rules {
        match allowed.iter().any(|pattern| pattern.as_ref() == "all") {
            true => Rules::none(),
            false => allowed.iter().fold(Rules::standard(), |rules, pattern| rules.allow(pattern.as_ref())),
        }
    }

    /// Refuses a text that is neither `all` nor a pattern of the default list: allowing it would have no effect.
    pub fn check_standard(text: &str) -> Result<(), String> {
        let known: Vec<String> = Rules::standard().patterns().collect();
        match text == "all" || known.iter().any(|pattern| pattern == text) {
            true => Ok(()),
            false => Err(format!("expected `all` or one of {}", known.join(", "))),
        }
    }

    /// Returns an empty list.
    pub fn none() -> Rules {
        Rules::default()
    }

    /// Adds a path, such as `.vscode` or `.git/hooks`, at any location.
    pub fn protect(mut self, pattern: &str) -> Rules {
        let pattern = parse(pattern);
        if let Some(first) = pattern.first()
            && !self.patterns.contains(&pattern)
        {
            self.starts.entry(first.clone()).or_default().push(self.patterns.len());
            self.patterns.push(pattern);
        }
        self
    }

    /// Removes a path by its pattern.
    pub fn allow(self, pattern: &str) -> Rules {
        let pattern = parse(pattern).join("/");
        let kept: Vec<String> = self.patterns().filter(|known| *known != pattern).collect();
        kept.iter().fold(Rules::none(), |rules, pattern| rules.protect(pattern))
    }

    /// Returns the patterns as text.
    pub fn patterns(&self) -> impl Iterator<Item = String> {
        self.patterns.iter().map(|names| names.join("/"))
    }

    /// Returns the state after one more name.
    pub(super) fn step(&self, state: &PathState, name: &str) -> PathState {
        if state.is_protected {
            return PathState { is_protected: true, ..PathState::default() };
        }
        let name = fold(name);
        let (is_short, starts) = (name.contains('~'), self.starts.get(&*name));
        if !is_short && starts.is_none() && state.partial.is_empty() {
            return PathState::default();
        }
        let mut next =
            PathState { is_git: self.starts.contains_key(".git") && is_alike(&name, ".git"), ..PathState::default() };
        for (pattern, seen) in &state.partial {
            self.advance(&mut next, *pattern, *seen, &name);
        }
        if is_short {
            (0..self.patterns.len()).for_each(|pattern| self.advance(&mut next, pattern, 0, &name));
        } else if let Some(patterns) = starts {
            patterns.iter().for_each(|pattern| self.advance(&mut next, *pattern, 0, &name));
        }
        if next.is_protected {
            return PathState { is_protected: true, ..PathState::default() };
        }
        next.partial.sort_unstable();
        next.partial.dedup();
        next
    }

    fn advance(&self, next: &mut PathState, pattern: usize, seen: usize, name: &str) {
        let names = &self.patterns[pattern];
        match names.get(seen).map(String::as_str) {
            Some("**") => {
                // It stands for this name and perhaps more, or for no name.
                next.partial.push((pattern, seen));
                self.advance(next, pattern, seen + 1, name);
            }
            Some(wanted) if is_alike(name, wanted) => match seen + 1 == names.len() {
                true => next.is_protected = true,
                false => next.partial.push((pattern, seen + 1)),
            },
            _ => {}
        }
    }
}

fn parse(pattern: &str) -> Vec<String> {
    pattern.split('/').filter(|name| !name.is_empty()).map(|name| fold(name).into_owned()).collect()
}

/// Returns true if some host would treat a folded name as `wanted`: the name itself, or its short form on DOS file
/// systems, such as `git~1`.
fn is_alike(name: &str, wanted: &str) -> bool {
    if name == wanted {
        return true;
    }
    let Some((start, rest)) = name.split_once('~') else {
        return false;
    };
    let digits = rest.find('.').map_or(rest, |dot| &rest[..dot]);
    let plain: String = wanted.chars().filter(|letter| letter.is_ascii_alphanumeric() || *letter == '_').collect();
    !start.is_empty()
        && !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && plain.starts_with(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(rules: &Rules, path: &str) -> PathState {
        path.split('/').fold(PathState::default(), |state, name| rules.step(&state, name))
    }

    #[test]
    fn protected_paths_are_known_at_any_depth_and_in_any_guise() {
        let rules = Rules::standard();
        for path in [
            ".git/hooks",
            ".git/hooks/pre-commit",
            "a/b/.git/hooks/x/y",
            ".git/config",
            ".GIT/Config",
            ".git/modules/sub/hooks/x",
            ".git/modules/a/b/config",
            ".git/modules/config",
            ".git/worktrees/w/commondir",
            "deep/er/.bashrc",
            ".Bashrc",
            ".ba\u{200d}shrc",
            ".ｂａｓｈｒｃ",
            ".zshrc.",
            ".vscode",
            ".vscode/tasks.json",
            "x/.IDEA/a",
            ".mcp.json",
            ".claude/settings.json",
            ".envrc ",
            ".git::$DATA/hooks/x",
            "git~1/hooks/x",
            "GIT~1/config",
            "vscode~1/x",
            ".config/fish/config.fish",
        ] {
            assert!(state(&rules, path).is_protected, "{path}");
        }
        for path in [
            "hooks/pre-commit",
            "config",
            ".git",
            ".git/HEAD",
            ".git/refs/heads/config",
            ".git/refs/heads/hooks",
            ".git/worktrees/w/HEAD",
            "bashrc",
            "x.bashrc",
            ".bashrc.bak",
            ".github/workflows/ci.yml",
            "a~1",
            "~1",
            "backup~2",
            ".config/other",
        ] {
            assert!(!state(&rules, path).is_protected, "{path}");
        }
        assert!(state(&rules, "a/.Git").is_git && !state(&rules, "a/.git/x").is_git);
    }

    #[test]
    fn the_list_can_be_changed() {
        let rules = Rules::standard().allow(".VSCODE").allow(".git/hooks").protect("secret/place");
        assert!(!state(&rules, ".vscode/x").is_protected);
        assert!(!state(&rules, ".git/hooks/x").is_protected);
        assert!(state(&rules, ".git/config").is_protected);
        assert!(state(&rules, "a/secret/place/x").is_protected);
        assert!(!state(&Rules::none(), ".git/config").is_protected && !state(&Rules::none(), ".git").is_git);
        assert_eq!(Rules::none().protect("A/b/").protect("a/B").patterns().collect::<Vec<_>>(), ["a/b"]);
    }

    #[test]
    fn paths_of_one_state_have_one_future() {
        let rules = Rules::standard();
        assert_eq!(state(&rules, "a/b"), state(&rules, "c"));
        assert_ne!(state(&rules, "a/.git"), state(&rules, "c"));
        assert_eq!(state(&rules, "a/.git"), state(&rules, ".GIT"));
        assert_eq!(state(&rules, ".git/modules/a"), state(&rules, ".git/modules/a/b"));
    }
}
