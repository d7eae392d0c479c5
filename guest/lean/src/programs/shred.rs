//! `shred`: overwrites files.

use isopod_gnu::options::Opt;
use isopod_gnu::path::last_part;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote::{name, plain};
use isopod_gnu::size;
use isopod_sys::files::{self, Kind, OpenFlags, Whence};
use isopod_sys::{Errno, Fd, fs, text, write_all};

/// `shred`.
pub(crate) const PROGRAM: Program = Program {
    name: "shred",
    operands: &["[OPTION]... FILE..."],
    about: "Overwrite the specified FILE(s) repeatedly, in order to make it harder to recover the data.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('f', "force", "change permissions to allow writing if necessary"),
        Opt::flag('n', "iterations", "overwrite N times instead of the default (3)").takes("N"),
        Opt::flag('s', "size", "shred this many bytes").takes("N"),
        Opt::letter('u', "remove", "deallocate and remove file after overwriting"),
        Opt::long("remove", "like -u but give control on HOW to delete: unlink, wipe, wipesync").may_take("HOW"),
        Opt::flag('v', "verbose", "show progress"),
        Opt::flag('x', "exact", "do not round file sizes up to the next full block"),
        Opt::flag('z', "zero", "add a final overwrite with zeros to hide shredding"),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

/// The block size of the sandbox's file systems; sizes are rounded up to it.
const BLOCK: u64 = 4096;
const PIECE: usize = 64 * 1024;

fn run(call: &Call) -> Result<u8, u8> {
    if call.operands.is_empty() {
        return Err(call.misused("missing file operand"));
    }
    let number = |option: &str, what: &str| match call.value(option) {
        None => Ok(None),
        Some(text) => size::parse(text).map(Some).ok_or_else(|| {
            call.complain(&format!("invalid {what}: {}", plain(text)));
            1
        }),
    };
    let passes = number("iterations", "number of passes")?.unwrap_or(3);
    let size = number("size", "file size")?;
    let mut code = 0;
    for path in &call.operands {
        if let Err(message) = shred(call, path, passes, size) {
            call.complain(&format!("{}: {message}", name(path)));
            code = 1;
        }
    }
    Ok(code)
}

fn shred(call: &Call, path: &str, passes: u64, size: Option<u64>) -> Result<(), String> {
    let cannot = |errno| format!("failed to open for writing: {}", text(errno));
    let file = match Fd::open(path, OpenFlags::WRITE, 0) {
        Err(Errno::Access) if call.has("force") => {
            files::chmod(path, 0o200, true).map_err(cannot)?;
            Fd::open(path, OpenFlags::WRITE, 0)
        }
        result => result,
    };
    let file = file.map_err(cannot)?;
    let found = files::stat_fd(file.raw()).map_err(cannot)?;
    let rounded =
        if call.has("exact") || found.kind != Kind::File { found.size } else { found.size.div_ceil(BLOCK) * BLOCK };
    let size = size.unwrap_or(rounded);
    let total = passes + u64::from(call.has("zero"));
    for pass in 1..=total {
        let zeros = pass > passes;
        if call.has("verbose") {
            let what = if zeros { "000000" } else { "random" };
            call.complain(&format!("{}: pass {pass}/{total} ({what})...", name(path)));
        }
        overwrite(&file, size, zeros).map_err(|errno| format!("error writing at offset 0: {}", text(errno)))?;
    }
    drop(file);
    if call.has("remove") {
        if call.has("verbose") {
            call.complain(&format!("{}: removing", name(last_part(path))));
        }
        fs::remove_file(path).map_err(|errno| format!("failed to remove: {}", text(errno)))?;
        if call.has("verbose") {
            call.complain(&format!("{}: removed", name(last_part(path))));
        }
    }
    Ok(())
}

fn overwrite(file: &Fd, size: u64, zeros: bool) -> Result<(), Errno> {
    let random = Fd::open("/dev/urandom", OpenFlags::READ, 0)?;
    files::seek(file.raw(), 0, Whence::Start)?;
    let mut left = size;
    while left > 0 {
        let count = left.min(PIECE as u64) as usize;
        let bytes = if zeros { vec![0; count] } else { random.read(count as u32)? };
        if bytes.is_empty() {
            return Err(Errno::Io);
        }
        write_all(file.raw(), &bytes)?;
        left -= bytes.len() as u64;
    }
    Ok(())
}
