//! Parts of the documents that fit in memory.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::documents::{number_of, sets_of, words_of};
use super::join::prefixes_of;
use crate::error::{Result, row_number};
use crate::pipeline::{Member, Pairing, SharedComponents};
use crate::progress::{Progress, advance, grouped};
use crate::search::corpus::Corpus;
use crate::search::observations::{Observations, OpenGroups};
use crate::search::parameters::Search;
use crate::search::part::{BucketsOf, Part, PartDocuments, PartRecords, PartShape, Step};
use crate::search::source::Classify;
use crate::search::verification::Verification;
use crate::store::Texts;
use crate::store::spill::{Stored, StreamFile};
use crate::threads::try_collect_blocks;

/// The documents that share a bucket or repeat others, in parts: each component is in one part as a whole.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(super) shape: PartShape,
    /// The number of documents of a reference, which have the first rows; `None` without one.
    pub(super) reference: Option<u32>,
    /// What is compared if there is one.
    pub(super) pairing: Pairing,
    /// At least the number of candidate pairs of all parts; `None` for those of LSH.
    pub(super) most_pairs: Option<u64>,
    pub(super) components: SharedComponents,
    pub(super) has_ids: bool,
    pub(super) classes: Option<Box<dyn Classify>>,
    /// The documents of each part, by ascending row: `[row, first, length, rank of source, bytes of value, bytes of
    /// id]`, the value of the field that classifies documents, and the id.
    pub(super) documents: Vec<StreamFile>,
    /// The members of their buckets, `[row, band, key, key]`, or for a join the prefixes of their sets.
    pub(super) members: Vec<StreamFile>,
    /// What compares them: each row, and the words of its signature, or their number and the words of its exact set.
    pub(super) compared: Vec<StreamFile>,
    /// Bytes of memory for one part.
    pub(super) most_bytes: usize,
    pub(crate) observed: Observations,
}

/// Words of a record of a document, before its id.
const DOCUMENT: usize = 8;

/// Bytes of the record of an exact set before its words: the row, and their number.
pub(super) const BEFORE_SET: usize = size_of::<[u32; 3]>();

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

impl Parts {
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
    pub(crate) fn restore_observed(&self, matches: &[u64]) {
        self.observed.add(matches);
    }

    /// The estimates of all candidates compared so far; `None` without estimates.
    pub(crate) fn observed(&self) -> Option<&Observations> {
        (self.shape.search.verification == Verification::Signature).then_some(&self.observed)
    }

