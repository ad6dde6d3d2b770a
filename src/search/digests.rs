//! The digests of documents, in shards: which documents repeat an earlier one.
//!
//! A shard holds the digests with the same high bits, and one thread adds to it. So the threads add the documents of a piece
//! together, and no table is so large that its growth keeps others waiting: for a million documents in one table, the last
//! growth took 45 ms. What is found does not depend on shards: each has its documents in order.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use crate::documents::DigestMap;
use crate::threads::for_each_block;

/// As many as keep the threads of a large machine busy, and few enough that a piece has several documents for each.
const SHARDS: usize = 64;

/// Documents that are worth a job, some 10 µs: each is looked up in memory that no cache has.
const JOB: usize = 1 << 7;

/// The digests of documents, each with the row of its first document.
#[derive(Debug)]
pub(super) struct Digests {
    shards: [RwLock<DigestMap<u32>>; SHARDS],
}

impl Default for Digests {
    fn default() -> Self {
        Digests {
            shards: std::array::from_fn(|_| RwLock::default()),
        }
    }
}

impl Digests {
    /// The digests of a piece that were added with an earlier piece, by document.
    pub(super) fn known(&self, digests: &[u128], sharded: &ByShard) -> Vec<bool> {
        let mut known = vec![false; digests.len()];
        for (shard, documents) in sharded.shards() {
            let table = self.read(shard);
            for document in documents {
                let digest = digests[*document as usize];
                known[*document as usize] = table.contains_key(&digest);
            }
        }
        known
    }

    /// Adds the documents of a piece, whose rows begin with `first_row` and fit 32 bits, on all threads; those without a
    /// digest take no part. Returns for each the row of the first document with its digest, which may be its own.
    pub(super) fn add(
        &self,
        documents: usize,
        digest_of: impl Fn(usize) -> Option<u128> + Sync,
        sharded: &ByShard,
        first_row: u32,
    ) -> Vec<AtomicU32> {
        let firsts: Vec<AtomicU32> = (0..documents).map(|_| AtomicU32::new(0)).collect();
        let add = |shard: usize, documents: &[u32]| {
            let mut table = self.shards[shard]
                .write()
                .unwrap_or_else(PoisonError::into_inner);
            for document in documents {
                let row = first_row + document;
                let first = match digest_of(*document as usize) {
                    Some(digest) => *table.entry(digest).or_insert(row),
                    None => row,
                };
                firsts[*document as usize].store(first, Ordering::Relaxed);
            }
        };
        if documents > 2 * JOB {
            let shards: Vec<_> = sharded.shards().collect();
            let job_shards = (shards.len() * JOB / documents).max(1);
            for_each_block(shards.len(), job_shards, &|range| {
                let shards = shards[range].iter();
                shards.for_each(|(shard, documents)| add(*shard, documents));
            });
        } else {
            let shards = sharded.shards();
            shards.for_each(|(shard, documents)| add(shard, documents));
        }
        firsts
    }

    /// Forgets all digests once they are so many.
    pub(super) fn forget_beyond(&self, most: usize) {
        let all: usize = (0..SHARDS).map(|shard| self.read(shard).len()).sum();
        if all < most {
            return;
        }
        for shard in &self.shards {
            let mut table = shard.write().unwrap_or_else(PoisonError::into_inner);
            table.clear();
        }
    }

    /// The number of digests that the tables have room for.
    pub(super) fn capacity(&self) -> usize {
        (0..SHARDS).map(|shard| self.read(shard).capacity()).sum()
    }

    /// All digests, each with the row of its first document.
    pub(super) fn take(&self) -> impl Iterator<Item = (u128, u32)> {
        self.shards.iter().flat_map(|shard| {
            let mut table = shard.write().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *table)
        })
    }

    fn read(&self, shard: usize) -> RwLockReadGuard<'_, DigestMap<u32>> {
        self.shards[shard]
            .read()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// The documents of a piece by the shard of their digests, in order within each.
#[derive(Debug)]
pub(super) struct ByShard {
    documents: Vec<u32>,
    ends: [usize; SHARDS],
}

impl ByShard {
    pub(super) fn of(digests: impl Iterator<Item = u128> + Clone) -> Self {
        let mut ends = [0; SHARDS];
        for digest in digests.clone() {
            ends[shard_of(digest)] += 1;
        }
        let mut all = 0;
        let mut next = ends.map(|documents| {
            all += documents;
            all - documents
        });
        let mut documents = vec![0; all];
        for (document, digest) in (0..).zip(digests) {
            let next = &mut next[shard_of(digest)];
            documents[*next] = document;
            *next += 1;
        }
        ByShard {
            documents,
            ends: next,
        }
    }

    /// The shards that have documents, and these documents.
    fn shards(&self) -> impl Iterator<Item = (usize, &[u32])> {
        let mut start = 0;
        let all = self.ends.iter().enumerate().map(move |(shard, end)| {
            let documents = &self.documents[start..*end];
            start = *end;
            (shard, documents)
        });
        all.filter(|(_, documents)| !documents.is_empty())
    }
}

/// The shard of a digest, by bits that its place in a table does not depend on.
#[allow(clippy::cast_possible_truncation, reason = "six bits")]
fn shard_of(digest: u128) -> usize {
    (digest >> (u128::BITS - SHARDS.ilog2())) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_find_what_one_table_finds() {
        let digest = |i: u128| (i % 3_000).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
        let digests: Vec<u128> = (0..5_000).map(digest).collect();
        let (all, mut alone) = (Digests::default(), DigestMap::default());
        let mut row = 0;
        for piece in [0..1, 1..1_700, 1_700..1_700, 1_700..4_990, 4_990..5_000] {
            let piece = &digests[piece];
            let sharded = ByShard::of(piece.iter().copied());
            let known = piece.iter().map(|digest| alone.contains_key(digest));
            let known: Vec<bool> = known.collect();
            assert_eq!(all.known(piece, &sharded), known);
            // Every tenth document takes no part.
            let digest_of = |i: usize| (!i.is_multiple_of(10)).then_some(piece[i]);
            let firsts = all.add(piece.len(), digest_of, &sharded, row);
            for (i, first) in firsts.into_iter().enumerate() {
                let expected =
                    digest_of(i).map_or(row, |digest| *alone.entry(digest).or_insert(row));
                assert_eq!(first.into_inner(), expected);
                row += 1;
            }
        }
        assert!(all.capacity() >= alone.len());
        all.forget_beyond(alone.len() + 1);
        assert_eq!(all.take().collect::<DigestMap<u32>>(), alone);
        assert_eq!(all.take().count(), 0);
        let piece = &digests[..9];
        let sharded = ByShard::of(piece.iter().copied());
        for _ in 0..2 {
            let firsts = all.add(9, |i| Some(piece[i]), &sharded, 100);
            let rows = firsts.into_iter().map(AtomicU32::into_inner);
            assert!(rows.eq(100..109));
            all.forget_beyond(9);
            assert_eq!(all.known(piece, &sharded), [false; 9]);
        }
    }
}
