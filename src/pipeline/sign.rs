//! shingle sets -> signatures (MMDS 3.3): what every backend implements.

use super::document::TextBatch;
use super::shingle::{ShingleSets, Shingler};
use crate::error::{Error, Result};
use crate::scheme::Width;

/// Computes MinHash signatures: slot k of a set is the least value of its shingles under
/// permutation k, and [`Family::empty_slot`](crate::scheme::Family::empty_slot) for the empty set.
///
/// Every implementation computes the same bits, whatever the batch and the number of threads.
pub trait Signer: Send + Sync {
    /// Which backend this is, on what, for the summary of a run.
    fn describe(&self) -> String;

    /// Number of slots of a signature.
    fn num_perm(&self) -> usize;

    /// Width of a slot.
    fn slot_width(&self) -> Width;

    /// Signs each set into the row of `signatures` with the same number.
    ///
    /// # Errors
    /// [`Error::Conflict`] when the hashes are not of the scheme's width, or `signatures` has not
    /// one row a set and one slot a permutation.
    fn sign_sets(&self, sets: &ShingleSets<'_>, signatures: SignaturesMut<'_>) -> Result<()>;

    /// Shingles and signs texts.
    ///
    /// # Errors
    /// As [`Signer::sign_sets`].
    fn sign_texts(
        &self,
        texts: &TextBatch,
        shingler: &Shingler,
        signatures: SignaturesMut<'_>,
    ) -> Result<()> {
        self.sign_sets(&shingler.shingle(texts).sets(), signatures)
    }
}

/// Slots of either width, flat.
#[derive(Clone, Debug, PartialEq, Eq)]
enum SlotVec {
    U32(Vec<u32>),
    U64(Vec<u64>),
}

/// Slots of either width, borrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slots<'a> {
    /// 32 bits each.
    U32(&'a [u32]),
    /// 64 bits each.
    U64(&'a [u64]),
}

/// Slots of either width, to be written.
#[derive(Debug)]
pub enum SlotsMut<'a> {
    /// 32 bits each.
    U32(&'a mut [u32]),
    /// 64 bits each.
    U64(&'a mut [u64]),
}

/// A matrix of signatures in memory of the caller, `[rows, num_perm]`, row by row.
#[derive(Debug)]
pub struct SignaturesMut<'a> {
    num_perm: usize,
    slots: SlotsMut<'a>,
}

impl<'a> SignaturesMut<'a> {
    /// A matrix of rows of `num_perm` slots.
    ///
    /// # Errors
    /// [`Error::Conflict`] unless the slots are whole rows.
    pub fn new(num_perm: usize, slots: SlotsMut<'a>) -> Result<Self> {
        let len = match &slots {
            SlotsMut::U32(slots) => slots.len(),
            SlotsMut::U64(slots) => slots.len(),
        };
        if num_perm == 0 || !len.is_multiple_of(num_perm) {
            return Err(Error::Conflict(format!(
                "{len} slots are not whole signatures of {num_perm}"
            )));
        }
        Ok(SignaturesMut { num_perm, slots })
    }

    /// The slots.
    pub fn into_slots(self) -> SlotsMut<'a> {
        self.slots
    }

    /// The slots, for a signer to write after it has checked that they fit `sets`.
    ///
    /// # Errors
    /// [`Error::Conflict`] unless there is one row of `num_perm` slots for each of the sets.
    pub fn slots_for(self, sets: &ShingleSets<'_>, num_perm: usize) -> Result<SlotsMut<'a>> {
        let len = match &self.slots {
            SlotsMut::U32(slots) => slots.len(),
            SlotsMut::U64(slots) => slots.len(),
        };
        if self.num_perm != num_perm || len != sets.len() * num_perm {
            return Err(Error::Conflict(format!(
                "{} sets need {} rows of {num_perm} slots, not {} of {}",
                sets.len(),
                sets.len(),
                len / self.num_perm,
                self.num_perm
            )));
        }
        Ok(self.slots)
    }
}

/// A matrix of signatures, `[rows, num_perm]`.
///
/// ```
/// use simgpu::backend::Backend;
/// use simgpu::pipeline::{Shingler, Shingling, Signatures};
/// use simgpu::scheme::Scheme;
///
/// let scheme = Scheme::default();
/// let shingler = Shingler::new(Shingling::default(), &scheme, None)?;
/// let signer = Backend::Auto.signer(&scheme)?;
/// let texts = ["the plane was ready for touch down", "the plane was ready for take off"];
/// let signatures = Signatures::of_texts(&*signer, &texts.into_iter().collect(), &shingler)?;
/// assert!(signatures.estimate(0, 1) < 1.0); // 2 of 4 shingles of five words: 1/2
/// # Ok::<(), simgpu::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signatures {
    num_perm: usize,
    slots: SlotVec,
}

