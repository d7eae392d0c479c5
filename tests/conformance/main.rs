//! One suite for every backend: the semantics and strings that frameworks expect, and the attacks on file operations.
//!
//! The cases are in `cases/*.toml`. Each runs on every backend that has the features it needs; backends that are not
//! installed are named and left out. `cargo test --test conformance -- --nocapture` prints the counts.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, missing_docs, unreachable_pub, reason = "tests")]
#![allow(clippy::disallowed_methods, reason = "tests look at the host from outside")]

mod attacks;
mod call;
mod case;
mod execute;
mod layers;
mod plans;
mod subject;

use subject::Subject;

/// Runs all cases on a backend.
async fn conforms(subject: Option<Subject>, name: &str) {
    match subject {
        Some(subject) => case::all(&subject).await,
        None => println!("{name}: left out, it is not on this machine"),
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

macro_rules! conforms {
    ($($test:ident: $subject:ident;)*) => { $(
        #[test]
        fn $test() {
            runtime().block_on(async { conforms(subject::$subject().await, stringify!($subject)).await });
        }
    )* };
}

conforms! {
    isopod_conforms: isopod;
    isopod_over_a_directory_of_the_host_conforms: isopod_host;
    isopod_over_an_overlay_conforms: isopod_overlay;
    a_leased_sandbox_conforms: leased;
    local_shell_conforms: local_shell;
    memory_conforms: memory;
    directory_conforms: directory;
    store_conforms: store;
    exec_files_over_the_local_shell_conform: exec_local;
    exec_files_over_isopod_conform: exec_isopod;
    docker_conforms: docker;
    what_docker_is_told_conforms: docker_client;
    bubblewrap_conforms: bubblewrap;
    composite_conforms: composite;
    a_stack_of_layers_conforms: layered;
    a_dry_run_conforms: dry_run;
    a_worker_conforms: worker;
    a_worker_over_a_directory_of_the_host_conforms: worker_host;
}
