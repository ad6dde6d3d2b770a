//! The order of the shingles in an index of kind `exact`: rare ones first, by the documents with which it began.
//!
//! The order is a function of the hash of a shingle alone, so that any two documents list what they share in the same
//! order, whenever they were added. That is all that prefixes need to miss nothing (MMDS 3.9.4); how well it fits later documents
//! decides how long their lists are.
//!
//! It is kept as the first 32 bits of the hashes of frequent shingles, and a class of their number of documents: five bytes
//! each. A rare shingle that has these bits in common with a frequent one counts as frequent, in all documents.

use simgpu::pipeline::Element;

/// An order of all shingles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Order {
    /// The first bits of the hashes of frequent shingles, ascending.
    starts: Vec<u32>,
    /// The class of each one's number of documents.
    classes: Vec<u8>,
}

/// Frequent shingles that are told apart. They take 320 KiB.
const FREQUENT: usize = 1 << 16;

/// The class of shingles that are not among them.
const RARE: u8 = 0;

/// The first bits of a hash.
#[allow(
    clippy::cast_possible_truncation,
    reason = "the upper half of 64 bits has 32"
)]
pub(super) fn start(hash: u64) -> u32 {
    (hash >> 32) as u32
}

impl Order {
    /// The order of documents, of all of whose distinct shingles these are the first bits.
    pub(super) fn new(mut starts: Vec<u32>) -> Self {
        starts.sort_unstable();
        let runs = starts.chunk_by(|a, b| a == b).filter(|run| run.len() > 1);
        let mut counts: Vec<(usize, u32)> = runs.map(|run| (run.len(), run[0])).collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        counts.truncate(FREQUENT);
        counts.sort_unstable_by_key(|(_, start)| *start);
        Order {
            starts: counts.iter().map(|(_, start)| *start).collect(),
            classes: counts
                .iter()
                .map(|(count, _)| Element::class(*count as u64))
                .collect(),
        }
    }

    /// Brings the distinct hashes of a set into the order.
    pub(super) fn arrange(&self, set: &mut [u64]) {
        set.sort_by_cached_key(|hash| (self.class(*hash), *hash));
    }

    fn class(&self, hash: u64) -> u8 {
        match self.starts.binary_search(&start(hash)) {
            Ok(at) => self.classes[at],
            Err(_) => RARE,
        }
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let starts = self.starts.iter().flat_map(|start| start.to_le_bytes());
        starts.chain(self.classes.iter().copied()).collect()
    }

    /// The order of these bytes; `None` if they are none.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let (starts, classes) = bytes.split_at_checked(bytes.len() / 5 * 4)?;
        let (starts, rest) = starts.as_chunks();
        let starts: Vec<u32> = starts
            .iter()
            .map(|start| u32::from_le_bytes(*start))
            .collect();
        let is_order = rest.is_empty()
            && starts.len() == classes.len()
            && starts.is_sorted_by(|a, b| a < b)
            && classes.iter().all(|class| *class != RARE);
        is_order.then(|| Order {
            starts,
            classes: classes.to_vec(),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use simgpu::scheme::fmix64;

    #[test]
    fn rare_shingles_come_first_and_unseen_ones_before_them() {
        let hashes: Vec<u64> = (0..20).map(fmix64).collect();
        // Shingle i is in i documents.
        let occurrences = hashes
            .iter()
            .enumerate()
            .flat_map(|(i, hash)| vec![start(*hash); i]);
        let order = Order::new(occurrences.collect());
        let mut set = hashes.clone();
        order.arrange(&mut set);
        let (rare, frequent) = set.split_at(2);
        assert!(rare.is_sorted() && rare.iter().all(|hash| hashes[..2].contains(hash)));
        // Exact up to 15; then four classes for each doubling.
        assert_eq!(frequent[..14], hashes[2..16]);
        let mut last: Vec<u64> = frequent[14..].to_vec();
        assert!(last.is_sorted());
        last.sort_by_key(|hash| hashes.iter().position(|other| other == hash));
        assert_eq!(last, hashes[16..]);
        assert_eq!(Order::decode(&order.encode()), Some(order));
    }

    #[test]
    fn an_order_has_a_bounded_size() {
        let starts: Vec<u32> = (0..200_000u32).flat_map(|start| [start; 2]).collect();
        let order = Order::new(starts);
        assert_eq!(order.encode().len(), 5 * FREQUENT);
    }

    proptest! {
        #[test]
        fn any_bytes_are_an_order_or_none(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            if let Some(order) = Order::decode(&bytes) {
                prop_assert_eq!(order.encode(), bytes);
                order.arrange(&mut [1, 2, 3]);
            }
        }
    }
}
