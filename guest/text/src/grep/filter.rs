//! Filters on file names: `--include`, `--exclude`, `--exclude-dir`.

use isopod_gnu::pattern::Pattern;

/// The globs of the options, in order. The last one that matches decides.
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

    /// Returns true if a file is excluded. An operand matches with its path or with any part of it after a slash. A
    /// file in a directory matches with its name.
    pub(super) fn leaves_out(&self, name: &str, is_operand: bool) -> bool {
        match self.files.iter().rev().find(|(glob, _)| fits(glob, name, is_operand)) {
            Some((_, is_included)) => !is_included,
            None => self.files.first().is_some_and(|(_, is_included)| *is_included),
        }
    }

    /// Returns true if a directory is excluded.
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
