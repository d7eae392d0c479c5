//! The kernel's calls below the bindings: any numbers for pointers, lengths, flags and enumerations.
//!
//! A value that the component model refuses ends the process; any other call returns an answer. Only this process may
//! be affected, never the host.

#![allow(unsafe_code, reason = "the point is to call what the bindings would never call")]

use crate::random::Random;

/// A random value of a core type.
trait Any {
    fn any(random: &mut Random) -> Self;
}

impl Any for i32 {
    fn any(random: &mut Random) -> i32 {
        match random.below(4) {
            // Addresses within memory reach more than the first check.
            0 => random.below(1 << 20) as i32 & !7,
            _ => random.number() as i32,
        }
    }
}

impl Any for i64 {
    fn any(random: &mut Random) -> i64 {
        random.number() as i64
    }
}

/// The name of a call, and a function that makes it with random values.
type Call = (&'static str, fn(&mut Random));

/// Declares the imports of an interface as the canonical ABI flattens them, and lists them with a caller for each.
macro_rules! calls {
    ($list:ident, $module:literal, $interface:literal: $($name:literal $call:ident($($value:ty),*);)*) => {
        #[link(wasm_import_module = $module)]
        unsafe extern "C" {
            $(#[link_name = $name] fn $call($(_: $value),*);)*
        }
        const $list: &[Call] = &[
            // SAFETY: none is promised. The host may write its answer anywhere in this process's memory, which is all
            // that this process can lose.
            $((concat!($interface, ".", $name), |_random| unsafe { $call($(<$value>::any(_random)),*) })),*
        ];
    };
}

calls! { FILES, "isopod:kernel/files@0.1.0", "files":
    "open" open(i32, i32, i32, i32, i32);
    "read" read(i32, i32, i32, i64, i32);
    "write" write(i32, i32, i32, i32);
    "seek" seek(i32, i64, i32, i32);
    "pipe" pipe(i32);
    "close" close(i32, i32);
    "stat" stat(i32, i32, i32, i32);
    "stat-fd" stat_fd(i32, i32);
    "list-dir" list_dir(i32, i32, i32, i32);
    "list-more" list_more(i32, i32, i32);
    "chmod" chmod(i32, i32, i32, i32, i32);
    "chown" chown(i32, i32, i32, i32, i32, i32, i32, i32);
}

calls! { PROCESS, "isopod:kernel/process@0.1.0", "process":
    "spawn" spawn(i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32);
    "wait" wait(i32, i32, i32, i64, i32);
    "kill" kill(i32, i32, i32);
    "on-signal" on_signal(i32, i32, i32);
    "pending" pending(i32);
    "next-order" next_order(i32, i32);
    "exit" exit(i32);
    "program" program(i32);
    "times" times(i32);
    "payload" payload(i32);
    "cwd" cwd(i32);
    "chdir" chdir(i32, i32, i32);
}

/// Calls that return their answer as a number.
mod answering {
    #[link(wasm_import_module = "isopod:kernel/process@0.1.0")]
    unsafe extern "C" {
        #[link_name = "id"]
        pub(super) fn id() -> i32;
        #[link_name = "parent"]
        pub(super) fn parent() -> i32;
        #[link_name = "umask"]
        pub(super) fn umask(mask: i32) -> i32;
    }
}

const ANSWERING: &[Call] = &[
    // SAFETY: numbers in, numbers out.
    ("process.id", |_| _ = unsafe { answering::id() }),
    // SAFETY: the same.
    ("process.parent", |_| _ = unsafe { answering::parent() }),
    // SAFETY: the same.
    ("process.umask", |random| _ = unsafe { answering::umask(i32::any(random)) }),
];

/// Every call of the kernel.
fn all() -> impl Iterator<Item = &'static Call> {
    FILES.iter().chain(PROCESS).chain(ANSWERING)
}

/// Returns the names of all calls.
pub(crate) fn names() -> Vec<&'static str> {
    all().map(|(name, _)| *name).collect()
}

/// Makes one call over and over, with other values each time, as long as the process lives.
pub(crate) fn call(name: &str, seed: u64, count: u64) {
    let (_, call) = all().find(|(known, _)| *known == name).unwrap();
    let mut random = Random::new(seed);
    for _ in 0..count {
        call(&mut random);
    }
}
