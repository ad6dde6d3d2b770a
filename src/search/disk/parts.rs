//! Parts of the documents that fit in memory.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::components::{BucketLinks, Linked, Members};
use super::documents::{number_of, push_set, sets_of};
use super::join::prefixes_of;
use super::links::Links;
use crate::engine::Engine;
use crate::error::Result;
use crate::pipeline::{Member, SharedComponents, Unit};
use crate::progress::{Progress, Timings, advance, grouped};
use crate::scheme::fmix64;
use crate::search::candidates::Candidates;
use crate::search::corpus::Corpus;
use crate::search::observations::{Observations, OpenGroups};
use crate::search::parameters::Search;
use crate::search::part::{BucketsOf, PartRecords, PartShape};
use crate::search::source::{Classify, NextId, NextPreference, SetsByRow, Source};
use crate::search::verification::Verification;
use crate::store::spill::{Sorted, Spill, StreamFile, Streams, words_at};
use crate::store::{Bits, Texts};

/// The documents that share a bucket or repeat others, in parts: each component is in one part as a whole.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(super) shape: PartShape,
    /// At least the number of candidate pairs of all parts; `None` for those of LSH.
    most_pairs: Option<u64>,
    components: SharedComponents,
    has_ids: bool,
    classes: Option<Box<dyn Classify>>,
    /// The documents of each part, by ascending row: `[row, first, length, rank of source, bytes of value, bytes of
    /// id]`, the value of the field that classifies documents, and the id.
    documents: Vec<StreamFile>,
    /// The members of their buckets, `[row, band, key, key]`, or for a join the prefixes of their sets.
    members: Vec<StreamFile>,
    /// What compares them: each row, and the words of its signature, or their number and the words of its exact set.
    compared: Vec<StreamFile>,
    /// Bytes of memory for one part.
    pub(super) most_bytes: usize,
    pub(super) observed: Observations,
}

/// Words of a record of a document, before its id.
const DOCUMENT: usize = 6;

/// Parts at least, so that all threads have work.
const LEAST_PARTS: usize = 8;

/// Parts at most: each has three files.
const MOST_PARTS: usize = 1024;

/// A part of the documents, in memory. Its documents are numbered by ascending row, from 0.
pub(crate) struct Part {
    pub(crate) documents: PartDocuments,
    /// The classes of documents in the order of preference; `None` if all are of one class.
    pub(crate) classes: Option<Vec<u64>>,
    /// The candidates, where a document's row is its number. A large component has no buckets here.
    pub(crate) candidates: Candidates,
    /// The component, if it is one that memory does not hold.
    pub(crate) large: Option<LargeComponent>,
}

/// What is known of the documents of a part, beside the documents themselves.
#[derive(Clone, Copy, Debug)]
pub(super) enum Known {
    /// The members of buckets, or the prefixes of sets.
    Members,
    /// What compares documents. There is nothing without verification.
    Compared,
}

/// A component whose buckets, signatures and sets memory does not hold.
#[derive(Debug)]
pub(crate) struct LargeComponent {
    /// The number of its part.
    pub(super) part: usize,
    /// The row of each of its distinct documents, ascending.
    pub(super) rows: Vec<u32>,
}

/// A step of the work on all parts.
pub(crate) enum Step<T> {
    /// The result of a part, or of some of its components.
    Result(T),
    /// The work on the first parts is complete, and none has begun on another.
    Done {
        /// Their number.
        parts: usize,
    },
}

/// The name of the distribution of documents to parts, for checkpoints.
const DISTRIBUTE: &str = "distribute";

/// What is distributed at a checkpoint.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Distributed {
    /// The number of parts.
    parts: usize,
    /// Whether what compares documents is distributed, too.
    is_complete: bool,
}

/// The documents of a part.
pub(crate) struct PartDocuments {
    rows: Vec<u32>,
    /// `None` if documents have no ids of their own.
    ids: Option<Texts>,
}

impl PartDocuments {
    /// The row of a document among all documents.
    pub(crate) fn row(&self, number: u32) -> u32 {
        self.rows[number as usize]
    }

    /// Whether documents have ids of their own.
    pub(crate) fn has_ids(&self) -> bool {
        self.ids.is_some()
    }

