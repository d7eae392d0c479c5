//! `$1` and on.

use std::ops::Deref;
use std::rc::Rc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The positional parameters. A copy costs nothing, and a shift only moves the beginning: a script that shifts through
/// many arguments would otherwise move all that are left each time.
#[derive(Clone, Default)]
pub struct Positional {
    words: Rc<Vec<String>>,
    /// How many were shifted away; never more than there are.
    shifted: usize,
}

impl Positional {
    /// Takes the first ones away, as many as there are at most.
    pub fn shift(&mut self, count: usize) {
        self.shifted = self.words.len().min(self.shifted.saturating_add(count));
    }
}

impl From<Vec<String>> for Positional {
    fn from(words: Vec<String>) -> Positional {
        Positional { words: Rc::new(words), shifted: 0 }
    }
}

impl Deref for Positional {
    type Target = [String];

    fn deref(&self) -> &[String] {
        &self.words[self.shifted..]
    }
}

impl Serialize for Positional {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Positional {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Positional, D::Error> {
        Vec::deserialize(deserializer).map(Positional::from)
    }
}
