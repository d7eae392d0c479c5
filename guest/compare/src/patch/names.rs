//! The choice of the file that a patch applies to.

use isopod_sys::files::{self, Kind};

use super::Patch;
use super::parse::FilePatch;

/// The file that a patch applies to.
pub(super) struct Target {
    /// The file to read.
    pub input: String,
    /// The file to write.
    pub output: String,
    pub exists: bool,
    /// The patch creates or deletes the file.
    pub creates: bool,
    pub deletes: bool,
}

impl Patch<'_> {
    /// Returns the file of a patch, or `None` if it cannot be determined.
    pub(super) fn target(&mut self, patch: &FilePatch) -> Result<Option<Target>, String> {
        let is_null = |path: &str| path == "/dev/null";
        let epoch =
            |name: &Option<super::parse::Name>| name.as_ref().is_some_and(|name| is_null(&name.path) || name.is_epoch);
        let (mut creates, mut deletes) = (epoch(&patch.old), epoch(&patch.new));
        if let Some(git) = &patch.git {
            creates |= git.is_new;
            deletes |= git.is_deleted;
        }
        if self.settings.reverse {
            std::mem::swap(&mut creates, &mut deletes);
        }
        // A hunk with an empty pattern at line 0 can create a missing file.
        let from_nothing = patch.hunks.len() == 1 && {
            let hunk = if self.settings.reverse { patch.hunks[0].clone().reversed() } else { patch.hunks[0].clone() };
            hunk.pattern().is_empty() && hunk.old_start == 0
        };
        if let Some(operand) = self.settings.operand.clone() {
            let exists = exists(&operand);
            let output = self.settings.output.clone().unwrap_or_else(|| operand.clone());
            return Ok(Some(Target { input: operand, output, exists, creates, deletes }));
        }
        if let Some(git) = &patch.git
            && let Some((from, to)) = git.renamed.as_ref().or(git.copied.as_ref())
        {
            // The names of a rename have no prefix for `-p1` to strip, unlike those of the `diff --git` line.
            let strip = |path: &String| Some(path.clone()).filter(|path| is_inside(path));
            let (Some(mut input), Some(mut output)) = (strip(from), strip(to)) else {
                return Err(format!("refusing the file names {from} and {to}"));
            };
            if self.settings.reverse {
                std::mem::swap(&mut input, &mut output);
            }
            let exists = exists(&input);
            return Ok(Some(Target { input, output, exists, creates: false, deletes: false }));
        }
        let mut candidates = Vec::new();
        let mut given: Vec<String> = Vec::new();
        for name in [&patch.old, &patch.new].into_iter().flatten() {
            given.push(name.path.clone());
        }
        given.extend(patch.index.clone());
        if given.is_empty()
            && let Some(git) = &patch.git
        {
            given.extend([git.old.clone(), git.new.clone()]);
        }
        let mut refused: Vec<String> = Vec::new();
        for path in given.iter().filter(|path| !is_null(path)) {
            let Some(stripped) = stripped(path, self.settings.strip) else { continue };
            if !is_inside(&stripped) {
                if !refused.contains(&stripped) {
                    self.report(&format!("Ignoring potentially dangerous file name {stripped}\n"));
                    refused.push(stripped);
                }
                continue;
            }
            if !candidates.contains(&stripped) {
                candidates.push(stripped);
            }
        }
        let best = |names: Vec<&String>| {
            let components = |name: &str| name.split('/').count();
            let base = |name: &str| name.rsplit('/').next().map_or(0, str::len);
            names.into_iter().min_by_key(|name| (components(name), base(name), name.len())).cloned()
        };
        let present = best(candidates.iter().filter(|name| exists(name)).collect());
        let (path, exists) = match present {
            Some(path) => (path, true),
            None if creates || from_nothing => match best(candidates.iter().collect()) {
                Some(path) => (path, false),
                None => return Ok(None),
            },
            None => return Ok(None),
        };
        let output = self.settings.output.clone().unwrap_or_else(|| path.clone());
        Ok(Some(Target { input: path, output, exists, creates, deletes }))
    }
}

pub(super) fn exists(path: &str) -> bool {
    files::stat(path, false).is_ok()
}

/// Removes the first components of a path. Without a number only the last one remains.
fn stripped(path: &str, strip: Option<usize>) -> Option<String> {
    let Some(mut left) = strip else {
        return path.rsplit('/').next().map(str::to_owned).filter(|name| !name.is_empty());
    };
    let mut rest = path;
    while left > 0 {
        let slash = rest.find('/')?;
        rest = rest[slash..].trim_start_matches('/');
        left -= 1;
    }
    (!rest.is_empty()).then(|| rest.to_owned())
}

/// Returns true if a path stays below the working directory and passes through no symbolic link.
pub(super) fn is_inside(path: &str) -> bool {
    if path.starts_with('/') || path.split('/').any(|part| part == "..") {
        return false;
    }
    let mut walked = String::new();
    for part in path.split('/') {
        if !walked.is_empty() {
            walked.push('/');
        }
        walked.push_str(part);
        if files::stat(&walked, false).is_ok_and(|found| found.kind == Kind::Symlink) {
            return false;
        }
    }
    true
}
