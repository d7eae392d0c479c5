//! The options of `set` and `shopt`.

use serde::{Deserialize, Serialize};

/// The options of a shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Options {
    set: u32,
    shopt: u64,
}

/// An option of `set`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetOption(u8);

/// An option of `shopt`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shopt(u8);

/// Names and letters of the options of `set`, in the order of `set -o`. Switching on an option marked false is refused,
/// because its effect is not implemented. Options for terminals may be switched, as in a bash without one.
const SET: [(&str, u8, bool); 27] = [
    ("allexport", b'a', true),
    ("braceexpand", b'B', true),
    ("emacs", 0, true),
    ("errexit", b'e', true),
    ("errtrace", b'E', true),
    ("functrace", b'T', true),
    ("hashall", b'h', true),
    ("histexpand", b'H', true),
    ("history", 0, true),
    ("ignoreeof", 0, true),
    ("interactive-comments", 0, true),
    ("keyword", b'k', false),
    ("monitor", b'm', true),
    ("noclobber", b'C', true),
    ("noexec", b'n', true),
    ("noglob", b'f', true),
    ("nolog", 0, true),
    ("notify", b'b', true),
    ("nounset", b'u', true),
    ("onecmd", b't', false),
    ("physical", b'P', true),
    ("pipefail", 0, true),
    ("posix", 0, true),
    ("privileged", b'p', false),
    ("verbose", b'v', true),
    ("vi", 0, true),
    ("xtrace", b'x', true),
];

impl SetOption {
    /// `-a`
    pub const ALLEXPORT: SetOption = SetOption(0);
    /// `-B`
    pub const BRACEEXPAND: SetOption = SetOption(1);
    /// `-e`
    pub const ERREXIT: SetOption = SetOption(3);
    /// `-E`
    pub const ERRTRACE: SetOption = SetOption(4);
    /// `-T`
    pub const FUNCTRACE: SetOption = SetOption(5);
    const HASHALL: SetOption = SetOption(6);
    /// `-o history`
    pub const HISTORY: SetOption = SetOption(8);
    const INTERACTIVE_COMMENTS: SetOption = SetOption(10);
    /// `-C`
    pub const NOCLOBBER: SetOption = SetOption(13);
    /// `-n`
    pub const NOEXEC: SetOption = SetOption(14);
    /// `-f`
    pub const NOGLOB: SetOption = SetOption(15);
    /// `-u`
    pub const NOUNSET: SetOption = SetOption(18);
    /// `-P`
    pub const PHYSICAL: SetOption = SetOption(20);
    /// `-o pipefail`
    pub const PIPEFAIL: SetOption = SetOption(21);
    /// `-o posix`
    pub const POSIX: SetOption = SetOption(22);
    /// `-v`
    pub const VERBOSE: SetOption = SetOption(24);
    /// `-x`
    pub const XTRACE: SetOption = SetOption(26);

    /// Finds an option by its name.
    pub fn named(name: &str) -> Option<SetOption> {
        SET.iter().position(|(n, _, _)| *n == name).map(|i| SetOption(i as u8))
    }

    /// Finds an option by its letter.
    pub fn lettered(letter: u8) -> Option<SetOption> {
        SET.iter().position(|(_, l, _)| *l == letter && letter != 0).map(|i| SetOption(i as u8))
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        SET[usize::from(self.0)].0
    }

    /// Returns true if the option is implemented.
    pub fn works(self) -> bool {
        SET[usize::from(self.0)].2
    }

    /// Returns all options.
    pub fn all() -> impl Iterator<Item = SetOption> {
        (0..SET.len()).map(|i| SetOption(i as u8))
    }
}

/// Names of the options of `shopt`, their defaults, and whether switching them has an effect.
const SHOPT: [(&str, bool, bool); 57] = [
    ("autocd", false, true),
    ("assoc_expand_once", false, true),
    ("cdable_vars", false, true),
    ("cdspell", false, true),
    ("checkhash", false, true),
    ("checkjobs", false, true),
    ("checkwinsize", true, true),
    ("cmdhist", true, true),
    ("compat31", false, false),
    ("compat32", false, false),
    ("compat40", false, false),
    ("compat41", false, false),
    ("compat42", false, false),
    ("compat43", false, false),
    ("compat44", false, false),
    ("complete_fullquote", true, true),
    ("direxpand", false, true),
    ("dirspell", false, true),
    ("dotglob", false, true),
    ("execfail", false, true),
    ("expand_aliases", false, true),
    ("extdebug", false, false),
    ("extglob", false, true),
    ("extquote", true, true),
    ("failglob", false, true),
    ("force_fignore", true, true),
    ("globasciiranges", true, true),
    ("globskipdots", true, true),
    ("globstar", false, true),
    ("gnu_errfmt", false, false),
    ("histappend", false, true),
    ("histreedit", false, true),
    ("histverify", false, true),
    ("hostcomplete", true, true),
    ("huponexit", false, true),
    ("inherit_errexit", false, true),
    ("interactive_comments", true, true),
    ("lastpipe", false, true),
    ("lithist", false, true),
    ("localvar_inherit", false, true),
    ("localvar_unset", false, false),
    ("login_shell", false, false),
    ("mailwarn", false, true),
    ("no_empty_cmd_completion", false, true),
    ("nocaseglob", false, true),
    ("nocasematch", false, true),
    ("noexpand_translation", false, true),
    ("nullglob", false, true),
    ("patsub_replacement", true, true),
    ("progcomp", true, true),
    ("progcomp_alias", false, true),
    ("promptvars", true, true),
    ("restricted_shell", false, false),
    ("shift_verbose", false, true),
    ("sourcepath", true, true),
    ("varredir_close", false, true),
    ("xpg_echo", false, true),
];

