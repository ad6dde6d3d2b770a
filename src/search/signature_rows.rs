//! Takes signatures in place of documents: equal ones count as identical.

use std::collections::hash_map::Entry;

use super::context::Context;
use super::corpus::Corpus;
use super::first_pass::{SignedBatch, Sink};
use super::parameters::{CandidateMethod, Search};
use super::stages::Searched;
use super::verification::Verification;
use crate::documents::{DigestMap, digest};
use crate::error::{Conflict, Error, Result, row_number};
use crate::pipeline::{Measure, Signatures};
use crate::progress::{Progress, advance};
use crate::scheme::{Scheme, Slots};
use crate::threads::{collect_blocks, even_block};

/// Signatures in memory, in place of documents. Documents with equal signatures count as identical, even if their units
/// differ.
///
/// ```
/// use simgpu::engine::Engine;
/// use simgpu::search::{Dedup, Search, SignaturesInMemory, Verification};
/// use simgpu::progress::Silent;
///
/// let engine = Engine::builder().build()?;
/// let texts = ["a rose is a rose is a rose", "by any other name", "a rose is a rose is a rose"];
/// let signed = engine.sign(&texts)?;
/// let signatures = SignaturesInMemory { slots: signed.slots(), scheme: engine.scheme() };
/// let mut task = Dedup::new(Search::new(0.8, engine.scheme())?);
/// task.search.verification = Verification::Signature;
/// let found = signatures.dedup(&task, None, &Silent)?;
/// assert_eq!(found.kept().collect::<Vec<_>>(), [0, 1]);
/// # Ok::<(), simgpu::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SignaturesInMemory<'a> {
    /// The slots, row by row.
    pub slots: Slots<'a>,
    /// The scheme of the signatures.
    pub scheme: &'a Scheme,
}

/// Rows of signatures in memory between two reports of progress.
const ROWS: usize = 8192;

impl SignaturesInMemory<'_> {
    /// Finds the candidate pairs.
    pub(super) fn searched(
        &self,
        reference: Option<&SignaturesInMemory<'_>>,
        context: &mut Context<'_>,
    ) -> Result<Searched> {
        let (search, progress) = (context.search, context.progress);
        check_search(search)?;
        let num_perm = self.scheme.num_perm();
        if let Some(reference) = reference {
            self.check_comparable(reference)?;
        }
        let reference_rows = reference.map_or(0, SignaturesInMemory::rows);
        let rows = reference_rows + self.rows();
        if u32::try_from(rows).is_ok_and(|rows| rows < u32::MAX) {
            progress.begin("read", rows as u64);
        } else {
            return Err(Error::TooManyDocuments);
        }
        let mut banded = search.banded(num_perm);
        let bytes = (rows * num_perm * self.slots.width().bytes()) as u64;
        let corpus = context.timings.time("read", bytes, || {
            let mut numbered = SignedRows::new(self.scheme, bytes);
            let sink = &mut banded;
            if let Some(reference) = reference {
                reference.number(&mut numbered, sink, progress)?;
                numbered.end_reference();
            }
            self.number(&mut numbered, sink, progress)?;
            Ok::<_, Error>(numbered.corpus)
        })?;
        Searched::from_banded(corpus, banded, num_perm, context)
    }
}

impl SignaturesInMemory<'_> {
    /// The number of signatures.
    pub(super) fn rows(&self) -> usize {
        self.slots.len() / self.scheme.num_perm()
    }

    /// Refuses signatures of another scheme.
    fn check_comparable(&self, other: &SignaturesInMemory<'_>) -> Result<()> {
        let [own, other] = [self.scheme, other.scheme];
        if own == other {
            return Ok(());
        }
        Err(Error::Parameter {
            name: "the scheme of the reference",
            value: other.to_string(),
            expected: format!(
                "{own}, as for the other signatures, with the same permutations and seed"
            ),
        })
    }

    /// Numbers all of them, and passes the distinct ones to `sink`.
    fn number(
        &self,
        numbered: &mut SignedRows<'_>,
        sink: &mut dyn Sink,
        progress: &dyn Progress,
    ) -> Result<()> {
        let num_perm = self.scheme.num_perm();
        for first in (0..self.rows()).step_by(ROWS) {
            let end = self.rows().min(first + ROWS);
            let slots = self.slots.range(first * num_perm..end * num_perm);
            numbered.take(slots, sink)?;
            let done = numbered.corpus.documents();
            advance(progress, done, done, 0)?;
        }
        Ok(())
    }
}

/// Refuses a search that needs more than signatures.
#[doc(hidden)]
pub fn check_search(search: &Search) -> Result<()> {
    if search.measure == Measure::Contained {
        return Err(Conflict::ContainedNotExact.into());
    }
    if search.verification == Verification::Exact {
        return Err(Conflict::ExactWithoutDocuments.into());
    }
    if search.candidates == CandidateMethod::Join || search.within.is_some() {
        return Err(Conflict::JoinWithoutDocuments.into());
    }
    Ok(())
}

