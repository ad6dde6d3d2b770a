//! Finds all pairs of sets that may be similar, by their rarest elements (MMDS 3.9.3 to 3.9.6).
//!
//! All elements get one order, rare ones first. Two similar sets share one of their first elements, their *prefix*, so
//! sets with a prefix element in common are the candidates, and no similar pair is missed. This is the join of AllPairs
//! (Bayardo et al. 2007) with the position filter of PPJoin (Xiao et al. 2008). That filter keeps exactly the pairs
//! that share a bucket of symbol, position and suffix length in MMDS 3.9.6.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering::Relaxed};

use super::bucket::{BucketLists, Buckets};
use super::criterion::Criterion;
use super::prefix_filter::{PairFilter, Parity, PrefixFilter, SetSummary};
use super::reference::Reference;
use crate::error::{Error, Result, row_number};
use crate::scheme::spread;
use crate::threads::{even_block, for_each_block, sort, try_collect_blocks};

/// The sets of documents in memory, by position.
pub trait Sets: Sync {
    /// The number of documents.
    fn len(&self) -> usize;

    /// Whether there are no documents.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether elements have weights.
    fn are_weighted(&self) -> bool {
        false
    }

    /// The elements of a set, in any order, with or without repeats. Or, if they have weights, the elements without
    /// repeats, each followed by its weight, which come to less than 2^63.
    ///
    /// # Panics
    /// If `position` is not below the number of documents.
    fn get(&self, position: u32) -> &[u64];
}

/// The prefixes of sets: for each set its rarest elements, of which every similar set has at least one.
///
/// An element of a prefix takes 16 bytes. While prefixes are found, the counts take two bytes per element of a set.
///
/// ```
/// use simgpu::pipeline::{CandidateSource, Criterion, Prefixes};
/// use simgpu::store::ExactSets;
///
/// let mut sets = ExactSets::default();
/// sets.insert(0, &[1, 2, 3, 4, 5])?;
/// sets.insert(1, &[6, 7, 8])?;
/// sets.insert(2, &[1, 2, 3, 4, 9])?;
/// let prefixes = Prefixes::of(&sets, Criterion::Jaccard(0.6), &mut |_| Ok(()))?;
/// assert_eq!(prefixes.into_buckets()?.positions(), [0, 2]);
/// # Ok::<(), simgpu::Error>(())
/// ```
#[derive(Debug)]
pub struct Prefixes {
    filter: PairFilter,
    documents: usize,
    entries: Vec<Entry>,
    /// The number of entries of the whole join, if these are the prefixes of a part of its sets.
    whole_entries: Option<u64>,
    /// Each set that has entries or may be similar to one with no common element, by ascending position.
    sets: Vec<(u32, SetSummary)>,
}

/// An element of the prefix of a set, ordered by element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    element: Element,
    position: u32,
    /// The place of the element in its set, from 0.
    place: u32,
}

/// An element in the order of elements: the class of its number of occurrences in 8 bits, then 56 bits of its hash.
///
/// Two elements may be equal by chance. They then count as one, in the lowest of their places, so that a filter by
/// places lets more pairs pass, never fewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[doc(hidden)]
pub struct Element(u64);

impl Element {
    /// Bits of the hash.
    const HASH: u32 = 56;

    fn new(count: u32, hash: u64) -> Self {
        Element(
            u64::from(Element::class(count.into())) << Element::HASH | hash >> (64 - Element::HASH),
        )
    }

    /// The class of a number of occurrences: the number itself below 16, and four classes for each doubling above.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "64 doublings of four classes are below 256"
    )]
    #[doc(hidden)]
    pub fn class(count: u64) -> u8 {
        match count {
            0..16 => count as u8,
            _ => {
                let log = count.ilog2();
                4 * log as u8 + (count >> (log - 2) & 3) as u8
            }
        }
    }

    /// Whether no other set has the element.
    fn is_alone(self) -> bool {
        self.0 >> Element::HASH <= 1
    }

    /// The class, and the first bits of the hash.
    fn band(self, bits: u32) -> u64 {
        self.0 >> (Element::HASH - bits)
    }

    /// All bits, the hash first.
    pub(crate) fn hash_first(self) -> u64 {
        self.0.rotate_left(u64::BITS - Element::HASH)
    }

    /// The element with these bits.
    pub(crate) fn from_hash_first(bits: u64) -> Self {
        Element(bits.rotate_right(u64::BITS - Element::HASH))
    }
}

/// Sets that are processed between two calls of `advance`.
const BATCH: usize = 1 << 12;

