//! Sorting with little code.
//!
//! std's sorts take several kilobytes for each type, and a shell sorts a dozen types, none of them often. A heap sort
//! takes a few hundred bytes and is as good in the worst case.

/// Sorts by a key. The sort is not stable.
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

/// Sorts texts by their bytes and removes duplicates.
pub fn sort_texts(texts: &mut Vec<String>) {
    // Names from the kernel come sorted, and so do paths made of them.
    if !texts.is_sorted() {
        // Sorts indices: keys that are the elements themselves would have to be copied.
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
