//! An exact join on disk: finds the prefixes of sets, and edges the sets that may be similar.
//!
//! Two documents are connected if they share an element of their prefixes and pass the filters of sizes, parities and places.
//! Those are the pairs that a join compares, so that each component of connected documents is a join of its own. The
//! filters leave few pairs that are not similar: hardly more documents are connected than are similar to others.
//!
//! All documents that share a rare shingle would be one component. The filters leave 1.2 to 1.7 comparisons for each
//! similar pair of four corpora of texts at 0.8. Sets are written once, and read twice: to count shingles, and to find
//! prefixes, which are sorted by shingle. In each part, the join is that in memory, with the same order of shingles
//! and the same bands, so that connected components are found in the same order. The counters take 1.5 bytes for each
//! shingle, 1 GiB at most, beside the budget. What decides between join and LSH, the bytes of the shingles of all
//! documents, repeated ones included, and the number of equal shingles, is known on disk, too, so that the choice does
//! not depend on memory.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};

use super::documents::{SpilledSets, number_of, sets_of, words_of};
use super::edges::{Compared, Edges, panicked, push_all, stop_if_asked};
use crate::error::Result;
use crate::pipeline::{
    Element, PairFilter, PlacedElement, Prefix, PrefixFinder, PrefixScratch, Prefixes, SetSummary,
    SmallSizes, compared_among,
};
use crate::progress::{Progress, advance};
use crate::search::candidates::{JoinCost, tell_of_lsh};
use crate::search::context::Context;
use crate::search::parameters::{CandidateMethod, Search};
use crate::store::spill::{Partitions, Sorted, Spill, Stored, StreamFile, Streams};
use crate::threads::{Ahead, map_in_order};

/// A join on disk whose documents are connected.
#[derive(Debug)]
pub(super) struct Joined {
    pub(super) filter: PairFilter,
    /// The number of elements of all prefixes.
    pub(super) elements: u64,
    /// At least the number of candidate pairs.
    pub(super) most_pairs: u64,
    /// The prefixes of sets, by row: records of [`push_prefix`].
    pub(super) prefixes: StreamFile,
}

/// Groups of elements, by the first bits of their hashes. A checkpoint may follow each.
const GROUPS: usize = 16;

/// Bits of the number of a group.
const GROUP_BITS: u32 = GROUPS.trailing_zeros();

/// Parts of the elements of a group.
const PARTS: usize = 16;

/// Words of an element with its set: the rest of its hash and its class, the row, the place, and the summary of the
/// set.
type ElementRecord = [u32; 10];

/// The name of the join, for checkpoints.
const JOIN: &str = "join";

/// The join at a checkpoint.
#[derive(Debug, Default, Serialize, Deserialize)]
struct JoinState {
    /// The number of blocks of sets whose prefixes are found.
    blocks: u64,
    /// Whether all are.
    has_prefixes: bool,
    /// The number of words of all sets.
    words: u64,
    /// The number of these sets.
    sets: u64,
    /// The number of elements of their prefixes.
    elements: u64,
    /// Sets that may be similar to others by their sizes alone.
    small: SmallSizes,
    /// The row of the first of them.
    first_small: Option<u32>,
    /// The number of groups of elements whose sets are connected.
    groups: usize,
    /// The pairs of equal elements of these groups.
    shared_elements: u64,
    /// Whether the run takes LSH.
    is_rejected: bool,
}

impl JoinState {
    /// What the join costs, as far as it is known.
    fn cost(&self) -> JoinCost {
        JoinCost {
            words: self.words,
            prefix_bytes: Prefixes::bytes_of(self.elements, self.sets),
            shared_elements: self.shared_elements,
        }
    }

    /// Why LSH costs less, as far as that is known; `None` if it does not, or if the search does not leave the choice.
    fn reason_for_lsh(&self, search: &Search) -> Option<String> {
        let is_auto = search.candidates == CandidateMethod::Auto;
        let reason = self.cost().reason_for_lsh(search);
        reason.filter(|_| is_auto)
    }
}

/// What a join on disk works with.
struct DiskJoin<'a> {
    sets: &'a SpilledSets,
    /// Which documents are compared.
    compared: Compared<'a>,
    search: &'a Search,
    filter: PairFilter,
    spill: &'a Arc<Spill>,
    progress: &'a dyn Progress,
    edges: Edges,
    /// Connected pairs, from which a run that goes on makes its edges.
    pairs: Mutex<Streams>,
}