impl Prefixes {
    /// Finds the prefixes of sets, for pairs that are similar by `criterion`. Calls `advance` now and then with the
    /// number of sets done, which are counted twice. Within a distance, short sets may be similar and share nothing:
    /// [`similar_pairs`](super::similar_pairs) finds these pairs, too, but [`Clusters`](super::Clusters) read only
    /// buckets.
    ///
    /// # Errors
    /// [`Conflict::DistanceOfWeights`](crate::error::Conflict::DistanceOfWeights) for a distance of weighted sets,
    /// [`Error::TooManyShingles`] for a set of 2^32 elements or more, and the first error of `advance`.
    pub fn of(
        sets: &dyn Sets,
        criterion: Criterion,
        advance: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<Self> {
        let documents = sets.len();
        let positions: Vec<u32> = (0..).take(documents).collect();
        let words = positions
            .iter()
            .map(|position| sets.get(*position).len() as u64);
        let finder = PrefixFinder::new(criterion, sets.are_weighted(), words.sum())?;
        let mut done = 0;
        for batch in positions.chunks(BATCH) {
            for_each_block(batch.len(), even_block(batch.len()), &|range| {
                let positions = batch[range].iter();
                positions.for_each(|position| finder.count(sets.get(*position)));
            });
            done += batch.len() as u64;
            advance(done)?;
        }
        let mut prefixes = Prefixes::new(finder.filter, documents);
        for batch in positions.chunks(BATCH) {
            let found = try_collect_blocks(batch.len(), even_block(batch.len()), |range| {
                let mut scratch = PrefixScratch::default();
                let positions = batch[range].iter();
                positions
                    .map(|position| finder.find(sets.get(*position), &mut scratch))
                    .collect::<Result<Vec<Option<Prefix>>>>()
            })?;
            for (position, prefix) in batch.iter().zip(found) {
                if let Some(prefix) = prefix {
                    prefixes.push(*position, &prefix);
                }
            }
            done += batch.len() as u64;
            advance(done)?;
        }
        sort(&mut prefixes.entries);
        Ok(prefixes)
    }

    /// No prefixes yet, of sets with positions below `documents`.
    fn new(filter: PairFilter, documents: usize) -> Self {
        Prefixes {
            filter,
            documents,
            entries: Vec::new(),
            whole_entries: None,
            sets: Vec::new(),
        }
    }

    /// No prefixes yet, of a part of the sets of a join that has `whole_entries` entries in all. Positions are below
    /// `documents`.
    pub(crate) fn for_part(filter: PairFilter, documents: usize, whole_entries: u64) -> Self {
        Prefixes {
            whole_entries: Some(whole_entries),
            ..Prefixes::new(filter, documents)
        }
    }

    /// The prefixes of some of these sets, whose new positions, below `documents`, `position_of` knows.
    pub(crate) fn select(
        &self,
        documents: usize,
        position_of: impl Fn(u32) -> Option<u32>,
    ) -> Self {
        let entries = self.entries.iter().filter_map(|entry| {
            let position = position_of(entry.position)?;
            Some(Entry { position, ..*entry })
        });
        let sets = self.sets.iter();
        let sets = sets.filter_map(|(position, summary)| Some((position_of(*position)?, *summary)));
        Prefixes {
            filter: self.filter,
            documents,
            entries: entries.collect(),
            whole_entries: self.whole_entries,
            sets: sets.collect(),
        }
    }

    /// The same among sets with positions below `documents`.
    pub(crate) fn among(self, documents: usize) -> Self {
        Prefixes { documents, ..self }
    }

    /// Adds the prefix of a set. In a whole join, positions ascend.
    pub(crate) fn push(&mut self, position: u32, prefix: &Prefix) {
        self.sets.push((position, prefix.summary));
        let entry = |(element, place): &(Element, u32)| Entry {
            element: *element,
            position,
            place: *place,
        };
        self.entries.extend(prefix.elements.iter().map(entry));
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> u64 {
        Prefixes::bytes_of(self.entries.len() as u64, self.sets.len() as u64)
    }

    /// Bytes of memory of prefixes with this many elements, of this many sets.
    pub(crate) fn bytes_of(elements: u64, sets: u64) -> u64 {
        size_of::<Entry>() as u64 * elements + size_of::<(u32, SetSummary)>() as u64 * sets
    }

    /// The number of pairs of equal elements in two prefixes: the work of the join.
    pub fn shared_elements(&self) -> u64 {
        self.shared_elements_of(None)
    }

    /// The same in a search with a reference, whose documents are not compared with each other.
    pub(crate) fn shared_elements_of(&self, reference: Option<&Reference>) -> u64 {
        let runs = self.entries.chunk_by(same_element);
        let runs = runs.filter(|run| leads_to_pairs(run, &self.filter, &self.sets));
        let pairs =
            runs.map(|run| compared_among(run.iter().map(|entry| entry.position), reference));
        pairs.sum()
    }

    /// The number of pairs of sets that are similar by their sizes alone.
    pub(crate) fn pairs_by_size(&self) -> u64 {
        let mut sizes = SmallSizes::default();
        for (_, summary) in &self.sets {
            sizes.add(self.filter.criterion, summary.len);
        }
        sizes.pairs(self.filter.criterion)
    }

    /// The buckets of the join: for each element, the sets that have it in their prefixes.
    ///
    /// # Errors
    /// [`Error::TooManyDocuments`] for 2^32 elements or more.
    pub fn into_buckets(self) -> Result<Buckets> {
        let Prefixes {
            filter,
            documents,
            mut entries,
            whole_entries,
            mut sets,
        } = self;
        if whole_entries.is_some() {
            sort(&mut entries);
            sets.sort_unstable_by_key(|(position, _)| *position);
        }
        let band_bits = band_bits(whole_entries.unwrap_or(entries.len() as u64));
        let is_small = |summary: &SetSummary| filter.criterion.may_share_nothing(summary.len);
        let (mut ends, mut members) = (Vec::new(), Vec::new());
        let mut bands: Vec<u32> = Vec::new();
        let mut places = Vec::new();
        let mut last_band = None;
        let leads = |run: &&[Entry]| run.len() > 1 && leads_to_pairs(run, &filter, &sets);
        for run in entries.chunk_by(same_element).filter(leads) {
            let band = run[0].element.band(band_bits);
            if last_band.replace(band) != Some(band) {
                bands.push(row_number(ends.len())?);
            }
            members.extend(run.iter().map(|entry| entry.position));
            places.extend(run.iter().map(|entry| entry.place));
            ends.push(members.len());
        }
        bands.push(row_number(ends.len())?);
        drop(entries);
        let small = sets.iter().filter(|(_, summary)| is_small(summary));
        let small: Vec<u32> = small.map(|(position, _)| *position).collect();
        let lists = BucketLists {
            ends,
            members,
            places,
            bands,
        };
        let buckets = Buckets::new(documents, lists, &small)?;
        let mut positions = buckets.positions().iter().peekable();
        let summaries = sets.into_iter().filter_map(|(position, summary)| {
            let is_shared = positions.next_if_eq(&&position).is_some();
            is_shared.then_some(summary)
        });
        let sets: Vec<SetSummary> = summaries.collect();
        let small = sets.iter().zip(0..).filter(|(set, _)| is_small(set));
        let mut small: Vec<(u64, u32)> = small.map(|(set, index)| (set.len, index)).collect();
        sort(&mut small);
        Ok(buckets.with_filter(PrefixFilter {
            filter,
            sets,
            small,
        }))
    }
}

/// Entries of the elements that form one band, about.
const BAND: u64 = 1 << 16;

/// The bits of hashes by which elements of one class are divided into bands. They depend on the number of entries
/// alone, so that those of a part of the sets are in the bands that they have in the whole join.
fn band_bits(entries: u64) -> u32 {
    (entries / BAND).checked_ilog2().map_or(0, |log| log + 1)
}

/// Whether an element leads to similar sets, of `sets` by ascending position.
fn leads_to_pairs(run: &[Entry], filter: &PairFilter, sets: &[(u32, SetSummary)]) -> bool {
    filter.leads_to_pairs(run.iter().filter_map(|entry| {
        let at = sets.binary_search_by_key(&entry.position, |(position, _)| *position);
        Some((&sets[at.ok()?].1, entry.place))
    }))
}

fn same_element(a: &Entry, b: &Entry) -> bool {
    a.element == b.element
}

/// The number of pairs among so many documents.
pub(crate) fn pairs_among(documents: u64) -> u64 {
    halved(u128::from(documents) * u128::from(documents.saturating_sub(1)))
}

/// The number of pairs among documents, without those of two documents of a reference.
pub(crate) fn compared_among(
    documents: impl ExactSizeIterator<Item = u32>,
    reference: Option<&Reference>,
) -> u64 {
    let all = pairs_among(documents.len() as u64);
    let reference_documents = reference.map_or(0, |reference| {
        documents
            .filter(|document| !reference.is_input(*document))
            .count()
    });
    all - pairs_among(reference_documents as u64)
}

/// The number of pairs, if both orders of each were counted.
fn halved(ordered: u128) -> u64 {
    // Saturates: the documents of a run, fewer than 2^32, make fewer pairs than 2^63.
    u64::try_from(ordered / 2).unwrap_or(u64::MAX)
}

/// The numbers of elements of the sets that may be similar to one with no common element.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct SmallSizes(BTreeMap<u64, u64>);

impl SmallSizes {
    /// Counts a set, if it is such a set. Returns whether it is.
    pub(crate) fn add(&mut self, criterion: Criterion, len: u64) -> bool {
        let is_small = criterion.may_share_nothing(len);
        if is_small {
            *self.0.entry(len).or_default() += 1;
        }
        is_small
    }

    /// The number of pairs that are similar by their sizes alone.
    pub(crate) fn pairs(&self, criterion: Criterion) -> u64 {
        let partners = self.0.iter().map(|(len, sets)| {
            let sizes = criterion.similar_sizes(*len);
            let reached = sizes.map_or(0, |sizes| {
                self.0.range(sizes).map(|(_, sets)| sets).sum::<u64>()
            });
            u128::from(*sets) * u128::from(reached.saturating_sub(1))
        });
        halved(partners.sum())
    }
}

/// The prefix of a set, and what is known of the set.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Prefix {
    pub(crate) summary: SetSummary,
    /// The elements that other sets have, too, in their order, and the place of each in the set, from 0.
    pub(crate) elements: Vec<(Element, u32)>,
}

/// Finds the prefixes of sets, once all sets have been counted.
#[derive(Debug)]
pub(crate) struct PrefixFinder {
    filter: PairFilter,
    counts: ElementCounts,
}

impl PrefixFinder {
    /// For sets of `words` in all: elements or, if they are weighted, elements and weights.
    pub(crate) fn new(criterion: Criterion, weighted: bool, words: u64) -> Result<Self> {
        Ok(PrefixFinder {
            filter: PairFilter::new(criterion, weighted)?,
            counts: ElementCounts::for_elements(words),
        })
    }

