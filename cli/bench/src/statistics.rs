//! Descriptive statistics, distributions and tests, checked against scipy (cli/bench/tests/statistics.json).

use statrs::distribution::{Binomial, ChiSquared, ContinuousCDF, Discrete, DiscreteCDF};
use statrs::distribution::{Normal, StudentsT};

/// Median; NaN without values.
pub(crate) fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// Median absolute deviation from the median; NaN without values.
pub(crate) fn median_absolute_deviation(values: &[f64]) -> f64 {
    let center = median(values);
    let deviations: Vec<f64> = values.iter().map(|value| (value - center).abs()).collect();
    median(&deviations)
}

/// Quantile of a share between 0 and 1, interpolated between order statistics (definition 7 of Hyndman and Fan
/// 1996, *Sample quantiles in statistical packages*); NaN without values.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the result lies between 0 and the last index"
)]
pub(crate) fn quantile(values: &[f64], share: f64) -> f64 {
    let sorted = sorted(values);
    let at = share.clamp(0.0, 1.0) * sorted.len().saturating_sub(1) as f64;
    let (below, above) = (at.floor() as usize, at.ceil() as usize);
    match (sorted.get(below), sorted.get(above)) {
        (Some(below), Some(above)) => below + (above - below) * at.fract(),
        _ => f64::NAN,
    }
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// Arithmetic mean; NaN without values.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Unbiased sample variance; NaN for fewer than two values.
pub(crate) fn variance(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return f64::NAN;
    }
    let center = mean(values);
    let squares = values.iter().map(|value| (value - center).powi(2));
    squares.sum::<f64>() / (values.len() - 1) as f64
}

/// Standard error of the mean; NaN for fewer than two values.
pub(crate) fn standard_error(values: &[f64]) -> f64 {
    (variance(values) / values.len() as f64).sqrt()
}

/// Probabilities of 0 to `trials` successes. `probability` is clamped to 0..1.
pub(crate) fn binomial_probabilities(trials: u64, probability: f64) -> Vec<f64> {
    match Binomial::new(probability.clamp(0.0, 1.0), trials) {
        Ok(binomial) => (0..=trials).map(|k| binomial.pmf(k)).collect(),
        Err(_) => vec![f64::NAN; usize::try_from(trials).unwrap_or(0) + 1],
    }
}

