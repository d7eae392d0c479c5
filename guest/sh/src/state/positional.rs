//! The positional parameters.

use std::ops::Deref;
use std::rc::Rc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The positional parameters. A copy shares the list, and a shift only moves its beginning: a script that shifts
/// through many arguments would otherwise move the remaining ones each time.
#[derive(Clone, Default)]
pub struct Positional {
    words: Rc<Vec<String>>,
    /// The number shifted away, at most the length of the list.
    shifted: usize,
}

impl Positional {
    /// Drops the first `count` parameters, or all.
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
