//! Buckets: the documents that share a key in a band (MMDS 3.4.1).

use std::cmp::Ordering;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use super::band::BandKeys;
use super::candidates::CandidateSource;
use super::prefix_filter::PrefixFilter;
use super::reference::Reference;
use crate::bits::Bits;
use crate::error::{Result, row_number};
use crate::threads::{for_each_block, for_each_chunk, map_each_mut, sort};

/// Buckets: groups of two or more documents with a key in common, in one or more bands.
///
/// The key is that of a band ([`Buckets::of`]), or a rare shingle ([`Prefixes`](super::Prefixes)). Only documents that
/// share a bucket have candidates, and, in a join within a distance, those so short that any two of them are near. They
/// are numbered here by *index*, in order of their positions; all others are left out. A document takes 8 bytes per
/// bucket and 20 bytes beside; a bucket takes 8 bytes.
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
    rows: DocumentBuckets,
    /// The end of each bucket in `members`.
    ends: Vec<usize>,
    /// The indexes of the documents of each bucket, ascending within a bucket.
    members: Vec<u32>,
    /// The number of the first bucket of each band, and the number of all buckets.
    bands: Vec<u32>,
    /// What a join knows of its documents; `None` for band keys.
    filter: Option<PrefixFilter>,
    /// The reference of the search, by position; `None` without one.
    reference: Option<Reference>,
}

/// The members of buckets, one bucket after the other.
pub(super) struct BucketLists {
    /// The end of each bucket in `members`.
    pub(super) ends: Vec<usize>,
    /// Positions, ascending within a bucket.
    pub(super) members: Vec<u32>,
    /// The place of the bucket's element in the set of each member; empty for band keys.
    pub(super) places: Vec<u32>,
    /// The number of the first bucket of each band, and the number of all buckets.
    pub(super) bands: Vec<u32>,
}

/// A document in a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[doc(hidden)]
pub struct Member {
    #[doc(hidden)]
    pub band: u32,
    #[doc(hidden)]
    pub key: u64,
    #[doc(hidden)]
    pub position: u32,
}

/// The numbers of each document's buckets, ascending.
#[derive(Clone, Debug)]
struct DocumentBuckets {
    numbers: Vec<u32>,
    /// For a join, beside each number the place of the shared element in the document's set; otherwise empty.
    places: Vec<u32>,
    /// The range of each row in `numbers`.
    ranges: Vec<(usize, usize)>,
}

impl DocumentBuckets {
    /// The rows of `documents`, from the members of each bucket in order, and from the place beside each member if
    /// there are places.
    fn of(documents: usize, ends: &[usize], members: &[u32], member_places: &[u32]) -> Self {
        // The entries of each row that are not entered yet.
        let missing = zeros(documents);
        for_each_block(members.len(), MEMBERS, &|range| {
            for member in &members[range] {
                missing[*member as usize].fetch_add(1, Relaxed);
            }
        });
        let mut end = 0;
        let ranges = missing.iter().map(|missing| {
            let start = end;
            end += missing.load(Relaxed) as usize;
            (start, end)
        });
        let ranges: Vec<(usize, usize)> = ranges.collect();
        // Threads enter numbers in any order.
        let numbers = zeros(members.len());
        for_each_member(ends, |number, at| {
            let document = members[at] as usize;
            let missing = missing[document].fetch_sub(1, Relaxed) as usize;
            numbers[ranges[document].1 - missing].store(number, Relaxed);
        });
        let mut numbers = into_numbers(numbers);
        sort_rows(&ranges, &mut numbers);
        let places = zeros(member_places.len());
        if !places.is_empty() {
            for_each_member(ends, |number, at| {
                let (start, end) = ranges[members[at] as usize];
                let before = numbers[start..end].partition_point(|other| *other < number);
                places[start + before].store(member_places[at], Relaxed);
            });
        }
        DocumentBuckets {
            numbers,
            places: into_numbers(places),
            ranges,
        }
    }

    fn get(&self, index: u32) -> &[u32] {
        let (start, end) = self.ranges[index as usize];
        &self.numbers[start..end]
    }

    /// The place of the element that entry `at` of a row stands for.
    fn place(&self, index: u32, at: usize) -> u32 {
        self.places[self.ranges[index as usize].0 + at]
    }
}

