//! Shingle sets for exact similarity, in memory up to a bound and in a temporary file beyond it.
//!
//! Sets of up to 128 MiB stay in memory, and others go to a file, so that exact verification needs one more pass at
//! most. To read the inputs again for each block of documents would take a pass per block. Weights are whole numbers,
//! so that their sum does not depend on any order.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::disk::read_at;
use super::set_table::SetTable;
use crate::error::{Error, Result, row_number};
use crate::pipeline::{
    Comparer, Distance, Measure, Overlap, Sets, Similarity, Verified, WEIGHT_ROUNDING, Within,
};
use crate::progress::DiskUse;

/// Stores the shingle sets of documents and computes their exact Jaccard similarities.
///
/// A set is a list of 64-bit hashes in any order, with or without repeats, as made by
/// [`Shingler::exact_hashes`](crate::pipeline::Shingler::exact_hashes). It is stored by the position of its document.
///
/// ```
/// use simgpu::pipeline::Similarity;
/// use simgpu::store::ExactSets;
///
/// let mut sets = ExactSets::default();
/// sets.insert(0, &[3, 1, 2, 3])?;
/// sets.insert(1, &[2, 3, 4])?;
/// assert_eq!(sets.of_pairs(&[(0, 1)])?, [Some(0.5)]);
/// # Ok::<(), simgpu::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct ExactSets {
    /// Whether sets are weighted: each hash is followed by its weight, and hashes ascend.
    is_weighted: bool,
    /// How similar two sets are, unless they are weighted.
    measure: Measure,
    /// Words of each set that come before its hashes.
    prefix: usize,
    /// The number of the set of each position; [`NONE`] without one.
    numbers: Vec<u32>,
    spans: Vec<Span>,
    /// Sets in memory, many in each segment.
    segments: Vec<Vec<u64>>,
    memory_bytes: usize,
    spill: Option<SpilledSets>,
}

/// The number of no set.
const NONE: u32 = u32::MAX;

/// The number of no segment.
const FILE: usize = usize::MAX;

/// The place of a set: a range of hashes in a segment, or in the file.
#[derive(Clone, Copy, Debug)]
struct Span {
    /// The number of the segment; [`FILE`] for the file.
    segment: usize,
    start: usize,
    len: usize,
}

/// An unnamed temporary file for the sets that do not fit in memory.
#[derive(Debug)]
struct SpilledSets {
    folder: PathBuf,
    memory_limit: usize,
    file: Option<File>,
    written: usize,
}

/// Bytes of exact sets that a run may always hold in memory.
pub(crate) const SETS_IN_MEMORY: usize = 128 << 20;

/// Hashes in a segment that collects single sets.
const SEGMENT: usize = 1 << 17;

impl ExactSets {
    /// An empty store with at most `memory_bytes` of hashes in memory and the rest in a temporary file in `folder`.
    /// [`ExactSets::default`] keeps all sets in memory.
    pub fn spilling(memory_bytes: usize, folder: &Path) -> Self {
        ExactSets {
            spill: Some(SpilledSets {
                folder: folder.to_owned(),
                memory_limit: memory_bytes,
                file: None,
                written: 0,
            }),
            ..ExactSets::default()
        }
    }

    /// Takes sets of weighted elements instead: each hash is followed by its weight, a whole number, and hashes ascend
    /// without repeats. A similarity is the sum of the lesser weights divided by the sum of the greater ones. The weights of
    /// a set come to less than 2^63.
    ///
    /// ```
    /// use simgpu::pipeline::Similarity;
    /// use simgpu::store::ExactSets;
    ///
    /// let mut sets = ExactSets::default().weighted(true);
    /// sets.insert(0, &[1, 10, 3, 5])?;
    /// sets.insert(1, &[1, 20, 4, 5])?;
    /// assert_eq!(sets.of_pairs(&[(0, 1)])?, [Some(10.0 / 30.0)]);
    /// # Ok::<(), simgpu::Error>(())
    /// ```
    #[must_use]
    pub fn weighted(self, is_weighted: bool) -> Self {
        ExactSets {
            is_weighted,
            ..self
        }
    }

    /// Compares sets without weights by another measure; default [`Measure::Jaccard`].
    ///
    /// ```
    /// use simgpu::pipeline::{Measure, Similarity};
    /// use simgpu::store::ExactSets;
    ///
    /// let mut sets = ExactSets::default().measured(Measure::Contained);
    /// sets.insert(0, &[1, 2])?;
    /// sets.insert(1, &[1, 2, 3, 4])?;
    /// assert_eq!(sets.of_pairs(&[(0, 1)])?, [Some(1.0)]);
    /// # Ok::<(), simgpu::Error>(())
    /// ```
    #[must_use]
    pub fn measured(self, measure: Measure) -> Self {
        ExactSets { measure, ..self }
    }

