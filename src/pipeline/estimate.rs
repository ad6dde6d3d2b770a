//! Estimates from signatures, with their errors: Jaccard similarity and cardinality.
//!
//! **Intervals are those of Clopper and Pearson.** Wilson's reach 95 % only on average, which matters for similarities
//! near 1, the ones compared here. The mid-p interval is nearer to 95 % but promises nothing for a single similarity.
//! At K = 128, Clopper and Pearson's cover 96.4 % on average, and up to 97.7 % at J = 0.95; the benchmark shows the
//! expected coverage beside the measured one.

use statrs::function::beta::inv_beta_reg;

use super::sign::Signatures;
use super::slot_bits::SlotBits;
use crate::error::{Conflict, Error, Result};
use crate::scheme::Slots;
use crate::scheme::{Family, P31, P61, Scheme};

/// An estimate of a Jaccard similarity J, from the number of slots in which two signatures agree.
///
/// Each slot agrees with probability J, independently of the others (Broder 1997; MMDS 3.3.3). The number of
/// matches is therefore binomial, and errors and intervals are those of a proportion. Errors of `fast` and
/// `rensa` are smaller, because their slots sample without replacement.
///
/// ```
/// use simgpu::pipeline::JaccardEstimate;
///
/// let estimate = JaccardEstimate::new(102, 128)?;
/// assert_eq!(estimate.jaccard(), 102.0 / 128.0);
/// assert!((estimate.standard_error() - 0.0355).abs() < 1e-4);
/// let (low, high) = estimate.interval(0.95)?;
/// assert!((low - 0.717).abs() < 1e-3 && (high - 0.863).abs() < 1e-3);
/// # Ok::<(), simgpu::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JaccardEstimate {
    matches: usize,
    num_perm: usize,
    /// The probability that two slots with different values agree in the bits that packing keeps; 0 for whole slots.
    chance: f64,
}

impl JaccardEstimate {
    /// The estimate for two signatures of `num_perm` whole slots that agree in `matches` slots.
    ///
    /// # Errors
    /// [`Error::Conflict`] if `num_perm` is 0 or less than `matches`.
    pub fn new(matches: usize, num_perm: usize) -> Result<Self> {
        if num_perm == 0 || matches > num_perm {
            return Err(Conflict::Matches { matches, num_perm }.into());
        }
        Ok(JaccardEstimate::with_chance(matches, num_perm, 0.0))
    }

    /// The estimate for two signatures of `num_perm` packed slots ([`PackedSignatures`](super::PackedSignatures)) that
    /// agree in `matches` slots.
    ///
    /// # Errors
    /// As [`JaccardEstimate::new`].
    pub fn of_packed(matches: usize, num_perm: usize, bits: SlotBits) -> Result<Self> {
        let estimate = JaccardEstimate::new(matches, num_perm)?;
        Ok(JaccardEstimate {
            chance: bits.chance(),
            ..estimate
        })
    }

    /// Estimates the Jaccard similarity from the slots of two signatures of the same scheme. Like
    /// [`Signatures::estimate`], it is 1 for two empty sets.
    ///
    /// ```
    /// use simgpu::backend::Backend;
    /// use simgpu::pipeline::JaccardEstimate;
    /// use simgpu::scheme::{Hashes, Scheme, Slots, SlotsMut};
    ///
    /// let signer = Backend::Auto.signer(&Scheme::default())?;
    /// let (mut one, mut two) = ([0; 128], [0; 128]);
    /// signer.sign_set(Hashes::U32(&[1, 2, 3]), SlotsMut::U32(&mut one))?;
    /// signer.sign_set(Hashes::U32(&[2, 3, 4]), SlotsMut::U32(&mut two))?;
    /// let estimate = JaccardEstimate::between(Slots::U32(&one), Slots::U32(&two))?;
    /// let (low, high) = estimate.interval(0.999)?;
    /// assert!(low < 0.5 && 0.5 < high);
    /// # Ok::<(), simgpu::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Conflict`] if the signatures differ in width or number of slots, or have no slot.
    pub fn between(one: Slots<'_>, other: Slots<'_>) -> Result<Self> {
        JaccardEstimate::new(one.matches(other)?, one.len())
    }

    pub(super) fn with_chance(matches: usize, num_perm: usize, chance: f64) -> Self {
        JaccardEstimate {
            matches,
            num_perm,
            chance,
        }
    }

    /// Number of slots that agree.
    pub fn matches(&self) -> usize {
        self.matches
    }

    /// Number of slots per signature.
    pub fn num_perm(&self) -> usize {
        self.num_perm
    }

    fn share(&self) -> f64 {
        self.matches as f64 / self.num_perm as f64
    }

