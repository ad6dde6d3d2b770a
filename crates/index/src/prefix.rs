//! The lists of an index of kind `exact`: one for each shingle that leads to documents (MMDS 3.9.3 to 3.9.6).
//!
//! Two documents of at least the threshold share one of the first shingles of both, their *prefix*, in the order of the index. With
//! [`Measure::Contained`](simgpu::pipeline::Measure::Contained), the prefix of the smaller one stands against all shingles of the
//! larger. So each shingle has two lists then: of the documents that have it in their prefix, which are found from any document
//! that has it, and of the others, which are found only from a prefix. A frequent shingle is in hardly any prefix, and its long list
//! is hardly ever read.
//!
//! A list holds the number of shingles of each document and the place of this one among them, so that most documents that are too
//! long, too short or share too little are left out before they are read.

use super::lists::ListKey;
use simgpu::pipeline::{Criterion, PairFilter, PlacedElement, SetSummary};

/// What stands in place of a band in keys of lists: shingles of prefixes, and other ones.
const LEADING: u16 = 0;
const FOLLOWING: u16 = 1;

/// The shape of documents that are compared whatever their number of shingles.
pub(super) const ANY_SHAPE: u32 = u32::MAX;

/// The number of shingles of a document, and the place of one among them, from 0: 16 bits each. A document of more has
/// [`ANY_SHAPE`].
fn shape(len: usize, place: usize) -> u32 {
    match (u16::try_from(len), u16::try_from(place)) {
        (Ok(len), Ok(place)) if len < u16::MAX => u32::from(len) << 16 | u32::from(place),
        _ => ANY_SHAPE,
    }
}

/// The lists that a set of shingles is in, in the order of the index, and its shape there.
pub(super) fn lists(criterion: Criterion, set: &[u64]) -> impl Iterator<Item = (ListKey, u32)> {
    let prefix = set[..criterion.prefix_len(set.len())].iter().enumerate();
    prefix.map(move |(place, hash)| {
        let list = if leads(criterion, set.len(), place) {
            LEADING
        } else {
            FOLLOWING
        };
        (ListKey::Band(list, *hash), shape(set.len(), place))
    })
}

/// The place of a shingle in a set of shingles.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShinglePlace {
    /// The number of shingles of the set.
    pub(super) set_len: u64,
    pub(super) place: u32,
}

/// The lists of the documents that may be similar to a set, by the shingles of its prefix, and the places of these.
pub(super) fn lists_of_similar(
    criterion: Criterion,
    set: &[u64],
) -> impl Iterator<Item = (ListKey, ShinglePlace)> {
    let len = set.len();
    let is_one_sided = matches!(criterion, Criterion::Contained(_));
    let prefix = set[..criterion.prefix_len(len)].iter().zip(0u32..);
    prefix.flat_map(move |(hash, place)| {
        let follows = is_one_sided && leads(criterion, len, place as usize);
        let lists = [Some(LEADING), follows.then_some(FOLLOWING)];
        let own = ShinglePlace {
            set_len: len as u64,
            place,
        };
        let key = move |list| (ListKey::Band(list, *hash), own);
        lists.into_iter().flatten().map(key)
    })
}

/// Whether a list is one of prefixes, which is read from any document that has the shingle.
pub(super) fn leads_from_all(key: ListKey) -> bool {
    matches!(key, ListKey::Band(LEADING, _))
}

/// The other list of the shingle of a list.
pub(super) fn other_list(key: ListKey) -> Option<ListKey> {
    match key {
        ListKey::Band(LEADING, hash) => Some(ListKey::Band(FOLLOWING, hash)),
        ListKey::Band(FOLLOWING, hash) => Some(ListKey::Band(LEADING, hash)),
        ListKey::Band(..) | ListKey::Digest(_) => None,
    }
}

fn leads(criterion: Criterion, len: usize, place: usize) -> bool {
    u32::try_from(place).is_ok_and(|place| criterion.leads_to_pairs(len as u64, place))
}

/// Whether a document of this shape may be similar to one whose first common shingle is at `own`.
pub(super) fn may_be_similar(criterion: Criterion, own: ShinglePlace, shape: u32) -> bool {
    let (len, place) = (u64::from(shape >> 16), shape & 0xFFFF);
    if shape == ANY_SHAPE || u64::from(place) >= len {
        return true;
    }
    let filter = PairFilter {
        criterion,
        weighted: false,
    };
    let sets = [own.set_len, len].map(SetSummary::with_len);
    let placed = |set, place| PlacedElement { set, place };
    filter.passes(placed(&sets[0], own.place), placed(&sets[1], place))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use simgpu::pipeline::{Measure, Overlap};
    use simgpu::scheme::fmix64;

    /// Sets of elements in ascending order.
    fn sets(seed: u64) -> Vec<Vec<u64>> {
        let random = |at: u64| fmix64(seed << 32 | at);
        let set = |number: u64| {
            let len = 1 + random(number) % 12;
            let elements: BTreeSet<u64> =
                (0..len).map(|at| random(100 * number + at) % 16).collect();
            elements.into_iter().collect()
        };
        (1..40).map(set).collect()
    }

    #[test]
    fn lists_lead_to_all_similar_sets() {
        for (seed, threshold) in (0..).zip([0.3, 0.5, 0.6, 0.75, 0.9, 1.0]) {
            let sets = sets(seed);
            for measure in [Measure::Jaccard, Measure::Contained] {
                let of = |threshold| match measure {
                    Measure::Jaccard => Criterion::Jaccard(threshold),
                    Measure::Contained => Criterion::Contained(threshold),
                };
                let criterion = of(threshold);
                for (a, b) in sets.iter().flat_map(|a| sets.iter().map(move |b| (a, b))) {
                    let shared = a.iter().filter(|element| b.contains(element)).count();
                    let similarity = measure.of(Overlap::of([a.len(), b.len()], shared));
                    // A query may ask for more than the index was built for.
                    for wanted in [threshold, f64::midpoint(threshold, 1.0)] {
                        let mut first = None;
                        for (key, own) in lists_of_similar(of(wanted), a) {
                            let shape = lists(criterion, b).find(|(other, _)| *other == key);
                            first = first
                                .or(shape.map(|(_, shape)| may_be_similar(of(wanted), own, shape)));
                        }
                        if similarity >= wanted {
                            assert_eq!(first, Some(true), "{measure:?} {wanted} {a:?} {b:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn documents_of_any_size_have_a_shape() {
        assert_eq!(shape(38, 7), 38 << 16 | 7);
        assert_eq!(shape(65_534, 65_533), 65_534 << 16 | 65_533);
        assert_eq!(shape(65_535, 0), ANY_SHAPE);
        assert_eq!(shape(1 << 20, 1 << 17), ANY_SHAPE);
        let jaccard = Criterion::Jaccard(0.9);
        let first_of_five = ShinglePlace {
            set_len: 5,
            place: 0,
        };
        let is_possible = |shape| may_be_similar(jaccard, first_of_five, shape);
        assert!(is_possible(ANY_SHAPE));
        assert!(!is_possible(shape(9, 0)));
        assert!(is_possible(shape(5, 0)));
    }
}
