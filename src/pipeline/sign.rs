//! shingle sets -> signatures (MMDS 3.3): what every backend implements.

use super::banding::{Banding, check_keys, keys_of_row};
use super::shingle::{ShingleSets, Shingler};
use crate::documents::TextBatch;
use crate::error::{Conflict, Result};
use crate::scheme::Width;
use crate::scheme::{Hashes, SlotVec, Slots, SlotsMut};

/// Computes MinHash signatures: slot k of a set is the least value of its shingles under
/// permutation k, and [`Scheme::empty_slot`](crate::scheme::Scheme::empty_slot) for the empty set.
///
/// Every implementation computes the same bits, whatever the batch and the number of threads.
///
/// **Hashes.** Those of [`Shingler`] suit every scheme. Counters, token ids and other values that are not as
/// good as random suit only schemes that mix them: `affine32`, `affine64`, `fast`, their presets
/// `datasketch` and `datasketch64`, and `rensa`. `mersenne31`, `mersenne61`, `mersenne61-wide`,
/// `affine32-even` and the other presets have no mixing step, and estimates from such values are biased
/// ([`affine32`](crate::scheme::affine32) says by how much): hash them first, with
/// [`fmix32`](crate::scheme::fmix32) or [`fmix64`](crate::scheme::fmix64).
///
/// **Threads.** One signer and one [`Shingler`] serve any number of threads at once, by reference or in an
/// `Arc`. A batch is shared out among the threads of the rayon pool that the call is made in, which is
/// the global one unless another's `install` makes it.
///
/// ```
/// use simgpu::backend::Backend;
/// use simgpu::pipeline::{ShingleSets, Shingler, Shingling, SignaturesMut};
/// use simgpu::scheme::{Hashes, SlotsMut};
/// use simgpu::scheme::Scheme;
///
/// let scheme = Scheme::default().with_num_perm(64)?;
/// let signer = Backend::Auto.signer(&scheme)?;
///
/// // One set of hashes, into memory of the caller.
/// let mut one = [0; 64];
/// signer.sign_set(Hashes::U32(&[7, 1, 9, 1]), SlotsMut::U32(&mut one))?;
///
/// // Many sets in compressed sparse rows: {7, 1, 9}, {} and {4}.
/// let sets = ShingleSets::new(Hashes::U32(&[7, 1, 9, 4]), &[0, 3, 3, 4])?;
/// let mut many = [0; 3 * 64];
/// signer.sign_sets(&sets, SignaturesMut::new(64, SlotsMut::U32(&mut many))?)?;
/// assert_eq!(many[..64], one);
///
/// // Texts, on threads of one's own.
/// let shingler = Shingler::new(Shingling::default(), &scheme, None)?;
/// let batches = [["a rose is a rose", "a tulip is not"], ["by any other name", ""]];
/// let mut signed = vec![0; 4 * 64];
/// std::thread::scope(|scope| {
///     for (texts, rows) in batches.iter().zip(signed.chunks_mut(2 * 64)) {
///         let (signer, shingler) = (&signer, &shingler);
///         scope.spawn(move || {
///             let texts = texts.iter().copied().collect();
///             signer.sign_texts(&texts, shingler, SignaturesMut::new(64, SlotsMut::U32(rows))?)
///         });
///     }
/// });
/// assert_eq!(signed[3 * 64..], [u32::MAX; 64]); // the empty text
///
/// // A batch, on the threads of a rayon pool of one's own.
/// let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build()?;
/// let mut again = vec![0; 4 * 64];
/// pool.install(|| {
///     let texts = batches.iter().flatten().copied().collect();
///     let matrix = SignaturesMut::new(64, SlotsMut::U32(&mut again))?;
///     signer.sign_texts(&texts, &shingler, matrix)
/// })?;
/// assert_eq!(again, signed);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
    /// [`Error::Conflict`](crate::Error::Conflict) when the hashes are not of the scheme's width, or `signatures` has not
    /// one row a set and one slot a permutation.
    fn sign_sets(&self, sets: &ShingleSets<'_>, signatures: SignaturesMut<'_>) -> Result<()>;

    /// Signs one set of shingle hashes into `num_perm` slots.
    ///
    /// # Errors
    /// As [`Signer::sign_sets`].
    fn sign_set(&self, set: Hashes<'_>, slots: SlotsMut<'_>) -> Result<()> {
        let offsets = [0, set.len() as i64];
        let sets = ShingleSets::new(set, &offsets)?;
        self.sign_sets(&sets, SignaturesMut::new(self.num_perm(), slots)?)
    }

    /// Shingles and signs texts. Token documents are shingled by
    /// [`Shingler::shingle_documents`](super::Shingler::shingle_documents) and signed as sets.
    ///
    /// # Errors
    /// As [`Signer::sign_sets`], and [`Error::Conflict`](crate::Error::Conflict) for a shingler of tokens.
    fn sign_texts(
        &self,
        texts: &TextBatch,
        shingler: &Shingler,
        signatures: SignaturesMut<'_>,
    ) -> Result<()> {
        shingler.check_texts()?;
        self.sign_sets(&shingler.shingle(texts).sets(), signatures)
    }

    /// The band keys of sets, `[sets, bands]`, by [`band_key`](super::band_key), for those who need no
    /// signatures.
    ///
    /// # Errors
    /// As [`Signer::sign_sets`], and [`Error::Conflict`](crate::Error::Conflict) when `keys` has not one entry a set and band, or
    /// bands need more slots than there are.
    fn band_keys(&self, sets: &ShingleSets<'_>, banding: Banding, keys: &mut [u64]) -> Result<()> {
        check_keys(keys, sets.len(), banding, self.num_perm())?;
        signed_keys(self, sets, banding, keys)
    }

    /// What is to be said about the work so far, each line once: that a device failed, and the CPU took
    /// over.
    fn notices(&self) -> Vec<String> {
        Vec::new()
    }
}

