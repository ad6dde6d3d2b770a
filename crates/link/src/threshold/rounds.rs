//! The threshold of two files, by the runners-up.

use super::estimate::{Estimate, why_rough};
use simgpu::progress::{counted, grouped};

/// The scores of three rounds, each in descending order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoundScores<'a> {
    pub(crate) rounds: [&'a [f64]; 3],
    /// The records that may have a partner.
    pub(crate) records: usize,
}

/// Thresholds tried, at most.
const TRIED: usize = 1000;

/// The least share of records whose runners-up lie below a score that says something.
const LEAST_BELOW: f64 = 0.05;

/// The fewest runners-up that show what a wrong pair scores.
const LEAST_RUNNERS_UP: usize = 20;

/// The error of the estimated share of n records, times the square root of n: of files that shared no record, the estimate
/// was up to 3 / sqrt(n).
const ERROR_OF_SHARE: f64 = 5.0;

/// If more runners-up than this share of the accepted pairs reach the median of those, runners-up compete with partners.
const MOST_COMPETING: f64 = 0.25;

impl RoundScores<'_> {
    fn reaching(&self, round: usize, score: f64) -> usize {
        self.rounds[round].partition_point(|known| *known >= score)
    }

    /// The records below a score in a round.
    fn below(&self, round: usize, score: f64) -> f64 {
        self.records.saturating_sub(self.reaching(round, score)) as f64
    }

    /// Some scores of the first two rounds, in descending order.
    fn tried(&self) -> Vec<f64> {
        let mut scores = Vec::new();
        for round in &self.rounds[..2] {
            let step = round.len().div_ceil(TRIED / 2).max(1);
            scores.extend(round.iter().copied().step_by(step));
            scores.extend(round.last());
        }
        scores.sort_unstable_by(|a, b| b.total_cmp(a));
        scores.dedup();
        scores
    }

    /// The score that as many records of the second round lie below as of the third round below `score`.
    fn as_far_up(&self, score: f64) -> Option<f64> {
        let second = self.rounds[1];
        let reaching = self.reaching(2, score);
        match reaching {
            0 => None,
            _ => second.get(reaching - 1).copied(),
        }
    }

    /// The estimated share of records without a partner.
    fn without_partner(&self) -> f64 {
        let records = self.records as f64;
        let share = |score: f64| {
            let [first, second] = [0, 1].map(|round| self.below(round, score));
            let further = self.below(0, self.as_far_up(score)?);
            let first = first + 2.0 * (first + 1.0).sqrt() + 1.0;
            let all = first + second - further;
            (second >= LEAST_BELOW * records && all > first).then(|| first / all)
        };
        self.tried()
            .into_iter()
            .filter_map(share)
            .fold(1.0, f64::min)
    }

    /// The expected number of correct pairs above a score.
    fn correct_above(&self, score: f64, without_partner: f64) -> f64 {
        let [first, second, third] = [0, 1, 2].map(|round| self.reaching(round, score) as f64);
        let fewer = if second > 0.0 { third / second } else { 1.0 };
        let all = 1.0 - without_partner + without_partner * fewer;
        let most = without_partner * self.records as f64;
        let wrong = if all > 0.0 {
            without_partner * second / all
        } else {
            most
        };
        (first - wrong.min(most)).max(0.0)
    }
}

