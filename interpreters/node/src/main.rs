//! `node`: JavaScript with Node's modules.
//!
//! The language is QuickJS-NG's, C that is compiled to WebAssembly with the rest. What Node adds to it is written in
//! JavaScript on few native calls; a part of it is compiled when a script first asks for it, so that a start pays for
//! the engine and for what every script has.
//!
//! # Layout
//! - `command`: options, and which program to run
//! - `engine`: a run from the first statement to the last event, and how it ends
//! - `modules`: ES modules; what they are, and CommonJS, is said in `lib/modules.js`
//! - `natives`: what the library can ask the kernel and the engine for
//! - `library`: the library's text, `lib/*.js`

mod command;
mod engine;
mod library;
mod modules;
mod natives;

use isopod_gnu::program::main_of;

fn main() {
    main_of(command::PROGRAMS)
}