    /// Counts the elements of a set. Threads may do so in any order.
    pub(crate) fn count(&self, set: &[u64]) {
        if self.filter.weighted {
            let elements = set.as_chunks().0.iter();
            elements.for_each(|[hash, _]: &[u64; 2]| self.counts.add(*hash));
        } else {
            set.iter().for_each(|hash| self.counts.add(*hash));
        }
    }

    /// Finds the prefix of a set; `None` if no other set is similar to it.
    ///
    /// # Errors
    /// [`Error::TooManyShingles`] for 2^32 elements or more.
    pub(crate) fn find(&self, set: &[u64], scratch: &mut PrefixScratch) -> Result<Option<Prefix>> {
        match self.filter.criterion {
            Criterion::Jaccard(threshold) if self.filter.weighted => {
                Ok(scratch.weighted_prefix(set, &self.counts, threshold))
            }
            criterion => scratch.prefix(set, &self.counts, criterion),
        }
    }
}

/// How often elements occur, in as many counters as there are elements, or fewer. Elements with the same counter are
/// counted together: this changes the order, but any order of elements finds all pairs.
#[derive(Debug)]
struct ElementCounts {
    /// The occurrences up to [`ElementCounts::MOST`].
    few: Vec<AtomicU8>,
    /// Those beyond.
    many: Vec<AtomicU32>,
}

impl ElementCounts {
    const MOST: u8 = u8::MAX;

