//! Directories: their entries in order, and entries that only one of them has.

use isopod_gnu::path;
use isopod_sys::{files, text};

use super::pair::Side;
use super::{Diff, TROUBLE};

impl Diff<'_> {
    pub(super) fn directories(&mut self, a: &Side, b: &Side, top: bool) -> u8 {
        if !top && !self.settings.recursive {
            self.out.push(format!("Common subdirectories: {} and {}\n", a.path, b.path).as_bytes());
            return 0;
        }
        let (Ok(first), Ok(second)) = (self.names(a, top), self.names(b, top)) else { return TROUBLE };
        let mut code = 0;
        let (mut firsts, mut seconds) = (first.into_iter().peekable(), second.into_iter().peekable());
        loop {
            let order = match (firsts.peek(), seconds.peek()) {
                (None, None) => return code,
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (Some(first), Some(second)) => self.compare_names(first, second),
            };
            let name = if order.is_le() { firsts.next() } else { seconds.next() };
            let Some(name) = name else { return code };
            let other = if order.is_eq() { seconds.next() } else { None };
            let present = [order.is_le(), order.is_ge()];
            let paths = [path::join(&a.path, &name), path::join(&b.path, other.as_ref().unwrap_or(&name))];
            let counts_as_empty = self.settings.new_file || (self.settings.new_first_file && !present[0]);
            code = code.max(if present == [true, true] || counts_as_empty {
                self.paths(&paths[0], &paths[1], false)
            } else {
                let directory = if present[0] { &a.path } else { &b.path };
                self.out.push(format!("Only in {directory}: {name}\n").as_bytes());
                1
            });
        }
    }

    fn compare_names(&self, first: &str, second: &str) -> std::cmp::Ordering {
        if self.settings.ignore_name_case {
            return first.to_lowercase().cmp(&second.to_lowercase());
        }
        first.cmp(second)
    }

    fn names(&mut self, side: &Side, top: bool) -> Result<Vec<String>, ()> {
        if side.found.is_none() {
            return Ok(Vec::new());
        }
        let mut names = files::read_dir(&side.path).map_err(|errno| {
            self.complain(&format!("{}: {}", side.path, text(errno)));
        })?;
        names.retain(|name| !self.settings.exclude.iter().any(|pattern| pattern.matches(name)));
        if let Some(start) = self.settings.starting_file.as_ref().filter(|_| top) {
            names.retain(|name| name >= start);
        }
        if self.settings.ignore_name_case {
            names.sort_by_key(|name| name.to_lowercase());
        }
        Ok(names)
    }
}
