//! The threshold of one file: the lowest point between unrelated and related pairs.

use super::estimate::Estimate;

/// Bins of the histogram of scores.
const BINS: usize = 200;

/// The spread of the smoothing of the histogram, in bins.
const SPREAD: usize = 4;

/// Chooses the threshold for one file from the scores of all candidate pairs, in descending order, from `floor` to 1, each with
/// the number of pairs that it counts for; `equal` pairs more have a score of 1.
pub(crate) fn estimate_entities(
    scores: &[(f64, u64)],
    equal: u64,
    floor: f64,
    threshold: Option<f64>,
) -> Estimate {
    let bin_of = |score: f64| bin((score - floor) / (1.0 - floor).max(f64::MIN_POSITIVE));
    let equal_pairs = [(1.0, equal)];
    let all = equal_pairs.iter().chain(scores);
    let density = smoothed(all.map(|(score, pairs)| (bin_of(*score), *pairs)));
    let valley = valley(&density);
    let middle = |bin: usize| floor + (1.0 - floor) * (bin as f64 + 0.5) / BINS as f64;
    let chosen = threshold.or(valley.map(middle));
    let threshold = chosen.unwrap_or(1.0);
    let accepted = &scores[..scores.partition_point(|(score, _)| *score >= threshold)];
    let accepted = equal + accepted.iter().map(|(_, pairs)| pairs).sum::<u64>();
    // At the valley, between half of the pairs and all of them are wrong.
    let wrong = valley.map(|valley| 0.75 * wrong_above(&density, valley, bin_of(threshold)));
    let unknown_because = match wrong {
        None => Some("the numbers of pairs fall as the score rises: no pairs stand out".to_owned()),
        Some(_) if accepted == 0 => Some("no pair was accepted".to_owned()),
        Some(_) => None,
    };
    let precision = wrong.map(|wrong| (1.0 - wrong / accepted.max(1) as f64).clamp(0.0, 1.0));
    Estimate {
        expected_precision: precision.filter(|_| unknown_because.is_none()),
        unknown_because,
        ..Estimate::at_threshold(threshold)
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates, and shares are between 0 and 1"
)]
fn bin(share: f64) -> usize {
    ((share * BINS as f64) as usize).min(BINS)
}

/// The numbers of pairs by bin, each averaged with its neighbours by a bell curve.
fn smoothed(bins: impl Iterator<Item = (usize, u64)>) -> Vec<f64> {
    let mut counts = vec![0.0; BINS + 1];
    bins.for_each(|(bin, pairs)| counts[bin] += pairs as f64);
    let bell = |distance: f64| (-0.5 * (distance / SPREAD as f64).powi(2)).exp();
    let average = |bin: usize| {
        let (mut weights, mut sum) = (0.0, 0.0);
        for (other, count) in counts.iter().enumerate() {
            let weight = bell(other as f64 - bin as f64);
            weights += weight;
            sum += weight * count;
        }
        sum / weights
    };
    (0..=BINS).map(average).collect()
}

/// The lowest point before the numbers of pairs rise: by a quarter, and by more than three standard errors.
fn valley(density: &[f64]) -> Option<usize> {
    // Bins that a smoothed number averages.
    let averaged = 2.5 * SPREAD as f64;
    // Next to the floor, smoothing lacks the pairs below it.
    let start = 2 * SPREAD;
    let mut lowest = start;
    for bin in start..density.len() {
        let rise = density[bin] - density[lowest];
        let error = (density[bin] * averaged + 1.0).sqrt();
        if rise <= 0.0 {
            lowest = bin;
        } else if rise > 0.25 * density[lowest] && rise * averaged > 3.0 * error {
            return Some(lowest);
        }
    }
    None
}

/// The number of pairs above a bin if all pairs at the valley are wrong, and their number falls on as it did before.
fn wrong_above(density: &[f64], valley: usize, bin: usize) -> f64 {
    const BEFORE: usize = 20;
    let before = density[valley.saturating_sub(BEFORE)];
    let fall = ((before + 0.5) / (density[valley] + 0.5)).ln() / BEFORE as f64;
    let fall = fall.max(1e-3);
    density[valley] * (-fall * (bin as f64 - valley as f64)).exp() / fall
}