    /// The same, where this many words that are no hashes come first in each set. There are no weights. A set may have these words
    /// alone: then its hashes are not known.
    pub(crate) fn after_prefix(self, words: usize) -> Self {
        ExactSets {
            prefix: words,
            ..self
        }
    }

    /// No sets, of the same form.
    pub(crate) fn none_of_form(&self) -> Self {
        ExactSets::default()
            .weighted(self.is_weighted)
            .measured(self.measure)
            .after_prefix(self.prefix)
    }

    /// Whether the set at a position has more than a prefix.
    pub(crate) fn has_hashes(&self, position: u32) -> bool {
        self.span(position).len > self.prefix
    }

    /// Copies the prefix of the set at a position.
    pub(crate) fn copy_prefix(&self, position: u32, words: &mut Vec<u64>) -> Result<()> {
        let span = Span {
            len: self.prefix,
            ..self.span(position)
        };
        words.resize(self.prefix, 0);
        match (self.in_memory(span), &self.spill) {
            (Some(prefix), _) => words.copy_from_slice(prefix),
            (None, Some(spill)) => spill.read(span.start, words)?,
            (None, None) => {}
        }
        Ok(())
    }

    /// Stores the set of the document at `position`, or replaces it.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) if the temporary file cannot be written;
    /// [`Error::TooManyDocuments`](crate::Error::TooManyDocuments) for 2^32 sets.
    pub fn insert(&mut self, position: u32, set: &[u64]) -> Result<()> {
        if let Some(spill) = &mut self.spill
            && (spill.file.is_some() || self.memory_bytes + size_of_val(set) > spill.memory_limit)
        {
            let span = Span {
                segment: FILE,
                start: spill.append(set)?,
                len: set.len(),
            };
            return self.place(position, span);
        }
        let has_room = |segment: &Vec<u64>| segment.len() + set.len() <= segment.capacity();
        if !self.segments.last().is_some_and(has_room) {
            self.segments
                .push(Vec::with_capacity(SEGMENT.max(set.len())));
        }
        if let Some(last) = self.segments.last_mut() {
            last.extend_from_slice(set);
            let range = last.len() - set.len()..last.len();
            self.memory_bytes += size_of_val(set);
            self.place_in_last(position, range)?;
        }
        Ok(())
    }

    /// The folder of the temporary file, if this set is the first to go there.
    pub(crate) fn begins_file(&self, set: &[u64]) -> Option<&Path> {
        let spill = self.spill.as_ref()?;
        let begins =
            spill.file.is_none() && self.memory_bytes + size_of_val(set) > spill.memory_limit;
        begins.then_some(&*spill.folder)
    }

    /// What the temporary file took, if there is one.
    pub(crate) fn disk_use(&self) -> Option<DiskUse> {
        let spill = self.spill.as_ref()?;
        spill.file.as_ref().map(|_| DiskUse {
            parts: 1,
            read_bytes: 0,
            written_bytes: (spill.written * size_of::<u64>()) as u64,
        })
    }

    /// Stores the sets of documents, which are ranges of `hashes`, in memory. The documents have the next positions, from
    /// `first` on.
    #[doc(hidden)]
    pub fn append(&mut self, hashes: Vec<u64>, first: u32, sets: &[Range<usize>]) -> Result<()> {
        if self.numbers.len() > first as usize {
            return Err(Error::Defect(format!(
                "the set at {first} is there already"
            )));
        }
        let number = row_number(self.spans.len())?;
        row_number(self.spans.len() + sets.len())?;
        self.numbers.resize(first as usize, NONE);
        self.numbers.extend((number..).take(sets.len()));
        let segment = self.segments.len();
        self.segments.push(hashes);
        self.spans.extend(sets.iter().map(|range| Span {
            segment,
            start: range.start,
            len: range.len(),
        }));
        let hashes: usize = sets.iter().map(ExactSizeIterator::len).sum();
        self.memory_bytes += size_of::<u64>() * hashes;
        Ok(())
    }

