//! From matches to errors.

use std::collections::BTreeMap;

use crate::statistics::{
    binomial_probabilities, chi_square_p, mean, normal_reach, standard_error, variance,
};
use simgpu::Result;
use simgpu::pipeline::{JaccardEstimate, SlotBits};

/// Confidence of the stated intervals.
const CONFIDENCE: f64 = 0.95;

/// Least expected count per bin of a goodness-of-fit test.
const LEAST_EXPECTED: f64 = 5.0;

/// Estimate and interval for each number of matches.
#[derive(Clone, Debug)]
pub(super) struct Estimates {
    num_perm: u32,
    /// Probability that different slots agree in the kept bits.
    chance: f64,
    /// Estimate and interval by number of matches.
    estimates: Vec<(f64, (f64, f64))>,
}

/// Result of one trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TrialOutcome {
    /// Number of matching slots.
    pub(super) matches: usize,
    /// Exact similarity.
    pub(super) similarity: f64,
}

/// Figures of an [`ErrorCell`](crate::ErrorCell).
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Errors {
    pub(super) trials: u64,
    pub(super) similarity: f64,
    pub(super) bias: f64,
    pub(super) bias_standard_error: f64,
    pub(super) root_mean_square_error: f64,
    /// Ratio, lower end, upper end.
    pub(super) ratio: Option<[f64; 3]>,
    pub(super) coverage: f64,
    pub(super) coverage_expected: f64,
    pub(super) dispersion: Option<f64>,
    pub(super) fit_p: Option<f64>,
}

impl Estimates {
    /// Estimates from `num_perm` whole slots, or from `bits` of each.
    ///
    /// # Errors
    /// Those of [`JaccardEstimate::new`].
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
            estimates: (0..=slots).map(estimate).collect::<Result<_>>()?,
        })
    }

    fn jaccard(&self, matches: usize) -> f64 {
        self.estimates
            .get(matches)
            .map_or(f64::NAN, |(jaccard, _)| *jaccard)
    }

    /// Whether the interval for `matches` contains the similarity.
    fn covers(&self, matches: usize, similarity: f64) -> bool {
        let interval = self.estimates.get(matches).map(|(_, interval)| interval);
        interval.is_some_and(|(low, high)| (*low..=*high).contains(&similarity))
    }

    /// Probability that a slot of two sets matches.
    fn probability(&self, similarity: f64) -> f64 {
        similarity + (1.0 - similarity) * self.chance
    }

    /// Variance of matches for independent slots.
    fn variance_of_matches(&self, similarity: f64) -> f64 {
        let probability = self.probability(similarity);
        f64::from(self.num_perm) * probability * (1.0 - probability)
    }

    /// The errors of these trials.
    pub(super) fn errors(&self, outcomes: &[TrialOutcome]) -> Errors {
        let over_trials =
            |of: &dyn Fn(&TrialOutcome) -> f64| -> Vec<f64> { outcomes.iter().map(of).collect() };
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

    /// Coverage expected of binomial matches, and the probability of a worse fit.
    fn against_binomial(&self, outcomes: &[TrialOutcome]) -> (f64, Option<f64>) {
        // Similarities are not negative, so their bits have the same order.
        let mut similarities: BTreeMap<u64, f64> = BTreeMap::new();
        for outcome in outcomes {
            *similarities
                .entry(outcome.similarity.to_bits())
                .or_default() += 1.0;
        }
        let mut observed = vec![0.0; self.estimates.len()];
        for outcome in outcomes {
            if let Some(count) = observed.get_mut(outcome.matches) {
                *count += 1.0;
            }
        }
        let mut expected = vec![0.0; self.estimates.len()];
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

/// Factor of a 95 % interval of the root of a mean: the root divided and multiplied by it. By the delta method on the
/// logarithm, so that the interval stays above 0.
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
    use crate::error::random::SplitMix64;

    fn outcomes(matches: impl IntoIterator<Item = usize>, similarity: f64) -> Vec<TrialOutcome> {
        let outcome = |matches| TrialOutcome {
            matches,
            similarity,
        };
        matches.into_iter().map(outcome).collect()
    }

    /// Heads of `num_perm` coins with probability `p`, once per trial.
    fn coins(num_perm: usize, p: f64, trials: usize) -> Vec<usize> {
        let mut random = SplitMix64::of(&[num_perm as u64, trials as u64]);
        let mut coin = || (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let mut heads = || (0..num_perm).filter(|_| coin() < p).count();
        (0..trials).map(|_| heads()).collect()
    }

    #[test]
    fn binomial_matches_have_expected_figures() {
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

    /// The known coverage of Clopper-Pearson intervals.
    #[test]
    fn expected_coverage_follows_from_the_binomial() {
        let estimates = Estimates::new(128, None).unwrap();
        let errors = estimates.errors(&outcomes([120], 0.95));
        assert!(
            (errors.coverage_expected - 0.977).abs() < 5e-4,
            "{errors:?}"
        );
    }

    #[test]
    fn certain_outcomes_have_no_ratio() {
        let estimates = Estimates::new(64, None).unwrap();
        for (matches, similarity) in [(0, 0.0), (64, 1.0)] {
            let errors = estimates.errors(&outcomes([matches; 9], similarity));
            assert_eq!((errors.bias, errors.bias_standard_error), (0.0, 0.0));
            assert_eq!((errors.coverage, errors.coverage_expected), (1.0, 1.0));
            assert_eq!((errors.ratio, errors.dispersion), (None, None));
            assert_eq!(errors.fit_p, None);
        }
        // With one bit per slot, matches of dissimilar sets vary.
        let estimates = Estimates::new(64, Some(SlotBits::One)).unwrap();
        let errors = estimates.errors(&outcomes([32; 9], 0.0));
        assert_eq!(errors.ratio, Some([0.0; 3]));
    }

    #[test]
    fn doubled_matches_do_not_fit_a_binomial() {
        let estimates = Estimates::new(128, None).unwrap();
        let doubled = coins(64, 0.5, 1000).into_iter().map(|heads| 2 * heads);
        let errors = estimates.errors(&outcomes(doubled, 0.5));
        assert!(errors.fit_p.unwrap() < 1e-9);
        assert!((errors.dispersion.unwrap() - 2.0).abs() < 0.3);
    }
}
