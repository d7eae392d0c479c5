//! `getent`, `locale`, `tput`, `clear` and `reset`: databases that a sandbox has little of.

use isopod_gnu::options::Opt;
use isopod_gnu::output::{Out, read_file};
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_sys::write_all;

/// `getent`.
pub(crate) const GETENT: Program = Program {
    name: "getent",
    operands: &["[OPTION...] database [key ...]"],
    about: "Get entries from the databases passwd, group and hosts.",
    syntax: Syntax::Mixed,
    options: &[],
    failure: 1,
    run: getent,
};

/// `locale`.
pub(crate) const LOCALE: Program = Program {
    name: "locale",
    operands: &["[OPTION...] [NAME]"],
    about: "Get locale-specific information.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('a', "all-locales", "write names of available locales"),
        Opt::flag('m', "charmaps", "write names of available charmaps"),
    ],
    failure: 1,
    run: locale,
};

/// `tput`.
pub(crate) const TPUT: Program = Program {
    name: "tput",
    operands: &["[-T TYPE] CAPABILITY [PARAMETER]..."],
    about: "Print what a terminal of type $TERM would need: cols, lines, colors, bold, sgr0, setaf N, clear, ...",
    syntax: Syntax::OptionsFirst,
    options: &[Opt::letter('T', "T", "the type of terminal").takes("TYPE")],
    failure: 2,
    run: tput,
};

/// `clear`.
pub(crate) const CLEAR: Program = Program {
    name: "clear",
    operands: &["[OPTION]"],
    about: "Clear the terminal screen.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::letter('x', "x", "do not clear the scrollback"),
        Opt::letter('T', "T", "the type of terminal").takes("TYPE"),
    ],
    failure: 1,
    run: |call| match terminal(call) {
        Some(kind) if is_ansi(&kind) => {
            call.print(if call.has("x") { "\x1b[H\x1b[2J" } else { "\x1b[H\x1b[2J\x1b[3J" })
        }
        Some(_) => 1,
        None => {
            // The message of ncurses, without the program's name.
            let _ = write_all(2, b"TERM environment variable not set.\n");
            1
        }
    },
};

/// `reset`.
pub(crate) const RESET: Program = Program {
    name: "reset",
    operands: &["[OPTION]"],
    about: "Reset the terminal: there is none.",
    syntax: Syntax::Mixed,
    options: &[],
    failure: 1,
    run: |call| {
        call.complain("standard error: Inappropriate ioctl for device");
        1
    },
};

fn getent(call: &Call) -> u8 {
    let Some((database, keys)) = call.operands.split_first() else {
        return call.misused("wrong number of arguments");
    };
    let path = match database.as_str() {
        "passwd" => "/etc/passwd",
        "group" => "/etc/group",
        "hosts" | "ahosts" => "/etc/hosts",
        "shadow" | "services" | "protocols" | "networks" | "ethers" | "netgroup" | "rpc" => return 2,
        other => {
            return call.misused(&format!("Unknown database: {other}"));
        }
    };
    let text = String::from_utf8_lossy(&read_file(path, 1 << 20).unwrap_or_default()).into_owned();
    let mut out = Out::new();
    let mut code = 0;
    if path == "/etc/hosts" {
        let known: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        let local = vec![vec!["127.0.0.1", "localhost"]];
        let known = if known.is_empty() { &local } else { &known };
        for fields in known.iter().filter(|fields| fields.len() > 1 && !fields[0].starts_with('#')) {
            if keys.is_empty() || fields.iter().any(|field| keys.iter().any(|key| key == field)) {
                out.push(format!("{:<15} {}\n", fields[0], fields[1..].join(" ")).as_bytes());
            }
        }
        let found = |key: &String| known.iter().any(|fields| fields.iter().any(|field| field == key));
        code = if keys.iter().all(found) { 0 } else { 2 };
        return call.finish(out, code);
    }
    let mut print = |line: &str| out.push(format!("{line}\n").as_bytes());
    if keys.is_empty() {
        text.lines().for_each(&mut print);
    }
    for key in keys {
        let fits = |line: &&str| {
            let mut fields = line.split(':');
            fields.next() == Some(key.as_str()) || fields.nth(1) == Some(key.as_str())
        };
        match text.lines().find(fits) {
            Some(line) => print(line),
            None => code = 2,
        }
    }
    call.finish(out, code)
}

