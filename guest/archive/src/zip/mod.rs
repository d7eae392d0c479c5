//! `zip` and `unzip`.
//!
//! # Layout
//! - `entry`: the facts about a file in an archive; `directory`: the list of entries at its end
//! - `command`: the command lines, which follow rules of their own
//! - `pack`, `write`: creating archives
//! - `unpack`, `listing`: reading them

mod command;
mod directory;
mod entry;
mod listing;
mod pack;
mod unpack;
mod write;

use isopod_gnu::program::{Program, Syntax};

/// `zip`.
pub(crate) const ZIP: Program = Program {
    name: "zip",
    operands: &["[-0..-9dDfijmqrTuvXxy@] ZIPFILE [FILE]... [-x LIST] [-i LIST]"],
    about: "Package and compress files.\n\n\
  -r   recurse into directories        -j   junk (don't record) directory names\n\
  -0   store only                      -1 to -9   compress faster to better\n\
  -q   quiet operation                 -v   verbose operation\n\
  -u   update: only changed or new     -f   freshen: only changed files\n\
  -d   delete entries in zipfile       -m   move into zipfile (delete OS files)\n\
  -x   exclude the following names     -i   include only the following names\n\
  -y   store symbolic links as links   -D   do not add directory entries\n\
  -X   exclude extra file attributes   -T   test zipfile integrity\n\
  -@   read names from stdin           -o   (refused) make zipfile as old as its latest entry",
    syntax: Syntax::Own,
    options: &[],
    failure: 16,
    run: pack::run,
};

/// `unzip`.
pub(crate) const UNZIP: Program = Program {
    name: "unzip",
    operands: &["[-lvtpcjnoquCLXZ1] FILE[.zip] [LIST]... [-x XLIST] [-d EXDIR]"],
    about: "List, test and extract compressed files in a ZIP archive.\n\n\
  -p  extract files to pipe, no messages     -l  list files (short format)\n\
  -c  extract files to stdout with messages  -t  test compressed archive data\n\
  -u  update files, create if necessary      -f  freshen existing files, create none\n\
  -v  list verbosely                         -Z1 list names only\n\
  -x  exclude files that follow (in xlist)   -d  extract files into exdir\n\
  -n  never overwrite existing files         -q  quiet mode (-qq => quieter)\n\
  -o  overwrite files WITHOUT prompting      -j  junk paths (do not make directories)\n\
  -C  match filenames case-insensitively     -L  make names lowercase",
    syntax: Syntax::Own,
    options: &[],
    failure: 10,
    run: unpack::run,
};
