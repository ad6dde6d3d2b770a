//! Signs shingle sets (MMDS 3.3): the trait that all backends implement, and matrices of signatures.

use super::banding::{Banding, check_keys, keys_of_row};
use super::shingle::{NormalisedTexts, ShingleBatch, ShingleSets, Shingler};
use crate::documents::Documents;
use crate::error::{Conflict, Result};
use crate::scheme::{Hashes, SlotVec, Slots, SlotsMut, Width, check_counts};

/// Computes MinHash signatures (Broder 1997; MMDS 3.3).
///
/// Slot k of a signature is the least value that permutation k gives to a hash of the set. Every slot of the
/// empty set
/// is [`Scheme::empty_slot`](crate::scheme::Scheme::empty_slot).
///
/// Get one from [`Backend::signer`](crate::backend::Backend::signer). Every implementation must compute the same
/// bits, for any batch and any number of threads.
///
/// **Hashes.** The hashes of a [`Shingler`] suit every scheme. Counters, token ids and other non-random values
/// suit only schemes with a mixing step: `affine32`, `affine64`, `fast`, their presets `datasketch` and
/// `datasketch64`, and `rensa`. With `mersenne31`, `mersenne61`, `mersenne61-wide`, `affine32-even` and the other
/// presets, such values lead to biased estimates ([`affine32`](crate::scheme::affine32) quantifies the bias).
/// Hash them first with [`fmix32`](crate::scheme::fmix32) or [`fmix64`](crate::scheme::fmix64).
///
/// **Threads.** One signer and one [`Shingler`] serve any number of threads at once, by reference or in an
/// `Arc`. Each call spreads its work over the current rayon pool: the global one, unless the call is made inside
/// another pool's `install`.
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
/// // One set of hashes, signed into the caller's memory.
/// let mut one = [0; 64];
/// signer.sign_set(Hashes::U32(&[7, 1, 9, 1]), SlotsMut::U32(&mut one))?;
///
/// // Many sets in compressed sparse rows: {7, 1, 9}, {} and {4}.
/// let sets = ShingleSets::new(Hashes::U32(&[7, 1, 9, 4]), &[0, 3, 3, 4])?;
/// let mut many = [0; 3 * 64];
/// signer.sign_sets(&sets, SignaturesMut::new(64, SlotsMut::U32(&mut many))?)?;
/// assert_eq!(many[..64], one);
///
/// // Texts, on your own threads.
/// let shingler = Shingler::new(Shingling::default(), &scheme, None)?;
/// let batches = [["a rose is a rose", "a tulip is not"], ["by any other name", ""]];
/// let mut signed = vec![0; 4 * 64];
/// std::thread::scope(|scope| {
///     for (texts, rows) in batches.iter().zip(signed.chunks_mut(2 * 64)) {
///         let (signer, shingler) = (&signer, &shingler);
///         scope.spawn(move || {
///             signer.sign_documents(texts, shingler, SignaturesMut::new(64, SlotsMut::U32(rows))?)
///         });
///     }
/// });
/// assert_eq!(signed[3 * 64..], [u32::MAX; 64]); // the empty text
///
/// // The same texts in one batch, on your own rayon pool.
/// let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build()?;
/// let mut in_pool = vec![0; 4 * 64];
/// pool.install(|| {
///     let matrix = SignaturesMut::new(64, SlotsMut::U32(&mut in_pool))?;
///     signer.sign_documents(&batches.concat(), &shingler, matrix)
/// })?;
/// assert_eq!(in_pool, signed);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Signer: Send + Sync {
    /// Name of the backend and its hardware, for the summary of a run.
    fn describe(&self) -> String;

    /// Number of slots per signature.
    fn num_perm(&self) -> usize;

    /// Width of a slot.
    fn slot_width(&self) -> Width;

    /// Signs set i into row i of `signatures`.
    ///
    /// # Errors
    /// [`Error::Conflict`](crate::Error::Conflict) if the hashes do not have the scheme's width, or
    /// `signatures` does not
    /// have one row per set and `num_perm` slots per row.
    fn sign_sets(&self, sets: &ShingleSets<'_>, signatures: SignaturesMut<'_>) -> Result<()>;

    /// Signs one set of hashes into `num_perm` slots. Order and repeats of hashes do not matter.
    ///
    /// # Errors
    /// As [`Signer::sign_sets`].
    fn sign_set(&self, set: Hashes<'_>, slots: SlotsMut<'_>) -> Result<()> {
        let offsets = [0, set.len() as i64];
        let sets = ShingleSets::new(set, &offsets)?;
        self.sign_sets(&sets, SignaturesMut::new(self.num_perm(), slots)?)
    }

    /// Shingles and signs documents: document i into row i of `signatures`.
    ///
    /// # Errors
    /// As [`Signer::sign_sets`] and [`Shingler::check_forms`].
    fn sign_documents(
        &self,
        documents: &dyn Documents,
        shingler: &Shingler,
        signatures: SignaturesMut<'_>,
    ) -> Result<()> {
        shingler.check_forms(documents)?;
        self.sign_sets(&shingler.shingle(documents).sets(), signatures)
    }

    /// Writes the band keys of sets into `keys`, `[sets, bands]`, without returning their signatures. See
    /// [`band_key`](super::band_key).
    ///
    /// # Errors
    /// As [`Signer::sign_sets`], and [`Error::Conflict`](crate::Error::Conflict) if `keys` does not have one
    /// entry per set
    /// and band, or the bands need more slots than a signature has.
    fn band_keys(&self, sets: &ShingleSets<'_>, banding: Banding, keys: &mut [u64]) -> Result<()> {
        check_keys(keys, sets.len(), banding, self.num_perm())?;
        signed_keys(self, sets, banding, keys)
    }

    /// What a device did so far; `None` without a device.
    fn device_use(&self) -> Option<DeviceUse> {
        None
    }

    /// What signs on a device, several batches at a time; `None` without a device.
    #[doc(hidden)]
    fn device_signer(&self) -> Option<DeviceSigner<'_>> {
        None
    }

    /// Messages for the user about the work so far; each message is returned only once; for example, that a
    /// device failed and
    /// the CPU took over.
    fn notices(&self) -> Vec<String> {
        Vec::new()
    }
}

