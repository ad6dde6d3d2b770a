//! What the CPU backends share: which thread signs which set.

use crate::error::{Conflict, Error};
use crate::pipeline::ShingleSets;
use crate::scheme::Family;
use crate::scheme::lower;
use crate::threads::{for_each_chunk, map_blocks};

/// Which threads sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Threads {
    /// Those of the rayon pool that the call is made in.
    Pool,
    /// The calling thread alone. No call to rayon is made, which would start its global pool.
    Caller,
}

/// Shingles that are signed at a time. The minimum over pieces is the minimum over the set (MMDS, exercise 3.3.7),
/// so pieces do not show in the values.
const SHINGLES_AT_A_TIME: usize = 1 << 16;

/// Rows in a thread's largest share: whoever ends a large share last leaves the others idle.
pub(super) fn rows_at_a_time(rows: usize) -> usize {
    rows.div_ceil(32 * rayon::current_num_threads()).max(1)
}

/// Fills each row of `slots`: with `empty` for an empty set, and otherwise with the minima that `sign`
/// writes.
pub(super) fn sign_rows<H, S>(
    threads: Threads,
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
    if threads == Threads::Caller {
        for (i, row) in slots.chunks_mut(num_perm).enumerate() {
            sign_row(&hashes[sets.range(i)], row, empty, &sign);
        }
        return;
    }
    let chunk = num_perm * rows_at_a_time(sets.len());
    for_each_chunk(slots, chunk, |first, rows| {
        for (row, i) in rows.chunks_mut(num_perm).zip(first / num_perm..) {
            let set = &hashes[sets.range(i)];
            if set.len() <= SHINGLES_AT_A_TIME {
                sign_row(set, row, empty, &sign);
                continue;
            }
            // The least of the pieces, and nothing else: `empty` may be less than any value.
            let pieces = map_blocks(set.len(), SHINGLES_AT_A_TIME, |piece| {
                let mut partial = vec![empty; num_perm];
                sign(&set[piece], &mut partial);
                partial
            });
            let lowest = pieces.into_iter().reduce(|mut left, right| {
                lower(&mut left, &right);
                left
            });
            if let Some(lowest) = lowest {
                row.copy_from_slice(&lowest);
            }
        }
    });
}

/// Signs one set on this thread, piece by piece.
fn sign_row<H, S: Copy + Ord>(set: &[H], row: &mut [S], empty: S, sign: &impl Fn(&[H], &mut [S])) {
    let mut pieces = set.chunks(SHINGLES_AT_A_TIME);
    let Some(first) = pieces.next() else {
        row.fill(empty);
        return;
    };
    sign(first, row);
    let mut partial = Vec::new();
    for piece in pieces {
        partial.resize(row.len(), empty);
        sign(piece, &mut partial);
        lower(row, &partial);
    }
}

/// The error of a batch whose hashes or slots have the wrong width.
pub(super) fn wrong_width(family: Family) -> Error {
    Conflict::SchemeWidths {
        hash_bits: 8 * family.hash_width().bytes(),
        slot_bits: 8 * family.slot_width().bytes(),
    }
    .into()
}
