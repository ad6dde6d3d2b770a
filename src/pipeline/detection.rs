//! How likely a similar pair is to be found.
//!
//! To become a candidate and to have a high estimate depend on each other: a pair with many equal slots is more often
//! a candidate. So both are computed together, from the number of equal slots in bands whose slots are not all equal.

use super::banding::{Banding, power};
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
                let shares = self.candidates_by_matches(similarity);
                shares.iter().skip(least_matches).sum::<f64>().min(1.0)
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
        // The probability of each number of matches in a band that misses the pair: that of any band, less the case
        // that all slots are equal. A slot may agree by chance and not be equal.
        let mut missed_band = binomial(rows, agree);
        missed_band[rows] = (missed_band[rows] - power(equal, rows)).max(0.0);
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

    /// The share of truly similar pairs among those that a run reports: of compared candidates whose estimate reaches
    /// `threshold`. `compared[m]` is the number of compared candidates with m equal packed slots. `groups` is the sum of
    /// the squares of the numbers of reported pairs in each group of documents that such pairs connect. `None` if no pair is
    /// reported, or without estimates.
    ///
    /// The true similarities are unknown. Their most likely distribution, given the estimates, is found by
    /// expectation-maximisation, smoothed in each step (Silverman et al. 1990), on a grid that has the threshold between
    /// two of its points. A similarity of exactly 1 is a point of its own, since equal sets are more frequent than any
    /// others. Three things may leave the share uncertain, and make up [`Precision::error`]:
    ///
    /// - Few slots tell little: the standard error of an estimate exceeds 0.1, or two searches, from distributions with most
    ///   pairs at either end, end apart.
    /// - No slots tell 1 from a similarity so near to it that a slot is not expected to differ.
    /// - The errors of the pairs of one group are those of the same few slots, so that groups count, not pairs: with few
    ///   groups, chance decides.
    pub fn precision(&self, threshold: f64, compared: &[u64], groups: f64) -> Option<Precision> {
        let least_matches = self.estimate?.least_matches;
        let reported = compared.iter().skip(least_matches).sum::<u64>();
        if reported == 0 {
            return None;
        }
        let grid = Grid::around(threshold);
        let candidates: Vec<Vec<f64>> = grid
            .similarities
            .iter()
            .map(|similarity| {
                let mut chances = self.candidates_by_matches(*similarity);
                let sum = chances.iter().sum::<f64>().max(f64::MIN_POSITIVE);
                chances.iter_mut().for_each(|share| *share /= sum);
                chances
            })
            .collect();
        let [low, high] = [-TILT, TILT].map(|tilt| {
            let first = grid.similarities.iter().map(|at| (tilt * (at - 1.0)).exp());
            let shares = most_likely(first.collect(), &candidates, compared);
            let reported = shares
                .iter()
                .zip(&candidates)
                .map(|(share, chances)| share * chances.iter().skip(least_matches).sum::<f64>());
            let reported: Vec<f64> = reported.collect();
            let similar: f64 = reported[grid.similar_from..].iter().sum();
            similar / reported.iter().sum::<f64>().max(f64::MIN_POSITIVE)
        });
        let share = f64::midpoint(low, high);
        let slots = self.num_perm as f64;
        let standard_error = (threshold * (1.0 - threshold) / slots).sqrt();
        if (1.0 - threshold) * slots < 1.0 || standard_error > MOST_STANDARD_ERROR {
            return Some(Precision { share, error: 1.0 });
        }
        let variance = (low * (1.0 - low)).max(high * (1.0 - high)).max(0.0);
        let noise = (variance * groups).sqrt() / reported as f64;
        Some(Precision {
            share,
            error: (high - low).abs() / 2.0 + 2.0 * noise,
        })
    }
}

/// The share of truly similar pairs among those that a run reports.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    /// The most likely share.
    pub share: f64,
    /// How far the true share may be from it: about two standard deviations. 1 if nothing is known.
    pub error: f64,
}

impl Precision {
    /// The greatest error of a share that is stated.
    const MOST: f64 = 0.05;

    /// The share, unless it is too uncertain to be stated.
    pub fn stated(self) -> Option<f64> {
        (self.error <= Precision::MOST).then_some(self.share)
    }