/// Members to work on at a time.
const MEMBERS: usize = 1 << 14;

/// Calls `each` on all threads with the number of the bucket of each member, and the place of the member in the list of all.
/// There are fewer buckets than 2^32.
#[allow(
    clippy::cast_possible_truncation,
    reason = "there are fewer buckets than 2^32"
)]
fn for_each_member(ends: &[usize], each: impl Fn(u32, usize) + Sync) {
    let members = ends.last().copied().unwrap_or(0);
    for_each_block(members, MEMBERS, &|range| {
        let mut bucket = ends.partition_point(|end| *end <= range.start);
        for at in range {
            while ends[bucket] <= at {
                bucket += 1;
            }
            each(bucket as u32, at);
        }
    });
}

/// Numbers that threads enter at the same time.
fn zeros(len: usize) -> Vec<AtomicU32> {
    (0..len).map(|_| AtomicU32::new(0)).collect()
}

fn into_numbers(entered: Vec<AtomicU32>) -> Vec<u32> {
    // In the same memory.
    entered.into_iter().map(AtomicU32::into_inner).collect()
}

/// Sorts the numbers in each of these ranges, which follow each other.
fn sort_rows(ranges: &[(usize, usize)], mut numbers: &mut [u32]) {
    let mut start = 0;
    let parts = ranges.chunks(MEMBERS / 4).map(|ranges| {
        let end = ranges.last().map_or(start, |(_, end)| *end);
        let (part, rest) = std::mem::take(&mut numbers).split_at_mut(end - start);
        numbers = rest;
        (std::mem::replace(&mut start, end), ranges, part)
    });
    let mut parts: Vec<_> = parts.collect();
    for_each_chunk(&mut parts, 1, |_, parts| {
        for (first, ranges, numbers) in parts {
            for (start, end) in *ranges {
                numbers[start - *first..end - *first].sort_unstable();
            }
        }
    });
}

impl Buckets {
    /// Finds the buckets of all bands by sorting the keys of each. Calls `after_band` with the number of each
    /// finished band.
    ///
    /// # Errors
    /// The first error of `after_band`, which ends the search;
    /// [`Error::TooManyDocuments`](crate::Error::TooManyDocuments) for 2^32 buckets or more.
    pub fn of(keys: BandKeys, after_band: &mut dyn FnMut(usize) -> Result<()>) -> Result<Self> {
        Buckets::compared(keys, None, after_band)
    }

    /// The same in a search with a reference: those buckets that hold a pair to compare.
    pub(crate) fn compared(
        keys: BandKeys,
        reference: Option<Reference>,
        after_band: &mut dyn FnMut(usize) -> Result<()>,
    ) -> Result<Self> {
        let documents = keys.len();
        let (mut ends, mut members, mut bands) = (Vec::new(), Vec::new(), vec![0]);
        let mut columns = keys.into_columns().into_iter();
        let sorted_bytes = size_of::<(u64, u32)>() * documents.max(1);
        let at_a_time = (SORTED_BYTES / sorted_bytes).clamp(1, rayon::current_num_threads());
        while !columns.as_slice().is_empty() {
            let mut some: Vec<_> = columns.by_ref().take(at_a_time).map(Some).collect();
            let found = map_each_mut(&mut some, |_, column| {
                buckets_of_column(column.take().unwrap_or_default(), reference.as_ref())
            });
            for (sizes, band_members) in found.into_iter().collect::<Result<Vec<_>>>()? {
                members.extend_from_slice(&band_members);
                ends.extend(sizes.into_iter().scan(
                    ends.last().copied().unwrap_or(0),
                    |end, size| {
                        *end += size as usize;
                        Some(*end)
                    },
                ));
                bands.push(row_number(ends.len())?);
                after_band(bands.len() - 2)?;
            }
        }
        let lists = BucketLists {
            ends,
            members,
            places: Vec::new(),
            bands,
        };
        Ok(Buckets::new(documents, lists, &[])?.against(reference))
    }

