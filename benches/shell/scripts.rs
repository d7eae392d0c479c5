//! The measured scripts: small programs with typical constructs, and their output.

/// A script and its output.
pub struct Script {
    pub name: &'static str,
    pub text: &'static str,
    pub answer: &'static str,
    /// True if the script spends its time on processes rather than on computing.
    pub spawns: bool,
    pub speaks: Speaks,
}

/// The language a script is written in.
#[derive(PartialEq, Eq)]
pub enum Speaks {
    /// Features of every shell.
    Posix,
    Bash,
}

const fn posix(name: &'static str, text: &'static str, answer: &'static str) -> Script {
    Script { name, text, answer, spawns: false, speaks: Speaks::Posix }
}

const fn bash(name: &'static str, text: &'static str, answer: &'static str) -> Script {
    Script { name, text, answer, spawns: false, speaks: Speaks::Bash }
}

const fn spawning(name: &'static str, text: &'static str, answer: &'static str) -> Script {
    Script { name, text, answer, spawns: true, speaks: Speaks::Posix }
}

pub const SCRIPTS: [Script; 9] = [
    posix("100,000 arithmetic steps", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo $i", "100000\n"),
    bash("string building", "s=; for ((i=0; i<20000; i++)); do s+=\"$i,\"; done; echo ${#s}", "108890\n"),
    posix(
        "function calls, fib 18",
        "fib() { if [ $1 -lt 2 ]; then r=$1; else fib $(($1-1)); local a=$r; fib $(($1-2)); r=$((a+r)); fi; }
         fib 18; echo $r",
        "2584\n",
    ),
    bash(
        "array fill and walk",
        "for ((i=0; i<20000; i++)); do a[i]=$i; done; for x in \"${a[@]}\"; do ((s+=x)); done; echo $s",
        "199990000\n",
    ),
    bash(
        "array append and index",
        "for ((i=0; i<20000; i++)); do a+=($i); done
         for ((i=0; i<${#a[@]}; i++)); do ((s+=${a[i]})); done; echo $s",
        "199990000\n",
    ),
    posix(
        "while read over 50,000 lines",
        "f=/tmp/isopod-bench-lines; seq 50000 > $f; n=0; while read -r l; do n=$((n+1)); done < $f; rm $f; echo $n",
        "50000\n",
    ),
    bash(
        "parameter operators",
        "for ((i=0; i<5000; i++)); do x=/usr/lib/f$i.tar.gz; y=${x##*/}; z=${y%.gz}; v=${x//\\//_}; done; echo $z $v",
        "f4999.tar _usr_lib_f4999.tar.gz\n",
    ),
    spawning(
        "1,000 command substitutions",
        "i=0; while [ $i -lt 1000 ]; do x=$(echo $i); i=$((i+1)); done; echo $x",
        "999\n",
    ),
    spawning(
        "1,000 spawns of /bin/true",
        "i=0; while [ $i -lt 1000 ]; do /bin/true; i=$((i+1)); done; echo $i",
        "1000\n",
    ),
];
