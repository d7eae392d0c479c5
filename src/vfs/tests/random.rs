//! Random calls with a fixed seed: memory, a directory of the host, and the host's kernel must agree on each.

use super::oracle::Oracle;
use super::{Host, Tree, Vfs, mem};

/// A xorshift generator: the sequence is the same everywhere and for ever.
struct Random(u64);

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

    /// A path of few names, so that calls meet each other.
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

    fn call(&mut self) -> String {
        let path = self.path();
        match self.below(22) {
            0..=2 => format!("mkdir {path}"),
            3 => format!("rmdir {path}"),
            4 => format!("rm {path}"),
            5..=7 => format!("mv {path} {}", self.path()),
            8 => format!("ln {path} {}", self.path()),
            9 => format!("ln-L {path} {}", self.path()),
            10..=11 => format!("ln-s {} {path}", self.target()),
            12 => format!("readlink {path}"),
            13 => format!("{} {path}", self.pick(&["stat", "lstat", "realpath", "ls"])),
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
            19 => format!("cat {path}"),
            20 => format!("truncate {} {path}", self.pick(&["0", "3", "100"])),
            _ => format!("touch {} {path}", self.pick(&["1", "1000000001", "1700000000123456789"])),
        }
    }
}

#[test]
fn memory_host_and_kernel_agree_on_random_calls() {
    for seed in 1..=SEEDS {
        let (mem, host) = (mem(), if seed % 2 == 0 { Host::new() } else { Host::without_openat2() });
        let oracle = Oracle::new();
        // Where the kernel cannot be asked, memory and host must agree at least.
        let reference: &dyn Tree = oracle.as_ref().map_or(&mem, |oracle| oracle);
        let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ seed);
        let mut history = Vec::new();
        for step in 0..STEPS {
            let call = random.call();
            let want = reference.run(&call);
            history.push(format!("{call} => {want}"));
            let trees = if oracle.is_some() { vec![&mem, &host.vfs] } else { vec![&host.vfs] };
            for tree in &trees {
                assert_eq!(tree.run(&call), want, "seed {seed}, step {step}:\n{}", tail(&history));
            }
            if step % 20 == 0 {
                same_trees(reference, &trees, "/", &history);
            }
        }
        host.check_outside();
    }
}

const SEEDS: u64 = 4;
const STEPS: usize = 2000;

fn tail(history: &[String]) -> String {
    history[history.len().saturating_sub(400)..].join("\n")
}

/// Compares everything below `at`.
fn same_trees(reference: &dyn Tree, trees: &[&Vfs], at: &str, history: &[String]) {
    let same = |call: &str| {
        let want = reference.run(call);
        for tree in trees {
            assert_eq!(tree.run(call), want, "{call}:\n{}", tail(history));
        }
        want
    };
    let names = same(&format!("ls {at}"));
    for name in names.trim_matches(['[', ']']).split(' ').filter(|name| !name.is_empty()) {
        let inner = format!("{}/{}", at.trim_end_matches('/'), name.trim_end_matches(['/', '@']));
        same(&format!("lstat {inner}"));
        match name {
            _ if name.ends_with('/') => same_trees(reference, trees, &inner, history),
            _ if name.ends_with('@') => drop(same(&format!("readlink {inner}"))),
            _ => drop(same(&format!("cat {inner}"))),
        }
    }
}
