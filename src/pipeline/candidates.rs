//! buckets -> candidate pairs -> verified pairs, in bounded blocks.

use std::collections::HashSet;

use rayon::prelude::*;

use super::band::BandKeys;
use super::bucket::Buckets;
use super::verify::Similarity;
use crate::error::Result;

/// Candidate pairs verified at a time: 8 MiB of them.
const BLOCK: usize = 1 << 20;

/// Two documents, by their positions in [`BandKeys`], `lo < hi`, and how similar they are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimilarPair {
    /// The earlier document.
    pub lo: u32,
    /// The later one.
    pub hi: u32,
    /// Their similarity; NaN if it was not computed.
    pub similarity: f64,
}

/// What the candidates came to.
#[derive(Clone, Debug, Default)]
pub struct SimilarPairs {
    /// The pairs that reach the threshold, sorted, each once.
    pub pairs: Vec<SimilarPair>,
    /// Candidate pairs that were compared.
    pub candidates: u64,
    /// At most so many pairs of large buckets were not compared; 0 if all were. A pair counts in every
    /// such bucket that holds it, but never beyond all pairs there are.
    pub omitted: u64,
    /// Buckets above the bound.
    pub large_buckets: u64,
}

/// What becomes of a bucket with more documents than the bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LargeBuckets<'a> {
    /// Its pairs are left out, and counted.
    Omit,
    /// Its documents, in the order of their ranks, are compared with leaders: the first one is a
    /// leader, and so is each that is similar to no leader before it, up to as many leaders as the
    /// bound. What is then not compared is counted. An empty slice ranks by position.
    Leaders(&'a [u32]),
}

/// Compares the documents that share a bucket and keeps the pairs that reach `threshold`.
///
/// A pair that shares several buckets is compared in the first band that holds it, but for pairs of
/// large buckets, which other bands may hold again.
///
/// # Errors
/// Those of `similarity`.
pub fn similar_pairs(
    keys: &BandKeys,
    max_bucket: usize,
    large: LargeBuckets<'_>,
    similarity: &dyn Similarity,
    threshold: f64,
    mut after_band: impl FnMut(usize),
) -> Result<SimilarPairs> {
    let mut search = Search {
        keys,
        similarity,
        threshold,
        large_keys: HashSet::new(),
        found: SimilarPairs::default(),
    };
    for band in 0..keys.banding().bands() {
        let buckets = Buckets::of_band(keys, band);
        let mut block = Vec::new();
        for bucket in buckets.iter() {
            if bucket.len() > max_bucket {
                let key = keys.column(band)[bucket[0] as usize];
                search.large_keys.insert((band, key));
                search.found.large_buckets += 1;
                let compared = match large {
                    LargeBuckets::Omit => 0,
                    LargeBuckets::Leaders(ranks) => search.lead(bucket, ranks, max_bucket)?,
                };
                search.found.omitted += pairs_among(bucket.len()) - compared;
                continue;
            }
            for (i, lo) in bucket.iter().enumerate() {
                block.extend(bucket[i + 1..].iter().map(|hi| (*lo, *hi)));
                if block.len() >= BLOCK {
                    search.compare_new(band, &mut block)?;
                }
            }
        }
        search.compare_new(band, &mut block)?;
        after_band(band);
    }
    let mut found = search.found;
    if found.omitted > 0 {
        let all = pairs_among(keys.rows().len());
        found.omitted = found
            .omitted
            .min(all.saturating_sub(found.candidates))
            .max(1);
    }
    found
        .pairs
        .par_sort_unstable_by_key(|pair| (pair.lo, pair.hi));
    found.pairs.dedup_by_key(|pair| (pair.lo, pair.hi));
    Ok(found)
}

fn pairs_among(documents: usize) -> u64 {
    let documents = documents as u64;
    documents * documents.saturating_sub(1) / 2
}

struct Search<'a> {
    keys: &'a BandKeys,
    similarity: &'a dyn Similarity,
    threshold: f64,
    large_keys: HashSet<(usize, u64)>,
    found: SimilarPairs,
}

impl Search<'_> {
    /// Compares those pairs of a block that no earlier band has compared, and empties it.
    fn compare_new(&mut self, band: usize, block: &mut Vec<(u32, u32)>) -> Result<()> {
        let is_new = |(lo, hi): &(u32, u32)| {
            let (i, j) = (*lo as usize, *hi as usize);
            !(0..band).any(|earlier| {
                let column = self.keys.column(earlier);
                column[i] == column[j]
                    && (self.large_keys.is_empty()
                        || !self.large_keys.contains(&(earlier, column[i])))
            })
        };
        let mut new: Vec<_> = block.par_drain(..).filter(is_new).collect();
        new.par_sort_unstable();
        self.compare(&new)?;
        Ok(())
    }

    /// Compares all pairs of a block and says of each whether it is similar.
    fn compare(&mut self, block: &[(u32, u32)]) -> Result<Vec<bool>> {
        self.found.candidates += block.len() as u64;
        let similarities = self.similarity.of_pairs(block)?;
        let mut similar = Vec::with_capacity(block.len());
        for (&(lo, hi), similarity) in block.iter().zip(similarities) {
            // What was not computed is taken at the word of the bands.
            similar.push(similarity.is_nan() || similarity >= self.threshold);
            if similar.last() == Some(&true) {
                self.found.pairs.push(SimilarPair { lo, hi, similarity });
            }
        }
        Ok(similar)
    }

    /// Compares a large bucket with its leaders; the number of pairs compared.
    fn lead(&mut self, bucket: &[u32], ranks: &[u32], max_leaders: usize) -> Result<u64> {
        let mut followers = bucket.to_vec();
        followers.sort_by_key(|position| ranks.get(*position as usize).copied());
        let mut compared = 0;
        for _ in 0..max_leaders {
            if followers.len() < 2 {
                break;
            }
            let leader = followers.remove(0);
            let with_leader = |other: &u32| (leader.min(*other), leader.max(*other));
            let block: Vec<_> = followers.iter().map(with_leader).collect();
            compared += block.len() as u64;
            let mut similar = self.compare(&block)?.into_iter();
            followers.retain(|_| similar.next() == Some(false));
        }
        Ok(compared)
    }
}

/// The positions that share a bucket with another: the documents that verification needs.
pub fn bucketed_positions(keys: &BandKeys) -> Vec<bool> {
    let mut bucketed = vec![false; keys.rows().len()];
    for band in 0..keys.banding().bands() {
        for position in Buckets::of_band(keys, band).iter().flatten() {
            bucketed[*position as usize] = true;
        }
    }
    bucketed
}
