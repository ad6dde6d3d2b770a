//! Connected documents in memory.

use simgpu::documents::Documents;
use simgpu::engine::Engine;
use simgpu::error::{Conflict, Result, row_number};
use simgpu::pipeline::{ClusterTask, Member, Pairing, Reference, Removal, Scratch};
use simgpu::search::{KeptDocuments, PartRecords, PartShape, Search};

/// Distinct connected documents: entry i of each list belongs to document i.
///
/// The documents of a component come in a row and, in it, in the order of preference: the one to keep first.
#[derive(Clone, Copy, Debug)]
pub struct ConnectedBatch<'a> {
    /// What the documents of a component have in common, and no others.
    pub components: &'a [i64],
    /// The place of the first document with the same units.
    pub places: &'a [i64],
    /// The place of the document to keep of those with the same units.
    pub keepers: &'a [i64],
    /// The buckets that the document shares with others: 12 bytes each, the number of the band and the key,
    /// little-endian.
    pub buckets: &'a [&'a [u8]],
    /// In a search with a reference, whether the document is of the input, or one of the input has the same units.
    /// `None` in a search without one.
    pub inputs: Option<&'a [bool]>,
}

/// What compares connected documents, in the same order.
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

/// Connected documents, in order.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) places: Vec<i64>,
    pub(super) keepers: Vec<i64>,
    /// Whether each is of the input, or stands for one that is; empty without a reference.
    inputs: Vec<bool>,
    /// Their buckets, and their signatures or exact sets.
    pub(super) records: PartRecords,
}

/// Makes exact sets of documents.
#[derive(Debug, Default)]
pub(super) struct Memory {
    scratch: Scratch,
    set: Vec<u64>,
}

impl Held {
    /// No documents yet.
    pub(super) fn none(shape: &PartShape) -> Self {
        Held {
            places: Vec::new(),
            keepers: Vec::new(),
            inputs: Vec::new(),
            records: PartRecords::none(shape),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// Bytes of memory, about.
    pub(super) fn bytes(&self) -> usize {
        IN_MEMORY_PER_MEMBER * (self.records.members() + self.places.len())
            + self.records.compared_bytes()
    }

    /// Adds document `row` of a batch.
    pub(super) fn push(
        &mut self,
        batch: &ConnectedBatch<'_>,
        row: usize,
        compared: &Compared<'_>,
        engine: &Engine,
        memory: &mut Memory,
    ) -> Result<()> {
        let position = row_number(self.len())?;
        let Memory { scratch, set } = memory;
        let buckets = batch.buckets[row].chunks_exact(MEMBER);
        let is_whole = buckets.remainder().is_empty();
        match compared {
            Compared::Nothing => set.clear(),
            Compared::Signatures(all)
                if is_whole && all[row].len() == size_of::<u64>() * engine_words(engine) =>
            {
                set.clear();
                set.extend(all[row].chunks_exact(size_of::<u64>()).map(number_of));
            }
            Compared::Documents(documents) if is_whole => {
                engine
                    .shingler()
                    .exact_list(documents.get(row), scratch, set);
            }
            _ => return Err(Conflict::ForeignRecord.into()),
        }
        self.records.add_compared(position, set)?;
        for bucket in buckets {
            if let Some((band, key)) = bucket.split_first_chunk() {
                self.records.add_member(Member {
                    band: u32::from_le_bytes(*band),
                    key: number_of(key),
                    position,
                });
            }
        }
        self.places.push(batch.places[row]);
        self.keepers.push(batch.keepers[row]);
        self.inputs.extend(batch.inputs.map(|inputs| inputs[row]));
        Ok(())
    }

    /// The first `count` documents, taken out.
    pub(super) fn take_first(&mut self, count: usize) -> Result<Held> {
        let first: Vec<u32> = (0..).take(count).collect();
        let rest: Vec<u32> = (0..).take(self.len()).skip(count).collect();
        let first = self.select(&first)?;
        *self = self.select(&rest)?;
        Ok(first)
    }

    /// The documents by ascending place, and the number here of each of them.
    pub(super) fn sort_by_place(&self) -> Result<(Held, Vec<u32>)> {
        let mut numbers: Vec<u32> = (0..).take(self.len()).collect();
        numbers.sort_unstable_by_key(|number| self.places[*number as usize]);
        Ok((self.select(&numbers)?, numbers))
    }

    /// The documents of all components, those of the reference first.
    pub(super) fn reference_first(self) -> Result<Held> {
        if self.inputs.is_empty() || self.places.is_sorted_by_key(|place| *place >= 0) {
            return Ok(self);
        }
        let mut numbers: Vec<u32> = (0..).take(self.len()).collect();
        numbers.sort_by_key(|number| self.places[*number as usize] >= 0);
        self.select(&numbers)
    }

    /// The reference among these documents, of which it has the first; `None` in a search without one.
    pub(super) fn reference(&self, pairing: Pairing) -> Result<Option<Reference>> {
        if self.inputs.is_empty() {
            return Ok(None);
        }
        let documents = self.places.partition_point(|place| *place < 0);
        let mut reference = Reference::new(row_number(documents)?, pairing);
        let stand_for_inputs = (0..).zip(&self.inputs).filter(|(_, is_input)| **is_input);
        stand_for_inputs.for_each(|(position, _)| reference.repeat(position));
        Ok(Some(reference))
    }

    /// The documents with these numbers, in this order.
    fn select(&self, numbers: &[u32]) -> Result<Held> {
        let mut positions = vec![None; self.len()];
        for (position, number) in (0..).zip(numbers) {
            positions[*number as usize] = Some(position);
        }
        let position_of = |number: u32| positions[number as usize];
        Ok(Held {
            places: entries(&self.places, numbers),
            keepers: entries(&self.keepers, numbers),
            inputs: entries(&self.inputs, numbers),
            records: self.records.select(numbers.len(), position_of)?,
        })
    }

    /// Leaves the documents that later ones of the component are compared with.
    pub(super) fn keep(
        &mut self,
        kept: &mut KeptDocuments,
        removals: &[Removal],
        task: &ClusterTask<'_>,
    ) -> Result<()> {
        let left = kept.keep(self.len(), &mut self.records, removals, task)?;
        (self.places, self.keepers) = (entries(&self.places, &left), entries(&self.keepers, &left));
        self.inputs = entries(&self.inputs, &left);
        Ok(())
    }
}

/// The entries with these numbers, in this order; none of an empty list.
fn entries<T: Copy>(all: &[T], numbers: &[u32]) -> Vec<T> {
    let of = numbers
        .iter()
        .filter_map(|number| all.get(*number as usize));
    of.copied().collect()
}

/// The words of a packed signature.
fn engine_words(engine: &Engine) -> usize {
    Search::SLOT_BITS.words(engine.signer().num_perm())
}

/// The number that at most eight bytes hold, little-endian.
fn number_of(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |number, byte| number << 8 | u64::from(*byte))
}
