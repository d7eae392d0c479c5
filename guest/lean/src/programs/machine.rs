//! `uptime`, `free` and `df`: time, memory and space of the machine, from `/proc`.

use std::time::{SystemTime, UNIX_EPOCH};

use isopod_gnu::calendar::Date;
use isopod_gnu::human::Unit;
use isopod_gnu::options::Opt;
use isopod_gnu::output::{Out, read_file};
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote::name;
use isopod_sys::{files, text};

/// `uptime`.
pub(crate) const UPTIME: Program = Program {
    name: "uptime",
    operands: &["[OPTION]"],
    about: "Tell how long the sandbox has been running.",
    syntax: Syntax::Mixed,
    options: &[Opt::flag('p', "pretty", "show uptime in pretty format"), Opt::flag('s', "since", "system up since")],
    failure: 1,
    run: uptime,
};

/// `free`.
pub(crate) const FREE: Program = Program {
    name: "free",
    operands: &["[OPTION]..."],
    about: "Display amount of free and used memory.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('b', "bytes", "show output in bytes"),
        Opt::flag('k', "kibi", "show output in kibibytes (default)"),
        Opt::flag('m', "mebi", "show output in mebibytes"),
        Opt::flag('g', "gibi", "show output in gibibytes"),
        Opt::flag('h', "human", "show human-readable output"),
        Opt::flag('t', "total", "show total for RAM + swap"),
        Opt::flag('w', "wide", "(accepted)"),
    ],
    failure: 1,
    run: free,
};

/// `df`.
pub(crate) const DF: Program = Program {
    name: "df",
    operands: &["[OPTION]... [FILE]..."],
    about: "Show information about the file systems.  Their sizes are not known here: they are shown as '-'.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('a', "all", "include pseudo file systems"),
        Opt::flag('B', "block-size", "scale sizes by SIZE before printing them").takes("SIZE"),
        Opt::flag('h', "human-readable", "print sizes in powers of 1024"),
        Opt::flag('H', "si", "print sizes in powers of 1000"),
        Opt::flag('i', "inodes", "list inode information instead of block usage"),
        Opt::letter('k', "k", "like --block-size=1K"),
        Opt::letter('m', "m", "like --block-size=1M"),
        Opt::flag('l', "local", "limit listing to local file systems"),
        Opt::flag('P', "portability", "use the POSIX output format"),
        Opt::flag('T', "print-type", "print file system type"),
        Opt::flag('t', "type", "limit listing to file systems of type TYPE").takes("TYPE"),
        Opt::flag('x', "exclude-type", "limit listing to file systems not of type TYPE").takes("TYPE"),
    ],
    failure: 1,
    run: df,
};

fn proc_text(path: &str) -> String {
    String::from_utf8_lossy(&read_file(path, 1 << 20).unwrap_or_default()).into_owned()
}

fn uptime(call: &Call) -> u8 {
    let text = proc_text("/proc/uptime");
    let up: f64 = text.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0.0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let minutes = up as u64 / 60;
    let (days, hours, rest) = (minutes / 1440, minutes / 60 % 24, minutes % 60);
    if call.has("since") {
        let start = (now.as_secs() - (up as u64).min(now.as_secs())) * 1_000_000_000;
        return call.print(&format!("{}\n", Date::new(start).format("%F %T").unwrap_or_default()));
    }
    if call.has("pretty") {
        let part = |count: u64, unit: &str| format!("{count} {unit}{}", if count == 1 { "" } else { "s" });
        let mut parts = Vec::new();
        if days > 0 {
            parts.push(part(days, "day"));
        }
        if hours > 0 {
            parts.push(part(hours, "hour"));
        }
        if rest > 0 || parts.is_empty() {
            parts.push(part(rest, "minute"));
        }
        return call.print(&format!("up {}\n", parts.join(", ")));
    }
    let time = Date::new(now.as_nanos() as u64).format("%H:%M:%S").unwrap_or_default();
    let mut line = format!(" {time} up ");
    if days > 0 {
        line.push_str(&format!("{days} day{}, ", if days == 1 { "" } else { "s" }));
    }
    line.push_str(&if hours > 0 { format!("{hours:2}:{rest:02}") } else { format!("{rest} min") });
    let load = proc_text("/proc/loadavg");
    let loads: Vec<&str> = load.split(' ').take(3).collect();
    let loads = if loads.len() == 3 { loads.join(", ") } else { "0.00, 0.00, 0.00".to_owned() };
    call.print(&format!("{line},  0 user,  load average: {loads}\n"))
}

