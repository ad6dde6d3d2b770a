//! Signatures that keep a few bits per slot (Li and König 2010, *b-Bit Minwise Hashing*).
//!
//! With one unmixed bit per slot, two sets of one element whose hashes differ in the lowest bit agreed in no slot
//! under any seed: their similarity was estimated as -1 when it was 0. Hence the mixing of slots.

use super::estimate::JaccardEstimate;
use super::sign::Signatures;
use super::slot_bits::SlotBits;
use super::verify::{Comparer, Similarity, Verified};
use crate::error::{Conflict, Error, Result};
use crate::scheme::Slots;
use crate::scheme::{Width, fmix32, fmix64};

impl SlotBits {
    /// Packs one signature into `words`, as one row in the layout of [`PackedSignatures`].
    ///
    /// # Errors
    /// [`Error::Conflict`] unless `words` has length [`SlotBits::words`].
    pub fn pack(self, signature: Slots<'_>, words: &mut [u64]) -> Result<()> {
        let needed = self.words(signature.len());
        if words.len() != needed {
            return Err(Conflict::PackedRoom {
                slots: signature.len(),
                bits: self.get(),
                needed,
                words: words.len(),
            }
            .into());
        }
        self.fill(signature, words);
        Ok(())
    }

    #[allow(
        clippy::cast_possible_truncation,
        reason = "only the low bits are kept"
    )]
    fn fill(self, signature: Slots<'_>, words: &mut [u64]) {
        let bits = self.get();
        match signature {
            Slots::U32(slots) => {
                let slots = slots.chunks(self.slots_per_word());
                for (packed, slots) in words.iter_mut().zip(slots) {
                    *packed = word(slots, bits, |slot| fmix32(*slot) as u16);
                }
            }
            Slots::U64(slots) => {
                let slots = slots.chunks(self.slots_per_word());
                for (packed, slots) in words.iter_mut().zip(slots) {
                    *packed = word(slots, bits, |slot| fmix64(*slot) as u16);
                }
            }
        }
    }

    /// Estimates the Jaccard similarity from two packed rows of `num_perm` slots, corrected for chance matches.
    ///
    /// # Errors
    /// [`Error::Conflict`] unless both rows have the layout that [`SlotBits::pack`] writes for `num_perm` slots.
    pub fn jaccard_estimate(
        self,
        num_perm: usize,
        a: &[u64],
        b: &[u64],
    ) -> Result<JaccardEstimate> {
        for row in [a, b] {
            if row.len() != self.words(num_perm) || !self.rest_is_zero(num_perm, row) {
                return Err(self.no_rows(num_perm));
            }
        }
        JaccardEstimate::of_packed(self.matches(num_perm, a, b), num_perm, self)
    }

    /// Number of equal slots. The unused bits of both rows must be 0.
    fn matches(self, num_perm: usize, a: &[u64], b: &[u64]) -> usize {
        let differing = match self {
            SlotBits::One => differing::<1>(a, b),
            SlotBits::Two => differing::<2>(a, b),
            SlotBits::Four => differing::<4>(a, b),
            SlotBits::Eight => differing::<8>(a, b),
            SlotBits::Sixteen => differing::<16>(a, b),
        };
        num_perm - differing
    }

    fn rest_is_zero(self, num_perm: usize, row: &[u64]) -> bool {
        let used = num_perm % self.slots_per_word() * self.get() as usize;
        used == 0 || row.last().is_none_or(|last| last >> used == 0)
    }

    fn no_rows(self, num_perm: usize) -> Error {
        Conflict::PackedRows {
            num_perm,
            bits: self.get(),
        }
        .into()
    }
}

