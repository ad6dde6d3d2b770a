//! Parts of the documents that fit in memory.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::components::{BucketLinks, Linked, Members};
use super::documents::{number_of, push_set, sets_of};
use super::join::prefixes_of;
use crate::engine::Engine;
use crate::error::Result;
use crate::pipeline::{
    Buckets, Member, PackedSignatures, PairFilter, Prefixes, SharedComponents, Similarity, Unit,
    Unverified,
};
use crate::progress::{Progress, Timings, advance, grouped};
use crate::scheme::fmix64;
use crate::search::candidates::{Candidates, similarity_of_sets};
use crate::search::corpus::Corpus;
use crate::search::observations::{Observations, ObservedSignatures, OpenGroups};
use crate::search::parameters::Search;
use crate::search::source::{Classify, SetsByRow, Source};
use crate::search::verification::Verification;
use crate::store::spill::{StreamFile, Streams, words_at};
use crate::store::{ExactSets, Texts};

/// The documents that share a bucket or repeat others, in parts: each component is in one part as a whole.
#[derive(Debug)]
pub(crate) struct Parts {
    search: Search,
    num_perm: usize,
    components: SharedComponents,
    buckets: PartBuckets,
    has_ids: bool,
    classes: Option<Box<dyn Classify>>,
    is_weighted: bool,
    /// The documents of each part, by ascending row: `[row, first, length, rank of source, bytes of value, bytes of
    /// id]`, the value of the field that classifies documents, and the id.
    documents: Vec<StreamFile>,
    /// The members of their buckets, `[row, band, key, key]`, or for a join the prefixes of their sets.
    members: Vec<StreamFile>,
    /// What compares them: each row, and the words of its signature, or their number and the words of its exact set.
    compared: Vec<StreamFile>,
    /// Bytes of memory for one part.
    pub(super) most_bytes: usize,
    observed: Observations,
}

/// What makes buckets of the members of a part.
#[derive(Clone, Copy, Debug)]
enum PartBuckets {
    /// The keys of this many bands.
    OfBands(usize),
    /// Shared elements of prefixes.
    OfPrefixes {
        filter: PairFilter,
        /// The number of elements of all prefixes.
        elements: u64,
        /// At least the number of candidate pairs of all parts.
        most_pairs: u64,
    },
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
        let count = before.map_or_else(
            || {
                let bytes = expected_bytes(&linked, &search, corpus, engine);
                let count = bytes.div_ceil(most_bytes.max(1) as u64).saturating_mul(2);
                let count = usize::try_from(count).unwrap_or(usize::MAX);
                count.clamp(LEAST_PARTS, MOST_PARTS)
            },
            |before| before.parts,
        );
        let links = &linked.links;
        let part_of = |row: u32| hashed(links.components.root(row), count);

