//! Files and commands that the program reads or writes, by name.

use std::collections::HashMap;

use isopod_sys::files::OpenFlags;
use isopod_sys::process::{self, Command, Status};
use isopod_sys::{Errno, Fd, files, fs, text, write_all};

use crate::input::Reader;
use crate::syntax::tree::Redirect;

/// The size of a pipe: one write fills it.
const PIECE: usize = 64 * 1024;

/// Buffered output.
pub(crate) struct Writer {
    /// `None` for standard output and standard error, which are not closed.
    file: Option<Fd>,
    fd: u32,
    buffer: Vec<u8>,
    child: Option<u32>,
}

impl Writer {
    fn of_number(fd: u32) -> Writer {
        Writer { file: None, fd, buffer: Vec::new(), child: None }
    }

    /// Returns the buffer to append to. `written` has to follow.
    #[inline]
    pub(crate) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Writes the buffer if it is full, or if it is standard error.
    #[inline]
    pub(crate) fn written(&mut self) -> Result<(), Errno> {
        if self.buffer.len() >= PIECE || self.fd == 2 { self.flush() } else { Ok(()) }
    }

    pub(crate) fn flush(&mut self) -> Result<(), Errno> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let result = write_all(self.fd, &self.buffer);
        self.buffer.clear();
        result
    }
}

/// All open files and commands.
pub(crate) struct Streams {
    pub(crate) standard_output: Writer,
    writers: HashMap<Vec<u8>, Writer>,
    /// The names of the writers, in the order of opening.
    opened: Vec<Vec<u8>>,
    readers: HashMap<Vec<u8>, Reader>,
    diversion: Option<Diversion>,
}

/// Standard output redirected to a file that will replace another: `-i inplace`.
struct Diversion {
    temporary: String,
    path: String,
    standard_output: Writer,
}

impl Streams {
    pub(crate) fn new() -> Streams {
        Streams {
            standard_output: Writer::of_number(1),
            writers: HashMap::new(),
            opened: Vec::new(),
            readers: HashMap::new(),
            diversion: None,
        }
    }

    /// Redirects standard output to the new content of a file.
    pub(crate) fn divert(&mut self, path: &str) -> Result<(), Errno> {
        self.standard_output.flush()?;
        let mode = files::stat(path, true)?.mode;
        let temporary = format!("{path}.{}", process::id());
        let flags = OpenFlags::WRITE | OpenFlags::CREATE | OpenFlags::EXCLUSIVE;
        let file = Fd::open(&temporary, flags, mode)?;
        files::chmod(&temporary, mode, true)?;
        let fd = file.raw();
        let writer = Writer { file: Some(file), fd, buffer: Vec::new(), child: None };
        let standard_output = std::mem::replace(&mut self.standard_output, writer);
        self.diversion = Some(Diversion { temporary, path: path.to_owned(), standard_output });
        Ok(())
    }

    /// Ends the redirection, if there is one, and replaces the file by the new content.
    pub(crate) fn end_diversion(&mut self) -> Result<(), Errno> {
        let Some(diversion) = self.diversion.take() else { return Ok(()) };
        let mut writer = std::mem::replace(&mut self.standard_output, diversion.standard_output);
        writer.flush()?;
        drop(writer);
        fs::rename(&diversion.temporary, &diversion.path)
    }

    /// Returns the writer of a name, and opens it if necessary.
    pub(crate) fn writer(&mut self, name: &[u8], how: Redirect, env: Env<'_>) -> Result<&mut Writer, String> {
        if name == b"/dev/stdout" && how != Redirect::Pipe {
            return Ok(&mut self.standard_output);
        }
        if !self.writers.contains_key(name) {
            let writer = match how {
                Redirect::Pipe => self.command_to_write(name, env)?,
                _ if name == b"/dev/stderr" => Writer::of_number(2),
                how => open_to_write(name, how)?,
            };
            self.writers.insert(name.to_vec(), writer);
            self.opened.push(name.to_vec());
        }
        self.writers.get_mut(name).ok_or_else(|| "no such stream".into())
    }

    fn command_to_write(&mut self, command: &[u8], env: Env<'_>) -> Result<Writer, String> {
        self.flush_all();
        let refused = |errno| cannot(command, "open pipe", errno);
        let (reader, writer) = Fd::pipe().map_err(refused)?;
        let child = spawn(command, &[(0, reader.raw()), (1, 1), (2, 2)], env()).map_err(refused)?;
        let fd = writer.raw();
        Ok(Writer { file: Some(writer), fd, buffer: Vec::new(), child: Some(child) })
    }

    /// Returns the reader of a file, and opens it if necessary.
    pub(crate) fn file_reader(&mut self, name: &[u8]) -> Result<&mut Reader, Errno> {
        if !self.readers.contains_key(name) {
            let reader = match name {
                b"-" | b"/dev/stdin" => Reader::standard_input(),
                name => {
                    let path = std::str::from_utf8(name).map_err(|_| Errno::IllegalSequence)?;
                    Reader::new(Fd::open(path, OpenFlags::READ, 0)?, None)
                }
            };
            self.readers.insert(name.to_vec(), reader);
        }
        self.readers.get_mut(name).ok_or(Errno::BadDescriptor)
    }

