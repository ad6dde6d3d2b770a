//! Signatures that share a band with a query.

use std::collections::HashMap;
use std::ops::Range;

use super::rows::{PackedRows, RowBytes};
use super::tables::Tables;
use super::values::{in_bands, narrowed, widened};
use simgpu::error::{Conflict, Error, Result};
use simgpu::pipeline::Banding;
use simgpu::scheme::{SlotVec, Slots, Width};

/// An index that grows: finds the signatures that agree with a query in all slots of a band (MMDS 3.4), by a hash table
/// per band, as datasketch's `MinHashLSH` does.
///
/// A signature gets a number, from 0 in the order of insertion. The index compares slots themselves, not keys of bands,
/// so that no collision of hashes makes a candidate. It keeps the slots in bands, packed to the bits of the largest one of
/// each signature, and 5 to 9 bytes per band and signature for the tables. Inserting and finding a signature take time in
/// proportion to the number of bands and of signatures found.
///
/// ```
/// use simgpu::engine::Engine;
/// use simgpu_index::LshIndex;
/// use simgpu::pipeline::{Banding, ErrorWeights};
///
/// let engine = Engine::builder().build()?;
/// let texts = [
///     "the quick brown fox jumps over the lazy dog and runs away",
///     "a completely different text about something else entirely",
/// ];
/// let signatures = engine.sign(&texts)?;
/// let banding = Banding::for_threshold(0.5, signatures.num_perm(), ErrorWeights::EQUAL)?;
///
/// let mut index = LshIndex::new(banding, signatures.slot_width());
/// let fox = index.insert(signatures.row(0))?;
/// let other = index.insert(signatures.row(1))?;
///
/// let query = engine.sign(&["the quick brown fox jumps over the lazy dog and walks away"])?;
/// assert_eq!(index.query(query.row(0))?, [fox]);
/// assert!(index.remove(fox));
/// assert!(index.query(query.row(0))?.is_empty());
/// assert!(index.contains(other) && !index.contains(fox));
/// # Ok::<(), simgpu::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LshIndex {
    banding: Banding,
    width: Width,
    rows: PackedRows,
    tables: Tables,
}

impl LshIndex {
    /// An empty index for signatures with slots of this width.
    ///
    /// Where a slot is several numbers, as in weighted sketches, each of them counts as a row of the banding.
    #[must_use]
    pub fn new(banding: Banding, width: Width) -> Self {
        LshIndex {
            banding,
            width,
            rows: PackedRows::new(banding.bands() * banding.rows()),
            tables: Tables::new(banding.bands(), banding.rows()),
        }
    }

    /// Bands and rows.
    #[must_use]
    pub fn banding(&self) -> Banding {
        self.banding
    }

    /// The width of a slot.
    #[must_use]
    pub fn slot_width(&self) -> Width {
        self.width
    }

