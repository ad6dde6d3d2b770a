//! The bounds by which the exact join rejects pairs (MMDS 3.9.3 to 3.9.6), for sets without weights.

use crate::pipeline::{Criterion, PairFilter, SetSummary};

/// The number of first elements of a set of `len` under which it is indexed, and searched (MMDS 3.9.4).
pub fn prefix_len(criterion: Criterion, len: usize) -> usize {
    criterion.prefix_len(len)
}

/// Whether sets of these sizes may be similar (MMDS 3.9.3).
pub fn allows_sizes(criterion: Criterion, a: u64, b: u64) -> bool {
    criterion.allows_sizes(a, b)
}

/// Whether two sets may be similar that have their first common element at these places, each a set's size and a place
/// from 0 (MMDS 3.9.5 and 3.9.6).
pub fn allows_places(criterion: Criterion, a: (u64, u32), b: (u64, u32)) -> bool {
    let filter = PairFilter {
        criterion,
        are_weighted: false,
    };
    let of_len = |(len, place)| (SetSummary::of_len(len), place);
    let (a, b) = (of_len(a), of_len(b));
    filter.passes((&a.0, a.1), (&b.0, b.1))
}