    /// The id of a document, as JSON; empty if documents have no ids of their own.
    pub(crate) fn id(&self, number: u32) -> &str {
        self.ids.as_ref().map_or("", |ids| ids.get(number as usize))
    }
}

impl Parts {
    /// Distributes the documents of `linked`.
    pub(crate) fn of(
        linked: Linked,
        search: Search,
        corpus: &Corpus,
        source: &dyn Source,
        engine: &Engine,
        progress: &dyn Progress,
        timings: &mut Timings,
    ) -> Result<Self> {
        let spill = &linked.spill;
        let most_bytes = spill.memory() / 2 / rayon::current_num_threads();
        let before: Option<Distributed> = spill.state(DISTRIBUTE);
        let mut done = before.unwrap_or_else(|| Distributed {
            parts: number_of_parts(&linked, &search, corpus, engine, most_bytes),
            is_complete: false,
        });
        let distribution = Distribution {
            spill,
            links: &linked.links,
            count: done.parts,
            documents: corpus.documents(),
            progress,
        };
        let ids = source.ids()?;
        let has_ids = ids.is_some();
        let (classes, preferences) = source.classes_on_disk().unzip();
        let (documents, members) = timings.time("distribute", 0, || {
            if before.is_some() {
                return distribution.restored(&linked.members);
            }
            let repeats = (linked.repeats, &linked.repeated);
            let documents = distribution.documents(&linked.lengths, repeats, ids, preferences)?;
            Ok((documents, distribution.members(&linked.members)?))
        })?;
        timings.add_disk_use(spill.take_use(done.parts));
        spill.note(DISTRIBUTE, &done)?;
        let (buckets, most_pairs) = match linked.members {
            Members::OfBands { bands, .. } => (BucketsOf::Bands(bands), None),
            Members::OfPrefixes(joined) => {
                let (filter, elements) = (joined.filter, joined.elements);
                let buckets = BucketsOf::Prefixes { filter, elements };
                (buckets, Some(joined.most_pairs))
            }
        };
        let shape = PartShape {
            search,
            num_perm: engine.signer().num_perm(),
            are_weighted: engine.shingler().takes_weights(),
            buckets,
        };
        let held = match (shape.search.verification, &linked.signatures, &linked.sets) {
            (Verification::None, ..) => Held::Nothing,
            _ if done.is_complete => Held::Distributed,
            (Verification::Signature, signatures, _) => Held::Signatures(signatures.as_ref()),
            (Verification::Exact, _, Some(sets)) => Held::Sets(sets),
            (Verification::Exact, _, None) => Held::Documents {
                source,
                engine,
                // A run that goes on may read less.
                bytes: if spill.resumed() > 0 { 0 } else { corpus.bytes },
            },
        };
        let compared = distribution.compared(held, shape.num_perm, timings)?;
        if shape.search.verification != Verification::None {
            timings.add_disk_use(spill.take_use(done.parts));
        }
        done.is_complete = true;
        spill.note(DISTRIBUTE, &done)?;
        Ok(Parts {
            observed: Observations::none(shape.num_perm),
            shape,
            most_pairs,
            components: linked.links.components,
            has_ids,
            classes,
            documents,
            members,
            compared,
            most_bytes,
        })
    }

    /// The number of parts.
    pub(crate) fn count(&self) -> usize {
        self.documents.len()
    }

    /// The search of every part.
    pub(crate) fn search(&self) -> &Search {
        &self.shape.search
    }

    /// At least the number of candidate pairs; `None` for those of LSH.
    pub(crate) fn most_pairs(&self) -> Option<u64> {
        self.most_pairs
    }

    /// Adds the estimates of candidates that a stopped run has compared.
    pub(crate) fn restore_observed(&self, by_matches: &[u64]) {
        self.observed.add(by_matches);
    }

    /// The estimates of all candidates compared so far; `None` without estimates.
    pub(crate) fn observed(&self) -> Option<&Observations> {
        (self.shape.search.verification == Verification::Signature).then_some(&self.observed)
    }