macro_rules! signer_behind {
    ($($pointer:ty),+) => {$(
        impl<S: Signer + ?Sized> Signer for $pointer {
            fn describe(&self) -> String {
                (**self).describe()
            }

            fn num_perm(&self) -> usize {
                (**self).num_perm()
            }

            fn slot_width(&self) -> Width {
                (**self).slot_width()
            }

            fn sign_sets(&self, sets: &ShingleSets<'_>, signatures: SignaturesMut<'_>) -> Result<()> {
                (**self).sign_sets(sets, signatures)
            }

            fn sign_set(&self, set: Hashes<'_>, slots: SlotsMut<'_>) -> Result<()> {
                (**self).sign_set(set, slots)
            }

            fn sign_texts(
                &self,
                texts: &TextBatch,
                shingler: &Shingler,
                signatures: SignaturesMut<'_>,
            ) -> Result<()> {
                (**self).sign_texts(texts, shingler, signatures)
            }

            fn band_keys(&self, sets: &ShingleSets<'_>, banding: Banding, keys: &mut [u64]) -> Result<()> {
                (**self).band_keys(sets, banding, keys)
            }

            fn notices(&self) -> Vec<String> {
                (**self).notices()
            }
        }
    )+};
}

signer_behind!(&S, Box<S>);

impl<'a> Slots<'a> {
    /// The number of slots in which two signatures agree.
    ///
    /// # Errors
    /// [`Conflict::SlotWidths`] and [`Conflict::SlotCounts`] when they differ in width or number of slots.
    pub fn matches(&self, other: Slots<'_>) -> Result<usize> {
        match (self, other) {
            (Slots::U32(slots), Slots::U32(other)) => count_matches(slots, other),
            (Slots::U64(slots), Slots::U64(other)) => count_matches(slots, other),
            _ => Err(Conflict::SlotWidths.into()),
        }
    }
}

fn count_matches<S: PartialEq>(slots: &[S], other: &[S]) -> Result<usize> {
    check_counts(slots.len(), other.len())?;
    Ok(slots.iter().zip(other).filter(|(a, b)| a == b).count())
}