    /// The unbiased estimate of the Jaccard similarity.
    ///
    /// From packed slots it can be below 0: clamping would bias it.
    pub fn jaccard(&self) -> f64 {
        self.without_chance(self.share())
    }

    /// The estimated standard error of [`JaccardEstimate::jaccard`]: sqrt(J (1 - J) / num_perm) for whole slots,
    /// with the estimate as J.
    ///
    /// It is 0 if all slots agree or if none do. [`JaccardEstimate::interval`] is meaningful in these cases, too.
    pub fn standard_error(&self) -> f64 {
        let share = self.share();
        (share * (1.0 - share) / self.num_perm as f64).sqrt() / (1.0 - self.chance)
    }

    /// The confidence interval of Clopper and Pearson (1934), lower and upper end, clamped to 0..1.
    ///
    /// It contains the true similarity with probability `confidence` or more, for any similarity and any number
    /// of slots.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless `confidence` is above 0 and below 1.
    pub fn interval(&self, confidence: f64) -> Result<(f64, f64)> {
        let (low, high) = binomial_interval(self.matches as f64, self.num_perm as f64, confidence)?;
        let similarity = |share: f64| self.without_chance(share).clamp(0.0, 1.0);
        Ok((similarity(low), similarity(high)))
    }

    fn without_chance(&self, share: f64) -> f64 {
        (share - self.chance) / (1.0 - self.chance)
    }
}

/// The interval of Clopper and Pearson for the probability behind `matches` of `trials`, which need not be whole numbers.
///
/// # Errors
/// [`Error::Parameter`] unless `confidence` is above 0 and below 1.
#[doc(hidden)]
pub fn binomial_interval(matches: f64, trials: f64, confidence: f64) -> Result<(f64, f64)> {
    if !(confidence > 0.0 && confidence < 1.0) {
        return Err(Error::Parameter {
            name: "confidence",
            value: confidence.to_string(),
            expected: "a probability above 0 and below 1".to_owned(),
        });
    }
    let tail = (1.0 - confidence) / 2.0;
    let mismatches = trials - matches;
    let low = if matches <= 0.0 {
        0.0
    } else {
        inv_beta_reg(matches, mismatches + 1.0, tail)
    };
    let high = if mismatches <= 0.0 {
        1.0
    } else {
        inv_beta_reg(matches + 1.0, mismatches, 1.0 - tail)
    };
    Ok((low, high))
}

impl Signatures {
    /// Estimates the Jaccard similarity of rows `i` and `j`, with its error. Like [`Signatures::estimate`], it
    /// is 1 for two empty sets.
    ///
    /// # Panics
    /// If a row is not below [`Signatures::len`].
    pub fn jaccard_estimate(&self, i: usize, j: usize) -> JaccardEstimate {
        JaccardEstimate::with_chance(self.matches(i, j), self.num_perm(), 0.0)
    }
}

/// An estimate of the number of distinct shingle hashes in a set, from its signature.
///
/// A slot is the least of n values that are uniform over a range. Let u be that value, with the range scaled
/// to 1. Then -ln(1 - u) is exponential with rate n, and its sum S over K slots is Gamma(K, n). The estimate
/// (K - 1) / S is unbiased, with a relative standard error of 1 / sqrt(K - 2) (Cohen 1997, *Size-estimation
/// framework with applications to transitive closure and reachability*, section 3).
///
/// Colliding 32-bit hashes count once: 10^8 shingles have about 1 % fewer distinct hashes. Families without a mixing
/// step (`affine32-even` and those named after Mersenne primes) need hashes that behave like random numbers. All base
/// hashes do.
///
/// ```
/// use simgpu::backend::Backend;
/// use simgpu::pipeline::Cardinality;
/// use simgpu::scheme::{Hashes, Slots, SlotsMut};
/// use simgpu::scheme::{Scheme, fmix32};
///
/// let scheme = Scheme::default();
/// let set: Vec<u32> = (0..1000).map(fmix32).collect();
/// let mut slots = [0; 128];
/// let signer = Backend::Auto.signer(&scheme)?;
/// signer.sign_set(Hashes::U32(&set), SlotsMut::U32(&mut slots))?;
/// let estimate = Cardinality::of(Slots::U32(&slots), &scheme)?;
/// assert!((estimate.count() - 1000.0).abs() < 4.0 * estimate.standard_error());
/// # Ok::<(), simgpu::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cardinality {
    count: f64,
    num_perm: usize,
}