    /// Calls `work` with every part but the first `before`, on several threads, and `each` with its results, in order.
    /// Components that memory does not hold are [`Part::large`] if `divides`; otherwise they are loaded nevertheless.
    /// Progress shows the stage `compare`.
    pub(crate) fn for_each<T: Send>(
        &self,
        before: usize,
        divides: bool,
        progress: &dyn Progress,
        work: impl Fn(Part) -> Result<T> + Sync,
        mut each: impl FnMut(Step<T>) -> Result<()>,
    ) -> Result<()> {
        let mut goes = Vec::new();
        for part in before..self.documents.len() {
            goes.extend(self.goes(part, divides, progress)?);
        }
        progress.begin("compare", goes.len() as u64);
        let mut done = 0;
        let mut left = goes.as_slice();
        while !left.is_empty() {
            let (batch, rest) = left.split_at(left.len().min(rayon::current_num_threads()));
            left = rest;
            let results = batch
                .par_iter()
                .map(|go| work(self.load(go)?))
                .collect::<Result<Vec<T>>>()?;
            done += results.len() as u64;
            let mut results = results.into_iter().map(Step::Result);
            results.try_for_each(&mut each)?;
            let (last, next) = (batch.last(), left.first());
            let last = last.map_or(0, |go| go.part);
            if next.is_none_or(|next| next.part != last) {
                each(Step::Done { parts: last + 1 })?;
            }
            advance(progress, done, 0, 0)?;
        }
        Ok(())
    }

    /// Bytes of memory for a part, about.
    fn bytes(&self, part: usize) -> usize {
        let of_file = |known| {
            let bytes = self.file(known, part).map_or(0, StreamFile::bytes);
            self.memory_bytes(known, bytes)
        };
        let known = of_file(Known::Members) + of_file(Known::Compared);
        let bytes = 2 * self.documents[part].bytes() + known;
        usize::try_from(bytes).unwrap_or(usize::MAX)
    }

    /// Divides a part of too many bytes into goes, each of which takes some of its components.
    fn goes(&self, part: usize, divides: bool, progress: &dyn Progress) -> Result<Vec<Go>> {
        let go = |roots, is_large| Go {
            part,
            roots,
            is_large,
        };
        let bytes = self.bytes(part);
        if bytes <= self.most_bytes {
            return Ok(vec![go(None, false)]);
        }
        let mut sizes: BTreeMap<u32, usize> = BTreeMap::new();
        self.documents[part].for_each_block(|block| {
            for (words, ..) in documents_of(block) {
                *sizes.entry(self.components.root(words[1])).or_default() += 1;
            }
            Ok(())
        })?;
        let documents: usize = sizes.values().sum();
        let most = self.most_bytes / (bytes / documents.max(1)).max(1);
        let mut goes = Vec::new();
        let (mut roots, mut in_go) = (HashSet::new(), 0);
        for (root, size) in sizes {
            if size > 2 * most.max(1) && divides {
                goes.push(go(Some(HashSet::from([root])), true));
                continue;
            }
            if in_go > 0 && in_go + size > most {
                goes.push(go(Some(std::mem::take(&mut roots)), false));
                in_go = 0;
            }
            if size > 2 * most.max(1) {
                progress.warn(&format!(
                    "{} documents that buckets link take more memory than `memory` allows one of its threads; raise `memory`, or `rows`",
                    grouped(size as u64)
                ));
            }
            roots.insert(root);
            in_go += size;
        }
        goes.push(go(Some(roots), false));
        Ok(goes)
    }

