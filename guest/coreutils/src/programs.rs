//! The programs by name.

use std::ffi::OsString;

/// A program: its arguments, its own name first, to its exit code.
pub(crate) type Program = fn(Vec<OsString>) -> i32;

/// The program of this name.
pub(crate) fn find(name: &str) -> Option<Program> {
    let index = PROGRAMS.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
    Some(PROGRAMS[index].1)
}

/// Pairs each name with the main function of its crate.
macro_rules! programs {
    ($($name:literal $crate_:ident,)*) => {
        /// All programs, sorted by name. `programs.txt` lists the same names for the host's build.
        const PROGRAMS: &[(&str, Program)] = &[$(($name, |args| $crate_::uumain(args.into_iter())),)*];
    };
}

programs! {
    "b2sum" uu_b2sum,
    "base32" uu_base32,
    "base64" uu_base64,
    "basename" uu_basename,
    "basenc" uu_basenc,
    "cksum" uu_cksum,
    "comm" uu_comm,
    "csplit" uu_csplit,
    "cut" uu_cut,
    "date" uu_date,
    "dirname" uu_dirname,
    "expr" uu_expr,
    "fmt" uu_fmt,
    "fold" uu_fold,
    "join" uu_join,
    "link" uu_link,
    "ln" uu_ln,
    "md5sum" uu_md5sum,
    "nl" uu_nl,
    "numfmt" uu_numfmt,
    "od" uu_od,
    "paste" uu_paste,
    "pr" uu_pr,
    "printf" uu_printf,
    "readlink" uu_readlink,
    "realpath" uu_realpath,
    "seq" uu_seq,
    "sha1sum" uu_sha1sum,
    "sha224sum" uu_sha224sum,
    "sha256sum" uu_sha256sum,
    "sha384sum" uu_sha384sum,
    "sha512sum" uu_sha512sum,
    "shuf" uu_shuf,
    "split" uu_split,
    "sum" uu_sum,
    "tee" uu_tee,
    "touch" uu_touch,
    "tr" uu_tr,
    "truncate" uu_truncate,
    "tsort" uu_tsort,
    "uniq" uu_uniq,
    "unlink" uu_unlink,
}

/// Checked by every build, so that the host's list and this one can't drift apart: a unit test would need all of
/// uutils compiled for the build machine as well.
const _: () = assert!(are_listed(include_str!("../programs.txt").as_bytes()), "programs.txt and PROGRAMS differ");

const fn are_listed(list: &[u8]) -> bool {
    let (mut at, mut index) = (0, 0);
    while index < PROGRAMS.len() {
        let name = PROGRAMS[index].0.as_bytes();
        let mut byte = 0;
        while byte < name.len() {
            if at >= list.len() || list[at] != name[byte] {
                return false;
            }
            (at, byte) = (at + 1, byte + 1);
        }
        if at >= list.len() || list[at] != b'\n' {
            return false;
        }
        (at, index) = (at + 1, index + 1);
    }
    at == list.len()
}
