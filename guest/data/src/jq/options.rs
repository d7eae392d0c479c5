//! The command line of `jq`.

use std::collections::HashMap;
use std::rc::Rc;

use isopod_gnu::output::read_file;
use isopod_gnu::program::Call;
use isopod_sys::text;

use crate::json::{Colors, Layout, Reader, parse};
use crate::value::{Object, Value};

/// The text of `--help`.
pub(super) const ABOUT: &str = "Apply a filter to JSON texts and print the results as JSON.
The language is that of jq 1.6 with the additions of 1.7; modules (import, include, -L) are not supported.
Whole numbers that a double would round are printed as they came, as by jq 1.7.

  -c, --compact-output       one line an output
  -r, --raw-output           strings without quotes
  -j, --join-output          like -r, without newlines
      --raw-output0          like -r, with a NUL after each output
  -a, --ascii-output         escape what is not ASCII
  -S, --sort-keys            sort the keys of objects
  -C, --color-output         colour the output (JQ_COLORS)
  -M, --monochrome-output    no colours
      --tab                  indent with tabs
      --indent N             indent with N spaces, 0 to 7
      --unbuffered           write after each output
  -n, --null-input           don't read: the input is null
  -R, --raw-input            each line is a string
  -s, --slurp                all inputs in one array
      --stream               events in place of values
      --seq                  texts begin with a record separator
  -f, --from-file FILE       the filter is in FILE
  -e, --exit-status          1 if the last output is false or null, 4 without any
      --arg NAME VALUE       $NAME is a string
      --argjson NAME JSON    $NAME is a value
      --slurpfile NAME FILE  $NAME is the array of values in FILE
      --rawfile NAME FILE    $NAME is the text of FILE
      --args                 arguments are strings, in $ARGS.positional
      --jsonargs             arguments are values, in $ARGS.positional";

/// The largest file that is read from an option.
const LARGEST_FILE: usize = 1 << 30;

/// The format of outputs.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Output {
    Json,
    Raw,
    Joined,
    Raw0,
}

/// The settings of a run.
pub(super) struct Options {
    pub(super) filter: String,
    pub(super) files: Vec<String>,
    pub(super) variables: HashMap<String, Value>,
    pub(super) layout: Layout,
    pub(super) output: Output,
    pub(super) null_input: bool,
    pub(super) raw_input: bool,
    pub(super) slurp: bool,
    pub(super) stream: bool,
    pub(super) sequence: bool,
    pub(super) exit_status: bool,
    pub(super) unbuffered: bool,
}

/// The meaning of arguments that are not options.
#[derive(Clone, Copy, PartialEq)]
enum OperandKind {
    Files,
    Strings,
    Values,
}

struct OptionReader<'c> {
    call: &'c Call,
    options: Options,
    filter: Option<String>,
    from_file: bool,
    rest: OperandKind,
    positional: Vec<Value>,
    named: Object,
    color: bool,
}

impl Options {
    /// Reads the command line. An error is the exit code, after its message has been printed.
    pub(super) fn read(call: &Call) -> Result<Options, u8> {
        let options = Options {
            filter: String::new(),
            files: Vec::new(),
            variables: HashMap::new(),
            layout: Layout { indent: Some(b"  ".to_vec()), ..Layout::default() },
            output: Output::Json,
            null_input: false,
            raw_input: false,
            slurp: false,
            stream: false,
            sequence: false,
            exit_status: false,
            unbuffered: false,
        };
        let mut reading = OptionReader {
            call,
            options,
            filter: None,
            from_file: false,
            rest: OperandKind::Files,
            positional: Vec::new(),
            named: Object::default(),
            color: false,
        };
        let mut args = call.operands.iter();
        let mut only_operands = false;
        while let Some(arg) = args.next() {
            match arg.strip_prefix('-') {
                Some("-") if !only_operands => only_operands = true,
                // `-1` is a filter, not an option.
                Some(rest) if !only_operands && rest.starts_with(|c: char| c == '-' || c.is_ascii_alphabetic()) => {
                    match rest.strip_prefix('-') {
                        Some(long) => reading.long(long, &mut args)?,
                        None => reading.letters(rest, &mut args)?,
                    }
                }
                _ => reading.operand(arg)?,
            }
        }
        reading.finish()
    }
}

