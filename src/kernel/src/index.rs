//! A hash table of names, keyed by the hash that libraries use for their symbols
//! ([`crate::elf::hash`]): the loader computes it once, to search the library first. The table is
//! built at compile time.

use crate::elf::hash;

/// Number of buckets. A prime, because the low bits of the hash depend on the last letters only.
const BUCKETS: usize = 251;

/// `N` names, each with a value; at most 255.
pub struct Index<T, const N: usize> {
    /// Sorted by bucket.
    entries: [(&'static str, T); N],
    /// The start of each bucket, and the end of the last one.
    starts: [u8; BUCKETS + 1],
}

const fn bucket(name: &str) -> usize {
    hash(name.as_bytes()) as usize % BUCKETS
}

impl<T: Copy, const N: usize> Index<T, N> {
    /// Builds the table from the entries of all `groups`, `N` in total.
    ///
    /// # Panics
    /// At compile time, if the number of entries is not `N`, or a name occurs twice.
    pub const fn new(groups: &[&[(&'static str, T)]]) -> Self {
        assert!(N > 0 && N < 256, "positions are bytes");
        let mut entries = [groups[0][0]; N];
        let mut starts = [0; BUCKETS + 1];
        let mut filled = 0;
        let mut group = 0;
        while group < groups.len() {
            let mut at = 0;
            while at < groups[group].len() {
                insert(&mut entries, &mut starts, filled, groups[group][at]);
                filled += 1;
                at += 1;
            }
            group += 1;
        }
        assert!(filled == N, "as many entries as said");
        Self { entries, starts }
    }

    /// The value of `name`, whose hash is `hash`.
    pub fn find(&self, name: &[u8], hash: u32) -> Option<T> {
        let bucket = hash as usize % BUCKETS;
        let [first, end] = [bucket, bucket + 1].map(|at| usize::from(self.starts[at]));
        let found = self.entries[first..end].iter().find(|entry| entry.0.as_bytes() == name);
        found.map(|entry| entry.1)
    }
}

/// Inserts an entry at the end of its bucket, in addition to `filled` others. Each later bucket
/// moves its first entry to its end.
const fn insert<T: Copy>(
    entries: &mut [(&'static str, T)],
    starts: &mut [u8; BUCKETS + 1],
    filled: usize,
    entry: (&'static str, T),
) {
    let bucket = bucket(entry.0);
    let mut place = filled;
    let mut next = BUCKETS;
    while next > bucket {
        // Move the first entry of a bucket to its end.
        let first = starts[next] as usize;
        entries[place] = entries[first];
        place = first;
        starts[next] += 1;
        next -= 1;
    }
    let mut other = starts[bucket] as usize;
    while other < place {
        assert!(!same(entries[other].0, entry.0), "a name occurs twice");
        other += 1;
    }
    entries[place] = entry;
}

/// `one == other`, as a const function.
const fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &[(&str, u32)] = &[("now_mu", 1), ("at_mu", 2), ("delay_mu", 3)];
    const SECOND: &[(&str, u32)] = &[("rtio_output", 4), ("rtio_output_wide", 5), ("", 6)];
    static INDEX: Index<u32, 6> = Index::new(&[FIRST, SECOND]);

    fn find(name: &str) -> Option<u32> {
        INDEX.find(name.as_bytes(), hash(name.as_bytes()))
    }

    #[test]
    fn each_name_resolves_to_its_value() {
        for (name, value) in FIRST.iter().chain(SECOND) {
            assert_eq!(find(name), Some(*value), "{name}");
        }
    }

    #[test]
    fn unknown_names_are_not_found_in_the_index() {
        for name in ["rtio_outpu", "rtio_output_", "mu", "x", "Now_mu"] {
            assert_eq!(find(name), None, "{name}");
        }
        // In the bucket of another name.
        assert_eq!(INDEX.find(b"no such name", hash(b"now_mu")), None);
    }

    #[test]
    fn names_in_one_bucket_are_distinguished() {
        // A hash collision: 'A' * 16 + 'Q' is 'B' * 16 + 'A'.
        let index: Index<u32, 3> = Index::new(&[&[("AQ", 1), ("BA", 2)], &[("mu", 3)]]);
        assert_eq!(bucket("AQ"), bucket("BA"));
        for (name, value) in [("AQ", 1), ("BA", 2), ("mu", 3)] {
            assert_eq!(
                index.find(name.as_bytes(), hash(name.as_bytes())),
                Some(value),
                "{name}"
            );
        }
    }

    #[test]
    #[should_panic(expected = "a name occurs twice")]
    fn duplicate_name_in_the_index_is_refused() {
        let _: Index<u32, 4> = Index::new(&[FIRST, &[("at_mu", 9)]]);
    }
}