    /// Counters for frequent elements.
    const MANY: usize = 1 << 16;

    /// The most counters, for 700 million elements.
    const FEW: u64 = 1 << 30;

    fn for_elements(elements: u64) -> Self {
        let few = elements
            .saturating_add(elements / 2)
            .min(ElementCounts::FEW);
        ElementCounts {
            few: (0..=few).map(|_| AtomicU8::new(0)).collect(),
            many: (0..ElementCounts::MANY)
                .map(|_| AtomicU32::new(0))
                .collect(),
        }
    }

    #[allow(
        clippy::cast_possible_truncation,
        reason = "the high half of the product is below the number of counters"
    )]
    fn slot(&self, hash: u64) -> usize {
        ((u128::from(spread(hash)) * self.few.len() as u128) >> 64) as usize
    }

    /// Adds an occurrence. Threads may do so in any order: the counts read later are the same.
    fn add(&self, hash: u64) {
        let slot = self.slot(hash);
        let add = |count: u8| count.checked_add(1);
        if self.few[slot].fetch_update(Relaxed, Relaxed, add).is_err() {
            self.many[slot % ElementCounts::MANY].fetch_add(1, Relaxed);
        }
    }

    fn get(&self, hash: u64) -> u32 {
        let slot = self.slot(hash);
        match self.few[slot].load(Relaxed) {
            ElementCounts::MOST => {
                let more = self.many[slot % ElementCounts::MANY].load(Relaxed);
                more.saturating_add(u32::from(ElementCounts::MOST))
            }
            few => u32::from(few),
        }
    }
}

/// Memory reused from set to set.
#[derive(Debug, Default)]
pub(crate) struct PrefixScratch {
    /// A hash table of elements; 0 is an empty slot.
    table: Vec<u64>,
    /// Elements that other sets have, too, first with repeats.
    shared: Vec<(Element, u64)>,
    /// All elements of a weighted set, with their weights.
    weighted: Vec<(Element, u64)>,
}

/// The place of an element in its set.
fn place(number: usize) -> Result<u32> {
    u32::try_from(number).map_err(|_| Error::TooManyShingles { shingles: number })
}

