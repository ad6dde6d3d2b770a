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
mod tests;
