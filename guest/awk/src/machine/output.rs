//! `print` and `printf`.

use isopod_sys::{Errno, text};

use super::{Machine, Run};
use crate::code::global;
use crate::printf;
use crate::streams::Writer;
use crate::syntax::tree::Redirect;
use crate::value::Value;

impl Machine {
    /// Prints the record to standard output.
    pub(super) fn print_record(&mut self) -> Run<()> {
        let out = &mut self.streams.standard_output;
        let buffer = out.buffer();
        buffer.extend_from_slice(self.record.whole(&self.ofs, &self.convfmt));
        buffer.extend_from_slice(&self.ors);
        written(out)
    }

    pub(super) fn print(&mut self, count: usize, redirect: Option<Redirect>) -> Run<()> {
        let target = redirect.map(|redirect| (redirect, self.pop_text()));
        let from = self.stack.len() - count;
        if let Some(Value::Array(_)) = self.stack[from..].iter().find(|value| matches!(value, Value::Array(_))) {
            return Err("attempt to use an array in a scalar context".into());
        }
        let env = environment(&self.globals);
        let out = match &target {
            Some((redirect, name)) => self.streams.writer(name, *redirect, &env)?,
            None => &mut self.streams.standard_output,
        };
        let buffer = out.buffer();
        if count == 0 {
            buffer.extend_from_slice(self.record.whole(&self.ofs, &self.convfmt));
        }
        for (index, value) in self.stack[from..].iter().enumerate() {
            if index > 0 {
                buffer.extend_from_slice(&self.ofs);
            }
            value.write(&self.ofmt, buffer);
        }
        buffer.extend_from_slice(&self.ors);
        written(out)?;
        self.stack.truncate(from);
        Ok(())
    }

    pub(super) fn printf(&mut self, count: usize, redirect: Option<Redirect>) -> Run<()> {
        let target = redirect.map(|redirect| (redirect, self.pop_text()));
        let from = self.stack.len() - count;
        let format = self.stack[from].to_text(&self.convfmt);
        let text = printf::format(&format, &self.stack[from + 1..], &self.convfmt, self.bytes)?;
        self.stack.truncate(from);
        let env = environment(&self.globals);
        let out = match &target {
            Some((redirect, name)) => self.streams.writer(name, *redirect, &env)?,
            None => &mut self.streams.standard_output,
        };
        out.buffer().extend_from_slice(&text);
        written(out)
    }
}

/// Returns the environment of child processes: the current content of ENVIRON.
pub(crate) fn environment(globals: &[Value]) -> impl Fn() -> Vec<(String, String)> + use<> {
    let environ = globals[global::ENVIRON].clone();
    move || {
        let Value::Array(environ) = &environ else { return Vec::new() };
        let environ = environ.borrow();
        let text = |value: &Value| String::from_utf8_lossy(&value.to_text(b"%.6g")).into_owned();
        let keys = environ.keys();
        keys.iter()
            .filter_map(|key| {
                let mut buffer = Vec::new();
                let value = environ.get(super::operators::key_of(key, b"%.6g", &mut buffer))?;
                Some((text(key), text(value)))
            })
            .collect()
    }
}

#[inline]
fn written(out: &mut Writer) -> Run<()> {
    match out.written() {
        Ok(()) => Ok(()),
        // The reader of the pipe has gone. The program ends without a message.
        Err(Errno::Pipe) => Err(String::new()),
        Err(errno) => Err(format!("write failed: {}", text(errno))),
    }
}
