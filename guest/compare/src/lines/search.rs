//! The shortest edit script after Myers: from both ends at once, in linear space.

use super::discard::Candidates;

/// A part of both sequences to compare. With `minimal`, its edit script has to be the shortest.
struct Part {
    x: (usize, usize),
    y: (usize, usize),
    minimal: bool,
}

/// The point at which a part is cut in two.
struct Cut {
    x: usize,
    y: usize,
    low_minimal: bool,
    high_minimal: bool,
}

/// The least number of steps after which a search can give up.
const EXPENSIVE: isize = 4096;

struct Search<'a> {
    xs: &'a [u32],
    ys: &'a [u32],
    /// The furthest x on each diagonal, from the start and from the end.
    forward: Vec<isize>,
    backward: Vec<isize>,
    /// The index of diagonal 0 in both.
    middle: isize,
    too_expensive: isize,
}

/// Marks the lines that are in only one of the sequences as changed.
pub(super) fn search(
    candidates: &[Candidates; 2],
    equivalents: &[Vec<u32>; 2],
    minimal: bool,
    changed: &mut [Vec<bool>; 2],
) {
    debug_assert!(candidates[0].classes.len() <= equivalents[0].len());
    let (xs, ys) = (&candidates[0].classes, &candidates[1].classes);
    let mut diagonals = xs.len() + ys.len() + 3;
    let size = diagonals;
    let mut too_expensive = 1;
    while diagonals != 0 {
        too_expensive <<= 1;
        diagonals >>= 2;
    }
    let mut search = Search {
        xs,
        ys,
        forward: vec![0; size],
        backward: vec![0; size],
        middle: ys.len() as isize + 1,
        too_expensive: too_expensive.max(EXPENSIVE),
    };
    let mut parts = vec![Part { x: (0, xs.len()), y: (0, ys.len()), minimal }];
    while let Some(mut part) = parts.pop() {
        while part.x.0 < part.x.1 && part.y.0 < part.y.1 && xs[part.x.0] == ys[part.y.0] {
            part.x.0 += 1;
            part.y.0 += 1;
        }
        while part.x.0 < part.x.1 && part.y.0 < part.y.1 && xs[part.x.1 - 1] == ys[part.y.1 - 1] {
            part.x.1 -= 1;
            part.y.1 -= 1;
        }
        if part.x.0 == part.x.1 {
            for line in &candidates[1].lines[part.y.0..part.y.1] {
                changed[1][line + 1] = true;
            }
        } else if part.y.0 == part.y.1 {
            for line in &candidates[0].lines[part.x.0..part.x.1] {
                changed[0][line + 1] = true;
            }
        } else {
            let cut = search.cut(&part);
            parts.push(Part { x: (cut.x, part.x.1), y: (cut.y, part.y.1), minimal: cut.high_minimal });
            parts.push(Part { x: (part.x.0, cut.x), y: (part.y.0, cut.y), minimal: cut.low_minimal });
        }
    }
}

