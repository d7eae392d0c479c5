//! Lines that the search does without: those that match nothing, and, amid such, those that match too much.

/// What is left of a file for the search: the class of each line, and which line it is.
#[derive(Default)]
pub(super) struct Kept {
    pub classes: Vec<u32>,
    pub lines: Vec<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Keep,
    /// It matches nothing.
    Discard,
    /// It matches many lines: it goes only amid lines that go anyway.
    Maybe,
}

/// Marks lines that match nothing as changed, and returns the others.
pub(super) fn kept(
    equivalents: &[Vec<u32>; 2],
    classes: usize,
    minimal: bool,
    changed: &mut [Vec<bool>; 2],
) -> [Kept; 2] {
    let mut counts = [vec![0usize; classes], vec![0usize; classes]];
    for file in 0..2 {
        for class in &equivalents[file] {
            counts[file][*class as usize] += 1;
        }
    }
    let mut kept = [Kept::default(), Kept::default()];
    for file in 0..2 {
        let mut verdicts = first_verdicts(&equivalents[file], &counts[1 - file]);
        settle(&mut verdicts);
        for (line, verdict) in verdicts.iter().enumerate() {
            if minimal || *verdict == Verdict::Keep {
                kept[file].classes.push(equivalents[file][line]);
                kept[file].lines.push(line);
            } else {
                changed[file][line + 1] = true;
            }
        }
    }
    kept
}

fn first_verdicts(equivalents: &[u32], counts: &[usize]) -> Vec<Verdict> {
    // About five times the square root of the number of lines, over eight.
    let mut many = 5;
    let mut quarter = equivalents.len() >> 8;
    while quarter > 0 {
        many *= 2;
        quarter >>= 2;
    }
    let verdict = |class: &u32| match counts[*class as usize] {
        0 => Verdict::Discard,
        count if count > many => Verdict::Maybe,
        _ => Verdict::Keep,
    };
    equivalents.iter().map(verdict).collect()
}

/// Decides about the doubtful: they stay unless they are few within a stretch that starts and ends with lines that go.
fn settle(verdicts: &mut [Verdict]) {
    let mut at = 0;
    while at < verdicts.len() {
        match verdicts[at] {
            Verdict::Keep => {}
            Verdict::Maybe => verdicts[at] = Verdict::Keep,
            Verdict::Discard => {
                let mut end = at + verdicts[at..].iter().take_while(|verdict| **verdict != Verdict::Keep).count();
                while verdicts[end - 1] == Verdict::Maybe {
                    end -= 1;
                    verdicts[end] = Verdict::Keep;
                }
                let stretch = &mut verdicts[at..end];
                let doubtful = stretch.iter().filter(|verdict| **verdict == Verdict::Maybe).count();
                if doubtful * 4 > stretch.len() {
                    keep_doubtful(stretch);
                    // What was kept may start a new stretch further on: go on right after the first line.
                } else {
                    settle_stretch(stretch);
                    at = end - 1;
                }
            }
        }
        at += 1;
    }
}

fn keep_doubtful(stretch: &mut [Verdict]) {
    for verdict in stretch {
        if *verdict == Verdict::Maybe {
            *verdict = Verdict::Keep;
        }
    }
}

fn settle_stretch(stretch: &mut [Verdict]) {
    // Runs of the doubtful that are long for the stretch stay; about the square root of a quarter is long.
    let mut least = 1;
    let mut quarter = stretch.len() >> 4;
    while quarter > 0 {
        least <<= 1;
        quarter >>= 2;
    }
    least += 1;
    let mut at = 0;
    while at < stretch.len() {
        let run = stretch[at..].iter().take_while(|verdict| **verdict == Verdict::Maybe).count();
        if run >= least {
            keep_doubtful(&mut stretch[at..at + run]);
        }
        at += run.max(1);
    }
    // Near both ends the doubtful stay, until there are three in a row that go.
    let length = stretch.len();
    keep_at_start(length, |index| index, stretch);
    keep_at_start(length, |index| length - 1 - index, stretch);
}

fn keep_at_start(length: usize, place: impl Fn(usize) -> usize, stretch: &mut [Verdict]) {
    let mut row = 0;
    for index in 0..length {
        let verdict = &mut stretch[place(index)];
        if index >= 8 && *verdict == Verdict::Discard {
            break;
        }
        match *verdict {
            Verdict::Maybe => {
                row = 0;
                *verdict = Verdict::Keep;
            }
            Verdict::Keep => row = 0,
            Verdict::Discard => row += 1,
        }
        if row == 3 {
            break;
        }
    }
}