/// What a device did for a signer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceUse {
    /// Name of the device.
    pub device: String,
    /// Number of loads sent to it.
    pub loads: u64,
    /// The most loads that were under way at a time.
    pub most_loads_in_flight: usize,
    /// Bytes of text sent, normalised.
    pub text_bytes: u64,
    /// Bytes of shingle hashes sent.
    pub hash_bytes: u64,
    /// Why it was given up; `None` if it was not.
    pub failure: Option<String>,
}

/// Signs on a device, several batches at a time.
#[doc(hidden)]
#[derive(Clone, Copy)]
#[allow(missing_debug_implementations, reason = "it only lends a signer")]
pub struct DeviceSigner<'a>(
    #[cfg_attr(
        not(feature = "gpu"),
        allow(dead_code, reason = "only devices read it")
    )]
    pub(crate) &'a dyn SignOnDevice,
);

/// Sends documents to a device. What comes back is collected later.
#[cfg_attr(
    not(feature = "gpu"),
    allow(dead_code, reason = "only devices implement it")
)]
pub(crate) trait SignOnDevice: Sync {
    /// Whether the device cuts and hashes the shingles of a shingler itself, so that it takes texts.
    fn takes_texts(&self, shingler: &Shingler) -> bool;

    /// Begins to sign documents. The rows are their band keys if a banding is given, and the device makes such keys;
    /// otherwise their signatures.
    ///
    /// # Errors
    /// As [`Signer::sign_sets`].
    fn send(
        &self,
        batch: DeviceBatch,
        shingler: &Shingler,
        banding: Option<Banding>,
    ) -> Result<Box<dyn UnfinishedRows + '_>>;
}

/// Documents for a device.
#[cfg_attr(
    not(feature = "gpu"),
    allow(dead_code, reason = "only devices read them")
)]
pub(crate) enum DeviceBatch {
    /// The `chosen` ones of normalised texts.
    Texts {
        texts: NormalisedTexts,
        chosen: Vec<usize>,
    },
    /// Sets of shingle hashes.
    Sets(ShingleBatch),
}

/// Rows that a device makes.
pub(crate) trait UnfinishedRows: Send {
    /// Whether they are back.
    fn is_ready(&self) -> bool;

    /// Waits for the rows, in order, and returns the batch, whose memory may be used again. The CPU signs what the
    /// device did not.
    fn finish(self: Box<Self>) -> Result<(SignedRows, DeviceBatch)>;
}

/// Rows of documents.
#[cfg_attr(
    not(feature = "gpu"),
    allow(dead_code, reason = "only devices make them")
)]
pub(crate) enum SignedRows {
    Signatures(Signatures),
    /// Band keys, `[documents, bands]`.
    Keys {
        banding: Banding,
        keys: Vec<u64>,
    },
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

            fn sign_documents(
                &self,
                documents: &dyn Documents,
                shingler: &Shingler,
                signatures: SignaturesMut<'_>,
            ) -> Result<()> {
                (**self).sign_documents(documents, shingler, signatures)
            }

            fn band_keys(&self, sets: &ShingleSets<'_>, banding: Banding, keys: &mut [u64]) -> Result<()> {
                (**self).band_keys(sets, banding, keys)
            }