    /// The buckets of these members, each of two or more, of documents with positions below `documents`.
    ///
    /// # Errors
    /// [`Error::TooManyDocuments`](crate::Error::TooManyDocuments) for 2^32 buckets or more.
    pub(crate) fn from_members(
        documents: usize,
        bands: usize,
        mut members: Vec<Member>,
    ) -> Result<Self> {
        sort(&mut members);
        let (mut ends, mut positions) = (Vec::new(), Vec::with_capacity(members.len()));
        let mut first_of_bands = Vec::with_capacity(bands + 1);
        for bucket in members.chunk_by(|a, b| (a.band, a.key) == (b.band, b.key)) {
            first_of_bands.resize(bucket[0].band as usize + 1, row_number(ends.len())?);
            positions.extend(bucket.iter().map(|member| member.position));
            ends.push(positions.len());
        }
        first_of_bands.resize(bands + 1, row_number(ends.len())?);
        let lists = BucketLists {
            ends,
            members: positions,
            places: Vec::new(),
            bands: first_of_bands,
        };
        Buckets::new(documents, lists, &[])
    }

    /// A bucket for each of these pairs of positions below `documents`, of which the lower one comes first.
    ///
    /// # Errors
    /// [`Error::TooManyDocuments`](crate::Error::TooManyDocuments) for 2^32 pairs or more.
    pub(crate) fn from_pairs(documents: usize, pairs: &[(u32, u32)]) -> Result<Self> {
        let lists = BucketLists {
            ends: (1..=pairs.len()).map(|pair| 2 * pair).collect(),
            members: pairs.iter().flat_map(|(lo, hi)| [*lo, *hi]).collect(),
            places: Vec::new(),
            bands: vec![0, row_number(pairs.len())?],
        };
        Buckets::new(documents, lists, &[])
    }

    /// Buckets of members that are positions below `documents`. The positions of `others` have an index, too.
    pub(super) fn new(documents: usize, lists: BucketLists, others: &[u32]) -> Result<Self> {
        let BucketLists {
            ends,
            mut members,
            places,
            bands,
        } = lists;
        let used = Bits::zeros(row_number(documents)?);
        for all in [&members[..], others] {
            for_each_block(all.len(), MEMBERS, &|range| {
                all[range].iter().for_each(|member| used.set(*member));
            });
        }
        let indexes = used.ranked();
        let positions: Vec<u32> = indexes.ones().collect();
        for_each_chunk(&mut members, MEMBERS, |_, members| {
            for member in members {
                *member = indexes.rank(*member);
            }
        });
        drop(indexes);
        Ok(Buckets {
            rows: DocumentBuckets::of(positions.len(), &ends, &members, &places),
            positions,
            ends,
            members,
            bands,
            filter: None,
            reference: None,
        })
    }

    /// The same in a search with this reference.
    #[doc(hidden)]
    pub fn against(self, reference: Option<Reference>) -> Self {
        Buckets { reference, ..self }
    }

    /// The number of first indexes that are of the reference.
    pub(super) fn reference_len(&self) -> usize {
        let reference = self.reference.as_ref();
        reference.map_or(0, |reference| {
            let is_of = |position: &u32| reference.is_reference(*position);
            self.positions.partition_point(is_of)
        })
    }

    /// Whether a document is of the input of a search with a reference, or stands for one that is.
    pub(super) fn is_input(&self, index: u32) -> bool {
        let reference = self.reference.as_ref();
        reference.is_none_or(|reference| reference.is_input(self.positions[index as usize]))
    }

    /// All documents that the search compares with document `index` have at least this index.
    fn first_partner(&self, index: u32) -> usize {
        let reference = self.reference.as_ref();
        let own = reference.filter(|reference| {
            !reference.is_repeated() && reference.is_reference(self.positions[index as usize])
        });
        own.map_or(0, |_| self.reference_len())
    }

    /// Whether the search compares two documents.
    pub(super) fn compares(&self, a: u32, b: u32) -> bool {
        self.reference.as_ref().is_none_or(|reference| {
            let [a, b] = [a, b].map(|index| self.positions[index as usize]);
            reference.compares(a, b)
        })
    }

    /// Adds what a join knows of the documents, by index.
    pub(super) fn with_filter(self, filter: PrefixFilter) -> Self {
        Buckets {
            filter: Some(filter),
            ..self
        }
    }

    /// The positions of the documents that may have candidates, ascending. Entry i belongs to index i.
    pub fn positions(&self) -> &[u32] {
        &self.positions
    }

