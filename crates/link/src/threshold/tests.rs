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
