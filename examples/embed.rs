//! Embeds a sandbox: a mounted directory, limits, a program without a shell, and output as it is written.
//!
//! ```sh
//! cargo run --example embed
//! ```

#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "an example stands for a program of the host")]

use std::time::Duration;

use isopod::{Command, Limits, Sandbox};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut limits = Limits::hardened();
    limits.wall = Duration::from_secs(10);
    let sandbox =
        Sandbox::builder().mount_read_only(env!("CARGO_MANIFEST_DIR"), "/workspace").limits(limits).build()?;

    // A command line: pipes, globs and redirections work as in bash.
    let output = sandbox.execute("cat examples/*.rs | wc -l").await?;
    println!("lines in the examples: {}", String::from_utf8_lossy(&output.stdout).trim());
    assert_eq!(output.exit_code, 0);

    // A program with its arguments: no shell reads them, so a space or a `*` is just a character.
    let sort = Command::program(["sort", "-n"]).stdin("10\n9\n");
    assert_eq!(sandbox.execute(sort).await?.stdout, b"9\n10\n");

    // The mount is read-only. A failed command is a result and not an error.
    let output = sandbox.execute("rm Cargo.toml").await?;
    print!("exit code {}: {}", output.exit_code, String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.exit_code, 1);

    // Output as it is written. Dropping `execution` would end the command and every process that it started.
    let mut execution = sandbox.stream("for step in one two three; do echo $step; done")?;
    while let Some(chunk) = execution.next().await {
        print!("{}", String::from_utf8_lossy(&chunk.bytes));
    }
    Ok(())
}
