//! The application of a patch to one file: hunks, backup, rejects.

use isopod_gnu::input::Input;
use isopod_sys::files::{self, Kind as FileKind, OpenFlags};
use isopod_sys::{Fd, fs, text, write_all};

use super::Patch;
use super::hunk::{Hunk, Kind};
use super::names::{Target, is_inside};
use super::parse::{FilePatch, Format};
use super::reject;

/// The result of applying the hunks of a file.
struct ApplyResult {
    content: Vec<Vec<u8>>,
    failed: Vec<Hunk>,
    /// At least one hunk did not apply exactly at its line.
    mismatch: bool,
}

impl Patch<'_> {
    /// Applies the patch of one file. An error ends the program.
    pub(super) fn file(&mut self, patch: FilePatch) -> Result<(), String> {
        let mut hunks = patch.hunks.clone();
        if self.settings.reverse {
            hunks = hunks.into_iter().map(Hunk::reversed).collect();
        }
        let Some(target) = self.target(&patch)? else {
            self.skip_unknown(&patch);
            return Ok(());
        };
        let found = files::stat(&target.input, true);
        if let Ok(found) = &found
            && found.kind != FileKind::File
        {
            let kind = if found.kind == FileKind::Directory { "directory" } else { "special file" };
            self.report(&format!("File {} is not a regular file -- refusing to patch ({kind})\n", target.input));
            self.ignored(hunks.len(), None);
            return Ok(());
        }
        let mode = found.as_ref().map_or(0o644, |found| found.mode);
        let content = if target.exists {
            let read = Input::open(&target.input).and_then(|input| input.read_all());
            read.map_err(|errno| format!("Can't open file {} : {}", target.input, text(errno)))?
        } else {
            Vec::new()
        };
        let lines: Vec<Vec<u8>> = content.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        let is_there = target.creates && target.exists && !lines.is_empty();
        // The patch empties a file if its only hunk leaves no lines.
        let empties = hunks.len() == 1 && hunks[0].replacement().is_empty() && hunks[0].new_start == 0;
        let may_be_gone = empties && patch.format != Some(Format::Normal) && !hunks[0].pattern().is_empty();
        let is_gone = target.exists && lines.is_empty() && may_be_gone;
        if (is_there || is_gone) && !self.may_apply_again(&target, is_gone) {
            self.ignored(hunks.len(), None);
            return Ok(());
        }
        self.announce(&patch, &target);
        let is_reversed = self.is_reversed(&hunks, &lines);
        if is_reversed {
            if !self.accepts_reversed() {
                let name = self.reject_name(&target);
                self.ignored(hunks.len(), Some(&name));
                return self.save_rejects(&patch, &hunks, &name);
            }
            if self.settings.batch {
                hunks = hunks.into_iter().map(Hunk::reversed).collect();
            }
        }
        let total = hunks.len();
        let applied = self.apply(hunks, lines);
        if !applied.failed.is_empty() {
            self.has_failed = true;
            let name = self.reject_name(&target);
            let s = if total == 1 { "" } else { "s" };
            let saving =
                if self.settings.dry_run { String::new() } else { format!(" -- saving rejects to file {name}") };
            self.report(&format!("{} out of {total} hunk{s} FAILED{saving}\n", applied.failed.len()));
            self.save_rejects(&patch, &applied.failed, &name)?;
        }
        if self.settings.dry_run {
            return Ok(());
        }
        if self.settings.backup
            || (self.settings.backup_if_mismatch && (applied.mismatch || is_reversed) && target.exists)
        {
            self.back_up(&target, &content)?;
        }
        self.replace(&patch, &target, &applied, mode)
    }

    fn announce(&mut self, patch: &FilePatch, target: &Target) {
        let verb = if self.settings.dry_run { "checking" } else { "patching" };
        let from = match (&patch.git, target.input != target.output) {
            (_, false) => String::new(),
            (Some(git), true) if git.renamed.is_some() => format!(" (renamed from {})", target.input),
            (Some(git), true) if git.copied.is_some() => format!(" (copied from {})", target.input),
            _ => format!(" (read from {})", target.input),
        };
        self.notice(&format!("{verb} file {}{from}\n", target.output));
    }

    /// Reports a patch that is reversed or already applied. Returns true if it is applied nevertheless: with `--batch`
    /// in the other direction, with `--force` as it is.
    fn accepts_reversed(&mut self) -> bool {
        let (detected, assume, assuming) = if self.settings.reverse {
            ("Unreversed patch detected!", "Ignore -R?", "Ignoring -R.")
        } else {
            ("Reversed (or previously applied) patch detected!", "Assume -R?", "Assuming -R.")
        };
        if self.settings.batch {
            self.notice(&format!("{detected}  {assuming}\n"));
            return true;
        }
        if self.settings.force {
            return true;
        }
        if self.settings.forward {
            self.report(&format!("{detected}  Skipping patch.\n"));
        } else {
            // There is no terminal to ask, so the default answers are printed.
            self.report(&format!("{detected}  {assume} [n] \n"));
            self.report("Apply anyway? [n] \n");
            self.notice("Skipping patch.\n");
        }
        false
    }

    /// Writes or removes the patched file.
    fn replace(&mut self, patch: &FilePatch, target: &Target, applied: &ApplyResult, mode: u32) -> Result<(), String> {
        let result = applied.content.concat();
        let all_applied = applied.failed.is_empty();
        if target.deletes && !result.is_empty() && all_applied {
            self.report(&format!("Not deleting file {} as content differs from patch\n", target.output));
            self.has_failed = true;
        }
        if result.is_empty() && (target.deletes || self.settings.remove_empty) && all_applied {
            if target.exists {
                fs::remove_file(&target.output).map_err(|errno| cannot("remove", &target.output, errno))?;
                remove_empty_parents(&target.output);
            }
            return Ok(());
        }
        let mode = patch.git.as_ref().and_then(|git| git.new_mode).filter(|_| !self.settings.reverse).unwrap_or(mode);
        self.write(target, &result, mode)?;
        if patch.git.as_ref().is_some_and(|git| git.renamed.is_some()) && target.input != target.output {
            fs::remove_file(&target.input).map_err(|errno| cannot("remove", &target.input, errno))?;
        }
        Ok(())
    }

    fn skip_unknown(&mut self, patch: &FilePatch) {
        self.report(&format!("can't find file to patch at input line {}\n", patch.line));
        self.report(if self.settings.strip.is_some() {
            "Perhaps you used the wrong -p or --strip option?\n"
        } else {
            "Perhaps you should have used the -p or --strip option?\n"
        });
        self.report("The text leading up to this was:\n--------------------------\n");
        for line in &patch.lead {
            self.report(&format!("|{line}\n"));
        }
        self.report("--------------------------\n");
        if !self.settings.force && !self.settings.batch {
            self.report("File to patch: \nSkip this patch? [y] \nSkipping patch.\n");
        } else {
            self.report("No file to patch.  Skipping patch.\n");
        }
        self.ignored(patch.hunks.len(), None);
    }

    /// Decides about a patch that creates an existing file or empties an empty one. Returns true if it is applied
    /// anyway.
    fn may_apply_again(&mut self, target: &Target, is_gone: bool) -> bool {
        if self.settings.force {
            return true;
        }
        let (when, assume, assuming) = if self.settings.reverse {
            (", when reversed,", "Ignore -R?", "Ignoring -R.")
        } else {
            ("", "Assume -R?", "Assuming -R.")
        };
        let (what, already) = if is_gone { ("empty out", "is already empty") } else { ("create", "already exists") };
        self.report(&format!("The next patch{when} would {what} the file {},\nwhich {already}!  ", target.output));
        if self.settings.forward {
            self.report("Skipping patch.\n");
        } else if self.settings.batch {
            self.report(&format!("{assuming}\n"));
            return true;
        } else {
            self.report(&format!("{assume} [n] \nApply anyway? [n] \n"));
            self.notice("Skipping patch.\n");
        }
        false
    }

    fn ignored(&mut self, count: usize, saved: Option<&str>) {
        self.has_failed = true;
        let s = if count == 1 { "" } else { "s" };
        let saving = match saved {
            Some(name) if !self.settings.dry_run => format!(" -- saving rejects to file {name}"),
            _ => String::new(),
        };
        self.report(&format!("{count} out of {count} hunk{s} ignored{saving}\n"));
    }

    fn same(&self) -> impl Fn(&[u8], &[u8]) -> bool + use<> {
        let loose = self.settings.ignore_whitespace;
        move |a: &[u8], b: &[u8]| {
            if !loose {
                return a == b;
            }
            let words = |line: &[u8]| {
                let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
                words.map(<[u8]>::to_vec).collect::<Vec<_>>()
            };
            words(a) == words(b)
        }
    }

    /// Returns true if the first hunk does not apply, but its reverse does.
    fn is_reversed(&self, hunks: &[Hunk], lines: &[Vec<u8>]) -> bool {
        let Some(first) = hunks.first() else { return false };
        let same = self.same();
        let reversed = first.clone().reversed();
        let fits = |hunk: &Hunk, fuzz| hunk.find(lines, hunk.first() as isize, 0, fuzz..=fuzz, &same).is_some();
        // Both directions are tried at each fuzz factor before the next one.
        let decided = (0..=self.settings.fuzz)
            .find_map(|fuzz| if fits(first, fuzz) { Some(false) } else { fits(&reversed, fuzz).then_some(true) });
        decided == Some(true)
    }

    fn apply(&mut self, hunks: Vec<Hunk>, lines: Vec<Vec<u8>>) -> ApplyResult {
        let same = self.same();
        let mut content = Vec::new();
        let mut failed = Vec::new();
        let mut mismatch = false;
        // The input lines copied so far, the offset of the last hunk, and the growth of the output.
        let (mut copied, mut offset, mut grown) = (0, 0isize, 0isize);
        for (index, hunk) in hunks.into_iter().enumerate() {
            let guess = hunk.first() as isize + offset;
            let Some(fit) = hunk.find(&lines, guess, copied, 0..=self.settings.fuzz, &same) else {
                mismatch = true;
                let line_number = hunk.old_start.max(1) as isize + grown;
                self.notice(&format!("Hunk #{} FAILED at {line_number}.\n", index + 1));
                // Line numbers in rejects refer to the file as patched so far.
                let moved = |start: usize| (start as isize + grown).max(0) as usize;
                failed.push(Hunk { old_start: moved(hunk.old_start), new_start: moved(hunk.new_start), ..hunk });
                continue;
            };
            // A hunk without context or deletions uses the offset of the last hunk, even beyond the end.
            if !hunk.pattern().is_empty() {
                offset = fit.at as isize - hunk.first() as isize;
            }
            if offset != 0 || fit.fuzz > 0 {
                mismatch = true;
                let line_number = hunk.first() as isize + offset + 1 + grown;
                let fuzz = if fit.fuzz > 0 { format!(" with fuzz {}", fit.fuzz) } else { String::new() };
                let off = match offset {
                    0 => String::new(),
                    offset => format!(" (offset {offset} line{})", if offset == 1 { "" } else { "s" }),
                };
                self.notice(&format!("Hunk #{} succeeded at {line_number}{fuzz}{off}.\n", index + 1));
            }
            content.extend_from_slice(&lines[copied..fit.at]);
            let mut at = fit.at;
            for (kind, line) in &hunk.lines {
                match kind {
                    Kind::Inserted => content.push(line.clone()),
                    Kind::Deleted => at += 1,
                    // A line that matched loosely stays as it is in the file.
                    Kind::Common => {
                        content.push(lines[at].clone());
                        at += 1;
                    }
                }
            }
            grown += hunk.replacement().len() as isize - hunk.pattern().len() as isize;
            copied = at;
        }
        content.extend_from_slice(&lines[copied..]);
        // A line without a newline that is no longer the last one gets a newline.
        let last = content.len().saturating_sub(1);
        for line in content[..last].iter_mut().filter(|line| !line.ends_with(b"\n")) {
            line.push(b'\n');
        }
        ApplyResult { content, failed, mismatch }
    }

    fn reject_name(&self, target: &Target) -> String {
        self.settings.reject.clone().unwrap_or_else(|| format!("{}.rej", target.output))
    }

    fn save_rejects(&mut self, patch: &FilePatch, hunks: &[Hunk], name: &str) -> Result<(), String> {
        if self.settings.dry_run || name == "-" {
            return Ok(());
        }
        save(name, &reject::render(patch, hunks, self.settings.reverse), 0o644)
    }

    fn back_up(&mut self, target: &Target, content: &[u8]) -> Result<(), String> {
        if self.backed_up.contains(&target.output) || self.settings.output.is_some() && !self.settings.backup {
            return Ok(());
        }
        self.backed_up.push(target.output.clone());
        let mode = files::stat(&target.input, true).map_or(0o644, |found| found.mode);
        save(&format!("{}{}", target.output, self.settings.suffix), content, mode)
    }

    fn write(&mut self, target: &Target, content: &[u8], mode: u32) -> Result<(), String> {
        let chosen = self.settings.output.is_some() || self.settings.operand.is_some();
        if !chosen && !is_inside(&target.output) {
            return Err(format!("refusing to write {}: it leads out of the directory", target.output));
        }
        if let Some((parents, _)) = target.output.rsplit_once('/') {
            let mut path = String::new();
            for part in parents.split('/') {
                path.push_str(part);
                // An existing directory is not an error.
                let _ = fs::create_dir(&path);
                path.push('/');
            }
        }
        save(&target.output, content, mode)
    }
}

fn remove_empty_parents(path: &str) {
    let mut path = path;
    while let Some((parent, _)) = path.rsplit_once('/') {
        // A directory that is not empty stays, and so do its parents.
        if fs::remove_dir(parent).is_err() {
            return;
        }
        path = parent;
    }
}

fn save(path: &str, content: &[u8], mode: u32) -> Result<(), String> {
    if path == "-" {
        return write_all(1, content).map_err(|errno| cannot("write", path, errno));
    }
    let flags = OpenFlags::WRITE | OpenFlags::CREATE | OpenFlags::TRUNCATE;
    let file = Fd::open(path, flags, mode).map_err(|errno| cannot("create", path, errno))?;
    write_all(file.raw(), content).map_err(|errno| cannot("write", path, errno))?;
    drop(file);
    files::chmod(path, mode, true).map_err(|errno| cannot("set the mode of", path, errno))
}

fn cannot(what: &str, path: &str, errno: isopod_sys::Errno) -> String {
    format!("Can't {what} file {path} : {}", text(errno))
}
