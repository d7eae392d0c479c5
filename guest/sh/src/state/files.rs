//! The shell's open files, by the numbers a script uses.
//!
//! The numbers are the shell's own: `3>file` is an entry in this map, wherever the kernel put the descriptor.
//! A redirection is then a change of the map that is undone afterwards, and children get the map as it is.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use isopod_sys::{Errno, Fd, files};

/// The highest number a script may use, as bash has it by default.
pub const HIGHEST: u32 = 1023;

/// An open file, shared by all numbers that refer to it.
#[derive(Debug)]
pub enum File {
    /// A descriptor of the kernel.
    Kernel {
        /// The descriptor.
        fd: Fd,
        /// Whether it has a position, once that is known.
        seekable: Cell<Option<bool>>,
    },
    /// Output that a command substitution in place collects.
    Capture(RefCell<Vec<u8>>),
}

/// The map from numbers to open files.
#[derive(Debug, Default, Clone)]
pub struct Files {
    slots: Vec<Option<Rc<File>>>,
    /// Whether files from 3 on that the parent passed have been looked for.
    complete: bool,
    /// Numbers that children do not get: ends of pipes to coprocesses, which a copy would keep open.
    private: Vec<u32>,
}

impl File {
    /// A file of the kernel.
    pub fn kernel(fd: Fd) -> Rc<File> {
        Rc::new(File::Kernel { fd, seekable: Cell::new(None) })
    }

    /// A buffer.
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

    /// Reads up to `len` bytes; none at the end.
    pub fn read(&self, len: u32, timeout: Option<u64>) -> Result<Vec<u8>, Errno> {
        match self {
            File::Kernel { fd, .. } => files::read(fd.raw(), len, timeout),
            File::Capture(_) => Err(Errno::BadDescriptor),
        }
    }

    /// The kernel's number.
    pub fn raw(&self) -> Option<u32> {
        match self {
            File::Kernel { fd, .. } => Some(fd.raw()),
            File::Capture(_) => None,
        }
    }

    /// Whether bytes that were read too many can be put back.
    pub fn is_seekable(&self) -> bool {
        let File::Kernel { fd, seekable } = self else { return false };
        if let Some(known) = seekable.get() {
            return known;
        }
        let found = files::stat_fd(fd.raw()).is_ok_and(|a| a.kind == files::Kind::File);
        seekable.set(Some(found));
        found
    }

    /// Puts back bytes that were read too many.
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
    /// Standard input, output and error, as the process got them.
    pub fn standard() -> Files {
        let slots = (0..3).map(|n| Some(File::kernel(Fd::from_raw(n)))).collect();
        Files { slots, complete: false, private: Vec::new() }
    }

    /// The files with these numbers, which the parent is known to have passed.
    pub fn inherited(numbers: &[u32]) -> Files {
        let mut files = Files { slots: Vec::new(), complete: true, private: Vec::new() };
        for number in numbers {
            files.set(*number, Some(File::kernel(Fd::from_raw(*number))));
        }
        files
    }

    /// The file with this number.
    #[inline]
    pub fn get(&self, number: u32) -> Option<&Rc<File>> {
        self.slots.get(number as usize)?.as_ref()
    }

    /// Sets or clears a number, and returns what it was.
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

    /// The lowest free number from here on.
    pub fn free_from(&self, first: u32) -> u32 {
        let mut number = first;
        while self.get(number).is_some() {
            number += 1;
        }
        number
    }

    /// The highest free number at or below this: where process substitutions go.
    pub fn free_below(&self, last: u32) -> u32 {
        let mut number = last;
        while self.get(number).is_some() && number > 10 {
            number -= 1;
        }
        number
    }

    /// All numbers in use with their files.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Rc<File>)> {
        self.slots.iter().enumerate().filter_map(|(n, file)| Some((n as u32, file.as_ref()?)))
    }

    /// What a child gets.
    pub fn for_child(&self) -> impl Iterator<Item = (u32, &Rc<File>)> {
        self.iter().filter(|(number, _)| !self.private.contains(number))
    }

    /// Keeps a number from children.
    pub fn keep_private(&mut self, number: u32) {
        self.private.push(number);
    }

    /// Looks once for files that the parent passed beyond standard error. It must be done before the shell
    /// opens anything, or it would take its own files for such; most commands never need it.
    pub fn look_for_inherited(&mut self) {
        if std::mem::replace(&mut self.complete, true) {
            return;
        }
        let numbers: Vec<u32> = match files::read_dir("/dev/fd") {
            Ok(names) => names.iter().filter_map(|n| n.parse().ok()).collect(),
            // Without a listing, try those that shells hand out.
            Err(_) => (3..16).chain(60..64).filter(|n| files::stat_fd(*n).is_ok()).collect(),
        };
        for number in numbers.into_iter().filter(|n| (3..=HIGHEST).contains(n)) {
            self.set(number, Some(File::kernel(Fd::from_raw(number))));
        }
    }
}