    /// Returns the reader of a command's output, and starts the command if necessary.
    pub(crate) fn command_reader(&mut self, command: &[u8], env: Env<'_>) -> Result<&mut Reader, Errno> {
        if !self.readers.contains_key(command) {
            self.flush_all();
            let (reader, writer) = Fd::pipe()?;
            let child = spawn(command, &[(0, 0), (1, writer.raw()), (2, 2)], env())?;
            self.readers.insert(command.to_vec(), Reader::new(reader, Some(child)));
        }
        self.readers.get_mut(command).ok_or(Errno::BadDescriptor)
    }

    /// Runs a command, waits for it, and returns the value of `system`.
    pub(crate) fn run(&mut self, command: &[u8], env: Env<'_>) -> f64 {
        self.flush_all();
        match spawn(command, &[(0, 0), (1, 1), (2, 2)], env()) {
            Ok(child) => wait(child),
            Err(_) => 127.0,
        }
    }

    /// Closes the streams of a name. Returns the exit code of the command, 0 for a file, and -1 if there is no such
    /// stream.
    pub(crate) fn close(&mut self, name: &[u8]) -> f64 {
        let mut code = -1.0;
        if let Some(writer) = self.writers.remove(name) {
            self.opened.retain(|opened| opened != name);
            code = end(writer);
        }
        if let Some(mut reader) = self.readers.remove(name) {
            let child = reader.child.take();
            drop(reader);
            code = child.map_or(0.0, wait);
        }
        code
    }

    pub(crate) fn flush_all(&mut self) {
        let _ = self.standard_output.flush();
        for writer in self.writers.values_mut() {
            let _ = writer.flush();
        }
    }

    /// Flushes the writer of a name. Returns false if there is none or if the write fails.
    pub(crate) fn flush(&mut self, name: &[u8]) -> bool {
        match (name, self.writers.get_mut(name)) {
            (_, Some(writer)) => writer.flush().is_ok(),
            (b"/dev/stdout", None) => self.standard_output.flush().is_ok(),
            _ => false,
        }
    }

    /// Closes all streams at the end of the program, and waits for all commands.
    pub(crate) fn finish(&mut self) -> Result<(), Errno> {
        self.end_diversion()?;
        // As in gawk, the last one is closed first.
        while let Some(name) = self.opened.pop() {
            self.close(&name);
        }
        let names: Vec<Vec<u8>> = self.readers.keys().cloned().collect();
        for name in names {
            self.close(&name);
        }
        // As in gawk, standard output comes last: the final output of commands precedes the buffered output of the
        // program.
        self.standard_output.flush()
    }
}

fn end(mut writer: Writer) -> f64 {
    // A reader that has gone is not an error of the writer.
    let result = writer.flush();
    drop(writer.file.take());
    match (writer.child, result) {
        (Some(child), _) => wait(child),
        (None, Ok(())) => 0.0,
        (None, Err(_)) => -1.0,
    }
}

/// A function that returns the environment of a child. It is called only when a child is started.
pub(crate) type Env<'a> = &'a dyn Fn() -> Vec<(String, String)>;

fn open_to_write(name: &[u8], how: Redirect) -> Result<Writer, String> {
    let refused = |errno| cannot(name, "redirect to", errno);
    let path = std::str::from_utf8(name).map_err(|_| refused(Errno::IllegalSequence))?;
    if path.is_empty() {
        return Err("expression for `>' redirection has null string value".into());
    }
    let flags = OpenFlags::WRITE
        | OpenFlags::CREATE
        | if how == Redirect::Append { OpenFlags::APPEND } else { OpenFlags::TRUNCATE };
    let file = Fd::open(path, flags, 0o666).map_err(refused)?;
    let fd = file.raw();
    Ok(Writer { file: Some(file), fd, buffer: Vec::new(), child: None })
}

fn cannot(name: &[u8], what: &str, errno: Errno) -> String {
    format!("cannot {what} `{}': {}", String::from_utf8_lossy(name), text(errno))
}

fn spawn(command: &[u8], descriptors: &[(u32, u32)], env: Vec<(String, String)>) -> Result<u32, Errno> {
    let command = std::str::from_utf8(command).map_err(|_| Errno::IllegalSequence)?;
    // A descriptor that is closed here stays closed in the child.
    let open = descriptors.iter().filter(|(_, ours)| *ours > 2 || files::stat_fd(*ours).is_ok());
    process::spawn(&Command {
        program: "/bin/sh".to_owned(),
        argv: vec!["sh".to_owned(), "-c".to_owned(), command.to_owned()],
        env,
        files: open.copied().collect(),
        payload: Vec::new(),
        background: false,
    })
}

/// Waits for a command. Returns its exit code, or 256 plus the signal that ended it.
fn wait(child: u32) -> f64 {
    loop {
        match process::wait(Some(child), None) {
            Ok((_, Status::Exited(code))) => return f64::from(code),
            Ok((_, Status::Signalled(signal))) => return 256.0 + f64::from(signal),
            Err(Errno::Interrupted) => {}
            Err(_) => return -1.0,
        }
    }
}
