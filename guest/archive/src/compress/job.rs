//! The options of the compression programs.

use isopod_gnu::program::Call;

use super::tool::Tool;
use crate::codec::Format;

/// The work on each file.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Mode {
    Compress,
    Decompress,
    Test,
    List,
}

/// The options of a run.
pub(super) struct Job {
    pub(super) tool: &'static Tool,
    pub(super) format: Format,
    pub(super) mode: Mode,
    pub(super) to_stdout: bool,
    pub(super) keeps: bool,
    pub(super) forces: bool,
    pub(super) is_quiet: bool,
    pub(super) is_verbose: bool,
    pub(super) is_recursive: bool,
    /// True if gzip stores or restores the original name.
    pub(super) stores_name: Option<bool>,
    pub(super) level: u32,
    pub(super) suffix: String,
    pub(super) output: Option<String>,
}

impl Job {
    /// Reads the options. An error is the exit code, after its message has been printed.
    pub(super) fn read(call: &Call) -> Result<Job, u8> {
        let (tool, decompresses, to_stdout) = Tool::of(call.program.name);
        let mut job = Job {
            tool,
            format: tool.format,
            mode: if decompresses { Mode::Decompress } else { Mode::Compress },
            to_stdout,
            keeps: tool.format == Format::Zstd,
            forces: false,
            is_quiet: false,
            is_verbose: false,
            is_recursive: false,
            stores_name: None,
            level: tool.level,
            suffix: tool.suffix.to_owned(),
            output: None,
        };
        for found in &call.options {
            let value = found.value.as_deref().unwrap_or_default();
            match found.option {
                "stdout" | "to-stdout" => job.to_stdout = true,
                "decompress" | "uncompress" => job.mode = Mode::Decompress,
                "compress" => job.mode = Mode::Compress,
                "test" => job.mode = Mode::Test,
                "list" => job.mode = Mode::List,
                "force" => job.forces = true,
                "keep" => job.keeps = true,
                "rm" => job.keeps = false,
                "quiet" => job.is_quiet = true,
                "verbose" => job.is_verbose = true,
                "recursive" => job.is_recursive = true,
                "no-name" => job.stores_name = Some(false),
                "name" => job.stores_name = Some(true),
                "fast" => job.level = 1,
                "best" => job.level = 9,
                "output" => job.output = Some(value.to_owned()),
                "suffix" if value.is_empty() || value.contains('/') => {
                    call.complain(&format!("invalid suffix '{value}'"));
                    return Err(1);
                }
                "suffix" => job.suffix = value.to_owned(),
                "format" => match value {
                    "auto" | "xz" => {}
                    "lzma" | "alone" => {
                        job.format = Format::Lzma;
                        job.suffix = ".lzma".to_owned();
                    }
                    other => {
                        call.complain(&format!("{other}: Unknown file format type"));
                        return Err(1);
                    }
                },
                "threads" if value.parse::<u32>().is_err() => {
                    call.complain(&format!("{value}: Value is not a non-negative decimal integer"));
                    return Err(1);
                }
                digit if digit.len() == 1 => job.level = digit.parse().unwrap_or(job.level),
                _ => {}
            }
        }
        Ok(job)
    }

    /// Returns the name of the compressed file.
    pub(super) fn packed_name(&self, path: &str) -> Option<String> {
        let is_packed = path.ends_with(&self.suffix)
            || self.tool.format != Format::Zstd
                && self.tool.suffixes.iter().any(|(suffix, _)| path.to_ascii_lowercase().ends_with(suffix));
        // zstd compresses compressed files again.
        (!is_packed || self.tool.format == Format::Zstd).then(|| format!("{path}{}", self.suffix))
    }

    /// Returns the name of the decompressed file.
    pub(super) fn unpacked_name(&self, path: &str) -> Option<String> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let own = [(self.suffix.as_str(), "")];
        let (suffix, instead) = own.iter().chain(self.tool.suffixes).find(|(suffix, _)| {
            name.len() > suffix.len() && name.to_ascii_lowercase().ends_with(&suffix.to_ascii_lowercase())
        })?;
        Some(format!("{}{instead}", &path[..path.len() - suffix.len()]))
    }
}
