//! How likely a similar pair is to be found.

use super::banding::Banding;
use super::estimate::JaccardEstimate;
use super::slot_bits::SlotBits;

/// How likely a run is to find a pair of a given similarity: the pair must become a candidate and, with
/// verification by signature, its estimate must reach the threshold.
///
/// Assumes that slots agree independently with a probability equal to the similarity. Of the slots of `affine32`
/// that is nearly true; `fast` and R-MinHash find about as many pairs.
///
/// ```
/// use simgpu::pipeline::{Banding, Detection, SlotBits};
///
/// let banding = Banding::new(16, 8, 128)?;
/// let exact = Detection::of_candidates(banding, 128);
/// assert!((exact.probability(0.8) - 0.947).abs() < 1e-3);
/// let estimated = exact.estimated(0.8, SlotBits::Eight);
/// assert!((estimated.probability(0.8) - 0.498).abs() < 0.02); // half of the estimates are too low
/// # Ok::<(), simgpu::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Detection {
    banding: Banding,
    num_perm: usize,
    estimate: Option<Estimate>,
}

/// Verification by signature.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Estimate {
    /// The least number of equal packed slots of a pair that passes.
    least_matches: usize,
    /// The probability that slots with different values agree in the bits that packing keeps.
    chance: f64,
}

impl Detection {
    /// Every candidate of signatures of `num_perm` slots is found: verification is exact, or there is none.
    pub fn of_candidates(banding: Banding, num_perm: usize) -> Self {
        Detection {
            banding,
            num_perm,
            estimate: None,
        }
    }

    /// Only candidates whose estimate from packed signatures reaches `threshold` are found.
    #[must_use]
    pub fn estimated(self, threshold: f64, bits: SlotBits) -> Self {
        let estimate =
            |matches| JaccardEstimate::with_chance(matches, self.num_perm, bits.chance()).jaccard();
        let reaches = |matches: &usize| estimate(*matches) >= threshold;
        let least_matches = (0..=self.num_perm).find(reaches);
        Detection {
            estimate: Some(Estimate {
                least_matches: least_matches.unwrap_or(self.num_perm + 1),
                chance: bits.chance(),
            }),
            ..self
        }
    }

    /// The probability that a pair of this similarity is found.
    pub fn probability(&self, similarity: f64) -> f64 {
        match self.estimate {
            None => self.banding.candidate_probability(similarity),
            Some(Estimate { least_matches, .. }) => {
                let of_matches = self.candidates_by_matches(similarity);
                of_matches.iter().skip(least_matches).sum::<f64>().min(1.0)
            }
        }
    }

    /// For each number of equal packed slots, the probability that a pair of this similarity has so many and is a
    /// candidate.
    pub(super) fn candidates_by_matches(&self, similarity: f64) -> Vec<f64> {
        let chance = self.estimate.map_or(0.0, |estimate| estimate.chance);
        let equal = similarity;
        let agree = similarity + (1.0 - similarity) * chance;
        let (bands, rows) = (self.banding.bands(), self.banding.rows());
        // The distribution of matches in a band that does not hold the pair: all of them, without the case that all
        // slots are equal. A slot may agree by chance and not be equal.
        let mut missed_band = binomial(rows, agree);
        missed_band[rows] =
            (missed_band[rows] - equal.powi(i32::try_from(rows).unwrap_or(i32::MAX))).max(0.0);
        let mut missed = vec![1.0];
        for _ in 0..bands {
            missed = convolve(&missed, &missed_band);
        }
        let rest = self.num_perm.saturating_sub(bands * rows);
        let missed = convolve(&missed, &binomial(rest, agree));
        let all = binomial(self.num_perm, agree);
        all.iter()
            .zip(missed)
            .map(|(all, missed)| (all - missed).max(0.0))
            .collect()
    }

    /// The least number of equal packed slots of a pair that passes; 0 without an estimate.
    pub(super) fn least_matches(&self) -> usize {
        self.estimate.map_or(0, |estimate| estimate.least_matches)
    }
}

/// The probability of each number of successes in `trials`.
fn binomial(trials: usize, probability: f64) -> Vec<f64> {
    let mut distribution = vec![1.0];
    for _ in 0..trials {
        distribution = convolve(&distribution, &[1.0 - probability, probability]);
    }
    distribution
}

/// The distribution of the sum of two independent numbers.
fn convolve(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; a.len() + b.len() - 1];
    for (i, a) in a.iter().enumerate() {
        for (j, b) in b.iter().enumerate() {
            sum[i + j] += a * b;
        }
    }
    sum
}
