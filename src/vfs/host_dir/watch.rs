//! Whether a directory of the host is still where a walk found it.
//!
//! The host's kernel tells what happens to the names in directories that are watched (`inotify`) and to its mounts
//! (`mountinfo`), and one call asks whether it has anything to tell (`epoll`). It tells before the call that made the
//! change has ended: who asks after a change hears of it.

use std::collections::HashSet;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cap_std::fs::Dir;
use rustix::event::{Timespec, epoll};
use rustix::fs::inotify::{self, ReadFlags, WatchFlags};
use rustix::fs::{AtFlags, Mode, OFlags, StatxFlags, statx};
use rustix::io::{Errno, Result};

/// Directories that are watched at one time. A user has a few thousand at least, for all programs.
const MOST: usize = 512;
/// Events that are read one by one. Where there are more, it is cheaper to walk again.
const FEW: usize = 256;

/// What leads a walk elsewhere, or should not have let it pass: a name that is taken away, one that takes the place of
/// another, and a mode or an owner that changes. That a name is made where there was none leads nobody elsewhere.
const CHANGES: WatchFlags =
    WatchFlags::MOVED_FROM.union(WatchFlags::MOVED_TO).union(WatchFlags::DELETE).union(WatchFlags::ATTRIB);
/// What says that there were more changes than were told, or that a directory is watched no longer.
const BREAKS: ReadFlags = ReadFlags::QUEUE_OVERFLOW.union(ReadFlags::UNMOUNT).union(ReadFlags::IGNORED);

pub(super) struct Watch {
    epoll: OwnedFd,
    inotify: OwnedFd,
    /// Those of the namespace that the process had when this was made. Locked to be read: for two who read at once the
    /// kernel would begin anew with each piece.
    mounts: Mutex<OwnedFd>,
    /// The kernel's numbers of the directories. Locked for no call of the host.
    watched: Mutex<HashSet<i32>>,
}

impl Watch {
    pub(super) fn new() -> Result<Watch> {
        let inotify = inotify::init(inotify::CreateFlags::NONBLOCK | inotify::CreateFlags::CLOEXEC)?;
        let mounts = rustix::fs::open("/proc/self/mountinfo", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &inotify, INOTIFY, epoll::EventFlags::IN)?;
        epoll::add(&epoll, &mounts, MOUNTS, epoll::EventFlags::PRI)?;
        Ok(Watch { epoll, inotify, mounts: Mutex::new(mounts), watched: Mutex::default() })
    }

    /// Whether it would hear of mounts in a directory: not of those in another namespace than its own.
    pub(super) fn hears_mounts_in(&self, directory: &Dir) -> bool {
        let Ok(found) = statx(directory, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID) else {
            return false;
        };
        let is_told = StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::MNT_ID);
        is_told && self.has_mount(found.stx_mnt_id).unwrap_or(false)
    }

    /// Whether a mount is one of the namespace's. Its number is what a line begins with.
    fn has_mount(&self, number: u64) -> Result<bool> {
        let mounts = self.mounts.lock().unwrap_or_else(PoisonError::into_inner);
        let start = format!("{number} ").into_bytes();
        let (mut text, mut piece, mut read) = (Vec::new(), vec![0; 1 << 16], 0);
        loop {
            match rustix::io::pread(&*mounts, &mut piece, read)? {
                0 => return Ok(false),
                more => {
                    read += more as u64;
                    text.extend_from_slice(&piece[..more]);
                }
            }
            let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            if text[..whole].split(|byte| *byte == b'\n').any(|line| line.starts_with(&start)) {
                return Ok(true);
            }
            text.drain(..whole);
        }
    }

    /// Watches the names in a directory from now on. An error also where there are too many, and none is watched then:
    /// the kernel tells so, as of a change.
    pub(super) fn add(&self, directory: &Dir) -> Result<()> {
        if self.watched().len() >= MOST {
            let watched = std::mem::take(&mut *self.watched());
            for number in watched {
                // One that the kernel has let go by itself is no error.
                let _ = inotify::remove_watch(&self.inotify, number);
            }
            return Err(Errno::NOSPC);
        }
        // The kernel takes a path here and no handle. This one is the handle's.
        let path = format!("/proc/thread-self/fd/{}", directory.as_raw_fd());
        // What is watched already stays so: without `MASK_ADD` the kernel begins anew, and does not hear for a moment.
        let how = WatchFlags::ONLYDIR | WatchFlags::MASK_ADD;
        let number = inotify::add_watch(&self.inotify, path, CHANGES | how)?;
        self.watched().insert(number);
        Ok(())
    }

    /// Whether no walk through watched directories can have been led elsewhere since this was last asked. One at a time:
    /// what one has read no other hears of, and the kernel may tell a second who asks at the same time that there is
    /// nothing.
    pub(super) fn is_quiet(&self) -> bool {
        let mut room = [MaybeUninit::uninit(); 2];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        match epoll::wait(&self.epoll, &mut room, Some(&now)) {
            Ok(([], _)) => true,
            Ok((ready, _)) => {
                let is_mounted = ready.iter().any(|&epoll::Event { data, .. }| data == MOUNTS);
                self.only_files_changed() && !is_mounted
            }
            Err(_) => false,
        }
    }

    /// Reads what is told, and whether it is of no interest. What it leaves unread does not matter: it is all forgotten then.
    fn only_files_changed(&self) -> bool {
        let mut room = [MaybeUninit::uninit(); 4096];
        let mut events = inotify::Reader::new(&self.inotify, &mut room);
        let mut only_files = true;
        for _ in 0..FEW {
            match events.next() {
                Ok(event) => {
                    let what = event.events();
                    if what.contains(ReadFlags::IGNORED) {
                        self.watched().remove(&event.wd());
                    }
                    only_files &= !what.intersects(BREAKS | ReadFlags::ISDIR);
                }
                Err(Errno::AGAIN) => return only_files,
                Err(_) => return false,
            }
        }
        false
    }

    fn watched(&self) -> MutexGuard<'_, HashSet<i32>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Who has something to tell.
const INOTIFY: epoll::EventData = epoll::EventData::new_u64(0);
const MOUNTS: epoll::EventData = epoll::EventData::new_u64(1);
