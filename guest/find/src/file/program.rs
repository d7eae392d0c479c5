//! Programs for machines, real and virtual.

use super::answer::{Answer, Bytes};

/// Returns the answer if the bytes are a program.
pub(super) fn answer(bytes: &[u8]) -> Option<Answer> {
    let view = Bytes(bytes);
    if view.has(0, b"\x7fELF") {
        return Some(elf(&view));
    }
    if view.has(0, b"\0asm") {
        let version = view.le32(4);
        let (kind, mime) = match version {
            1 => (" (MVP)", "application/wasm"),
            _ => ("", "application/octet-stream"),
        };
        return Some(Answer::binary(&format!("WebAssembly (wasm) binary module version 0x{version:x}{kind}"), mime));
    }
    if view.has(0, b"\xca\xfe\xba\xbe") && view.be16(6) >= 45 && view.be16(4) < 45 {
        let java = match view.be16(6) {
            major @ 49.. => format!(" (Java {}{})", if major >= 53 { "SE " } else { "1." }, major - 44),
            _ => String::new(),
        };
        let text = format!("compiled Java class data, version {}.{}{java}", view.be16(6), view.be16(4));
        return Some(Answer::binary(&text, "application/x-java-applet"));
    }
    if view.has(0, b"MZ") && bytes.len() >= 64 {
        let header = view.le32(60) as usize;
        if view.has(header, b"PE\0\0") {
            let (kind, suffix) = match view.le16(header + 24) {
                0x20b => ("PE32+", ", x86-64"),
                _ => ("PE32", ", Intel 80386"),
            };
            let dll = if view.le16(header + 22) & 0x2000 != 0 { " (DLL)" } else { "" };
            let text = format!("{kind} executable{dll}{suffix}, for MS Windows");
            return Some(Answer::binary(&text, "application/vnd.microsoft.portable-executable"));
        }
        return Some(Answer::binary("MS-DOS executable", "application/x-dosexec"));
    }
    None
}

fn elf(view: &Bytes) -> Answer {
    if view.0.len() < 20 {
        return Answer::binary("ELF", "application/octet-stream");
    }
    let is_64 = view.byte(4) == 2;
    let is_little = view.byte(5) == 1;
    let half = |at| if is_little { view.le16(at) } else { view.be16(at) };
    let word = |at| if is_little { view.le32(at) } else { view.be32(at) };
    // Offsets of a file that fits in memory need no more than the low half.
    let offset = |at: usize| word(if is_64 && !is_little { at + 4 } else { at }) as usize;
    let (programs, program_size, program_count) =
        if is_64 { (offset(32), 56, half(56)) } else { (offset(28), 32, half(44)) };
    let mut found = Segments::default();
    for index in 0..usize::from(program_count).min(128) {
        let at = programs.saturating_add(index * program_size);
        let (start, size) = if is_64 { (offset(at + 8), offset(at + 32)) } else { (offset(at + 4), offset(at + 16)) };
        match word(at) {
            2 => {
                found.is_dynamic = true;
                found.is_pie = is_pie(view, start, size, is_64, &word);
            }
            3 => {
                let path = view.0.get(start..start.saturating_add(size)).unwrap_or_default();
                found.interpreter = Some(String::from_utf8_lossy(path).trim_end_matches('\0').to_owned());
            }
            4 => notes(view, start, size, &word, &mut found),
            _ => {}
        }
    }
    let (kind, mime) = match half(16) {
        1 => ("relocatable", "application/x-object"),
        2 => ("executable", "application/x-executable"),
        3 if found.is_pie => ("pie executable", "application/x-pie-executable"),
        3 => ("shared object", "application/x-sharedlib"),
        4 => ("core file", "application/x-coredump"),
        _ => ("unknown type", "application/octet-stream"),
    };
    let machine = match half(18) {
        3 => "Intel 80386",
        8 => "MIPS",
        20 => "PowerPC or cisco 4500",
        21 => "64-bit PowerPC or cisco 7500",
        40 => "ARM",
        62 => "x86-64",
        183 => "ARM aarch64",
        243 => "UCB RISC-V",
        _ => "unknown arch",
    };
    let system = if view.byte(7) == 3 { "GNU/Linux" } else { "SYSV" };
    let mut text = format!(
        "ELF {}-bit {} {kind}, {machine}, version 1 ({system})",
        if is_64 { 64 } else { 32 },
        if is_little { "LSB" } else { "MSB" }
    );
    if half(16) != 1 {
        text.push_str(if found.is_dynamic { ", dynamically linked" } else { ", statically linked" });
    }
    if let Some(interpreter) = found.interpreter.filter(|path| !path.is_empty()) {
        text.push_str(&format!(", interpreter {interpreter}"));
    }
    if let Some(build) = found.build {
        text.push_str(&format!(", BuildID[sha1]={build}"));
    }
    if let Some(system) = found.system {
        text.push_str(&format!(", for GNU/Linux {system}"));
    }
    let (sections, section_size, section_count) =
        if is_64 { (offset(40), 64, half(60)) } else { (offset(32), 40, half(48)) };
    // The table of sections is at the end of a file, and the end of a large file is not read.
    if sections.saturating_add(section_size * usize::from(section_count)) <= view.0.len() {
        let has_symbols = (0..usize::from(section_count)).any(|index| word(sections + index * section_size + 4) == 2);
        text.push_str(if has_symbols { ", not stripped" } else { ", stripped" });
    }
    Answer::binary(&text, mime)
}

/// Facts from the segments of a program.
#[derive(Default)]
struct Segments {
    is_dynamic: bool,
    is_pie: bool,
    interpreter: Option<String>,
    build: Option<String>,
    system: Option<String>,
}

/// Returns true if a flag marks a program. Programs and libraries have the same type otherwise.
fn is_pie(view: &Bytes, start: usize, size: usize, is_64: bool, word: &dyn Fn(usize) -> u32) -> bool {
    const FLAGS_1: u32 = 0x6fff_fffb;
    const PIE: u32 = 0x0800_0000;
    let step = if is_64 { 16 } else { 8 };
    let end = start.saturating_add(size).min(view.0.len());
    (start..end).step_by(step).any(|at| word(at) == FLAGS_1 && word(at + step / 2) & PIE != 0)
}

/// Reads GNU's notes: the build's number and the oldest system.
fn notes(view: &Bytes, start: usize, size: usize, word: &dyn Fn(usize) -> u32, found: &mut Segments) {
    let end = start.saturating_add(size).min(view.0.len());
    let mut at = start;
    while at + 12 <= end {
        let (name, length, kind) = (word(at) as usize, word(at + 4) as usize, word(at + 8));
        let data = at.saturating_add(12).saturating_add(name.min(1 << 20).next_multiple_of(4));
        if view.has(at + 12, b"GNU\0") {
            match kind {
                1 => found.system = Some(format!("{}.{}.{}", word(data + 4), word(data + 8), word(data + 12))),
                3 => {
                    let bytes = view.0.get(data..data.saturating_add(length)).unwrap_or_default();
                    found.build = Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect());
                }
                _ => {}
            }
        }
        at = data.saturating_add(length.min(1 << 20).next_multiple_of(4));
    }
}
