//! The shell's open files, by the numbers that a script uses.
//!
//! The numbers are the shell's own: `3>file` is an entry in this map, independent of the kernel's descriptor. A
//! redirection is a change of the map that is undone afterwards, and children get the map as it is.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use isopod_sys::{Errno, Fd, files};

/// The highest number that a script may use, bash's default.
pub const HIGHEST: u32 = 1023;

/// An open file, shared by all numbers that refer to it.
#[derive(Debug)]
pub enum File {
    /// A descriptor of the kernel.
    Kernel {
        /// The descriptor.
        fd: Fd,
        /// True if the descriptor can seek, `None` before the first check.
        seekable: Cell<Option<bool>>,
    },
    /// Output that a command substitution in place collects.
    Capture(RefCell<Vec<u8>>),
}

/// The map from numbers to open files.
#[derive(Debug, Default, Clone)]
pub struct Files {
    slots: Vec<Option<Rc<File>>>,
    /// The files from 3 on that the parent passed have been looked for.
    complete: bool,
    /// Numbers that children do not inherit: ends of pipes to coprocesses, which a copy would keep open.
    private: Vec<u32>,
}

impl File {
    /// Wraps a descriptor of the kernel.
    pub fn kernel(fd: Fd) -> Rc<File> {
        Rc::new(File::Kernel { fd, seekable: Cell::new(None) })
    }

    /// Makes a buffer.
    pub fn capture() -> Rc<File> {
        Rc::new(File::Capture(RefCell::default()))
    }

    /// Opens a file.
    pub fn open(path: &str, how: files::OpenFlags, mode: u32) -> Result<Rc<File>, Errno> {
        Fd::open(path, how, mode).map(File::kernel)
    }

    /// Writes all bytes.
    pub fn write(&self, bytes: &[u8]) -> Result<(), Errno> {
        match self {
            File::Kernel { fd, .. } => isopod_sys::write_all(fd.raw(), bytes),
            File::Capture(buffer) => {
                buffer.borrow_mut().extend_from_slice(bytes);
                Ok(())
            }
        }
    }

    /// Reads up to `len` bytes. An empty result is the end of the file.
    pub fn read(&self, len: u32, timeout: Option<u64>) -> Result<Vec<u8>, Errno> {
        match self {
            File::Kernel { fd, .. } => files::read(fd.raw(), len, timeout),
            File::Capture(_) => Err(Errno::BadDescriptor),
        }
    }

    /// Returns the kernel's descriptor.
    pub fn raw(&self) -> Option<u32> {
        match self {
            File::Kernel { fd, .. } => Some(fd.raw()),
            File::Capture(_) => None,
        }
    }

    /// Returns true if the file can be seeked back.
    pub fn is_seekable(&self) -> bool {
        let File::Kernel { fd, seekable } = self else { return false };
        if let Some(known) = seekable.get() {
            return known;
        }
        let found = files::stat_fd(fd.raw()).is_ok_and(|a| a.kind == files::Kind::File);
        seekable.set(Some(found));
        found
    }

    /// Seeks back over bytes that were read beyond the end of the request.
    pub fn unread(&self, count: usize) {
        if let File::Kernel { fd, .. } = self
            && count > 0
        {
            // A file that was seekable when it was read still is.
            let _ = files::seek(fd.raw(), -(count as i64), files::Whence::Current);
        }
    }
}

impl Files {
    /// Returns standard input, output and error as the process got them.
    pub fn standard() -> Files {
        let slots = (0..3).map(|n| Some(File::kernel(Fd::from_raw(n)))).collect();
        Files { slots, complete: false, private: Vec::new() }
    }

    /// Returns the files with these numbers, which the parent is known to have passed.
    pub fn inherited(numbers: &[u32]) -> Files {
        let mut files = Files { slots: Vec::new(), complete: true, private: Vec::new() };
        for number in numbers {
            files.set(*number, Some(File::kernel(Fd::from_raw(*number))));
        }
        files
    }

    /// Returns the file with this number.
    #[inline]
    pub fn get(&self, number: u32) -> Option<&Rc<File>> {
        self.slots.get(number as usize)?.as_ref()
    }

    /// Sets or clears a number. Returns its previous file.
    pub fn set(&mut self, number: u32, file: Option<Rc<File>>) -> Option<Rc<File>> {
        let at = number as usize;
        if at >= self.slots.len() {
            let file = file?;
            self.slots.resize(at + 1, None);
            self.slots[at] = Some(file);
            return None;
        }
        std::mem::replace(&mut self.slots[at], file)
    }

    /// Returns the lowest free number from `first` on.
    pub fn free_from(&self, first: u32) -> u32 {
        let mut number = first;
        while self.get(number).is_some() {
            number += 1;
        }
        number
    }

    /// Returns the highest free number up to `last`: process substitutions are numbered downwards.
    pub fn free_below(&self, last: u32) -> u32 {
        let mut number = last;
        while self.get(number).is_some() && number > 10 {
            number -= 1;
        }
        number
    }

    /// Returns all numbers in use with their files.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Rc<File>)> {
        self.slots.iter().enumerate().filter_map(|(n, file)| Some((n as u32, file.as_ref()?)))
    }

    /// Returns the numbers and files that a child inherits.
    pub fn for_child(&self) -> impl Iterator<Item = (u32, &Rc<File>)> {
        self.iter().filter(|(number, _)| !self.private.contains(number))
    }

    /// Excludes a number from inheritance.
    pub fn keep_private(&mut self, number: u32) {
        self.private.push(number);
    }

    /// Looks once for files that the parent passed beyond standard error. This must happen before the shell opens a
    /// file, which it would mistake for one of them; most commands never need it.
    pub fn look_for_inherited(&mut self) {
        if std::mem::replace(&mut self.complete, true) {
            return;
        }
        let numbers: Vec<u32> = match files::read_dir("/dev/fd") {
            Ok(names) => names.iter().filter_map(|n| n.parse().ok()).collect(),
            // Without a listing, try the numbers that shells use.
            Err(_) => (3..16).chain(60..64).filter(|n| files::stat_fd(*n).is_ok()).collect(),
        };
        for number in numbers.into_iter().filter(|n| (3..=HIGHEST).contains(n)) {
            self.set(number, Some(File::kernel(Fd::from_raw(number))));
        }
    }
}