impl Cardinality {
    /// The estimate from one signature. It is 0 for the empty set and never exceeds the number of possible
    /// hashes.
    ///
    /// # Errors
    /// [`Error::Conflict`] if
    /// - the slots do not have the width and number of the scheme;
    /// - there are fewer than three slots, for which the error is infinite;
    /// - the scheme is `fast` or `rensa`, whose slots are not minima of uniform values.
    pub fn of(signature: Slots<'_>, scheme: &Scheme) -> Result<Self> {
        let (len, width) = (signature.len(), signature.width());
        let range = uniform_range(scheme.family()).ok_or_else(|| Conflict::CardinalityScheme {
            scheme: scheme.to_string(),
        })?;
        if (len, width) != (scheme.num_perm(), scheme.family().slot_width()) {
            return Err(Conflict::SlotsOfScheme {
                slots: len,
                bits: 8 * width.bytes(),
                scheme: scheme.to_string(),
                num_perm: scheme.num_perm(),
            }
            .into());
        }
        if len < 3 {
            return Err(Conflict::CardinalitySlots { slots: len }.into());
        }
        let empty = scheme.empty_slot();
        let (is_empty, sum) = match signature {
            Slots::U32(slots) => sum(slots.iter().copied().map(u64::from), empty, range),
            Slots::U64(slots) => sum(slots.iter().copied(), empty, range),
        };
        let count = if is_empty {
            0.0
        } else {
            ((len - 1) as f64 / sum).min(range)
        };
        Ok(Cardinality {
            count,
            num_perm: len,
        })
    }

    /// The estimated number of distinct shingle hashes.
    pub fn count(&self) -> f64 {
        self.count
    }

    /// The standard error of [`Cardinality::count`]: count / sqrt(num_perm - 2).
    pub fn standard_error(&self) -> f64 {
        self.count / (self.num_perm as f64 - 2.0).sqrt()
    }
}

/// The number of values that a slot can have; `None` if values are not uniform.
fn uniform_range(family: Family) -> Option<f64> {
    const TWO_TO_32: f64 = (1u64 << 32) as f64;
    match family {
        // Mersenne61 keeps the low 32 bits of a remainder modulo 2^61 - 1. Multipliers that are even
        // numbers skip values, but at regular distances.
        Family::Affine32 | Family::Mersenne61 | Family::Affine32Even => Some(TWO_TO_32),
        Family::Affine64 => Some(TWO_TO_32 * TWO_TO_32),
        Family::Mersenne31 => Some(P31 as f64),
        Family::Mersenne61Wide => Some(P61 as f64),
        Family::Fast | Family::RMinHash => None,
    }
}

