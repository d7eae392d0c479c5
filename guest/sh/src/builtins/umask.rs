//! `umask`

use isopod_sys::process;

use super::options;
use crate::state::{Shell, Stop};

pub(super) fn umask(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    let given = match options::read(shell, arguments, "pS") {
        Ok(given) => given,
        Err(status) => return Ok(status),
    };
    // The kernel can only exchange the mask, so the old one is restored at once.
    let old = process::umask(0);
    process::umask(old);
    let Some(wanted) = arguments.get(given.rest) else {
        let text = match given.has(b'S') {
            true => symbolic(old),
            false if given.has(b'p') => format!("umask {old:04o}"),
            false => format!("{old:04o}"),
        };
        shell.print(&text);
        shell.print("\n");
        return Ok(0);
    };
    let new = match wanted.starts_with(|c: char| c.is_ascii_digit()) {
        true => u32::from_str_radix(wanted, 8).ok().filter(|m| *m <= 0o777),
        false => parse_symbolic(wanted, old),
    };
    let Some(new) = new else {
        let why = match wanted.starts_with(|c: char| c.is_ascii_digit()) {
            true => "octal number out of range",
            false => "invalid symbolic mode operator",
        };
        shell.complain_as("umask", &format!("{wanted}: {why}"));
        return Ok(1);
    };
    if let Some(place) = shell.in_place_states.last_mut()
        && place.1.is_none()
    {
        place.1 = Some(old);
    }
    process::umask(new);
    Ok(0)
}

fn symbolic(mask: u32) -> String {
    let allowed = !mask;
    let class = |shift: u32| {
        [(4, 'r'), (2, 'w'), (1, 'x')]
            .iter()
            .filter(|(bit, _)| (allowed >> shift) & bit != 0)
            .map(|(_, letter)| *letter)
            .collect::<String>()
    };
    format!("u={},g={},o={}", class(6), class(3), class(0))
}

/// Parses `u=rwx,go-w`. The result is the permissions, the complement of the mask.
fn parse_symbolic(text: &str, old: u32) -> Option<u32> {
    let mut allowed = !old & 0o777;
    for clause in text.split(',') {
        let at = clause.find(['=', '+', '-'])?;
        let (who, rest) = clause.split_at(at);
        let mut classes = 0;
        for c in who.chars() {
            classes |= match c {
                'u' => 0o700,
                'g' => 0o070,
                'o' => 0o007,
                'a' => 0o777,
                _ => return None,
            };
        }
        if who.is_empty() {
            classes = 0o777;
        }
        let mut bits = 0;
        for c in rest[1..].chars() {
            bits |= match c {
                'r' => 0o444,
                'w' => 0o222,
                'x' => 0o111,
                _ => return None,
            };
        }
        match rest.as_bytes()[0] {
            b'=' => allowed = (allowed & !classes) | (bits & classes),
            b'+' => allowed |= bits & classes,
            _ => allowed &= !(bits & classes),
        }
    }
    Some(!allowed & 0o777)
}
