//! From matches to errors.

use std::collections::BTreeMap;

use crate::bench::statistics::{
    binomial_probabilities, chi_square_p, mean, normal_reach, standard_error, variance,
};
use simgpu::Result;
use simgpu::pipeline::{JaccardEstimate, SlotBits};

/// Of the intervals that are stated.
const CONFIDENCE: f64 = 0.95;

/// The least count that a bin of a goodness-of-fit test expects.
const LEAST_EXPECTED: f64 = 5.0;

/// What each number of matches says of the similarity.
#[derive(Clone, Debug)]
pub(super) struct Estimates {
    num_perm: u32,
    /// The probability that slots with different values agree in what is kept of them.
    chance: f64,
    /// The estimate and its interval, by matches.
    by_matches: Vec<(f64, (f64, f64))>,
}

/// What came of one trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Outcome {
    /// Slots that agree.
    pub(super) matches: usize,
    /// The exact similarity.
    pub(super) similarity: f64,
}

/// How far estimates are off, as in [`ErrorCell`](crate::bench::ErrorCell).
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Errors {
    pub(super) trials: u64,
    pub(super) similarity: f64,
    pub(super) bias: f64,
    pub(super) bias_standard_error: f64,
    pub(super) root_mean_square_error: f64,
    /// The ratio with its lower and upper end.
    pub(super) ratio: Option<[f64; 3]>,
    pub(super) coverage: f64,
    pub(super) coverage_expected: f64,
    pub(super) dispersion: Option<f64>,
    pub(super) fit_p: Option<f64>,
}

impl Estimates {
    /// Those from `num_perm` slots, or from so many bits of each.
    ///
    /// # Errors
    /// As [`JaccardEstimate::new`].
    pub(super) fn new(num_perm: u32, bits: Option<SlotBits>) -> Result<Self> {
        let slots = num_perm as usize;
        let estimate = |matches| {
            let estimate = match bits {
                None => JaccardEstimate::new(matches, slots),
                Some(bits) => JaccardEstimate::of_packed(matches, slots, bits),
            }?;
            Ok((estimate.jaccard(), estimate.interval(CONFIDENCE)?))
        };
        Ok(Estimates {
            num_perm,
            chance: bits.map_or(0.0, SlotBits::chance),
            by_matches: (0..=slots).map(estimate).collect::<Result<_>>()?,
        })
    }

    fn jaccard(&self, matches: usize) -> f64 {
        self.by_matches
            .get(matches)
            .map_or(f64::NAN, |(jaccard, _)| *jaccard)
    }

    /// Whether the interval of so many matches holds the similarity.
    fn covers(&self, matches: usize, similarity: f64) -> bool {
        let interval = self.by_matches.get(matches).map(|(_, interval)| interval);
        interval.is_some_and(|(low, high)| (*low..=*high).contains(&similarity))
    }

    /// The probability that a slot of two sets agrees.
    fn probability(&self, similarity: f64) -> f64 {
        similarity + (1.0 - similarity) * self.chance
    }

    /// The variance of matches, if slots agree independently.
    fn variance_of_matches(&self, similarity: f64) -> f64 {
        let probability = self.probability(similarity);
        f64::from(self.num_perm) * probability * (1.0 - probability)
    }

    /// How far estimates from these outcomes are off.
    pub(super) fn errors(&self, outcomes: &[Outcome]) -> Errors {
        let over_trials =
            |of: &dyn Fn(&Outcome) -> f64| -> Vec<f64> { outcomes.iter().map(of).collect() };
        let errors = over_trials(&|trial| self.jaccard(trial.matches) - trial.similarity);
        let squares: Vec<f64> = errors.iter().map(|error| error * error).collect();
        let mean_square = mean(&squares);
        let slots = f64::from(self.num_perm);
        let ideal_matches = mean(&over_trials(&|it| self.variance_of_matches(it.similarity)));
        let ideal_square = ideal_matches / (slots * (1.0 - self.chance)).powi(2);
        let has_variance = ideal_matches > 0.0;
        let residuals =
            over_trials(&|it| it.matches as f64 - slots * self.probability(it.similarity));
        let covered = over_trials(&|it| f64::from(self.covers(it.matches, it.similarity)));
        let (coverage_expected, fit_p) = self.against_binomial(outcomes);
        Errors {
            trials: outcomes.len() as u64,
            similarity: mean(&over_trials(&|trial| trial.similarity)),
            bias: mean(&errors),
            bias_standard_error: standard_error(&errors),
            root_mean_square_error: mean_square.sqrt(),
            ratio: has_variance.then(|| {
                let ratio = (mean_square / ideal_square).sqrt();
                let factor = root_factor(mean_square, standard_error(&squares));
                [ratio, ratio / factor, ratio * factor]
            }),
            coverage: mean(&covered),
            coverage_expected,
            dispersion: has_variance.then(|| variance(&residuals) / ideal_matches),
            fit_p,
        }
    }

