//! The slots of a sketch: uint32 for affine32, else uint64.

use simgpu::scheme::{SlotVec, Values};

use super::floats::pairwise_sum;
use super::scheme::PermutationScheme;

/// `count` slots of the empty set.
pub fn empty_slots(scheme: PermutationScheme, count: usize) -> SlotVec {
    match scheme {
        PermutationScheme::Affine32 => Values::U32(vec![u32::MAX; count]),
        PermutationScheme::Legacy | PermutationScheme::Affine64 => {
            Values::U64(vec![scheme.greatest(); count])
        }
    }
}

/// Whether these are the slots of the empty set.
pub fn is_of_empty_set(scheme: PermutationScheme, slots: &SlotVec) -> bool {
    match slots {
        Values::U32(slots) => slots.iter().all(|slot| *slot == u32::MAX),
        Values::U64(slots) => slots.iter().all(|slot| *slot == scheme.greatest()),
    }
}

/// Lowers each slot to the same slot of `other`. Both have the same scheme and length.
///
/// # Panics
/// If their widths differ.
pub fn lower_slots(slots: &mut SlotVec, other: &SlotVec) {
    match (slots, other) {
        (Values::U32(slots), Values::U32(other)) => lower(slots, other.iter().copied()),
        (Values::U64(slots), Values::U64(other)) => lower(slots, other.iter().copied()),
        _ => unreachable!("slots of one scheme have one width"),
    }
}

/// Lowers each slot to a value.
pub(super) fn lower<S: Copy + Ord>(slots: &mut [S], values: impl Iterator<Item = S>) {
    for (slot, value) in slots.iter_mut().zip(values) {
        *slot = (*slot).min(value);
    }
}

/// Estimates the number of elements of a set, with datasketch's rounding.
pub fn estimate_cardinality(scheme: PermutationScheme, slots: &SlotVec) -> f64 {
    let greatest = scheme.greatest() as f64;
    let shares: Vec<f64> = match slots {
        Values::U32(slots) => slots
            .iter()
            .map(|slot| f64::from(*slot) / greatest)
            .collect(),
        Values::U64(slots) => slots.iter().map(|slot| *slot as f64 / greatest).collect(),
    };
    // The mean of the least of n uniform values is 1 / (n + 1).
    shares.len() as f64 / pairwise_sum(&shares) - 1.0
}
