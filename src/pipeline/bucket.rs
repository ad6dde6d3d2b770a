//! Buckets: the documents that share a key in a band (MMDS 3.4.1).

use super::band::BandKeys;

/// The buckets of one band: groups of two or more documents with the same key.
///
/// Documents are positions in the columns of [`BandKeys`]. Positions ascend within a bucket, and buckets are
/// in order of their keys.
#[derive(Clone, Debug, Default)]
pub struct Buckets {
    positions: Vec<u32>,
    ends: Vec<usize>,
}

impl Buckets {
    /// Finds the buckets of a band by sorting its keys: linear in the number of documents.
    ///
    /// # Panics
    /// If `band` is not below the number of bands.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "there are fewer positions than rows, and rows are u32"
    )]
    pub fn of_band(keys: &BandKeys, band: usize) -> Self {
        let column = keys.column(band);
        let mut sorted: Vec<(u64, u32)> = column.iter().copied().zip(0..).collect();
        radix_sort(&mut sorted);
        let mut buckets = Buckets::default();
        for run in sorted.chunk_by(|a, b| a.0 == b.0) {
            if run.len() > 1 {
                buckets
                    .positions
                    .extend(run.iter().map(|(_, position)| *position));
                buckets.ends.push(buckets.positions.len());
            }
        }
        buckets
    }

    /// The buckets in order of their keys, each a list of positions.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts
            .zip(&self.ends)
            .map(|(start, end)| &self.positions[start..*end])
    }
}

/// Stable sort by key: a radix sort by the high 33 bits, then comparisons.
///
/// Keys are hashes, so their high bits alone put almost all of them in order. Three passes of 11 bits, least
/// significant digit first, sort by these; the few runs in which they are equal are sorted by comparison.
#[allow(
    clippy::cast_possible_truncation,
    reason = "a digit is 11 bits of a key"
)]
fn radix_sort(items: &mut Vec<(u64, u32)>) {
    const BITS: u32 = 11;
    const DIGITS: usize = 1 << BITS;
    if items.len() < DIGITS {
        items.sort_by_key(|(key, _)| *key);
        return;
    }
    let mut other = vec![(0, 0); items.len()];
    for pass in 0..3 {
        let digit = |key: u64| usize::from((key >> (31 + BITS * pass)) as u16) & (DIGITS - 1);
        let mut starts = [0usize; DIGITS];
        for (key, _) in items.iter() {
            starts[digit(*key)] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += std::mem::replace(start, sum);
        }
        for item in items.iter() {
            let start = &mut starts[digit(item.0)];
            other[*start] = *item;
            *start += 1;
        }
        std::mem::swap(items, &mut other);
    }
    for run in items.chunk_by_mut(|a, b| a.0 >> 31 == b.0 >> 31) {
        if run.len() > 1 {
            run.sort_by_key(|(key, _)| *key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::fmix64;

    #[test]
    fn radix_sort_is_a_stable_sort() {
        for len in [0, 1, 2, 2047, 2048, 10_000] {
            // Many keys are equal, and many differ in their low bits only.
            let key = |i: u64| (fmix64(i % 700) & !7) | (i % 3);
            let mut items: Vec<(u64, u32)> = (0..len).map(key).zip(0..).collect();
            let mut expected = items.clone();
            expected.sort_by_key(|(key, _)| *key);
            radix_sort(&mut items);
            assert_eq!(items, expected);
        }
    }
}
