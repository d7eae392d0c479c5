//! Names that are left out: `--include`, `--exclude`, `--exclude-dir`.

use isopod_gnu::pattern::Pattern;

/// What is left out, in the order of the options: the last one that fits decides.
#[derive(Default)]
pub(super) struct Filter {
    files: Vec<(Pattern, bool)>,
    directories: Vec<Pattern>,
}

impl Filter {
    pub(super) fn include(&mut self, glob: &str) {
        self.files.push((Pattern::from(glob), true));
    }

    pub(super) fn exclude(&mut self, glob: &str) {
        self.files.push((Pattern::from(glob), false));
    }

    pub(super) fn exclude_dir(&mut self, glob: &str) {
        let trimmed = glob.trim_end_matches('/');
        self.directories.push(Pattern::from(if trimmed.is_empty() { glob } else { trimmed }));
    }

    /// Whether a file is left out. An operand is known by its path, and any part of it from a slash on may fit; a file
    /// that was met in a directory is known by its name.
    pub(super) fn leaves_out(&self, name: &str, is_operand: bool) -> bool {
        match self.files.iter().rev().find(|(glob, _)| fits(glob, name, is_operand)) {
            Some((_, is_included)) => !is_included,
            None => self.files.first().is_some_and(|(_, is_included)| *is_included),
        }
    }

    /// Whether a directory is left out.
    pub(super) fn leaves_out_dir(&self, name: &str, is_operand: bool) -> bool {
        self.directories.iter().any(|glob| fits(glob, name, is_operand))
    }
}

fn fits(glob: &Pattern, name: &str, is_operand: bool) -> bool {
    glob.matches(name)
        || (is_operand
            && name.match_indices('/').any(|(at, _)| {
                let rest = &name[at + 1..];
                !rest.starts_with('/') && !rest.is_empty() && glob.matches(rest)
            }))
}
