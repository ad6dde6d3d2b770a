//! Finds the documents that repeat earlier ones, and those that share a bucket.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::documents::{SpilledDocuments, SpilledKeys};
use super::edges::{Compared, Edges, panicked, push_all, stop_if_asked};
use super::join::Joined;
use crate::bits::Bits;
use crate::engine::Engine;
use crate::error::Result;
use crate::pipeline::Reference;
use crate::progress::{Progress, advance};
use crate::search::candidates::{LARGE_SETS, tell_of_lsh};
use crate::search::context::Context;
use crate::search::corpus::Corpus;
use crate::search::parameters::{CandidateMethod, Search};
use crate::search::part::{BucketsOf, PartShape};
use crate::store::spill::{Partitions, Sorted, Spill, Stored, StreamFile, Streams};

/// The documents that share a bucket or repeat others.
#[derive(Debug)]
pub(crate) struct Connected {
    pub(super) spill: Arc<Spill>,
    /// The row of each document that repeats an earlier one, and the row of the first of them.
    pub(super) repeats: Sorted<2>,
    /// The number of documents that repeat an earlier one.
    identical: u64,
    /// The same, without those of a reference.
    identical_inputs: u64,
    /// The rows that `repeats` repeats.
    pub(super) repeated: Bits,
    pub(super) edges: Edges,
    pub(super) members: Members,
    pub(super) lengths: StreamFile,
    pub(super) signatures: Option<StreamFile>,
    /// The exact sets of all documents with shingles, by row.
    pub(super) sets: Option<StreamFile>,
}

/// What the documents that share buckets have in common.
#[derive(Debug)]
pub(super) enum Members {
    /// Band keys.
    OfBands {
        /// The number of bands.
        bands: usize,
        /// The documents of each bucket: row, band and both words of the key.
        members: StreamFile,
    },
    /// Rare elements.
    OfPrefixes(Joined),
}

impl Members {
    /// What all parts of these members have in common.
    pub(super) fn shape(&self, search: &Search, engine: &Engine) -> PartShape {
        PartShape {
            search: search.clone(),
            num_perm: engine.signer().num_perm(),
            weighted: engine.shingler().takes_weights(),
            buckets: match self {
                Members::OfBands { bands, .. } => BucketsOf::Bands(*bands),
                Members::OfPrefixes(joined) => BucketsOf::Prefixes {
                    filter: joined.filter,
                    elements: joined.elements,
                },
            },
        }
    }

    /// At least the number of candidate pairs; `None` for those of LSH.
    pub(super) fn most_pairs(&self) -> Option<u64> {
        match self {
            Members::OfBands { .. } => None,
            Members::OfPrefixes(joined) => Some(joined.most_pairs),
        }
    }
}

/// Parts of the repeated documents.
const PARTS: usize = 16;

/// The name of the search for identical documents, for checkpoints. The state is their number, and that of those that are
/// not of a reference: a later stage ends the list.
const IDENTICAL: &str = "identical";

/// The name of the search for buckets, for checkpoints. The state is the number of bands done.
const BUCKET: &str = "bucket";

impl Connected {
    /// Sorts the digests of a corpus on disk, and its band keys, or the prefixes of its sets if the search, or what it
    /// would cost, asks for a join.
    pub(crate) fn of(
        corpus: &Corpus,
        documents: SpilledDocuments,
        keys: SpilledKeys,
        weighted: bool,
        context: &mut Context<'_>,
    ) -> Result<Self> {
        let progress = context.progress;
        let SpilledDocuments {
            spill,
            digests,
            lengths,
            dropped: _,
        } = documents;
        let SpilledKeys {
            bands,
            signatures,
            sets,
        } = keys;
        let Repeats {
            all: repeats,
            later,
            repeated,
            records: identical,
            inputs: identical_inputs,
            reference_firsts,
        } = context.timings.time("identical", 0, || {
            Repeats::find(digests, corpus, &spill, progress)
        })?;
        let reference = corpus.reference.map(|documents| {
            let mut reference = Reference::new(documents, context.pairing);
            reference_firsts
                .ones()
                .for_each(|first| reference.repeat(first));
            reference
        });
        let compared = Compared {
            later: &later,
            reference: reference.as_ref(),
        };
        let rows = corpus.rows;
        let used = spill.take_use(SpilledDocuments::PARTS);
        context.timings.add_disk_use(used);
        let joined = match &sets {
            Some(sets) => Joined::find(sets, compared, weighted, &spill, rows, context)?,
            None => {
                if context.search.candidates == CandidateMethod::Auto {
                    tell_of_lsh(progress, LARGE_SETS);
                }
                None
            }
        };
        let (edges, members) = match joined {
            Some((edges, joined)) => (edges, Members::OfPrefixes(joined)),
            None => {
                let count = bands.len();
                let edges = Edges::none(rows);
                let members = context.timings.time("bucket", 0, || {
                    find_buckets(&edges, bands, compared, &spill, progress)
                })?;
                let used = spill.take_use(count * SpilledDocuments::PARTS);
                context.timings.add_disk_use(used);
                let bands = count;
                (edges, Members::OfBands { bands, members })
            }
        };
        Ok(Connected {
            spill,
            repeats,
            identical,
            identical_inputs,
            repeated,
            edges,
            members,
            lengths,
            signatures,
            sets: sets.map(|sets| sets.sets),
        })
    }

