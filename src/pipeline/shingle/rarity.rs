//! Weights by rarity: what a document says by having an element, in bits.
//!
//! **Counts are exact**, in one hash table of 19 to 39 bytes per distinct shingle; a table that would exceed its bound
//! is an error. Hashed counters need less memory, but elements that share a counter would get weights that no
//! definition states, and no brute force could check them. The counting pass numbers documents as the later pass does,
//! so that a repeated document changes no weight.
//!
//! **These weights hold for one run.** So hashes may be those of exact sets, which the counts need anyway; the
//! signature has one copy per bit of weight, and no scale is offered. To sign alone is refused: signatures of two runs
//! could not be compared.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::BuildHasherDefault;

use super::occurrences::Mixed;

/// Bits after the binary point of a weight: with 26 of them, the weights of any 2^32 elements come to less than 2^63,
/// since no weight exceeds 32.
pub(super) const FRACTION_BITS: u32 = 26;

/// How many documents have each element. An element of d of n documents weighs log2(n / d).
///
/// The weight is the information that the element gives: one in half of the documents gives 1 bit, one in a quarter of
/// them 2 bits, and one in all of them none. Only integers are computed with, so that all machines have the same
/// weights.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rarities {
    documents: u32,
    counts: HashMap<u64, Count, BuildHasherDefault<Mixed>>,
    /// The weights of elements of few documents, by the number of documents; empty while counting.
    weights: Vec<u64>,
}

/// The documents that have an element.
#[derive(Clone, Copy, Debug)]
struct Count {
    documents: u32,
    /// The number of the last of them, from 1.
    last: u32,
}

impl Rarities {
    /// Weights computed in advance.
    const KNOWN: u32 = 1 << 16;

    /// Counts a document: a list of the hashes of its elements, with or without repeats. There are fewer than 2^32
    /// documents.
    pub(crate) fn count(&mut self, document: &[u64]) {
        self.documents += 1;
        let number = self.documents;
        for hash in document {
            match self.counts.entry(*hash) {
                Entry::Vacant(entry) => {
                    entry.insert(Count {
                        documents: 1,
                        last: number,
                    });
                }
                Entry::Occupied(mut entry) => {
                    let count = entry.get_mut();
                    count.documents += u32::from(count.last != number);
                    count.last = number;
                }
            }
        }
    }

    /// A count of this many documents, whose elements follow ([`Rarities::set_count`]).
    pub(crate) fn new(documents: u32) -> Self {
        Rarities {
            documents,
            ..Rarities::default()
        }
    }

    /// Sets how many documents have an element.
    pub(crate) fn set_count(&mut self, hash: u64, documents: u32) {
        let count = Count { documents, last: 0 };
        self.counts.insert(hash, count);
    }

    /// All elements, in any order, each with the number of documents that have it.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (u64, u32)> {
        let counts = self.counts.iter();
        counts.map(|(hash, count)| (*hash, count.documents))
    }

    /// The number of documents.
    pub(crate) fn documents(&self) -> u32 {
        self.documents
    }

    /// The number of distinct elements.
    pub(crate) fn elements(&self) -> usize {
        self.counts.len()
    }

    /// Bytes of memory, at most, while this many further elements are added: if the table has no room for them, it is
    /// copied into one of twice the size.
    pub(crate) fn bytes_with(&self, more: usize) -> usize {
        let held = bytes_for(self.counts.capacity());
        let wanted = self.counts.len() + more;
        if wanted <= self.counts.capacity() {
            held
        } else {
            held + bytes_for(wanted)
        }
    }

    /// Ends the count.
    pub(crate) fn counted(mut self) -> Self {
        let known = self.documents.min(Rarities::KNOWN);
        let weight = |documents| match documents {
            0 => 0,
            documents => log2_ratio(self.documents, documents),
        };
        self.weights = (0..=known).map(weight).collect();
        self
    }

    /// The weight of an element, in units of 2^-26. An element that no document has counts as one of a single document.
    pub(super) fn weight(&self, hash: u64) -> u64 {
        let documents = self.counts.get(&hash).map_or(1, |count| count.documents);
        let known = self.weights.get(documents as usize).copied();
        known.unwrap_or_else(|| log2_ratio(self.documents, documents))
    }
}