/// A matrix of signatures with b bits per slot. One bit per slot needs 1/32 of the memory of `affine32`.
///
/// **Layout.** A row is `ceil(num_perm * b / 64)` words of 64 bits. Slot k is bits `k*b .. (k+1)*b` of the
/// row, counted from the least significant bit of its first word. The same holds for the row as little-endian
/// bytes. Unused bits of the last word are 0.
///
/// **Value.** A packed slot is the low b bits of [`fmix32`]`(s)`, or of [`fmix64`]`(s)` for 64-bit slots.
/// Mixing is necessary: the low bits of `a*h + b` depend on the low bits of h alone, so without it the slots
/// of small sets would all agree or all differ, whatever the seed.
///
/// **Estimate.** Two sets agree in a packed slot with probability `J + (1 - J) / 2^b`. The estimate from the
/// share P of matches is therefore `(P - 2^-b) / (1 - 2^-b)` ([`JaccardEstimate`]). It is unbiased but needs
/// more slots: at J = 1/2, one bit needs 3 times the slots for the same error, four bits 1.13 times. (Li and
/// König's constants for sets that fill a large part of the universe are taken as 0.)
///
/// Two empty sets agree in every slot, as in whole signatures.
///
/// ```
/// use simgpu::backend::Backend;
/// use simgpu::pipeline::{PackedSignatures, Shingler, Shingling, Signatures, SlotBits};
/// use simgpu::scheme::Scheme;
///
/// let scheme = Scheme::default().with_num_perm(512)?;
/// let shingler = Shingler::new(Shingling::default(), &scheme, None)?;
/// let signer = Backend::Auto.signer(&scheme)?;
/// let texts = ["the plane was ready for touch down", "the plane was ready for take off"];
/// let signatures = Signatures::of_documents(&*signer, &texts, &shingler)?;
///
/// let packed = PackedSignatures::of(&signatures, SlotBits::One); // 64 bytes per row, not 2048
/// let estimate = packed.jaccard_estimate(0, 1);
/// assert!((estimate.jaccard() - signatures.estimate(0, 1)).abs() < 0.2);
/// # Ok::<(), simgpu::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct PackedSignatures {
    num_perm: usize,
    bits: SlotBits,
    words: Vec<u64>,
    len: usize,
    /// Width of the slots before packing; `None` if unknown.
    slot_width: Option<Width>,
}

impl PartialEq for PackedSignatures {
    /// Compares rows, `num_perm` and bits. The width of the slots before packing does not count.
    fn eq(&self, other: &Self) -> bool {
        let shape = |packed: &Self| (packed.num_perm, packed.bits, packed.len);
        shape(self) == shape(other) && self.words == other.words
    }
}

impl Eq for PackedSignatures {}

impl PackedSignatures {
    /// An empty matrix of rows with `num_perm` slots.
    pub fn new(num_perm: usize, bits: SlotBits) -> Self {
        PackedSignatures {
            num_perm,
            bits,
            words: Vec::new(),
            len: 0,
            slot_width: None,
        }
    }

    /// Packs all rows of `signatures`.
    pub fn of(signatures: &Signatures, bits: SlotBits) -> Self {
        let mut packed = PackedSignatures::new(signatures.num_perm(), bits);
        packed.push_all(signatures);
        packed
    }

    /// Restores signatures from their words: those of [`PackedSignatures::words`], or rows written by
    /// [`SlotBits::pack`].
    ///
    /// ```
    /// use simgpu::pipeline::{PackedSignatures, SlotBits};
    /// use simgpu::scheme::Slots;
    ///
    /// let bits = SlotBits::Eight;
    /// let mut words = vec![0; 2 * bits.words(128)];
    /// let (one, two) = words.split_at_mut(bits.words(128));
    /// bits.pack(Slots::U32(&[7; 128]), one)?;
    /// bits.pack(Slots::U32(&[9; 128]), two)?;
    /// assert_eq!(bits.jaccard_estimate(128, one, one)?.jaccard(), 1.0);
    /// let packed = PackedSignatures::from_words(128, bits, words)?;
    /// assert_eq!(packed.matches(0, 1), 0);
    /// assert_eq!(packed.jaccard_estimate_with(1, &packed, 1)?.jaccard(), 1.0);
    /// # Ok::<(), simgpu::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Conflict`] unless the words are whole rows of `num_perm` slots, with unused bits 0.
    pub fn from_words(num_perm: usize, bits: SlotBits, words: Vec<u64>) -> Result<Self> {
        let words_per_row = bits.words(num_perm);
        let has_whole_rows = words_per_row > 0
            && words.len().is_multiple_of(words_per_row)
            && words
                .chunks_exact(words_per_row)
                .all(|row| bits.rest_is_zero(num_perm, row));
        if !has_whole_rows {
            return Err(bits.no_rows(num_perm));
        }
        Ok(PackedSignatures {
            num_perm,
            bits,
            len: words.len() / words_per_row,
            words,
            slot_width: None,
        })
    }

