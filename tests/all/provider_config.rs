//! The configuration of a provider, and the errors for unusable values.

use std::time::Duration;

use isopod::Limits;
use isopod::provider::{Config, ConfigError, HostAccess};

fn parse(text: &str, variables: &[(&str, &str)]) -> Result<Config, ConfigError> {
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Config::parse(text, "isopod.toml", variables)
}

const WHOLE: &str = r#"
root = "/var/lib/isopod"
max_count = 7
idle_timeout = "never"
ttl = "7d"
lease_timeout = 90
allow = [".git/hooks"]
deny_programs = ["rm"]

[limits]
hardened = true
wall = "250ms"
disk = "64M"
processes = 3
fuel = 1000000

[env]
GREETING = "hello"

[[mount]]
host = "/srv/skills"
guest = "/mnt/skills"

[[mount]]
host = "/srv/data"
guest = "/data"
access = "overlay"
"#;

#[test]
fn every_field_of_a_file_is_read() {
    let config = parse(WHOLE, &[("HOME", "/home/someone")]).unwrap();
    assert_eq!(config.root.to_str(), Some("/var/lib/isopod"));
    assert_eq!((config.max_count, config.idle_timeout), (7, None));
    assert_eq!(config.ttl, Some(Duration::from_secs(7 * 24 * 3600)));
    assert_eq!(config.lease_timeout, Some(Duration::from_secs(90)));
    assert_eq!(config.allow, [".git/hooks"]);
    assert_eq!(config.deny_programs, Some(vec!["rm".to_owned()]));
    let mut limits = Limits::hardened();
    (limits.wall, limits.disk, limits.processes, limits.fuel) =
        (Duration::from_millis(250), 64 << 20, 3, Some(1_000_000));
    assert_eq!(config.limits, limits);
    assert_eq!(config.env["GREETING"], "hello");
    assert_eq!(config.mounts[0].access, HostAccess::ReadOnly);
    assert_eq!((config.mounts[1].guest.as_str(), config.mounts[1].access), ("/data", HostAccess::Overlay));
}

#[test]
fn what_nobody_says_is_the_default() {
    assert_eq!(parse("", &[("HOME", "/home/u")]).unwrap(), Config::new("/home/u/.local/share/isopod"));
    let xdg = [("HOME", "/home/u"), ("XDG_DATA_HOME", "/data")];
    assert_eq!(parse("", &xdg).unwrap(), Config::new("/data/isopod"));
    let xdg = [("XDG_DATA_HOME", "/data"), ("HOME", "/home/u")];
    assert_eq!(parse("", &xdg).unwrap(), Config::new("/data/isopod"));
    // A directory that is not absolute is ignored, as the XDG specification says.
    assert_eq!(parse("", &[("HOME", "home"), ("XDG_DATA_HOME", "")]), Err(ConfigError::NoRoot));
    assert_eq!(parse("root = 'here'", &[]).unwrap(), Config::new("here"));
}

#[test]
fn variables_go_before_the_file() {
    let config = parse(
        WHOLE,
        &[
            ("ISOPOD_ROOT", "/other"),
            ("ISOPOD_MAX_COUNT", "9"),
            ("ISOPOD_IDLE_TIMEOUT", "5m"),
            ("ISOPOD_TTL", "never"),
            ("ISOPOD_LEASE_TIMEOUT", "30"),
            ("ISOPOD_LIMITS_DISK", "1G"),
            ("ISOPOD_LIMITS_WALL", "5s"),
            ("ISOPOD_LIMITS_HARDENED", "false"),
            ("ISOPOD_CONFIG", "elsewhere"),
            ("UNRELATED", "x"),
        ],
    )
    .unwrap();
    assert_eq!(config.root.to_str(), Some("/other"));
    assert_eq!((config.max_count, config.idle_timeout, config.ttl), (9, Some(Duration::from_secs(300)), None));
    assert_eq!(config.lease_timeout, Some(Duration::from_secs(30)));
    assert_eq!((config.limits.disk, config.limits.wall), (1 << 30, Duration::from_secs(5)));
    // Values without a variable are unchanged.
    assert_eq!((config.limits.processes, config.env.len(), config.mounts.len()), (3, 1, 2));
    assert_eq!(config.limits.file, Limits::default().file);
    assert_eq!(parse("", &[("ISOPOD_ROOT", "/r"), ("ISOPOD_LIMITS_FILE", "1K")]).unwrap().limits.file, 1024);
}

