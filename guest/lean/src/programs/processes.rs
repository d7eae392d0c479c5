//! `ps`, `pgrep` and `pkill`: the processes of the sandbox, from `/proc`.

use isopod_gnu::accounts;
use isopod_gnu::options::Opt;
use isopod_gnu::output::{Out, read_file};
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::signals;
use isopod_sys::{files, process, text};

/// `ps`.
pub(crate) const PS: Program = Program {
    name: "ps",
    operands: &["[aux] [-ef] [-p PIDS] [-o FORMAT]"],
    about: "Report the processes of the sandbox.\n\
            FORMAT is a list of pid, ppid, user, uid, tty, stat, time, comm, args, cmd, %cpu, %mem.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::letter('e', "e", "all processes (all are the user's)"),
        Opt::letter('A', "A", "same as -e"),
        Opt::letter('a', "a", "same as -e"),
        Opt::letter('x', "x", "(accepted)"),
        Opt::letter('f', "f", "full format"),
        Opt::letter('l', "l", "(accepted)"),
        Opt::letter('w', "w", "(accepted: nothing is cut)"),
        Opt::letter('u', "u", "only of this user").may_take("USER"),
        Opt::flag('p', "pid", "only these").takes("PIDS"),
        Opt::flag('o', "format", "columns").takes("FORMAT"),
        Opt::long("no-headers", "no line of headings"),
        Opt::long("sort", "(accepted: the order is by pid)").takes("KEY"),
    ],
    failure: 1,
    run: |call| ps(call).unwrap_or_else(|code| code),
};

const FIND_OPTIONS: &[Opt] = &[
    Opt::flag('f', "full", "use the full command line to match"),
    Opt::flag('x', "exact", "match exactly with the command name"),
    Opt::flag('i', "ignore-case", "match case insensitively"),
    Opt::flag('l', "list-name", "list PID and process name"),
    Opt::flag('a', "list-full", "list PID and full command line"),
    Opt::flag('c', "count", "count of matching processes"),
    Opt::flag('n', "newest", "select most recently started"),
    Opt::flag('o', "oldest", "select least recently started"),
    Opt::flag('u', "euid", "(accepted: all are the user's)").takes("ID"),
    Opt::flag('P', "parent", "only children of this one").takes("PPID"),
    Opt::long("signal", "signal to send").takes("SIGNAL"),
];

/// `pgrep`.
pub(crate) const PGREP: Program = Program {
    name: "pgrep",
    operands: &["[options] <pattern>"],
    about: "Look up processes by a part of their name.",
    syntax: Syntax::Mixed,
    options: FIND_OPTIONS,
    failure: 2,
    run: |call| find(call, None).unwrap_or_else(|code| code),
};

/// `pkill`.
pub(crate) const PKILL: Program = Program {
    name: "pkill",
    operands: &["[-SIGNAL] [options] <pattern>"],
    about: "Signal processes by a part of their name.",
    syntax: Syntax::Own,
    options: FIND_OPTIONS,
    failure: 2,
    run: |call| kill(call).unwrap_or_else(|code| code),
};

/// A process, as `/proc` shows it.
struct Process {
    pid: u32,
    parent: u32,
    args: Vec<String>,
}

impl Process {
    fn name(&self) -> &str {
        let first = self.args.first().map_or("?", String::as_str);
        first.rsplit('/').next().unwrap_or(first)
    }
}

/// Returns the processes of `/proc`; if it lists none, this one.
fn processes() -> Vec<Process> {
    let mut found: Vec<Process> = Vec::new();
    for name in files::read_dir("/proc").unwrap_or_default() {
        let Ok(pid) = name.parse() else { continue };
        let bytes = read_file(&format!("/proc/{pid}/cmdline"), 1 << 16).unwrap_or_default();
        let args = bytes.split(|byte| *byte == 0).filter(|arg| !arg.is_empty());
        let args = args.map(|arg| String::from_utf8_lossy(arg).into_owned()).collect();
        let stat = read_file(&format!("/proc/{pid}/stat"), 1 << 12).unwrap_or_default();
        let stat = String::from_utf8_lossy(&stat).into_owned();
        let parent = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)?.parse().ok());
        found.push(Process { pid, parent: parent.unwrap_or(0), args });
    }
    if found.is_empty() {
        let parent = process::parent();
        if parent != 0 {
            found.push(Process { pid: parent, parent: 0, args: vec!["sh".to_owned()] });
        }
        found.push(Process { pid: process::id(), parent, args: std::env::args().collect() });
    }
    found.sort_by_key(|process| process.pid);
    found
}

