//! The built-in functions by name.

/// A built-in function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Function {
    And,
    Asort,
    Asorti,
    Atan2,
    Close,
    Compl,
    Cos,
    Exp,
    Fflush,
    Gensub,
    Gsub,
    Index,
    Int,
    Isarray,
    Length,
    Log,
    Lshift,
    Match,
    Mkbool,
    Mktime,
    Or,
    Patsplit,
    Rand,
    Rshift,
    Sin,
    Split,
    Sprintf,
    Sqrt,
    Srand,
    Strftime,
    Strtonum,
    Sub,
    Substr,
    System,
    Systime,
    Tolower,
    Toupper,
    Typeof,
    Xor,
}

/// The function names, sorted, with the least and the largest number of arguments.
const TABLE: &[(&str, Function, usize, usize)] = &[
    ("and", Function::And, 2, usize::MAX),
    ("asort", Function::Asort, 1, 3),
    ("asorti", Function::Asorti, 1, 3),
    ("atan2", Function::Atan2, 2, 2),
    ("close", Function::Close, 1, 2),
    ("compl", Function::Compl, 1, 1),
    ("cos", Function::Cos, 1, 1),
    ("exp", Function::Exp, 1, 1),
    ("fflush", Function::Fflush, 0, 1),
    ("gensub", Function::Gensub, 3, 4),
    ("gsub", Function::Gsub, 2, 3),
    ("index", Function::Index, 2, 2),
    ("int", Function::Int, 1, 1),
    ("isarray", Function::Isarray, 1, 1),
    ("length", Function::Length, 0, 1),
    ("log", Function::Log, 1, 1),
    ("lshift", Function::Lshift, 2, 2),
    ("match", Function::Match, 2, 3),
    ("mkbool", Function::Mkbool, 1, 1),
    ("mktime", Function::Mktime, 1, 2),
    ("or", Function::Or, 2, usize::MAX),
    ("patsplit", Function::Patsplit, 2, 4),
    ("rand", Function::Rand, 0, 0),
    ("rshift", Function::Rshift, 2, 2),
    ("sin", Function::Sin, 1, 1),
    ("split", Function::Split, 2, 4),
    ("sprintf", Function::Sprintf, 1, usize::MAX),
    ("sqrt", Function::Sqrt, 1, 1),
    ("srand", Function::Srand, 0, 1),
    ("strftime", Function::Strftime, 0, 3),
    ("strtonum", Function::Strtonum, 1, 1),
    ("sub", Function::Sub, 2, 3),
    ("substr", Function::Substr, 2, 3),
    ("system", Function::System, 1, 1),
    ("systime", Function::Systime, 0, 0),
    ("tolower", Function::Tolower, 1, 1),
    ("toupper", Function::Toupper, 1, 1),
    ("typeof", Function::Typeof, 1, 1),
    ("xor", Function::Xor, 2, usize::MAX),
];

/// Returns the function of a name.
pub(crate) fn find(name: &str) -> Option<Function> {
    TABLE.binary_search_by(|entry| entry.0.cmp(name)).ok().map(|at| TABLE[at].1)
}

impl Function {
    fn entry(self) -> &'static (&'static str, Function, usize, usize) {
        &TABLE[self as usize]
    }

    pub(crate) fn name(self) -> &'static str {
        self.entry().0
    }

    /// Returns true if the function accepts this number of arguments.
    pub(crate) fn takes(self, count: usize) -> bool {
        (self.entry().2..=self.entry().3).contains(&count)
    }

    /// Returns true if an argument is an array.
    pub(crate) fn wants_array(self, argument: usize) -> bool {
        match self {
            Function::Split | Function::Patsplit => argument == 1 || argument == 3,
            Function::Match => argument == 2,
            Function::Asort | Function::Asorti => argument < 2,
            _ => false,
        }
    }

    /// Returns true if an argument is a regular expression. A literal there is not matched against the record.
    pub(crate) fn wants_regex(self, argument: usize) -> bool {
        match self {
            Function::Split | Function::Patsplit => argument == 2,
            Function::Match => argument == 1,
            Function::Sub | Function::Gsub | Function::Gensub => argument == 0,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_in_the_order_of_names_and_of_the_enumeration() {
        assert!(TABLE.is_sorted_by_key(|entry| entry.0));
        assert!(TABLE.iter().enumerate().all(|(at, entry)| entry.1 as usize == at));
    }
}