#[test]
fn a_fault_is_one_line_with_file_line_field_and_what_was_expected() {
    let cases = [
        ("root = 1", "isopod.toml:1: root: invalid type: integer `1`, expected path string"),
        ("root = '/r'\nmaxcount = 3", "isopod.toml:2: unknown field `maxcount`, expected one of `root`, `max_count`"),
        ("\n\nmax_count = 0", "isopod.toml:3: max_count: expected a number from 1 up"),
        ("max_count = 'many'", "isopod.toml:1: max_count: expected a number from 1 up"),
        ("max_count = [1]", "isopod.toml:1: max_count: expected a number or a text"),
        (
            "idle_timeout = '5 parsecs'",
            "isopod.toml:1: idle_timeout: expected seconds, or a number with ms, s, m, h or d",
        ),
        ("ttl = 0", "isopod.toml:1: ttl: expected a time above zero"),
        ("ttl = -1", "isopod.toml:1: ttl: expected"),
        ("allow = ['.git/hoks']", "isopod.toml:1: allow: expected `all` or one of "),
        ("[limits]\ndisk = '1T'", "isopod.toml:2: disk: expected bytes, or a number with K, M or G"),
        ("[limits]\ndisc = '1G'", "isopod.toml:2: unknown field `disc`, expected one of `hardened`, `wall`"),
        ("[limits]\nprocesses = 99999999999", "isopod.toml:2: processes: expected a number from 1 up"),
        ("[[mount]]\nhost = '/h'", "isopod.toml:1: missing field `guest`"),
        (
            "[[mount]]\nhost = '/h'\nguest = '/g'\naccess = 'rw'",
            "isopod.toml:4: access: unknown variant `rw`, expected one of",
        ),
        ("[env]\nA = 1", "isopod.toml:2: A: invalid type: integer `1`, expected a string"),
        ("root = '/r'\nroot = '/s'", "isopod.toml:2: root: duplicate key"),
        ("root = ", "isopod.toml:1: "),
        ("nonsense", "isopod.toml:1: "),
    ];
    for (text, line) in cases {
        let error = parse(text, &[("HOME", "/h")]).unwrap_err().to_string();
        assert!(error.starts_with(line), "{text:?}: {error}");
        assert!(!error.contains('\n'), "{text:?}: {error}");
    }
    let cases = [
        (("ISOPOD_MAX_COUNT", "many"), "ISOPOD_MAX_COUNT: expected a number from 1 up"),
        (("ISOPOD_LIMITS_HARDENED", "very"), "ISOPOD_LIMITS_HARDENED: expected true or false"),
        (("ISOPOD_TTL", ""), "ISOPOD_TTL: expected a number"),
        (("ISOPOD_LIMITS_DISK", "-1"), "ISOPOD_LIMITS_DISK: expected"),
        (("ISOPOD_LIMITS_DISC", "1"), "ISOPOD_LIMITS_DISC: unknown field `disc`, expected one of"),
    ];
    for (variable, line) in cases {
        let error = parse("", &[("HOME", "/h"), variable]).unwrap_err().to_string();
        assert!(error.starts_with(line), "{variable:?}: {error}");
        assert!(!error.contains('\n'), "{variable:?}: {error}");
    }
    let missing = Config::load(Some("/no/such/isopod.toml".as_ref()), []).unwrap_err().to_string();
    assert!(missing.starts_with("/no/such/isopod.toml: No such file"), "{missing}");
}

#[test]
fn the_example_in_the_documentation_is_one() {
    let page = include_str!("../../docs/provider.md");
    let example = page.split_once("```toml\n").unwrap().1.split_once("```").unwrap().0;
    let config = parse(example, &[]).unwrap();
    assert_eq!((config.max_count, config.mounts.len(), config.ttl), (128, 1, Some(Duration::from_secs(7 * 24 * 3600))));
}
