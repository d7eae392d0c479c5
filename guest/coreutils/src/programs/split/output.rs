//! The files that `split` writes, or the commands it writes to.

use isopod_gnu::output::PIECE;
use isopod_gnu::program::Call;
use isopod_gnu::quote::{plain, shell};
use isopod_sys::files::OpenFlags;
use isopod_sys::process::{self, Command, Disposition, Status};
use isopod_sys::{Errno, Fd, files, text, write_all};

use super::options::Settings;

/// The reason why a split ends early.
pub(super) enum Failure {
    Unread(Errno),
    Unwritten(String, Errno),
    /// The error was reported.
    Reported,
}

/// The outputs, one after the other; several are open for `-n r/N`.
pub(super) struct Outputs<'a> {
    call: &'a Call,
    settings: &'a Settings,
    /// The next suffix, as indices into the alphabet.
    suffix: Option<Vec<usize>>,
    /// The file or command that is open.
    current: Option<Output>,
    pub(super) code: u8,
}

/// One file or command that is written to.
pub(super) struct Output {
    name: String,
    file: Option<Fd>,
    child: Option<u32>,
    buffer: Vec<u8>,
}

impl<'a> Outputs<'a> {
    pub(super) fn new(call: &'a Call, settings: &'a Settings) -> Outputs<'a> {
        let mut suffix = vec![0; settings.length];
        for (place, byte) in suffix.iter_mut().rev().zip(settings.first.bytes().rev()) {
            *place = settings.digits.iter().position(|digit| *digit == byte).unwrap_or(0);
        }
        if settings.filter.is_some() {
            // A command may end before its input does, which is no error.
            let _ = process::on_signal(13, Disposition::Ignore);
        }
        Outputs { call, settings, suffix: Some(suffix), current: None, code: 0 }
    }

    /// Goes on to the next file.
    pub(super) fn next(&mut self) -> Result<(), Failure> {
        self.close()?;
        self.current = Some(self.open()?);
        Ok(())
    }

    /// Writes to the file that is open.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        match &mut self.current {
            Some(output) => output.write(bytes),
            None => Ok(()),
        }
    }

    /// Ends the file that is open.
    pub(super) fn close(&mut self) -> Result<(), Failure> {
        match self.current.take() {
            Some(output) => self.finish(output),
            None => Ok(()),
        }
    }

    /// Ends a file.
    pub(super) fn finish(&mut self, mut output: Output) -> Result<(), Failure> {
        output.flush()?;
        drop(output.file.take());
        let Some(child) = output.child else { return Ok(()) };
        match process::wait(Some(child), None) {
            Ok((_, Status::Exited(0) | Status::Signalled(13))) => {}
            Ok((_, Status::Exited(code))) => {
                self.call.complain(&format!(
                    "with FILE={}, exit {code} from command: {}",
                    output.name,
                    self.settings.filter.as_deref().unwrap_or_default()
                ));
                self.code = code;
            }
            Ok((_, Status::Signalled(signal))) => {
                let name = isopod_gnu::signals::name(signal).unwrap_or("0");
                self.call.complain(&format!(
                    "with FILE={}, signal {name} from command: {}",
                    output.name,
                    self.settings.filter.as_deref().unwrap_or_default()
                ));
                self.code = 128 + signal;
            }
            Err(errno) => return Err(Failure::Unwritten(output.name, errno)),
        }
        Ok(())
    }

    /// Opens the next file, or starts the next command.
    pub(super) fn open(&mut self) -> Result<Output, Failure> {
        let name = self.name()?;
        if self.settings.verbose {
            let what = if self.settings.filter.is_some() { "executing with FILE=" } else { "creating file " };
            let _ = write_all(
                1,
                format!(
                    "{what}{}\n",
                    if self.settings.filter.is_some() { isopod_gnu::quote::argument(&name) } else { shell(&name) }
                )
                .as_bytes(),
            );
        }
        if let Some(filter) = &self.settings.filter {
            return self.start(filter, name);
        }
        let flags = OpenFlags::WRITE | OpenFlags::CREATE | OpenFlags::TRUNCATE;
        let same = match (files::stat(&name, true), files::stat_fd(0)) {
            (Ok(output), Ok(input)) => self.call.operands.first().is_some_and(|path| {
                let found = if path == "-" { Ok(input) } else { files::stat(path, true) };
                found.is_ok_and(|input| (input.device, input.inode) == (output.device, output.inode))
            }),
            _ => false,
        };
        if same {
            self.call.complain(&format!("{} would overwrite input; aborting", plain(&name)));
            return Err(Failure::Reported);
        }
        match Fd::open(&name, flags, 0o666) {
            Ok(file) => Ok(Output { name, file: Some(file), child: None, buffer: Vec::new() }),
            Err(errno) => Err(Failure::Unwritten(name, errno)),
        }
    }

    fn start(&self, filter: &str, name: String) -> Result<Output, Failure> {
        let failed = |errno: Errno| {
            self.call.complain(&format!("failed to run command: \"/bin/sh -c {filter}\": {}", text(errno)));
            Failure::Reported
        };
        let (reader, writer) = Fd::pipe().map_err(failed)?;
        let mut env: Vec<(String, String)> = std::env::vars().filter(|(name, _)| name != "FILE").collect();
        env.push(("FILE".to_owned(), name.clone()));
        let shell = env.iter().find(|(name, _)| name == "SHELL").map_or("/bin/sh", |(_, value)| value).to_owned();
        let argv = vec![shell.rsplit('/').next().unwrap_or("sh").to_owned(), "-c".to_owned(), filter.to_owned()];
        let files = vec![(0, reader.raw()), (1, 1), (2, 2)];
        let child =
            process::spawn(&Command { program: shell, argv, env, files, payload: Vec::new(), background: false });
        let child = child.map_err(failed)?;
        Ok(Output { name, file: Some(writer), child: Some(child), buffer: Vec::new() })
    }

    /// Returns the name of the next file.
    fn name(&mut self) -> Result<String, Failure> {
        let Some(suffix) = self.suffix.as_mut() else {
            self.call.complain("output file suffixes exhausted");
            return Err(Failure::Reported);
        };
        let letters: String = suffix.iter().map(|place| char::from(self.settings.digits[*place])).collect();
        let name = format!("{}{letters}{}", self.settings.prefix, self.settings.additional);
        let base = self.settings.digits.len();
        let mut place = suffix.len();
        loop {
            if place == 0 {
                self.suffix = None;
                break;
            }
            place -= 1;
            suffix[place] += 1;
            let widens = self.settings.grows && suffix[..place].iter().all(|digit| *digit == base - 1);
            if widens && suffix[place] == base - 1 && place + 2 == suffix.len().max(2) {
                // `yz` is followed by `zaaa`, so that names sort in the order they are made.
                let length = suffix.len() + 2;
                let lead = place + 1;
                suffix.clear();
                suffix.resize(lead, base - 1);
                suffix.resize(length, 0);
                break;
            }
            if suffix[place] < base {
                break;
            }
            suffix[place] = 0;
        }
        Ok(name)
    }
}

impl Output {
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= PIECE { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), Failure> {
        if let Some(file) = &self.file
            && !self.buffer.is_empty()
        {
            match write_all(file.raw(), &self.buffer) {
                // A command that does not read its input is no error.
                Ok(()) | Err(Errno::Pipe) => {}
                Err(errno) => return Err(Failure::Unwritten(self.name.clone(), errno)),
            }
        }
        self.buffer.clear();
        Ok(())
    }
}