fn ps(call: &Call) -> Result<u8, u8> {
    // BSD's options have no dash.
    let mut bsd_user = false;
    for operand in &call.operands {
        if !operand.bytes().all(|byte| b"auxwef".contains(&byte)) {
            return Err(call.misused(&format!("unsupported option -- '{operand}'")));
        }
        bsd_user |= operand.contains('u');
    }
    let user = accounts::user_name(accounts::USER).unwrap_or_else(|| accounts::USER.to_string());
    let columns: Vec<&str> = match call.value("format") {
        Some(list) => list.split([',', ' ']).collect(),
        None if bsd_user => vec!["user", "pid", "%cpu", "%mem", "vsz", "rss", "tty", "stat", "start", "time", "args"],
        None if call.has("f") => vec!["user", "pid", "ppid", "c", "stime", "tty", "time", "args"],
        None => vec!["pid", "tty", "time", "comm"],
    };
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut heads = Vec::new();
    for column in &columns {
        let (name, head) = column.split_once('=').map_or((*column, None), |(name, head)| (name, Some(head)));
        let usual = match heading(call, name, bsd_user) {
            Some(heading) => heading,
            None => return Err(call.misused(&format!("unknown user-defined format specifier \"{name}\""))),
        };
        heads.push(head.unwrap_or(usual).to_owned());
    }
    let wanted: Option<Vec<u32>> =
        call.value("pid").map(|list| list.split([',', ' ']).filter_map(|pid| pid.parse().ok()).collect());
    for process in processes() {
        if wanted.as_ref().is_some_and(|wanted| !wanted.contains(&process.pid)) {
            continue;
        }
        let cell = |column: &&str| match column.split('=').next().unwrap_or(column) {
            "user" | "euser" => user.clone(),
            "pid" => process.pid.to_string(),
            "ppid" => process.parent.to_string(),
            "uid" => accounts::USER.to_string(),
            "%cpu" | "pcpu" | "%mem" | "pmem" => "0.0".to_owned(),
            "vsz" | "rss" | "c" => "0".to_owned(),
            "tty" | "tt" => "?".to_owned(),
            "stat" | "s" | "state" => if process.pid == process::id() { "R" } else { "S" }.to_owned(),
            "start" | "stime" | "start_time" | "lstart" => "00:00".to_owned(),
            "time" if bsd_user => "0:00".to_owned(),
            "time" => "00:00:00".to_owned(),
            "etime" => "00:00".to_owned(),
            "comm" => process.name().to_owned(),
            _ => process.args.join(" "),
        };
        rows.push(columns.iter().map(cell).collect());
    }
    let found = !rows.is_empty();
    let headed = !call.has("no-headers") && heads.iter().any(|head| !head.is_empty());
    if headed {
        rows.insert(0, heads);
    }
    let out = table(&columns, &rows);
    Ok(call.finish(out, u8::from(!found)))
}

/// Lays rows out in columns, numbers to the right.
fn table(columns: &[&str], rows: &[Vec<String>]) -> Out {
    let mut out = Out::new();
    let least = |column: &str| match column {
        "pid" | "ppid" => 7,
        "user" | "tty" | "time" => 8,
        _ => 0,
    };
    for row in rows {
        let mut line = String::new();
        for (index, cell) in row.iter().enumerate() {
            let name = columns[index].split('=').next().unwrap_or_default();
            let width = rows.iter().map(|row| row[index].len()).max().unwrap_or(0).max(least(name));
            let left = matches!(name, "user" | "euser" | "tty" | "tt" | "stat" | "comm" | "args" | "cmd" | "command");
            line.push_str(&match () {
                () if index + 1 == row.len() && left => cell.clone(),
                () if left => format!("{cell:<width$}"),
                () => format!("{cell:>width$}"),
            });
            if index + 1 < row.len() {
                line.push(' ');
            }
        }
        out.push(format!("{}\n", line.trim_end()).as_bytes());
    }
    out
}

