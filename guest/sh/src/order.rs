//! Sorting in few bytes.
//!
//! std's sorts are several kilobytes for each type they are used with, and a shell sorts a dozen types, none of
//! them often. A heap sort is a few hundred bytes and as good in the worst case.

/// Sorts by a key. Equal elements may change places.
pub fn sort_by<T, K: PartialOrd>(items: &mut [T], key: impl Fn(&T) -> K) {
    let count = items.len();
    for root in (0..count / 2).rev() {
        sift(items, root, count, &key);
    }
    for end in (1..count).rev() {
        items.swap(0, end);
        sift(items, 0, end, &key);
    }
}

/// Sorts texts by their bytes and drops those that are there twice.
pub fn sort_texts(texts: &mut Vec<String>) {
    // A directory's names come sorted from the kernel, and so do paths made of them.
    if !texts.is_sorted() {
        // By index: keys of the elements themselves would have to be copied.
        let mut order: Vec<usize> = (0..texts.len()).collect();
        sort_by(&mut order, |i| texts[*i].as_str());
        *texts = order.iter().map(|i| std::mem::take(&mut texts[*i])).collect();
    }
    texts.dedup();
}

fn sift<T, K: PartialOrd>(items: &mut [T], mut root: usize, end: usize, key: &impl Fn(&T) -> K) {
    loop {
        let mut child = root * 2 + 1;
        if child >= end {
            return;
        }
        if child + 1 < end && key(&items[child]) < key(&items[child + 1]) {
            child += 1;
        }
        if key(&items[root]) >= key(&items[child]) {
            return;
        }
        items.swap(root, child);
        root = child;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_sorted() {
        for count in 0..60u32 {
            let mut items: Vec<u32> = (0..count).map(|i| i * 37 % 23).collect();
            let mut expected = items.clone();
            expected.sort();
            sort_by(&mut items, |i| *i);
            assert_eq!(items, expected);
        }
        let mut texts: Vec<String> = ["b", "a", "c", "a"].map(str::to_owned).into();
        sort_texts(&mut texts);
        assert_eq!(texts, ["a", "b", "c"]);
    }
}
