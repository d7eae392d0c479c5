//! File calls: a tree in memory and a directory of the host give the same results.

use std::sync::Arc;

use isopod::Limits;
use isopod::error::Errno;
use isopod::path::GuestPath;
use isopod::vfs::{FileSystem, HostDir, MemFs, OpenHow, Opened, Quota, SetTime, Vfs};

/// A few names, so that calls affect each other.
const NAMES: [&str; 6] = ["/a", "/b", "/a/b", "/a/../b", "/b/a/", "/a/b/c"];

/// Makes the same calls on both.
pub fn vfs(data: &[u8]) {
    let temp = tempfile::TempDir::new_in("/dev/shm").or_else(|_| tempfile::TempDir::new());
    let Ok(temp) = temp else { panic!("no place for a directory") };
    let Ok(host) = HostDir::open(temp.path()) else { panic!("the directory cannot be mounted") };
    let memory = mount(Arc::new(MemFs::new(Arc::new(Quota::new(&Limits::default())))));
    let host = mount(Arc::new(host));
    for (at, call) in data.chunks_exact(4).take(64).enumerate() {
        let answers = [&memory, &host].map(|vfs| answer(vfs, call));
        assert_eq!(answers[0], answers[1], "call {at}, {call:?}, of {data:?}");
    }
}

fn mount(files: Arc<dyn FileSystem>) -> Vfs {
    let built = Vfs::builder().mount(GuestPath::root(), files, false).build();
    built.unwrap_or_else(|errno| panic!("{errno}"))
}

/// Returns the result of a call, as far as two file systems can agree on it.
fn answer(vfs: &Vfs, call: &[u8]) -> Result<String, Errno> {
    let path = |byte: u8| GuestPath::parse(&GuestPath::root(), NAMES[usize::from(byte) % NAMES.len()]);
    let (one, other, value) = (path(call[1])?, path(call[2])?, call[3]);
    let how = OpenHow {
        read: value & 1 != 0,
        write: value & 2 != 0,
        create: value & 4 != 0,
        truncate: value & 8 != 0,
        exclusive: value & 16 != 0,
        mode: 0o644,
        ..OpenHow::default()
    };
    let done = |()| String::new();
    match call[0] % 12 {
        0 => vfs.mkdir(&one, 0o755).map(done),
        1 => vfs.rmdir(&one).map(done),
        2 => vfs.unlink(&one).map(done),
        3 => vfs.rename(&one, &other).map(done),
        4 => vfs.link(&one, &other, value & 1 != 0).map(done),
        5 => vfs.symlink(NAMES[usize::from(value) % NAMES.len()], &one).map(done),
        6 => vfs.read_link(&one),
        7 => vfs.stat(&one, value & 1 != 0).map(|stat| format!("{:?} {:o}", stat.kind, stat.mode)),
        8 => vfs.read_dir(&one).map(|entries| format!("{:?}", entries.iter().map(|e| &e.name).collect::<Vec<_>>())),
        9 => vfs.set_times(&one, SetTime::At(u64::from(value)), SetTime::Keep, true).map(done),
        10 => match vfs.open(&one, &how)? {
            Opened::File(file) if how.write => file.write_at(u64::from(value), b"text").map(|n| n.to_string()),
            Opened::File(file) => file.read_at(0, 1000).map(|bytes| format!("{bytes:?}")),
            _ => Ok("directory".to_owned()),
        },
        _ => vfs.chmod(&one, u32::from(value) & 0o700 | 0o700, true).map(done),
    }
}
