//! Buckets: the documents that share a key in a band (MMDS 3.4.1).

use rayon::prelude::*;

use super::band::BandKeys;
use super::candidates::CandidateSource;
use crate::error::Result;

/// The buckets of all bands: groups of two or more documents with the same key in a band.
///
/// Only documents that share a bucket have candidates. They are numbered here by *index*, in order of their
/// positions in [`BandKeys`]; all others are left out. A document takes 8 bytes per band in which it shares a bucket,
/// and 4 bytes per band in which it does not.
///
/// ```
/// use simgpu::engine::Engine;
/// use simgpu::pipeline::{BandKeys, Banding, Buckets, CandidateSource};
///
/// let engine = Engine::builder().build()?;
/// let texts = ["a rose is a rose is a rose", "by any other name", "a rose is a rose is a rose"];
/// let mut keys = BandKeys::new(Banding::new(16, 8, 128)?);
/// keys.push(&engine.sign(&texts)?);
/// let buckets = Buckets::of(keys, &mut |_| Ok(()))?;
/// assert_eq!(buckets.positions(), [0, 2]);
/// assert_eq!(buckets.of_band(0).collect::<Vec<_>>(), [[0, 1]]); // indexes, not positions
/// # Ok::<(), simgpu::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Buckets {
    positions: Vec<u32>,
    /// The number of each document's bucket in each band, `[documents, bands]`; [`Buckets::ALONE`] if it shares none.
    numbers: Vec<u32>,
    bands: Vec<BandBuckets>,
}

/// The buckets of one band, in order of their keys.
#[derive(Clone, Debug, Default)]
struct BandBuckets {
    /// The end of each bucket in `members`.
    ends: Vec<u32>,
    /// The indexes of the documents of each bucket, ascending within a bucket.
    members: Vec<u32>,
}

impl BandBuckets {
    fn range(&self, bucket: u32) -> std::ops::Range<usize> {
        let bucket = bucket as usize;
        let start = bucket.checked_sub(1).map_or(0, |before| self.ends[before]);
        start as usize..self.ends[bucket] as usize
    }
}

impl Buckets {
    /// Finds the buckets of all bands by sorting the keys of each. Calls `after_band` with the number of each
    /// finished band.
    ///
    /// # Errors
    /// The first error of `after_band`, which ends the search.
    pub fn of(keys: BandKeys, after_band: &mut dyn FnMut(usize) -> Result<()>) -> Result<Self> {
        let (documents, mut columns) = (keys.len(), keys.into_columns());
        let mut shares = vec![false; documents];
        let mut bands = Vec::with_capacity(columns.len());
        for (band, column) in columns.iter_mut().enumerate() {
            bands.push(number_buckets(column, &mut shares));
            after_band(band)?;
        }
        let positions: Vec<u32> = (0..)
            .zip(&shares)
            .filter_map(|(position, shares)| shares.then_some(position))
            .collect();
        let numbers = rows_of(&mut columns, &positions);
        let mut indexes = vec![Buckets::ALONE; documents];
        for (index, position) in (0..).zip(&positions) {
            indexes[*position as usize] = index;
        }
        bands.par_iter_mut().for_each(|band| {
            for member in &mut band.members {
                *member = indexes[*member as usize];
            }
        });
        Ok(Buckets {
            positions,
            numbers,
            bands,
        })
    }

    /// The positions of the documents that share a bucket with another, ascending. Entry i belongs to index i.
    pub fn positions(&self) -> &[u32] {
        &self.positions
    }

    /// The buckets of a band in order of their keys, each a list of ascending indexes.
    ///
    /// # Panics
    /// If `band` is not below the number of bands.
    pub fn of_band(&self, band: usize) -> impl Iterator<Item = &[u32]> {
        let of_band = &self.bands[band];
        let ends = of_band.ends.iter().map(|end| *end as usize);
        let starts = std::iter::once(0).chain(ends.clone());
        starts
            .zip(ends)
            .map(|(start, end)| &of_band.members[start..end])
    }

    /// The number of no bucket, for a document that shares none.
    pub(super) const ALONE: u32 = u32::MAX;

    /// The number of bands.
    pub(super) fn bands(&self) -> usize {
        self.bands.len()
    }

    /// The bucket numbers of a document, per band.
    pub(super) fn row(&self, index: u32) -> Row<'_> {
        let (bands, index) = (self.bands.len(), index as usize);
        Row(&self.numbers[index * bands..(index + 1) * bands])
    }

    /// Takes a document out of its bucket in one band, so that [`Row::first_shared`] no longer finds it there.
    pub(super) fn take_out(&mut self, index: u32, band: usize) {
        let bands = self.bands.len();
        self.numbers[index as usize * bands + band] = Buckets::ALONE;
    }

    /// The members of a bucket.
    pub(super) fn members(&self, band: usize, bucket: u32) -> &[u32] {
        let of_band = &self.bands[band];
        &of_band.members[of_band.range(bucket)]
    }

    /// The members of a bucket, to be reordered.
    pub(super) fn members_mut(&mut self, band: usize, bucket: u32) -> &mut [u32] {
        let of_band = &mut self.bands[band];
        let range = of_band.range(bucket);
        &mut of_band.members[range]
    }

    /// The number of buckets of a band.
    pub(super) fn count(&self, band: usize) -> usize {
        self.bands[band].ends.len()
    }
}