impl PrefixScratch {
    /// Finds the prefix of a set.
    fn prefix(
        &mut self,
        set: &[u64],
        counts: &ElementCounts,
        criterion: Criterion,
    ) -> Result<Option<Prefix>> {
        self.shared.clear();
        let mut parity = Parity::default();
        for hash in set {
            let count = counts.get(*hash);
            // A counter at 1 counts this occurrence only: no other set has the element, and this set has it once.
            if count > 1 {
                self.shared.push((Element::new(count, *hash), *hash));
            } else {
                parity.flip(*hash);
            }
        }
        let alone = set.len() - self.shared.len();
        // Repeats only lengthen the prefix, and only small sets are similar to sets that share nothing.
        if criterion.prefix_len(set.len()) <= alone && !criterion.may_share_nothing(alone as u64) {
            return Ok(None);
        }
        self.remove_repeats();
        let len = alone + self.shared.len();
        let wanted = criterion.prefix_len(len).saturating_sub(alone);
        if wanted == 0 && !criterion.may_share_nothing(len as u64) {
            return Ok(None);
        }
        self.shared.iter().for_each(|(_, hash)| parity.flip(*hash));
        if wanted < self.shared.len() {
            self.shared.select_nth_unstable(wanted - 1);
            self.shared.truncate(wanted);
        }
        self.shared.sort_unstable();
        // Elements that no other set has are the rarest and come first.
        let places = place(alone)?..place(len)?;
        let shared = self.shared.iter().map(|(element, _)| *element);
        let mut elements: Vec<(Element, u32)> = shared.zip(places).collect();
        elements.dedup_by_key(|(element, _)| *element);
        Ok(Some(Prefix {
            summary: SetSummary {
                len: len as u64,
                parity,
            },
            elements,
        }))
    }

    /// Finds the prefix of a set of weighted elements: the elements up to which those that follow weigh too little for
    /// any similar set. The places of its entries are 0.
    fn weighted_prefix(
        &mut self,
        set: &[u64],
        counts: &ElementCounts,
        threshold: f64,
    ) -> Option<Prefix> {
        let elements = set.as_chunks().0.iter();
        self.weighted.clear();
        self.weighted
            .extend(elements.map(|[hash, weight]: &[u64; 2]| {
                let count = counts.get(*hash);
                (Element::new(count, *hash), *weight)
            }));
        self.weighted.sort_unstable();
        let sum: u64 = self.weighted.iter().map(|(_, weight)| weight).sum();
        let mut rest = sum;
        let mut elements: Vec<(Element, u32)> = Vec::new();
        for (element, weight) in &self.weighted {
            // The lesser weights of a similar pair come to at most `rest`, the greater ones to at least `sum`; and of
            // larger numbers, neither the conversion nor the division is smaller.
            if (rest as f64 / sum as f64) < threshold {
                break;
            }
            if !element.is_alone() {
                elements.push((*element, 0));
            }
            rest -= weight;
        }
        elements.dedup();
        (!elements.is_empty()).then(|| Prefix {
            summary: SetSummary {
                len: sum,
                parity: Parity::default(),
            },
            elements,
        })
    }