    /// The buckets of a band in order of their keys, each a list of ascending indexes.
    ///
    /// # Panics
    /// If `band` is not below the number of bands.
    pub fn of_band(&self, band: usize) -> impl Iterator<Item = &[u32]> {
        self.numbers_of_band(band)
            .map(|bucket| self.members(bucket))
    }

    /// The numbers of the buckets of a band.
    pub(super) fn numbers_of_band(&self, band: usize) -> std::ops::Range<u32> {
        self.bands[band]..self.bands[band + 1]
    }

    /// The number of bands.
    pub fn bands(&self) -> usize {
        self.bands.len() - 1
    }

    /// The number of buckets.
    pub(super) fn count(&self) -> usize {
        self.ends.len()
    }

    /// The numbers of a document's buckets, ascending.
    pub(super) fn row(&self, index: u32) -> &[u32] {
        self.rows.get(index)
    }

    /// The members of a bucket.
    pub(super) fn members(&self, bucket: u32) -> &[u32] {
        &self.members[self.range(bucket)]
    }

    /// The members of a bucket, to be reordered.
    pub(super) fn members_mut(&mut self, bucket: u32) -> &mut [u32] {
        let range = self.range(bucket);
        &mut self.members[range]
    }

    /// Calls `each` on all threads with each two documents that are neighbours in a bucket.
    pub(super) fn for_each_neighbours(&self, each: impl Fn(u32, u32) + Sync) {
        for_each_member(&self.ends, |bucket, at| {
            if at > self.range(bucket).start {
                each(self.members[at - 1], self.members[at]);
            }
        });
    }

    fn range(&self, bucket: u32) -> std::ops::Range<usize> {
        let bucket = bucket as usize;
        let start = bucket.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[bucket]
    }

    /// The first bucket that two documents share.
    pub(super) fn first_shared(&self, a: u32, b: u32) -> Option<u32> {
        let row = self.row(a);
        let (at, _) = first_common(row, self.row(b))?;
        Some(row[at])
    }

    /// Whether two documents that share a bucket may be similar.
    pub(super) fn may_be_similar(&self, a: u32, b: u32) -> bool {
        self.filter.as_ref().is_none_or(|filter| {
            let passes = |(at_a, at_b)| {
                let (place_a, place_b) = (self.rows.place(a, at_a), self.rows.place(b, at_b));
                let (a, b) = (filter.placed(a, place_a), filter.placed(b, place_b));
                filter.filter.passes(a, b)
            };
            let first = || first_common(self.row(a), self.row(b));
            filter.may_be_similar(a, b) && first().is_none_or(passes)
        })
    }

    /// The documents that are similar to a document by their sizes alone; it may be one of them.
    fn similar_by_size(&self, index: u32) -> impl ExactSizeIterator<Item = u32> {
        let filter = self.filter.as_ref();
        let similar = filter.map_or(&[][..], |filter| filter.similar_by_size(index));
        similar.iter().map(|(_, other)| *other)
    }

    /// Sorts documents that share a bucket with document `index`, and keeps each once, if the search compares the two and
    /// they may be similar.
    pub(super) fn choose(&self, index: u32, partners: &mut Vec<u32>) {
        if self.reference.is_some() {
            partners.retain(|other| self.compares(index, *other));
        }
        partners.sort_unstable();
        partners.dedup();
        partners.retain(|other| self.may_be_similar(index, *other));
    }
}

/// Whether two ascending lists have a number in common.
pub(super) fn shares(a: &[u32], b: &[u32]) -> bool {
    first_common(a, b).is_some()
}

/// Where two ascending lists hold their first common number.
fn first_common(a: &[u32], b: &[u32]) -> Option<(usize, usize)> {
    let (mut i, mut j) = (0, 0);
    while let (Some(bucket_a), Some(bucket_b)) = (a.get(i), b.get(j)) {
        match bucket_a.cmp(bucket_b) {
            Ordering::Equal => return Some((i, j)),
            Ordering::Less => i += 1,
            Ordering::Greater => j += 1,
        }
    }
    None
}

impl CandidateSource for Buckets {
    fn positions(&self) -> &[u32] {
        &self.positions
    }

    fn partners(&self, index: u32, from: u32, partners: &mut Vec<u32>) {
        let first = self.first_partner(index).max(from as usize);
        for bucket in self.row(index) {
            let members = self.members(*bucket);
            let start = members.partition_point(|member| (*member as usize) < first);
            let others = members[start..].iter().copied();
            partners.extend(others.filter(|other| *other != index));
        }
        let others = self.similar_by_size(index);
        partners.extend(others.filter(|other| *other >= from && *other != index));
        self.choose(index, partners);
    }

