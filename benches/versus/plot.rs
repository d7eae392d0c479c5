//! The results as SVG: bars on a logarithmic scale for the rows, lines for the curves.

use std::fmt::Write as _;

use crate::results::{Curve, Outcome, Results, Row, Unit};
use crate::rows::{LIVE_ECHO, NEW_ECHO};
use crate::table::{bytes, seconds};

const WIDTH: f64 = 960.0;
const LABELS: f64 = 210.0;
/// Width beside the bars, for their values.
const VALUES: f64 = 110.0;
const BAR: f64 = 18.0;
/// Colours of Isopod and of the others, which differ in lightness too.
const OURS: &str = "#1b6e53";
const THEIRS: &str = "#9aa5ad";
const FAULTY: &str = "#b3362b";

/// The rows of the README's picture.
const HEADLINE: [&str; 2] = [NEW_ECHO, LIVE_ECHO];

/// Draws all rows as bars.
pub fn rows(results: &Results) -> String {
    let mut body = String::new();
    let mut at = 20.0;
    for row in &results.rows {
        // Writing to a string cannot fail.
        let _ = bars(&mut body, row, &mut at);
    }
    document(at, &body)
}

/// Draws the two rows of the README's picture: creating a sandbox, and a command in a live one.
pub fn headline(results: &Results) -> String {
    let mut body = String::new();
    let mut at = 20.0;
    for row in results.rows.iter().filter(|row| HEADLINE.contains(&row.name.as_str())) {
        let _ = bars(&mut body, row, &mut at);
    }
    document(at, &body)
}

/// Draws all curves, two beside each other.
pub fn growth(results: &Results) -> String {
    let (mut body, height) = (String::new(), 250.0);
    for (number, curve) in results.curves.iter().enumerate() {
        let (x, y) = ((number % 2) as f64 * WIDTH / 2.0, (number / 2) as f64 * height);
        let _ = lines(&mut body, curve, x, y);
    }
    document(results.curves.len().div_ceil(2) as f64 * height + 10.0, &body)
}

fn document(height: f64, body: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" width=\"{WIDTH}\" \
         font-family=\"system-ui, sans-serif\" font-size=\"12\" fill=\"#222\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{body}</svg>\n"
    )
}

fn bars(body: &mut String, row: &Row, at: &mut f64) -> std::fmt::Result {
    let medians = row.entries.iter().filter_map(|entry| match &entry.outcome {
        Outcome::Right(sample) => Some(sample.median.max(1e-9)),
        _ => None,
    });
    let (low, high) = medians.fold((f64::MAX, f64::MIN), |(low, high), median| (low.min(median), high.max(median)));
    // The scale begins below the minimum, so that the minimum has a bar too.
    let (from, to) = ((low.log10() - 0.5).floor(), high.log10().max(low.log10() + 0.1));
    let width = |median: f64| ((median.log10() - from) / (to - from)).max(0.0) * (WIDTH - LABELS - VALUES);
    text(body, 8.0, *at + 6.0, "font-weight=\"600\"", &row.name)?;
    *at += 14.0;
    for entry in &row.entries {
        let middle = *at + BAR - 5.0;
        text(body, LABELS - 8.0, middle, "text-anchor=\"end\"", &entry.contender)?;
        match &entry.outcome {
            Outcome::Right(sample) => {
                let (width, colour) = (width(sample.median.max(1e-9)), colour(&entry.contender));
                let height = BAR - 4.0;
                writeln!(
                    body,
                    "<rect x=\"{LABELS}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{height}\" fill=\"{colour}\"/>",
                    *at + 2.0
                )?;
                let value = if row.unit == Unit::Seconds { seconds(sample.median) } else { bytes(sample.median) };
                text(body, LABELS + width + 6.0, middle, "", &value)?;
            }
            Outcome::Wrong(_) => text(body, LABELS, middle, &format!("fill=\"{FAULTY}\""), "WRONG")?,
            Outcome::Unsupported(_) => text(body, LABELS, middle, &format!("fill=\"{FAULTY}\""), "not supported")?,
        }
        *at += BAR;
    }
    *at += 26.0;
    Ok(())
}