/// Numbers signatures as a first pass numbers documents.
#[doc(hidden)]
#[derive(Debug)]
pub struct SignedRows<'a> {
    #[doc(hidden)]
    pub corpus: Corpus,
    scheme: &'a Scheme,
    positions: DigestMap<u32>,
}

impl<'a> SignedRows<'a> {
    /// No signatures yet, of a source of so many bytes.
    #[doc(hidden)]
    pub fn new(scheme: &'a Scheme, bytes: u64) -> Self {
        SignedRows {
            corpus: Corpus {
                bytes,
                ..Corpus::default()
            },
            scheme,
            positions: DigestMap::default(),
        }
    }

    /// Says that the signatures so far are those of a reference.
    fn end_reference(&mut self) {
        self.corpus.reference = Some(self.corpus.rows);
        self.corpus.without_shingles = 0;
    }

    /// Takes the next signatures, and passes the distinct ones, except empty ones, to `sink`.
    #[doc(hidden)]
    pub fn take(&mut self, slots: Slots<'_>, sink: &mut dyn Sink) -> Result<()> {
        let (num_perm, empty) = (self.scheme.num_perm(), self.scheme.empty_slot());
        let row = |i: usize| slots.range(i * num_perm..(i + 1) * num_perm);
        let rows = slots.len() / num_perm;
        let digests = collect_blocks(rows, even_block(rows).max(64), |range| {
            let digests = range.map(|i| digest_of(row(i), empty));
            digests.collect::<Vec<Option<u128>>>()
        });
        let corpus = &mut self.corpus;
        let first = corpus.distinct.len();
        let mut distinct = Signatures::new(num_perm, slots.width());
        for (i, digest) in digests.into_iter().enumerate() {
            let number = corpus.rows;
            corpus.rows += 1;
            let Some(digest) = digest else {
                corpus.without_shingles += 1;
                continue;
            };
            let position = row_number(corpus.distinct.len())?;
            match self.positions.entry(digest) {
                Entry::Vacant(entry) => {
                    entry.insert(position);
                    corpus.distinct.push(number);
                    distinct.push_row(row(i))?;
                }
                Entry::Occupied(entry) => corpus.repeats.push((number, *entry.get())),
            }
        }
        sink.take(SignedBatch::Signatures(distinct), &corpus.distinct[first..])
    }
}

/// The digest of a signature; `None` for the signature of the empty set.
fn digest_of(signature: Slots<'_>, empty: u64) -> Option<u128> {
    let (is_empty, bytes): (bool, &[u8]) = match signature {
        Slots::U32(slots) => (
            slots.iter().all(|slot| u64::from(*slot) == empty),
            bytemuck::cast_slice(slots),
        ),
        Slots::U64(slots) => (
            slots.iter().all(|slot| *slot == empty),
            bytemuck::cast_slice(slots),
        ),
    };
    (!is_empty).then(|| digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::Banding;

    #[test]
    fn equal_rows_are_copies_and_empty_ones_are_none() {
        let scheme = Scheme::default().with_num_perm(4).unwrap();
        let empty = u32::try_from(scheme.empty_slot()).unwrap();
        let rows: [[u32; 4]; 7] = [
            [1, 2, 3, 4],
            [empty; 4],
            [1, 2, 3, empty],
            [1, 2, 3, 4],
            [5, 6, 7, 8],
            [empty; 4],
            [1, 2, 3, empty],
        ];
        let search = Search {
            verification: Verification::Signature,
            ..Search::through_lsh(0.5, Banding::new(2, 2, 4).unwrap(), Verification::None)
        };
        let mut banded = search.banded(4);
        let mut numbered = SignedRows::new(&scheme, 112);
        // The same in two batches.
        let slots = rows.as_flattened();
        numbered
            .take(Slots::U32(&slots[..12]), &mut banded)
            .unwrap();
        numbered
            .take(Slots::U32(&slots[12..]), &mut banded)
            .unwrap();
        let corpus = numbered.corpus;
        assert_eq!((corpus.rows, corpus.bytes), (7, 112));
        assert_eq!(corpus.distinct, [0, 2, 4]);
        assert_eq!(corpus.repeats, [(3, 0), (6, 1)]);
        assert_eq!(corpus.without_shingles, 2);
        assert_eq!(corpus.few_shingles, None);
        // The sink holds the distinct ones alone, in order.
        assert_eq!(banded.keys.len(), 3);
        assert_eq!(banded.signatures.map(|packed| packed.len()), Some(3));
    }

    #[test]
    fn searches_that_need_documents_are_refused() {
        let banding = Banding::new(2, 2, 4).unwrap();
        let search = |verification| Search::through_lsh(0.5, banding, verification);
        assert!(check_search(&search(Verification::None)).is_ok());
        assert!(check_search(&search(Verification::Signature)).is_ok());
        let refused = check_search(&search(Verification::Exact)).unwrap_err();
        let of = |conflict| Error::from(conflict).to_string();
        assert_eq!(refused.to_string(), of(Conflict::ExactWithoutDocuments));
        let joined = check_search(&search(Verification::Signature).joined()).unwrap_err();
        assert_eq!(joined.to_string(), of(Conflict::JoinWithoutDocuments));
    }
}
