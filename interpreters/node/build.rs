//! Sets the component's stack size for the engine's recursion: each call of a script is a call in the engine.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("wasm32") {
        println!("cargo::rustc-link-arg-bins=-zstack-size=4194304");
    }
}
