//! Programs for data: `jq` and `yq`, `bc` and `dc`.
//!
//! # Layout
//! - `value`: JSON values, shared and copied on write
//! - `json`: JSON texts, read piece by piece and written
//! - `jq`: the language, its machine and its command line
//! - `yaml`, `yq`: YAML, and the same language on it
//! - `calc`: numbers of any length, for `bc` and `dc`

mod calc;
mod jq;
mod json;
mod value;
mod yaml;
mod yq;

use isopod_gnu::program::Program;

/// The programs, sorted by name.
const PROGRAMS: &[&Program] = &[&calc::bc::PROGRAM, &calc::dc::PROGRAM, &jq::PROGRAM, &yq::PROGRAM];

isopod_gnu::component!(PROGRAMS);
