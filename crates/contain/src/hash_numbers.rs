//! Numbers of distinct things, found by a hash. Several may have one hash.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use simgpu::pipeline::Mixed;

/// Finds the number of a thing by its hash, without a copy of the thing.
#[derive(Debug, Default)]
pub(super) struct HashNumbers {
    /// The first thing of each hash.
    first: HashMap<u64, u32, BuildHasherDefault<Mixed>>,
    /// Further ones, of the few hashes that have them.
    others: HashMap<u64, Vec<u32>, BuildHasherDefault<Mixed>>,
}

impl HashNumbers {
    /// The number with this hash for which `is_equal` holds.
    pub(super) fn find(&self, hash: u64, is_equal: impl Fn(u32) -> bool) -> Option<u32> {
        let first = *self.first.get(&hash)?;
        if is_equal(first) {
            return Some(first);
        }
        let mut others = self.others.get(&hash)?.iter().copied();
        others.find(|number| is_equal(*number))
    }

    /// Adds a number that is not found.
    pub(super) fn add(&mut self, hash: u64, number: u32) {
        if *self.first.entry(hash).or_insert(number) != number {
            self.others.entry(hash).or_default().push(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_of_one_hash_are_told_apart() {
        let mut numbers = HashNumbers::default();
        assert_eq!(numbers.find(7, |_| true), None);
        for number in [3, 1, 4] {
            assert_eq!(numbers.find(7, |other| other == number), None);
            numbers.add(7, number);
        }
        for number in [1, 3, 4] {
            assert_eq!(numbers.find(7, |other| other == number), Some(number));
        }
        assert_eq!(numbers.find(8, |_| true), None);
    }
}
