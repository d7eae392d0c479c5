//! `isopod serve` from outside, over its socket.

mod bounds;
mod client;
mod deerflow;
mod keys;
mod readme;
mod rest;
mod stream;
