//! Numbers the occurrences of each shingle in a document, and finds where it occurred first.
//!
//! The shingler replaces the k-th occurrence of a hash by copy k - 1 (`scheme::copies`), so that all later stages,
//! exact sets, joins and devices included, treat bags as sets. Hashes of words are numbered at 64 bits and cut
//! afterwards, so that the first pass can make both widths of one list. Counting takes a hash table per document; a
//! GPU hashes windows only for sets.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::scheme::{ShingleHash, fmix64, spread};

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

/// Finds where in a list of distinct hashes each hash is: a hash table with linear probing.
#[derive(Debug, Default)]
pub(super) struct Distinct {
    /// One more than a place in the list; 0 in an empty slot. At most half of them are full.
    slots: Vec<u32>,
}

impl Distinct {
    /// Begins a list of at most `len` hashes.
    pub(super) fn begin(&mut self, len: usize) {
        self.slots.clear();
        self.slots.resize((2 * len).next_power_of_two().max(16), 0);
    }

    /// The place of the hash in `list`. If it is not there, it must be appended next.
    #[inline]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the shift leaves the bits of a slot number; a document has fewer than 2^32 tokens"
    )]
    pub(super) fn find_or_add<H: ShingleHash + Into<u64>>(
        &mut self,
        hash: H,
        list: &[(H, u64)],
    ) -> Option<usize> {
        let mask = self.slots.len() - 1;
        let shift = 64 - self.slots.len().trailing_zeros();
        let mut slot = (spread(hash.into()) >> shift) as usize & mask;
        loop {
            match self.slots[slot] {
                0 => {
                    self.slots[slot] = list.len() as u32 + 1;
                    return None;
                }
                after if list[after as usize - 1].0 == hash => return Some(after as usize - 1),
                _ => slot = (slot + 1) & mask,
            }
        }
    }
}

/// Mixes the bits of a hash: some base hashes have 32 bits only.
#[derive(Debug, Default)]
#[doc(hidden)]
pub struct Mixed(u64);

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
