//! Makes the objects in CPython's initial memory immortal, in CPython's own sense: their reference counts are so high
//! that they are not updated.
//!
//! A process has a copy-on-write view of that memory. Reading an object counts a reference to it, which is a write, and
//! the host's kernel has to copy the page. Counts that are not updated leave the pages shared. The objects in the
//! initial memory live as long as the process, so nothing leaks.
//!
//! Python's part (`interpreters/python`) lists the objects with their types, as pairs of addresses. A type word that
//! does not match is an error: it means that the memory has another layout than this file expects.

use std::error::Error;

use wasmparser::{DataKind, Operator, Parser, Payload};

/// `_Py_IMMORTAL_INITIAL_REFCNT` of CPython 3.14 where pointers have 32 bits; `_Py_IsImmortal` asks for 2³⁰ or more.
const IMMORTAL: u32 = 5 << 28;
const LEAST_IMMORTAL: u32 = 1 << 30;

/// A piece of the initial memory: its address there, and the position and length of its bytes in the component.
struct Piece {
    address: usize,
    at: usize,
    length: usize,
}

/// Makes the listed objects of a component immortal and returns their number. Objects that lie partly in zeros, which
/// the component does not store, stay unchanged.
pub(crate) fn make_immortal(component: &mut [u8], objects: &[u8]) -> Result<usize, Box<dyn Error>> {
    let pieces = pieces(component)?;
    let mut done = 0;
    for pair in objects.chunks_exact(8) {
        let (address, kind) = (word(pair, 0), word(pair, 4));
        let after = pieces.partition_point(|piece| piece.address <= address as usize);
        let Some(piece) = after.checked_sub(1).and_then(|last| pieces.get(last)) else { continue };
        let offset = address as usize - piece.address;
        if offset + 8 > piece.length {
            continue;
        }
        let at = piece.at + offset;
        if word(component, at + 4) != kind {
            return Err(format!("there is no object of that type at {address:#x}").into());
        }
        if (1..LEAST_IMMORTAL).contains(&word(component, at)) {
            component[at..at + 4].copy_from_slice(&IMMORTAL.to_le_bytes());
            done += 1;
        }
    }
    // Nearly all objects must be found: fewer are the sign of another layout.
    if done * 10 < objects.len() / 8 * 8 {
        return Err(format!("only {done} of {} objects were found", objects.len() / 8).into());
    }
    Ok(done)
}

/// Returns the initial memory of all modules of a component, which share it, by address.
fn pieces(component: &[u8]) -> Result<Vec<Piece>, Box<dyn Error>> {
    let mut pieces = Vec::new();
    for payload in Parser::new(0).parse_all(component) {
        let Payload::DataSection(section) = payload? else { continue };
        for data in section {
            let data = data?;
            let DataKind::Active { offset_expr, .. } = data.kind else { continue };
            let Operator::I32Const { value } = offset_expr.get_operators_reader().read()? else { continue };
            let at = data.data.as_ptr().addr() - component.as_ptr().addr();
            pieces.push(Piece { address: value.cast_unsigned() as usize, at, length: data.data.len() });
        }
    }
    pieces.sort_by_key(|piece| piece.address);
    Ok(pieces)
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|word| word.try_into().ok()).map_or(0, u32::from_le_bytes)
}