impl Search<'_> {
    fn at(&self, diagonal: isize) -> usize {
        (diagonal + self.middle) as usize
    }

    /// Finds a point on a shortest path through a part, or on a good path if that takes too long.
    fn cut(&mut self, part: &Part) -> Cut {
        let (x_start, x_end) = (part.x.0 as isize, part.x.1 as isize);
        let (y_start, y_end) = (part.y.0 as isize, part.y.1 as isize);
        let (least, most) = (x_start - y_end, x_end - y_start);
        let (forward_middle, backward_middle) = (x_start - y_start, x_end - y_end);
        let (mut forward_low, mut forward_high) = (forward_middle, forward_middle);
        let (mut backward_low, mut backward_high) = (backward_middle, backward_middle);
        let is_odd = (forward_middle - backward_middle) & 1 != 0;
        let (first, last) = (self.at(forward_middle), self.at(backward_middle));
        self.forward[first] = x_start;
        self.backward[last] = x_end;
        let mut cost = 1;
        loop {
            // Extends every diagonal from the start by one step.
            if forward_low > least {
                forward_low -= 1;
                let edge = self.at(forward_low - 1);
                self.forward[edge] = -1;
            } else {
                forward_low += 1;
            }
            if forward_high < most {
                forward_high += 1;
                let edge = self.at(forward_high + 1);
                self.forward[edge] = -1;
            } else {
                forward_high -= 1;
            }
            let mut diagonal = forward_high;
            while diagonal >= forward_low {
                let at = self.at(diagonal);
                let (low, high) = (self.forward[at - 1], self.forward[at + 1]);
                let mut x = if low < high { high } else { low + 1 };
                let mut y = x - diagonal;
                while x < x_end && y < y_end && self.xs[x as usize] == self.ys[y as usize] {
                    x += 1;
                    y += 1;
                }
                self.forward[at] = x;
                if is_odd && backward_low <= diagonal && diagonal <= backward_high && self.backward[at] <= x {
                    return Cut { x: x as usize, y: y as usize, low_minimal: true, high_minimal: true };
                }
                diagonal -= 2;
            }
            // Extends every diagonal from the end by one step.
            if backward_low > least {
                backward_low -= 1;
                let edge = self.at(backward_low - 1);
                self.backward[edge] = isize::MAX;
            } else {
                backward_low += 1;
            }
            if backward_high < most {
                backward_high += 1;
                let edge = self.at(backward_high + 1);
                self.backward[edge] = isize::MAX;
            } else {
                backward_high -= 1;
            }
            let mut diagonal = backward_high;
            while diagonal >= backward_low {
                let at = self.at(diagonal);
                let (low, high) = (self.backward[at - 1], self.backward[at + 1]);
                let mut x = if low < high { low } else { high - 1 };
                let mut y = x - diagonal;
                while x_start < x && y_start < y && self.xs[x as usize - 1] == self.ys[y as usize - 1] {
                    x -= 1;
                    y -= 1;
                }
                self.backward[at] = x;
                if !is_odd && forward_low <= diagonal && diagonal <= forward_high && x <= self.forward[at] {
                    return Cut { x: x as usize, y: y as usize, low_minimal: true, high_minimal: true };
                }
                diagonal -= 2;
            }
            if !part.minimal && cost >= self.too_expensive {
                let forward = (forward_low, forward_high);
                return self.give_up(part, forward, (backward_low, backward_high));
            }
            cost += 1;
        }
    }

    /// Returns the furthest point reached from either side.
    fn give_up(&self, part: &Part, forward: (isize, isize), backward: (isize, isize)) -> Cut {
        let (x_start, x_end) = (part.x.0 as isize, part.x.1 as isize);
        let (y_start, y_end) = (part.y.0 as isize, part.y.1 as isize);
        let (mut forward_sum, mut forward_x) = (-1, 0);
        let mut diagonal = forward.1;
        while diagonal >= forward.0 {
            let mut x = self.forward[self.at(diagonal)].min(x_end);
            let mut y = x - diagonal;
            if y_end < y {
                (x, y) = (y_end + diagonal, y_end);
            }
            if forward_sum < x + y {
                (forward_sum, forward_x) = (x + y, x);
            }
            diagonal -= 2;
        }
        let (mut backward_sum, mut backward_x) = (isize::MAX, 0);
        let mut diagonal = backward.1;
        while diagonal >= backward.0 {
            let mut x = self.backward[self.at(diagonal)].max(x_start);
            let mut y = x - diagonal;
            if y < y_start {
                (x, y) = (y_start + diagonal, y_start);
            }
            if x + y < backward_sum {
                (backward_sum, backward_x) = (x + y, x);
            }
            diagonal -= 2;
        }
        if (x_end + y_end) - backward_sum < forward_sum - (x_start + y_start) {
            let y = (forward_sum - forward_x) as usize;
            Cut { x: forward_x as usize, y, low_minimal: true, high_minimal: false }
        } else {
            let y = (backward_sum - backward_x) as usize;
            Cut { x: backward_x as usize, y, low_minimal: false, high_minimal: true }
        }
    }
}