impl Joined {
    /// Connects the documents that the join of `sets` compares, but for those that are `later` than a document that they
    /// repeat; `None` if LSH costs less, and the search leaves the choice.
    pub(super) fn find(
        sets: &SpilledSets,
        compared: Compared<'_>,
        weighted: bool,
        spill: &Arc<Spill>,
        rows: u32,
        context: &mut Context<'_>,
    ) -> Result<Option<(Edges, Joined)>> {
        let (search, progress) = (context.search, context.progress);
        let timings = &mut *context.timings;
        let mut state: JoinState = spill.state(JOIN).unwrap_or_default();
        if state.is_rejected {
            return Ok(None);
        }
        let join = DiskJoin {
            sets,
            compared,
            search,
            filter: PairFilter::new(search.criterion(), weighted)?,
            spill,
            progress,
            edges: Edges::none(rows),
            pairs: Mutex::new(Streams::new(spill, "connected", 1, FILES)),
        };
        join.restore_edges()?;
        let (prefixes, elements) = timings.time("join", 0, || join.find_prefixes(&mut state))?;
        timings.add_disk_use(spill.take_use(GROUPS * PARTS));
        let mut reason = state.reason_for_lsh(search);
        if reason.is_none() {
            timings.time("bucket", 0, || join.connect_groups(elements, &mut state))?;
            timings.add_disk_use(spill.take_use(GROUPS * PARTS));
            reason = state.reason_for_lsh(search);
        }
        if let Some(reason) = reason {
            tell_of_lsh(progress, &reason);
            state.is_rejected = true;
            spill.note(JOIN, &state)?;
            return Ok(None);
        }
        progress.tell("candidates: exact join");
        join.finish(&state, prefixes).map(Some)
    }
}

/// Files that are written at the same time.
const FILES: usize = GROUPS * PARTS + 2;

