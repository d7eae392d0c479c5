//! The dialects, as sets of rules. The names of the rules are those of glibc's `regex.h`.

/// A dialect of regular expressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// POSIX basic with GNU's `\+ \? \|`: `sed`, `expr`, `find -regextype posix-basic`.
    Basic,
    /// POSIX extended: `sed -E`.
    Extended,
    /// POSIX extended as in `regcomp`, where a lone `)` is text: `[[ =~ ]]`.
    Shell,
    /// `grep`: basic, and newlines separate alternatives.
    Grep,
    /// `grep -E`: extended, and a malformed interval is text.
    Egrep,
    /// `awk`: extended, with backslashes in brackets.
    Awk,
    /// `find -regex`: `\(`, `\|`, and `+` and `?` without a backslash.
    Emacs,
    /// Plain text.
    Fixed,
}

/// The rules of a dialect.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Rules {
    /// `( ) |` are operators. With a backslash they are text.
    pub(crate) bare_groups: bool,
    /// `{ }` are operators. With a backslash they are text.
    pub(crate) bare_braces: bool,
    /// The dialect has intervals.
    pub(crate) intervals: bool,
    /// `\+ \?` are operators, not `+ ?`.
    pub(crate) backslash_plus: bool,
    /// `^` and `$` are anchors wherever they stand.
    pub(crate) anchors_anywhere: bool,
    /// An operator with nothing to repeat is skipped, not text.
    pub(crate) stray_operator_is_skipped: bool,
    /// An operator with nothing to repeat is an error.
    pub(crate) stray_operator_is_error: bool,
    /// An interval with nothing to repeat, or after another repetition, is an error.
    pub(crate) stray_interval_is_error: bool,
    /// A malformed interval is text.
    pub(crate) wrong_interval_is_text: bool,
    /// A lone `)` is text.
    pub(crate) lone_parenthesis_is_text: bool,
    /// A newline separates alternatives.
    pub(crate) newline_alternates: bool,
    /// A backslash in brackets makes the next character plain.
    pub(crate) backslash_in_brackets: bool,
    /// `.` does not match NUL.
    pub(crate) dot_not_nul: bool,
}

impl Syntax {
    pub(crate) fn rules(self) -> Rules {
        let basic = Rules { intervals: true, backslash_plus: true, dot_not_nul: true, ..Rules::default() };
        let extended = Rules {
            bare_groups: true,
            bare_braces: true,
            intervals: true,
            anchors_anywhere: true,
            stray_operator_is_error: true,
            dot_not_nul: true,
            ..Rules::default()
        };
        match self {
            Syntax::Basic => Rules { stray_interval_is_error: true, ..basic },
            Syntax::Extended => extended,
            Syntax::Shell => Rules { lone_parenthesis_is_text: true, ..extended },
            Syntax::Grep => Rules { newline_alternates: true, dot_not_nul: false, ..basic },
            Syntax::Egrep => Rules {
                newline_alternates: true,
                stray_operator_is_error: false,
                stray_operator_is_skipped: true,
                wrong_interval_is_text: true,
                lone_parenthesis_is_text: true,
                dot_not_nul: false,
                ..extended
            },
            Syntax::Awk => Rules {
                stray_operator_is_error: false,
                wrong_interval_is_text: true,
                lone_parenthesis_is_text: true,
                backslash_in_brackets: true,
                dot_not_nul: false,
                ..extended
            },
            Syntax::Emacs | Syntax::Fixed => Rules::default(),
        }
    }

    /// Returns true if `[:space:]` in place of `[[:space:]]` is refused.
    pub(crate) fn refuses_bare_class(self) -> bool {
        matches!(self, Syntax::Basic | Syntax::Extended | Syntax::Grep | Syntax::Egrep)
    }
}
