//! `node`: JavaScript with Node's modules.
//!
//! The engine is QuickJS-NG, C that is compiled to WebAssembly with the rest. Node's additions are written in
//! JavaScript on few native calls. A part of them is compiled when a script first needs it, so that a start pays only
//! for the engine and for the parts that every script needs.
//!
//! # Layout
//! - `command`: the command line
//! - `engine`: a run from the first statement to the last event, and its exit code
//! - `modules`: ES modules, as far as the engine needs them; `lib/modules.js` has the rest, and CommonJS
//! - `natives`: the calls of the kernel and of the engine that the library uses
//! - `library`: the library's text, `lib/*.js`

mod command;
mod engine;
mod library;
mod modules;
mod natives;

isopod_gnu::component!(command::PROGRAMS);
