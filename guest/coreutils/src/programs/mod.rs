//! The programs, one file or directory each.

mod basename;
mod cal;
mod column;
mod comm;
mod csplit;
mod cut;
mod date;
mod encode;
mod envsubst;
mod expr;
mod fmt;
mod fold;
mod hexdump;
mod iconv;
mod join;
mod nl;
mod numfmt;
mod od;
mod paste;
mod pr;
mod printf;
mod ptx;
mod rev;
mod seq;
mod shuf;
mod split;
mod strings;
mod sums;
mod tee;
mod touch;
mod tr;
mod tsort;
mod uniq;
mod uuidgen;
mod xxd;

use isopod_gnu::program::Program;

/// The programs, sorted by name.
pub(crate) const PROGRAMS: &[&Program] = &[
    &sums::B2,
    &encode::BASE32,
    &encode::BASE64,
    &basename::BASENAME,
    &encode::BASENC,
    &cal::PROGRAM,
    &sums::CKSUM,
    &column::PROGRAM,
    &comm::PROGRAM,
    &csplit::PROGRAM,
    &cut::PROGRAM,
    &date::PROGRAM,
    &basename::DIRNAME,
    &envsubst::PROGRAM,
    &expr::PROGRAM,
    &fmt::PROGRAM,
    &fold::PROGRAM,
    &hexdump::HD,
    &hexdump::HEXDUMP,
    &iconv::PROGRAM,
    &join::PROGRAM,
    &sums::MD5,
    &nl::PROGRAM,
    &numfmt::PROGRAM,
    &od::PROGRAM,
    &paste::PROGRAM,
    &pr::PROGRAM,
    &printf::PROGRAM,
    &ptx::PROGRAM,
    &rev::PROGRAM,
    &seq::PROGRAM,
    &sums::SHA1,
    &sums::SHA224,
    &sums::SHA256,
    &sums::SHA384,
    &sums::SHA512,
    &sums::SHASUM,
    &shuf::PROGRAM,
    &split::PROGRAM,
    &strings::PROGRAM,
    &sums::SUM,
    &tee::PROGRAM,
    &touch::PROGRAM,
    &tr::PROGRAM,
    &tsort::PROGRAM,
    &uniq::PROGRAM,
    &uuidgen::PROGRAM,
    &xxd::PROGRAM,
];