impl DiskJoin<'_> {
    /// Connects the pairs that a stopped run has connected.
    fn restore_edges(&self) -> Result<()> {
        let pairs = self.pairs.lock().map_err(|_| panicked())?;
        pairs.for_each_block(0, |block| {
            for pair in block.records(Stored::words) {
                let [a, b] = pair?;
                self.edges.unite(a, b);
            }
            Ok(())
        })
    }

    /// Connects two documents, for runs that go on, too.
    fn connect(&self, a: u32, b: u32) -> Result<()> {
        self.edges.unite(a, b);
        push_all(&self.pairs, |pairs| {
            pairs.push(0, bytemuck::cast_slice(&[a, b]))
        })
    }

    /// Finds the prefixes of all sets, and distributes their elements.
    fn find_prefixes(&self, state: &mut JoinState) -> Result<(StreamFile, Vec<Sorted<10>>)> {
        let mut prefixes = Streams::new(self.spill, "prefixes", 1, FILES);
        let group = |group| {
            let name = format!("elements-{group}");
            Partitions::new(self.spill, &name, PARTS, 1 << 32, FILES)
        };
        let mut elements: Vec<Partitions<10>> = (0..GROUPS).map(group).collect();
        if !state.has_prefixes {
            state.words = self.sets.words(self.compared.later)?;
            let criterion = self.search.criterion();
            let finder = PrefixFinder::new(criterion, self.filter.weighted, state.words)?;
            let bytes = self.sets.sets.bytes();
            self.progress.begin("join", 2 * bytes);
            let mut done = self.count_elements(&finder)?;
            let (mut block_number, before) = (0, state.blocks);
            self.for_each_block(
                |block| {
                    let (mut scratch, mut found) = (PrefixScratch::default(), Vec::new());
                    self.for_each_distinct(block, |row, set| {
                        let prefix = finder.find(set, &mut scratch)?;
                        found.extend(prefix.map(|prefix| (row, prefix)));
                        Ok(())
                    })?;
                    Ok((block.len() as u64, found))
                },
                |(bytes, found)| {
                    done += bytes;
                    block_number += 1;
                    if block_number <= before {
                        return advance(self.progress, done, 0, 0);
                    }
                    for (row, prefix) in found {
                        self.add(row, &prefix, &mut prefixes, &mut elements, state)?;
                    }
                    state.blocks = block_number;
                    if self.spill.is_due() {
                        prefixes.flush()?;
                        elements.iter_mut().try_for_each(Partitions::flush)?;
                        push_all(&self.pairs, Streams::flush)?;
                        self.spill.checkpoint(JOIN, state)?;
                    }
                    advance(self.progress, done, 0, 0)
                },
            )?;
            state.has_prefixes = true;
        }
        push_all(&self.pairs, Streams::flush)?;
        let prefixes = prefixes.finish_one()?;
        let elements = elements
            .into_iter()
            .map(Partitions::finish)
            .collect::<Result<_>>()?;
        self.spill.note(JOIN, state)?;
        Ok((prefixes, elements))
    }

    /// Counts in how many sets each element is. Returns the bytes of all sets.
    fn count_elements(&self, finder: &PrefixFinder) -> Result<u64> {
        let mut done = 0;
        self.for_each_block(
            |block| {
                self.for_each_distinct(block, |_, set| {
                    finder.count(set);
                    Ok(())
                })?;
                Ok(block.len() as u64)
            },
            |bytes| {
                done += bytes;
                advance(self.progress, done, 0, 0)
            },
        )?;
        Ok(done)
    }

    /// Adds the prefix of the next set.
    fn add(
        &self,
        row: u32,
        prefix: &Prefix,
        prefixes: &mut Streams,
        elements: &mut [Partitions<10>],
        state: &mut JoinState,
    ) -> Result<()> {
        state.sets += 1;
        state.elements += prefix.elements.len() as u64;
        prefixes.push_with(0, |record| push_prefix(record, row, prefix))?;
        for (element, place) in &prefix.elements {
            let bits = element.hash_first();
            let group = &mut elements[(bits >> (u64::BITS - GROUP_BITS)) as usize];
            let [low, high] = words_of(bits << GROUP_BITS);
            let [a, b, c, d, e, f] = prefix.summary.to_words();
            group.push(&[high, low, row, *place, a, b, c, d, e, f])?;
        }
        // Any two of them may be similar.
        if state.small.add(self.filter.criterion, prefix.summary.len) {
            let first = *state.first_small.get_or_insert(row);
            if first != row {
                self.connect(first, row)?;
            }
        }
        Ok(())
    }

    /// The edges, and what the parts need of the join.
    fn finish(self, state: &JoinState, prefixes: StreamFile) -> Result<(Edges, Joined)> {
        let pairs = self.pairs.into_inner().map_err(|_| panicked())?;
        pairs.finish_one()?.keep();
        let small_pairs = state.small.pairs(self.filter.criterion);
        let joined = Joined {
            filter: self.filter,
            elements: state.elements,
            most_pairs: state.shared_elements.saturating_add(small_pairs),
            prefixes,
        };
        Ok((self.edges, joined))
    }

    /// Connects the sets that share elements, group by group, unless LSH costs less.
    fn connect_groups(&self, groups: Vec<Sorted<10>>, state: &mut JoinState) -> Result<()> {
        let parts = (GROUPS * PARTS) as u64;
        self.progress.begin("bucket", parts);
        let shared_elements = AtomicU64::new(state.shared_elements);
        for (number, group) in groups.into_iter().enumerate().skip(state.groups) {
            let rejects = state.reason_for_lsh(self.search).is_some();
            let each = |elements: &[ElementRecord]| {
                stop_if_asked(self.progress)?;
                for sets in elements.chunk_by(|a, b| a[..2] == b[..2]) {
                    let sets: Vec<Sharer> = sets.iter().map(Sharer::of).collect();
                    let sharers = sets.iter().map(|set| (&set.summary, set.place));
                    if !self.filter.leads_to_pairs(sharers) {
                        continue;
                    }
                    let rows = sets.iter().map(|set| set.row);
                    let pairs = compared_among(rows, self.compared.reference);
                    shared_elements.fetch_add(pairs, Ordering::Relaxed);
                    if pairs > 0 && !rejects {
                        self.connect_sets(sets)?;
                    }
                }
                Ok(())
            };
            let before = (number * PARTS) as u64;
            group.map(&each, &mut |done| {
                advance(self.progress, before + done, 0, 0)
            })?;
            push_all(&self.pairs, Streams::flush)?;
            state.groups = number + 1;
            state.shared_elements = shared_elements.load(Ordering::Relaxed);
            if self.spill.is_due() {
                self.spill.checkpoint(JOIN, state)?
            } else {
                self.spill.note(JOIN, state)?
            }
        }
        Ok(())
    }

    /// Connects the sets that share an element and may be similar, breadth first: each set reached is compared with those
    /// that are not.
    fn connect_sets(&self, mut rest: Vec<Sharer>) -> Result<()> {
        // The sets come by row. Once those of the input are reached, nothing is left to compare.
        while let Some(first) = rest.pop()
            && self.is_input(&first)
        {
            let mut reached = vec![first];
            while let Some(set) = reached.pop()
                && !rest.is_empty()
            {
                stop_if_asked(self.progress)?;
                let others = rest.extract_if(.., |other| {
                    self.edges.connects(set.row, other.row)
                        || self.compares(&set, other) && set.may_be_similar(other, &self.filter)
                });
                for other in others {
                    if !self.edges.connects(set.row, other.row) {
                        self.connect(set.row, other.row)?;
                    }
                    reached.push(other);
                }
            }
        }
        Ok(())
    }

    fn is_input(&self, set: &Sharer) -> bool {
        let reference = self.compared.reference;
        reference.is_none_or(|reference| reference.is_repeated() || reference.is_input(set.row))
    }

    /// Whether the search compares two documents.
    fn compares(&self, a: &Sharer, b: &Sharer) -> bool {
        let reference = self.compared.reference;
        reference.is_none_or(|reference| reference.compares(a.row, b.row))
    }

    /// Calls `each` with the sets of a block that do not repeat earlier ones, by row.
    fn for_each_distinct(
        &self,
        block: Stored<'_>,
        mut each: impl FnMut(u32, &[u64]) -> Result<()>,
    ) -> Result<()> {
        let mut set: Vec<u64> = Vec::new();
        for record in sets_of(block) {
            let (row, bytes, _) = record?;
            if !self.compared.later.get(row) {
                set.resize(bytes.len() / size_of::<u64>(), 0);
                bytemuck::cast_slice_mut(&mut set).copy_from_slice(bytes);
                each(row, &set)?;
            }
        }
        Ok(())
    }

    /// Calls `work` with the blocks of all sets, on all threads, and `each` with the results, in order.
    fn for_each_block<T: Send>(
        &self,
        work: impl Fn(Stored<'_>) -> Result<T> + Sync,
        mut each: impl FnMut(T) -> Result<()>,
    ) -> Result<()> {
        let ahead = Ahead {
            waiting: rayon::current_num_threads(),
            weigh: |_| 1,
            inputs: 1,
        };
        map_in_order(
            1,
            ahead,
            |_| self.sets.sets.each_block(),
            |block| work(self.sets.sets.stored(&block?)),
            |result| {
                stop_if_asked(self.progress)?;
                result.map_or(Ok(()), &mut each)
            },
        )
    }
}

