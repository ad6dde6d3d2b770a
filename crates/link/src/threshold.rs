//! The threshold that runners-up suggest, without any labelled pair.
//!
//! # Two files
//! What a record's best score is without a partner, its runner-up shows: the pairs that are accepted once every accepted
//! pair is struck out (the second round). Let g(t) be the share of records whose best wrong pair scores below t, and h(t)
//! the share whose second wrong pair does. If a share e of the records has no partner, then far below the scores of
//! partners
//!
//! ```text
//! first round    b1(t) = e g(t)                only records without a partner score so low
//! second round   b2(t) = (1 - e) g(t) + e h(t)
//! ```
//!
//! The third round lies below the second one as second wrong pairs lie below best ones. So let u be the score with
//! b2(u) = b3(t): then h(t) = g(u), and
//!
//! ```text
//! b2(t) = (1 - e) b1(t) / e + b1(u)      e = b1(t) / (b1(t) + b2(t) - b1(u))
//! ```
//!
//! Pairs of partners below t or u only make e larger, so the least e over all t is taken, with two standard errors of b1
//! added. Above t, n1, n2 and n3 pairs of the rounds are left. With a wrong pairs of records without a partner among them,
//! n2 = (1 - e) a / e + a n3 / n2, since wrong pairs become fewer from round to round by the same factor. The threshold has
//! the greatest expected F1.
//!
//! A few pairs that no runner-up reaches may be chance: of two files that share no record, too, the best pair is the best. So
//! precision and recall are stated only where there is evidence: runners-up, and more links and a greater share of records
//! with a partner than the errors of their estimates.
//!
//! # One file
//! Records have any number of partners, so runners-up say nothing. The numbers of pairs fall from the low scores of
//! records that have nothing to do with each other, and rise again to those of the same entity: the threshold is the lowest
//! point between.
//!
//! # Rejected
//! Two simpler estimates: wrong pairs at random (Poisson) found a share of 0.48 instead of 0.86 with three quarters of
//! the pairs of Abt-Buy; and the ratio of the third round to the second, in place of a map between their scores, found
//! that all made-up records have partners where 30 % had one.

use simgpu::progress::{counted, grouped};

/// A threshold, and what it is expected to yield.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Estimate {
    /// The least score of an accepted pair.
    pub threshold: f64,
    /// The estimated share of the records, of the file with fewer, that have a partner; `None` if it cannot be told, and with
    /// one file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// The expected share of correct pairs among the accepted ones, with one file among all pairs within entities; `None` if
    /// it cannot be told.
    pub expected_precision: Option<f64>,
    /// The least and the greatest expected precision. For the score of evidence: if all odds were three times lower or higher,
    /// and a standard error more; with two files: 0.03 and two standard errors off. Absent with other scores of one file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision_range: Option<[f64; 2]>,
    /// The expected share of the pairs of the same thing that are accepted, or in one file, within entities; `None` if it
    /// cannot be told.
    pub expected_recall: Option<f64>,
    /// The least and the greatest expected recall.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recall_range: Option<[f64; 2]>,
    /// Why the precision cannot be told, and the recall neither.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown_because: Option<String>,
    /// Why the recall cannot be told, although the precision can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recall_unknown_because: Option<String>,
}

impl Estimate {
    /// A threshold of which nothing is expected.
    pub(crate) fn at_threshold(threshold: f64) -> Self {
        Estimate {
            threshold,
            share: None,
            expected_precision: None,
            precision_range: None,
            expected_recall: None,
            recall_range: None,
            unknown_because: None,
            recall_unknown_because: None,
        }
    }

    /// States no precision and no recall, since they cannot be told.
    pub(crate) fn withhold(&mut self, because: String) {
        self.expected_precision = None;
        self.expected_recall = None;
        self.precision_range = None;
        self.recall_range = None;
        self.recall_unknown_because = None;
        self.unknown_because = Some(because);
    }
}

