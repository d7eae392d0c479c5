//! `sh`, also `bash` and `dash`.

fn main() {
    // Not through `isopod_sys::entry`: the shell opens nothing through std, so std needs no working directory.
    isopod_sys::exit(isopod_sh::main())
}
