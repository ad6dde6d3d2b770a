//! The kernels of the sketches that put a shingle into one slot a round: [`fast`](crate::scheme::fast)
//! and R-MinHash.
//!
//! A round mixes a few shingles in lanes, writes down what came out, and then lowers slots one by one
//! without a branch: which slot it is nobody can predict, and scattering vectors with conflicts is no
//! quicker. What is done for each shingle is as little as can be: what a slot's least m means as a value
//! is found out for all slots together when the round is over, and so is whether one is left empty.

use std::cell::RefCell;

use super::isa::{Isa, Kernel};
use super::lanes::Lanes;
use super::sign::{Affine64, block64, fmix32_lanes, lower_block64};
use crate::scheme::{fast, rminhash};

/// Shingles that are mixed before their slots are lowered; every vector divides it.
const CHUNK: usize = 64;

/// A chunk in lines of the cache: what was stored across two of them cannot be read back at once.
#[repr(align(64))]
struct Aligned([u32; CHUNK]);

/// `fast`.
pub(crate) struct Fast {
    a: Vec<u64>,
    b: Vec<u64>,
}

impl Fast {
    pub(crate) fn new(a: &[u64], b: &[u64]) -> Self {
        Fast {
            a: a.to_vec(),
            b: b.to_vec(),
        }
    }

    /// Signs one set that is not empty.
    pub(crate) fn sign(&self, isa: Isa, set: &[u32], row: &mut [u32]) {
        thread_local! {
            /// The least m of each slot in a round.
            static LEAST: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
        }
        let by = self;
        row.fill(u32::MAX);
        let empty = LEAST.with_borrow_mut(|least| {
            least.clear();
            least.resize(row.len(), u32::MAX);
            isa.run(RandomRounds {
                by,
                set,
                row,
                least,
            })
        });
        if empty == 0 {
            return;
        }
        // What random rounds left empty, of very small sets, every shingle enters.
        let slots = row.len() as u64;
        let (_, fixed_a) = self.a.split_at(row.len());
        let (_, fixed_b) = self.b.split_at(row.len());
        for (round, ((slot, a), b)) in (slots..).zip(row.iter_mut().zip(fixed_a).zip(fixed_b)) {
            if *slot == u32::MAX {
                let values = set.iter().map(|x| fast::place(*a, *b, *x, round, slots).1);
                *slot = values.min().unwrap_or(u32::MAX);
            }
        }
    }
}

/// The first K rounds, or as many as leave a slot empty; gives the number of empty slots.
///
/// In a slot m ascends with u, so the least m gives the least value. That an m of 2^32 - 1, which can
/// only enter the last slot, is not taken for none, is noted aside.
struct RandomRounds<'a> {
    by: &'a Fast,
    set: &'a [u32],
    row: &'a mut [u32],
    /// As long as `row`, all `u32::MAX`.
    least: &'a mut [u32],
}

impl Kernel for RandomRounds<'_> {
    type Output = usize;

    #[allow(
        clippy::cast_possible_truncation,
        reason = "coefficients and the number of slots fit 32 bits"
    )]
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> usize {
        let RandomRounds {
            by,
            set,
            row,
            least,
        } = self;
        const { assert!(CHUNK.is_multiple_of(L::COUNT)) }
        let slots = row.len() as u32;
        // The last chunk is filled up with a shingle of the set: repeats change nothing.
        let (chunks, rest) = set.as_chunks::<CHUNK>();
        let mut last = [set[0]; CHUNK];
        last[..rest.len()].copy_from_slice(rest);
        let rest = rest.len().next_multiple_of(L::COUNT);
        let Aligned(mixed) = &mut Aligned([0; CHUNK]);
        for round in 0..row.len() {
            let a = lanes.splat(by.a[round] as u32);
            let b = lanes.splat(by.b[round] as u32);
            let ones = lanes.splat(u32::MAX);
            let mut from_greatest = ones;
            let whole = chunks.iter().map(|chunk| (chunk, CHUNK));
            for (chunk, len) in whole.chain([(&last, rest)]) {
                for i in (0..len).step_by(L::COUNT) {
                    let m = lanes.add(lanes.mul(a, lanes.load(&chunk[i..])), b);
                    let m = fmix32_lanes(lanes, m);
                    from_greatest = lanes.min(from_greatest, lanes.xor(m, ones));
                    lanes.store(m, &mut mixed[i..]);
                }
                // No branch, also where a slot seldom changes: guessing that it does not was slower.
                for m in &mixed[..len] {
                    let slot = (u64::from(*m) * u64::from(slots)) >> 32;
                    let least = &mut least[slot as usize];
                    *least = (*least).min(*m);
                }
            }
            lanes.store(from_greatest, mixed);
            let has_greatest = mixed[..L::COUNT].contains(&0);

            let (prefix, shift) = fast::prefix(round as u64, slots.into());
            let value = |m: u32| prefix | m.wrapping_mul(slots) >> shift;
            if has_greatest && row[row.len() - 1] == u32::MAX && least[row.len() - 1] == u32::MAX {
                let k = row.len() - 1;
                row[k] = value(u32::MAX);
            }
            let mut empty = 0;
            for (slot, least) in row.iter_mut().zip(least.iter_mut()) {
                let value = if *least == u32::MAX {
                    u32::MAX
                } else {
                    value(*least)
                };
                *slot = (*slot).min(value);
                *least = u32::MAX;
                empty += u32::from(*slot == u32::MAX);
            }
            if empty == 0 {
                return 0;
            }
        }
        row.iter().filter(|slot| **slot == u32::MAX).count()
    }
}

