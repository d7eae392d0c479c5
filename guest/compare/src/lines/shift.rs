//! Moves changes to where they read best.
//!
//! If the line before a run of changed lines equals its last one, the run can start one line earlier. Runs that meet
//! by such moves become one. Then a run is moved down as far as possible, or back to where the other file has changes
//! too.

/// Moves the changes of both files. The marks include an unchanged line before the first and after the last.
pub(super) fn shift(equivalents: &[Vec<u32>; 2], changed: &mut [Vec<bool>; 2]) {
    let [first, second] = changed;
    shift_one(&equivalents[0], first, second);
    shift_one(&equivalents[1], second, first);
}

/// Moves the changes of one file. Line numbers start at 1, as those of the marks do.
fn shift_one(classes: &[u32], changed: &mut [bool], other: &[bool]) {
    let class = |line: usize| classes[line - 1];
    let end = classes.len() + 1;
    let (mut line, mut beside) = (1, 1);
    loop {
        // Finds the next run, and the line beside it in the other file.
        while line < end && !changed[line] {
            while other[beside] {
                beside += 1;
            }
            beside += 1;
            line += 1;
        }
        if line == end {
            return;
        }
        let mut start = line;
        while changed[line] {
            line += 1;
        }
        while other[beside] {
            beside += 1;
        }
        let mut corresponding;
        loop {
            let length = line - start;
            while start > 1 && class(start - 1) == class(line - 1) {
                start -= 1;
                line -= 1;
                changed[start] = true;
                changed[line] = false;
                while changed[start - 1] {
                    start -= 1;
                }
                beside -= 1;
                while other[beside] {
                    beside -= 1;
                }
            }
            // The line at which the run ends beside a run of the other file, or `end` if there is none.
            corresponding = if other[beside - 1] { line } else { end };
            while line != end && class(start) == class(line) {
                changed[start] = false;
                changed[line] = true;
                start += 1;
                line += 1;
                while changed[line] {
                    line += 1;
                }
                beside += 1;
                while other[beside] {
                    corresponding = line;
                    beside += 1;
                }
            }
            if length == line - start {
                break;
            }
        }
        while corresponding < line {
            start -= 1;
            line -= 1;
            changed[start] = true;
            changed[line] = false;
            beside -= 1;
            while other[beside] {
                beside -= 1;
            }
        }
    }
}
