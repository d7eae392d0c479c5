//! Files, directories and open descriptors.

use isopod_gnu::output::PIECE;
use isopod_sys::files::{self, Attributes, Kind, OpenFlags, Whence};
use isopod_sys::{Errno, Fd, fs};
use rquickjs::prelude::{Func, Opt};
use rquickjs::{Ctx, IntoJs, Object, Result, TypedArray, Value};

use super::{OUT, Text, View, array, flush, nanos, refused};

/// The largest write to the kernel, in bytes.
const WRITE: usize = 1 << 20;

pub(super) fn add(sys: &Object<'_>) -> Result<()> {
    sys.set("readFile", Func::from(read_file))?;
    sys.set("readText", Func::from(read_text))?;
    sys.set("writeFile", Func::from(write_file))?;
    sys.set("open", Func::from(open))?;
    sys.set(
        "close",
        Func::from(|ctx: Ctx<'_>, fd: f64| files::close(fd as u32).map_err(|errno| refused(&ctx, errno))),
    )?;
    sys.set("read", Func::from(read))?;
    sys.set("write", Func::from(write))?;
    sys.set("seek", Func::from(seek))?;
    sys.set("flush", Func::from(flush))?;
    sys.set("stat", Func::from(stat))?;
    sys.set("statFd", Func::from(stat_fd))?;
    sys.set("list", Func::from(list))?;
    sys.set("mkdir", Func::from(|ctx: Ctx<'_>, path: Text| on_path(&ctx, path, fs::create_dir)))?;
    sys.set("rmdir", Func::from(|ctx: Ctx<'_>, path: Text| on_path(&ctx, path, fs::remove_dir)))?;
    sys.set("unlink", Func::from(|ctx: Ctx<'_>, path: Text| on_path(&ctx, path, fs::remove_file)))?;
    sys.set("rename", Func::from(|ctx: Ctx<'_>, from: Text, to: Text| on_paths(&ctx, from, to, fs::rename)))?;
    sys.set("link", Func::from(|ctx: Ctx<'_>, from: Text, to: Text| on_paths(&ctx, from, to, fs::hard_link)))?;
    sys.set("symlink", Func::from(|ctx: Ctx<'_>, from: Text, to: Text| on_paths(&ctx, from, to, fs::symlink)))?;
    sys.set("readlink", Func::from(read_link))?;
    sys.set("chmod", Func::from(chmod))?;
    sys.set("chown", Func::from(chown))?;
    sys.set("utimes", Func::from(utimes))
}

fn read_whole(ctx: &Ctx<'_>, path: &str) -> Result<Vec<u8>> {
    flush();
    let read = || {
        let file = Fd::open(path, OpenFlags::READ, 0)?;
        let mut content = Vec::new();
        loop {
            let piece = file.read(PIECE as u32)?;
            if piece.is_empty() {
                return Ok(content);
            }
            content.extend_from_slice(&piece);
        }
    };
    read().map_err(|errno| refused(ctx, errno))
}

fn read_file<'js>(ctx: Ctx<'js>, path: Text) -> Result<TypedArray<'js, u8>> {
    let content = read_whole(&ctx, &path.0)?;
    array(&ctx, content)
}

fn read_text(ctx: Ctx<'_>, path: Text) -> Result<String> {
    let content = read_whole(&ctx, &path.0)?;
    Ok(String::from_utf8(content).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

fn flags(text: &str) -> Option<OpenFlags> {
    let (read, write) = (OpenFlags::READ, OpenFlags::WRITE);
    let flags = match text {
        "r" | "rs" => read,
        "r+" | "rs+" => read | write,
        "w" => write | OpenFlags::CREATE | OpenFlags::TRUNCATE,
        "wx" => write | OpenFlags::CREATE | OpenFlags::EXCLUSIVE,
        "w+" => read | write | OpenFlags::CREATE | OpenFlags::TRUNCATE,
        "wx+" => read | write | OpenFlags::CREATE | OpenFlags::EXCLUSIVE,
        "a" => write | OpenFlags::APPEND | OpenFlags::CREATE,
        "ax" => write | OpenFlags::APPEND | OpenFlags::CREATE | OpenFlags::EXCLUSIVE,
        "a+" => read | write | OpenFlags::APPEND | OpenFlags::CREATE,
        "ax+" => read | write | OpenFlags::APPEND | OpenFlags::CREATE | OpenFlags::EXCLUSIVE,
        _ => return None,
    };
    Some(flags)
}

fn open(ctx: Ctx<'_>, path: Text, how: String, mode: f64) -> Result<u32> {
    let opened = flags(&how).ok_or(Errno::Invalid).and_then(|how| files::open(&path.0, how, mode as u32));
    opened.map_err(|errno| refused(&ctx, errno))
}

fn write_file(ctx: Ctx<'_>, path: Text, content: View, how: String, mode: f64) -> Result<()> {
    flush();
    let write = || {
        let file = Fd::open(&path.0, flags(&how).ok_or(Errno::Invalid)?, mode as u32)?;
        content.0.chunks(WRITE).try_for_each(|piece| files::write(file.raw(), piece))
    };
    write().map_err(|errno| refused(&ctx, errno))
}

/// Returns bytes, none at the end, or null after the timeout.
fn read<'js>(ctx: Ctx<'js>, fd: f64, length: f64, timeout: Opt<Option<f64>>) -> Result<Value<'js>> {
    flush();
    match files::read(fd as u32, length.min(PIECE as f64) as u32, timeout.0.flatten().map(nanos)) {
        Ok(piece) => Ok(array(&ctx, piece)?.into_value()),
        Err(Errno::TimedOut) => Ok(Value::new_null(ctx)),
        Err(errno) => Err(refused(&ctx, errno)),
    }
}

/// Writes. Standard output is buffered; any other descriptor is written at once, after standard output.
fn write(ctx: Ctx<'_>, fd: f64, content: View) -> Result<()> {
    if fd == 1.0 {
        let has_failed = OUT.with_borrow_mut(|out| {
            out.push(&content.0);
            out.has_failed()
        });
        return if has_failed { Err(refused(&ctx, Errno::Pipe)) } else { Ok(()) };
    }
    flush();
    let write = |piece: &[u8]| files::write(fd as u32, piece);
    content.0.chunks(WRITE).try_for_each(write).map_err(|errno| refused(&ctx, errno))
}

/// `seek(fd, offset, 0 from the start | 1 from here | 2 from the end)`
fn seek(ctx: Ctx<'_>, fd: f64, offset: f64, whence: f64) -> Result<f64> {
    let whence = match whence as u32 {
        0 => Whence::Start,
        1 => Whence::Current,
        _ => Whence::End,
    };
    files::seek(fd as u32, offset as i64, whence).map(|at| at as f64).map_err(|errno| refused(&ctx, errno))
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::File => "file",
        Kind::Directory => "directory",
        Kind::Symlink => "symlink",
        Kind::Device => "device",
        Kind::Pipe => "pipe",
    }
}

/// Returns kind, mode, owner, group, size, links, device, inode, and three times in milliseconds.
fn attributes<'js>(ctx: &Ctx<'js>, of: &Attributes) -> Result<Value<'js>> {
    let mut values = vec![kind(of.kind).into_js(ctx)?];
    for number in [of.mode.into(), of.uid.into(), of.gid.into(), of.size, of.links, of.device, of.inode] {
        values.push((number as f64).into_js(ctx)?);
    }
    for nanos in [of.accessed, of.modified, of.changed] {
        values.push((nanos as f64 / 1e6).into_js(ctx)?);
    }
    values.into_js(ctx)
}

fn stat<'js>(ctx: Ctx<'js>, path: Text, follow: bool) -> Result<Value<'js>> {
    let found = files::stat(&path.0, follow).map_err(|errno| refused(&ctx, errno))?;
    attributes(&ctx, &found)
}

fn stat_fd<'js>(ctx: Ctx<'js>, fd: f64) -> Result<Value<'js>> {
    let found = files::stat_fd(fd as u32).map_err(|errno| refused(&ctx, errno))?;
    attributes(&ctx, &found)
}

/// Returns names and kinds in turn, sorted by name.
fn list(ctx: Ctx<'_>, path: Text) -> Result<Vec<String>> {
    let mut entries = files::entries(&path.0).map_err(|errno| refused(&ctx, errno))?;
    entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    Ok(entries.into_iter().flat_map(|entry| [entry.name, kind(entry.kind).to_owned()]).collect())
}

fn on_path(ctx: &Ctx<'_>, path: Text, call: fn(&str) -> std::result::Result<(), Errno>) -> Result<()> {
    call(&path.0).map_err(|errno| refused(ctx, errno))
}

fn on_paths(ctx: &Ctx<'_>, from: Text, to: Text, call: fn(&str, &str) -> std::result::Result<(), Errno>) -> Result<()> {
    call(&from.0, &to.0).map_err(|errno| refused(ctx, errno))
}

fn read_link(ctx: Ctx<'_>, path: Text) -> Result<String> {
    fs::read_link(&path.0).map_err(|errno| refused(&ctx, errno))
}

fn chmod(ctx: Ctx<'_>, path: Text, mode: f64) -> Result<()> {
    files::chmod(&path.0, mode as u32 & 0o7777, true).map_err(|errno| refused(&ctx, errno))
}

fn chown(ctx: Ctx<'_>, path: Text, uid: f64, gid: f64, follow: bool) -> Result<()> {
    files::chown(&path.0, Some(uid as u32), Some(gid as u32), follow).map_err(|errno| refused(&ctx, errno))
}

/// `utimes(path, accessed, modified, follow)`, in seconds.
fn utimes(ctx: Ctx<'_>, path: Text, accessed: f64, modified: f64, follow: bool) -> Result<()> {
    let set = fs::set_times(&path.0, nanos(accessed * 1e3), nanos(modified * 1e3), follow);
    set.map_err(|errno| refused(&ctx, errno))
}