impl Estimate {
    /// States what is expected of so many accepted pairs of two files, of which some are correct.
    fn state(&mut self, accepted: f64, correct: f64, recall: [f64; 2]) {
        let precision = correct / accepted;
        let error = BIAS + 2.0 * ((accepted - correct).max(0.0) + 1.0).sqrt() / accepted;
        self.expected_precision = Some(precision);
        self.precision_range = Some([(precision - error).max(0.0), (precision + error).min(1.0)]);
        self.recall_range = Some(recall);
        let [least, most] = recall;
        if most - least <= WIDEST {
            self.expected_recall = Some(f64::midpoint(least, most))
        } else {
            self.recall_unknown_because =
                Some("the number of records with a partner is known too roughly".to_owned());
        }
    }
}

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

/// A lower expected precision is a guess: with few partners, how far wrong pairs lie apart decides it, which the third
/// round tells only roughly.
const LEAST_KNOWN: f64 = 0.9;

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

/// How far the expected precision may be off, beside the error of counts. In 24 pairs of tables it was up to 0.037 off.
const BIAS: f64 = 0.03;

/// A recall is stated as one figure if its range is at most this wide.
const WIDEST: f64 = 0.1;

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

/// Why the expected number of wrong pairs among the accepted ones is rough, if it is; and what to do.
pub(crate) fn why_rough(accepted: usize, wrong: f64, remedy: &str) -> Option<String> {
    let precision = 1.0 - wrong / accepted.max(1) as f64;
    // Two standard errors of a count, as if one pair more had been seen.
    let error = 2.0 * (wrong.max(0.0) + 1.0).sqrt();
    if precision < LEAST_KNOWN {
        return Some(format!(
            "some {:.0} % of the links seem to be correct, and below {:.0} % the estimate is rough{remedy}",
            100.0 * precision.max(0.0),
            100.0 * LEAST_KNOWN
        ));
    }
    (wrong + error > (1.0 - LEAST_KNOWN) * accepted as f64).then(|| {
        format!(
            "{} too few beside the error of the estimate, {error:.0} pairs{remedy}",
            match accepted {
                1 => "1 accepted pair is".to_owned(),
                pairs => format!("{} accepted pairs are", grouped(pairs as u64)),
            }
        )
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use simgpu::scheme::fmix64;

    /// A number from 0 to 1.
    fn random(seed: u64, i: u64) -> f64 {
        (fmix64(seed << 40 | i) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn descending(mut scores: Vec<f64>) -> Vec<f64> {
        scores.sort_unstable_by(|a, b| b.total_cmp(a));
        scores
    }

    /// Scores that count for one pair each.
    fn single(scores: Vec<f64>) -> Vec<(f64, u64)> {
        descending(scores)
            .into_iter()
            .map(|score| (score, 1))
            .collect()
    }

    /// The scores of rounds, and whether each pair of the first is correct. A share of the records have a partner, which
    /// scores from 0.5 to 1. The wrong pairs of a record have an exponential tail and fall by the same factor, as the estimate
    /// assumes.
    fn made_up(seed: u64, share: f64) -> ([Vec<f64>; 3], Vec<(f64, bool)>) {
        let mut rounds = [const { Vec::new() }; 3];
        let mut first = Vec::new();
        for record in 0..RECORDS as u64 {
            let wrong = (0.1 - 0.08 * random(seed, record).ln()).min(0.9);
            let mut scores = vec![(wrong, false), (0.9 * wrong, false), (0.81 * wrong, false)];
            if random(seed + 1, record) < share {
                scores.push((0.5 + 0.5 * random(seed + 2, record), true));
                scores.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
            }
            first.push(scores[0]);
            for (round, (score, _)) in rounds.iter_mut().zip(scores) {
                round.push(score);
            }
        }
        (rounds.map(descending), first)
    }

    const RECORDS: usize = 5000;

    #[test]
    fn runners_up_tell_share_and_precision() {
        for (seed, share) in [(1, 0.3), (20, 0.6), (40, 0.95)] {
            let (rounds, first) = made_up(seed, share);
            let scores = RoundScores {
                rounds: [&rounds[0], &rounds[1], &rounds[2]],
                records: RECORDS,
            };
            for threshold in [None, Some(0.45)] {
                let estimate = estimate_rounds(&scores, None, threshold, None);
                let found = estimate.share.unwrap();
                assert!((found - share).abs() < 0.1, "{share}: {estimate:?}");
                let accepted = first.iter().filter(|pair| pair.0 >= estimate.threshold);
                let accepted: Vec<bool> = accepted.map(|pair| pair.1).collect();
                let correct = accepted.iter().filter(|is_correct| **is_correct).count();
                let precision = correct as f64 / accepted.len() as f64;
                let expected = estimate.expected_precision.unwrap();
                assert!(
                    (expected - precision).abs() < 0.05,
                    "{precision}: {estimate:?}"
                );
                assert_eq!(threshold.unwrap_or(estimate.threshold), estimate.threshold);
            }
        }
    }

    #[test]
    fn little_evidence_leaves_precision_unknown() {
        // No record has a partner, so that the best pairs are chance.
        for (seed, records) in [(1, 3), (20, 30), (40, 300), (60, 5000)] {
            let (rounds, _) = made_up(seed, 0.0);
            let of = |round: usize| -> Vec<f64> {
                let step = RECORDS.div_ceil(records);
                rounds[round].iter().copied().step_by(step).collect()
            };
            let rounds = [of(0), of(1), of(2)];
            let scores = RoundScores {
                rounds: [&rounds[0], &rounds[1], &rounds[2]],
                records,
            };
            let estimate = estimate_rounds(&scores, None, None, None);
            let stated = (estimate.expected_precision, estimate.expected_recall);
            assert_eq!(stated, (None, None), "{records}: {estimate:?}");
        }
        // Three of a thousand pairs, far above the others, are too few for a precision of 90 %.
        assert!(
            why_rough(3, 0.0, "")
                .unwrap()
                .contains("3 accepted pairs are too few")
        );
        assert!(why_rough(1000, 200.0, "").unwrap().contains("some 80 %"));
        assert_eq!(why_rough(1000, 20.0, ""), None);
    }

    #[test]
    fn competing_runners_up_leave_precision_unknown() {
        let round: Vec<f64> = descending((0..100).map(|i| random(3, i)).collect());
        let scores = RoundScores {
            rounds: [&round, &round, &round],
            records: 100,
        };
        let estimate = estimate_rounds(&scores, None, None, None);
        assert!(estimate.expected_precision.is_none(), "{estimate:?}");
        assert!(estimate.unknown_because.is_some());
        let none = RoundScores {
            rounds: [&[], &[], &[]],
            records: 0,
        };
        let estimate = estimate_rounds(&none, None, None, None);
        assert_eq!(estimate.unknown_because.unwrap(), "no pair was accepted");
    }

    #[test]
    fn entities_begin_where_pairs_stand_out() {
        let far = (0..5000).map(|i| 0.1 + 0.3 * random(1, i).powi(3));
        let near = (0..600).map(|i| 0.7 + 0.3 * random(2, i));
        let scores = single(far.clone().chain(near).collect());
        let estimate = estimate_entities(&scores, 0, 0.1, None);
        assert!((0.3..0.72).contains(&estimate.threshold), "{estimate:?}");
        assert!(estimate.expected_precision.unwrap() > 0.95, "{estimate:?}");
        let none = estimate_entities(&single(far.collect()), 0, 0.1, None);
        assert!(none.unknown_because.is_some(), "{none:?}");
        assert!(
            estimate_entities(&[], 0, 1.0, None)
                .expected_precision
                .is_none()
        );
    }
}