fn free(call: &Call) -> u8 {
    let text = proc_text("/proc/meminfo");
    let kib = |field: &str| -> u64 {
        let line = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
        line.and_then(|rest| rest.trim().split(' ').next()?.parse().ok()).unwrap_or(0)
    };
    let show = |kib: u64| match call.options.iter().rev().map(|found| found.option).find(|option| *option != "total") {
        Some("bytes") => (kib * 1024).to_string(),
        Some("mebi") => (kib / 1024).to_string(),
        Some("gibi") => (kib / 1024 / 1024).to_string(),
        Some("human") => {
            let text = Unit::Human(1024).text(kib * 1024);
            if kib == 0 { "0B".to_owned() } else { format!("{text}i") }
        }
        _ => kib.to_string(),
    };
    let (total, idle) = (kib("MemTotal"), kib("MemFree"));
    let cache = kib("Buffers") + kib("Cached") + kib("SReclaimable");
    let available = if text.contains("MemAvailable") { kib("MemAvailable") } else { idle };
    let used = total.saturating_sub(available);
    let (swap, swap_free) = (kib("SwapTotal"), kib("SwapFree"));
    let mut table = "               total        used        free      shared  buff/cache   available\n".to_owned();
    let row = |label: &str, values: &[u64]| {
        let cells: String = values.iter().map(|value| format!(" {:>11}", show(*value))).collect();
        format!("{label:<8}{cells}\n")
    };
    table.push_str(&row("Mem:", &[total, used, idle, kib("Shmem"), cache, available]));
    table.push_str(&row("Swap:", &[swap, swap - swap_free.min(swap), swap_free]));
    if call.has("total") {
        table.push_str(&row("Total:", &[total + swap, used + swap - swap_free.min(swap), idle + swap_free]));
    }
    call.print(&table)
}

/// A mounted file system.
struct Mount {
    source: String,
    place: String,
    kind: String,
}

fn df(call: &Call) -> u8 {
    let mounts: Vec<Mount> = proc_text("/proc/mounts")
        .lines()
        .filter_map(|line| {
            let mut fields = line.split(' ').map(str::to_owned);
            Some(Mount { source: fields.next()?, place: fields.next()?, kind: fields.next()? })
        })
        .collect();
    let mut code = 0;
    let mut shown: Vec<&Mount> = Vec::new();
    if call.operands.is_empty() {
        let pseudo = |mount: &Mount| matches!(mount.kind.as_str(), "proc" | "programs" | "devtmpfs");
        shown.extend(mounts.iter().filter(|mount| call.has("all") || !pseudo(mount)));
    }
    for path in &call.operands {
        match files::stat(path, true) {
            Ok(found) => {
                let holds =
                    |mount: &&Mount| files::stat(&mount.place, true).is_ok_and(|place| place.device == found.device);
                shown.extend(mounts.iter().rfind(holds));
            }
            Err(errno) => {
                call.complain(&format!("{}: {}", name(path), text(errno)));
                code = 1;
            }
        }
    }
    shown.retain(|mount| call.value("type").is_none_or(|kind| kind == mount.kind));
    shown.retain(|mount| call.value("exclude-type") != Some(&mount.kind));
    if shown.is_empty() {
        if code == 0 {
            call.complain("no file systems processed");
        }
        return 1;
    }
    let human = call.has("human-readable") || call.has("si");
    let heads: Vec<&str> = match (call.has("inodes"), human, call.has("portability")) {
        (true, ..) => vec!["Inodes", "IUsed", "IFree", "IUse%"],
        (_, true, _) => vec!["Size", "Used", "Avail", "Use%"],
        (_, _, true) => vec!["1024-blocks", "Used", "Available", "Capacity"],
        _ if call.has("m") => vec!["1M-blocks", "Used", "Available", "Use%"],
        _ => vec!["1K-blocks", "Used", "Available", "Use%"],
    };
    let mut rows: Vec<Vec<String>> = vec![vec!["Filesystem".to_owned()]];
    if call.has("print-type") {
        rows[0].push("Type".to_owned());
    }
    rows[0].extend(heads.iter().map(|head| (*head).to_owned()));
    rows[0].push("Mounted on".to_owned());
    for mount in shown {
        let mut row = vec![mount.source.clone()];
        if call.has("print-type") {
            row.push(mount.kind.clone());
        }
        row.extend(heads.iter().map(|_| "-".to_owned()));
        row.push(mount.place.clone());
        rows.push(row);
    }
    let columns = rows[0].len();
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let mut out = Out::new();
    for row in &rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let left = column == 0 || column == 1 && call.has("print-type");
            let least = if column == 0 {
                14
            } else if left || column + 1 == columns {
                0
            } else {
                5
            };
            let width = width(column).max(least);
            line.push_str(&match () {
                () if column + 1 == columns => cell.clone(),
                () if left => format!("{cell:<width$} "),
                () => format!("{cell:>width$} "),
            });
        }
        out.push(format!("{line}\n").as_bytes());
    }
    call.finish(out, code)
}