            fn device_use(&self) -> Option<DeviceUse> {
                (**self).device_use()
            }

            fn device_signer(&self) -> Option<DeviceSigner<'_>> {
                (**self).device_signer()
            }

            fn notices(&self) -> Vec<String> {
                (**self).notices()
            }
        }
    )+};
}

signer_behind!(&S, Box<S>);

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

/// A matrix of signatures in the caller's memory, `[rows, num_perm]`, row by row.
#[derive(Debug)]
pub struct SignaturesMut<'a> {
    num_perm: usize,
    slots: SlotsMut<'a>,
}

impl<'a> SignaturesMut<'a> {
    /// A matrix with rows of `num_perm` slots over `slots`.
    ///
    /// # Errors
    /// [`Error::Conflict`](crate::Error::Conflict) unless `slots` is a whole number of rows.
    pub fn new(num_perm: usize, slots: SlotsMut<'a>) -> Result<Self> {
        check_rows(slots.len(), num_perm)?;
        Ok(SignaturesMut { num_perm, slots })
    }

    /// All slots, row by row.
    pub fn into_slots(self) -> SlotsMut<'a> {
        self.slots
    }

    /// All slots, checked to fit `sets`. Implementations of [`Signer::sign_sets`] write into them.
    ///
    /// # Errors
    /// [`Error::Conflict`](crate::Error::Conflict) unless there is one row of `num_perm` slots per set.
    pub fn slots_for(self, sets: &ShingleSets<'_>, num_perm: usize) -> Result<SlotsMut<'a>> {
        self.slots_for_rows(sets.len(), num_perm)
    }

    /// All slots, checked to be `rows` rows of `num_perm` slots. Implementations of [`Signer::sign_documents`]
    /// write into them.
    ///
    /// # Errors
    /// [`Error::Conflict`](crate::Error::Conflict) if the shape differs.
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

/// A matrix of signatures, `[rows, num_perm]`, row by row.
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
/// let signatures = Signatures::of_documents(&*signer, &texts, &shingler)?;
/// assert!(signatures.estimate(0, 1) < 1.0); // 2 of 4 shingles of five words: 1/2
/// # Ok::<(), simgpu::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signatures {
    num_perm: usize,
    slots: SlotVec,
}

impl Signatures {
    /// An empty matrix. Signing into it fails for a `num_perm` of 0, which no scheme has.
    pub fn new(num_perm: usize, width: Width) -> Self {
        Signatures {
            num_perm,
            slots: SlotVec::new(width),
        }
    }

    /// Restores signatures from stored [`Signatures::slots`]: a vector of `u32` or `u64`, row by row.
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
    /// [`Error::Conflict`](crate::Error::Conflict) unless `slots` is a whole number of rows.
    pub fn from_slots(num_perm: usize, slots: impl Into<SlotVec>) -> Result<Self> {
        let signatures = Signatures {
            num_perm,
            slots: slots.into(),
        };
        check_rows(signatures.slots().len(), num_perm)?;
        Ok(signatures)
    }

    /// Returns the slots, row by row, without a copy.
    pub fn into_slots(self) -> SlotVec {
        self.slots
    }

    /// Signs documents: row i is the signature of document i.
    ///
    /// # Errors
    /// As [`Signer::sign_documents`].
    pub fn of_documents<D: Documents + ?Sized>(
        signer: &dyn Signer,
        documents: &D,
        shingler: &Shingler,
    ) -> Result<Self> {
        let mut signatures = Signatures::new(signer.num_perm(), signer.slot_width());
        let rows = signatures.push_rows(documents.len());
        signer.sign_documents(&documents, shingler, rows)?;
        Ok(signatures)
    }

    /// Signs sets and appends their signatures.
    ///
    /// # Errors
    /// As [`Signer::sign_sets`]. No row is appended then.
    pub fn sign(&mut self, signer: &dyn Signer, sets: &ShingleSets<'_>) -> Result<()> {
        let before = self.slots().len();
        let signed = signer.sign_sets(sets, self.push_rows(sets.len()));
        if signed.is_err() {
            self.slots.resize(before);
        }
        signed
    }

    /// Removes all rows but keeps the allocated memory.
    pub fn clear(&mut self) {
        self.slots.resize(0);
    }

