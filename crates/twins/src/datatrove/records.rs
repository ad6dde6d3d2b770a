//! The records of datatrove's `.minhash.sig` files: the hashes of one bucket and the number of the document,
//! little-endian.

use std::cmp::Ordering;
use std::fmt;
use std::num::NonZeroUsize;

use simgpu::backend::Backend;
use simgpu::error::Error;
use simgpu::pipeline::Signer;
use simgpu::scheme::{BaseHash, Hashes, Scheme, ShingleHash, SlotsMut, Values};

/// Bytes of a document's number.
const NUMBER: usize = size_of::<u32>();

/// A hash function as datatrove's `HashConfig` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedHash<'a> {
    /// `xxhash` or `sha1`.
    pub name: &'a str,
    /// 32 or 64 bits.
    pub precision: u32,
}

/// What decides the bytes of records.
#[derive(Clone, Copy, Debug)]
pub struct RecordLayout {
    scheme: &'static str,
    hash: BaseHash,
    seed: u32,
    buckets: u32,
    hashes_per_bucket: u32,
}

impl RecordLayout {
    /// The layout for a hash function, a seed, buckets and hashes per bucket. `None` for an unknown function.
    pub fn new(
        hash: NamedHash<'_>,
        seed: u32,
        buckets: u32,
        hashes_per_bucket: u32,
    ) -> Option<Self> {
        let (scheme, hash) = match (hash.name, hash.precision) {
            ("xxhash", 64) => ("datatrove", BaseHash::Xxh64),
            ("xxhash", 32) => ("datatrove32", BaseHash::Xxh32),
            ("sha1", 64) => ("datatrove", BaseHash::Sha1_64),
            ("sha1", 32) => ("datatrove32", BaseHash::Sha1_32),
            _ => return None,
        };
        Some(RecordLayout {
            scheme,
            hash,
            seed,
            buckets,
            hashes_per_bucket,
        })
    }
}

/// Computes the records of documents.
pub(super) struct RecordSigner {
    hash: BaseHash,
    signer: Box<dyn Signer>,
    work: Work,
    buckets: Vec<Vec<u8>>,
    documents: usize,
}

/// The hashes of a document's shingles, and its slots.
type Work = Values<(Vec<u32>, Vec<u32>), (Vec<u64>, Vec<u64>)>;

impl fmt::Debug for RecordSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("RecordSigner");
        debug.field("signer", &self.signer.describe());
        debug.field("documents", &self.documents);
        debug.finish_non_exhaustive()
    }
}

impl RecordSigner {
    /// # Errors
    /// If the number of permutations is 0 or too great.
    pub(super) fn new(layout: RecordLayout) -> simgpu::Result<Self> {
        let num_perm = layout.buckets.saturating_mul(layout.hashes_per_bucket);
        let scheme = Scheme::named(layout.scheme)?;
        let scheme = scheme.with_num_perm(num_perm)?.with_seed(layout.seed);
        let slots = scheme.num_perm();
        Ok(RecordSigner {
            hash: layout.hash,
            signer: Backend::Simd.signer(&scheme)?,
            work: match layout.scheme {
                "datatrove32" => Values::U32((Vec::new(), vec![0; slots])),
                _ => Values::U64((Vec::new(), vec![0; slots])),
            },
            buckets: vec![Vec::new(); layout.buckets as usize],
            documents: 0,
        })
    }

    /// Adds the record of a document to each bucket, unless it has no shingle.
    ///
    /// # Errors
    /// If the document's number does not fit a record.
    pub(super) fn push<'a>(
        &mut self,
        shingles: impl Iterator<Item = &'a str>,
        document: u64,
    ) -> simgpu::Result<()> {
        let number = u32::try_from(document).map_err(|_| Error::TooManyDocuments)?;
        let is_signed = match &mut self.work {
            Values::U32((hashes, slots)) => {
                hash_all(self.hash, shingles, hashes);
                !hashes.is_empty() && {
                    let into = SlotsMut::U32(slots);
                    self.signer.sign_set(Hashes::U32(hashes), into)?;
                    append(&mut self.buckets, slots, |slot| slot.to_le_bytes(), number);
                    true
                }
            }
            Values::U64((hashes, slots)) => {
                hash_all(self.hash, shingles, hashes);
                !hashes.is_empty() && {
                    let into = SlotsMut::U64(slots);
                    self.signer.sign_set(Hashes::U64(hashes), into)?;
                    append(&mut self.buckets, slots, |slot| slot.to_le_bytes(), number);
                    true
                }
            }
        };
        self.documents += usize::from(is_signed);
        Ok(())
    }

    /// Hands over the number of documents with records, and the records of each bucket.
    pub(super) fn take(&mut self) -> (usize, impl Iterator<Item = Vec<u8>>) {
        let documents = std::mem::take(&mut self.documents);
        (documents, self.buckets.iter_mut().map(std::mem::take))
    }
}

/// Replaces `hashes` by those of `shingles`.
fn hash_all<'a, H: ShingleHash>(
    hash: BaseHash,
    shingles: impl Iterator<Item = &'a str>,
    hashes: &mut Vec<H>,
) {
    hashes.clear();
    hashes.extend(shingles.map(|shingle| H::of_bytes(hash, shingle.as_bytes())));
}

/// Appends the record of document `number` to each bucket.
fn append<S, const N: usize>(
    buckets: &mut [Vec<u8>],
    slots: &[S],
    bytes: impl Fn(&S) -> [u8; N],
    number: u32,
) {
    let hashes_per_bucket = slots.len() / buckets.len();
    for (records, slots) in buckets.iter_mut().zip(slots.chunks(hashes_per_bucket)) {
        records.extend(slots.iter().flat_map(&bytes));
        records.extend(number.to_le_bytes());
    }
}

/// Sorts records, by their hashes and then by document. Bytes after the last whole record are left out.
pub fn sorted_records(records: &[u8], hashes_per_bucket: NonZeroUsize, precision: u32) -> Vec<u8> {
    let width = if precision == 32 { 4 } else { 8 };
    let len = hashes_per_bucket.get().saturating_mul(width);
    let len = len.saturating_add(NUMBER);
    // Most records differ in their first hash, which is kept next to the record: few comparisons read the rest.
    let whole = records.chunks_exact(len);
    let mut keyed: Vec<(u64, &[u8])> = whole
        .map(|record| (number(&record[..width]), record))
        .collect();
    keyed.sort_unstable_by(|(key, record), (other_key, other)| {
        key.cmp(other_key)
            .then_with(|| compare(&record[width..], &other[width..], width))
    });
    let mut sorted = Vec::with_capacity(records.len());
    for (_, record) in keyed {
        sorted.extend_from_slice(record);
    }
    sorted
}

/// Compares two records without their first hash.
fn compare(record: &[u8], other: &[u8], width: usize) -> Ordering {
    numbers(record, width).cmp(numbers(other, width))
}

/// Hashes, and the number of the document.
fn numbers(record: &[u8], width: usize) -> impl Iterator<Item = u64> {
    let (hashes, document) = record.split_at(record.len() - NUMBER);
    hashes.chunks(width).chain([document]).map(number)
}

/// A little-endian number of up to eight bytes.
fn number(bytes: &[u8]) -> u64 {
    let from_last = bytes.iter().rev();
    from_last.fold(0, |number, byte| number << 8 | u64::from(*byte))
}