    /// The number of documents that repeat an earlier one.
    pub(crate) fn identical(&self) -> u64 {
        self.identical
    }

    /// The number of documents that repeat an earlier one, without those of a reference.
    pub(crate) fn identical_inputs(&self) -> u64 {
        self.identical_inputs
    }

    /// The search, with the method that connects documents.
    pub(crate) fn search(&self, search: &Search) -> Search {
        match self.members {
            Members::OfBands { .. } => search.through_bands(),
            Members::OfPrefixes(_) => search.joined(),
        }
    }
}

/// Finds the buckets of all bands, connects their members, and returns them.
fn find_buckets(
    edges: &Edges,
    bands: Vec<Sorted<3>>,
    compared: Compared<'_>,
    spill: &Arc<Spill>,
    progress: &dyn Progress,
) -> Result<StreamFile> {
    let members = Streams::new(spill, "members", 1, 1);
    let done: u32 = spill.state(BUCKET).unwrap_or_default();
    let mut restored = BucketEdges::of(edges);
    members.for_each_block(0, |block| restored.add(block))?;
    let members = Mutex::new(members);
    let parts = SpilledDocuments::PARTS as u64;
    progress.begin("bucket", bands.len() as u64 * parts);
    let left = (0u32..).zip(bands).skip(done as usize);
    for (band, keys) in left {
        let each = |keys: &[[u32; 3]]| {
            let found = members_of(keys, band, compared, progress)?;
            for bucket in found.chunk_by(|a, b| a[2..] == b[2..]) {
                for member in bucket {
                    edges.unite(bucket[0][0], member[0]);
                }
            }
            push_all(&members, |members| {
                let mut found = found.iter();
                found.try_for_each(|member| members.push(0, bytemuck::cast_slice(member)))
            })
        };
        let before = u64::from(band) * parts;
        keys.map(&each, &mut |done| advance(progress, before + done, 0, 0))?;
        push_all(&members, Streams::flush)?;
        if spill.is_due() {
            spill.checkpoint(BUCKET, &(band + 1))?
        } else {
            spill.note(BUCKET, &(band + 1))?
        }
    }
    members.into_inner().map_err(|_| panicked())?.finish_one()
}

/// Connects the members of buckets that a stopped run has found. Those of a bucket follow each other.
pub(super) struct BucketEdges<'a> {
    edges: &'a Edges,
    /// The member before the next one.
    before: Option<[u32; 4]>,
}

impl<'a> BucketEdges<'a> {
    pub(super) fn of(edges: &'a Edges) -> Self {
        BucketEdges {
            edges,
            before: None,
        }
    }

    /// Adds the members of a block.
    pub(super) fn add(&mut self, members: Stored<'_>) -> Result<()> {
        for member in members.records(Stored::words) {
            let member: [u32; 4] = member?;
            let before = self.before.filter(|before| before[1..] == member[1..]);
            let other = before.unwrap_or(member)[0];
            self.edges.unite(other, member[0]);
            self.before = Some(member);
        }
        Ok(())
    }
}

/// The documents that repeat earlier ones.
struct Repeats {
    /// The row of each of them, and of the first of them.
    all: Sorted<2>,
    /// Their number.
    records: u64,
    /// Their rows.
    later: Bits,
    /// The rows that they repeat.
    repeated: Bits,
    /// The number of those that are not of a reference.
    inputs: u64,
    /// The rows of a reference that these repeat.
    reference_firsts: Bits,
}