    /// The share of trials that intervals cover if matches are binomial, and the probability of a worse fit.
    fn against_binomial(&self, outcomes: &[Outcome]) -> (f64, Option<f64>) {
        // Similarities are not negative, so that their bits are ordered as they are.
        let mut similarities: BTreeMap<u64, f64> = BTreeMap::new();
        for outcome in outcomes {
            *similarities
                .entry(outcome.similarity.to_bits())
                .or_default() += 1.0;
        }
        let mut observed = vec![0.0; self.by_matches.len()];
        for outcome in outcomes {
            if let Some(count) = observed.get_mut(outcome.matches) {
                *count += 1.0;
            }
        }
        let mut expected = vec![0.0; self.by_matches.len()];
        let mut covered = 0.0;
        for (bits, trials) in similarities {
            let similarity = f64::from_bits(bits);
            let probability = self.probability(similarity);
            let probabilities = binomial_probabilities(self.num_perm.into(), probability);
            for (matches, (expected, share)) in expected.iter_mut().zip(probabilities).enumerate() {
                *expected += trials * share;
                covered += trials * share * f64::from(self.covers(matches, similarity));
            }
        }
        let fit_p = chi_square_p(&observed, &expected, LEAST_EXPECTED);
        (covered / outcomes.len() as f64, fit_p)
    }
}

/// By what the root of a mean is divided and multiplied for a 95 % interval of it: by the delta method on its
/// logarithm, which stays above 0.
fn root_factor(mean: f64, standard_error: f64) -> f64 {
    if mean > 0.0 {
        (normal_reach(CONFIDENCE) * standard_error / (2.0 * mean)).exp()
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::error::random::Random;

    fn outcomes(matches: impl IntoIterator<Item = usize>, similarity: f64) -> Vec<Outcome> {
        let outcome = |matches| Outcome {
            matches,
            similarity,
        };
        matches.into_iter().map(outcome).collect()
    }

    /// Counts of coins, each of which comes up with probability `p`.
    fn coins(num_perm: usize, p: f64, trials: usize) -> Vec<usize> {
        let mut random = Random::of(&[num_perm as u64, trials as u64]);
        let mut coin = || (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let mut heads = || (0..num_perm).filter(|_| coin() < p).count();
        (0..trials).map(|_| heads()).collect()
    }

    #[test]
    fn binomial_matches_are_as_expected() {
        for (bits, p) in [(None, 0.5), (Some(SlotBits::One), 0.75)] {
            let estimates = Estimates::new(128, bits).unwrap();
            let errors = estimates.errors(&outcomes(coins(128, p, 4000), 0.5));
            assert!(errors.bias.abs() < 3.0 * errors.bias_standard_error);
            let [ratio, low, high] = errors.ratio.unwrap();
            assert!(
                low < 1.0 && 1.0 < high && low < ratio && ratio < high,
                "{errors:?}"
            );
            assert!(high / low < 1.06, "{errors:?}");
            assert!((errors.dispersion.unwrap() - 1.0).abs() < 0.1);
            assert!((errors.coverage - errors.coverage_expected).abs() < 0.015);
            assert!(errors.fit_p.unwrap() > 0.01);
        }
    }

    /// What theory says of Clopper and Pearson's intervals.
    #[test]
    fn coverage_is_that_of_the_binomial() {
        let estimates = Estimates::new(128, None).unwrap();
        let errors = estimates.errors(&outcomes([120], 0.95));
        assert!(
            (errors.coverage_expected - 0.977).abs() < 5e-4,
            "{errors:?}"
        );
    }

    #[test]
    fn pairs_that_leave_nothing_to_chance_have_no_ratio() {
        let estimates = Estimates::new(64, None).unwrap();
        for (matches, similarity) in [(0, 0.0), (64, 1.0)] {
            let errors = estimates.errors(&outcomes([matches; 9], similarity));
            assert_eq!((errors.bias, errors.bias_standard_error), (0.0, 0.0));
            assert_eq!((errors.coverage, errors.coverage_expected), (1.0, 1.0));
            assert_eq!((errors.ratio, errors.dispersion), (None, None));
            assert_eq!(errors.fit_p, None);
        }
        // With one bit a slot they leave something.
        let estimates = Estimates::new(64, Some(SlotBits::One)).unwrap();
        let errors = estimates.errors(&outcomes([32; 9], 0.0));
        assert_eq!(errors.ratio, Some([0.0; 3]));
    }

    #[test]
    fn what_is_not_binomial_does_not_fit() {
        let estimates = Estimates::new(128, None).unwrap();
        let doubled = coins(64, 0.5, 1000).into_iter().map(|heads| 2 * heads);
        let errors = estimates.errors(&outcomes(doubled, 0.5));
        assert!(errors.fit_p.unwrap() < 1e-9);
        assert!((errors.dispersion.unwrap() - 2.0).abs() < 0.3);
    }
}
