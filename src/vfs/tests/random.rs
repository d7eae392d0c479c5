//! Random calls with fixed seeds: memory, directories of the host, overlays and the kernel of the host must agree on
//! the result of each call, on the times it changes, and on the final tree.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::oracle::Oracle;
use super::overlay::dump_tree;
use super::*;

/// A xorshift generator. Its sequence is the same on every machine.
pub(super) struct Random(pub(super) u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    /// Returns a path of few names, so that calls affect each other.
    fn path(&mut self) -> String {
        let mut path = String::new();
        for _ in 0..=self.below(3) {
            path.push_str(self.pick(&["/", "/", "/", "/", "/", "//", "/./", "/../"]));
            path.push_str(self.pick(&["a", "b", "c", "d"]));
        }
        path.push_str(self.pick(&["", "", "", "", "", "", "", "", "/", "/.", "/..", "//"]));
        path
    }

    fn target(&mut self) -> String {
        match self.below(3) {
            0 => self.path(),
            1 => format!("../{}", &self.path()[1..]),
            _ => self.path()[1..].to_owned(),
        }
    }

    /// Returns a call on paths, or on a file that the session keeps open.
    fn session_call(&mut self) -> String {
        let (slot, path) = (self.below(SLOTS), self.path());
        match self.below(40) {
            0..=1 => format!("hold {slot} {} {path}", self.pick(&["r", "rw", "rwc", "rwct", "wa", "rwac", "w"])),
            2..=3 => format!("h-put {slot} {} {}", self.offset(), self.pick(&["y", "more", "even-longer-text"])),
            4 => format!("h-sum {slot}"),
            5 => format!("h-stat {slot}"),
            6 => format!("h-cut {slot} {}", self.offset()),
            7 => format!("drop {slot}"),
            _ => self.call(),
        }
    }

    /// Returns mostly small offsets, and sometimes one in another chunk.
    fn offset(&mut self) -> &'static str {
        match self.below(6) {
            0 => self.pick(&["65535", "65536", "70000", "131071", "200000"]),
            _ => self.pick(&["0", "1", "5", "100", "511", "512", "513"]),
        }
    }

    pub(super) fn call(&mut self) -> String {
        let path = self.path();
        match self.below(24) {
            0..=2 => format!("mkdir {path}"),
            3 => format!("rmdir {path}"),
            4 => format!("rm {path}"),
            5..=7 => format!("mv {path} {}", self.path()),
            8 => format!("ln {path} {}", self.path()),
            9 => format!("ln-L {path} {}", self.path()),
            10..=11 => format!("ln-s {} {path}", self.target()),
            12 => format!("readlink {path}"),
            13 => format!("{} {path}", self.pick(&["stat", "lstat", "realpath", "ls", "list"])),
            14 => format!("chmod {} {path}", self.pick(&["700", "744", "755", "1777"])),
            15 => format!(
                "open {} {path}",
                self.pick(&["r", "w", "rw", "rd", "rn", "rnd", "rc", "rcx", "wcxn", "rt", "wd"])
            ),
            16..=18 => format!(
                "put {} {path} {}",
                self.pick(&["wct", "wc", "wac", "wcx", "w", "wctn"]),
                self.pick(&["x", "some", "longer-text"])
            ),
            19 => format!("{} {path}", self.pick(&["cat", "sum"])),
            20 => format!("truncate {} {path}", self.offset()),
            21 => format!("put-at {} {path} {}", self.offset(), self.pick(&["z", "text"])),
            22 => format!("touch-h {} {path}", self.pick(&["7", "1700000000987654321"])),
            _ => format!("touch {} {path}", self.pick(&["1", "1000000001", "1700000000123456789"])),
        }
    }
}

/// Number of files that a session can keep open.
const SLOTS: usize = 3;

/// A tree and its open files.
struct Session<'a> {
    tree: &'a dyn Tree,
    held: RefCell<[Option<Box<dyn OpenHandle>>; SLOTS]>,
}

impl<'a> Session<'a> {
    fn new(tree: &'a dyn Tree) -> Session<'a> {
        Session { tree, held: RefCell::default() }
    }
}

impl Tree for Session<'_> {
    fn hold(&self, flags: &str, at: &str) -> Result<Box<dyn OpenHandle>> {
        self.tree.hold(flags, at)
    }