    fn most_partners(&self, index: u32) -> usize {
        let buckets = self.row(index).iter();
        let in_buckets = buckets.map(|bucket| self.members(*bucket).len() - 1);
        in_buckets.sum::<usize>() + self.similar_by_size(index).len()
    }
}

/// The most bytes of sorted keys in memory if several bands are sorted at a time.
const SORTED_BYTES: usize = 256 << 20;

/// The keys of a column that a document of the input has, with some others. A bucket without such a key holds no pair to
/// compare: with ten million documents of a reference and a million of the input, nine keys in ten need not be sorted.
struct InputKeys {
    /// A bit for each value of the first bits of a key's hash.
    bits: Vec<u64>,
    shift: u32,
}

impl InputKeys {
    /// Bits per key of the input: one key in sixteen that the input lacks is taken for one that it has.
    const BITS_PER_KEY: usize = 16;

    fn of(column: &[u64], reference: &Reference) -> Self {
        let keys = || {
            (0..)
                .zip(column)
                .filter(|(position, _)| reference.is_input(*position))
        };
        let bits = (InputKeys::BITS_PER_KEY * keys().count())
            .next_power_of_two()
            .max(64);
        let mut found = InputKeys {
            bits: vec![0; bits / 64],
            shift: 64 - bits.trailing_zeros(),
        };
        for (_, key) in keys() {
            let (word, bit) = found.place(*key);
            found.bits[word] |= bit;
        }
        found
    }

    /// The word and the bit of a key. Keys that are numbers have few high bits: they are spread by Fibonacci hashing.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "a hash is the number of a bit in memory"
    )]
    fn place(&self, key: u64) -> (usize, u64) {
        let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift;
        (hash as usize / 64, 1 << (hash % 64))
    }

    fn may_have(&self, key: u64) -> bool {
        let (word, bit) = self.place(key);
        self.bits[word] & bit != 0
    }
}

/// The buckets of a column of keys: their sizes and their members, which are positions here.
fn buckets_of_column(
    column: Vec<u64>,
    reference: Option<&Reference>,
) -> Result<(Vec<u32>, Vec<u32>)> {
    let wanted = reference.map(|reference| InputKeys::of(&column, reference));
    let is_wanted = |(key, _): &(u64, u32)| wanted.as_ref().is_none_or(|keys| keys.may_have(*key));
    let mut sorted: Vec<(u64, u32)> = column.into_iter().zip(0..).filter(is_wanted).collect();
    sort(&mut sorted);
    let (mut sizes, mut members) = (Vec::new(), Vec::new());
    for run in sorted.chunk_by(|a, b| a.0 == b.0) {
        let positions = run.iter().map(|(_, position)| *position);
        let is_compared = |reference: &Reference| reference.compares_some(positions.clone());
        if let [_, _, ..] = run
            && reference.is_none_or(is_compared)
        {
            let before = members.len();
            members.extend(positions);
            sizes.push(row_number(members.len() - before)?);
        }
    }
    Ok((sizes, members))
}

