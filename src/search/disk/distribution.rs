//! Distributes documents to parts that fit in memory: each component to one part as a whole.

use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::components::{BucketEdges, Connected, Members};
use super::documents::{push_set, sets_of};
use super::edges::Edges;
use super::join::prefixes_of;
use super::parts::{
    IN_MEMORY_PER_ELEMENT, IN_MEMORY_PER_MEMBER, Parts, bytes_of_signature, packed_words,
    push_document, records_of,
};
use crate::bits::Bits;
use crate::clock::in_parallel;
use crate::engine::Engine;
use crate::error::{Error, Result, row_number};
use crate::pipeline::Unit;
use crate::progress::{Progress, Timings, advance};
use crate::scheme::fmix64;
use crate::search::context::Context;
use crate::search::corpus::Corpus;
use crate::search::observations::Observations;
use crate::search::parameters::Search;
use crate::search::source::{LinesOfIds, NextPreference, SetsByRow, Source};
use crate::search::verification::Verification;
use crate::store::spill::{Sorted, Spill, Stored, StreamFile, Streams};
use crate::threads::collect_blocks;

/// Parts at least, so that all threads have work.
const LEAST_PARTS: usize = 8;

/// Parts at most: each has three files.
const MOST_PARTS: usize = 1024;

/// Documents whose parts are worth a job, 10 µs or more.
const JOB: usize = 1 << 9;

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

/// Distributes the documents of `connected` to parts.
pub(crate) fn distribute(
    connected: Connected,
    corpus: &Corpus,
    source: &dyn Source,
    engine: &Engine,
    context: &mut Context<'_>,
) -> Result<Parts> {
    let (search, timings) = (context.search, &mut *context.timings);
    let spill = &connected.spill;
    let most_bytes = spill.memory() / 2 / rayon::current_num_threads();
    let before: Option<Distributed> = spill.state(DISTRIBUTE);
    let mut done = before.unwrap_or_else(|| Distributed {
        parts: number_of_parts(&connected, search, corpus, engine, most_bytes),
        is_complete: false,
    });
    let distribution = Distribution {
        spill,
        edges: &connected.edges,
        count: done.parts,
        documents: corpus.documents(),
        progress: context.progress,
    };
    let ids = source.ids()?;
    let has_ids = ids.is_some();
    let (classes, preferences) = source.classes_on_disk().unzip();
    let (documents, members) = timings.time("distribute", 0, || {
        if before.is_some() {
            return distribution.restored(&connected.members);
        }
        let lengths = &connected.lengths;
        let documents = distribution.documents(
            lengths,
            connected.repeats,
            &connected.repeated,
            ids,
            preferences,
        )?;
        Ok((documents, distribution.members(&connected.members)?))
    })?;
    timings.add_disk_use(spill.take_use(done.parts));
    spill.note(DISTRIBUTE, &done)?;
    let shape = connected.members.shape(search, engine);
    let held = match (search.verification, &connected.signatures, &connected.sets) {
        (Verification::None, ..) => Comparable::Nothing,
        _ if done.is_complete => Comparable::Distributed,
        (Verification::Signature, signatures, _) => Comparable::Signatures(signatures.as_ref()),
        (Verification::Exact, _, Some(sets)) => Comparable::Sets(sets),
        (Verification::Exact, _, None) => distribution.documents_again(source, engine, corpus),
    };
    let compared = distribution.compared(held, shape.num_perm, timings)?;
    if search.verification != Verification::None {
        timings.add_disk_use(spill.take_use(done.parts));
    }
    done.is_complete = true;
    spill.note(DISTRIBUTE, &done)?;
    Ok(Parts {
        observed: Observations::none(shape.num_perm),
        shape,
        reference: corpus.reference,
        pairing: context.pairing,
        most_pairs: connected.members.most_pairs(),
        components: connected.edges.components,
        has_ids,
        classes,
        documents,
        members,
        compared,
        most_bytes,
    })
}

/// What distributes documents to parts.
struct Distribution<'a> {
    spill: &'a Arc<Spill>,
    edges: &'a Edges,
    /// The number of parts.
    count: usize,
    /// The number of documents.
    documents: u64,
    progress: &'a dyn Progress,
}

