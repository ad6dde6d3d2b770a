//! Linked documents in memory.

use std::collections::HashMap;

use crate::documents::Documents;
use crate::engine::Engine;
use crate::error::{Conflict, Result};
use crate::pipeline::{Buckets, Member, PackedSignatures, Scratch, Similarity, Unverified};
use crate::search::{Observations, ObservedSignatures, Search, Verification};
use crate::store::ExactSets;

/// Distinct linked documents: entry i of each list belongs to document i.
///
/// The documents of a component come in a row and, in it, in the order of preference: the one to keep first.
#[derive(Clone, Copy, Debug)]
pub struct LinkedBatch<'a> {
    /// What the documents of a component have in common, and no others.
    pub components: &'a [i64],
    /// The place of the first document with the same units.
    pub places: &'a [i64],
    /// The place of the document to keep of those with the same units.
    pub keepers: &'a [i64],
    /// The buckets that the document shares with others: 12 bytes each, the number of the band and the key,
    /// little-endian.
    pub buckets: &'a [&'a [u8]],
}

/// What compares linked documents, in the same order.
pub enum Compared<'a> {
    /// Nothing: pairs are not verified.
    Nothing,
    /// The words of packed signatures ([`SignedDocuments::signatures`](super::SignedDocuments::signatures)),
    /// little-endian.
    Signatures(&'a [&'a [u8]]),
    /// The documents, from which exact sets are made.
    Documents(&'a dyn Documents),
}

impl std::fmt::Debug for Compared<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Compared::Nothing => "Nothing",
            Compared::Signatures(_) => "Signatures",
            Compared::Documents(_) => "Documents",
        })
    }
}

/// Bytes of a membership in a bucket.
const MEMBER: usize = 12;

/// Bytes of memory per membership, while buckets are made.
const IN_MEMORY_PER_MEMBER: usize = 40;

/// A bucket: the number of its band, and its key.
pub(super) type Bucket = (u32, u64);

/// Linked documents, in order.
#[derive(Debug, Default)]
pub(super) struct Held {
    pub(super) places: Vec<i64>,
    pub(super) keepers: Vec<i64>,
    buckets: Vec<Bucket>,
    /// The end of each document in `buckets`.
    bucket_ends: Vec<usize>,
    /// Signatures or exact sets.
    compared: Vec<u64>,
    /// The end of each document in `compared`.
    compared_ends: Vec<usize>,
}

/// Makes exact sets of documents.
#[derive(Debug, Default)]
pub(super) struct Memory {
    scratch: Scratch,
    set: Vec<u64>,
}

impl Held {
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// All rows, by place.
    pub(super) fn rows_by_place(&self) -> Vec<usize> {
        let mut rows: Vec<usize> = (0..self.len()).collect();
        rows.sort_unstable_by_key(|row| self.places[*row]);
        rows
    }

    /// Bytes of memory, about.
    pub(super) fn bytes(&self) -> usize {
        IN_MEMORY_PER_MEMBER * (self.buckets.len() + self.places.len())
            + size_of_val(self.compared.as_slice())
    }

    /// Adds document `row` of a batch.
    pub(super) fn push(
        &mut self,
        batch: &LinkedBatch<'_>,
        row: usize,
        compared: &Compared<'_>,
        (engine, memory): (&Engine, &mut Memory),
    ) -> Result<()> {
        let words = engine_words(engine);
        let buckets = batch.buckets[row].chunks_exact(MEMBER);
        let is_whole = buckets.remainder().is_empty();
        match compared {
            Compared::Nothing => {}
            Compared::Signatures(all) if is_whole && all[row].len() == size_of::<u64>() * words => {
                let words = all[row].chunks_exact(size_of::<u64>());
                self.compared.extend(words.map(number_of));
            }
            Compared::Documents(documents) if is_whole => {
                let document = documents.get(row);
                let Memory { scratch, set } = memory;
                engine.shingler().exact_list(document, scratch, set);
                self.compared.extend_from_slice(set);
            }
            _ => return Err(Conflict::ForeignRecord.into()),
        }
        let bucket = |bytes: &[u8]| {
            let (band, key) = bytes.split_first_chunk()?;
            Some((u32::from_le_bytes(*band), number_of(key)))
        };
        self.buckets.extend(buckets.filter_map(bucket));
        self.bucket_ends.push(self.buckets.len());
        self.compared_ends.push(self.compared.len());
        self.places.push(batch.places[row]);
        self.keepers.push(batch.keepers[row]);
        Ok(())
    }

