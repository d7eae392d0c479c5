//! `uuidgen`: unique identifiers.

use isopod_gnu::options::Opt;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote::plain;
use sha2::Digest;

use crate::random::Random;

/// `uuidgen`.
pub(crate) const PROGRAM: Program = Program {
    name: "uuidgen",
    operands: &["[OPTION]..."],
    about: "Create a new UUID value: a random one, or one made from a name.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('r', "random", "generate random-based uuid (the default)"),
        Opt::flag('n', "namespace", "generate hash-based uuid in this namespace: @dns @url @oid @x500 or a UUID")
            .takes("NS"),
        Opt::flag('N', "name", "generate hash-based uuid from this name").takes("NAME"),
        Opt::flag('m', "md5", "generate md5 hash"),
        Opt::flag('s', "sha1", "generate sha1 hash"),
        Opt::flag('x', "hex", "interpret name as hex string: unsupported"),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

fn run(call: &Call) -> Result<u8, u8> {
    call.at_most(0)?;
    if call.has("hex") {
        return Err(call.failed("unsupported option -- 'x'"));
    }
    let mut bytes = [0u8; 16];
    let version;
    if call.has("md5") || call.has("sha1") {
        let (Some(space), Some(name)) = (call.value("namespace"), call.value("name")) else {
            return Err(call.misused("--md5 and --sha1 need --namespace and --name"));
        };
        let space = namespace(space).ok_or_else(|| call.failed(&format!("unknown namespace: {}", plain(space))))?;
        let text = [space.as_slice(), name.as_bytes()].concat();
        if call.has("md5") {
            bytes.copy_from_slice(&md5::Md5::digest(&text)[..16]);
            version = 3;
        } else {
            bytes.copy_from_slice(&sha1::Sha1::digest(&text)[..16]);
            version = 5;
        }
    } else {
        let mut random = Random::open("/dev/urandom").map_err(|_| 1)?;
        for byte in &mut bytes {
            *byte = random.byte().map_err(|_| 1)?;
        }
        version = 4;
    }
    bytes[6] = bytes[6] & 0x0f | version << 4;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let text = format!("{}-{}-{}-{}-{}\n", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]);
    Ok(call.print(&text))
}

fn namespace(text: &str) -> Option<Vec<u8>> {
    let text = match text {
        "@dns" => "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
        "@url" => "6ba7b811-9dad-11d1-80b4-00c04fd430c8",
        "@oid" => "6ba7b812-9dad-11d1-80b4-00c04fd430c8",
        "@x500" => "6ba7b814-9dad-11d1-80b4-00c04fd430c8",
        text => text,
    };
    let hex: String = text.chars().filter(|c| *c != '-').collect();
    if hex.len() != 32 || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    (0..16).map(|at| u8::from_str_radix(&hex[at * 2..at * 2 + 2], 16).ok()).collect()
}