    fn call(&self, words: &[&str]) -> Result<String> {
        let mut held = self.held.borrow_mut();
        match *words {
            ["hold", slot, flags, at] => {
                held[number(slot)] = Some(self.tree.hold(flags, at)?);
                Ok("ok".to_owned())
            }
            ["drop", slot] => Ok(held[number(slot)].take().map_or("none", |_| "ok").to_owned()),
            ["h-put" | "h-sum" | "h-stat" | "h-cut", slot, ..] => {
                let file = held[number(slot)].as_ref().ok_or(Errno::BadDescriptor)?;
                match *words {
                    ["h-put", _, offset, text] => {
                        file.write(offset.parse().unwrap(), text.as_bytes()).map(|wrote| wrote.to_string())
                    }
                    ["h-cut", _, len] => file.cut(len.parse().unwrap()).map(|()| "ok".to_owned()),
                    ["h-stat", _] => file.stat(),
                    _ => file.sum(),
                }
            }
            _ => self.tree.call(words),
        }
    }
}

fn number(slot: &str) -> usize {
    slot.parse().unwrap()
}

/// A tree with a name for messages.
type Named<'a> = (&'static str, &'a Vfs);

/// The calls so far, and the answers of the reference.
struct History {
    calls: Vec<String>,
    /// True if the link counts of directories can be compared.
    counts_links: bool,
}

impl History {
    fn tail(&self) -> String {
        format!("{}\n{}", self.calls[0], self.calls[self.calls.len().saturating_sub(300)..].join("\n"))
    }
}

const SEEDS: u64 = 52;
/// Number of calls of a seed on plain trees, and then on overlays over them.
const PLAIN: usize = 400;
const OVERLAID: usize = 1600;

/// For a long run: `ISOPOD_SEEDS=1000-2000 cargo test --lib random_calls`.
#[test]
fn everything_agrees_with_the_kernel_on_100_000_random_calls() {
    let asked = std::env::var("ISOPOD_SEEDS").ok();
    let (first, last) = match &asked {
        None => (1, SEEDS),
        Some(range) => {
            let (first, last) = range.split_once('-').expect("ISOPOD_SEEDS is FIRST-LAST");
            (first.parse().unwrap(), last.parse().unwrap())
        }
    };
    // Two threads: most of the time is spent in the kernel of the host.
    std::thread::scope(|scope| {
        for part in 0..2 {
            scope.spawn(move || (first..=last).filter(|seed| seed % 2 == part).for_each(run));
        }
    });
}

fn run(seed: u64) {
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ seed);
    let mut history = History { calls: vec![format!("seed {seed}")], counts_links: false };
    let host = if seed.is_multiple_of(2) { Host::new() } else { Host::without_openat2() };
    let (mem, below) = (mem_fs(), mem_fs());
    let mut mem = mount(mem);
    let (under_memory, mut under_host) = (mount(below.clone()), Host::new());
    let oracle = Oracle::new();
    // Without a usable kernel all trees must at least agree with memory.
    let stand_in = mount(mem_fs());
    let reference: &dyn Tree = oracle.as_ref().map_or(&stand_in, |oracle| oracle);
    history.counts_links = oracle.as_ref().is_none_or(Oracle::counts_links);

    let trees =
        [("memory", &mem), ("host", &host.vfs), ("memory below", &under_memory), ("host below", &under_host.vfs)];
    steps(PLAIN, &mut random, reference, &trees, &mut history);

    // From here on also overlays over the current trees, and a fork in place of the original.
    let quota = || Arc::new(Quota::new(&Limits::default()));
    mem = mem.snapshot().fork(&quota()).unwrap();
    let over_memory = Overlay::over_snapshot(&below.snapshot(), quota()).unwrap();
    let over_memory = mount(over_memory.files());
    let before_overlay = dump_tree(&under_host.inside(""));
    let overlay = under_host.overlay();
    let trees = [
        ("fork", &mem),
        ("host", &host.vfs),
        ("overlay over memory", &over_memory),
        ("overlay over host", &under_host.vfs),
    ];
    steps(OVERLAID, &mut random, reference, &trees, &mut history);
    assert_eq!(dump_tree(&under_host.inside("")), before_overlay, "{}", history.tail());

    // The commit equals the view of the overlay.
    overlay.commit().unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    assert!(overlay.diff().unwrap().is_empty());
    let committed = mount(host_dir(&under_host.inside("")));
    let trees = [("overlay", &under_host.vfs), ("committed", &committed)];
    same_trees(reference, &trees, "/", &history);
    host.check_outside();
    under_host.check_outside();
}

