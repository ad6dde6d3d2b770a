//! Sources of candidate pairs: so far, the documents that share a bucket.

use std::collections::HashSet;

use rayon::prelude::*;

use super::band::BandKeys;
use super::bucket::Buckets;
use crate::error::Result;

/// Candidate pairs handed over at a time: 8 MiB of them.
const BLOCK: usize = 1 << 20;

/// A source of candidate pairs.
///
/// A pair is two positions. Where both are of one collection, the first is less than the second; a source over
/// two collections, such as stored and new documents, gives a position of each.
///
/// The source sees to it that pairs are compared once, for only it knows how it finds them: by the keys of
/// earlier bands, by the order of a join, by one block per record.
pub trait CandidateSource {
    /// Hands all candidate pairs to `verify` in blocks of bounded size. `verify` says of each pair whether it
    /// is similar, which may save the source later pairs.
    ///
    /// # Errors
    /// Those of `verify`, and of reading what the candidates are found in.
    fn for_each_block(&mut self, verify: &mut Verify<'_>) -> Result<Omitted>;
}

/// Takes a block of candidate pairs and says of each whether it is similar.
pub type Verify<'a> = dyn FnMut(&[(u32, u32)]) -> Result<Vec<bool>> + 'a;

/// What a source left out, by a bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Omitted {
    /// Pairs that were not compared, at most: a pair counts in every bucket that holds it, but all together
    /// never exceed the pairs that were left.
    pub pairs: u64,
    /// Buckets above the bound.
    pub large_buckets: u64,
}

/// What becomes of a bucket with more documents than the bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LargeBuckets<'a> {
    /// Its pairs are left out, and counted.
    Omit,
    /// Its documents are compared with leaders, in the order of their ranks, or of their positions where there
    /// are no ranks. The first document is a leader, and so is each that is similar to no leader before it, up
    /// to as many leaders as the bound. Pairs that are then not compared are counted.
    Leaders(Option<&'a [u32]>),
}

/// The documents that share a bucket (MMDS 3.4).
///
/// A pair that shares several buckets is a candidate of the first band that holds it, but for pairs of large
/// buckets, which later bands may hold again.
pub struct LshBuckets<'a> {
    keys: &'a BandKeys,
    max_bucket: usize,
    large: LargeBuckets<'a>,
    after_band: &'a mut dyn FnMut(usize) -> Result<()>,
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
    /// The buckets of these keys. One with more than `max_bucket` documents is treated as `large` says.
    /// `after_band` is called with the number of each band that is done, and can stop the source by an error.
    pub fn new(
        keys: &'a BandKeys,
        max_bucket: usize,
        large: LargeBuckets<'a>,
        after_band: &'a mut dyn FnMut(usize) -> Result<()>,
    ) -> Self {
        LshBuckets {
            keys,
            max_bucket,
            large,
            after_band,
            large_keys: HashSet::new(),
            candidates: 0,
        }
    }

    /// Hands over those pairs of a block that no earlier band held, and empties it.
    fn hand_over(
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

    /// Compares a large bucket with its leaders; the number of pairs compared.
    fn lead(
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
                        LargeBuckets::Leaders(ranks) => self.lead(bucket, ranks, verify)?,
                    };
                    omitted.pairs += pairs_among(bucket.len()) - compared;
                    continue;
                }
                for (i, lo) in bucket.iter().enumerate() {
                    block.extend(bucket[i + 1..].iter().map(|hi| (*lo, *hi)));
                    if block.len() >= BLOCK {
                        self.hand_over(band, &mut block, verify)?;
                    }
                }
            }
            self.hand_over(band, &mut block, verify)?;
            (self.after_band)(band)?;
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