        let streams = |name: &str| Streams::new(spill, name, count, count);
        let ids = source.ids()?;
        let has_ids = ids.is_some();
        let (classes, mut preferences) = source.classes_on_disk().unzip();
        let (documents, members) = timings.time("distribute", 0, || {
            if before.is_some() {
                let (documents, members) = (streams("documents"), streams("members-of"));
                if let Members::OfBands { .. } = &linked.members {
                    for part in 0..count {
                        let mut link = BucketLinks::of(&linked.links);
                        members.for_each_block(part, |block| link.add(block))?;
                    }
                }
                return Ok((documents.finish()?, members.finish()?));
            }
            let documents = {
                let mut next_id = ids;
                let mut documents = streams("documents");
                let mut repeats = linked.repeats.into_records().peekable();
                let mut row = 0;
                progress.begin("distribute", corpus.documents());
                linked.lengths.for_each_block(|lengths| {
                    for length in lengths.chunks_exact(size_of::<u32>()) {
                        let id = next_id.as_mut().map(|next| next()).transpose()?;
                        let preference = preferences.as_mut().map(|next| next()).transpose()?;
                        let is_repeat = |repeat: &Result<[u32; 2]>| {
                            repeat.as_ref().map_or(true, |repeat| repeat[0] == row)
                        };
                        let repeat = repeats.next_if(is_repeat).transpose()?;
                        let first = repeat.map_or(row, |repeat| repeat[1]);
                        if repeat.is_some() || linked.repeated.get(row) || links.in_buckets.get(row)
                        {
                            let (source, value) = preference.unwrap_or_default();
                            let id = id.as_deref().unwrap_or_default();
                            documents.push_with(part_of(first), |record| {
                                let len =
                                    |text: &str| u32::try_from(text.len()).unwrap_or(u32::MAX);
                                let texts = [source, len(&value), len(id)];
                                record.extend_from_slice(bytemuck::cast_slice(&[row, first]));
                                record.extend_from_slice(length);
                                record.extend_from_slice(bytemuck::cast_slice(&texts));
                                record.extend_from_slice(value.as_bytes());
                                record.extend_from_slice(id.as_bytes());
                            })?;
                        }
                        row += 1;
                    }
                    advance(progress, row.into(), 0, 0)
                })?;
                documents.finish()?
            };
            let mut members = streams("members-of");
            match &linked.members {
                Members::OfBands { members: all, .. } => all.for_each_block(|block| {
                    for member in block.chunks_exact(size_of::<[u32; 4]>()) {
                        members.push(part_of(row_of(member)), member)?;
                    }
                    advance(progress, corpus.documents(), 0, 0)
                })?,
                Members::OfPrefixes(joined) => joined.prefixes.for_each_block(|block| {
                    for (row, _, record) in prefixes_of(block) {
                        if links.in_buckets.get(row) {
                            members.push(part_of(row), record)?;
                        }
                    }
                    advance(progress, corpus.documents(), 0, 0)
                })?,
            }
            Ok::<_, crate::Error>((documents, members.finish()?))
        })?;
        timings.add_disk_use(spill.take_use(count));
        let mut done = before.unwrap_or(Distributed {
            parts: count,
            is_complete: false,
        });
        spill.note(DISTRIBUTE, &done)?;
        let buckets = match linked.members {
            Members::OfBands { bands, .. } => PartBuckets::OfBands(bands),
            Members::OfPrefixes(joined) => PartBuckets::OfPrefixes {
                filter: joined.filter,
                elements: joined.elements,
                most_pairs: joined.most_pairs,
            },
        };
        let num_perm = engine.signer().num_perm();
        // A run that goes on may read less.
        let bytes_again = if spill.resumed() > 0 { 0 } else { corpus.bytes };
        let compared = match search.verification {
            Verification::None => Vec::new(),
            _ if done.is_complete => streams("compared").finish()?,
            Verification::Signature => timings.time("distribute", 0, || {
                let mut compared = streams("compared");
                let bytes = size_of::<u32>() + packed_words(num_perm) * size_of::<u64>();
                let files = linked.signatures.iter();
                for file in files {
                    file.for_each_block(|block| {
                        for record in block.chunks_exact(bytes) {
                            let row = row_of(record);
                            if links.in_buckets.get(row) {
                                compared.push(part_of(row), record)?;
                            }
                        }
                        advance(progress, corpus.documents(), 0, 0)
                    })?;
                }
                compared.finish()
            })?,
            Verification::Exact if let Some(sets) = &linked.sets => {
                timings.time("distribute", 0, || {
                    let mut compared = streams("compared");
                    sets.for_each_block(|block| {
                        for (row, _, record) in sets_of(block) {
                            if links.in_buckets.get(row) {
                                compared.push(part_of(row), record)?;
                            }
                        }
                        advance(progress, corpus.documents(), 0, 0)
                    })?;
                    compared.finish()
                })?
            }
            Verification::Exact => timings.time("read again", bytes_again, || {
                let mut sets = SetsOfParts {
                    streams: streams("compared"),
                    part_of: &part_of,
                };
                source.read_exact_sets(engine, &links.in_buckets, &mut sets)?;
                sets.streams.finish()
            })?,
        };
        if search.verification != Verification::None {
            timings.add_disk_use(spill.take_use(count));
        }
        done.is_complete = true;
        spill.note(DISTRIBUTE, &done)?;
        Ok(Parts {
            observed: Observations::none(num_perm),
            search,
            num_perm,
            components: linked.links.components,
            buckets,
            has_ids,
            classes,
            is_weighted: engine.shingler().takes_weights(),
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
        &self.search
    }

    /// At least the number of candidate pairs; `None` for those of LSH.
    pub(crate) fn most_pairs(&self) -> Option<u64> {
        match self.buckets {
            PartBuckets::OfBands(_) => None,
            PartBuckets::OfPrefixes { most_pairs, .. } => Some(most_pairs),
        }
    }

    /// Adds the estimates of candidates that a stopped run has compared.
    pub(crate) fn restore_observed(&self, by_matches: &[u64]) {
        self.observed.add(by_matches);
    }

    /// The estimates of all candidates compared so far; `None` without estimates.
    pub(crate) fn observed(&self) -> Option<&Observations> {
        (self.search.verification == Verification::Signature).then_some(&self.observed)
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
        let mut corpus = Corpus::default();
        let (mut rows, mut ids) = (Vec::new(), Texts::default());
        let (mut distinct_rows, mut sources) = (Vec::new(), Vec::new());
        let mut values = Texts::default();
        let mut firsts = Vec::new();
        self.documents[part].for_each_block(|block| {
            for ([row, first, length, source, ..], value, id) in documents_of(block) {
                if !is_here(first) {
                    continue;
                }
                let local = u32::try_from(rows.len()).unwrap_or(u32::MAX);
                if first == row {
                    corpus.distinct.push(local);
                    distinct_rows.push(row);
                } else {
                    firsts.push((local, first));
                }
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
        // There are fewer documents than 2^32.
        corpus.rows = u32::try_from(rows.len()).unwrap_or(u32::MAX);
        let position_of = |row: u32| {
            let position = distinct_rows.binary_search(&row).ok();
            position.and_then(|position| u32::try_from(position).ok())
        };
        let repeats = firsts.into_iter();
        corpus.repeats = repeats
            .filter_map(|(local, first)| Some((local, position_of(first)?)))
            .collect();
        let here = |row: u32| is_here(row).then(|| position_of(row)).flatten();
        // Those of a large component are read in blocks instead.
        let read = |known, each: &mut dyn FnMut(&[u8]) -> Result<()>| {
            let file = self.file(known, part).filter(|_| !go.is_large);
            file.map_or(Ok(()), |file| file.for_each_block(each))
        };
        let held = if go.is_large { 0 } else { distinct_rows.len() };
        let buckets = self.buckets_of(held, here, &mut |each| read(Known::Members, each))?;
        let read = &mut |each: &mut dyn FnMut(&[u8]) -> Result<()>| read(Known::Compared, each);
        let similarity = self.similarity_of(held, here, None, read)?;
        Ok(Part {
            documents: PartDocuments {
                rows,
                ids: self.has_ids.then_some(ids),
            },
            classes: self
                .classes
                .as_ref()
                .map(|classes| classes.classes(&sources, values)),
            candidates: Candidates {
                search: self.search.clone(),
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
        match (known, self.buckets, self.search.verification) {
            (Known::Members, PartBuckets::OfBands(_), _) => of_length(size_of::<[u32; 4]>()),
            (Known::Members, PartBuckets::OfPrefixes { .. }, _) => {
                Box::new(prefixes_of(block).map(|(row, _, record)| (row, record)))
            }
            (Known::Compared, _, Verification::Exact) => {
                Box::new(sets_of(block).map(|(row, _, record)| (row, record)))
            }
            (Known::Compared, _, Verification::None | Verification::Signature) => {
                of_length(size_of::<u32>() + packed_words(self.num_perm) * size_of::<u64>())
            }
        }
    }

    /// Bytes of memory for so many bytes of records, about.
    pub(super) fn memory_bytes(&self, known: Known, bytes: u64) -> u64 {
        match (known, self.buckets) {
            (Known::Compared, _) => bytes,
            (Known::Members, PartBuckets::OfBands(_)) => bytes * IN_MEMORY_PER_MEMBER / 16,
            (Known::Members, PartBuckets::OfPrefixes { .. }) => bytes * IN_MEMORY_PER_ELEMENT / 12,
        }
    }

    /// The buckets of `documents`: those whose position `position_of` knows by their row. `for_each_block` reads their
    /// members.
    pub(super) fn buckets_of(
        &self,
        documents: usize,
        position_of: impl Fn(u32) -> Option<u32>,
        for_each_block: EachBlock<'_>,
    ) -> Result<Buckets> {
        match self.buckets {
            PartBuckets::OfBands(bands) => {
                let mut members = Vec::new();
                for_each_block(&mut |block| {
                    for member in block.chunks_exact(size_of::<[u32; 4]>()) {
                        let [row, band, high, low] = words_at(member).unwrap_or_default();
                        let key = number_of([low, high]);
                        members.extend(position_of(row).map(|position| Member {
                            band,
                            key,
                            position,
                        }));
                    }
                    Ok(())
                })?;
                Ok(Buckets::of_members(documents, bands, members))
            }
            PartBuckets::OfPrefixes {
                filter, elements, ..
            } => {
                let mut prefixes = Prefixes::of_part(filter, documents, elements);
                for_each_block(&mut |block| {
                    for (row, prefix, _) in prefixes_of(block) {
                        if let Some(position) = position_of(row) {
                            prefixes.push(position, &prefix);
                        }
                    }
                    Ok(())
                })?;
                prefixes.into_buckets()
            }
        }
    }

    /// The groups of the documents of a component that is compared in blocks.
    pub(super) fn open_groups(&self, documents: usize) -> Arc<OpenGroups> {
        OpenGroups::new(documents, &self.observed)
    }

    /// What compares `documents`: those whose position `position_of` knows by their row. `for_each_block` reads their
    /// signatures or sets. If they are not whole components, `groups` are those of all, with the number of each of these.
    pub(super) fn similarity_of(
        &self,
        documents: usize,
        position_of: impl Fn(u32) -> Option<u32>,
        groups: Option<(&Arc<OpenGroups>, &[u32])>,
        for_each_block: EachBlock<'_>,
    ) -> Result<Box<dyn Similarity + Send>> {
        match self.search.verification {
            Verification::None => Ok(Box::new(Unverified)),
            Verification::Signature => {
                let of_row = packed_words(self.num_perm);
                let mut all = vec![0; of_row * documents];
                for_each_block(&mut |block| {
                    for (row, record) in self.records_in(Known::Compared, block) {
                        if let Some(at) = position_of(row) {
                            let row = &mut all[of_row * at as usize..][..of_row];
                            bytemuck::cast_slice_mut(row)
                                .copy_from_slice(&record[size_of::<u32>()..]);
                        }
                    }
                    Ok(())
                })?;
                let packed = PackedSignatures::from_words(self.num_perm, Search::SLOT_BITS, all)?;
                Ok(Box::new(match groups {
                    None => ObservedSignatures::counted_in(packed, &self.observed),
                    Some((groups, names)) => {
                        ObservedSignatures::in_groups(packed, groups, names.to_vec())
                    }
                }))
            }
            Verification::Exact => {
                let mut sets = ExactSets::default().weighted(self.is_weighted);
                let mut set: Vec<u64> = Vec::new();
                for_each_block(&mut |block| {
                    for (row, of_set, _) in sets_of(block) {
                        if let Some(at) = position_of(row) {
                            set.resize(of_set.len() / size_of::<u64>(), 0);
                            bytemuck::cast_slice_mut(&mut set).copy_from_slice(of_set);
                            sets.insert(at, &set)?;
                        }
                    }
                    Ok(())
                })?;
                Ok(similarity_of_sets(sets, &self.search))
            }
        }
    }
}

/// Distributes exact sets to parts.
struct SetsOfParts<'a> {
    streams: Streams,
    /// The part of a row.
    part_of: &'a dyn Fn(u32) -> usize,
}

impl SetsByRow for SetsOfParts<'_> {
    fn take(&mut self, row: u32, set: &[u64]) -> Result<()> {
        let part = (self.part_of)(row);
        self.streams
            .push_with(part, |record| push_set(record, row, set))
    }

    fn flush(&mut self) -> Result<()> {
        self.streams.flush()
    }
}

/// Calls a function with the blocks of a stream, or of several.
pub(super) type EachBlock<'a> =
    &'a mut dyn FnMut(&mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>;

/// What is loaded at a time: a part, or some of its components.
struct Go {
    part: usize,
    /// The roots of the components; `None` for all.
    roots: Option<HashSet<u32>>,
    /// Whether this is one component that memory does not hold.
    is_large: bool,
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