impl Repeats {
    /// Finds them by their digests, unless a stopped run has found them.
    fn find(
        digests: Sorted<5>,
        corpus: &Corpus,
        spill: &Arc<Spill>,
        progress: &dyn Progress,
    ) -> Result<Self> {
        progress.begin("identical", SpilledDocuments::PARTS as u64);
        let (rows, first_input) = (corpus.rows, corpus.first_input());
        let (later, repeated) = (Bits::zeros(rows), Bits::zeros(rows));
        let (inputs, reference_firsts) = (AtomicU64::new(0), Bits::zeros(first_input));
        let note = |row: u32, first: u32| {
            later.set(row);
            repeated.set(first);
            if row >= first_input {
                inputs.fetch_add(1, Ordering::Relaxed);
                if first < first_input {
                    reference_firsts.set(first);
                }
            }
        };
        let repeats = Partitions::new(spill, "repeats", PARTS, rows.into(), PARTS);
        if let Some([records, inputs]) = spill.state::<[u64; 2]>(IDENTICAL) {
            repeats.for_each(|[row, first]| note(row, first))?;
            return Ok(Repeats {
                all: repeats.finish()?,
                records,
                later,
                repeated,
                inputs,
                reference_firsts,
            });
        }
        let repeats = Mutex::new(repeats);
        let each = |digests: &[[u32; 5]]| {
            stop_if_asked(progress)?;
            let same = digests.chunk_by(|a, b| a[..4] == b[..4]);
            for same in same.filter(|same| same.len() > 1) {
                let first = same[0][4];
                push_all(&repeats, |repeats| {
                    same[1..].iter().try_for_each(|repeat| {
                        note(repeat[4], first);
                        repeats.push(&[repeat[4], first])
                    })
                })?;
            }
            Ok(())
        };
        digests.map(&each, &mut |done| advance(progress, done, 0, 0))?;
        let repeats = repeats.into_inner().map_err(|_| panicked())?;
        let all = repeats.finish()?;
        let (records, inputs) = (all.records(), inputs.into_inner());
        spill.note(IDENTICAL, &[records, inputs])?;
        Ok(Repeats {
            records,
            all,
            later,
            repeated,
            inputs,
            reference_firsts,
        })
    }
}

/// The members of the buckets of sorted keys of a band that hold a pair to compare, without those that repeat an earlier
/// document: row, band and both words of the key.
fn members_of(
    keys: &[[u32; 3]],
    band: u32,
    compared: Compared<'_>,
    progress: &dyn Progress,
) -> Result<Vec<[u32; 4]>> {
    stop_if_asked(progress)?;
    let mut members: Vec<[u32; 4]> = Vec::new();
    for same in keys.chunk_by(|a, b| a[..2] == b[..2]) {
        let start = members.len();
        if same.len() > 1 {
            let distinct = same.iter().filter(|key| !compared.later.get(key[2]));
            members.extend(distinct.map(|[high, low, row]| [*row, band, *high, *low]));
        }
        let rows = members[start..].iter().map(|member| member[0]);
        let is_compared = |reference: &Reference| reference.compares_some(rows.clone());
        if rows.len() == 1 || !compared.reference.is_none_or(is_compared) {
            members.truncate(start);
        }
    }
    Ok(members)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::progress::Silent;

    #[test]
    fn a_bucket_has_two_documents_that_repeat_no_other() {
        // Three documents of key 5, of which one repeats an earlier one; two of key 6, of which one does; one of key 7.
        let keys = [
            [0, 5, 1],
            [0, 5, 2],
            [0, 5, 4],
            [0, 6, 1],
            [0, 6, 2],
            [1, 7, 3],
        ];
        let later = Bits::zeros(5);
        later.set(2);
        let found = |reference: Option<&Reference>| {
            let later = &later;
            members_of(&keys, 9, Compared { later, reference }, &Silent).unwrap()
        };
        assert_eq!(found(None), [[1, 9, 0, 5], [4, 9, 0, 5]]);
        // A bucket of the reference alone holds no pair to compare.
        let reference = |documents| Reference::new(documents, Default::default());
        assert_eq!(found(Some(&reference(4))), [[1, 9, 0, 5], [4, 9, 0, 5]]);
        assert!(found(Some(&reference(5))).is_empty());
    }

    #[test]
    fn members_that_follow_each_other_are_connected() {
        let edges = Edges::none(10);
        let members: [[u32; 4]; 5] = [
            [1, 0, 0, 5],
            [4, 0, 0, 5],
            [2, 0, 0, 6],
            [4, 1, 0, 6],
            [7, 1, 0, 6],
        ];
        let mut restored = BucketEdges::of(&edges);
        // A block may end within a bucket.
        for block in members.chunks(4) {
            let block = Stored::new(bytemuck::cast_slice(block), Path::new("members-0"));
            restored.add(block).unwrap();
        }
        for (a, b, expected) in [
            (1, 4, true),
            (4, 7, true),
            (1, 7, true),
            (2, 4, false),
            (3, 4, false),
        ] {
            assert_eq!(edges.connects(a, b), expected, "{a} {b}");
        }
        let in_buckets: Vec<u32> = edges.in_buckets.ones().collect();
        assert_eq!(in_buckets, [1, 2, 4, 7]);
    }
}
