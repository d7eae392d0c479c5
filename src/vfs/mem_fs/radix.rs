//! A persistent array: values by numbers that are assigned in order. Copies share their common parts.
//!
//! A tree of reference-counted nodes with 32 slots each; five bits of the number select a slot on every level. A lookup
//! is a few loads without comparisons, several times faster than `shared_map`. In return the numbers must lie close
//! together, because a node with one value is as large as a full one.

use std::sync::Arc;

/// Bits of a number that select a slot on one level.
const BITS: u32 = 5;
/// Slots of a node: few enough that copying a shared node is cheap.
const WIDTH: usize = 1 << BITS;

/// Values by number.
pub(super) struct Radix<V> {
    root: Option<Arc<Node<V>>>,
    /// Levels below the root. Every number is below `WIDTH` to the power of `height + 1`.
    height: u32,
}

#[derive(Clone)]
#[allow(clippy::large_enum_variant, reason = "they are of one size: a value is a pointer, too")]
enum Node<V> {
    Branch([Option<Arc<Node<V>>>; WIDTH]),
    Leaf([Option<V>; WIDTH]),
}

impl<V> Default for Radix<V> {
    fn default() -> Radix<V> {
        Radix { root: None, height: 0 }
    }
}

impl<V> Clone for Radix<V> {
    fn clone(&self) -> Radix<V> {
        Radix { root: self.root.clone(), height: self.height }
    }
}

impl<V: Clone> Radix<V> {
    pub(super) fn get(&self, number: u64) -> Option<&V> {
        let mut node = self.root.as_deref().filter(|_| self.reaches(number))?;
        let mut level = self.height;
        loop {
            match node {
                Node::Leaf(values) => return values[slot(number, 0)].as_ref(),
                Node::Branch(nodes) => node = nodes[slot(number, level)].as_deref()?,
            }
            level -= 1;
        }
    }

    /// Returns the value for a change. Shared nodes on the way are copied.
    pub(super) fn get_mut(&mut self, number: u64) -> Option<&mut V> {
        if !self.reaches(number) {
            return None;
        }
        let mut node = Arc::make_mut(self.root.as_mut()?);
        let mut level = self.height;
        loop {
            match node {
                Node::Leaf(values) => return values[slot(number, 0)].as_mut(),
                Node::Branch(nodes) => {
                    node = Arc::make_mut(nodes[slot(number, level)].as_mut()?);
                }
            }
            level -= 1;
        }
    }

    pub(super) fn insert(&mut self, number: u64, value: V) {
        while !self.reaches(number) {
            if let Some(root) = self.root.take() {
                let mut nodes = [const { None }; WIDTH];
                nodes[0] = Some(root);
                self.root = Some(Arc::new(Node::Branch(nodes)));
            }
            self.height += 1;
        }
        let mut level = self.height;
        let root = self.root.get_or_insert_with(|| Node::empty(level));
        let mut node = Arc::make_mut(root);
        loop {
            match node {
                Node::Leaf(values) => {
                    values[slot(number, 0)] = Some(value);
                    return;
                }
                Node::Branch(nodes) => {
                    let next = &mut nodes[slot(number, level)];
                    level -= 1;
                    node = Arc::make_mut(next.get_or_insert_with(|| Node::empty(level)));
                }
            }
        }
    }

    pub(super) fn remove(&mut self, number: u64) -> Option<V> {
        // Checks first: a missing number should not cost copies.
        self.get(number)?;
        let root = self.root.as_mut()?;
        let (removed, is_empty) = remove(Arc::make_mut(root), number, self.height);
        if is_empty {
            self.root = None;
        }
        removed
    }

    /// Returns true if a tree of this height has a slot for the number.
    fn reaches(&self, number: u64) -> bool {
        let bits = BITS * (self.height + 1);
        bits >= u64::BITS || number >> bits == 0
    }
}

impl<V> Node<V> {
    fn empty(level: u32) -> Arc<Node<V>> {
        Arc::new(match level {
            0 => Node::Leaf([const { None }; WIDTH]),
            _ => Node::Branch([const { None }; WIDTH]),
        })
    }
}

/// Returns the slot of a number in a node on `level`.
fn slot(number: u64, level: u32) -> usize {
    (number >> (BITS * level)) as usize % WIDTH
}

/// Removes a value and reports whether the node is now empty. Empty nodes are dropped, so that numbers no longer in use
/// leave nothing behind.
fn remove<V: Clone>(node: &mut Node<V>, number: u64, level: u32) -> (Option<V>, bool) {
    match node {
        Node::Leaf(values) => {
            let removed = values[slot(number, 0)].take();
            (removed, values.iter().all(Option::is_none))
        }
        Node::Branch(nodes) => {
            let next = &mut nodes[slot(number, level)];
            let Some(child) = next else {
                return (None, false);
            };
            let (removed, is_empty) = remove(Arc::make_mut(child), number, level - 1);
            if is_empty {
                *next = None;
            }
            (removed, is_empty && nodes.iter().all(Option::is_none))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn it_behaves_like_a_map_and_copies_stay_unchanged() {
        let mut random = 0x2545_f491_4f6c_dd1d_u64;
        let (mut radix, mut model) = (Radix::default(), BTreeMap::new());
        let mut copies: Vec<(Radix<u64>, BTreeMap<u64, u64>)> = Vec::new();
        for step in 0..40_000_u64 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            // Mostly close together, at times anywhere.
            let number = if step % 50 == 0 { random } else { random % 3000 };
            if random >> 32 & 3 < if step < 20_000 { 3 } else { 1 } {
                radix.insert(number, step);
                model.insert(number, step);
            } else {
                assert_eq!(radix.remove(number), model.remove(&number));
            }
            assert_eq!(radix.get(number), model.get(&number));
            if step % 1000 == 0 {
                copies.push((radix.clone(), model.clone()));
                if let Some(value) = radix.get_mut(number) {
                    *value += 1;
                    *model.get_mut(&number).unwrap() += 1;
                }
            }
        }
        for (radix, model) in copies {
            assert!((0..3000).all(|number| radix.get(number) == model.get(&number)));
            assert!(model.iter().all(|(number, value)| radix.get(*number) == Some(value)));
        }
        for number in model.keys() {
            radix.remove(*number);
        }
        assert!(radix.root.is_none());
        assert_eq!((radix.get(0), radix.get(u64::MAX)), (None, None));
    }

    #[test]
    fn a_change_copies_only_the_nodes_that_lead_to_it() {
        let mut radix = Radix::default();
        for number in 0..2000 {
            radix.insert(number, Arc::new(number));
        }
        let copy = radix.clone();
        assert!(radix.remove(9999).is_none());
        radix.insert(7, Arc::new(0));
        assert_eq!((**copy.get(7).unwrap(), **radix.get(7).unwrap()), (7, 0));
        // The values of the copied leaf have two owners now. The others have one, because their leaf is shared.
        let owners = |number| Arc::strong_count(copy.get(number).unwrap());
        assert_eq!((owners(6), owners(1999)), (2, 1));
    }
}