impl SlotsMut<'_> {
    /// Lowers each slot to that of `other` where it is less: the signature of a set becomes that of its
    /// union with another (MMDS 3.3.6), if one scheme signed both. The empty set of `nemo` and `nemo64`, all
    /// zeros, is an exception: it must be left out.
    ///
    /// ```
    /// use simgpu::backend::Backend;
    /// use simgpu::scheme::{Hashes, Slots, SlotsMut};
    /// use simgpu::scheme::Scheme;
    ///
    /// let signer = Backend::Auto.signer(&Scheme::default())?;
    /// let sign = |set: &[u32]| {
    ///     let mut slots = [0; 128];
    ///     signer.sign_set(Hashes::U32(set), SlotsMut::U32(&mut slots))?;
    ///     Ok::<_, simgpu::Error>(slots)
    /// };
    /// let mut union = sign(&[1, 2, 3])?;
    /// SlotsMut::U32(&mut union).merge(Slots::U32(&sign(&[3, 4])?))?;
    /// assert_eq!(union, sign(&[1, 2, 3, 4])?);
    /// # Ok::<(), simgpu::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Conflict`](crate::Error::Conflict) if the slots are of another width or number; nothing is changed then.
    pub fn merge(&mut self, other: Slots<'_>) -> Result<()> {
        check_counts(self.len(), other.len())?;
        match (self, other) {
            (SlotsMut::U32(slots), Slots::U32(other)) => lower(slots, other),
            (SlotsMut::U64(slots), Slots::U64(other)) => lower(slots, other),
            _ => return Err(Conflict::SlotWidths.into()),
        }
        Ok(())
    }
}

/// Slot by slot the smaller one.
pub(crate) fn lower<S: Copy + Ord>(slots: &mut [S], other: &[S]) {
    for (slot, other) in slots.iter_mut().zip(other) {
        *slot = (*slot).min(*other);
    }
}

fn check_counts(left: usize, right: usize) -> Result<()> {
    if left != right {
        return Err(Conflict::SlotCounts { left, right }.into());
    }
    Ok(())
}