fn lines(body: &mut String, curve: &Curve, left: f64, top: f64) -> std::fmt::Result {
    let points = || curve.lines.iter().flat_map(|line| line.points.iter().copied());
    let bounds = |of: fn((f64, f64)) -> f64| {
        let logs = points().map(|point| of(point).max(1e-12).log10());
        let (low, high) = logs.fold((f64::MAX, f64::MIN), |(low, high), log| (low.min(log), high.max(log)));
        // Whole powers of ten, at least one of them.
        (low.floor(), high.ceil().max(low.floor() + 1.0))
    };
    if points().next().is_none() {
        return Ok(());
    }
    let ((x_low, x_high), (y_low, y_high)) = (bounds(|point| point.0), bounds(|point| point.1));
    let (width, height, x0, y0) = (300.0, 170.0, left + 70.0, top + 30.0);
    let x = |size: f64| x0 + (size.log10() - x_low) / (x_high - x_low) * width;
    let y = |time: f64| y0 + height - (time.max(1e-12).log10() - y_low) / (y_high - y_low) * height;
    text(body, left + 8.0, top + 18.0, "font-weight=\"600\"", &format!("{}, by {}", curve.name, curve.of))?;
    for power in x_low as i32..=x_high as i32 {
        let (place, size) = (x(10f64.powi(power)), 10f64.powi(power));
        grid(body, (place, y0), (place, y0 + height))?;
        text(body, place, y0 + height + 15.0, "text-anchor=\"middle\" font-size=\"10\"", &short(size))?;
    }
    for power in y_low as i32..=y_high as i32 {
        let (place, time) = (y(10f64.powi(power)), 10f64.powi(power));
        grid(body, (x0, place), (x0 + width, place))?;
        let label = if power >= 0 { format!("{time:.0} s") } else { seconds_short(time) };
        text(body, x0 - 6.0, place + 4.0, "text-anchor=\"end\" font-size=\"10\"", &label)?;
    }
    for (number, line) in curve.lines.iter().enumerate() {
        let colour = colour(&line.contender);
        let path: Vec<String> =
            line.points.iter().map(|(size, time)| format!("{:.1},{:.1}", x(*size), y(*time))).collect();
        writeln!(
            body,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            path.join(" ")
        )?;
        for (size, time) in &line.points {
            writeln!(body, "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{colour}\"/>", x(*size), y(*time))?;
        }
        let slope = line.slope().map_or(String::new(), |slope| format!(", slope {slope:.2}"));
        let place = y0 + height + 32.0;
        let indent = x0 - 60.0 + number as f64 * 215.0;
        text(body, indent, place, &format!("fill=\"{colour}\""), &format!("{}{slope}", line.contender))?;
    }
    Ok(())
}

fn grid(body: &mut String, from: (f64, f64), to: (f64, f64)) -> std::fmt::Result {
    writeln!(
        body,
        "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"#e3e6e8\"/>",
        from.0, from.1, to.0, to.1
    )
}

fn text(body: &mut String, x: f64, y: f64, style: &str, text: &str) -> std::fmt::Result {
    writeln!(body, "<text x=\"{x:.1}\" y=\"{y:.1}\" {style}>{}</text>", escaped(text))
}

/// Returns the colour of a contender; all of Isopod's have the same one.
fn colour(contender: &str) -> &'static str {
    if contender.starts_with("isopod") { OURS } else { THEIRS }
}

fn short(size: f64) -> String {
    match size {
        size if size >= 1e6 => format!("{:.0}M", size / 1e6),
        size if size >= 1e3 => format!("{:.0}k", size / 1e3),
        size => format!("{size:.0}"),
    }
}

fn seconds_short(time: f64) -> String {
    match time * 1e6 {
        us if us < 1e3 => format!("{} µs", (us * 10.0).round() / 10.0),
        us => format!("{:.0} ms", us / 1e3),
    }
}

/// Escapes text for XML and HTML.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