    /// The same of more pairs, if `known` of `pairs` are known to be similar, and the others are like these.
    #[must_use]
    pub fn with_known(self, known: u64, pairs: u64) -> Self {
        let others = pairs.saturating_sub(known) as f64 / pairs.max(1) as f64;
        Precision {
            share: 1.0 - others * (1.0 - self.share),
            error: others * self.error,
        }
    }
}

/// The greatest standard error of estimates that tell how many of them are right.
const MOST_STANDARD_ERROR: f64 = 0.1;

/// How unlike the two distributions are from which the search for the most likely one begins: the density grows, or
/// falls, by this power of e from a similarity of 0 to 1.
const TILT: f64 = 8.0;

/// The similarities of a distribution, ascending. The last one is 1.
struct Grid {
    similarities: Vec<f64>,
    /// The first similarity from the threshold up.
    similar_from: usize,
}

impl Grid {
    fn around(threshold: f64) -> Self {
        const STEP: f64 = 0.005;
        let steps = |to: f64| {
            (0..)
                .map(|step| (f64::from(step) + 0.5) * STEP)
                .take_while(move |at| *at < to)
        };
        let mut similarities: Vec<f64> = steps(threshold).map(|down| threshold - down).collect();
        similarities.reverse();
        let similar_from = similarities.len();
        similarities.extend(steps(1.0 - threshold).map(|up| threshold + up));
        similarities.push(1.0);
        Grid {
            similarities,
            similar_from,
        }
    }
}

/// The most likely shares of similarities, from the first ones on. `candidates` says how likely a candidate of each
/// similarity has each number of matches. The last share is not smoothed.
fn most_likely(first: Vec<f64>, candidates: &[Vec<f64>], compared: &[u64]) -> Vec<f64> {
    const ROUNDS: usize = 100;
    let mut shares = first;
    for _ in 0..ROUNDS {
        let mut next = vec![0.0; shares.len()];
        for (matches, pairs) in compared.iter().enumerate().filter(|(_, pairs)| **pairs > 0) {
            let likelihoods = shares.iter().zip(candidates);
            let likelihoods: Vec<f64> = likelihoods
                .map(|(share, of)| share * of.get(matches).unwrap_or(&0.0))
                .collect();
            let sum = likelihoods.iter().sum::<f64>().max(f64::MIN_POSITIVE);
            for (next, likelihood) in next.iter_mut().zip(&likelihoods) {
                *next += *pairs as f64 * likelihood / sum;
            }
        }
        let last = next.pop();
        shares = smoothed(&next);
        shares.extend(last);
    }
    shares
}