/// Bytes of a hash table with room for this many elements: it is at most 7/8 full, of a power of two of slots, each
/// with a byte beside it.
fn bytes_for(elements: usize) -> usize {
    match elements {
        0 => 0,
        _ => (8 * elements).div_ceil(7).next_power_of_two() * (size_of::<(u64, Count)>() + 1),
    }
}

/// log2(n / d) in units of 2^-26, rounded down, for 1 <= d <= n; 0 if there is no document.
///
/// One bit of a logarithm at a time: the square of a number has twice its logarithm. Rounding down the squares may
/// lower the result by one unit, if the next greater one is within 2^-9 units.
#[allow(
    clippy::cast_possible_truncation,
    reason = "the shifts leave 64 bits, or one"
)]
fn log2_ratio(n: u32, d: u32) -> u64 {
    // 63 bits after the binary point.
    let ratio = (u128::from(n) << 63) / u128::from(d.max(1));
    let Some(whole) = ratio.checked_ilog2().and_then(|log| log.checked_sub(63)) else {
        return 0;
    };
    // From 1 on, and below 2.
    let mut rest = (ratio >> whole) as u64;
    let mut log = u64::from(whole);
    for _ in 0..FRACTION_BITS {
        let square = (u128::from(rest) * u128::from(rest)) >> 63;
        let bit = (square >> 64) as u64;
        log = log << 1 | bit;
        rest = (square >> bit) as u64;
    }
    log
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const UNIT: f64 = (1u64 << FRACTION_BITS) as f64;

    proptest! {
        #[test]
        fn logarithms_are_rounded_down(n in 1u32.., d in 1u32..) {
            let (n, d) = (n.max(d), n.min(d));
            let expected = (f64::from(n) / f64::from(d)).log2() * UNIT;
            let found = log2_ratio(n, d) as f64;
            prop_assert!(found <= expected + 1e-3 && found > expected - 1.1, "{found} {expected}");
        }

        #[test]
        fn logarithms_of_small_numbers_are_rounded_down(n in 1u32..2000, d in 1u32..2000) {
            let (n, d) = (n.max(d), n.min(d));
            let expected = (f64::from(n) / f64::from(d)).log2() * UNIT;
            let found = log2_ratio(n, d) as f64;
            prop_assert!(found <= expected + 1e-3 && found > expected - 1.1, "{found} {expected}");
        }
    }

    /// log2(3) is 1.584962500721156...
    #[test]
    fn logarithms_have_known_values() {
        for (power, n) in (0u32..32).map(|power| (power, 1u32 << power)) {
            assert_eq!(log2_ratio(n, 1), u64::from(power) << FRACTION_BITS);
            assert_eq!(log2_ratio(n, n), 0);
        }
        assert_eq!(log2_ratio(3, 1), 106_365_032);
        assert_eq!(log2_ratio(6, 2), log2_ratio(3, 1));
        assert_eq!(log2_ratio(0, 1), 0);
        assert_eq!(log2_ratio(u32::MAX, 1), (32 << FRACTION_BITS) - 1);
    }

    #[test]
    fn repeats_in_a_document_count_once() {
        let mut rarities = Rarities::default();
        for document in [&[1, 2, 1, 3][..], &[1, 3], &[], &[1, 1]] {
            rarities.count(document);
        }
        let rarities = rarities.counted();
        assert_eq!((rarities.documents(), rarities.elements()), (4, 3));
        let weights = [1, 2, 3].map(|hash| rarities.weight(hash));
        assert_eq!(
            weights,
            [log2_ratio(4, 3), 2 << FRACTION_BITS, 1 << FRACTION_BITS]
        );
    }

    #[test]
    fn tables_take_no_more_memory_than_stated() {
        let mut rarities = Rarities::default();
        let mut last = 0;
        for document in (0..3000).map(|i| (i * 50..i * 50 + 60).collect::<Vec<u64>>()) {
            let stated = rarities.bytes_with(document.len());
            rarities.count(&document);
            assert!(rarities.bytes_with(0) <= stated && stated >= last);
            last = rarities.bytes_with(0);
        }
    }
}