fn steps(count: usize, random: &mut Random, reference: &dyn Tree, trees: &[Named<'_>], history: &mut History) {
    let reference = &Session::new(reference);
    let sessions: Vec<(&str, Session<'_>)> = trees.iter().map(|(name, tree)| (*name, Session::new(*tree))).collect();
    for step in 0..count {
        let call = random.session_call();
        // Sometimes the times that a call changes are compared as well.
        let looks = step % 128 == 0;
        let before: Vec<_> = if looks {
            let times = |(_, tree): &Named<'_>| times_below(*tree, "/");
            trees.iter().map(times).collect()
        } else {
            Vec::new()
        };
        let before_reference = looks.then(|| times_below(reference, "/"));
        if looks {
            wait_for_tick();
        }
        let want = reference.run(&call);
        history.calls.push(format!("{call} => {want}"));
        for (name, tree) in &sessions {
            assert_eq!(tree.run(&call), want, "{name}:\n{}", history.tail());
        }
        if let Some(before_reference) = before_reference {
            let want = moved(&before_reference, &times_below(reference, "/"));
            for ((name, tree), before) in trees.iter().zip(before) {
                let got = moved(&before, &times_below(*tree, "/"));
                assert_eq!(got, want, "times in {name}:\n{}", history.tail());
            }
        }
        if step % 100 == 99 || step + 1 == count {
            same_trees(reference, trees, "/", history);
        }
    }
}

/// Waits until the clock for file times has advanced on the host; otherwise a call may set a time to its old value.
fn wait_for_tick() {
    let now = || rustix::time::clock_gettime(rustix::time::ClockId::RealtimeCoarse);
    let start = now();
    while now() == start {
        std::thread::yield_now();
    }
}

/// Returns the inode, the modification time and the change time of every file below `at`.
fn times_below(tree: &dyn Tree, at: &str) -> BTreeMap<String, Vec<u64>> {
    fn visit(tree: &dyn Tree, at: &str, into: &mut BTreeMap<String, Vec<u64>>) {
        let times = tree.run(&format!("times {at}"));
        let numbers = times.split(' ').map(|number| number.parse().unwrap());
        into.insert(at.to_owned(), numbers.collect());
        for name in names(&tree.run(&format!("ls {at}"))) {
            let inner = inner(at, name);
            if name.ends_with('/') {
                visit(tree, &inner, into);
            } else {
                let times = tree.run(&format!("times {inner}"));
                let numbers = times.split(' ').map(|number| number.parse().unwrap());
                into.insert(inner, numbers.collect());
            }
        }
    }
    let mut all = BTreeMap::new();
    visit(tree, at, &mut all);
    all
}

/// Returns the changed times of files that still exist.
fn moved(before: &BTreeMap<String, Vec<u64>>, after: &BTreeMap<String, Vec<u64>>) -> Vec<String> {
    let line = |(path, new): (&String, &Vec<u64>)| {
        let old = before.get(path).filter(|old| old[0] == new[0])?;
        let (modified, changed) = (old[1] != new[1], old[2] != new[2]);
        (modified || changed).then(|| format!("{path} modified {modified} changed {changed}"))
    };
    after.iter().filter_map(line).collect()
}

/// Returns the names in a listing, marked by kind.
fn names(listing: &str) -> impl Iterator<Item = &str> {
    let names = listing.trim_matches(['[', ']']).split(' ');
    names.filter(|name| !name.is_empty())
}

fn inner(at: &str, name: &str) -> String {
    format!("{}/{}", at.trim_end_matches('/'), name.trim_end_matches(['/', '@']))
}

/// Compares everything below `at`.
fn same_trees(reference: &dyn Tree, trees: &[Named<'_>], at: &str, history: &History) {
    let same = |call: &str| {
        let want = reference.run(call);
        for (name, tree) in trees {
            assert_eq!(tree.run(call), want, "{name}, {call}:\n{}", history.tail());
        }
        want
    };
    for name in names(&same(&format!("ls {at}"))) {
        let inner = inner(at, name);
        same(&format!("lstat {inner}"));
        match name {
            _ if name.ends_with('/') => {
                if history.counts_links {
                    same(&format!("links {inner}"));
                }
                same_trees(reference, trees, &inner, history);
            }
            _ if name.ends_with('@') => drop(same(&format!("readlink {inner}"))),
            _ => drop(same(&format!("sum {inner}"))),
        }
    }
}
