//! The machine: its kernel, its cores, its limits.

#![allow(clippy::disallowed_methods, reason = "looks at the host for its owner")]

use isopod::wall::{self, Coverage};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::process::{Resource, getrlimit};

use super::Finding;

/// Kernel mappings of a process below which a pool may not fit: Linux's own default.
const MAPPINGS: u64 = 65_530;
/// Open files below which a provider's sandboxes soon have none left: three each, and a hundred sandboxes.
const OPEN_FILES: u64 = 512;
/// Open files without which nothing runs.
const FEW_OPEN_FILES: u64 = 32;
/// Address space that the memory of a process takes, however little of it is there.
const PROCESS_GIB: u64 = 4;

pub(super) fn findings() -> Vec<Finding> {
    let system = rustix::system::uname();
    let release = system.release().to_string_lossy().into_owned();
    let mut findings =
        vec![Finding::ok("kernel", format!("Linux {release} on {}", system.machine().to_string_lossy()))];
    findings.extend([openat2(), pagemap(&release), mappings(), address_space(), open_files(), cores()]);
    findings.extend(walls());
    findings
}

fn openat2() -> Finding {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match rustix::fs::openat2(CWD, ".", flags, Mode::empty(), ResolveFlags::BENEATH) {
        Ok(_) => Finding::ok("openat2", "the kernel itself confines paths in mounted directories"),
        Err(error) => {
            let text = format!("{error}: paths in mounted directories are confined name by name, as safely and slower");
            Finding::note("openat2", text)
        }
    }
}

/// It came with Linux 6.7. The runtime tries it once and goes without.
fn pagemap(release: &str) -> Finding {
    let mut numbers = release.split(|char: char| !char.is_ascii_digit()).map_while(|number| number.parse::<u32>().ok());
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    match (version >= (6, 7), std::fs::File::open("/proc/self/pagemap").is_ok()) {
        (true, true) => Finding::ok("pagemap scan", "memory of processes is cleaned page by touched page"),
        (true, false) => {
            Finding::note("pagemap scan", "/proc is out of reach: cleaning up after a process takes longer")
        }
        _ => Finding::note("pagemap scan", "not before Linux 6.7: cleaning up after a process takes longer"),
    }
}

fn mappings() -> Finding {
    let text = std::fs::read_to_string("/proc/sys/vm/max_map_count").unwrap_or_default();
    match text.trim().parse::<u64>() {
        Ok(count) if count < MAPPINGS => {
            Finding::note("memory maps", format!("{count} (vm.max_map_count): fewer processes at the same time"))
        }
        Ok(count) => Finding::ok("memory maps", format!("{count} (vm.max_map_count)")),
        Err(_) => Finding::note("memory maps", "unknown: /proc/sys is out of reach"),
    }
}

fn address_space() -> Finding {
    match getrlimit(Resource::As).current {
        None => Finding::ok(
            "address space",
            "unlimited: a long-lived host has a pool, and a process starts in microseconds",
        ),
        Some(bytes) => {
            let gib = bytes >> 30;
            let text = format!("{gib} GiB (ulimit -v): no pool, and {} processes at the same time", gib / PROCESS_GIB);
            Finding::note("address space", text)
        }
    }
}

fn open_files() -> Finding {
    let count = getrlimit(Resource::Nofile).current;
    match count {
        Some(count) if count < FEW_OPEN_FILES => {
            Finding::problem("open files", format!("{count} (ulimit -n): too few"))
        }
        Some(count) if count < OPEN_FILES => {
            Finding::note("open files", format!("{count} (ulimit -n): about {} sandboxes of a provider", count / 4))
        }
        Some(count) => Finding::ok("open files", format!("{count} (ulimit -n)")),
        None => Finding::ok("open files", "unlimited"),
    }
}

fn cores() -> Finding {
    match std::thread::available_parallelism() {
        Ok(cores) if cores.get() == 1 => Finding::note("cores", "1: the stages of a pipeline take turns"),
        Ok(cores) => Finding::ok("cores", cores.to_string()),
        Err(error) => Finding::note("cores", format!("unknown: {error}")),
    }
}

/// Checks the parts of a second wall.
fn walls() -> Vec<Finding> {
    let report = match wall::support() {
        Ok(report) => report,
        Err(error) => return vec![Finding::problem("second wall", error.to_string())],
    };
    let finding = |name, coverage: &Coverage, whole: String| match coverage {
        Coverage::Whole => Finding::ok(name, whole),
        _ => Finding::note(name, coverage.to_string()),
    };
    let files =
        format!("version {}: --wall keeps files, ports and signals of the host out of reach", report.landlock_abi);
    let calls = "--wall refuses other programs, mounts, other processes and the like".to_owned();
    vec![finding("landlock", &report.landlock, files), finding("seccomp", &report.seccomp, calls)]
}
