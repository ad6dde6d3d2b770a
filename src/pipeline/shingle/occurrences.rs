//! Numbers the occurrences of each shingle in a document, and finds where it occurred first.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};

use crate::scheme::fmix64;

/// How often each hash has occurred so far.
#[derive(Debug, Default)]
pub(super) struct Occurrences(HashMap<u64, u64, BuildHasherDefault<Mixed>>);

impl Occurrences {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// The number of this occurrence of the hash, from 0.
    #[inline]
    pub(super) fn next(&mut self, hash: u64) -> u64 {
        let seen = self.0.entry(hash).or_insert(0);
        *seen += 1;
        *seen - 1
    }
}

/// Where each hash occurred first.
#[derive(Debug, Default)]
pub(super) struct Distinct(HashMap<u64, usize, BuildHasherDefault<Mixed>>);

impl Distinct {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Where the hash occurred first; if nowhere so far, it does at `place`.
    #[inline]
    pub(super) fn find_or_add(&mut self, hash: u64, place: usize) -> Option<usize> {
        match self.0.entry(hash) {
            Entry::Occupied(first) => Some(*first.get()),
            Entry::Vacant(entry) => {
                entry.insert(place);
                None
            }
        }
    }
}

/// Mixes the bits of a hash: some base hashes have 32 bits only.
#[derive(Debug, Default)]
pub(super) struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        fmix64(self.0)
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0 << 8 | u64::from(*byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}