impl Shopt {
    /// Subscripts of associative arrays are expanded only once.
    pub const ASSOC_EXPAND_ONCE: Shopt = Shopt(1);
    /// `cd NAME` may go to `$NAME`.
    pub const CDABLE_VARS: Shopt = Shopt(2);
    /// `*` matches hidden files.
    pub const DOTGLOB: Shopt = Shopt(18);
    /// A failed `exec` does not end the shell.
    pub const EXECFAIL: Shopt = Shopt(19);
    /// Aliases are expanded.
    pub const EXPAND_ALIASES: Shopt = Shopt(20);
    /// `@(a|b)` is a pattern.
    pub const EXTGLOB: Shopt = Shopt(22);
    /// A pattern that matches no file is an error.
    pub const FAILGLOB: Shopt = Shopt(24);
    /// `**` crosses directories.
    pub const GLOBSTAR: Shopt = Shopt(28);
    /// `set -e` goes on in command substitutions.
    pub const INHERIT_ERREXIT: Shopt = Shopt(35);
    /// The last stage of a pipeline runs in this shell.
    pub const LASTPIPE: Shopt = Shopt(37);
    /// A local variable starts with the value it hides.
    pub const LOCALVAR_INHERIT: Shopt = Shopt(39);
    /// File names match in any case.
    pub const NOCASEGLOB: Shopt = Shopt(44);
    /// Words match in any case.
    pub const NOCASEMATCH: Shopt = Shopt(45);
    /// A pattern that matches no file vanishes.
    pub const NULLGLOB: Shopt = Shopt(47);
    /// `&` in a replacement stands for the match.
    pub const PATSUB_REPLACEMENT: Shopt = Shopt(48);
    /// Prompts are expanded.
    pub const PROMPTVARS: Shopt = Shopt(51);
    /// `shift` past the end is reported.
    pub const SHIFT_VERBOSE: Shopt = Shopt(53);
    /// `source` looks in PATH.
    pub const SOURCEPATH: Shopt = Shopt(54);
    /// `{fd}>` ends with its command.
    pub const VARREDIR_CLOSE: Shopt = Shopt(55);
    /// `echo` interprets escapes.
    pub const XPG_ECHO: Shopt = Shopt(56);

    /// Finds an option by its name.
    pub fn named(name: &str) -> Option<Shopt> {
        SHOPT.iter().position(|(n, _, _)| *n == name).map(|i| Shopt(i as u8))
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        SHOPT[usize::from(self.0)].0
    }

    /// Returns true if switching the option has an effect, or needs none.
    pub fn works(self) -> bool {
        SHOPT[usize::from(self.0)].2
    }

    /// Returns all options.
    pub fn all() -> impl Iterator<Item = Shopt> {
        (0..SHOPT.len()).map(|i| Shopt(i as u8))
    }
}

impl Default for Options {
    fn default() -> Options {
        let mut options = Options { set: 0, shopt: 0 };
        for option in [SetOption::BRACEEXPAND, SetOption::HASHALL, SetOption::INTERACTIVE_COMMENTS] {
            options.switch(option, true);
        }
        for (i, (_, on, _)) in SHOPT.iter().enumerate() {
            options.shopt |= u64::from(*on) << i;
        }
        options
    }
}

impl Options {
    /// Returns true if an option of `set` is on.
    #[inline]
    pub fn has(&self, option: SetOption) -> bool {
        self.set & (1 << option.0) != 0
    }

    /// Switches an option of `set`.
    pub fn switch(&mut self, option: SetOption, on: bool) {
        match on {
            true => self.set |= 1 << option.0,
            false => self.set &= !(1 << option.0),
        }
    }

    /// Returns true if an option of `shopt` is on.
    #[inline]
    pub fn shopt(&self, option: Shopt) -> bool {
        self.shopt & (1 << option.0) != 0
    }

    /// Switches an option of `shopt`.
    pub fn switch_shopt(&mut self, option: Shopt, on: bool) {
        match on {
            true => self.shopt |= 1 << option.0,
            false => self.shopt &= !(1 << option.0),
        }
    }

    /// Returns `$-` without the letters that depend on how the shell was started.
    pub fn letters(&self) -> String {
        // The order of bash.
        b"abefhkmnptuvxBCEHPT"
            .iter()
            .filter(|letter| SetOption::lettered(**letter).is_some_and(|o| self.has(o)))
            .map(|letter| char::from(*letter))
            .collect()
    }
}