    /// Packs and appends rows of the same scheme.
    ///
    /// # Errors
    /// [`Error::Conflict`] if `num_perm` or the slot width differs from the rows already packed. Nothing is
    /// appended then.
    pub fn push(&mut self, signatures: &Signatures) -> Result<()> {
        if signatures.num_perm() != self.num_perm {
            return Err(Conflict::SlotCounts {
                left: self.num_perm,
                right: signatures.num_perm(),
            }
            .into());
        }
        let width = signatures.slot_width();
        if self.slot_width.is_some_and(|packed| packed != width) {
            return Err(Conflict::SlotWidths.into());
        }
        self.push_all(signatures);
        Ok(())
    }

    fn push_all(&mut self, signatures: &Signatures) {
        let (rows, bits) = (signatures.len(), self.bits);
        let words = bits.words(self.num_perm);
        let packed = self.words.len();
        self.words.resize(packed + rows * words, 0);
        let new = self.words[packed..].chunks_exact_mut(words.max(1));
        for (i, row) in new.enumerate() {
            bits.fill(signatures.row(i), row);
        }
        self.len += rows;
        self.slot_width = Some(signatures.slot_width());
    }

    /// Rows of these words, as wide as its own.
    ///
    /// # Errors
    /// As [`PackedSignatures::from_words`].
    pub(crate) fn with_words(&self, words: Vec<u64>) -> Result<Self> {
        PackedSignatures::from_words(self.num_perm, self.bits, words)
    }

    /// Appends rows of the same scheme.
    ///
    /// # Errors
    /// [`Error::Conflict`] for rows of another number of slots, or of another number of bits.
    pub(crate) fn append(&mut self, other: &PackedSignatures) -> Result<()> {
        if (other.num_perm, other.bits) != (self.num_perm, self.bits) {
            return Err(self.bits.no_rows(self.num_perm));
        }
        self.words.extend_from_slice(&other.words);
        self.len += other.len;
        Ok(())
    }

