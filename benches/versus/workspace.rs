//! The files for the work, in a directory of the host that every contender sees.

#![allow(clippy::disallowed_methods, reason = "the host's side of the comparison")]

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use crate::options::Options;

/// The seed of a fixed sequence, so that each run measures the same.
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns the numbers of files of the trees; the second and the last are also rows.
pub fn trees(options: &Options) -> &'static [usize] {
    options.size(&[500, 2000, 10_000, 50_000], &[200, 600, 2000])
}

/// Returns the numbers of files in one directory.
pub fn directories(options: &Options) -> &'static [usize] {
    options.size(&[100, 1000, 10_000, 30_000], &[100, 1000, 3000])
}

/// Returns the size of `text` in bytes.
pub fn text_bytes(options: &Options) -> usize {
    options.size(50_000_000, 5_000_000)
}

/// Makes all files. `needs_trees` is false if no selected measurement reads them.
pub fn fill(directory: &Path, options: &Options, needs_trees: bool) -> io::Result<()> {
    std::fs::write(directory.join("text"), text(text_bytes(options)))?;
    if !needs_trees {
        return Ok(());
    }
    for count in trees(options) {
        tree(&directory.join(format!("tree{count}")), *count)?;
    }
    for count in directories(options) {
        let flat = directory.join(format!("flat{count}"));
        std::fs::create_dir(&flat)?;
        (0..*count).try_for_each(|number| std::fs::write(flat.join(format!("f{number}")), ""))?;
    }
    Ok(())
}

fn text(bytes: usize) -> String {
    let (mut text, mut state) = (String::with_capacity(bytes + 64), SEED);
    while text.len() < bytes {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let word = ["foo", "bar", "needle", "hay", "straw"][(state >> 33) as usize % 5];
        let (line, number, tail) = (state >> 50, state >> 40, (state >> 20) % 100);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "line{line} {number} {word}{tail} the quick brown fox");
    }
    text
}

/// Makes files of about 800 bytes, a hundred per directory; every fiftieth contains a needle.
pub fn tree(root: &Path, count: usize) -> io::Result<()> {
    for number in 0..count {
        let path = root.join(path(count, number));
        if let Some(directory) = path.parent().filter(|_| number < 10 * (count / 1000).max(1)) {
            std::fs::create_dir_all(directory)?;
        }
        let mut text = "nothing of interest is on this line\n".repeat(20 + number % 5);
        if number.is_multiple_of(50) {
            text.push_str("a needle in it\n");
        }
        std::fs::write(path, text)?;
    }
    Ok(())
}

/// Returns the path of a file in a tree.
pub fn path(count: usize, number: usize) -> String {
    format!("d{}/e{}/{number}.txt", number % 10, number / 10 % (count / 1000).max(1))
}