/// What compares documents, before it is distributed.
enum Comparable<'a> {
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
    /// The documents, read again.
    fn documents_again<'a>(
        &self,
        source: &'a dyn Source,
        engine: &'a Engine,
        corpus: &Corpus,
    ) -> Comparable<'a> {
        Comparable::Documents {
            source,
            engine,
            // A run that goes on may read less.
            bytes: match self.spill.resumed() {
                0 => corpus.bytes,
                _ => 0,
            },
        }
    }

    fn streams(&self, name: &str) -> Streams {
        Streams::new(self.spill, name, self.count, self.count)
    }

    /// The part of a document that does not repeat another.
    fn part_of(&self, row: u32) -> u16 {
        hashed(self.edges.components.root(row), self.count)
    }

    /// The documents and members that a stopped run has distributed. Connects the members.
    fn restored(&self, members: &Members) -> Result<(Vec<StreamFile>, Vec<StreamFile>)> {
        let (documents, distributed) = (self.streams("documents"), self.streams("members-of"));
        if let Members::OfBands { .. } = members {
            for part in 0..self.count {
                let mut edges = BucketEdges::of(self.edges);
                distributed.for_each_block(part, |block| edges.add(block))?;
            }
        }
        Ok((documents.finish()?, distributed.finish()?))
    }

    /// Distributes the documents that others are connected to, those that repeat others, and the repeated ones. `repeats`
    /// come with the rows that they repeat.
    fn documents(
        &self,
        lengths: &StreamFile,
        repeats: Sorted<2>,
        repeated: &Bits,
        mut ids: Option<LinesOfIds<'_>>,
        mut preferences: Option<NextPreference<'_>>,
    ) -> Result<Vec<StreamFile>> {
        let mut documents = self.streams("documents");
        let mut repeats = repeats.into_records().peekable();
        let (mut next_row, has_ids) = (0, ids.is_some());
        self.progress.begin("distribute", self.documents);
        lengths.for_each_block(|lengths| {
            let lengths = lengths.records(Stored::words);
            let lengths: Vec<[u32; 1]> = lengths.collect::<Result<_>>()?;
            let rows = next_row..row_number(next_row as usize + lengths.len())?;
            next_row = rows.end;
            let ids = ids.as_mut().map(|lines_of| lines_of(rows.clone()));
            let ids = ids.transpose()?.unwrap_or_default();
            let ids = ids.par_split_terminator('\n');
            let ids: Vec<&str> = in_parallel(|| ids.collect());
            if ids.len() < lengths.len() && has_ids {
                return Err(Error::Defect(format!("rows {rows:?} have too few ids")));
            }
            let preferences = preferences
                .as_mut()
                .map(|next| rows.clone().map(|_| next()));
            let preferences = preferences.into_iter().flatten();
            let preferences: Vec<(u32, String)> = preferences.collect::<Result<_>>()?;
            let mut firsts: Vec<u32> = rows.clone().collect();
            let is_of_rows = |repeat: &Result<[u32; 2]>| {
                repeat.as_ref().map_or(true, |[row, _]| *row < rows.end)
            };
            while let Some(repeat) = repeats.next_if(is_of_rows) {
                let [row, first] = repeat?;
                firsts[(row - rows.start) as usize] = first;
            }
            let part = |(row, first): (u32, &u32)| {
                let is_repeat = *first != row || repeated.get(row);
                let is_wanted = is_repeat || self.edges.in_buckets.get(row);
                is_wanted.then(|| self.part_of(*first))
            };
            let parts = collect_blocks(firsts.len(), JOB, |range| {
                let rows = rows.clone().skip(range.start);
                rows.zip(&firsts[range])
                    .map(part)
                    .collect::<Vec<Option<u16>>>()
            });
            documents.push_each(&parts, |i, record| {
                let (source, value) = preferences
                    .get(i)
                    .map_or((0, ""), |(source, value)| (*source, value));
                let id = ids.get(i).copied().unwrap_or_default();
                let row = rows.start + u32::try_from(i).unwrap_or_default();
                push_document(record, [row, firsts[i], lengths[i][0], source], value, id);
            })?;
            advance(self.progress, next_row.into(), 0, 0)
        })?;
        documents.finish()
    }

    /// Distributes what makes buckets.
    fn members(&self, all: &Members) -> Result<Vec<StreamFile>> {
        let mut members = self.streams("members-of");
        match all {
            Members::OfBands { members: all, .. } => all.for_each_block(|block| {
                let block_records = records_of(block, size_of::<[u32; 4]>());
                self.push_wanted(block_records, |_| true, &mut members)
            })?,
            Members::OfPrefixes(joined) => joined.prefixes.for_each_block(|block| {
                let prefixes =
                    prefixes_of(block).map(|prefix| prefix.map(|(row, _, record)| (row, record)));
                self.push_connected(prefixes, &mut members)
            })?,
        }
        members.finish()
    }

    /// Distributes what compares documents.
    fn compared(
        &self,
        held: Comparable<'_>,
        num_perm: usize,
        timings: &mut Timings,
    ) -> Result<Vec<StreamFile>> {
        let bytes = bytes_of_signature(num_perm);
        if let Comparable::Nothing = held {
            return Ok(Vec::new());
        }
        let mut compared = self.streams("compared");
        match held {
            Comparable::Nothing | Comparable::Distributed => {}
            Comparable::Signatures(signatures) => timings.time("distribute", 0, || {
                signatures.into_iter().try_for_each(|file| {
                    file.for_each_block(|block| {
                        self.push_connected(records_of(block, bytes), &mut compared)
                    })
                })
            })?,
            Comparable::Sets(sets) => timings.time("distribute", 0, || {
                sets.for_each_block(|block| {
                    let sets = sets_of(block).map(|set| set.map(|(row, _, record)| (row, record)));
                    self.push_connected(sets, &mut compared)
                })
            })?,
            Comparable::Documents {
                source,
                engine,
                bytes,
            } => timings.time("read again", bytes, || {
                let mut sets = SetsOfParts {
                    streams: &mut compared,
                    distribution: self,
                };
                source.read_exact_sets(engine, &self.edges.in_buckets, &mut sets)
            })?,
        }
        compared.finish()
    }

    /// Distributes the records of connected documents.
    fn push_connected<'a>(
        &self,
        records: impl Iterator<Item = Result<(u32, &'a [u8])>>,
        streams: &mut Streams,
    ) -> Result<()> {
        self.push_wanted(records, |row| self.edges.in_buckets.get(row), streams)
    }

    /// Distributes records with their rows, if these are wanted.
    fn push_wanted<'a>(
        &self,
        records: impl Iterator<Item = Result<(u32, &'a [u8])>>,
        is_wanted: impl Fn(u32) -> bool + Sync,
        streams: &mut Streams,
    ) -> Result<()> {
        let records: Vec<(u32, &[u8])> = records.collect::<Result<_>>()?;
        let part = |(row, _): &(u32, &[u8])| is_wanted(*row).then(|| self.part_of(*row));
        let parts = collect_blocks(records.len(), JOB, |range| {
            records[range]
                .iter()
                .map(part)
                .collect::<Vec<Option<u16>>>()
        });
        streams.push_each(&parts, |i, record| record.extend_from_slice(records[i].1))?;
        advance(self.progress, self.documents, 0, 0)
    }
}