impl Signatures {
    /// No signature yet.
    pub fn new(num_perm: usize, width: Width) -> Self {
        Signatures {
            num_perm,
            slots: match width {
                Width::U32 => SlotVec::U32(Vec::new()),
                Width::U64 => SlotVec::U64(Vec::new()),
            },
        }
    }

    /// The signatures of a batch of texts.
    ///
    /// # Errors
    /// As [`Signer::sign_sets`].
    pub fn of_texts(signer: &dyn Signer, texts: &TextBatch, shingler: &Shingler) -> Result<Self> {
        let mut signatures = Signatures::new(signer.num_perm(), signer.slot_width());
        signer.sign_texts(texts, shingler, signatures.push_rows(texts.len()))?;
        Ok(signatures)
    }

    /// Signs sets and appends their signatures.
    ///
    /// # Errors
    /// As [`Signer::sign_sets`].
    pub fn sign(&mut self, signer: &dyn Signer, sets: &ShingleSets<'_>) -> Result<()> {
        let new = self.push_rows(sets.len());
        signer.sign_sets(sets, new)
    }

    /// Forgets all rows and keeps the memory.
    pub fn clear(&mut self) {
        match &mut self.slots {
            SlotVec::U32(slots) => slots.clear(),
            SlotVec::U64(slots) => slots.clear(),
        }
    }

    /// Appends rows and gives them to be written.
    pub fn push_rows(&mut self, rows: usize) -> SignaturesMut<'_> {
        let new = rows * self.num_perm;
        SignaturesMut {
            num_perm: self.num_perm,
            slots: match &mut self.slots {
                SlotVec::U32(slots) => {
                    let len = slots.len();
                    slots.resize(len + new, 0);
                    SlotsMut::U32(&mut slots[len..])
                }
                SlotVec::U64(slots) => {
                    let len = slots.len();
                    slots.resize(len + new, 0);
                    SlotsMut::U64(&mut slots[len..])
                }
            },
        }
    }

    /// Appends the rows of other signatures of the same scheme.
    ///
    /// # Panics
    /// If their slots are of another width or number.
    pub fn append(&mut self, other: &Signatures) {
        assert_eq!(self.num_perm, other.num_perm, "signatures of two lengths");
        match (&mut self.slots, &other.slots) {
            (SlotVec::U32(slots), SlotVec::U32(new)) => slots.extend_from_slice(new),
            (SlotVec::U64(slots), SlotVec::U64(new)) => slots.extend_from_slice(new),
            _ => panic!("signatures of two widths"),
        }
    }

    /// Number of slots in a row.
    pub fn num_perm(&self) -> usize {
        self.num_perm
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        match &self.slots {
            SlotVec::U32(slots) => slots.len() / self.num_perm,
            SlotVec::U64(slots) => slots.len() / self.num_perm,
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All slots, row by row.
    pub fn slots(&self) -> Slots<'_> {
        match &self.slots {
            SlotVec::U32(slots) => Slots::U32(slots),
            SlotVec::U64(slots) => Slots::U64(slots),
        }
    }

    /// The slots of row `i`.
    pub fn row(&self, i: usize) -> Slots<'_> {
        let row = i * self.num_perm..(i + 1) * self.num_perm;
        match &self.slots {
            SlotVec::U32(slots) => Slots::U32(&slots[row]),
            SlotVec::U64(slots) => Slots::U64(&slots[row]),
        }
    }

    /// In how many slots rows `i` and `j` agree.
    pub fn matches(&self, i: usize, j: usize) -> usize {
        fn count<T: PartialEq>(a: &[T], b: &[T]) -> usize {
            a.iter().zip(b).filter(|(a, b)| a == b).count()
        }
        match (self.row(i), self.row(j)) {
            (Slots::U32(a), Slots::U32(b)) => count(a, b),
            (Slots::U64(a), Slots::U64(b)) => count(a, b),
            _ => 0,
        }
    }

    /// The estimate of the Jaccard similarity of rows `i` and `j`: the share of slots in which they
    /// agree (Broder 1997; MMDS 3.3.3). Its standard error is sqrt(J(1-J)/num_perm).
    pub fn estimate(&self, i: usize, j: usize) -> f64 {
        self.matches(i, j) as f64 / self.num_perm as f64
    }
}