fn locale(call: &Call) -> u8 {
    if call.has("all-locales") {
        return call.print("C\nC.utf8\nPOSIX\n");
    }
    if call.has("charmaps") {
        return call.print("ANSI_X3.4-1968\nUTF-8\n");
    }
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    if !call.operands.is_empty() {
        let mut out = Out::new();
        for name in &call.operands {
            let value = match name.as_str() {
                "charmap" => "UTF-8",
                "decimal_point" => ".",
                "thousands_sep" => "",
                "LC_CTYPE" | "LC_NUMERIC" | "LC_TIME" | "LC_COLLATE" | "LC_MESSAGES" => "",
                other => {
                    call.complain(&format!("unknown name \"{other}\""));
                    return 1;
                }
            };
            out.push(format!("{value}\n").as_bytes());
        }
        return call.finish(out, 0);
    }
    let (lang, all) = (variable("LANG"), variable("LC_ALL"));
    let mut text = format!("LANG={lang}\nLANGUAGE={}\n", variable("LANGUAGE"));
    let categories = [
        "LC_CTYPE",
        "LC_NUMERIC",
        "LC_TIME",
        "LC_COLLATE",
        "LC_MONETARY",
        "LC_MESSAGES",
        "LC_PAPER",
        "LC_NAME",
        "LC_ADDRESS",
        "LC_TELEPHONE",
        "LC_MEASUREMENT",
        "LC_IDENTIFICATION",
    ];
    for category in categories {
        let own = variable(category);
        let line = match (all.is_empty(), own.is_empty()) {
            (true, false) => format!("{category}={own}\n"),
            (false, _) => format!("{category}=\"{all}\"\n"),
            (true, true) if lang.is_empty() => format!("{category}=\"POSIX\"\n"),
            (true, true) => format!("{category}=\"{lang}\"\n"),
        };
        text.push_str(&line);
    }
    text.push_str(&format!("LC_ALL={all}\n"));
    call.print(&text)
}

fn terminal(call: &Call) -> Option<String> {
    call.value("T").map(str::to_owned).or_else(|| std::env::var("TERM").ok()).filter(|kind| !kind.is_empty())
}

fn is_ansi(kind: &str) -> bool {
    ["xterm", "screen", "tmux", "linux", "vt100", "vt220", "ansi", "rxvt"].iter().any(|known| kind.starts_with(known))
}

fn tput(call: &Call) -> u8 {
    let Some((capability, parameters)) = call.operands.split_first() else {
        return call.misused("missing operand");
    };
    let Some(kind) = terminal(call) else {
        call.complain("No value for $TERM and no -T specified");
        return 2;
    };
    let number =
        |name: &str, default: &str| std::env::var(name).ok().filter(|text| !text.is_empty()).unwrap_or(default.into());
    match capability.as_str() {
        "cols" => return call.print(&format!("{}\n", number("COLUMNS", "80"))),
        "lines" => return call.print(&format!("{}\n", number("LINES", "24"))),
        "colors" if kind.contains("256color") => return call.print("256\n"),
        "colors" if is_ansi(&kind) && !kind.starts_with("vt") => return call.print("8\n"),
        "colors" => return call.print("-1\n"),
        "longname" => return call.print(&kind),
        _ => {}
    }
    let first: u32 = parameters.first().and_then(|text| text.parse().ok()).unwrap_or(0);
    let second: u32 = parameters.get(1).and_then(|text| text.parse().ok()).unwrap_or(0);
    let color = |base: u32, bright: u32| match first {
        0..8 => format!("\x1b[{}m", base + first),
        8..16 => format!("\x1b[{}m", bright + first - 8),
        _ => format!("\x1b[{};5;{first}m", base + 8),
    };
    let text = match capability.as_str() {
        "bold" => "\x1b[1m".to_owned(),
        "dim" => "\x1b[2m".to_owned(),
        "smul" => "\x1b[4m".to_owned(),
        "rmul" => "\x1b[24m".to_owned(),
        "rev" | "smso" => "\x1b[7m".to_owned(),
        "rmso" => "\x1b[27m".to_owned(),
        "blink" => "\x1b[5m".to_owned(),
        "sgr0" => "\x1b(B\x1b[m".to_owned(),
        "op" => "\x1b[39;49m".to_owned(),
        "setaf" => color(30, 90),
        "setab" => color(40, 100),
        "clear" => "\x1b[H\x1b[2J\x1b[3J".to_owned(),
        "el" => "\x1b[K".to_owned(),
        "ed" => "\x1b[J".to_owned(),
        "cr" => "\r".to_owned(),
        "civis" => "\x1b[?25l".to_owned(),
        "cnorm" => "\x1b[?12l\x1b[?25h".to_owned(),
        "sc" => "\x1b7".to_owned(),
        "rc" => "\x1b8".to_owned(),
        "home" => "\x1b[H".to_owned(),
        "cup" => format!("\x1b[{};{}H", first + 1, second + 1),
        other => {
            call.complain(&format!("unknown terminfo capability '{other}'"));
            return 4;
        }
    };
    if is_ansi(&kind) { call.print(&text) } else { 1 }
}