    /// Bytes of the sets in memory.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.memory_bytes
    }

    fn place_in_last(&mut self, position: u32, range: Range<usize>) -> Result<()> {
        let span = Span {
            segment: self.segments.len() - 1,
            start: range.start,
            len: range.len(),
        };
        self.place(position, span)
    }

    fn place(&mut self, position: u32, span: Span) -> Result<()> {
        let at = position as usize;
        if self.numbers.len() <= at {
            self.numbers.resize(at + 1, NONE);
        }
        match self.numbers[at] {
            NONE => {
                let number = u32::try_from(self.spans.len()).ok();
                let number = number.filter(|number| *number != NONE);
                self.numbers[at] = number.ok_or(Error::TooManyDocuments)?;
                self.spans.push(span);
            }
            number => self.spans[number as usize] = span,
        }
        Ok(())
    }

    fn in_memory(&self, span: Span) -> Option<&[u64]> {
        let segment = self.segments.get(span.segment)?;
        Some(&segment[span.start..span.start + span.len])
    }

    fn span(&self, position: u32) -> Span {
        self.spans[self.numbers[position as usize] as usize]
    }

    /// The hashes of a set, without its prefix.
    fn read<'a>(&'a self, position: u32, buffer: &'a mut Vec<u64>) -> Result<&'a [u64]> {
        let mut span = self.span(position);
        span.start += self.prefix;
        span.len -= self.prefix;
        if let Some(set) = self.in_memory(span) {
            return Ok(set);
        }
        buffer.resize(span.len, 0);
        if let Some(spill) = &self.spill {
            spill.read(span.start, buffer)?;
        }
        Ok(buffer)
    }
}

/// Only for sets in memory: a set in the temporary file counts as empty. A set comes with its prefix.
impl Sets for ExactSets {
    fn len(&self) -> usize {
        self.numbers.len()
    }

    fn are_weighted(&self) -> bool {
        self.is_weighted
    }

    fn get(&self, position: u32) -> &[u64] {
        match self.numbers[position as usize] {
            NONE => &[],
            number => self.in_memory(self.spans[number as usize]).unwrap_or(&[]),
        }
    }
}

/// Exact Jaccard similarities.
impl Similarity for ExactSets {
    fn comparer(&self) -> Box<dyn Comparer + '_> {
        if self.is_weighted {
            return Box::new(WeightedComparer {
                sets: self,
                buffers: [Vec::new(), Vec::new()],
            });
        }
        Box::new(SetComparer {
            sets: self,
            first: None,
            table: SetTable::default(),
            buffer: Vec::new(),
        })
    }
}

/// Compares sets. Keeps the first set of the last comparison in a hash table.
struct SetComparer<'a> {
    sets: &'a ExactSets,
    /// The position of the set in the table.
    first: Option<u32>,
    table: SetTable,
    buffer: Vec<u64>,
}

impl Comparer for SetComparer<'_> {
    fn compare(&mut self, a: u32, b: u32, least: f64) -> Result<Verified> {
        if self.first != Some(a) {
            self.table.fill(self.sets.read(a, &mut self.buffer)?);
            self.first = Some(a);
        }
        let other = self.sets.read(b, &mut self.buffer)?;
        let measure = self.sets.measure;
        let least_shared = measure.least_shared(self.table.len(), least);
        let overlap = self.table.overlap(other, least_shared);
        Ok(Verified {
            similarity: Some(overlap.map_or(0.0, |overlap| measure.of(overlap))),
            overlap,
        })
    }
}

/// Sets that are compared by a distance: their similarity is the negative distance.
pub(crate) struct NearSets {
    pub(crate) sets: ExactSets,
    pub(crate) within: Within,
}

impl Similarity for NearSets {
    fn comparer(&self) -> Box<dyn Comparer + '_> {
        Box::new(NearComparer {
            near: self,
            first: None,
            table: SetTable::default(),
        })
    }
}

/// Compares sets in memory, which hold no repeats. Keeps the first set of the last comparison in a hash table.
struct NearComparer<'a> {
    near: &'a NearSets,
    /// The position of the set in the table.
    first: Option<u32>,
    table: SetTable,
}

impl Comparer for NearComparer<'_> {
    fn compare(&mut self, a: u32, b: u32, _: f64) -> Result<Verified> {
        let NearSets { sets, within } = self.near;
        if self.first != Some(a) {
            self.table.fill(Sets::get(sets, a));
            self.first = Some(a);
        }
        let (len, other) = (self.table.len(), Sets::get(sets, b));
        let least = within.least_overlap(len, other.len());
        let Some(shared) = self.table.shared(other, least) else {
            return Ok(Verified::by(f64::NEG_INFINITY));
        };
        let distance = match within.distance {
            Distance::Hamming => len - shared,
            Distance::L1 => (len - shared) + (other.len() - shared),
        };
        Ok(Verified::by(-(distance as f64)))
    }
}