/// Returns the usual heading of a column of `ps`.
fn heading(call: &Call, name: &str, bsd_user: bool) -> Option<&'static str> {
    Some(match name {
        "user" if call.has("f") => "UID",
        "user" | "euser" => "USER",
        "pid" => "PID",
        "ppid" => "PPID",
        "uid" => "UID",
        "%cpu" | "pcpu" => "%CPU",
        "%mem" | "pmem" => "%MEM",
        "vsz" => "VSZ",
        "rss" => "RSS",
        "tty" | "tt" => "TTY",
        "stat" | "s" | "state" => "STAT",
        "start" | "stime" | "start_time" | "lstart" => {
            if bsd_user {
                "START"
            } else {
                "STIME"
            }
        }
        "time" => "TIME",
        "etime" => "ELAPSED",
        "c" => "C",
        "comm" => {
            if call.value("format").is_some() {
                "COMMAND"
            } else {
                "CMD"
            }
        }
        "args" | "cmd" | "command" => {
            if bsd_user || call.value("format").is_some() && name != "cmd" {
                "COMMAND"
            } else {
                "CMD"
            }
        }
        _ => return None,
    })
}

fn kill(call: &Call) -> Result<u8, u8> {
    let mut operands = call.operands.clone();
    let given = operands.first().and_then(|first| signals::parse(first.strip_prefix('-')?));
    if given.is_some() {
        operands.remove(0);
    }
    let read = call.read_operands(operands, true)?;
    let signal = match read.value("signal") {
        Some(name) => signals::parse(name).ok_or_else(|| read.misused(&format!("invalid signal \"{name}\"")))?,
        None => given.unwrap_or(signals::TERM),
    };
    find(&read, Some(signal))
}

fn find(call: &Call, signal: Option<u8>) -> Result<u8, u8> {
    let pattern = match call.operands.as_slice() {
        [pattern] => pattern.clone(),
        [] if call.has("parent") || call.has("euid") => String::new(),
        [] => return Err(call.misused("no matching criteria specified")),
        _ => return Err(call.misused("only one pattern can be provided")),
    };
    // Other regular expressions than plain text are not supported.
    if pattern.contains(['*', '[', '(', '|', '+', '?', '\\', '$', '^']) {
        call.complain("unsupported: a pattern that is more than a plain text");
        return Err(2);
    }
    let parent: Option<u32> = call.value("parent").and_then(|text| text.parse().ok());
    let fold = |text: &str| if call.has("ignore-case") { text.to_lowercase() } else { text.to_owned() };
    let mut found: Vec<Process> = processes();
    found.retain(|process| {
        let text = if call.has("full") { process.args.join(" ") } else { process.name().to_owned() };
        let fits =
            if call.has("exact") { fold(&text) == fold(&pattern) } else { fold(&text).contains(&fold(&pattern)) };
        fits && process.pid != process::id() && parent.is_none_or(|parent| parent == process.parent)
    });
    if call.has("newest") {
        found = found.pop().into_iter().collect();
    } else if call.has("oldest") {
        found.truncate(1);
    }
    let mut out = Out::new();
    let mut code = u8::from(found.is_empty());
    for process in &found {
        match signal {
            Some(signal) => {
                if let Err(errno) = process::kill(process.pid, signal) {
                    call.complain(&format!("killing pid {} failed: {}", process.pid, text(errno)));
                    code = 1;
                }
            }
            None if call.has("count") => {}
            None if call.has("list-full") => {
                out.push(format!("{} {}\n", process.pid, process.args.join(" ")).as_bytes());
            }
            None if call.has("list-name") => out.push(format!("{} {}\n", process.pid, process.name()).as_bytes()),
            None => out.push(format!("{}\n", process.pid).as_bytes()),
        }
    }
    if call.has("count") {
        out.push(format!("{}\n", found.len()).as_bytes());
    }
    Ok(call.finish(out, code))
}
