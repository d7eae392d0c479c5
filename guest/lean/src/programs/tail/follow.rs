//! `tail -f`: prints data as it is added to files.

use std::time::Duration;

use isopod_sys::files::{self, Kind, Whence};
use isopod_sys::{process, text};

use super::interval;
use crate::headers::Headers;
use isopod_gnu::input::Input;
use isopod_gnu::output::Out;
use isopod_gnu::program::Call;
use isopod_gnu::quote;

/// The options of following.
pub(super) struct Follow {
    /// Files are followed by name: another file that gets the name is opened.
    by_name: bool,
    retry: bool,
    interval: Duration,
    /// Following ends when this process has ended.
    pid: Option<u32>,
}

impl Follow {
    /// Reads the options; `None` if files are not followed.
    pub(super) fn read(call: &Call) -> Result<Option<Follow>, u8> {
        let by_name = match call.value("follow") {
            _ if call.has("F") => true,
            None | Some("descriptor") => false,
            Some("name") => true,
            Some(wrong) => {
                return Err(call.misused(&format!("invalid argument {} for '--follow'", quote::plain(wrong))));
            }
        };
        if !call.has("F") && !call.has("follow") {
            return Ok(None);
        }
        let pid = match call.value("pid") {
            None => None,
            Some(text) => Some(text.parse().map_err(|_| {
                call.complain(&format!("invalid PID: {}", quote::plain(text)));
                1
            })?),
        };
        let interval =
            call.value("sleep-interval").map_or(Ok(Duration::from_secs(1)), |value| interval(call, value))?;
        Ok(Some(Follow { by_name, retry: call.has("F") || call.has("retry"), interval, pid }))
    }

    /// Follows files until standard output is closed or no file is left.
    pub(super) fn run(
        self,
        call: &Call,
        mut inputs: Vec<(&str, Option<Input>)>,
        mut headers: Headers,
        mut out: Out,
    ) -> Result<u8, u8> {
        let mut code = u8::from(inputs.iter().any(|(_, input)| input.is_none()));
        let mut last = inputs.len().checked_sub(1);
        // A pipe was read to its end: nothing is added to it any more.
        inputs.retain(|(_, input)| match input {
            Some(input) => files::stat_fd(input.fd()).is_ok_and(|found| found.kind == Kind::File),
            None => self.retry,
        });
        if inputs.is_empty() {
            if code != 0 {
                call.complain("no files remaining");
            }
            return Ok(call.finish(out, code));
        }
        loop {
            // Checked before the last read, so that the final output of the process is still printed.
            let is_over = self.pid.is_some_and(|pid| process::kill(pid, 0).is_err());
            for (index, (path, input)) in inputs.iter_mut().enumerate() {
                if self.by_name {
                    self.reopen_if_replaced(call, path, input);
                }
                let Some(input) = input else { continue };
                if let Err(message) = start_over_if_cut(call, path, input) {
                    call.complain(&message);
                    code = 1;
                }
                while let Ok(piece) = input.read() {
                    if piece.is_empty() {
                        break;
                    }
                    if last != Some(index) {
                        headers.print(path, &mut out);
                        last = Some(index);
                    }
                    out.push(&piece);
                }
            }
            out.flush();
            if is_over || out.has_failed() {
                return Ok(call.finish(out, code));
            }
            std::thread::sleep(self.interval);
        }
    }

    /// Opens the file that has the name now, if it is another.
    fn reopen_if_replaced(&self, call: &Call, path: &str, input: &mut Option<Input>) {
        let now = files::stat(path, true).ok();
        let held = input.as_ref().and_then(|input| files::stat_fd(input.fd()).ok());
        match (now, held) {
            (Some(now), Some(held)) if (now.device, now.inode) == (held.device, held.inode) => {}
            (Some(_), held) => {
                if let Ok(another) = Input::open(path) {
                    let what = if held.is_some() { "has been replaced" } else { "has appeared" };
                    call.complain(&format!("{} {what};  following new file", quote::shell(path)));
                    *input = Some(another);
                }
            }
            (None, Some(_)) => {
                call.complain(&format!("{} has become inaccessible: No such file or directory", quote::shell(path)));
                *input = None;
            }
            (None, None) => {}
        }
    }
}

/// Rewinds a file that has become shorter.
fn start_over_if_cut(call: &Call, path: &str, input: &Input) -> Result<(), String> {
    let failed = |errno| format!("{}: {}", quote::name(path), text(errno));
    let size = files::stat_fd(input.fd()).map_err(failed)?.size;
    if files::seek(input.fd(), 0, Whence::Current).map_err(failed)? > size {
        call.complain(&format!("{}: file truncated", quote::name(path)));
        files::seek(input.fd(), 0, Whence::Start).map_err(failed)?;
    }
    Ok(())
}
