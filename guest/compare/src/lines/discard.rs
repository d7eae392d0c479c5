//! Lines left out of the search: those without a match, and among them those with too many.

/// The lines of a file that take part in the search: their classes and their numbers.
#[derive(Default)]
pub(super) struct Candidates {
    pub classes: Vec<u32>,
    pub lines: Vec<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Keep,
    /// The line matches no line of the other file.
    Discard,
    /// The line matches many lines. It is discarded only among other discarded lines.
    Maybe,
}

/// Marks discarded lines as changed, and returns the others.
pub(super) fn candidates(
    equivalents: &[Vec<u32>; 2],
    classes: usize,
    minimal: bool,
    changed: &mut [Vec<bool>; 2],
) -> [Candidates; 2] {
    let mut counts = [vec![0usize; classes], vec![0usize; classes]];
    for file in 0..2 {
        for class in &equivalents[file] {
            counts[file][*class as usize] += 1;
        }
    }
    let mut candidates = [Candidates::default(), Candidates::default()];
    for file in 0..2 {
        let mut verdicts = first_verdicts(&equivalents[file], &counts[1 - file]);
        decide_doubtful(&mut verdicts);
        for (line, verdict) in verdicts.iter().enumerate() {
            if minimal || *verdict == Verdict::Keep {
                candidates[file].classes.push(equivalents[file][line]);
                candidates[file].lines.push(line);
            } else {
                changed[file][line + 1] = true;
            }
        }
    }
    candidates
}

fn first_verdicts(equivalents: &[u32], counts: &[usize]) -> Vec<Verdict> {
    // The threshold grows with the square root of the number of lines: 5 below 256 lines, 10 from there, 20 from
    // 1024.
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

/// Decides about the `Maybe` lines. They are kept unless they are few in a stretch that starts and ends with a
/// `Discard` line.
fn decide_doubtful(verdicts: &mut [Verdict]) {
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
                    // A kept line can start a new stretch, so the scan continues right after the first line.
                } else {
                    decide_stretch(stretch);
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

fn decide_stretch(stretch: &mut [Verdict]) {
    // Keeps runs of `Maybe` lines that are long for the stretch: about the square root of a quarter of its length.
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
    // Keeps `Maybe` lines near both ends, up to the first three `Discard` lines in a row.
    let length = stretch.len();
    keep_at_start(length, |index| index, stretch);
    keep_at_start(length, |index| length - 1 - index, stretch);
}

fn keep_at_start(length: usize, position: impl Fn(usize) -> usize, stretch: &mut [Verdict]) {
    let mut row = 0;
    for index in 0..length {
        let verdict = &mut stretch[position(index)];
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