/// Range of successes that leaves at most (1 - `confidence`) / 2 on either side.
pub(crate) fn binomial_band(trials: u64, probability: f64, confidence: f64) -> (u64, u64) {
    let tail = (1.0 - confidence.clamp(0.0, 1.0)) / 2.0;
    let binomial = Binomial::new(probability.clamp(0.0, 1.0), trials);
    // The least number of successes whose cumulative probability reaches `share`.
    let least = |share: f64| {
        let (mut low, mut high) = (0, trials);
        while low < high {
            let middle = low + (high - low) / 2;
            if binomial.as_ref().is_ok_and(|it| it.cdf(middle) >= share) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    };
    (least(tail), least(1.0 - tail))
}

/// Probability that counts fit the expected ones at most as well as these (Pearson 1900). Neighbouring counts are
/// pooled until each bin expects `least_expected`; `None` for fewer than three bins.
pub(crate) fn chi_square_p(observed: &[f64], expected: &[f64], least_expected: f64) -> Option<f64> {
    let mut bins: Vec<(f64, f64)> = Vec::new();
    let mut open = (0.0, 0.0);
    for (observed, expected) in observed.iter().zip(expected) {
        open = (open.0 + observed, open.1 + expected);
        if open.1 >= least_expected {
            bins.push(std::mem::take(&mut open));
        }
    }
    // The rest beyond the last bin belongs to it.
    if let Some(last) = bins.last_mut() {
        *last = (last.0 + open.0, last.1 + open.1);
    }
    if bins.len() < 3 {
        return None;
    }
    let deviation = |(observed, expected): &(f64, f64)| (observed - expected).powi(2) / expected;
    let statistic: f64 = bins.iter().map(deviation).sum();
    Some(chi_square_tail(statistic, (bins.len() - 1) as f64))
}

/// Probability that a chi-square variable exceeds `statistic`. Degrees of freedom need not be whole; NaN unless they
/// are positive.
pub(crate) fn chi_square_tail(statistic: f64, degrees: f64) -> f64 {
    ChiSquared::new(degrees).map_or(f64::NAN, |it| it.sf(statistic))
}

/// Probability that a Student variable is at least as far from 0 as `t`; NaN unless degrees of freedom are positive.
pub(crate) fn student_p(t: f64, degrees: f64) -> f64 {
    if t.is_infinite() {
        return 0.0;
    }
    StudentsT::new(0.0, 1.0, degrees).map_or(f64::NAN, |it| 2.0 * it.sf(t.abs()))
}

/// Distance from 0 that a standard normal variable does not exceed with probability `confidence`: 1.96 at 95 %.
pub(crate) fn normal_reach(confidence: f64) -> f64 {
    Normal::standard().inverse_cdf(f64::midpoint(1.0, confidence))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use simgpu::pipeline::JaccardEstimate;

    /// Values of scipy and numpy (cli/bench/tests/generate_statistics.py).
    fn golden(what: &str) -> Vec<Value> {
        let golden: Value = serde_json::from_str(include_str!("../tests/statistics.json")).unwrap();
        golden[what].as_array().unwrap().clone()
    }

    fn numbers(value: &Value) -> Vec<f64> {
        let numbers = value.as_array().unwrap().iter();
        numbers.map(|it| it.as_f64().unwrap()).collect()
    }

    fn number(value: &Value) -> f64 {
        value.as_f64().unwrap()
    }

    #[track_caller]
    fn assert_close(ours: f64, theirs: f64) {
        let scale = theirs.abs().max(1e-300);
        assert!((ours - theirs).abs() <= 1e-9 * scale, "{ours} and {theirs}");
    }

    #[test]
    fn sample_statistics_match_numpy() {
        for case in golden("samples") {
            let values = numbers(&case["values"]);
            assert_close(median(&values), number(&case["median"]));
            let deviation = median_absolute_deviation(&values);
            assert_close(deviation, number(&case["median_absolute_deviation"]));
            assert_close(mean(&values), number(&case["mean"]));
            for (share, theirs) in [0.0, 0.05, 0.25, 0.6, 1.0]
                .iter()
                .zip(numbers(&case["quantiles"]))
            {
                assert_close(quantile(&values, *share), theirs);
            }
            if values.len() > 1 {
                assert_close(variance(&values), number(&case["variance"]));
                assert_close(standard_error(&values), number(&case["standard_error"]));
            }
        }
        assert!(median(&[]).is_nan() && mean(&[]).is_nan() && variance(&[1.0]).is_nan());
    }

    #[test]
    fn binomials_match_scipy() {
        for case in golden("binomials") {
            let trials = case["trials"].as_u64().unwrap();
            let probability = number(&case["probability"]);
            let probabilities = binomial_probabilities(trials, probability);
            assert_eq!(probabilities.len() as u64, trials + 1);
            let at = case["at"].as_array().unwrap();
            for (k, theirs) in at.iter().zip(numbers(&case["probabilities"])) {
                let k = k.as_u64().and_then(|k| usize::try_from(k).ok()).unwrap();
                assert_close(probabilities[k], theirs);
            }
            let band = numbers(&case["band"]);
            let ours = binomial_band(trials, probability, 0.95);
            assert_eq!((ours.0 as f64, ours.1 as f64), (band[0], band[1]));
        }
        assert_eq!(binomial_band(9, 0.0, 0.95), (0, 0));
        assert_eq!(binomial_band(9, 1.0, 0.95), (9, 9));
        assert_eq!(binomial_probabilities(2, 1.0), [0.0, 0.0, 1.0]);
    }

    /// The intervals whose coverage `simgpu bench` measures.
    #[test]
    fn intervals_of_estimates_match_scipy() {
        for case in golden("intervals") {
            let count = |name: &str| usize::try_from(case[name].as_u64().unwrap()).unwrap();
            let estimate = JaccardEstimate::new(count("successes"), count("trials")).unwrap();
            let (low, high) = estimate.interval(0.95).unwrap();
            assert!((low - number(&case["low"])).abs() < 1e-9, "{estimate:?}");
            assert!((high - number(&case["high"])).abs() < 1e-9, "{estimate:?}");
        }
    }

    #[test]
    fn tails_match_scipy() {
        for case in golden("chi_square_tails") {
            let (statistic, degrees) = (number(&case["statistic"]), number(&case["degrees"]));
            assert_close(chi_square_tail(statistic, degrees), number(&case["p"]));
        }
        for case in golden("student_tails") {
            let (t, degrees) = (number(&case["t"]), number(&case["degrees"]));
            assert_close(student_p(t, degrees), number(&case["p"]));
        }
        assert_close(normal_reach(0.95), 1.959_963_984_540_054);
        assert_eq!(student_p(f64::INFINITY, 9.0), 0.0);
    }

    #[test]
    fn goodness_of_fit_matches_scipy() {
        for case in golden("goodness_of_fit") {
            let (observed, expected) = (numbers(&case["observed"]), numbers(&case["expected"]));
            let p = chi_square_p(&observed, &expected, 5.0).unwrap();
            assert_close(p, number(&case["p"]));
        }
        assert_eq!(chi_square_p(&[9.0, 1.0], &[5.0, 5.0], 5.0), None);
        assert_eq!(chi_square_p(&[], &[], 5.0), None);
    }
}
