//! The resources of this process.

/// One sample, taken while nothing runs.
pub(crate) struct Sample {
    pub(crate) commands: usize,
    /// Resident bytes.
    pub(crate) resident: u64,
    pub(crate) files: usize,
    pub(crate) threads: usize,
}

impl Sample {
    pub(crate) fn take(commands: usize) -> Sample {
        let count = |path| std::fs::read_dir(path).unwrap().count();
        let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
        let pages: u64 = statm.split(' ').nth(1).unwrap().parse().unwrap();
        let resident = pages * rustix::param::page_size() as u64;
        Sample { commands, resident, files: count("/proc/self/fd"), threads: count("/proc/self/task") }
    }
}

/// Returns the growth in bytes from the first sample to the last, by the line of best fit: a single high sample says
/// nothing.
pub(crate) fn growth(samples: &[Sample]) -> f64 {
    let points: Vec<(f64, f64)> =
        samples.iter().map(|sample| (sample.commands as f64, sample.resident as f64)).collect();
    let count = points.len() as f64;
    let (x, y) = (points.iter().map(|p| p.0).sum::<f64>() / count, points.iter().map(|p| p.1).sum::<f64>() / count);
    let above: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    let below: f64 = points.iter().map(|p| (p.0 - x) * (p.0 - x)).sum();
    above / below * (points[points.len() - 1].0 - points[0].0)
}