/// Each value with a fifth of its weight moved to its neighbours. The sum stays. Less would follow the noise of few
/// estimates, more would blur a steep distribution.
fn smoothed(values: &[f64]) -> Vec<f64> {
    let at = |i: usize| values[i.min(values.len() - 1)];
    (0..values.len())
        .map(|i| 0.1 * at(i.saturating_sub(1)) + 0.8 * at(i) + 0.1 * at(i + 1))
        .collect()
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

#[cfg(test)]
mod tests {
    use super::super::slot_bits::SlotBits;
    use super::*;
    use crate::scheme::fmix64;

    /// A number from 0 to 1.
    fn random(seed: u64) -> f64 {
        (fmix64(seed) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Whether a made-up pair becomes a candidate, and its equal packed slots.
    fn draw(banding: Banding, similarity: f64, seed: u64) -> (bool, usize) {
        let slots: Vec<(bool, bool)> = (0..128)
            .map(|slot| {
                let equal = random(seed << 9 | slot) < similarity;
                (equal, equal || random(seed << 9 | 256 | slot) < 1.0 / 256.0)
            })
            .collect();
        let mut bands = slots.chunks(banding.rows()).take(banding.bands());
        let is_candidate = bands.any(|band| band.iter().all(|(equal, _)| *equal));
        let matches = slots.iter().filter(|(_, agree)| *agree).count();
        (is_candidate, matches)
    }

    #[test]
    fn probabilities_agree_with_made_up_pairs() {
        const PAIRS: u64 = 20_000;
        for (bands, rows) in [(16, 8), (20, 5)] {
            let banding = Banding::new(bands, rows, 128).unwrap();
            let candidates = Detection::of_candidates(banding, 128);
            let estimated = candidates.estimated(0.8, SlotBits::Eight);
            for similarity in [0.6, 0.75, 0.8, 0.85, 1.0] {
                let drawn = (0..PAIRS).map(|seed| draw(banding, similarity, seed));
                let reach = estimated.estimate.unwrap().least_matches;
                let (mut found_candidates, mut found_estimates) = (0.0, 0.0);
                for (is_candidate, matches) in drawn {
                    found_candidates += f64::from(u8::from(is_candidate));
                    found_estimates += f64::from(u8::from(is_candidate && matches >= reach));
                }
                for (detection, found) in
                    [(candidates, found_candidates), (estimated, found_estimates)]
                {
                    let share = found / PAIRS as f64;
                    let probability = detection.probability(similarity);
                    let error = (probability * (1.0 - probability) / PAIRS as f64).sqrt();
                    assert!((share - probability).abs() <= 4.0 * error + 1e-12);
                }
            }
        }
    }

    #[test]
    fn precision_is_that_of_made_up_pairs() {
        let banding = Banding::new(16, 8, 128).unwrap();
        let detection = Detection::of_candidates(banding, 128).estimated(0.8, SlotBits::Eight);
        let reach = detection.estimate.unwrap().least_matches;
        // Most pairs far below the threshold, and none from 0.85; as many on both sides; most near 1.
        let spreads: [fn(f64) -> f64; 3] =
            [|u| 0.4 + 0.45 * u, |u| 0.6 + 0.4 * u, |u| 1.0 - 0.5 * u * u];
        for (spread, which) in spreads.into_iter().zip(0u64..) {
            let mut compared = vec![0; 129];
            let (mut reported, mut similar) = (0.0, 0.0);
            for seed in 0..100_000 {
                let similarity = spread(random(seed << 2 | which));
                let (is_candidate, matches) = draw(banding, similarity, seed);
                if is_candidate {
                    compared[matches] += 1;
                    reported += f64::from(u8::from(matches >= reach));
                    similar += f64::from(u8::from(matches >= reach && similarity >= 0.8));
                }
            }
            // Every pair is a group of its own.
            let precision = detection.precision(0.8, &compared, reported).unwrap();
            let stated = precision.stated().unwrap();
            assert!(
                (stated - similar / reported).abs() < 0.03,
                "{which}: {precision:?} of {similar} {reported}"
            );
            // All pairs are of one group.
            let precision = detection.precision(0.8, &compared, reported * reported);
            assert_eq!(precision.unwrap().stated(), None);
        }
        assert_eq!(detection.precision(0.8, &[0; 129], 0.0), None);
    }

    #[test]
    fn too_few_slots_state_no_precision() {
        for (num_perm, bands, rows) in [(1, 1, 1), (4, 2, 2), (8, 4, 2)] {
            let banding = Banding::new(bands, rows, num_perm).unwrap();
            for threshold in [0.5, 0.8, 0.95] {
                let detection = Detection::of_candidates(banding, num_perm);
                let detection = detection.estimated(threshold, SlotBits::Eight);
                let mut compared = vec![10_000; num_perm + 1];
                compared[0] = 0;
                let precision = detection.precision(threshold, &compared, 10_000.0);
                assert_eq!(precision.unwrap().stated(), None, "{num_perm} {threshold}");
            }
        }
    }

    #[test]
    fn slots_never_tell_one_from_almost_one() {
        for num_perm in [64, 128, 256] {
            let banding = Banding::new(num_perm / 8, 8, num_perm).unwrap();
            let detection = Detection::of_candidates(banding, num_perm);
            let detection = detection.estimated(1.0, SlotBits::Eight);
            let mut compared = vec![0; num_perm + 1];
            compared[num_perm] = 100_000;
            let precision = detection.precision(1.0, &compared, 100_000.0).unwrap();
            assert_eq!(precision.stated(), None);
            // With nearly all pairs known to be identical, the others do not matter.
            let stated = precision.with_known(99_000, 100_000).stated();
            assert!(stated.is_some_and(|share| share >= 0.99));
        }
    }
}