fn check_rows(len: usize, num_perm: usize) -> Result<()> {
    if num_perm == 0 || !len.is_multiple_of(num_perm) {
        return Err(Conflict::PartialSignature {
            slots: len,
            num_perm,
        }
        .into());
    }
    Ok(())
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
    /// [`Error::Conflict`](crate::Error::Conflict) unless the slots are whole rows.
    pub fn new(num_perm: usize, slots: SlotsMut<'a>) -> Result<Self> {
        check_rows(slots.len(), num_perm)?;
        Ok(SignaturesMut { num_perm, slots })
    }

    /// The slots.
    pub fn into_slots(self) -> SlotsMut<'a> {
        self.slots
    }

    /// The slots, for a signer to write after it has checked that they fit `sets`.
    ///
    /// # Errors
    /// [`Error::Conflict`](crate::Error::Conflict) unless there is one row of `num_perm` slots for each of the sets.
    pub fn slots_for(self, sets: &ShingleSets<'_>, num_perm: usize) -> Result<SlotsMut<'a>> {
        self.slots_for_rows(sets.len(), num_perm)
    }

    /// The same for that many sets.
    ///
    /// # Errors
    /// As [`SignaturesMut::slots_for`].
    pub fn slots_for_rows(self, rows: usize, num_perm: usize) -> Result<SlotsMut<'a>> {
        let len = self.slots.len();
        if self.num_perm != num_perm || len != rows * num_perm {
            return Err(Conflict::SignatureShape {
                sets: rows,
                num_perm,
                rows: len / self.num_perm.max(1),
                row_slots: self.num_perm,
            }
            .into());
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
    /// No signature yet, and never one for a `num_perm` of 0, which no scheme has.
    pub fn new(num_perm: usize, width: Width) -> Self {
        Signatures {
            num_perm,
            slots: SlotVec::new(width),
        }
    }

    /// The signatures whose slots stand row by row in `slots`, a vector of `u32` or of `u64`: the way back
    /// from where [`Signatures::slots`] were stored.
    ///
    /// ```
    /// use simgpu::pipeline::Signatures;
    /// use simgpu::scheme::Slots;
    ///
    /// let stored: Vec<u32> = vec![3, 1, 4, 1, 3, 1, 4, 2];
    /// let signatures = Signatures::from_slots(4, stored)?;
    /// assert_eq!(signatures.estimate(0, 1), 0.75);
    /// assert_eq!(signatures.row(0).matches(Slots::U32(&[3, 1, 0, 0]))?, 2);
    /// # Ok::<(), simgpu::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Conflict`](crate::Error::Conflict) unless the slots are whole rows of `num_perm`.
    pub fn from_slots(num_perm: usize, slots: impl Into<SlotVec>) -> Result<Self> {
        let signatures = Signatures {
            num_perm,
            slots: slots.into(),
        };
        check_rows(signatures.slots().len(), num_perm)?;
        Ok(signatures)
    }

    /// The slots, row by row, without a copy.
    pub fn into_slots(self) -> SlotVec {
        self.slots
    }

    /// The signatures of a batch of texts.
    ///
    /// # Errors
    /// As [`Signer::sign_texts`].
    pub fn of_texts(signer: &dyn Signer, texts: &TextBatch, shingler: &Shingler) -> Result<Self> {
        let mut signatures = Signatures::new(signer.num_perm(), signer.slot_width());
        signer.sign_texts(texts, shingler, signatures.push_rows(texts.len()))?;
        Ok(signatures)
    }

    /// Signs sets and appends their signatures.
    ///
    /// # Errors
    /// As [`Signer::sign_sets`]; no row is appended then.
    pub fn sign(&mut self, signer: &dyn Signer, sets: &ShingleSets<'_>) -> Result<()> {
        let before = self.slots().len();
        let signed = signer.sign_sets(sets, self.push_rows(sets.len()));
        if signed.is_err() {
            self.slots.resize(before);
        }
        signed
    }

    /// Forgets all rows and keeps the memory.
    pub fn clear(&mut self) {
        self.slots.resize(0);
    }

    /// Appends rows and gives them to be written.
    pub fn push_rows(&mut self, rows: usize) -> SignaturesMut<'_> {
        let start = self.slots.len();
        self.slots.resize(start + rows * self.num_perm);
        SignaturesMut {
            num_perm: self.num_perm,
            slots: self.slots.view_mut(start),
        }
    }

    /// Appends a row of `num_perm` slots of the width of the others.
    pub(crate) fn push_row(&mut self, row: Slots<'_>) -> Result<()> {
        check_counts(self.num_perm, row.len())?;
        self.push_slots(row)
    }

    /// Appends the slots of whole rows.
    fn push_slots(&mut self, new: Slots<'_>) -> Result<()> {
        match (&mut self.slots, new) {
            (SlotVec::U32(slots), Slots::U32(new)) => slots.extend_from_slice(new),
            (SlotVec::U64(slots), Slots::U64(new)) => slots.extend_from_slice(new),
            _ => return Err(Conflict::SlotWidths.into()),
        }
        Ok(())
    }

    /// Keeps the rows of which `is_kept` holds.
    pub(crate) fn retain(&mut self, is_kept: &[bool]) {
        self.slots.retain_rows(self.num_perm, is_kept);
    }

    /// Appends the rows of other signatures of the same scheme.
    ///
    /// # Errors
    /// [`Error::Conflict`](crate::Error::Conflict) if their slots are of another width or number.
    pub fn append(&mut self, other: &Signatures) -> Result<()> {
        check_counts(self.num_perm, other.num_perm)?;
        self.push_slots(other.slots())
    }

    /// Makes each row the signature of its set united with the set of the same row of `other`, by
    /// [`SlotsMut::merge`].
    ///
    /// ```
    /// use simgpu::backend::Backend;
    /// use simgpu::pipeline::{ShingleSets, Signatures};
    /// use simgpu::scheme::Hashes;
    /// use simgpu::scheme::Scheme;
    ///
    /// let signer = Backend::Auto.signer(&Scheme::default())?;
    /// let sign = |hashes: &[u32], offsets: &[i64]| {
    ///     let mut signatures = Signatures::new(signer.num_perm(), signer.slot_width());
    ///     signatures.sign(&*signer, &ShingleSets::new(Hashes::U32(hashes), offsets)?)?;
    ///     Ok::<_, simgpu::Error>(signatures)
    /// };
    /// let mut signatures = sign(&[1, 2, 7], &[0, 2, 3])?; // {1, 2} and {7}
    /// signatures.merge(&sign(&[2, 3, 8], &[0, 2, 3])?)?; // {2, 3} and {8}
    /// assert_eq!(signatures, sign(&[1, 2, 3, 7, 8], &[0, 3, 5])?);
    /// # Ok::<(), simgpu::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Conflict`](crate::Error::Conflict) if there are more rows or fewer, or their slots are of another width or
    /// number; nothing is changed then.
    pub fn merge(&mut self, other: &Signatures) -> Result<()> {
        check_counts(self.num_perm, other.num_perm)?;
        let rows = (self.len(), other.len());
        if rows.0 != rows.1 {
            return Err(Conflict::RowCounts {
                left: rows.0,
                right: rows.1,
            }
            .into());
        }
        self.slots_mut().merge(other.slots())
    }

    /// Number of slots in a row.
    pub fn num_perm(&self) -> usize {
        self.num_perm
    }

    /// Width of a slot.
    pub fn slot_width(&self) -> Width {
        self.slots.width()
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.slots().len() / self.num_perm.max(1)
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All slots, row by row.
    pub fn slots(&self) -> Slots<'_> {
        self.slots.view()
    }

    /// All slots, to be changed.
    pub fn slots_mut(&mut self) -> SlotsMut<'_> {
        self.slots.view_mut(0)
    }

    /// The slots of row `i`.
    ///
    /// # Panics
    /// If the row is not below [`Signatures::len`].
    pub fn row(&self, i: usize) -> Slots<'_> {
        let row = i * self.num_perm..(i + 1) * self.num_perm;
        self.slots().range(row)
    }

    /// In how many slots rows `i` and `j` agree. [`Slots::matches`] compares rows of two matrices.
    ///
    /// # Panics
    /// If a row is not below [`Signatures::len`].
    pub fn matches(&self, i: usize, j: usize) -> usize {
        // Rows of one matrix are of one width and number of slots.
        self.row(i).matches(self.row(j)).unwrap_or(0)
    }

    /// The estimate of the Jaccard similarity of rows `i` and `j`: the share of slots in which they
    /// agree (Broder 1997; MMDS 3.3.3). Its standard error is sqrt(J(1-J)/num_perm).
    ///
    /// It is 1 for two empty sets, whose similarity is undefined and whose signatures agree everywhere.
    /// A set is empty where [`ShingleSets::range`] is, or where each slot is that of
    /// [`Scheme::empty_slot`](crate::scheme::Scheme::empty_slot), so that
    /// [`Cardinality::count`](super::Cardinality::count) is 0.
    ///
    /// # Panics
    /// If a row is not below [`Signatures::len`].
    pub fn estimate(&self, i: usize, j: usize) -> f64 {
        self.matches(i, j) as f64 / self.num_perm as f64
    }
}