/// A set that shares an element.
struct Sharer {
    row: u32,
    place: u32,
    summary: SetSummary,
}

impl Sharer {
    fn of(record: &ElementRecord) -> Self {
        let [_, _, row, place, a, b, c, d, e, f] = *record;
        Sharer {
            row,
            place,
            summary: SetSummary::from_words([a, b, c, d, e, f]),
        }
    }

    /// The shared element.
    fn placed(&self) -> PlacedElement<'_> {
        PlacedElement {
            set: &self.summary,
            place: self.place,
        }
    }

    fn may_be_similar(&self, other: &Self, filter: &PairFilter) -> bool {
        filter.may_be_similar(&self.summary, &other.summary)
            && filter.passes(self.placed(), other.placed())
    }
}

/// Words of a prefix, before its elements: the row, the summary of the set, and the number of elements in two words.
const PREFIX: usize = 9;

/// Appends the prefix of a set, whose elements take three words each: their bits, and the place.
fn push_prefix(record: &mut Vec<u8>, row: u32, prefix: &Prefix) {
    let [a, b, c, d, e, f] = prefix.summary.to_words();
    let [low, high] = words_of(prefix.elements.len() as u64);
    let words: [u32; PREFIX] = [row, a, b, c, d, e, f, low, high];
    record.extend_from_slice(bytemuck::cast_slice(&words));
    for (element, place) in &prefix.elements {
        let [low, high] = words_of(element.hash_first());
        record.extend_from_slice(bytemuck::cast_slice(&[low, high, *place]));
    }
}

/// The prefixes of a block, each with its row, and the bytes of the whole record.
pub(super) fn prefixes_of(block: Stored<'_>) -> impl Iterator<Item = Result<(u32, Prefix, &[u8])>> {
    block.records(|rest| {
        let record = *rest;
        let [row, a, b, c, d, e, f, low, high]: [u32; PREFIX] = rest.words()?;
        let elements = (0..number_of([low, high])).map(|_| {
            let [low, high, place] = rest.words()?;
            Ok((Element::from_hash_first(number_of([low, high])), place))
        });
        let prefix = Prefix {
            summary: SetSummary::from_words([a, b, c, d, e, f]),
            elements: elements.collect::<Result<_>>()?,
        };
        Ok((row, prefix, record.until(rest)))
    })
}
