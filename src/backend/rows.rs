//! What the CPU backends share: which thread signs what.

use rayon::prelude::*;

use crate::pipeline::{ShingleSets, lower};

/// A set longer than this is signed in pieces by several threads. The minimum over pieces is the
/// minimum over the set (MMDS 3.3.6), so pieces do not show in the values.
const PIECE: usize = 1 << 16;

/// Rows that one thread signs at a time, at most: who is the last to end a large share leaves the others idle.
pub(super) fn rows_at_a_time(rows: usize) -> usize {
    rows.div_ceil(32 * rayon::current_num_threads()).max(1)
}

/// Fills each row of `slots` with `empty`, or has `sign` write the minima of a set that is not empty.
pub(super) fn sign_rows<H, S>(
    sets: &ShingleSets<'_>,
    hashes: &[H],
    slots: &mut [S],
    empty: S,
    sign: impl Fn(&[H], &mut [S]) + Sync,
) where
    H: Sync,
    S: Copy + Ord + Send + Sync,
{
    if sets.is_empty() {
        return;
    }
    let num_perm = slots.len() / sets.len();
    let rows = slots.par_chunks_mut(num_perm).enumerate();
    let rows = rows.with_max_len(rows_at_a_time(sets.len()));
    rows.for_each(|(i, row)| {
        let set = &hashes[sets.range(i)];
        if set.is_empty() {
            row.fill(empty);
            return;
        }
        if set.len() <= PIECE {
            sign(set, row);
            return;
        }
        // The least of the pieces, and nothing else: `empty` may be less than any value.
        let pieces = set.par_chunks(PIECE).map(|piece| {
            let mut partial = vec![empty; num_perm];
            sign(piece, &mut partial);
            partial
        });
        let lowest = pieces.reduce_with(|mut left, right| {
            lower(&mut left, &right);
            left
        });
        if let Some(lowest) = lowest {
            row.copy_from_slice(&lowest);
        }
    });
}
