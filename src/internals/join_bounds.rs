//! The bounds by which the exact join rejects pairs (MMDS 3.9.3 to 3.9.6), for sets without weights.

use crate::pipeline::{Criterion, PairFilter, PlacedElement, SetSummary};

/// The number of first elements of a set of `len` under which it is indexed, and searched (MMDS 3.9.4).
pub fn prefix_len(criterion: Criterion, len: usize) -> usize {
    criterion.prefix_len(len)
}

/// Whether sets of these sizes may be similar (MMDS 3.9.3).
pub fn allows_sizes(criterion: Criterion, a: u64, b: u64) -> bool {
    criterion.allows_sizes(a, b)
}

/// An element of a set: the number of elements of the set, and the place of this one, from 0.
#[derive(Clone, Copy, Debug)]
pub struct ElementPlace {
    /// The number of elements of the set.
    pub len: u64,
    /// The place of the element, from 0.
    pub place: u32,
}

/// Whether two sets may be similar that have their first common element at these places (MMDS 3.9.5 and 3.9.6).
pub fn allows_places(criterion: Criterion, a: ElementPlace, b: ElementPlace) -> bool {
    let filter = PairFilter {
        criterion,
        weighted: false,
    };
    let sets = [a, b].map(|element| SetSummary::with_len(element.len));
    let placed = |set, element: ElementPlace| PlacedElement {
        set,
        place: element.place,
    };
    filter.passes(placed(&sets[0], a), placed(&sets[1], b))
}