/// Whether all slots are empty, and the sum of -ln(1 - u) over slots. A slot stands for an interval; u is its
/// middle.
fn sum(slots: impl Iterator<Item = u64>, empty: u64, range: f64) -> (bool, f64) {
    slots.fold((true, 0.0), |(is_empty, sum), slot| {
        let u = (slot as f64 + 0.5) / range;
        // Large 64-bit slots would round to 1, so u stays just below.
        let term = -(-u.min(1.0 - f64::EPSILON)).ln_1p();
        (is_empty && slot == empty, sum + term)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Backend;
    use crate::scheme::Width;
    use crate::scheme::{Hashes, SlotsMut};
    use crate::scheme::{fmix32, fmix64};

    #[test]
    fn intervals_match_clopper_and_pearson() {
        // Values from R's binom.test.
        for (matches, num_perm, confidence, low, high) in [
            (0, 10, 0.95, 0.0, 0.308_497_107_818_761),
            (5, 10, 0.95, 0.187_086_028_447_398, 0.812_913_971_552_602),
            (10, 10, 0.95, 0.691_502_892_181_239, 1.0),
            (1, 1, 0.9, 0.05, 1.0),
        ] {
            let estimate = JaccardEstimate::new(matches, num_perm).unwrap();
            let interval = estimate.interval(confidence).unwrap();
            assert!((interval.0 - low).abs() < 1e-12, "{interval:?}");
            assert!((interval.1 - high).abs() < 1e-12, "{interval:?}");
        }
    }

    /// Sums the probabilities of the outcomes whose interval contains the truth.
    #[test]
    fn intervals_reach_their_nominal_coverage() {
        for num_perm in [1usize, 2, 16, 128, 1000] {
            for confidence in [0.5, 0.95, 0.999] {
                let intervals: Vec<(f64, f64)> = (0..=num_perm)
                    .map(|matches| {
                        let estimate = JaccardEstimate::new(matches, num_perm).unwrap();
                        estimate.interval(confidence).unwrap()
                    })
                    .collect();
                assert!(intervals.is_sorted_by(|a, b| a.0 < b.0 && a.1 < b.1));
                for p in [0.001, 0.1, 0.37, 0.5, 0.8, 0.95, 0.9999f64] {
                    let mut ln_choose = 0.0;
                    let mut covered = 0.0;
                    for (matches, (low, high)) in intervals.iter().enumerate() {
                        let (k, mismatches) = (matches as f64, (num_perm - matches) as f64);
                        if (*low..=*high).contains(&p) {
                            covered += (ln_choose + k * p.ln() + mismatches * (1.0 - p).ln()).exp();
                        }
                        ln_choose += (mismatches / (k + 1.0)).ln();
                    }
                    assert!(
                        covered >= confidence - 1e-9,
                        "{num_perm} {confidence} {p}: {covered}"
                    );
                }
            }
        }
    }

    #[test]
    fn impossible_estimates_are_errors() {
        assert!(JaccardEstimate::new(0, 0).is_err());
        assert!(JaccardEstimate::new(3, 2).is_err());
        for confidence in [0.0, 1.0, -0.1, f64::NAN] {
            let estimate = JaccardEstimate::new(1, 2).unwrap();
            assert!(estimate.interval(confidence).is_err());
        }
        for (name, num_perm, slots) in [
            ("affine32", 2, Slots::U32(&[1, 2])),
            ("affine32", 3, Slots::U32(&[])),
            ("affine32", 3, Slots::U32(&[1, 2])),
            ("affine32", 3, Slots::U64(&[1, 2, 3])),
            ("affine64", 3, Slots::U32(&[1, 2, 3])),
            ("fast", 3, Slots::U32(&[1, 2, 3])),
            ("rensa", 3, Slots::U32(&[1, 2, 3])),
        ] {
            let error = Cardinality::of(slots, &scheme(name, num_perm)).unwrap_err();
            assert!(error.to_string().contains("; "), "{error}");
        }
    }

    fn scheme(name: &str, num_perm: u32) -> Scheme {
        let scheme = Scheme::named(name).unwrap().with_num_perm(num_perm);
        scheme.unwrap()
    }

    fn cardinality(name: &str, num_perm: u32, seed: u32, set: &[u64]) -> Cardinality {
        let scheme = scheme(name, num_perm).with_seed(seed);
        let signer = Backend::Auto.signer(&scheme).unwrap();
        match scheme.family().hash_width() {
            Width::U32 => {
                #[allow(clippy::cast_possible_truncation, reason = "any 32 bits can be hashes")]
                let set: Vec<u32> = set.iter().map(|x| fmix32(*x as u32)).collect();
                let mut slots = vec![0; scheme.num_perm()];
                let to = SlotsMut::U32(&mut slots);
                signer.sign_set(Hashes::U32(&set), to).unwrap();
                Cardinality::of(Slots::U32(&slots), &scheme).unwrap()
            }
            Width::U64 => {
                let set: Vec<u64> = set.iter().map(|x| fmix64(*x)).collect();
                let mut slots = vec![0; scheme.num_perm()];
                let to = SlotsMut::U64(&mut slots);
                signer.sign_set(Hashes::U64(&set), to).unwrap();
                Cardinality::of(Slots::U64(&slots), &scheme).unwrap()
            }
        }
    }

    #[test]
    fn cardinality_is_unbiased_over_seeds() {
        const SEEDS: u32 = 400;
        for family in [
            "affine32",
            "affine64",
            "mersenne31",
            "mersenne61",
            "mersenne61-wide",
            "affine32-even",
            "nemo64",
        ] {
            for size in [1u64, 2, 10, 1000] {
                for num_perm in [16, 128] {
                    let set: Vec<u64> = (0..size).collect();
                    let counts =
                        (1..=SEEDS).map(|seed| cardinality(family, num_perm, seed, &set).count());
                    let mean = counts.sum::<f64>() / f64::from(SEEDS);
                    let truth = size as f64;
                    let standard_error =
                        truth / (f64::from(num_perm) - 2.0).sqrt() / f64::from(SEEDS).sqrt();
                    let off = (mean - truth) / standard_error;
                    assert!(off.abs() < 4.0, "{family} {size} {num_perm}: {mean}, {off}");
                }
            }
        }
    }

    #[test]
    fn cardinality_of_empty_and_full_sets() {
        for name in Scheme::names().filter(|name| !["fast", "rensa"].contains(name)) {
            let empty = cardinality(name, 128, 1, &[]);
            assert_eq!((empty.count(), empty.standard_error()), (0.0, 0.0));
        }
        // A set of all hashes has the least value in every slot.
        let full = Cardinality::of(Slots::U32(&[0; 128]), &scheme("affine32", 128)).unwrap();
        assert_eq!(full.count(), 2f64.powi(32));
        let full = Cardinality::of(Slots::U64(&[0; 128]), &scheme("affine64", 128)).unwrap();
        assert_eq!(full.count(), 2f64.powi(64));
        // A set with a single hash, whose slots all have the largest value.
        let one = Cardinality::of(Slots::U64(&[u64::MAX - 1; 3]), &scheme("affine64", 3)).unwrap();
        assert!(one.count().is_finite() && one.count() > 0.0);
    }
}
