//! Lets a command change a directory, shows the changes, and keeps or discards them.
//!
//! ```sh
//! cargo run --example overlay
//! ```

#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "an example stands for a program of the host")]

use std::fs;

use isopod::Sandbox;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::temp_dir().join(format!("isopod-overlay-{}", std::process::id()));
    fs::create_dir_all(&directory)?;
    fs::write(directory.join("notes.txt"), "first\n")?;

    let sandbox = Sandbox::builder().mount_overlay(&directory, "/workspace").build()?;
    sandbox.execute_blocking("echo second >> notes.txt; echo draft > new.txt")?;
    // Nothing has reached the directory yet.
    assert_eq!(fs::read_to_string(directory.join("notes.txt"))?, "first\n");

    for (mount_point, overlay) in sandbox.overlays() {
        println!("changes in {mount_point}:");
        print!("{}", overlay.diff()?.patch()?);
        overlay.commit()?;
    }
    assert_eq!(fs::read_to_string(directory.join("notes.txt"))?, "first\nsecond\n");

    // The next changes are thrown away.
    sandbox.execute_blocking("rm notes.txt new.txt")?;
    for (_, overlay) in sandbox.overlays() {
        overlay.discard()?;
    }
    assert!(directory.join("notes.txt").is_file());
    fs::remove_dir_all(&directory)?;
    Ok(())
}