impl OptionReader<'_> {
    fn letters<'a>(&mut self, letters: &str, args: &mut impl Iterator<Item = &'a String>) -> Result<(), u8> {
        for letter in letters.chars() {
            let long = match letter {
                'c' => "compact-output",
                'r' => "raw-output",
                'j' => "join-output",
                'a' => "ascii-output",
                'S' => "sort-keys",
                'C' => "color-output",
                'M' => "monochrome-output",
                'n' => "null-input",
                'R' => "raw-input",
                's' => "slurp",
                'f' => "from-file",
                'e' => "exit-status",
                'h' => "help",
                'V' => "version",
                'L' => return Err(self.misused("unsupported option -- 'L': there are no modules")),
                _ => return Err(self.misused(&format!("Unknown option -{letters}"))),
            };
            self.long(long, args)?;
        }
        Ok(())
    }

    fn long<'a>(&mut self, name: &str, args: &mut impl Iterator<Item = &'a String>) -> Result<(), u8> {
        let options = &mut self.options;
        match name {
            "compact-output" => options.layout.indent = None,
            "raw-output" => options.output = Output::Raw,
            "join-output" => options.output = Output::Joined,
            "raw-output0" => options.output = Output::Raw0,
            "ascii-output" => options.layout.ascii = true,
            "sort-keys" => options.layout.sorted = true,
            "color-output" => self.color = true,
            "monochrome-output" => self.color = false,
            "tab" => options.layout.indent = Some(b"\t".to_vec()),
            "indent" => {
                let Some(text) = args.next() else { return Err(self.misused("--indent takes one parameter")) };
                self.options.layout.indent = match text.parse::<i64>() {
                    Ok(0) => None,
                    Ok(count @ 1..=7) => Some(vec![b' '; count as usize]),
                    Ok(-1) => Some(b"\t".to_vec()),
                    _ => return Err(self.misused("--indent takes a number between -1 and 7")),
                };
            }
            "unbuffered" => options.unbuffered = true,
            "null-input" => options.null_input = true,
            "raw-input" => options.raw_input = true,
            "slurp" => options.slurp = true,
            "stream" => options.stream = true,
            "seq" => options.sequence = true,
            "exit-status" => options.exit_status = true,
            "from-file" => self.from_file = true,
            "args" => self.rest = OperandKind::Strings,
            "jsonargs" => self.rest = OperandKind::Values,
            "arg" | "argjson" | "slurpfile" | "rawfile" => {
                let (Some(variable), Some(value)) = (args.next(), args.next()) else {
                    let what = if name == "arg" { "value" } else { "text" };
                    let message = format!("--{name} takes two parameters (e.g. --{name} varname {what})");
                    return Err(self.misused(&message));
                };
                let value = self.named_value(name, variable, value)?;
                // The first one of a name counts.
                self.options.variables.entry(variable.clone()).or_insert_with(|| value.clone());
                if self.named.get(variable).is_none() {
                    self.named.insert(Rc::new(variable.clone()), value);
                }
            }
            "help" => return Err(self.call.help()),
            "version" => return Err(self.call.print("jq-1.6\n")),
            _ => return Err(self.misused(&format!("Unknown option --{name}"))),
        }
        Ok(())
    }

    fn named_value(&self, kind: &str, variable: &str, value: &str) -> Result<Value, u8> {
        if kind == "arg" {
            return Ok(Value::text(value));
        }
        if kind == "argjson" {
            return parse(value.as_bytes()).map_err(|_| self.misused("invalid JSON text passed to --argjson"));
        }
        let bytes = read_file(value, LARGEST_FILE).map_err(|errno| {
            self.call
                .complain(&format!("Bad JSON in --{kind} {variable} {value}: Could not open {value}: {}", text(errno)));
            2
        })?;
        if kind == "rawfile" {
            return Ok(Value::text(String::from_utf8_lossy(&bytes)));
        }
        let mut reader = Reader::new(false);
        reader.feed(bytes);
        reader.end();
        let mut values = Vec::new();
        loop {
            match reader.next() {
                Ok(Some(value)) => values.push(value),
                Ok(None) => return Ok(Value::array(values)),
                Err(message) => {
                    self.call.complain(&format!("Bad JSON in --{kind} {variable} {value}: {message}"));
                    return Err(2);
                }
            }
        }
    }

    fn operand(&mut self, arg: &str) -> Result<(), u8> {
        if self.filter.is_none() {
            self.filter = Some(arg.to_owned());
            return Ok(());
        }
        match self.rest {
            OperandKind::Files => self.options.files.push(arg.to_owned()),
            OperandKind::Strings => self.positional.push(Value::text(arg)),
            OperandKind::Values => match parse(arg.as_bytes()) {
                Ok(value) => self.positional.push(value),
                Err(_) => return Err(self.misused("invalid JSON text passed to --jsonargs")),
            },
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Options, u8> {
        // Without a filter, inputs are passed through.
        let filter = self.filter.take().unwrap_or_else(|| ".".into());
        self.options.filter = if self.from_file {
            let bytes = read_file(&filter, LARGEST_FILE).map_err(|errno| {
                self.call.complain(&format!("error: Could not open {filter}: {}", text(errno)));
                2
            })?;
            String::from_utf8_lossy(&bytes).into_owned()
        } else {
            filter
        };
        let mut args = Object::default();
        args.insert(Rc::new("positional".into()), Value::array(std::mem::take(&mut self.positional)));
        args.insert(Rc::new("named".into()), Value::object(std::mem::take(&mut self.named)));
        self.options.variables.entry("ARGS".into()).or_insert_with(|| Value::object(args));
        if self.color {
            let chosen = std::env::var("JQ_COLORS").ok();
            let (colors, valid) = Colors::new(chosen.as_deref());
            if !valid {
                self.call.complain("Failed to set $JQ_COLORS");
            }
            self.options.layout.colors = Some(colors);
        }
        Ok(self.options)
    }

    fn misused(&self, message: &str) -> u8 {
        self.call.complain(message);
        let hint = "Use jq --help for help with command-line options,\nor see the jq manpage, or online docs  at https://stedolan.github.io/jq\n";
        let _ = isopod_sys::write_all(2, hint.as_bytes());
        2
    }
}
