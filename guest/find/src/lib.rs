//! What programs that choose among files share, the archivers too: patterns for names, dates as people write
//! them, and permissions.

pub mod mode;
pub mod moment;
pub mod pattern;
