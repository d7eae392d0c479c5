//! The goals. A goal whose rows were not measured is reported as such; it is neither met nor missed.

use crate::backends::{self, GNU_GREP, ON_HOST};
use crate::bashkit;
use crate::containers::{DOCKER_EXEC, DOCKER_RUN};
use crate::isopod_shells::{LIVE, WARM};
use crate::many::IDLE;
use crate::options::Options;
use crate::programs::{BASH, BUBBLEWRAP, COMMAND_LINE, DASH};
use crate::results::{Goal, Results, Unit};
use crate::rows::{LIVE_ECHO, NEW_ECHO, PIPES, SPAWN, STEPS, TOOLS, grep_name, row_trees};

/// The bound of a ratio.
enum Bound {
    /// The other one takes at least this many times as long.
    Faster(f64),
    /// Isopod takes at most this many times as long as the other one.
    Within(f64),
}

/// Returns all goals of this run.
pub fn check(options: &Options, results: &Results) -> Vec<Goal> {
    use Bound::{Faster, Within};
    let one = |row: &str, us: &str, bound: Bound, them: &str| compare(results, row, us, &bound, them);
    let mut goals = vec![
        one(LIVE_ECHO, WARM, Faster(15.0), DASH),
        one(LIVE_ECHO, WARM, Faster(1000.0), DOCKER_EXEC),
        one(LIVE_ECHO, WARM, Within(1.0), bashkit::NEW),
        one(LIVE_ECHO, LIVE, Within(1.5), bashkit::LIVE),
        one(NEW_ECHO, COMMAND_LINE, Within(1.0), BUBBLEWRAP),
        one(NEW_ECHO, COMMAND_LINE, Faster(50.0), DOCKER_RUN),
        one(SPAWN, WARM, Faster(5.0), DASH),
        one(STEPS, WARM, Within(2.0), DASH),
        one(STEPS, WARM, Within(1.0), BASH),
    ];
    let tools = results.rows.iter().filter(|row| row.group == TOOLS);
    goals.extend(tools.map(|row| one(&row.name, WARM, Within(2.0), DASH)));
    goals.extend(row_trees(options).map(|files| one(&grep_name(files), WARM, Within(2.0), DASH)));
    goals.push(one(&backends::grep_name(options), ON_HOST, Within(1.0), GNU_GREP));
    goals.push(one(PIPES, WARM, Within(1.0), DASH));
    goals.extend(results.rows.iter().filter(|row| row.unit == Unit::Bytes).map(|row| {
        let found = row.median(IDLE).map(|bytes| bytes / 1024.0);
        let met = found.as_ref().ok().map(|kib| *kib <= 8.0);
        Goal { what: format!("{}: at most 8 KiB", row.name), found, met }
    }));
    goals.extend(results.curves.iter().map(|curve| {
        let most = curve.most();
        let what = format!("growth of {}: a slope of at most {most}", curve.name);
        let slope = curve.lines.first().and_then(crate::results::Line::slope);
        let met = slope.map(|slope| slope <= most);
        Goal { what, found: slope.ok_or("too few sizes were measured".to_owned()), met }
    }));
    goals
}

fn compare(results: &Results, row: &str, us: &str, bound: &Bound, them: &str) -> Goal {
    let medians = results.row(row).ok_or_else(|| "it was not measured".to_owned()).and_then(|row| {
        // A wrong answer of Isopod is a missed goal, and not one that is left out.
        Ok((row.median(us), row.median(them)?))
    });
    let (what, ratio): (String, fn(f64, f64) -> f64) = match bound {
        Bound::Faster(by) => (format!("{row}: {us} at least {by} × faster than {them}"), |us, them| them / us),
        Bound::Within(times) => (format!("{row}: {us} at most {times} × the time of {them}"), |us, them| us / them),
    };
    match medians {
        Ok((Ok(us), them)) => {
            let found = ratio(us, them);
            let met = match bound {
                Bound::Faster(by) => found >= *by,
                Bound::Within(times) => found <= *times,
            };
            Goal { what, found: Ok(found), met: Some(met) }
        }
        Ok((Err(why), _)) => Goal { what, found: Err(why), met: Some(false) },
        Err(why) => Goal { what, found: Err(why), met: None },
    }
}
