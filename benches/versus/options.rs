//! The command line.

use std::path::PathBuf;

pub const HELP: &str = "\
Isopod against native processes, containers and another sandbox, measured in turns in one run.

usage: cargo bench --bench versus -- [OPTION…] [WORD…]

Words select the rows and curves whose name or group contains one of them; without words, all are measured.

  --quick           smaller sizes and fewer samples: about a minute instead of a quarter of an hour
  --list            name the rows and curves, and measure nothing
  --out DIR         where to write table.md, summary.md, results.json, rows.svg, comparison.svg, growth.svg and index.html [target/versus]
  --json FILE       write the JSON there as well; - is standard output, and the table then goes to standard error
  --bashkit FILE    the peer program of benches/peers [target/peers/release/bashkit-peer]
  --image NAME      the image for docker; it needs a /bin/sh [isopod-versus:busybox]
  --wasmtime FILE   wasmtime's command [target/peers/bin/wasmtime]
  --coreutils FILE  the core utilities as a component precompiled by it [target/peers/bin/coreutils.cwasm]
  --strict          fail if a goal is missed
  --help            this

The docker client uses DOCKER_HOST; benches/versus/docker-up starts a daemon of its own and
benches/versus/all does everything: the daemon, the peers, the measurement.
";

/// The options of a run.
pub struct Options {
    pub quick: bool,
    pub list: bool,
    pub strict: bool,
    pub out: PathBuf,
    pub json: Option<String>,
    pub bashkit: PathBuf,
    pub image: String,
    pub wasmtime: PathBuf,
    pub coreutils: PathBuf,
    words: Vec<String>,
}

impl Options {
    /// Parses the arguments. `None` asks for help.
    pub fn parse(arguments: impl Iterator<Item = String>) -> Result<Option<Options>, String> {
        let target = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target");
        let mut options = Options {
            quick: false,
            list: false,
            strict: false,
            out: target.join("versus"),
            json: None,
            bashkit: target.join("peers/release/bashkit-peer"),
            image: "isopod-versus:busybox".to_owned(),
            wasmtime: target.join("peers/bin/wasmtime"),
            coreutils: target.join("peers/bin/coreutils.cwasm"),
            words: Vec::new(),
        };
        let mut arguments = arguments;
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
            match argument.as_str() {
                // cargo adds this one.
                "--bench" => {}
                "--help" | "-h" => return Ok(None),
                "--quick" => options.quick = true,
                "--list" => options.list = true,
                "--strict" => options.strict = true,
                "--out" => options.out = value()?.into(),
                "--json" => options.json = Some(value()?),
                "--bashkit" => options.bashkit = value()?.into(),
                "--image" => options.image = value()?,
                "--coreutils" => options.coreutils = value()?.into(),
                "--wasmtime" => options.wasmtime = value()?.into(),
                unknown if unknown.starts_with('-') => return Err(format!("unknown option {unknown}; see --help")),
                word => options.words.push(word.to_owned()),
            }
        }
        Ok(Some(options))
    }

    /// Returns true if a measurement of this name is selected.
    pub fn is_chosen(&self, name: &str) -> bool {
        self.words.is_empty() || self.words.iter().any(|word| name.contains(word.as_str()))
    }

    /// Returns the full size or the quick one.
    pub fn size<T>(&self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }
}
