//! Keeps a shell between calls: directory, variables, functions and background jobs stay.
//!
//! ```sh
//! cargo run --example session
//! ```

#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "an example stands for a program of the host")]

use std::time::Duration;

use isopod::{Command, Sandbox};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let session = Sandbox::builder().build()?.session()?;
    session.execute_blocking("mkdir -p src && cd src && export STAGE=test")?;
    session.execute_blocking("greet() { echo \"hello from $STAGE in $PWD\"; }")?;
    let output = session.execute_blocking("greet")?;
    print!("{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(output.stdout, b"hello from test in /workspace/src\n");

    // A call that runs out of time is ended; the session and its state live on.
    let slow = Command::shell("sleep 1000").timeout(Duration::from_millis(100));
    let output = session.execute_blocking(slow)?;
    assert!(output.timed_out);
    assert_eq!(session.execute_blocking("greet")?.stdout, b"hello from test in /workspace/src\n");
    println!("the session survived a timeout");
    Ok(())
}