    /// Sets the words of a row. Rows before it that have none are zeros.
    ///
    /// # Errors
    /// [`Error::Conflict`] unless the words are a whole row, with unused bits 0.
    pub(crate) fn set_row(&mut self, row: usize, words: &[u64]) -> Result<()> {
        let row_words = self.bits.words(self.num_perm);
        if words.len() != row_words || !self.bits.rest_is_zero(self.num_perm, words) {
            return Err(self.bits.no_rows(self.num_perm));
        }
        if row >= self.len {
            self.len = row + 1;
            self.words.resize(self.len * row_words, 0);
        }
        self.words[row * row_words..][..row_words].copy_from_slice(words);
        Ok(())
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of slots per row.
    pub fn num_perm(&self) -> usize {
        self.num_perm
    }

    /// Bits per slot.
    pub fn bits(&self) -> SlotBits {
        self.bits
    }

    /// All words, row by row.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The words of row `i`.
    ///
    /// # Panics
    /// If the row is not below [`PackedSignatures::len`].
    pub fn row(&self, i: usize) -> &[u64] {
        let words = self.bits.words(self.num_perm);
        &self.words[i * words..(i + 1) * words]
    }

    /// Number of slots in which rows `i` and `j` agree, including chance matches.
    ///
    /// # Panics
    /// If a row is not below [`PackedSignatures::len`].
    pub fn matches(&self, i: usize, j: usize) -> usize {
        self.bits.matches(self.num_perm, self.row(i), self.row(j))
    }

    /// Estimates the Jaccard similarity of rows `i` and `j`, corrected for chance matches. It is 1 for two
    /// empty sets.
    ///
    /// # Panics
    /// If a row is not below [`PackedSignatures::len`].
    pub fn jaccard_estimate(&self, i: usize, j: usize) -> JaccardEstimate {
        JaccardEstimate::with_chance(self.matches(i, j), self.num_perm, self.bits.chance())
    }

    /// Estimates the Jaccard similarity of row `i` and row `j` of `other`, which must have the same scheme.
    ///
    /// # Errors
    /// [`Error::Conflict`] if `num_perm` or the bits per slot differ.
    ///
    /// # Panics
    /// If a row is not below the [`PackedSignatures::len`] of its matrix.
    pub fn jaccard_estimate_with(
        &self,
        i: usize,
        other: &PackedSignatures,
        j: usize,
    ) -> Result<JaccardEstimate> {
        if (self.num_perm, self.bits) != (other.num_perm, other.bits) {
            return Err(Conflict::PackedShapes {
                left_slots: self.num_perm,
                left_bits: self.bits.get(),
                right_slots: other.num_perm,
                right_bits: other.bits.get(),
            }
            .into());
        }
        let matches = self.bits.matches(self.num_perm, self.row(i), other.row(j));
        JaccardEstimate::of_packed(matches, self.num_perm, self.bits)
    }
}

/// Estimates from packed slots. Row i is the document at position i.
impl Similarity for PackedSignatures {
    fn comparer(&self) -> Box<dyn Comparer + '_> {
        Box::new(self)
    }
}

impl Comparer for &PackedSignatures {
    fn compare(&mut self, a: u32, b: u32, _: f64) -> Result<Verified> {
        let estimate = self.jaccard_estimate(a as usize, b as usize);
        // An estimate below 0 is no similarity.
        Ok(Verified::by(estimate.jaccard().max(0.0)))
    }
}

/// Packs up to one word of slots.
fn word<T>(slots: &[T], bits: u32, low: impl Fn(&T) -> u16) -> u64 {
    let mask = u64::from(u16::MAX >> (16 - bits));
    let slots = slots.iter().rev();
    slots.fold(0, |word, slot| word << bits | u64::from(low(slot)) & mask)
}

