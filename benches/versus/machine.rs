//! The machine of the measurement, and the versions of the programs.

#![allow(clippy::disallowed_methods, reason = "the host's own account of itself")]

use std::time::SystemTime;

use crate::field::Field;
use crate::options::Options;
use crate::programs::says;

pub fn describe(options: &Options, field: &Field<'_>) -> Vec<(String, String)> {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cpu = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1)).unwrap_or("unknown");
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kib: f64 = memory.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).unwrap_or_default();
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let is_virtual = if says(&["grep", "-q", "hypervisor", "/proc/cpuinfo"]).is_some() { ", virtual" } else { "" };
    let seconds = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let mut facts = vec![
        ("when", says(&["date", "-u", "-d", &format!("@{seconds}"), "+%Y-%m-%d %H:%M UTC"])),
        ("run", Some(if options.quick { "quick: small sizes, few samples" } else { "full" }.to_owned())),
        ("machine", Some(format!("{cores} cores{is_virtual}, {cpu}, {:.0} GiB", kib / (1 << 20) as f64))),
        ("load before", load.split(' ').next().map(str::to_owned)),
        ("kernel", says(&["uname", "-sr"])),
        ("isopod", Some(env!("CARGO_PKG_VERSION").to_owned())),
        ("native tools", says(&["sort", "--version"]).and_then(|text| text.lines().next().map(str::to_owned))),
        ("python3", says(&["python3", "--version"])),
        ("bubblewrap", says(&["bwrap", "--version"])),
    ];
    if field.container.is_some() {
        facts.push(("docker", says(&["docker", "info", "--format", "{{.ServerVersion}}, storage {{.Driver}}"])));
    }
    facts.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}