    /// The first `count` documents, taken out.
    pub(super) fn take_first(&mut self, count: usize) -> Held {
        let mut rest = Held::default();
        for row in count..self.len() {
            rest.push_row(self, row, self.buckets_of(row));
        }
        let mut first = std::mem::replace(self, rest);
        first.places.truncate(count);
        first.keepers.truncate(count);
        first.bucket_ends.truncate(count);
        first
            .buckets
            .truncate(first.bucket_ends.last().copied().unwrap_or(0));
        first.compared_ends.truncate(count);
        first
            .compared
            .truncate(first.compared_ends.last().copied().unwrap_or(0));
        first
    }

    /// Adds a document of others, with these buckets alone.
    pub(super) fn push_row(&mut self, other: &Held, row: usize, buckets: &[Bucket]) {
        self.places.push(other.places[row]);
        self.keepers.push(other.keepers[row]);
        self.buckets.extend_from_slice(buckets);
        self.bucket_ends.push(self.buckets.len());
        self.compared.extend_from_slice(other.compared_of(row));
        self.compared_ends.push(self.compared.len());
    }

    pub(super) fn buckets_of(&self, row: usize) -> &[Bucket] {
        &self.buckets[start(&self.bucket_ends, row)..self.bucket_ends[row]]
    }

    fn compared_of(&self, row: usize) -> &[u64] {
        &self.compared[start(&self.compared_ends, row)..self.compared_ends[row]]
    }

    /// The buckets of the documents at `rows`, which are numbered in this order. Also returns how many documents of each
    /// bucket `others` adds, by number of the bucket.
    pub(super) fn buckets(
        &self,
        rows: &[usize],
        bands: usize,
        others: &HashMap<Bucket, u32>,
    ) -> Result<(Buckets, Vec<u32>)> {
        let mut members = Vec::with_capacity(self.buckets.len());
        for (position, row) in (0..).zip(rows) {
            let of_row = self.buckets_of(*row).iter();
            members.extend(of_row.map(|&(band, key)| Member {
                band,
                key,
                position,
            }));
        }
        let mut unlisted = Vec::new();
        if !others.is_empty() {
            let mut all: Vec<Bucket> = members
                .iter()
                .map(|member| (member.band, member.key))
                .collect();
            all.sort_unstable();
            all.dedup();
            let of_bucket = |bucket| others.get(bucket).copied().unwrap_or(0);
            unlisted = all.iter().map(of_bucket).collect();
        }
        Ok((Buckets::of_members(rows.len(), bands, members)?, unlisted))
    }

    /// What compares the documents at `rows`, which are numbered in this order.
    pub(super) fn similarity(
        &self,
        rows: &[usize],
        (engine, search): (&Engine, &Search),
        observed: &Observations,
    ) -> Result<Box<dyn Similarity + Send>> {
        match search.verification {
            Verification::None => Ok(Box::new(Unverified)),
            Verification::Signature => {
                let words = rows.iter().flat_map(|row| self.compared_of(*row)).copied();
                let num_perm = engine.signer().num_perm();
                let packed =
                    PackedSignatures::from_words(num_perm, Search::SLOT_BITS, words.collect())?;
                Ok(Box::new(ObservedSignatures::counted_in(packed, observed)))
            }
            Verification::Exact => {
                let mut sets = ExactSets::default().weighted(engine.shingler().takes_weights());
                for (position, row) in (0..).zip(rows) {
                    sets.insert(position, self.compared_of(*row))?;
                }
                Ok(Box::new(sets))
            }
        }
    }
}

/// The words of a packed signature.
fn engine_words(engine: &Engine) -> usize {
    Search::SLOT_BITS.words(engine.signer().num_perm())
}

fn start(ends: &[usize], row: usize) -> usize {
    row.checked_sub(1).map_or(0, |before| ends[before])
}

/// The number that at most eight bytes hold, little-endian.
fn number_of(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |number, byte| number << 8 | u64::from(*byte))
}
