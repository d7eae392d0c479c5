//! Programs that a sandbox cannot have: each prints one line with the reason and an exit code that scripts understand.

use isopod_gnu::options::Opt;
use isopod_gnu::program::{Call, Program, Syntax};

/// A program that prints the reason why it does nothing.
const fn refused(name: &'static str, about: &'static str, run: fn(&Call) -> u8) -> Program {
    const NONE: &[Opt] = &[];
    Program { name, operands: &["[ARG]..."], about, syntax: Syntax::Plain, options: NONE, failure: 1, run }
}

macro_rules! refused {
    ($($constant:ident $name:literal $code:literal $why:literal)*) => { $(
        #[doc = concat!("`", $name, "`.")]
        pub(crate) const $constant: Program = refused($name, concat!("Not in this sandbox: ", $why, "."), |call| {
            call.complain($why);
            $code
        });
    )* };
}

refused! {
    APK "apk" 1 "there is no package installation in this sandbox"
    APT "apt" 1 "there is no package installation in this sandbox"
    APT_CACHE "apt-cache" 1 "there is no package installation in this sandbox"
    APT_GET "apt-get" 1 "there is no package installation in this sandbox"
    BREW "brew" 1 "there is no package installation in this sandbox"
    CARGO "cargo" 1 "there is no package installation in this sandbox, and no Rust compiler"
    CONDA "conda" 1 "there is no package installation in this sandbox"
    DNF "dnf" 1 "there is no package installation in this sandbox"
    DPKG "dpkg" 1 "there is no package installation in this sandbox"
    GEM "gem" 1 "there is no package installation in this sandbox"
    NPM "npm" 1 "there is no package installation in this sandbox"
    NPX "npx" 1 "there is no package installation in this sandbox"
    PACMAN "pacman" 1 "there is no package installation in this sandbox"
    PNPM "pnpm" 1 "there is no package installation in this sandbox"
    UV "uv" 1 "there is no package installation in this sandbox"
    YARN "yarn" 1 "there is no package installation in this sandbox"
    YUM "yum" 1 "there is no package installation in this sandbox"
    CURL "curl" 6 "the network is off in this sandbox"
    WGET "wget" 4 "the network is off in this sandbox"
    GIT "git" 1 "not in this build"
    MAN "man" 16 "there are no manual pages here: try the program's own --help"
    STTY "stty" 1 "standard input: Inappropriate ioctl for device"
    SU "su" 1 "there is one user in a sandbox, and nobody else to become"
    TOP "top" 1 "there is no terminal to draw on: try ps"
    WATCH "watch" 1 "there is no terminal to draw on: use a loop with sleep"
}
