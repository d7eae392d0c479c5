//! A self-contained HTML page: the goals, the plots, the tables, the machine, and the contenders that were left out.

use std::fmt::Write as _;

use crate::plot::{self, escaped};
use crate::results::Results;
use crate::table::{cells, verdict};

const HEAD: &str = "<!doctype html>
<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Isopod and others</title>
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">
<style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222 }
table { border-collapse: collapse; width: 100%; font-size: 13px }
td, th { text-align: left; padding: .2rem .5rem; border-bottom: 1px solid #e3e6e8; vertical-align: top }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
tr.first td { border-top: 2px solid #9aa5ad }
.bad { color: #b3362b; font-weight: 600 } .good { color: #1b6e53 }
svg { max-width: 100%; height: auto }
</style></head><body>
<h1>Isopod and others</h1>
<p>One run, all contenders in turns, every answer checked. Times are medians; ratios are to the first line of each row.</p>
";

pub fn html(results: &Results) -> String {
    let mut page = String::from(HEAD);
    // Writing to a string cannot fail.
    let _ = write_all(&mut page, results);
    page
}

fn write_all(page: &mut String, results: &Results) -> std::fmt::Result {
    writeln!(page, "<table>")?;
    for (name, value) in &results.machine {
        writeln!(page, "<tr><th>{}</th><td>{}</td></tr>", escaped(name), escaped(value))?;
    }
    writeln!(page, "</table>\n<h2>Goals</h2>\n<table>")?;
    for goal in &results.goals {
        let (verdict, found) = verdict(goal);
        let class = match goal.met {
            Some(true) => "good",
            Some(false) => "bad",
            None => "",
        };
        let (what, found) = (escaped(&goal.what), escaped(&found));
        writeln!(
            page,
            "<tr><td class=\"{class}\">{verdict}</td><td>{what}</td><td class=\"number\">{found}</td></tr>"
        )?;
    }
    writeln!(page, "</table>\n<h2>Work</h2>\n{}", plot::rows(results))?;
    writeln!(page, "<h2>How cost grows</h2>\n{}", plot::growth(results))?;
    writeln!(page, "<h2>All numbers</h2>\n<table>")?;
    writeln!(page, "<tr><th>work<th>contender<th>median<th>min<th>p99<th>ratio</tr>")?;
    for row in &results.rows {
        for (number, (entry, cells)) in row.entries.iter().zip(cells(row)).enumerate() {
            let class = if number == 0 { " class=\"first\"" } else { "" };
            let name = if number == 0 { escaped(&row.name) } else { String::new() };
            write!(page, "<tr{class}><td>{name}</td><td>{}</td>", escaped(&entry.contender))?;
            if cells[0].starts_with(|first: char| first.is_ascii_digit()) {
                cells.iter().try_for_each(|cell| write!(page, "<td class=\"number\">{}</td>", escaped(cell)))?;
            } else {
                write!(page, "<td class=\"bad\" colspan=\"4\">{}</td>", escaped(&cells[0]))?;
            }
            writeln!(page, "</tr>")?;
        }
    }
    writeln!(page, "</table>\n<h2>Left out</h2>\n<ul>")?;
    for (what, why) in &results.left_out {
        writeln!(page, "<li>{}: {}</li>", escaped(what), escaped(why))?;
    }
    writeln!(page, "</ul>\n</body></html>")
}