#[cfg(test)]
mod tests {
    use super::super::band::KeyRows;
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
        let all = KeyRows::new(bands, rows.concat());
        keys.push_rows(&all);
        (rows, Buckets::of(keys, &mut |_| Ok(())).unwrap())
    }

    /// With a reference, the buckets are those of all that hold a pair to compare.
    #[test]
    fn buckets_with_a_reference_are_some_of_all() {
        use super::super::reference::Pairing;
        for (reference_len, kinds) in [(0, 9), (1, 9), (50, 40), (59, 9), (60, 9), (40, 2_000)] {
            for pairing in [Pairing::Distinct, Pairing::Input, Pairing::Across] {
                let (rows, all) = buckets(60, 4, kinds);
                let mut reference = Reference::new(reference_len, pairing);
                [3, 17]
                    .into_iter()
                    .for_each(|number| reference.repeat(number));
                let mut keys = BandKeys::new(Banding::new(4, 1, 4).unwrap());
                keys.push_rows(&KeyRows::new(4, rows.concat()));
                let some = Buckets::compared(keys, Some(reference.clone()), &mut |_| Ok(()));
                let some = some.unwrap();
                let band_positions = |buckets: &Buckets, band| -> Vec<Vec<u32>> {
                    let at = |index: &u32| buckets.positions()[*index as usize];
                    let buckets = buckets.of_band(band);
                    buckets
                        .map(|bucket| bucket.iter().map(at).collect())
                        .collect()
                };
                for band in 0..4 {
                    let mut expected = band_positions(&all, band);
                    expected.retain(|bucket| {
                        let pairs = bucket
                            .iter()
                            .flat_map(|a| bucket.iter().map(move |b| (*a, *b)));
                        pairs
                            .filter(|(a, b)| a < b)
                            .any(|(a, b)| reference.compares(a, b))
                    });
                    assert_eq!(
                        band_positions(&some, band),
                        expected,
                        "{reference_len} {kinds} {pairing:?}"
                    );
                }
            }
        }
    }

    /// In pools of any size, with so many buckets that threads share them.
    #[test]
    #[allow(clippy::cast_possible_truncation, reason = "made-up numbers")]
    fn rows_are_those_of_one_thread() {
        let documents = 9_000;
        let (mut ends, mut members) = (Vec::new(), Vec::new());
        for bucket in 0..40_000_u64 {
            let first = fmix64(bucket);
            let size = 2 + first % 3;
            let step = 1 + first % 100;
            let bucket_members = (0..size).map(|i| (first / 100 + i * step) as u32 % documents);
            let mut bucket_members: Vec<u32> = bucket_members.collect();
            bucket_members.sort_unstable();
            bucket_members.dedup();
            members.extend(bucket_members);
            ends.push(members.len());
        }
        let member_places: Vec<u32> = (0..).take(members.len()).collect();
        let mut expected = vec![Vec::new(); documents as usize];
        let mut start = 0;
        for (bucket, end) in (0..).zip(&ends) {
            let entries = members[start..*end].iter().zip(&member_places[start..]);
            entries.for_each(|(member, place)| expected[*member as usize].push((bucket, *place)));
            start = *end;
        }
        for threads in [1, 3, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let rows = pool.build().unwrap().install(|| {
                DocumentBuckets::of(documents as usize, &ends, &members, &member_places)
            });
            for (index, expected) in (0..).zip(&expected) {
                let numbers = expected.iter().map(|(bucket, _)| bucket);
                assert!(rows.get(index).iter().eq(numbers), "{threads} {index}");
                let places = (0..expected.len()).map(|at| rows.place(index, at));
                assert!(places.eq(expected.iter().map(|(_, place)| *place)));
            }
        }
    }

    #[test]
    fn each_row_is_sorted() {
        let rows = 3 * MEMBERS;
        let ranges: Vec<(usize, usize)> = (0..rows).map(|row| (2 * row, 2 * row + 2)).collect();
        let mut numbers: Vec<u32> = (0..).take(2 * rows).collect();
        let expected = numbers.clone();
        numbers
            .chunks_mut(2)
            .step_by(3)
            .for_each(|row| row.swap(0, 1));
        sort_rows(&ranges, &mut numbers);
        assert!(numbers == expected);
    }

    /// Two buckets without a member in common are numbered as in a larger set of buckets.
    #[test]
    fn members_make_the_same_buckets() {
        for (documents, bands, kinds) in [(1, 3, 5), (40, 1, 30), (60, 4, 90), (30, 3, 2)] {
            let (keys, buckets) = buckets(documents, bands, kinds);
            let mut members = Vec::new();
            for band in (0..bands).rev() {
                for (position, row) in (0..).zip(&keys) {
                    let same = keys.iter().filter(|other| other[band] == row[band]);
                    if same.count() > 1 {
                        members.push(Member {
                            band: u32::try_from(band).unwrap(),
                            key: row[band],
                            position,
                        });
                    }
                }
            }
            let made = Buckets::from_members(keys.len(), bands, members).unwrap();
            assert_eq!(made.positions(), buckets.positions());
            assert_eq!(made.bands(), buckets.bands());
            for band in 0..bands {
                let (a, b) = (made.of_band(band), buckets.of_band(band));
                assert!(a.eq(b), "{documents} {bands} {kinds}");
            }
        }
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