/// Compares sets of weighted elements by a merge of both.
struct WeightedComparer<'a> {
    sets: &'a ExactSets,
    buffers: [Vec<u64>; 2],
}

impl Comparer for WeightedComparer<'_> {
    fn compare(&mut self, a: u32, b: u32, least: f64) -> Result<Verified> {
        let [own, other] = &mut self.buffers;
        let (a, b) = (self.sets.read(a, own)?, self.sets.read(b, other)?);
        let (similarity, overlap) = compare_weighted(a, b);
        // Weights are rounded, so that a pair at the threshold may come out just below it.
        let is_least = (least - WEIGHT_ROUNDING..least).contains(&similarity);
        Ok(Verified {
            similarity: Some(if is_least { least } else { similarity }),
            overlap: Some(overlap),
        })
    }
}

/// The sum of the lesser weights divided by that of the greater ones, 0 for two empty sets; and the elements that the
/// sets have in common, whatever they weigh.
fn compare_weighted(a: &[u64], b: &[u64]) -> (f64, Overlap) {
    let (mut a, mut b) = (a.as_chunks::<2>().0, b.as_chunks::<2>().0);
    let (mut lesser, mut greater) = (0u64, 0u64);
    let (sizes, mut shared) = ([a.len(), b.len()], 0);
    while let ([first, ..], [second, ..]) = (a, b) {
        let (in_a, in_b) = (first[0] <= second[0], second[0] <= first[0]);
        let weight = |element: &[u64; 2], is_in: bool| u64::from(is_in) * element[1];
        let (weight_a, weight_b) = (weight(first, in_a), weight(second, in_b));
        lesser = lesser.saturating_add(weight_a.min(weight_b));
        greater = greater.saturating_add(weight_a.max(weight_b));
        shared += usize::from(in_a & in_b);
        a = &a[usize::from(in_a)..];
        b = &b[usize::from(in_b)..];
    }
    for [_, weight] in a.iter().chain(b) {
        greater = greater.saturating_add(*weight);
    }
    let similarity = match greater {
        0 => 0.0,
        _ => lesser as f64 / greater as f64,
    };
    (similarity, Overlap::of(sizes, shared))
}

impl SpilledSets {
    /// Appends a set and returns its offset in hashes.
    fn append(&mut self, set: &[u64]) -> Result<usize> {
        use std::io::Write;
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                let file = super::temporary::unnamed_file(&self.folder);
                let create = Error::io("create a temporary file in", &self.folder);
                self.file.insert(file.map_err(create)?)
            }
        };
        let start = self.written;
        file.write_all(bytemuck::cast_slice(set))
            .map_err(Error::io("write a temporary file in", &self.folder))?;
        self.written += set.len();
        Ok(start)
    }

    fn read(&self, start: usize, buffer: &mut [u64]) -> Result<()> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        read_at(file, bytemuck::cast_slice_mut(buffer), 8 * start as u64)
            .map_err(Error::io("read a temporary file in", &self.folder))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_and_file_hold_the_same_sets() {
        let folder = tempfile::tempdir().unwrap();
        let sets: Vec<Vec<u64>> = (0..40).map(|i| (i..i + 3 * i + 1).collect()).collect();
        let pairs: Vec<_> = (0..40).flat_map(|a| (0..a).map(move |b| (b, a))).collect();
        let similarities = |mut store: ExactSets| {
            for (position, set) in (0..).zip(&sets) {
                store.insert(position, set).unwrap();
            }
            store.of_pairs(&pairs).unwrap()
        };
        let in_memory = similarities(ExactSets::default());
        for memory_bytes in [0, 800, 1 << 20] {
            let spilling = ExactSets::spilling(memory_bytes, folder.path());
            assert_eq!(similarities(spilling), in_memory);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_set_takes_the_place_of_an_earlier_one() {
        let mut sets = ExactSets::default();
        for set in [&[9][..], &[1, 2, 3]] {
            sets.insert(5, set).unwrap();
        }
        sets.insert(2, &[2, 3]).unwrap();
        assert_eq!(sets.of_pairs(&[(2, 5)]).unwrap(), [Some(2.0 / 3.0)]);
        assert_eq!(sets.spans.len(), 2);
    }
}