    /// Number of signatures.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.live()
    }

    /// Whether there is no signature.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether there is a signature with this number.
    #[must_use]
    pub fn contains(&self, number: u32) -> bool {
        self.rows.is_live(number)
    }

    /// The numbers of all signatures, ascending.
    pub fn numbers(&self) -> impl Iterator<Item = u32> + '_ {
        self.rows.numbers()
    }

    /// Inserts a signature, whose slots behind the bands are ignored, and returns its number. Equal signatures get
    /// numbers of their own.
    ///
    /// # Errors
    /// [`Error::Conflict`] if the signature has slots of another width, or fewer than the bands; [`Error::FullIndex`]
    /// beyond 2^30 - 2 signatures, removed ones included until [`compact`](LshIndex::compact).
    pub fn insert(&mut self, signature: Slots<'_>) -> Result<u32> {
        let values = in_bands(signature, self.banding, self.width)?;
        self.insert_values(&values)
    }

    fn insert_values(&mut self, values: &[u64]) -> Result<u32> {
        let number = self.rows.push(values)?;
        self.tables.insert(&self.rows, number, values);
        Ok(number)
    }

    /// The numbers of the signatures that share a band with this one, ascending.
    ///
    /// # Errors
    /// [`Error::Conflict`] if the signature has slots of another width, or fewer than the bands.
    pub fn query(&self, signature: Slots<'_>) -> Result<Vec<u32>> {
        self.query_bands(signature, self.banding.bands())
    }

    /// The numbers of the signatures that share one of the first `bands` bands with this one, ascending. All bands count
    /// if there are fewer.
    ///
    /// # Errors
    /// As [`LshIndex::query`].
    pub fn query_bands(&self, signature: Slots<'_>, bands: usize) -> Result<Vec<u32>> {
        let values = in_bands(signature, self.banding, self.width)?;
        let mut found = Vec::new();
        self.tables.find(&self.rows, &values, bands, &mut found);
        self.arrange(&mut found);
        Ok(found)
    }

    /// The numbers of the signatures that have these slots in a band, ascending; none if there is no such band.
    ///
    /// # Errors
    /// [`Error::Conflict`] if the slots have another width, or are more or fewer than a band has.
    pub fn bucket(&self, band: usize, slots: Slots<'_>) -> Result<Vec<u32>> {
        let values = widened(slots, self.width)?;
        if values.len() != self.banding.rows() {
            return Err(Conflict::SlotCounts {
                left: self.banding.rows(),
                right: values.len(),
            }
            .into());
        }
        let mut found = Vec::new();
        if band < self.banding.bands() {
            self.tables
                .find_in_band(&self.rows, band, &values, &mut found);
        }
        self.arrange(&mut found);
        Ok(found)
    }

    /// The signatures by what they have in a band: each bucket in ascending order, buckets in the order of their first
    /// signatures. None if there is no such band.
    #[must_use]
    pub fn buckets(&self, band: usize) -> Vec<Vec<u32>> {
        let mut places: HashMap<Vec<u64>, usize> = HashMap::new();
        let mut buckets: Vec<Vec<u32>> = Vec::new();
        if band >= self.banding.bands() {
            return buckets;
        }
        for number in self.rows.numbers() {
            let values = self.rows.values(number, self.tables.range(band)).collect();
            let place = *places.entry(values).or_insert(buckets.len());
            match buckets.get_mut(place) {
                Some(bucket) => bucket.push(number),
                None => buckets.push(vec![number]),
            }
        }
        buckets
    }

    /// Leaves out removed signatures, and each but the first of equal numbers, in order.
    fn arrange(&self, found: &mut Vec<u32>) {
        found.retain(|number| self.rows.is_live(*number));
        found.sort_unstable();
        found.dedup();
    }

    /// The slots in bands of a signature; `None` if there is none with this number.
    #[must_use]
    pub fn signature(&self, number: u32) -> Option<SlotVec> {
        self.slots(number, 0..self.banding.bands() * self.banding.rows())
    }

    /// The slots of a signature in a band; `None` if there is no such signature or band.
    #[must_use]
    pub fn band(&self, number: u32, band: usize) -> Option<SlotVec> {
        let is_band = band < self.banding.bands();
        is_band.then(|| self.slots(number, self.tables.range(band)))?
    }

    fn slots(&self, number: u32, range: Range<usize>) -> Option<SlotVec> {
        self.contains(number)
            .then(|| narrowed(self.rows.values(number, range), self.width))
    }

    /// Removes a signature; false if there is none with this number.
    ///
    /// Its memory is used again after [`compact`](LshIndex::compact), its number never.
    pub fn remove(&mut self, number: u32) -> bool {
        self.rows.remove(number)
    }

    /// Whether so many signatures are removed that [`compact`](LshIndex::compact) is worth its time: more than are left,
    /// and more than 64.
    #[must_use]
    pub fn wants_compaction(&self) -> bool {
        self.rows.wants_compaction()
    }

    /// Frees the memory of removed signatures. The others are numbered anew, from 0 in the same order.
    pub fn compact(&mut self) {
        self.rows.compact();
        self.tables.rebuild(&self.rows);
    }

    /// Inserts all signatures of another index, in order, and returns their new numbers.
    ///
    /// # Errors
    /// [`Error::Conflict`] if the other index has another banding or slots of another width; [`Error::FullIndex`] as
    /// [`LshIndex::insert`]. Nothing is inserted then.
    pub fn merge(&mut self, other: &LshIndex) -> Result<Range<u32>> {
        if self.banding != other.banding {
            let parts = |banding: Banding| (banding.bands(), banding.rows());
            return Err(Conflict::Bandings {
                left: parts(self.banding),
                right: parts(other.banding),
            }
            .into());
        }
        if self.width != other.width {
            return Err(Conflict::SlotWidths.into());
        }
        let start = self.rows.next_number(other.len())?;
        let mut values = Vec::new();
        let mut end = start;
        for number in other.rows.numbers() {
            other.rows.copy_to(number, &mut values);
            end = self.insert_values(&values)? + 1;
        }
        Ok(start..end)
    }

    /// The signatures as bytes, for a file. Removed ones are left out, as [`compact`](LshIndex::compact) does.
    #[must_use]
    pub fn to_bytes(&self) -> RowBytes {
        self.rows.to_bytes()
    }

    /// The index whose [`to_bytes`](LshIndex::to_bytes) these are.
    ///
    /// # Errors
    /// [`Error::DamagedIndex`] if the bytes cannot be those of an index of this banding and slot width.
    pub fn from_bytes(banding: Banding, width: Width, bytes: &RowBytes) -> Result<Self> {
        let mut index = LshIndex::new(banding, width);
        let values = banding.bands() * banding.rows();
        let rows = PackedRows::from_bytes(values, width, bytes);
        index.rows = rows.ok_or(Error::DamagedIndex)?;
        index.tables.rebuild(&index.rows);
        Ok(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simgpu::scheme::fmix64;

    /// Slots of few distinct values, so that many signatures share bands and some are equal.
    fn slots_of(seed: u64, count: u64, num_perm: u64, distinct: u64) -> Vec<Vec<u32>> {
        let slot = |row: u64, place: u64| fmix64(seed << 40 | row << 20 | place) % distinct;
        let row = |row| {
            (0..num_perm)
                .map(|place| u32::try_from(slot(row, place)).unwrap())
                .collect()
        };
        (0..count).map(row).collect()
    }

    fn banding(bands: usize, rows: usize) -> Banding {
        Banding::new(bands, rows, bands * rows).unwrap()
    }

    fn filled(banding: Banding, signatures: &[Vec<u32>]) -> LshIndex {
        let mut index = LshIndex::new(banding, Width::U32);
        for (number, slots) in signatures.iter().enumerate() {
            assert_eq!(index.insert(Slots::U32(slots)).unwrap() as usize, number);
        }
        index
    }

    /// Compares all bands of all signatures, each with its number.
    fn find_by_comparison<'a>(
        signatures: impl IntoIterator<Item = (u32, &'a Vec<u32>)>,
        query: &[u32],
        bands: usize,
        rows: usize,
    ) -> Vec<u32> {
        let shares_band = |slots: &[u32]| {
            (0..bands).any(|band| {
                (0..rows).all(|row| slots[band * rows + row] == query[band * rows + row])
            })
        };
        let found = signatures
            .into_iter()
            .filter(|(_, slots)| shares_band(slots));
        found.map(|(number, _)| number).collect()
    }

    /// Bands, rows, slots, signatures and distinct values.
    const SIZES: [(usize, usize, u64, u64, u64); 7] = [
        (1, 1, 1, 5, 2),
        (1, 4, 4, 300, 3),
        (4, 3, 13, 0, 3),
        (4, 3, 13, 1, 3),
        (4, 3, 13, 700, 4),
        (16, 8, 128, 150, 2),
        (5, 1, 8, 1500, 300),
    ];

    #[test]
    fn an_index_finds_what_a_comparison_of_all_bands_finds() {
        for (bands, rows, num_perm, count, distinct) in SIZES {
            let signatures = slots_of(1, count, num_perm, distinct);
            let index = filled(banding(bands, rows), &signatures);
            assert_eq!((index.len() as u64, index.is_empty()), (count, count == 0));
            let others = slots_of(2, 60, num_perm, distinct);
            for query in signatures.iter().take(60).chain(&others) {
                for bands_searched in [bands, 1, bands / 2, bands + 3] {
                    let found = index
                        .query_bands(Slots::U32(query), bands_searched)
                        .unwrap();
                    let searched = bands_searched.min(bands);
                    let all = (0..).zip(&signatures);
                    assert_eq!(found, find_by_comparison(all, query, searched, rows));
                }
                let found = index.query(Slots::U32(query)).unwrap();
                assert_eq!(found, index.query_bands(Slots::U32(query), bands).unwrap());
            }
        }
    }

    /// Inserts, removes and compacts in turn, beside a list that does the same.
    #[test]
    fn removed_signatures_are_not_found() {
        for (bands, rows, num_perm, count, distinct) in SIZES {
            let mut left: Vec<(u32, Vec<u32>)> = Vec::new();
            let mut index = LshIndex::new(banding(bands, rows), Width::U32);
            for (step, slots) in (0u64..).zip(slots_of(3, count, num_perm, distinct)) {
                let number = index.insert(Slots::U32(&slots)).unwrap();
                left.push((number, slots));
                if !fmix64(step).is_multiple_of(3) {
                    let place = usize::try_from(fmix64(step + 1) % left.len() as u64).unwrap();
                    let (number, _) = left.remove(place);
                    assert!(index.contains(number));
                    assert!(index.remove(number) && !index.remove(number));
                    assert!(!index.contains(number));
                }
                if step % 97 == 96 {
                    index.compact();
                    (0..)
                        .zip(&mut left)
                        .for_each(|(new, (number, _))| *number = new);
                }
            }
            assert_eq!(
                (index.len(), index.is_empty()),
                (left.len(), left.is_empty())
            );
            assert!(index.numbers().eq(left.iter().map(|(number, _)| *number)));
            let live = || left.iter().map(|(number, slots)| (*number, slots));
            for query in slots_of(3, 80, num_perm, distinct) {
                let found = index.query(Slots::U32(&query)).unwrap();
                assert_eq!(found, find_by_comparison(live(), &query, bands, rows));
            }
            for (number, slots) in live() {
                let in_bands = slots[..bands * rows].to_vec();
                assert_eq!(index.signature(number), Some(in_bands.into()));
            }
        }
    }

    #[test]
    fn an_index_of_removed_signatures_is_empty() {
        let mut index = filled(banding(2, 2), &slots_of(4, 100, 4, 2));
        (0..100).for_each(|number| assert!(index.remove(number)));
        assert!(index.is_empty() && index.wants_compaction());
        assert!(index.query(Slots::U32(&[0; 4])).unwrap().is_empty());
        assert_eq!(index.insert(Slots::U32(&[0; 4])).unwrap(), 100);
        index.compact();
        assert!(!index.wants_compaction());
        assert_eq!(index.query(Slots::U32(&[0; 4])).unwrap(), [0]);
    }

    #[test]
    fn equal_signatures_have_numbers_of_their_own() {
        let mut index = filled(banding(2, 2), &vec![vec![1, 2, 3, 4]; 5]);
        assert_eq!(
            index.query(Slots::U32(&[1, 2, 0, 0])).unwrap(),
            [0, 1, 2, 3, 4]
        );
        index.remove(2);
        assert_eq!(
            index.query(Slots::U32(&[0, 0, 3, 4])).unwrap(),
            [0, 1, 3, 4]
        );
    }

    #[test]
    fn wide_slots_are_compared_whole() {
        let mut index = LshIndex::new(banding(2, 1), Width::U64);
        assert_eq!(index.slot_width(), Width::U64);
        let (low, high) = (1u64, 1 << 32 | 1);
        index.insert(Slots::U64(&[low, 0])).unwrap();
        index.insert(Slots::U64(&[high, u64::MAX])).unwrap();
        assert_eq!(index.query(Slots::U64(&[low, 9])).unwrap(), [0]);
        assert_eq!(index.query(Slots::U64(&[high, 9])).unwrap(), [1]);
        assert_eq!(index.signature(1), Some(vec![high, u64::MAX].into()));
        assert_eq!(index.band(1, 1), Some(vec![u64::MAX].into()));
    }

    #[test]
    fn buckets_divide_the_signatures_of_a_band() {
        let signatures = slots_of(5, 200, 6, 3);
        let mut index = filled(banding(3, 2), &signatures);
        (0..200)
            .step_by(7)
            .for_each(|number| assert!(index.remove(number)));
        for band in 0..3 {
            let range = band * 2..band * 2 + 2;
            let slots_of = |number: u32| &signatures[number as usize][range.clone()];
            let buckets = index.buckets(band);
            assert!(buckets.is_sorted_by(|a, b| a[0] < b[0]));
            let total: usize = buckets.iter().map(Vec::len).sum();
            assert_eq!(total, index.len());
            for bucket in buckets {
                let slots = slots_of(bucket[0]);
                let same = index.numbers().filter(|number| slots_of(*number) == slots);
                assert_eq!(bucket, same.collect::<Vec<_>>());
                assert_eq!(index.bucket(band, Slots::U32(slots)).unwrap(), bucket);
                assert_eq!(index.band(bucket[0], band), Some(slots.to_vec().into()));
            }
            assert!(index.bucket(band, Slots::U32(&[7, 7])).unwrap().is_empty());
        }
        assert!(index.buckets(3).is_empty() && index.band(1, 3).is_none());
        assert!(index.band(0, 1).is_none() && index.signature(0).is_none());
        assert!(index.signature(200).is_none());
        assert!(
            index
                .bucket(3, Slots::U32(&signatures[1][..2]))
                .unwrap()
                .is_empty()
        );
    }

    #[test]
    fn a_merged_index_holds_the_signatures_of_both() {
        let (own, others) = (slots_of(6, 90, 8, 3), slots_of(7, 120, 8, 3));
        let mut index = filled(banding(4, 2), &own);
        let mut other = filled(banding(4, 2), &others);
        other.remove(0);
        other.remove(50);
        assert_eq!(index.merge(&other).unwrap(), 90..208);
        let merged = others
            .iter()
            .enumerate()
            .filter(|(row, _)| ![0, 50].contains(row));
        let all: Vec<Vec<u32>> = own
            .iter()
            .chain(merged.map(|(_, slots)| slots))
            .cloned()
            .collect();
        for query in &all {
            let found = index.query(Slots::U32(query)).unwrap();
            assert_eq!(found, find_by_comparison((0..).zip(&all), query, 4, 2));
        }
        assert_eq!(other.len(), 118);
        let none = LshIndex::new(banding(4, 2), Width::U32);
        assert_eq!(index.merge(&none).unwrap(), 208..208);
        assert_eq!(index.len(), 208);
    }

    #[test]
    fn indexes_of_other_shapes_are_not_merged() {
        let mut index = filled(banding(4, 2), &slots_of(8, 3, 8, 3));
        for (banding, width) in [
            (banding(2, 4), Width::U32),
            (banding(4, 1), Width::U32),
            (banding(4, 2), Width::U64),
        ] {
            assert!(index.merge(&LshIndex::new(banding, width)).is_err());
        }
        assert_eq!(index.len(), 3);
    }

    #[test]
    fn signatures_of_other_shapes_are_errors() {
        let mut index = LshIndex::new(banding(2, 2), Width::U32);
        for bad in [Slots::U32(&[1, 2, 3]), Slots::U64(&[1, 2, 3, 4])] {
            assert!(index.insert(bad).is_err() && index.query(bad).is_err());
        }
        assert!(index.is_empty());
        assert!(index.insert(Slots::U32(&[1, 2, 3, 4, 5])).is_ok());
        assert!(index.bucket(0, Slots::U32(&[1])).is_err());
        assert!(index.bucket(0, Slots::U32(&[1, 2, 3])).is_err());
        assert!(index.bucket(0, Slots::U64(&[1, 2])).is_err());
    }

    #[test]
    fn bytes_restore_an_index() {
        let signatures = slots_of(9, 150, 9, 3);
        let mut index = filled(banding(3, 3), &signatures);
        (0..150)
            .step_by(4)
            .for_each(|number| assert!(index.remove(number)));
        let bytes = index.to_bytes();
        let restored = LshIndex::from_bytes(index.banding(), Width::U32, &bytes).unwrap();
        index.compact();
        assert_eq!(restored.len(), index.len());
        for query in &signatures {
            let query = Slots::U32(query);
            assert_eq!(restored.query(query).unwrap(), index.query(query).unwrap());
        }
        assert_eq!(restored.to_bytes(), bytes);
        for (banding, width) in [(banding(3, 30), Width::U32), (banding(300, 1), Width::U64)] {
            let error = LshIndex::from_bytes(banding, width, &bytes).unwrap_err();
            assert!(matches!(error, Error::DamagedIndex), "{error}");
        }
    }
}
