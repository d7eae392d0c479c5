//! Loading of saved snapshots from arbitrary bytes, within the limits.

use isopod::{Limits, Snapshot};

/// Loads a snapshot on all three layers of its format: the bytes themselves, and as the content of the outer layers.
pub fn archive(data: &[u8]) {
    let mut limits = Limits::default();
    (limits.disk, limits.file, limits.inodes) = (1 << 20, 1 << 18, 500);
    let Ok((snapshot, _)) = Snapshot::load(data, &limits, None) else { return };
    // A snapshot that loads can be saved, and is then the same.
    let mut saved = Vec::new();
    let Ok(digest) = snapshot.save(&mut saved) else { panic!("what was loaded cannot be saved") };
    assert!(Snapshot::load(saved.as_slice(), &limits, Some(&digest)).is_ok());
}