/// The band keys of all signatures, `[rows, bands]`.
pub(crate) fn keys_of_rows(signatures: &Signatures, banding: Banding, keys: &mut [u64]) {
    for (i, keys) in keys.chunks_mut(banding.bands()).enumerate() {
        keys_of_row(signatures.row(i), banding, keys);
    }
}

/// The band keys of sets, by way of their signatures.
pub(crate) fn signed_keys<S: Signer + ?Sized>(
    signer: &S,
    sets: &ShingleSets<'_>,
    banding: Banding,
    keys: &mut [u64],
) -> Result<()> {
    let mut signatures = Signatures::new(signer.num_perm(), signer.slot_width());
    signer.sign_sets(sets, signatures.push_rows(sets.len()))?;
    keys_of_rows(&signatures, banding, keys);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Backend;
    use crate::scheme::Scheme;

    fn signatures(scheme: &str, num_perm: u32, rows: usize) -> Signatures {
        let scheme = Scheme::named(scheme).unwrap().with_num_perm(num_perm);
        let signer = Backend::Auto.signer(&scheme.unwrap()).unwrap();
        let mut signatures = Signatures::new(signer.num_perm(), signer.slot_width());
        let offsets = vec![0; rows + 1];
        let hashes = match signer.slot_width() {
            Width::U32 => Hashes::U32(&[]),
            Width::U64 => Hashes::U64(&[]),
        };
        let sets = ShingleSets::new(hashes, &offsets).unwrap();
        signatures.sign(&*signer, &sets).unwrap();
        signatures
    }

    #[test]
    fn what_does_not_go_together_is_an_error_and_changes_nothing() {
        let mut signatures_of_8 = signatures("affine32", 8, 2);
        let before = signatures_of_8.clone();
        for (scheme, num_perm, rows) in [
            ("affine64", 8, 2),
            ("affine32", 4, 4),
            ("affine32", 16, 1),
            ("affine32", 8, 1),
        ] {
            let other = signatures(scheme, num_perm, rows);
            assert!(signatures_of_8.merge(&other).is_err());
            if (scheme, num_perm) != ("affine32", 8) {
                assert!(signatures_of_8.append(&other).is_err());
            }
        }
        assert_eq!(signatures_of_8, before);
        signatures_of_8.merge(&before).unwrap();
        signatures_of_8.append(&before).unwrap();
        assert_eq!(signatures_of_8.len(), 4);
    }

    #[test]
    fn a_row_that_does_not_fit_leaves_none_behind() {
        let mut signatures = Signatures::new(2, Width::U32);
        for row in [Slots::U32(&[1]), Slots::U32(&[1; 3]), Slots::U64(&[1; 2])] {
            assert!(signatures.push_row(row).is_err());
            assert_eq!(signatures.len(), 0);
        }
        signatures.push_row(Slots::U32(&[1, 2])).unwrap();
        assert_eq!(signatures.slots(), Slots::U32(&[1, 2]));
    }

    #[test]
    fn slots_of_the_caller_are_compared_and_taken_in() {
        let slots = Slots::U32(&[1, 2, 3]);
        assert_eq!(slots.matches(Slots::U32(&[1, 0, 3])).unwrap(), 2);
        for other in [Slots::U32(&[1, 2]), Slots::U32(&[]), Slots::U64(&[1, 2, 3])] {
            assert!(slots.matches(other).is_err());
            assert!(slots.jaccard_estimate(other).is_err());
        }
        assert!(Slots::U32(&[]).jaccard_estimate(Slots::U32(&[])).is_err());
        let estimate = slots.jaccard_estimate(Slots::U32(&[1, 0, 3])).unwrap();
        assert_eq!((estimate.matches(), estimate.num_perm()), (2, 3));

        let signatures = Signatures::from_slots(2, vec![1u64, 2, 3, 2]).unwrap();
        assert_eq!((signatures.len(), signatures.matches(0, 1)), (2, 1));
        assert_eq!(signatures.into_slots(), SlotVec::U64(vec![1, 2, 3, 2]));
        for (num_perm, len) in [(0, 0), (0, 2), (3, 4), (5, 4)] {
            assert!(Signatures::from_slots(num_perm, vec![0u32; len]).is_err());
        }
        assert!(Signatures::from_slots(2, SlotVec::U32(vec![])).is_ok());
    }

    #[test]
    fn no_permutation_is_never_a_row() {
        let signer = Backend::Auto.signer(&Scheme::default()).unwrap();
        let mut signatures = Signatures::new(0, Width::U32);
        let sets = ShingleSets::new(Hashes::U32(&[1]), &[0, 1]).unwrap();
        assert!(signatures.sign(&*signer, &sets).is_err());
        assert_eq!(signatures.len(), 0);
    }

    #[test]
    fn sets_that_cannot_be_signed_leave_no_row_behind() {
        let signer = Backend::Auto.signer(&Scheme::default()).unwrap();
        let sets = ShingleSets::new(Hashes::U32(&[1]), &[0, 1]).unwrap();
        for (num_perm, width) in [(64, Width::U32), (128, Width::U64)] {
            let mut signatures = Signatures::new(num_perm, width);
            assert!(signatures.sign(&*signer, &sets).is_err());
            assert!(signatures.is_empty());
        }
    }

    #[test]
    fn one_set_needs_slots_of_its_scheme() {
        let signer = Backend::Auto.signer(&Scheme::default()).unwrap();
        let (mut narrow, mut wide) = ([0u32; 127], [0u64; 128]);
        let set = Hashes::U32(&[1]);
        assert!(signer.sign_set(set, SlotsMut::U32(&mut narrow)).is_err());
        assert!(signer.sign_set(set, SlotsMut::U64(&mut wide)).is_err());
        assert!(
            signer
                .sign_set(Hashes::U64(&[1]), SlotsMut::U32(&mut [0; 128]))
                .is_err()
        );
    }
}