    /// Loads the documents of one go.
    fn load(&self, go: &Go) -> Result<Part> {
        let part = go.part;
        let is_here = |row: u32| {
            let roots = go.roots.as_ref();
            roots.is_none_or(|roots| roots.contains(&self.components.root(row)))
        };
        let Documents {
            corpus,
            documents,
            distinct_rows,
            classes,
        } = self.documents_of_part(part, &is_here)?;
        let position_of = |row: u32| {
            is_here(row)
                .then(|| place_of(row, &distinct_rows))
                .flatten()
        };
        let mut records = PartRecords::none(&self.shape);
        // Those of a large component are read in blocks instead.
        let known = [Known::Members, Known::Compared];
        for known in known.into_iter().filter(|_| !go.is_large) {
            if let Some(file) = self.file(known, part) {
                file.for_each_block(|block| {
                    self.add_records(known, block, &position_of, &mut records)
                })?;
            }
        }
        let held = if go.is_large { 0 } else { distinct_rows.len() };
        let (buckets, similarity) = records.finish(held, &self.shape, &self.observed)?;
        Ok(Part {
            documents,
            classes,
            candidates: Candidates {
                search: self.shape.search.clone(),
                corpus,
                buckets,
                similarity,
                most_pairs: None,
                observed: None,
            },
            large: go.is_large.then_some(LargeComponent {
                part,
                rows: distinct_rows,
            }),
        })
    }

    /// The documents of a part whose first equal document `is_here`.
    fn documents_of_part(&self, part: usize, is_here: &dyn Fn(u32) -> bool) -> Result<Documents> {
        let mut corpus = Corpus::default();
        let (mut rows, mut ids) = (Vec::new(), Texts::default());
        let (mut distinct_rows, mut firsts) = (Vec::new(), Vec::new());
        let (mut sources, mut values) = (Vec::new(), Texts::default());
        self.documents[part].for_each_block(|block| {
            for ([row, first, length, source, ..], value, id) in documents_of(block) {
                if !is_here(first) {
                    continue;
                }
                if first == row {
                    corpus.distinct.push(corpus.rows);
                    distinct_rows.push(row);
                } else {
                    firsts.push((corpus.rows, first));
                }
                corpus.rows += 1;
                rows.push(row);
                corpus.lengths.push(length);
                if self.classes.is_some() {
                    sources.push(source);
                    values.push(&value);
                }
                if self.has_ids {
                    ids.push(&id);
                }
            }
            Ok(())
        })?;
        let repeats = firsts.into_iter();
        corpus.repeats = repeats
            .filter_map(|(local, first)| Some((local, place_of(first, &distinct_rows)?)))
            .collect();
        let classes = self.classes.as_ref();
        Ok(Documents {
            corpus,
            documents: PartDocuments {
                rows,
                ids: self.has_ids.then_some(ids),
            },
            distinct_rows,
            classes: classes.map(|classes| classes.classes(&sources, values)),
        })
    }

    /// The file of a part; `None` if nothing of the kind is known.
    pub(super) fn file(&self, known: Known, part: usize) -> Option<&StreamFile> {
        match known {
            Known::Members => self.members.get(part),
            Known::Compared => self.compared.get(part),
        }
    }