/// Chooses the threshold for accepted pairs. `share` is the known share of records that have a partner, and `threshold` a
/// given threshold.
/// `partners` is the number of records with a partner by another estimate: the greater one counts.
pub(crate) fn estimate_rounds(
    scores: &RoundScores<'_>,
    share: Option<f64>,
    threshold: Option<f64>,
    partners: Option<f64>,
) -> Estimate {
    let estimated = scores.without_partner();
    let without_partner = share.map_or(estimated, |share| 1.0 - share);
    let threshold = threshold.unwrap_or_else(|| best_threshold(scores, without_partner));
    let accepted = scores.reaching(0, threshold);
    // A share that was said too high would hide wrong pairs.
    let careful = without_partner.max(estimated);
    let correct = scores.correct_above(threshold, careful);
    let known = PartnersKnown {
        given: share,
        estimated: 1.0 - estimated,
        other_estimate: partners,
    };
    let recall = recall_range(scores, correct, known);
    let median = scores.rounds[0].get(accepted / 2).copied();
    let competing = median.map_or(0, |median| scores.reaching(1, median));
    let runners_up = scores.rounds[1].len();
    let share_error = ERROR_OF_SHARE / (scores.records.max(1) as f64).sqrt();
    let is_share_known = runners_up >= LEAST_RUNNERS_UP && 1.0 - estimated >= share_error;
    let unknown_because = if accepted == 0 {
        Some("no pair was accepted".to_owned())
    } else if competing as f64 > MOST_COMPETING * (accepted / 2) as f64 {
        Some(format!(
            "these fields do not tell the records apart: {} runners-up (next best pairs) score as high as the better half of the {}",
            grouped(competing as u64),
            counted(accepted as u64, "accepted pair")
        ))
    } else if runners_up < LEAST_RUNNERS_UP {
        Some(format!(
            "there are {} runners-up (next best pairs), and {LEAST_RUNNERS_UP} are needed to see how wrong pairs score; check some links by hand",
            grouped(runners_up as u64)
        ))
    } else if !is_share_known {
        Some(format!(
            "some {:.0} % of the records have a partner, less than the error of this estimate, {:.0} %; check some links by hand",
            100.0 * (1.0 - estimated),
            100.0 * share_error
        ))
    } else {
        let wrong = accepted as f64 - correct;
        why_rough(accepted, wrong, ": state `share` or `threshold`")
    };
    let share = is_share_known.then_some(1.0 - estimated);
    let mut estimate = Estimate {
        share,
        unknown_because,
        ..Estimate::at_threshold(threshold)
    };
    if estimate.unknown_because.is_none() {
        estimate.state(accepted as f64, correct, recall);
    }
    estimate
}

/// What is known of how many records have a partner.
#[derive(Clone, Copy)]
struct PartnersKnown {
    /// The share of the records, if the task states it.
    given: Option<f64>,
    /// The share by the runners-up.
    estimated: f64,
    /// The number by another estimate.
    other_estimate: Option<f64>,
}

/// The least and the greatest recall, if so many links are right: by the numbers of records with a partner that are known, or
/// estimated with an error. The estimates err on both sides: on people by 4,000 to 20,000 records, runners-up found 0.66 to 0.8
/// of the true number, and points 1.2.
fn recall_range(scores: &RoundScores<'_>, correct: f64, partners: PartnersKnown) -> [f64; 2] {
    let records = scores.records as f64;
    let recall = |partners: f64| (correct / partners.max(correct).max(1.0)).min(1.0);
    if let Some(share) = partners.given {
        return [recall(share * records); 2];
    }
    let runners_up = partners.estimated * records;
    let other = partners.other_estimate.unwrap_or(runners_up);
    let error = ERROR_OF_SHARE * records.sqrt();
    let most = (runners_up.max(other) + error).min(records);
    [most, runners_up.min(other) - error].map(recall)
}

/// The score with the greatest expected F1; the highest one, if several have it.
fn best_threshold(scores: &RoundScores<'_>, without_partner: f64) -> f64 {
    let tried: Vec<(f64, f64)> = scores
        .tried()
        .into_iter()
        .map(|score| (score, scores.correct_above(score, without_partner)))
        .collect();
    let all = tried
        .iter()
        .map(|(_, correct)| *correct)
        .fold(0.0, f64::max);
    let mut best = (0.0, f64::INFINITY);
    for (score, correct) in tried {
        let f1 = 2.0 * correct / (scores.reaching(0, score) as f64 + all).max(1.0);
        if f1 > best.0 {
            best = (f1, score);
        }
    }
    if best.1.is_finite() {
        best.1
    } else {
        scores.tried().first().copied().unwrap_or(1.0)
    }
}