    #[allow(
        clippy::cast_possible_truncation,
        reason = "the shift leaves the bits of a slot number"
    )]
    fn remove_repeats(&mut self) {
        let slots = (2 * self.shared.len()).next_power_of_two().max(16);
        self.table.clear();
        self.table.resize(slots, 0);
        let (mask, shift) = (slots - 1, 64 - slots.trailing_zeros());
        let mut has_zero = false;
        let table = &mut self.table;
        self.shared.retain(|(_, hash)| {
            if *hash == 0 {
                return !std::mem::replace(&mut has_zero, true);
            }
            let mut slot = (spread(*hash) >> shift) as usize & mask;
            while table[slot] != 0 && table[slot] != *hash {
                slot = (slot + 1) & mask;
            }
            std::mem::replace(&mut table[slot], *hash) == 0
        });
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::ops::ControlFlow;

    use proptest::prelude::*;

    use super::super::candidates::CandidateSource;
    use super::super::cluster::{ClusterTask, Clusters};
    use super::super::criterion::{Distance, Within};
    use super::super::verify::{
        Comparer, SimilarPair, Similarity, Verified, jaccard, similar_pairs,
    };
    use super::*;
    use crate::error::Conflict;
    use crate::scheme::fmix64;

    #[derive(Debug)]
    struct Lists(Vec<Vec<u64>>);

    impl Sets for Lists {
        fn len(&self) -> usize {
            self.0.len()
        }

        fn get(&self, position: u32) -> &[u64] {
            &self.0[position as usize]
        }
    }

    impl Lists {
        fn similarity(&self, a: u32, b: u32) -> f64 {
            let sorted = |position| {
                let set: BTreeSet<u64> = self.get(position).iter().copied().collect();
                Vec::from_iter(set)
            };
            jaccard(&sorted(a), &sorted(b))
        }

        fn buckets(&self, threshold: f64) -> Buckets {
            let criterion = Criterion::Jaccard(threshold);
            let prefixes = Prefixes::of(self, criterion, &mut |_| Ok(())).unwrap();
            prefixes.into_buckets().unwrap()
        }
    }

    impl Similarity for Lists {
        fn comparer(&self) -> Box<dyn Comparer + '_> {
            Box::new(self)
        }
    }

    impl Comparer for &Lists {
        fn compare(&mut self, a: u32, b: u32, _: f64) -> Result<Verified> {
            Ok(Verified::by(self.similarity(a, b)))
        }
    }

    fn joined(lists: &Lists, threshold: f64) -> Vec<(u32, u32)> {
        let mut found = Vec::new();
        similar_pairs(&lists.buckets(threshold), lists, threshold, &mut |block| {
            found.extend(block.pairs);
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
        found
            .iter()
            .map(|SimilarPair { lo, hi, .. }| (*lo, *hi))
            .collect()
    }

    fn brute_force(lists: &Lists, threshold: f64) -> Vec<(u32, u32)> {
        let documents = u32::try_from(Sets::len(lists)).unwrap();
        let pairs = (0..documents).flat_map(|lo| (lo + 1..documents).map(move |hi| (lo, hi)));
        pairs
            .filter(|(lo, hi)| lists.similarity(*lo, *hi) >= threshold)
            .collect()
    }

    fn thresholds() -> impl Strategy<Value = f64> {
        prop_oneof![
            prop::sample::select(vec![0.1, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 0.95, 1.0]),
            0.01..1.0,
        ]
    }

    /// Sets of few elements from a small universe, with repeats; some are near-copies of an earlier one.
    fn lists() -> impl Strategy<Value = Lists> {
        let list = prop::collection::vec(0u64..60, 0..40);
        let edit = (any::<prop::sample::Index>(), 0u64..60);
        let lists = prop::collection::vec(
            (list, prop::collection::vec(edit, 0..4), any::<bool>()),
            1..30,
        );
        lists.prop_map(|made| {
            let mut lists: Vec<Vec<u64>> = Vec::new();
            for (list, edits, copies) in made {
                let mut list = match lists.last() {
                    Some(last) if copies => last.clone(),
                    _ => list,
                };
                for (at, element) in edits {
                    if !list.is_empty() {
                        let at = at.index(list.len());
                        list[at] = element;
                    }
                }
                lists.push(list);
            }
            Lists(lists)
        })
    }

    proptest! {
        #[test]
        fn join_finds_what_brute_force_finds(lists in lists(), threshold in thresholds()) {
            prop_assert_eq!(joined(&lists, threshold), brute_force(&lists, threshold));
        }

        #[test]
        fn clusters_of_a_join_equal_their_definition(lists in lists(), threshold in thresholds()) {
            let task = ClusterTask::new(&lists, threshold);
            let greedy = Clusters::greedy(lists.buckets(threshold), &task, &mut |_| Ok(())).unwrap();
            let connected =
                Clusters::connected(&lists.buckets(threshold), &task, &mut |_| Ok(())).unwrap();
            let pairs = brute_force(&lists, threshold);
            let documents = u32::try_from(lists.len()).unwrap();
            let similar = |a: u32, b: u32| pairs.binary_search(&(a.min(b), a.max(b))).is_ok();
            let mut kept: Vec<u32> = Vec::new();
            let mut first: Vec<u32> = (0..documents).collect();
            for document in 0..documents {
                if !kept.iter().any(|other| similar(document, *other)) {
                    kept.push(document);
                }
                for _ in 0..documents {
                    for (a, b) in &pairs {
                        let least = first[*a as usize].min(first[*b as usize]);
                        first[*a as usize] = least;
                        first[*b as usize] = least;
                    }
                }
            }
            let of = |clusters: &Clusters| -> Vec<u32> {
                let removed: BTreeSet<u32> = clusters.removals.iter().map(|r| r.document).collect();
                (0..documents).filter(|document| !removed.contains(document)).collect()
            };
            prop_assert_eq!(of(&greedy), kept);
            let components: Vec<u32> = (0..).zip(&first).filter(|(i, f)| i == *f).map(|(i, _)| i).collect();
            prop_assert_eq!(of(&connected), components);
        }
    }

    /// The negative distance of two sets, of which greater means nearer; `None` if they have none.
    fn nearness(lists: &Lists, distance: Distance, a: u32, b: u32) -> Option<f64> {
        let set = |position| lists.get(position).iter().collect::<BTreeSet<_>>();
        let (a, b) = (set(a), set(b));
        let differing = a.symmetric_difference(&b).count();
        match distance {
            Distance::Hamming => (a.len() == b.len()).then_some(-(differing as f64) / 2.0),
            Distance::L1 => Some(-(differing as f64)),
        }
    }

    struct Near<'a>(&'a Lists, Distance);

    impl Similarity for Near<'_> {
        fn comparer(&self) -> Box<dyn Comparer + '_> {
            Box::new(Near(self.0, self.1))
        }
    }

    impl Comparer for Near<'_> {
        fn compare(&mut self, a: u32, b: u32, _: f64) -> Result<Verified> {
            Ok(Verified::by(
                nearness(self.0, self.1, a, b).unwrap_or(f64::NEG_INFINITY),
            ))
        }
    }

    proptest! {
        #[test]
        fn joins_within_a_distance_miss_no_pair(
            lists in lists(),
            lengths in prop::collection::vec(0usize..12, 1..30),
            cuts in any::<bool>(),
            most in prop_oneof![0u64..6, 6u64..90],
            distance in prop::sample::select(vec![Distance::Hamming, Distance::L1]),
        ) {
            let mut lists = lists;
            // Short sets, many of which are similar and share nothing.
            for (list, len) in lists.0.iter_mut().zip(lengths.iter().cycle()).filter(|_| cuts) {
                list.truncate(*len);
            }
            let criterion = Criterion::Within(Within { distance, most });
            let prefixes = Prefixes::of(&lists, criterion, &mut |_| Ok(())).unwrap();
            let buckets = prefixes.into_buckets().unwrap();
            let mut found = Vec::new();
            similar_pairs(&buckets, &Near(&lists, distance), -(most as f64), &mut |block| {
                found.extend(block.pairs.iter().map(|pair| (pair.lo, pair.hi)));
                Ok(ControlFlow::Continue(()))
            })
            .unwrap();
            let documents = u32::try_from(Sets::len(&lists)).unwrap();
            let pairs = (0..documents).flat_map(|lo| (lo + 1..documents).map(move |hi| (lo, hi)));
            let is_near = |(lo, hi): &(u32, u32)| {
                nearness(&lists, distance, *lo, *hi).is_some_and(|near| near >= -(most as f64))
            };
            prop_assert_eq!(found, pairs.filter(is_near).collect::<Vec<_>>());
            for index in (0..).take(buckets.positions().len()) {
                let mut partners = Vec::new();
                CandidateSource::partners(&buckets, index, 0, &mut partners);
                prop_assert!(partners.len() <= buckets.most_partners(index));
            }
        }
    }

    #[test]
    fn weighted_sets_have_no_distance() {
        let within = Within {
            distance: Distance::L1,
            most: 1,
        };
        let sets = Weighted(vec![vec![1, 5]]);
        let refused = Prefixes::of(&sets, Criterion::Within(within), &mut |_| Ok(()));
        assert!(matches!(
            refused,
            Err(Error::Conflict(Conflict::DistanceOfWeights))
        ));
    }

    /// Sets of few weighted elements.
    #[derive(Debug)]
    struct Weighted(Vec<Vec<u64>>);

    impl Sets for Weighted {
        fn len(&self) -> usize {
            self.0.len()
        }

        fn are_weighted(&self) -> bool {
            true
        }

        fn get(&self, position: u32) -> &[u64] {
            &self.0[position as usize]
        }
    }

    impl Weighted {
        fn similarity(&self, a: u32, b: u32) -> f64 {
            let weights = |position: u32| -> BTreeMap<u64, u64> {
                let elements = self.0[position as usize].as_chunks().0.iter();
                elements
                    .map(|[hash, weight]: &[u64; 2]| (*hash, *weight))
                    .collect()
            };
            let (a, b) = (weights(a), weights(b));
            let all: BTreeSet<u64> = a.keys().chain(b.keys()).copied().collect();
            let weight = |set: &BTreeMap<u64, u64>, hash| set.get(&hash).copied().unwrap_or(0);
            let both = || {
                all.iter()
                    .map(|hash| (weight(&a, *hash), weight(&b, *hash)))
            };
            let lesser: u64 = both().map(|(a, b)| a.min(b)).sum();
            let greater: u64 = both().map(|(a, b)| a.max(b)).sum();
            if greater == 0 {
                0.0
            } else {
                lesser as f64 / greater as f64
            }
        }
    }

    proptest! {
        #[test]
        fn weighted_joins_miss_no_pair(
            sets in prop::collection::vec(
                prop::collection::btree_map(0u64..30, prop_oneof![1u64..6, 1u64..1 << 40], 0..20),
                1..30,
            ),
            threshold in thresholds(),
        ) {
            let list = |set: BTreeMap<u64, u64>| set.into_iter().flat_map(|(hash, weight)| [hash, weight]).collect();
            let sets = Weighted(sets.into_iter().map(list).collect());
            let criterion = Criterion::Jaccard(threshold);
            let prefixes = Prefixes::of(&sets, criterion, &mut |_| Ok(())).unwrap();
            let buckets = prefixes.into_buckets().unwrap();
            let mut candidates = BTreeSet::new();
            for (index, position) in (0..).zip(buckets.positions()) {
                let mut partners = Vec::new();
                CandidateSource::partners(&buckets, index, index + 1, &mut partners);
                let of = |other: &u32| (*position, buckets.positions()[*other as usize]);
                candidates.extend(partners.iter().map(of));
            }
            let documents = u32::try_from(sets.0.len()).unwrap();
            for a in 0..documents {
                for b in a + 1..documents {
                    let is_similar = sets.similarity(a, b) >= threshold;
                    prop_assert!(!is_similar || candidates.contains(&(a, b)), "{a} {b}");
                }
            }
        }
    }

    /// Pairs of exactly the threshold, with lengths where (1 - t) * length is a whole number but not as an `f64`.
    #[test]
    fn pairs_at_the_threshold_are_found() {
        for (tenths, threshold) in [(7, 0.7), (8, 0.8), (9, 0.9)] {
            for tens in 1u64..=40 {
                let shared = tenths * tens;
                let full: Vec<u64> = (0..10 * tens).collect();
                let subset: Vec<u64> = (0..shared).collect();
                let below: Vec<u64> = (0..shared - 1).collect();
                let lists = Lists(vec![full, subset, below]);
                let expected = brute_force(&lists, threshold);
                assert!(expected.contains(&(0, 1)) && !expected.contains(&(0, 2)));
                assert_eq!(joined(&lists, threshold), expected, "{threshold} {tens}");
            }
        }
    }

    #[test]
    fn classes_ascend_with_counts() {
        let counts = (0..100_000).chain([1 << 20, 1 << 31, 1 << 63, u64::MAX]);
        let classes: Vec<u8> = counts.map(Element::class).collect();
        assert!(classes.is_sorted_by(|a, b| a == b || a + 1 == *b || *b > 70));
        assert_eq!(classes[..17], (0..17).collect::<Vec<_>>());
        assert_eq!(classes.last(), Some(&255));
    }

    /// The sets of one half of a join have the buckets that they have in the whole, in the same bands.
    #[test]
    fn parts_of_a_join_have_its_buckets() {
        // Even and odd sets share no element.
        let element = |i: u64, j| fmix64(i % 2_000 + j) & !(1 << 32) | (i & 1) << 32;
        let list = |i: u64| (0..20).map(move |j| element(i, j));
        let lists = Lists((0..9_000).map(|i| list(i).collect()).collect());
        let criterion = Criterion::Jaccard(0.3);
        let whole = Prefixes::of(&lists, criterion, &mut |_| Ok(())).unwrap();
        let elements = whole.entries.len() as u64;
        assert!(band_bits(elements) > 0, "{elements}");
        let finder = PrefixFinder::new(criterion, false, 9_000 * 20).unwrap();
        lists.0.iter().for_each(|list| finder.count(list));
        let filter = PairFilter::new(criterion, false).unwrap();
        let half_buckets = |half: u32| {
            let mut part = Prefixes::for_part(filter, 9_000, elements);
            for position in (half..9_000).step_by(2) {
                let prefix = finder
                    .find(lists.get(position), &mut PrefixScratch::default())
                    .unwrap();
                part.push(position, &prefix.unwrap());
            }
            part.into_buckets().unwrap()
        };
        let bands = |buckets: &Buckets| -> Vec<BTreeSet<Vec<u32>>> {
            let position = |index: &u32| buckets.positions()[*index as usize];
            let position_sets = |band| {
                buckets
                    .of_band(band)
                    .map(|bucket| bucket.iter().map(position).collect())
            };
            (0..buckets.bands())
                .map(|band| position_sets(band).collect())
                .collect()
        };
        let whole = bands(&whole.into_buckets().unwrap());
        let halves = [0, 1].map(|half| bands(&half_buckets(half)));
        let all: BTreeSet<_> = halves.iter().flatten().flatten().collect();
        assert!(all == whole.iter().flatten().collect());
        // No band of a half spans two of the whole.
        for band in halves.iter().flatten() {
            assert!(whole.iter().any(|set| band.is_subset(set)));
        }
    }

    #[test]
    fn sets_without_shared_rare_elements_take_no_bucket() {
        let lists = Lists((0..100).map(|i| (i * 50..i * 50 + 60).collect()).collect());
        assert!(lists.buckets(0.8).positions().is_empty());
        assert_eq!(lists.buckets(0.05).positions().len(), 100);
    }

    #[test]
    fn a_place_beyond_32_bits_is_an_error() {
        let most = u32::MAX as usize;
        assert_eq!(place(most).unwrap(), u32::MAX);
        let error = place(most + 1).unwrap_err();
        assert!(matches!(error, Error::TooManyShingles { .. }), "{error}");
    }
}