    /// The records in a block of such a file, each with the row of its document.
    pub(super) fn records_in<'a>(
        &self,
        known: Known,
        block: &'a [u8],
    ) -> Box<dyn Iterator<Item = (u32, &'a [u8])> + 'a> {
        let of_length = |bytes| {
            let records = block.chunks_exact(bytes);
            Box::new(records.map(|record| (row_of(record), record)))
        };
        match (known, self.shape.buckets, self.shape.search.verification) {
            (Known::Members, BucketsOf::Bands(_), _) => of_length(size_of::<[u32; 4]>()),
            (Known::Members, BucketsOf::Prefixes { .. }, _) => {
                Box::new(prefixes_of(block).map(|(row, _, record)| (row, record)))
            }
            (Known::Compared, _, Verification::Exact) => {
                Box::new(sets_of(block).map(|(row, _, record)| (row, record)))
            }
            (Known::Compared, _, Verification::None | Verification::Signature) => {
                of_length(bytes_of_signature(self.shape.num_perm))
            }
        }
    }

    /// Bytes of memory for so many bytes of records, about.
    pub(super) fn memory_bytes(&self, known: Known, bytes: u64) -> u64 {
        match (known, self.shape.buckets) {
            (Known::Compared, _) => bytes,
            (Known::Members, BucketsOf::Bands(_)) => bytes * IN_MEMORY_PER_MEMBER / 16,
            (Known::Members, BucketsOf::Prefixes { .. }) => bytes * IN_MEMORY_PER_ELEMENT / 12,
        }
    }

    /// Adds what a block of such a file knows of the documents whose position `position_of` knows by their row.
    pub(super) fn add_records(
        &self,
        known: Known,
        block: &[u8],
        position_of: &dyn Fn(u32) -> Option<u32>,
        records: &mut PartRecords,
    ) -> Result<()> {
        match (known, self.shape.buckets) {
            (Known::Members, BucketsOf::Bands(_)) => {
                for member in block.chunks_exact(size_of::<[u32; 4]>()) {
                    let [row, band, high, low] = words_at(member).unwrap_or_default();
                    if let Some(position) = position_of(row) {
                        let key = number_of([low, high]);
                        records.add_member(Member {
                            band,
                            key,
                            position,
                        });
                    }
                }
            }
            (Known::Members, BucketsOf::Prefixes { .. }) => {
                for (row, prefix, _) in prefixes_of(block) {
                    if let Some(position) = position_of(row) {
                        records.add_prefix(position, &prefix);
                    }
                }
            }
            (Known::Compared, _) => {
                // Before the words are the row and, for a set, their number.
                let before = match self.shape.search.verification {
                    Verification::Exact => size_of::<[u32; 3]>(),
                    Verification::None | Verification::Signature => size_of::<u32>(),
                };
                let mut words: Vec<u64> = Vec::new();
                for (row, record) in self.records_in(known, block) {
                    if let Some(position) = position_of(row) {
                        let bytes = &record[before..];
                        words.resize(bytes.len() / size_of::<u64>(), 0);
                        bytemuck::cast_slice_mut(&mut words).copy_from_slice(bytes);
                        records.add_compared(position, &words)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The groups of the documents of a component that is compared in blocks.
    pub(super) fn open_groups(&self, documents: usize) -> Arc<OpenGroups> {
        OpenGroups::new(documents, &self.observed)
    }
}

/// What distributes documents to parts.
struct Distribution<'a> {
    spill: &'a Arc<Spill>,
    links: &'a Links,
    /// The number of parts.
    count: usize,
    /// The number of documents.
    documents: u64,
    progress: &'a dyn Progress,
}

/// What compares documents, before it is distributed.
enum Held<'a> {
    Nothing,
    /// A stopped run has distributed it.
    Distributed,
    Signatures(Option<&'a StreamFile>),
    Sets(&'a StreamFile),
    /// The documents, from which sets are made.
    Documents {
        source: &'a dyn Source,
        engine: &'a Engine,
        /// Bytes of input to read.
        bytes: u64,
    },
}

impl Distribution<'_> {
    fn streams(&self, name: &str) -> Streams {
        Streams::new(self.spill, name, self.count, self.count)
    }

    /// The part of a document that does not repeat another.
    fn part_of(&self, row: u32) -> usize {
        hashed(self.links.components.root(row), self.count)
    }

    /// The documents and members that a stopped run has distributed. Links the members.
    fn restored(&self, members: &Members) -> Result<(Vec<StreamFile>, Vec<StreamFile>)> {
        let (documents, distributed) = (self.streams("documents"), self.streams("members-of"));
        if let Members::OfBands { .. } = members {
            for part in 0..self.count {
                let mut link = BucketLinks::of(self.links);
                distributed.for_each_block(part, |block| link.add(block))?;
            }
        }
        Ok((documents.finish()?, distributed.finish()?))
    }

    /// Distributes the documents that others are linked to, those that repeat others, and the repeated ones. `repeats`
    /// come with the rows that they repeat.
    fn documents(
        &self,
        lengths: &StreamFile,
        (repeats, repeated): (Sorted<2>, &Bits),
        mut ids: Option<NextId<'_>>,
        mut preferences: Option<NextPreference<'_>>,
    ) -> Result<Vec<StreamFile>> {
        let mut documents = self.streams("documents");
        let mut repeats = repeats.into_records().peekable();
        let mut row = 0;
        self.progress.begin("distribute", self.documents);
        lengths.for_each_block(|lengths| {
            for length in lengths.chunks_exact(size_of::<u32>()) {
                let id = ids.as_mut().map(|next| next()).transpose()?;
                let preference = preferences.as_mut().map(|next| next()).transpose()?;
                let is_repeat = |repeat: &Result<[u32; 2]>| {
                    repeat.as_ref().map_or(true, |repeat| repeat[0] == row)
                };
                let repeat = repeats.next_if(is_repeat).transpose()?;
                let first = repeat.map_or(row, |repeat| repeat[1]);
                if repeat.is_some() || repeated.get(row) || self.links.in_buckets.get(row) {
                    let (source, value) = preference.unwrap_or_default();
                    let id = id.as_deref().unwrap_or_default();
                    documents.push_with(self.part_of(first), |record| {
                        let [length] = words_at(length).unwrap_or_default();
                        push_document(record, [row, first, length, source], &value, id);
                    })?;
                }
                row += 1;
            }
            advance(self.progress, row.into(), 0, 0)
        })?;
        documents.finish()
    }

    /// Distributes what makes buckets.
    fn members(&self, all: &Members) -> Result<Vec<StreamFile>> {
        let mut members = self.streams("members-of");
        match all {
            Members::OfBands { members: all, .. } => all.for_each_block(|block| {
                for member in block.chunks_exact(size_of::<[u32; 4]>()) {
                    members.push(self.part_of(row_of(member)), member)?;
                }
                advance(self.progress, self.documents, 0, 0)
            })?,
            Members::OfPrefixes(joined) => joined.prefixes.for_each_block(|block| {
                let prefixes = prefixes_of(block).map(|(row, _, record)| (row, record));
                self.push_linked(prefixes, &mut members)
            })?,
        }
        members.finish()
    }

    /// Distributes what compares documents.
    fn compared(
        &self,
        held: Held<'_>,
        num_perm: usize,
        timings: &mut Timings,
    ) -> Result<Vec<StreamFile>> {
        let bytes = bytes_of_signature(num_perm);
        if let Held::Nothing = held {
            return Ok(Vec::new());
        }
        let mut compared = self.streams("compared");
        match held {
            Held::Nothing | Held::Distributed => {}
            Held::Signatures(signatures) => timings.time("distribute", 0, || {
                signatures.into_iter().try_for_each(|file| {
                    file.for_each_block(|block| {
                        let records = block.chunks_exact(bytes);
                        let records = records.map(|record| (row_of(record), record));
                        self.push_linked(records, &mut compared)
                    })
                })
            })?,
            Held::Sets(sets) => timings.time("distribute", 0, || {
                sets.for_each_block(|block| {
                    let sets = sets_of(block).map(|(row, _, record)| (row, record));
                    self.push_linked(sets, &mut compared)
                })
            })?,
            Held::Documents {
                source,
                engine,
                bytes,
            } => timings.time("read again", bytes, || {
                let mut sets = SetsOfParts {
                    streams: &mut compared,
                    distribution: self,
                };
                source.read_exact_sets(engine, &self.links.in_buckets, &mut sets)
            })?,
        }
        compared.finish()
    }

    /// Distributes the records of linked documents.
    fn push_linked<'a>(
        &self,
        records: impl Iterator<Item = (u32, &'a [u8])>,
        streams: &mut Streams,
    ) -> Result<()> {
        for (row, record) in records.filter(|(row, _)| self.links.in_buckets.get(*row)) {
            streams.push(self.part_of(row), record)?;
        }
        advance(self.progress, self.documents, 0, 0)
    }
}

/// Distributes exact sets to parts.
struct SetsOfParts<'a> {
    streams: &'a mut Streams,
    distribution: &'a Distribution<'a>,
}

impl SetsByRow for SetsOfParts<'_> {
    fn take(&mut self, row: u32, set: &[u64]) -> Result<()> {
        let part = self.distribution.part_of(row);
        self.streams
            .push_with(part, |record| push_set(record, row, set))
    }

    fn flush(&mut self) -> Result<()> {
        self.streams.flush()
    }
}

/// The documents of a part or of some of its components.
struct Documents {
    corpus: Corpus,
    documents: PartDocuments,
    /// The row of each distinct document, ascending.
    distinct_rows: Vec<u32>,
    classes: Option<Vec<u64>>,
}

/// The place of a row among others that ascend.
pub(super) fn place_of(row: u32, rows: &[u32]) -> Option<u32> {
    let place = rows.binary_search(&row).ok()?;
    u32::try_from(place).ok()
}

/// What is loaded at a time: a part, or some of its components.
struct Go {
    part: usize,
    /// The roots of the components; `None` for all.
    roots: Option<HashSet<u32>>,
    /// Whether this is one component that memory does not hold.
    is_large: bool,
}

/// Appends a document: its row, that of the first equal one, its length, the rank of its source, its value and its id.
fn push_document(record: &mut Vec<u8>, words: [u32; 4], value: &str, id: &str) {
    let len = |text: &str| u32::try_from(text.len()).unwrap_or(u32::MAX);
    record.extend_from_slice(bytemuck::cast_slice(&words));
    record.extend_from_slice(bytemuck::cast_slice(&[len(value), len(id)]));
    record.extend_from_slice(value.as_bytes());
    record.extend_from_slice(id.as_bytes());
}

/// The documents of a block: the words of each, its value and its id.
fn documents_of(
    block: &[u8],
) -> impl Iterator<Item = ([u32; DOCUMENT], Cow<'_, str>, Cow<'_, str>)> {
    let mut rest = block;
    std::iter::from_fn(move || {
        let words = words_at::<DOCUMENT>(rest)?;
        let (value, after) = rest[size_of_val(&words)..].split_at(words[DOCUMENT - 2] as usize);
        let (id, after) = after.split_at(words[DOCUMENT - 1] as usize);
        rest = after;
        let text = String::from_utf8_lossy;
        Some((words, text(value), text(id)))
    })
}

/// Bytes of memory per member of a bucket, while buckets are made.
const IN_MEMORY_PER_MEMBER: u64 = 40;

/// The same per element of a prefix.
const IN_MEMORY_PER_ELEMENT: u64 = 40;

/// The number of parts, each of which takes about half of `most_bytes`.
fn number_of_parts(
    linked: &Linked,
    search: &Search,
    corpus: &Corpus,
    engine: &Engine,
    most_bytes: usize,
) -> usize {
    let bytes = expected_bytes(linked, search, corpus, engine);
    let count = bytes.div_ceil(most_bytes.max(1) as u64).saturating_mul(2);
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    count.clamp(LEAST_PARTS, MOST_PARTS)
}

/// Bytes of memory for all parts, about.
fn expected_bytes(linked: &Linked, search: &Search, corpus: &Corpus, engine: &Engine) -> u64 {
    const PER_DOCUMENT: u64 = 100;
    let of_members = match &linked.members {
        Members::OfBands { members, .. } => members.bytes() * IN_MEMORY_PER_MEMBER / 16,
        Members::OfPrefixes(joined) => joined.prefixes.bytes() * IN_MEMORY_PER_ELEMENT / 12,
    };
    let documents = linked.links.in_buckets.count();
    let of_text = corpus.bytes / corpus.documents().max(1);
    let per_document = match search.verification {
        Verification::None => 0,
        Verification::Signature => 8 * packed_words(engine.signer().num_perm()) as u64,
        // A hash of 8 bytes for each word or byte.
        Verification::Exact => match engine.shingler().shingling().unit {
            Unit::Bytes | Unit::Chars => 8 * of_text,
            _ => 2 * of_text,
        },
    };
    of_members + documents * (per_document + PER_DOCUMENT) + linked.identical() * PER_DOCUMENT
}

/// Words of a packed signature.
fn packed_words(num_perm: usize) -> usize {
    Search::SLOT_BITS.words(num_perm)
}

/// Bytes of a record of a signature: its row and its words.
fn bytes_of_signature(num_perm: usize) -> usize {
    size_of::<u32>() + packed_words(num_perm) * size_of::<u64>()
}

/// A number below `count` for a component.
#[allow(
    clippy::cast_possible_truncation,
    reason = "the result is below `count`"
)]
fn hashed(root: u32, count: usize) -> usize {
    let hash = fmix64(u64::from(root)) >> 32;
    ((u128::from(hash) * count as u128) >> 32) as usize
}

/// The row at the beginning of a record.
fn row_of(record: &[u8]) -> u32 {
    let [row] = words_at(record).unwrap_or_default();
    row
}
