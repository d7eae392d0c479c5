//! Counters and histograms in the text format of Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::sync::lock;

/// Upper bounds of the buckets, in seconds: from a command in a warm sandbox to the longest command.
const BUCKETS: [f64; 12] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 1.0, 5.0, 30.0, 300.0];

/// The figures since the server started.
#[derive(Default)]
pub(super) struct Metrics {
    /// By method, route and status. Only routes of the server are keys, so a client cannot make the table grow.
    requests: Mutex<BTreeMap<(String, String, u16), Durations>>,
    in_flight: AtomicUsize,
}

/// A gauge: its name, its help text, and the label and value of each sample.
pub(super) type Gauge<'a> = (&'a str, &'a str, &'a [(&'a str, usize)]);

#[derive(Default)]
struct Durations {
    count: u64,
    seconds: f64,
    buckets: [u64; BUCKETS.len()],
}

/// A request in progress. Dropping it counts it down.
pub(super) struct InFlight<'a>(&'a AtomicUsize);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Metrics {
    /// Counts a request in progress.
    pub(super) fn begin(&self) -> InFlight<'_> {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        InFlight(&self.in_flight)
    }

    /// Counts a request that was answered.
    pub(super) fn count(&self, method: &str, route: &str, status: u16, time: Duration) {
        let mut requests = lock(&self.requests);
        let times = requests.entry((method.to_owned(), route.to_owned(), status)).or_default();
        let seconds = time.as_secs_f64();
        times.count += 1;
        times.seconds += seconds;
        let fitting = times.buckets.iter_mut().zip(BUCKETS).filter(|(_, end)| seconds <= *end);
        fitting.for_each(|(bucket, _)| *bucket += 1);
    }

    /// Returns the text, with gauges that others have counted.
    pub(super) fn text(&self, gauges: &[Gauge<'_>]) -> String {
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = self.write(&mut text, gauges);
        text
    }

    fn write(&self, to: &mut String, gauges: &[Gauge<'_>]) -> std::fmt::Result {
        let in_flight = self.in_flight.load(Ordering::Relaxed);
        let own = ("isopod_http_requests_in_flight", "Requests in progress.", &[("", in_flight)][..]);
        for (name, help, values) in [own].iter().chain(gauges) {
            write!(to, "# HELP {name} {help}\n# TYPE {name} gauge\n")?;
            for (label, value) in *values {
                writeln!(to, "{name}{label} {value}")?;
            }
        }
        let name = "isopod_http_request_duration_seconds";
        write!(
            to,
            "# HELP {name} Time from the head of a request to the head of its answer.\n# TYPE {name} histogram\n"
        )?;
        for ((method, route, status), times) in &*lock(&self.requests) {
            let labels = format!("method=\"{method}\",route=\"{route}\",status=\"{status}\"");
            for (end, count) in BUCKETS.iter().zip(times.buckets) {
                writeln!(to, "{name}_bucket{{{labels},le=\"{end}\"}} {count}")?;
            }
            writeln!(to, "{name}_bucket{{{labels},le=\"+Inf\"}} {}", times.count)?;
            writeln!(to, "{name}_sum{{{labels}}} {}", times.seconds)?;
            writeln!(to, "{name}_count{{{labels}}} {}", times.count)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_hold_all_that_was_shorter() {
        let metrics = Metrics::default();
        metrics.count("GET", "/health", 200, Duration::from_millis(2));
        metrics.count("GET", "/health", 200, Duration::from_secs(400));
        let text = metrics.text(&[("isopod_sandboxes", "Sandboxes.", &[("{state=\"warm\"}", 3)])]);
        let name = "isopod_http_request_duration_seconds";
        let labels = "method=\"GET\",route=\"/health\",status=\"200\"";
        for line in [
            "isopod_sandboxes{state=\"warm\"} 3".to_owned(),
            "isopod_http_requests_in_flight 0".to_owned(),
            format!("{name}_bucket{{{labels},le=\"0.001\"}} 0"),
            format!("{name}_bucket{{{labels},le=\"0.0025\"}} 1"),
            format!("{name}_bucket{{{labels},le=\"+Inf\"}} 2"),
            format!("{name}_count{{{labels}}} 2"),
        ] {
            assert!(text.lines().any(|l| l == line), "{line} is not in\n{text}");
        }
    }
}
