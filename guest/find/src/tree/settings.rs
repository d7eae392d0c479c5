//! The options of `tree`.

use isopod_gnu::options::GivenOption;
use isopod_gnu::pattern::{Pattern, Rules};
use isopod_gnu::program::Call;

/// The order of files in a directory.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Order {
    Name,
    Version,
    Size,
    Modified,
    Changed,
    None,
}

/// A field before a name.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Field {
    Inode,
    Device,
    Mode,
    User,
    Group,
    Size,
    Date,
}

/// The settings of a run.
pub(super) struct Settings {
    pub(super) all: bool,
    pub(super) directories_only: bool,
    pub(super) follows: bool,
    pub(super) full_paths: bool,
    pub(super) one_device: bool,
    pub(super) levels: usize,
    pub(super) only: Vec<Pattern>,
    pub(super) not: Vec<Pattern>,
    pub(super) reports: bool,
    pub(super) is_ascii: bool,
    pub(super) file_limit: usize,
    pub(super) output: Option<String>,
    pub(super) hides_controls: bool,
    pub(super) prints_controls: bool,
    pub(super) quotes: bool,
    pub(super) fields: Vec<Field>,
    /// The base of readable sizes, if they are wanted.
    pub(super) human: Option<u64>,
    pub(super) sums: bool,
    pub(super) time_format: Option<String>,
    pub(super) classifies: bool,
    pub(super) order: Order,
    pub(super) reversed: bool,
    /// True if directories come first, false if files do.
    pub(super) directories_first: Option<bool>,
    pub(super) has_branches: bool,
    pub(super) is_json: bool,
    pub(super) prunes: bool,
}

impl Settings {
    /// Reads the options. An error is the exit code, after its message has been printed.
    pub(super) fn read(call: &Call) -> Result<Settings, u8> {
        let rules = Rules { fold: call.has("ignore-case"), ..Rules::default() };
        let patterns = |option: &str| {
            let texts = call.options.iter().filter(|found| found.option == option);
            let parts = texts.flat_map(|found| found.value.as_deref().unwrap_or_default().split('|'));
            parts.map(|part| Pattern::new(part.trim_end_matches('/'), rules)).collect()
        };
        let number = |option: &str, message: &str| match call.value(option).map(str::parse::<usize>) {
            None => Ok(usize::MAX),
            Some(Ok(number)) if number > 0 => Ok(number),
            Some(_) => {
                call.complain(message);
                Err(1)
            }
        };
        let human = if call.has("si") { Some(1000) } else { call.has("h").then_some(1024) };
        let has_date = call.has("D") || call.has("timefmt");
        let fields = [
            (call.has("inodes"), Field::Inode),
            (call.has("device"), Field::Device),
            (call.has("p"), Field::Mode),
            (call.has("u"), Field::User),
            (call.has("g"), Field::Group),
            (call.has("s") || human.is_some() || call.has("du"), Field::Size),
            (has_date, Field::Date),
        ];
        let is_ascii = match call.value("charset").map(str::to_ascii_lowercase).as_deref() {
            None | Some("utf-8" | "utf8") => false,
            Some("ascii" | "us-ascii") => true,
            Some(other) => {
                call.complain(&format!("charset {other} is not supported"));
                return Err(1);
            }
        };
        let first = call.options.iter().rev().find(|found| found.option == "dirsfirst" || found.option == "filesfirst");
        Ok(Settings {
            all: call.has("a"),
            directories_only: call.has("d"),
            follows: call.has("l"),
            full_paths: call.has("f"),
            one_device: call.has("x"),
            levels: number("L", "Invalid level, must be greater than 0.")?,
            only: patterns("P"),
            not: patterns("I"),
            reports: !call.has("noreport"),
            is_ascii,
            file_limit: number("filelimit", "missing argument to --filelimit")?,
            output: call.value("o").map(str::to_owned),
            hides_controls: call.has("q"),
            prints_controls: call.has("N"),
            quotes: call.has("Q"),
            fields: fields.into_iter().filter(|(is_wanted, _)| *is_wanted).map(|(_, field)| field).collect(),
            human,
            sums: call.has("du"),
            time_format: call.value("timefmt").map(str::to_owned),
            classifies: call.has("F"),
            order: order(call)?,
            reversed: call.has("r"),
            directories_first: first.map(|found| found.option == "dirsfirst"),
            has_branches: !call.has("i"),
            is_json: call.has("J"),
            prunes: call.has("prune"),
        })
    }
}

fn order(call: &Call) -> Result<Order, u8> {
    let mut order = Order::Name;
    for GivenOption { option, value } in &call.options {
        order = match (*option, value.as_deref()) {
            ("v", _) | ("sort", Some("version")) => Order::Version,
            ("t", _) | ("sort", Some("mtime")) => Order::Modified,
            ("c", _) | ("sort", Some("ctime")) => Order::Changed,
            ("U", _) => Order::None,
            ("sort", Some("size")) => Order::Size,
            ("sort", Some("name")) => Order::Name,
            ("sort", Some(other)) => {
                call.complain(&format!(
                    "sort type '{other}' not valid, should be one of: name,version,size,mtime,ctime"
                ));
                return Err(1);
            }
            _ => order,
        };
    }
    Ok(order)
}
