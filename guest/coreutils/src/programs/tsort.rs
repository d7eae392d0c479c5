//! `tsort`: a topological order.

use std::collections::{HashMap, VecDeque};

use isopod_gnu::input::Input;
use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote::name;

use crate::lines::complain;

/// `tsort`.
pub(crate) const PROGRAM: Program = Program {
    name: "tsort",
    operands: &["[OPTION] [FILE]"],
    about: "Write totally ordered list consistent with the partial ordering in FILE.\n\
            With no FILE, or when FILE is -, read standard input.",
    syntax: Syntax::Mixed,
    options: &[],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

/// A name, the number of its predecessors, and its successors, the last read first.
struct Node {
    name: Vec<u8>,
    before: usize,
    after: Vec<usize>,
    printed: bool,
}

fn run(call: &Call) -> Result<u8, u8> {
    call.at_most(1)?;
    let path = call.operands.first().map_or("-", String::as_str);
    let bytes = Input::open(path).and_then(|input| input.read_all()).map_err(|errno| complain(call, path, errno))?;
    let mut nodes: Vec<Node> = Vec::new();
    let mut index: HashMap<&[u8], usize> = HashMap::new();
    let mut first = None;
    for word in bytes.split(|byte| matches!(byte, b' ' | b'\t' | b'\n')).filter(|word| !word.is_empty()) {
        let node = *index.entry(word).or_insert_with(|| {
            nodes.push(Node { name: word.to_vec(), before: 0, after: Vec::new(), printed: false });
            nodes.len() - 1
        });
        match first.take() {
            None => first = Some(node),
            Some(earlier) if earlier != node => {
                nodes[node].before += 1;
                nodes[earlier].after.push(node);
            }
            Some(_) => {}
        }
    }
    if first.is_some() {
        return Err(call.failed(&format!("{}: input contains an odd number of tokens", name(path))));
    }
    drop(index);
    // GNU's walks its tree of names in their order whenever it looks for names without predecessors.
    let mut sorted: Vec<usize> = (0..nodes.len()).collect();
    sorted.sort_by(|a, b| nodes[*a].name.cmp(&nodes[*b].name));
    let mut out = Out::new();
    let mut left = nodes.len();
    let mut code = 0;
    let mut ready: VecDeque<usize> = sorted.iter().copied().filter(|node| nodes[*node].before == 0).collect();
    loop {
        while let Some(node) = ready.pop_front() {
            out.push(&nodes[node].name);
            out.byte(b'\n');
            nodes[node].printed = true;
            left -= 1;
            let after = std::mem::take(&mut nodes[node].after);
            for next in after.into_iter().rev() {
                nodes[next].before -= 1;
                if nodes[next].before == 0 {
                    ready.push_back(next);
                }
            }
        }
        if left == 0 {
            break;
        }
        out.flush();
        call.complain(&format!("{}: input contains a loop:", name(path)));
        code = 1;
        break_loop(call, &mut nodes, &sorted);
        ready = sorted.iter().copied().filter(|node| !nodes[*node].printed && nodes[*node].before == 0).collect();
    }
    Ok(call.finish(out, code))
}

/// Finds a loop among the remaining names, reports its members, and removes the relation that closes it.
///
/// It proceeds as GNU's does: it goes over the names in order again and again, each time from the current one to a
/// predecessor, until it meets one again.
fn break_loop(call: &Call, nodes: &mut [Node], sorted: &[usize]) {
    let mut link: Vec<Option<usize>> = vec![None; nodes.len()];
    let mut current: Option<usize> = None;
    loop {
        for &node in sorted {
            if nodes[node].printed || nodes[node].before == 0 {
                continue;
            }
            let Some(target) = current else {
                current = Some(node);
                continue;
            };
            let Some(relation) = nodes[node].after.iter().rposition(|after| *after == target) else { continue };
            if link[node].is_none() {
                link[node] = Some(target);
                current = Some(node);
                continue;
            }
            // The chain from the current name back to this one is the loop.
            let mut at = current;
            while let Some(member) = at {
                call.complain(&String::from_utf8_lossy(&nodes[member].name));
                let next = link[member];
                if member == node {
                    nodes[node].after.remove(relation);
                    nodes[target].before -= 1;
                    return;
                }
                link[member] = None;
                at = next;
            }
            return;
        }
    }
}
