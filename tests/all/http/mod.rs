//! `isopod serve` from outside, over its socket.

mod bounds;
pub mod client;
mod deerflow;
mod keys;
mod manual;
mod rest;
pub mod stream;