/// Distributes exact sets to parts.
struct SetsOfParts<'a> {
    streams: &'a mut Streams,
    distribution: &'a Distribution<'a>,
}

impl SetsByRow for SetsOfParts<'_> {
    fn take(&mut self, sets: &[(u32, Vec<u64>)]) -> Result<()> {
        let distribution = self.distribution;
        let part = |(row, _): &(u32, Vec<u64>)| Some(distribution.part_of(*row));
        let parts = collect_blocks(sets.len(), JOB, |range| {
            sets[range].iter().map(part).collect::<Vec<Option<u16>>>()
        });
        self.streams.push_each(&parts, |i, record| {
            let (row, set) = &sets[i];
            push_set(record, *row, set);
        })
    }

    fn flush(&mut self) -> Result<()> {
        self.streams.flush()
    }
}

/// The number of parts, each of which takes about half of `most_bytes`.
fn number_of_parts(
    connected: &Connected,
    search: &Search,
    corpus: &Corpus,
    engine: &Engine,
    most_bytes: usize,
) -> usize {
    let bytes = expected_bytes(connected, search, corpus, engine);
    let count = bytes.div_ceil(most_bytes.max(1) as u64).saturating_mul(2);
    usize::try_from(count).map_or(MOST_PARTS, |count| count.clamp(LEAST_PARTS, MOST_PARTS))
}

/// Bytes of memory for all parts, about.
fn expected_bytes(connected: &Connected, search: &Search, corpus: &Corpus, engine: &Engine) -> u64 {
    const PER_DOCUMENT: u64 = 100;
    let member_bytes = match &connected.members {
        Members::OfBands { members, .. } => members.bytes() * IN_MEMORY_PER_MEMBER / 16,
        Members::OfPrefixes(joined) => joined.prefixes.bytes() * IN_MEMORY_PER_ELEMENT / 12,
    };
    let documents = connected.edges.in_buckets.count();
    let text_bytes = corpus.bytes / corpus.documents().max(1);
    let per_document = match search.verification {
        Verification::None => 0,
        Verification::Signature => 8 * packed_words(engine.signer().num_perm()) as u64,
        // A hash of 8 bytes for each word or byte.
        Verification::Exact => match engine.shingler().shingling().unit {
            Unit::Bytes | Unit::Chars => 8 * text_bytes,
            _ => 2 * text_bytes,
        },
    };
    let prefix = 8 * search.set_prefix(engine.signer().num_perm()) as u64;
    member_bytes
        + documents * (prefix + per_document + PER_DOCUMENT)
        + connected.identical() * PER_DOCUMENT
}

/// A number below `count` for a component.
#[allow(
    clippy::cast_possible_truncation,
    reason = "the result is below `count`"
)]
fn hashed(root: u32, count: usize) -> u16 {
    let hash = fmix64(u64::from(root)) >> 32;
    ((u128::from(hash) * count as u128) >> 32) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_spread_over_all_parts() {
        for count in [1, 8, 1024] {
            let mut sizes = vec![0; count];
            (0..20_000).for_each(|root| sizes[usize::from(hashed(root, count))] += 1);
            let even = 20_000 / count;
            let (least, most) = (sizes.iter().min(), sizes.iter().max());
            assert!(
                least.is_some_and(|least| *least > even / 4),
                "{least:?} of {even}"
            );
            assert!(
                most.is_some_and(|most| *most < 4 * even),
                "{most:?} of {even}"
            );
        }
    }
}