    /// Appends `rows` rows of zeros and returns them for writing.
    pub fn push_rows(&mut self, rows: usize) -> SignaturesMut<'_> {
        let start = self.slots.len();
        self.slots.resize(start + rows * self.num_perm);
        SignaturesMut {
            num_perm: self.num_perm,
            slots: self.slots.view_mut(start),
        }
    }

    /// Appends a row. Fails if its width or number of slots differs.
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

    /// Keeps the rows that are marked in `is_kept`.
    pub(crate) fn retain(&mut self, is_kept: &[bool]) {
        self.slots.retain_rows(self.num_perm, is_kept);
    }

    /// Appends the rows of `other`, which must have the same scheme.
    ///
    /// # Errors
    /// [`Error::Conflict`](crate::Error::Conflict) if slot width or `num_perm` differ.
    pub fn append(&mut self, other: &Signatures) -> Result<()> {
        check_counts(self.num_perm, other.num_perm)?;
        self.push_slots(other.slots())
    }

    /// Merges each row with the same row of `other` ([`SlotsMut::merge`]): the result is the signature of the
    /// union of both sets.
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
    /// [`Error::Conflict`](crate::Error::Conflict) if the number of rows, slot width or `num_perm` differ.
    /// Nothing is
    /// changed then.
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

    /// Number of slots per row.
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

    /// All slots, row by row, mutably borrowed.
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

    /// Number of slots in which rows `i` and `j` agree. [`Slots::matches`] compares rows of two matrices.
    ///
    /// # Panics
    /// If a row is not below [`Signatures::len`].
    pub fn matches(&self, i: usize, j: usize) -> usize {
        // Rows of one matrix have the same width and number of slots.
        self.row(i).matches(self.row(j)).unwrap_or(0)
    }

    /// Estimates the Jaccard similarity J of rows `i` and `j` by the share of slots in which they agree (Broder
    /// 1997; MMDS 3.3.3). The standard error is sqrt(J (1 - J) / num_perm).
    ///
    /// The estimate is 1 for two empty sets: their similarity is undefined, but all their slots agree. All
    /// slots of an
    /// empty set are [`Scheme::empty_slot`](crate::scheme::Scheme::empty_slot).
    ///
    /// # Panics
    /// If a row is not below [`Signatures::len`].
    pub fn estimate(&self, i: usize, j: usize) -> f64 {
        self.matches(i, j) as f64 / self.num_perm as f64
    }
}

/// Writes the band keys of all signatures, `[rows, bands]`.
#[doc(hidden)]
pub fn keys_of_rows(signatures: &Signatures, banding: Banding, keys: &mut [u64]) {
    for (i, keys) in keys.chunks_mut(banding.bands()).enumerate() {
        keys_of_row(signatures.row(i), banding, keys);
    }
}

/// Writes the band keys of sets, computed from their signatures.
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
    use crate::pipeline::JaccardEstimate;
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
    fn mismatched_signatures_are_errors_and_change_nothing() {
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
    fn rejected_rows_are_not_appended() {
        let mut signatures = Signatures::new(2, Width::U32);
        for row in [Slots::U32(&[1]), Slots::U32(&[1; 3]), Slots::U64(&[1; 2])] {
            assert!(signatures.push_row(row).is_err());
            assert_eq!(signatures.len(), 0);
        }
        signatures.push_row(Slots::U32(&[1, 2])).unwrap();
        assert_eq!(signatures.slots(), Slots::U32(&[1, 2]));
    }

    #[test]
    fn caller_slots_are_compared_and_stored() {
        let slots = Slots::U32(&[1, 2, 3]);
        assert_eq!(slots.matches(Slots::U32(&[1, 0, 3])).unwrap(), 2);
        for other in [Slots::U32(&[1, 2]), Slots::U32(&[]), Slots::U64(&[1, 2, 3])] {
            assert!(slots.matches(other).is_err());
            assert!(JaccardEstimate::between(slots, other).is_err());
        }
        assert!(JaccardEstimate::between(Slots::U32(&[]), Slots::U32(&[])).is_err());
        let estimate = JaccardEstimate::between(slots, Slots::U32(&[1, 0, 3])).unwrap();
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
    fn signing_with_zero_permutations_is_an_error() {
        let signer = Backend::Auto.signer(&Scheme::default()).unwrap();
        let mut signatures = Signatures::new(0, Width::U32);
        let sets = ShingleSets::new(Hashes::U32(&[1]), &[0, 1]).unwrap();
        assert!(signatures.sign(&*signer, &sets).is_err());
        assert_eq!(signatures.len(), 0);
    }

    #[test]
    fn failed_signing_appends_no_row() {
        let signer = Backend::Auto.signer(&Scheme::default()).unwrap();
        let sets = ShingleSets::new(Hashes::U32(&[1]), &[0, 1]).unwrap();
        for (num_perm, width) in [(64, Width::U32), (128, Width::U64)] {
            let mut signatures = Signatures::new(num_perm, width);
            assert!(signatures.sign(&*signer, &sets).is_err());
            assert!(signatures.is_empty());
        }
    }

    #[test]
    fn sign_set_needs_slots_of_its_scheme() {
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
