//! Saved snapshots: of any bytes, within the limits.

use isopod::{Limits, Snapshot};

/// Loads a snapshot, in all three layers of its form: the bytes as they are, and as what the outer layers would hold.
pub fn archive(data: &[u8]) {
    let mut limits = Limits::default();
    (limits.disk, limits.file, limits.inodes) = (1 << 20, 1 << 18, 500);
    let Ok((snapshot, _)) = Snapshot::load(data, &limits, None) else { return };
    // What loads can be saved, and is the same again.
    let mut saved = Vec::new();
    let Ok(digest) = snapshot.save(&mut saved) else { panic!("what was loaded cannot be saved") };
    assert!(Snapshot::load(saved.as_slice(), &limits, Some(&digest)).is_ok());
}