    /// Calls `work` with every part but the first `before`, on several threads, and `each` with its results, in order.
    /// Components that memory does not hold are named beside their part if `divides`; otherwise they are loaded
    /// nevertheless. Progress shows the stage `compare`.
    pub(crate) fn for_each<T: Send>(
        &self,
        before: usize,
        divides: bool,
        progress: &dyn Progress,
        work: impl Fn(Part<'static>, Option<LargeComponent>) -> Result<T> + Sync,
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
            let results = try_collect_blocks(batch.len(), 1, |range| {
                let (part, large) = self.load(&batch[range.start])?;
                work(part, large).map(|result| vec![result])
            })?;
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
    fn bytes(&self, part: usize) -> u64 {
        let file_bytes = |known| {
            let bytes = self.file(known, part).map_or(0, StreamFile::bytes);
            self.memory_bytes(known, bytes)
        };
        let known = file_bytes(Known::Members) + file_bytes(Known::Compared);
        2 * self.documents[part].bytes() + known
    }

    /// Divides a part of too many bytes into goes, each of which takes some of its components.
    fn goes(&self, part: usize, divides: bool, progress: &dyn Progress) -> Result<Vec<Go>> {
        let go = |roots, is_large| Go {
            part,
            roots,
            is_large,
        };
        let bytes = self.bytes(part);
        let most_bytes = self.most_bytes as u64;
        if bytes <= most_bytes {
            return Ok(vec![go(None, false)]);
        }
        let mut sizes: BTreeMap<u32, u64> = BTreeMap::new();
        self.documents[part].for_each_block(|block| {
            for document in documents_of(block) {
                let (words, ..) = document?;
                *sizes.entry(self.components.root(words[1])).or_default() += 1;
            }
            Ok(())
        })?;
        let documents: u64 = sizes.values().sum();
        let most = most_bytes / (bytes / documents.max(1)).max(1);
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
                    "{} documents that buckets connect take more memory than `memory` allows one of its threads; raise `memory`, or `rows`",
                    grouped(size)
                ));
            }
            roots.insert(root);
            in_go += size;
        }
        goes.push(go(Some(roots), false));
        Ok(goes)
    }

    /// Loads the documents of one go, without buckets if they are a component that memory does not hold.
    fn load(&self, go: &Go) -> Result<(Part<'static>, Option<LargeComponent>)> {
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
        let buckets = buckets.against(corpus.reference_of(held, self.pairing));
        let part = Part {
            documents,
            corpus,
            classes,
            buckets,
            similarity,
            in_blocks: None,
        };
        let large = LargeComponent {
            part: go.part,
            rows: distinct_rows,
        };
        Ok((part, go.is_large.then_some(large)))
    }

    /// The documents of a part whose first equal document `is_here`.
    fn documents_of_part(&self, part: usize, is_here: &dyn Fn(u32) -> bool) -> Result<Documents> {
        let mut corpus = Corpus::default();
        let (mut rows, mut ids) = (Vec::new(), Texts::default());
        let (mut distinct_rows, mut firsts) = (Vec::new(), Vec::new());
        let (mut sources, mut values) = (Vec::new(), Texts::default());
        self.documents[part].for_each_block(|block| {
            for document in documents_of(block) {
                let ([row, first, length, source, ..], value, id) = document?;
                if !is_here(first) {
                    continue;
                }
                let local = row_number(rows.len())?;
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
        corpus.rows = row_number(rows.len())?;
        let reference = self.reference.map(|reference| {
            let documents = rows.partition_point(|row| *row < reference);
            row_number(documents)
        });
        corpus.reference = reference.transpose()?;
        let repeats = firsts.into_iter();
        corpus.repeats = repeats
            .filter_map(|(local, first)| Some((local, place_of(first, &distinct_rows)?)))
            .collect();
        let classes = self.classes.as_ref();
        let classes = classes.map(|classes| classes.classes(&sources, values));
        Ok(Documents {
            corpus,
            documents: PartDocuments::new(rows, self.has_ids.then_some(ids)),
            distinct_rows,
            classes: classes.transpose()?,
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
        block: Stored<'a>,
    ) -> Box<dyn Iterator<Item = Result<(u32, &'a [u8])>> + 'a> {
        let fixed_records = |bytes| Box::new(records_of(block, bytes));
        match (known, self.shape.buckets, self.shape.search.verification) {
            (Known::Members, BucketsOf::Bands(_), _) => fixed_records(size_of::<[u32; 4]>()),
            (Known::Members, BucketsOf::Prefixes { .. }, _) => Box::new(
                prefixes_of(block).map(|prefix| prefix.map(|(row, _, record)| (row, record))),
            ),
            (Known::Compared, _, Verification::Exact) => {
                Box::new(sets_of(block).map(|set| set.map(|(row, _, record)| (row, record))))
            }
            (Known::Compared, _, Verification::None | Verification::Signature) => {
                fixed_records(bytes_of_signature(self.shape.num_perm))
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
        block: Stored<'_>,
        position_of: &dyn Fn(u32) -> Option<u32>,
        records: &mut PartRecords,
    ) -> Result<()> {
        match (known, self.shape.buckets) {
            (Known::Members, BucketsOf::Bands(_)) => {
                for member in block.records(Stored::words) {
                    let [row, band, high, low] = member?;
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
                for prefix in prefixes_of(block) {
                    let (row, prefix, _) = prefix?;
                    if let Some(position) = position_of(row) {
                        records.add_prefix(position, &prefix);
                    }
                }
            }
            (Known::Compared, _) => {
                // Before the words are the row and, for a set, their number.
                let before = match self.shape.search.verification {
                    Verification::Exact => BEFORE_SET,
                    Verification::None | Verification::Signature => size_of::<u32>(),
                };
                let mut words: Vec<u64> = Vec::new();
                for record in self.records_in(known, block) {
                    let (row, record) = record?;
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
pub(super) fn push_document(record: &mut Vec<u8>, words: [u32; 4], value: &str, id: &str) {
    let lengths = [value, id].map(|text| words_of(text.len() as u64));
    record.extend_from_slice(bytemuck::cast_slice(&words));
    record.extend_from_slice(bytemuck::cast_slice(&lengths));
    record.extend_from_slice(value.as_bytes());
    record.extend_from_slice(id.as_bytes());
}

/// The documents of a block: the words of each, its value and its id.
fn documents_of(
    block: Stored<'_>,
) -> impl Iterator<Item = Result<([u32; DOCUMENT], Cow<'_, str>, Cow<'_, str>)>> {
    block.records(|rest| {
        let words: [u32; DOCUMENT] = rest.words()?;
        let [.., value_low, value_high, id_low, id_high] = words;
        let value = rest.take(number_of([value_low, value_high]))?;
        let id = rest.take(number_of([id_low, id_high]))?;
        let text = String::from_utf8_lossy;
        Ok((words, text(value), text(id)))
    })
}

/// Bytes of memory per member of a bucket, while buckets are made.
pub(super) const IN_MEMORY_PER_MEMBER: u64 = 40;

/// The same per element of a prefix.
pub(super) const IN_MEMORY_PER_ELEMENT: u64 = 40;

/// Words of a packed signature.
pub(super) fn packed_words(num_perm: usize) -> usize {
    Search::SLOT_BITS.words(num_perm)
}

/// Bytes of a record of a signature: its row and its words.
pub(super) fn bytes_of_signature(num_perm: usize) -> usize {
    size_of::<u32>() + packed_words(num_perm) * size_of::<u64>()
}

/// The records of so many bytes in a block, each with the row at its beginning.
pub(super) fn records_of(
    block: Stored<'_>,
    bytes: usize,
) -> impl Iterator<Item = Result<(u32, &[u8])>> {
    block.records(move |rest| {
        let [row] = rest.clone().words()?;
        Ok((row, rest.take(bytes as u64)?))
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::error::Error;
    use crate::pipeline::Banding;
    use crate::progress::Silent;
    use crate::store::spill::{Budget, Spill, Streams};

    #[test]
    fn documents_come_back_as_they_were_written() {
        let documents = [
            ([7, 7, 12, 0], "2024-01-01", "\"a\""),
            ([9, 7, 0, 3], "", ""),
            ([u32::MAX - 2, 1, 5, 1], "ä", "17"),
        ];
        let mut block = Vec::new();
        for (words, value, id) in documents {
            push_document(&mut block, words, value, id);
        }
        let stored = |bytes| documents_of(Stored::new(bytes, Path::new("documents-0")));
        let read: Vec<_> = stored(&block)
            .map(|document| {
                let ([row, first, length, source, ..], value, id) = document.unwrap();
                (
                    [row, first, length, source],
                    value.into_owned(),
                    id.into_owned(),
                )
            })
            .collect();
        let expected = documents.map(|(words, value, id)| (words, value.to_owned(), id.to_owned()));
        assert_eq!(read, expected);
        // The last id is cut off.
        let cut = stored(&block[..block.len() - 1]).last();
        assert!(matches!(cut, Some(Err(Error::DamagedSpill { .. }))));
    }

    #[test]
    fn a_place_is_that_of_an_equal_row() {
        let rows = [2, 5, 6, 11];
        for row in 0..13 {
            let expected = rows.iter().position(|other| *other == row);
            let expected = expected.map(|place| u32::try_from(place).unwrap());
            assert_eq!(place_of(row, &rows), expected);
        }
    }

    /// One part with components of these sizes, without members. Each document has the row of the first one of its
    /// component as its first member.
    fn part_of(sizes: &[u32], folder: &Path, most_bytes: usize) -> Parts {
        let spill = Spill::new(&Budget::new(folder, 1 << 20)).unwrap();
        let rows: u32 = sizes.iter().sum();
        let components = SharedComponents::new(rows as usize);
        let mut documents = Streams::new(&spill, "documents", 1, 1);
        let mut row = 0;
        for size in sizes {
            let first = row;
            for _ in 0..*size {
                components.unite(first, row);
                let push = |record: &mut Vec<u8>| push_document(record, [row, row, 9, 0], "", "7");
                documents.push_with(0, push).unwrap();
                row += 1;
            }
        }
        let banding = Banding::new(1, 1, 1).unwrap();
        Parts {
            shape: PartShape {
                search: Search::through_lsh(0.5, banding, Verification::None),
                num_perm: 1,
                weighted: false,
                buckets: BucketsOf::Bands(1),
            },
            reference: None,
            pairing: Pairing::default(),
            most_pairs: None,
            components,
            has_ids: true,
            classes: None,
            documents: documents.finish().unwrap(),
            members: Vec::new(),
            compared: Vec::new(),
            most_bytes,
            observed: Observations::none(1),
        }
    }

    #[test]
    fn each_document_is_in_one_go() {
        let sizes = [3, 1, 40, 2, 2, 9, 1, 30, 5];
        let all: u32 = sizes.iter().sum();
        for most_bytes in [1, 100, 500, 1_000, 3_000, usize::MAX] {
            for divides in [true, false] {
                let folder = tempfile::tempdir().unwrap();
                let parts = part_of(&sizes, folder.path(), most_bytes);
                let mut found = Vec::new();
                let mut done = Vec::new();
                let work = |part: Part<'static>, large: Option<LargeComponent>| {
                    let rows = (0..part.corpus.rows).map(|number| part.documents.row(number));
                    Ok((rows.collect::<Vec<u32>>(), large.map(|large| large.rows)))
                };
                let each = |step: Step<(Vec<u32>, Option<Vec<u32>>)>| {
                    match step {
                        Step::Result((rows, large)) => {
                            // A large component is alone, and only where components may be divided.
                            assert!(large.as_ref().is_none_or(|large| divides && *large == rows));
                            found.push((rows, large.is_some()));
                        }
                        Step::Done { parts } => done.push(parts),
                        Step::Stopped => {}
                    }
                    Ok(())
                };
                parts.for_each(0, divides, &Silent, work, each).unwrap();
                let mut rows: Vec<u32> = found.iter().flat_map(|(rows, _)| rows).copied().collect();
                rows.sort_unstable();
                assert!(rows.into_iter().eq(0..all), "{most_bytes}");
                assert_eq!(done, [1]);
                // No component is in two goes.
                let roots = |rows: &[u32]| -> HashSet<u32> {
                    rows.iter().map(|row| parts.components.root(*row)).collect()
                };
                let numbers: usize = found.iter().map(|(rows, _)| roots(rows).len()).sum();
                assert_eq!(numbers, sizes.len());
                if most_bytes == usize::MAX {
                    assert_eq!(found.len(), 1);
                }
                // Nothing is left where the work goes on behind the last part.
                let none = |_: Part<'static>, _| Ok(());
                let fails = |_: Step<()>| panic!("a part is left");
                parts.for_each(1, divides, &Silent, none, fails).unwrap();
            }
        }
    }
}
