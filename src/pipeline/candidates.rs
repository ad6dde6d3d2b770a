//! Sources of candidate pairs. The only one so far is LSH buckets.

use std::collections::HashSet;

use rayon::prelude::*;

use super::band::BandKeys;
use super::bucket::Buckets;
use crate::error::Result;

/// Candidate pairs per block; a full block takes 8 MiB.
const BLOCK: usize = 1 << 20;

/// A source of candidate pairs for [`similar_pairs`](super::similar_pairs).
///
/// A pair is two positions. Within one collection, the first is less than the second. A source over two
/// collections, such as stored and new documents, returns one position in each.
///
/// A source avoids emitting a pair more than once where it can.
pub trait CandidateSource {
    /// Passes all candidate pairs to `verify`, block by block. The source may use the answers of `verify` to
    /// skip later pairs.
    ///
    /// # Errors
    /// The errors of `verify`, and errors in reading the source's own data.
    fn for_each_block(&mut self, verify: &mut Verify<'_>) -> Result<Omitted>;
}

/// Receives a block of candidate pairs and returns for each whether it is similar.
pub type Verify<'a> = dyn FnMut(&[(u32, u32)]) -> Result<Vec<bool>> + 'a;

/// Counts of pairs and buckets that a source omitted because of `max_bucket`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Omitted {
    /// Upper bound on the pairs not compared. A pair that is not compared counts once for each large bucket
    /// that holds it; the sum is at most the number of all pairs minus the number of comparisons.
    pub pairs: u64,
    /// Buckets with more documents than the bound.
    pub large_buckets: u64,
}

/// How to treat buckets with more documents than the bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LargeBuckets<'a> {
    /// Compares none of their pairs, and counts them in [`Omitted`].
    Omit,
    /// Compares their documents with leaders only, and counts the other pairs in [`Omitted`].
    ///
    /// Documents are visited by rank ([`KeepPolicy::ranks`](super::KeepPolicy::ranks)), or by position for
    /// `None`. A document that is similar to no earlier leader becomes a leader. There are at most
    /// `max_bucket` leaders.
    Leaders(Option<&'a [u32]>),
}

/// The pairs of documents that share a bucket (MMDS 3.4).
///
/// A pair that shares several buckets is emitted in the first of their bands. A pair from a large bucket may be
/// emitted again in later bands.
///
/// [`similar_pairs`](super::similar_pairs) has an example.
pub struct LshBuckets<'a> {
    keys: &'a BandKeys,
    max_bucket: usize,
    large: LargeBuckets<'a>,
    after_band: Option<&'a mut dyn FnMut(usize) -> Result<()>>,
    large_keys: HashSet<(usize, u64)>,
    candidates: u64,
}

impl std::fmt::Debug for LshBuckets<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LshBuckets")
            .field("documents", &self.keys.len())
            .field("max_bucket", &self.max_bucket)
            .field("large", &self.large)
            .finish_non_exhaustive()
    }
}

impl<'a> LshBuckets<'a> {
    /// A source over the buckets of `keys`.
    ///
    /// `large` decides how to treat buckets with more than `max_bucket` documents.
    pub fn new(keys: &'a BandKeys, max_bucket: usize, large: LargeBuckets<'a>) -> Self {
        LshBuckets {
            keys,
            max_bucket,
            large,
            after_band: None,
            large_keys: HashSet::new(),
            candidates: 0,
        }
    }

    /// Calls `after_band` with the number of each finished band, counted from 0. It stops the source by
    /// returning an error.
    #[must_use]
    pub fn after_band(self, after_band: &'a mut dyn FnMut(usize) -> Result<()>) -> Self {
        LshBuckets {
            after_band: Some(after_band),
            ..self
        }
    }

    /// Passes to `verify` the pairs of a block that share no bucket in an earlier band, not counting large
    /// buckets, and empties the block.
    fn emit(
        &mut self,
        band: usize,
        block: &mut Vec<(u32, u32)>,
        verify: &mut Verify<'_>,
    ) -> Result<()> {
        let (keys, large_keys) = (self.keys, &self.large_keys);
        let is_new = |(lo, hi): &(u32, u32)| {
            let (i, j) = (*lo as usize, *hi as usize);
            !(0..band).any(|earlier| {
                let column = keys.column(earlier);
                column[i] == column[j]
                    && (large_keys.is_empty() || !large_keys.contains(&(earlier, column[i])))
            })
        };
        let mut new: Vec<_> = block.par_drain(..).filter(is_new).collect();
        new.par_sort_unstable();
        self.candidates += new.len() as u64;
        verify(&new)?;
        Ok(())
    }

    /// Compares the documents of a large bucket with its leaders. Returns the number of pairs compared.
    fn compare_with_leaders(
        &mut self,
        bucket: &[u32],
        ranks: Option<&[u32]>,
        verify: &mut Verify<'_>,
    ) -> Result<u64> {
        let mut followers = bucket.to_vec();
        if let Some(ranks) = ranks {
            followers.sort_by_key(|position| ranks[*position as usize]);
        }
        let mut compared = 0;
        for _ in 0..self.max_bucket {
            if followers.len() < 2 {
                break;
            }
            let leader = followers.remove(0);
            let with_leader = |other: &u32| (leader.min(*other), leader.max(*other));
            let block: Vec<_> = followers.iter().map(with_leader).collect();
            compared += block.len() as u64;
            let mut similar = verify(&block)?.into_iter();
            followers.retain(|_| similar.next() == Some(false));
        }
        self.candidates += compared;
        Ok(compared)
    }
}

impl CandidateSource for LshBuckets<'_> {
    fn for_each_block(&mut self, verify: &mut Verify<'_>) -> Result<Omitted> {
        let mut omitted = Omitted::default();
        for band in 0..self.keys.banding().bands() {
            let buckets = Buckets::of_band(self.keys, band);
            let mut block = Vec::new();
            for bucket in buckets.iter() {
                if bucket.len() > self.max_bucket {
                    let key = self.keys.column(band)[bucket[0] as usize];
                    self.large_keys.insert((band, key));
                    omitted.large_buckets += 1;
                    let compared = match self.large {
                        LargeBuckets::Omit => 0,
                        LargeBuckets::Leaders(ranks) => {
                            self.compare_with_leaders(bucket, ranks, verify)?
                        }
                    };
                    omitted.pairs += pairs_among(bucket.len()) - compared;
                    continue;
                }
                for (i, lo) in bucket.iter().enumerate() {
                    block.extend(bucket[i + 1..].iter().map(|hi| (*lo, *hi)));
                    if block.len() >= BLOCK {
                        self.emit(band, &mut block, verify)?;
                    }
                }
            }
            self.emit(band, &mut block, verify)?;
            if let Some(after_band) = &mut self.after_band {
                after_band(band)?;
            }
        }
        if omitted.pairs > 0 {
            let not_compared = pairs_among(self.keys.len()).saturating_sub(self.candidates);
            omitted.pairs = omitted.pairs.min(not_compared).max(1);
        }
        Ok(omitted)
    }
}

fn pairs_among(documents: usize) -> u64 {
    let documents = documents as u64;
    documents * documents.saturating_sub(1) / 2
}
