//! What is done with the slots of two signatures: count those that agree, or merge them.

use super::values::{Slots, SlotsMut};
use crate::error::{Conflict, Result};

impl<'a> Slots<'a> {
    /// Number of slots in which two signatures agree.
    ///
    /// # Errors
    /// [`Conflict::SlotWidths`] or [`Conflict::SlotCounts`] if they differ in width or number of slots.
    pub fn matches(&self, other: Slots<'_>) -> Result<usize> {
        match (self, other) {
            (Slots::U32(slots), Slots::U32(other)) => count_matches(slots, other),
            (Slots::U64(slots), Slots::U64(other)) => count_matches(slots, other),
            _ => Err(Conflict::SlotWidths.into()),
        }
    }
}

fn count_matches<S: PartialEq>(slots: &[S], other: &[S]) -> Result<usize> {
    check_counts(slots.len(), other.len())?;
    Ok(slots.iter().zip(other).filter(|(a, b)| a == b).count())
}

impl SlotsMut<'_> {
    /// Replaces each slot by the smaller of itself and the same slot of `other`. The result is the signature
    /// of the union of
    /// both sets (MMDS, exercise 3.3.7). Both signatures must have the same scheme.
    ///
    /// Do not merge signatures of empty sets of the presets `nemo` and `nemo64`: their slots are 0 and would
    /// replace all slots of the other signature.
    ///
    /// ```
    /// # use simgpu_kernels as simgpu;
    /// use simgpu::scheme::{Scheme, Slots, SlotsMut};
    ///
    /// // By the definition: the least value of each permutation.
    /// let scheme = Scheme::named("affine64")?;
    /// let permutations = scheme.permutations();
    /// let sign = |set: &[u32]| -> Vec<u64> {
    ///     let least = |slot| set.iter().map(|&x| permutations.value(slot, x.into())).min().unwrap();
    ///     (0..scheme.num_perm()).map(least).collect()
    /// };
    /// let mut union = sign(&[1, 2, 3]);
    /// SlotsMut::U64(&mut union).merge(Slots::U64(&sign(&[3, 4])))?;
    /// assert_eq!(union, sign(&[1, 2, 3, 4]));
    /// # Ok::<(), simgpu_base::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Conflict`](crate::error::Error::Conflict) if the signatures differ in width or number of slots.
    /// Nothing is
    /// changed then.
    pub fn merge(&mut self, other: Slots<'_>) -> Result<()> {
        check_counts(self.len(), other.len())?;
        match (self, other) {
            (SlotsMut::U32(slots), Slots::U32(other)) => lower(slots, other),
            (SlotsMut::U64(slots), Slots::U64(other)) => lower(slots, other),
            _ => return Err(Conflict::SlotWidths.into()),
        }
        Ok(())
    }
}

/// Replaces each slot by the smaller of itself and the same slot of `other`.
#[doc(hidden)]
pub fn lower<S: Copy + Ord>(slots: &mut [S], other: &[S]) {
    for (slot, other) in slots.iter_mut().zip(other) {
        *slot = (*slot).min(*other);
    }
}

/// Refuses two signatures that differ in their number of slots.
#[doc(hidden)]
pub fn check_counts(left: usize, right: usize) -> Result<()> {
    if left != right {
        return Err(Conflict::SlotCounts { left, right }.into());
    }
    Ok(())
}