/// Number of slots of B bits in which two rows differ. Folds the bits of each slot onto its lowest bit and
/// counts those. Unused bits are 0 in both rows and add nothing.
fn differing<const B: u32>(a: &[u64], b: &[u64]) -> usize {
    let lowest = u64::MAX / ((1 << B) - 1);
    let differing = a.iter().zip(b).map(|(a, b)| {
        let mut bits = a ^ b;
        let mut folded = 1;
        while folded < B {
            bits |= bits >> folded;
            folded *= 2;
        }
        (bits & lowest).count_ones() as usize
    });
    differing.sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Backend;
    use crate::pipeline::ShingleSets;
    use crate::scheme::Hashes;
    use crate::scheme::Scheme;

    /// Slot k of a row, read bit by bit from the layout.
    fn slot(row: &[u64], k: usize, bits: usize) -> u64 {
        (0..bits).fold(0, |slot, bit| {
            let at = k * bits + bit;
            slot | (row[at / 64] >> (at % 64) & 1) << bit
        })
    }

    #[allow(clippy::cast_possible_truncation, reason = "any 32 bits can be hashes")]
    fn signatures(name: &str, num_perm: u32, seed: u32, sets: &[Vec<u64>]) -> Signatures {
        let scheme = Scheme::named(name).unwrap().with_num_perm(num_perm);
        let scheme = scheme.unwrap().with_seed(seed);
        let mut offsets = vec![0];
        for set in sets {
            offsets.push(offsets[offsets.len() - 1] + set.len() as i64);
        }
        let wide: Vec<u64> = sets.concat().into_iter().map(fmix64).collect();
        let narrow: Vec<u32> = wide.iter().map(|x| *x as u32).collect();
        let hashes = match scheme.family().hash_width() {
            Width::U32 => Hashes::U32(&narrow),
            Width::U64 => Hashes::U64(&wide),
        };
        let signer = Backend::Auto.signer(&scheme).unwrap();
        let mut signatures = Signatures::new(scheme.num_perm(), signer.slot_width());
        let sets = ShingleSets::new(hashes, &offsets).unwrap();
        signatures.sign(&*signer, &sets).unwrap();
        signatures
    }

    #[test]
    fn packed_matches_equal_slot_by_slot_matches() {
        let sets: Vec<Vec<u64>> = vec![
            (0..20).collect(),
            (5..25).collect(),
            vec![],
            vec![],
            (0..20).collect(),
        ];
        for num_perm in 1..=300 {
            for scheme in ["affine32", "affine64"] {
                let signatures = signatures(scheme, num_perm, 1, &sets);
                for bits in SlotBits::ALL {
                    let packed = PackedSignatures::of(&signatures, bits);
                    let b = bits.get() as usize;
                    let mask = (1u64 << b) - 1;
                    for row in 0..sets.len() {
                        let kept = (0..signatures.num_perm())
                            .map(|k| slot(packed.row(row), k, b))
                            .collect::<Vec<_>>();
                        let expected: Vec<u64> = match signatures.row(row) {
                            Slots::U32(slots) => {
                                slots.iter().map(|s| u64::from(fmix32(*s)) & mask).collect()
                            }
                            Slots::U64(slots) => slots.iter().map(|s| fmix64(*s) & mask).collect(),
                        };
                        assert_eq!(kept, expected, "{num_perm} {bits:?}");
                        let used = signatures.num_perm() * b % 64;
                        if used > 0 {
                            assert_eq!(packed.row(row).last().unwrap() >> used, 0);
                        }
                    }
                    for (i, j) in [(0, 1), (0, 2), (2, 3), (0, 4), (1, 2)] {
                        let agree = (0..signatures.num_perm())
                            .filter(|k| slot(packed.row(i), *k, b) == slot(packed.row(j), *k, b));
                        assert_eq!(packed.matches(i, j), agree.count(), "{num_perm} {bits:?}");
                    }
                }
            }
        }
    }

    /// Includes small sets: without mixing, those agree in all slots or in none.
    #[test]
    fn estimates_are_unbiased_over_seeds() {
        const SEEDS: u32 = 300;
        const NUM_PERM: u32 = 64;
        for scheme in ["affine32", "affine64", "mersenne31", "mersenne61"] {
            for (shared, each) in [(0, 1), (1, 1), (2, 2), (10, 5), (400, 100), (0, 300)] {
                let a = (0..shared + each).collect();
                let b = (0..shared).chain(1000..1000 + each).collect();
                let truth = shared as f64 / (shared + 2 * each) as f64;
                let sets = [a, b];
                for bits in SlotBits::ALL {
                    let estimates = (1..=SEEDS).map(|seed| {
                        let signatures = signatures(scheme, NUM_PERM, seed, &sets);
                        let packed = PackedSignatures::of(&signatures, bits);
                        packed.jaccard_estimate(0, 1).jaccard()
                    });
                    let mean = estimates.sum::<f64>() / f64::from(SEEDS);
                    let chance = bits.chance();
                    let p = truth + (1.0 - truth) * chance;
                    let slots = f64::from(SEEDS * NUM_PERM);
                    let standard_error = (p * (1.0 - p) / slots).sqrt() / (1.0 - chance);
                    let off = (mean - truth).abs() / standard_error;
                    assert!(
                        off < 4.0,
                        "{scheme} {shared} {each} {bits:?}: {mean}, {off}"
                    );
                }
            }
        }
    }

    #[test]
    fn stored_words_restore_the_signatures() {
        let sets: Vec<Vec<u64>> = vec![(0..20).collect(), (5..25).collect(), vec![]];
        for (scheme, num_perm) in [("affine32", 1), ("affine32", 37), ("affine64", 128)] {
            let signatures = signatures(scheme, num_perm, 1, &sets);
            let num_perm = signatures.num_perm();
            for bits in SlotBits::ALL {
                let packed = PackedSignatures::of(&signatures, bits);
                let words = packed.words().to_vec();
                let restored = PackedSignatures::from_words(num_perm, bits, words).unwrap();
                assert_eq!(restored, packed);
                let mut row = vec![u64::MAX; bits.words(num_perm)];
                for i in 0..3 {
                    bits.pack(signatures.row(i), &mut row).unwrap();
                    assert_eq!(row, packed.row(i));
                    let expected = packed.jaccard_estimate(0, i);
                    let with = restored.jaccard_estimate_with(0, &packed, i);
                    assert_eq!(with.unwrap(), expected);
                    let estimate = bits.jaccard_estimate(num_perm, packed.row(0), &row);
                    assert_eq!(estimate.unwrap(), expected);
                }
                row.push(0);
                assert!(bits.pack(signatures.row(0), &mut row).is_err());
                assert!(bits.jaccard_estimate(num_perm, &row, &row).is_err());
            }
        }
    }

    #[test]
    fn malformed_rows_are_errors() {
        let bits = SlotBits::Four;
        for (num_perm, words) in [
            (0, vec![]),
            (0, vec![0]),
            (17, vec![0; 3]),
            (15, vec![1 << 60]),
            (usize::MAX, vec![0]),
        ] {
            assert!(PackedSignatures::from_words(num_perm, bits, words).is_err());
        }
        assert!(bits.jaccard_estimate(15, &[1 << 60], &[0]).is_err());
        assert!(bits.jaccard_estimate(0, &[], &[]).is_err());
        assert!(JaccardEstimate::of_packed(3, 2, bits).is_err());
        let sixteen = PackedSignatures::from_words(16, bits, vec![0]).unwrap();
        for (num_perm, bits) in [(15, bits), (16, SlotBits::Two)] {
            let other = PackedSignatures::from_words(num_perm, bits, vec![0]).unwrap();
            assert!(sixteen.jaccard_estimate_with(0, &other, 0).is_err());
        }
    }

    #[test]
    fn estimates_correct_for_chance_matches() {
        let estimate = JaccardEstimate::of_packed(96, 128, SlotBits::One).unwrap();
        assert_eq!(estimate.jaccard(), 0.5);
        assert!((estimate.standard_error() - 2.0 * (0.75 * 0.25 / 128f64).sqrt()).abs() < 1e-15);
        let below = JaccardEstimate::with_chance(32, 128, SlotBits::One.chance());
        assert_eq!(below.jaccard(), -0.5);
        assert_eq!(below.interval(0.95).unwrap(), (0.0, 0.0));
    }

    #[test]
    fn wrong_bits_and_slot_counts_are_errors() {
        for bits in [0, 3, 32, u32::MAX] {
            assert!(SlotBits::new(bits).is_err());
        }
        assert_eq!(SlotBits::new(8).unwrap(), SlotBits::Eight);
        let mut packed = PackedSignatures::new(8, SlotBits::Four);
        assert!(packed.push(&signatures("affine32", 9, 1, &[])).is_err());
        assert!(
            packed
                .push(&signatures("affine32", 8, 1, &[vec![1]]))
                .is_ok()
        );
        assert_eq!((packed.len(), packed.row(0).len()), (1, 1));
    }

    /// Packed slots of 32 and of 64 bits agree by chance only.
    #[test]
    fn one_matrix_holds_one_slot_width() {
        let narrow = signatures("affine32", 8, 1, &[vec![1]]);
        let wide = signatures("affine64", 8, 1, &[vec![1]]);
        for (first, second) in [(&narrow, &wide), (&wide, &narrow)] {
            let mut packed = PackedSignatures::of(first, SlotBits::Four);
            let before = packed.clone();
            assert!(packed.push(second).is_err());
            assert_eq!(packed, before);
            packed.push(first).unwrap();
            assert_eq!(packed.matches(0, 1), 8);
        }
    }
}