/// The buckets of one document: the bucket number per band.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'a>(pub(super) &'a [u32]);

impl<'a> Row<'a> {
    /// The bands in which the document shares a bucket, with the bucket's number.
    pub(super) fn shared(self) -> impl Iterator<Item = (usize, u32)> + use<'a> {
        let numbers = self.0.iter().copied().enumerate();
        numbers.filter(|(_, bucket)| *bucket != Buckets::ALONE)
    }

    /// The first band in which both documents are in the same bucket.
    pub(super) fn first_shared(self, other: Row<'_>) -> Option<usize> {
        let mut pairs = self.0.iter().zip(other.0);
        pairs.position(|(a, b)| a == b && *a != Buckets::ALONE)
    }
}

impl CandidateSource for Buckets {
    fn positions(&self) -> &[u32] {
        &self.positions
    }

    fn partners(&self, index: u32, from: u32, partners: &mut Vec<u32>) {
        let row = self.row(index);
        for (band, bucket) in row.shared() {
            let members = self.members(band, bucket);
            let start = members.partition_point(|member| *member < from);
            // A pair counts in the first band whose bucket holds both.
            partners.extend(members[start..].iter().copied().filter(|other| {
                *other != index && row.first_shared(self.row(*other)) == Some(band)
            }));
        }
        partners.sort_unstable();
    }

    fn most_partners(&self, index: u32) -> usize {
        let shared = self.row(index).shared();
        shared
            .map(|(band, bucket)| self.members(band, bucket).len() - 1)
            .sum()
    }
}

/// Finds the buckets of a column of keys, whose members are positions here, and replaces each key by the number of
/// its bucket. Marks the documents that share one.
fn number_buckets(column: &mut [u64], shares: &mut [bool]) -> BandBuckets {
    let mut sorted: Vec<(u64, u32)> = column.iter().copied().zip(0..).collect();
    sorted.par_sort_unstable();
    let mut band = BandBuckets::default();
    column.fill(u64::from(Buckets::ALONE));
    for run in sorted.chunk_by(|a, b| a.0 == b.0) {
        if run.len() > 1 {
            for (_, position) in run {
                column[*position as usize] = band.ends.len() as u64;
                shares[*position as usize] = true;
                band.members.push(*position);
            }
            // There are fewer documents than 2^32.
            band.ends
                .push(u32::try_from(band.members.len()).unwrap_or(Buckets::ALONE));
        }
    }
    band.members.shrink_to_fit();
    band.ends.shrink_to_fit();
    band
}

/// The rows of numbered columns at some positions. Frees the columns one by one.
#[allow(
    clippy::cast_possible_truncation,
    reason = "the columns hold numbers of buckets, which are u32"
)]
fn rows_of(columns: &mut [Vec<u64>], positions: &[u32]) -> Vec<u32> {
    let bands = columns.len();
    let mut rows = vec![Buckets::ALONE; positions.len() * bands];
    for (band, column) in columns.iter_mut().enumerate() {
        let column = std::mem::take(column);
        let cells = rows.iter_mut().skip(band).step_by(bands);
        for (cell, position) in cells.zip(positions) {
            *cell = column[*position as usize] as u32;
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::super::banding::Banding;
    use super::*;
    use crate::scheme::fmix64;

    fn buckets(documents: u64, bands: usize, kinds: u64) -> (Vec<Vec<u64>>, Buckets) {
        let banding = Banding::new(bands, 1, bands).unwrap();
        let mut keys = BandKeys::new(banding);
        let rows: Vec<Vec<u64>> = (0..documents)
            .map(|document| {
                let key = |band| fmix64(document << 8 | band) % kinds;
                (0..bands as u64).map(key).collect()
            })
            .collect();
        rows.iter().for_each(|row| keys.push_keys(row));
        (rows, Buckets::of(keys, &mut |_| Ok(())).unwrap())
    }

    #[test]
    fn partners_share_a_key() {
        for (documents, bands, kinds) in
            [(0, 3, 5), (1, 3, 5), (40, 1, 30), (60, 4, 90), (30, 3, 2)]
        {
            let (keys, buckets) = buckets(documents, bands, kinds);
            let of = |a: usize| -> Vec<u32> {
                let shares = |b: &usize| keys[a].iter().zip(&keys[*b]).any(|(x, y)| x == y);
                let others = (0..keys.len()).filter(|b| *b != a).filter(shares);
                others.map(|b| u32::try_from(b).unwrap()).collect()
            };
            let mut index = 0;
            for a in 0..keys.len() {
                let expected = of(a);
                if expected.is_empty() {
                    continue;
                }
                let at = |index: u32| buckets.positions()[index as usize];
                assert_eq!(at(index) as usize, a);
                let mut partners = Vec::new();
                buckets.partners(index, 0, &mut partners);
                let found: Vec<u32> = partners.iter().map(|index| at(*index)).collect();
                assert_eq!(found, expected);
                assert!(buckets.most_partners(index) >= found.len());
                partners.clear();
                buckets.partners(index, index + 1, &mut partners);
                let later: Vec<u32> = partners.iter().map(|index| at(*index)).collect();
                let is_later = |b: &u32| *b as usize > a;
                assert_eq!(
                    later,
                    expected.into_iter().filter(is_later).collect::<Vec<_>>()
                );
                index += 1;
            }
            assert_eq!(buckets.positions().len(), index as usize);
        }
    }
}
