//! What programs that choose among files share, the archivers too: patterns for names, and dates as people write them.

pub mod moment;
pub mod pattern;