/// R-MinHash. Its mixer is two products of 64 bits, which lanes do no quicker than the scalar unit.
pub(crate) struct RMinHash {
    a: Vec<u64>,
    b: Vec<u64>,
}

impl RMinHash {
    pub(crate) fn new(a: &[u64], b: &[u64]) -> Self {
        RMinHash {
            a: a.to_vec(),
            b: b.to_vec(),
        }
    }

    /// Signs one set that is not empty.
    #[allow(clippy::cast_possible_truncation, reason = "slots are below K")]
    pub(crate) fn sign(&self, isa: Isa, set: &[u64], row: &mut [u32]) {
        row.fill(u32::MAX);
        let slots = row.len() as u64;
        for round in 0..3 {
            let key = rminhash::round_key(self.b[0], round);
            if slots.is_power_of_two() {
                // No slot is ever rejected.
                for x in set {
                    let m = rminhash::mix(x ^ key);
                    let slot = &mut row[(((m & 0xFFFF_FFFF) * slots) >> 32) as usize];
                    *slot = (*slot).min(rminhash::value_of(m, round));
                }
            } else {
                for x in set {
                    let m = rminhash::mix(x ^ key);
                    let (slot, value) = rminhash::slot_and_value(m, round, slots);
                    row[slot] = row[slot].min(value);
                }
            }
            if !row.contains(&u32::MAX) {
                return;
            }
        }
        isa.run(FallBack { by: self, set, row });
    }
}

/// Permutations at a time, which is a block of the widest lanes.
const BLOCK: usize = 32;

/// Fills the slots that are empty after three rounds with the least values of their permutations.
struct FallBack<'a> {
    by: &'a RMinHash,
    set: &'a [u64],
    row: &'a mut [u32],
}

impl Kernel for FallBack<'_> {
    type Output = ();

    #[allow(clippy::cast_possible_truncation, reason = "30 bits are left")]
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        const { assert!(BLOCK.is_multiple_of(block64::<L>())) }
        let FallBack { by, set, row } = self;
        let key = rminhash::fallback_key(by.a[0]);
        let mut next = 0;
        loop {
            let (mut slots, mut count) = ([0; BLOCK], 0);
            let (mut a, mut b, mut low) = ([0; BLOCK], [0; BLOCK], [u64::MAX; BLOCK]);
            while next < row.len() && count < BLOCK {
                if row[next] == u32::MAX {
                    (slots[count], a[count], b[count]) = (next, by.a[next], by.b[next]);
                    count += 1;
                }
                next += 1;
            }
            if count == 0 {
                return;
            }
            let mut mixed = [0; CHUNK];
            for chunk in set.chunks(CHUNK) {
                for (mixed, x) in mixed.iter_mut().zip(chunk) {
                    *mixed = rminhash::mix(x ^ key);
                }
                for first in (0..count).step_by(block64::<L>()) {
                    let (a, b, low) = (&a[first..], &b[first..], &mut low[first..]);
                    lower_block64::<L, Affine64<false>>(lanes, a, b, &mixed[..chunk.len()], low);
                }
            }
            for (slot, low) in slots.iter().zip(low).take(count) {
                row[*slot] = 3 << 30 | (low >> 34) as u32;
            }
        }
    }
}
