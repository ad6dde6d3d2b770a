use super::isotonic::UNSEEN;
use super::*;
use crate::distinct::Distinct;
use crate::matching::{Matching, Rounds};
use simgpu::progress::Silent;
use simgpu::scheme::fmix64;

const COLUMNS: usize = 3;

/// Candidate pairs of 60 and 60 records, or of 120 of one file: one in six is of the same thing, and its fields are more
/// often equal.
fn made_up(seed: u64) -> (SimilarityLevels, Vec<RecordPair>) {
    let mut rows = Vec::new();
    let mut pairs = Vec::new();
    for a in 0..60_u32 {
        for b in 60..120_u32 {
            let random = |i: u64| fmix64(seed << 40 | u64::from(a * 200 + b) << 8 | i);
            let is_same = b == a + 60 && a % 6 != 0;
            if !is_same && !random(0).is_multiple_of(7) {
                continue;
            }
            let mut row = [0; COLUMNS];
            for (column, level) in row.iter_mut().enumerate() {
                let random = random(1 + column as u64);
                let up_to = if is_same { 12 } else { 7 };
                let least = if is_same { random >> 20 & 7 } else { 0 };
                *level = u8::try_from((random % up_to).max(least)).unwrap();
            }
            row[COLUMNS - 1] = row[COLUMNS - 1].max(1);
            let similarity = f64::from(row[COLUMNS - 1]) / 12.0 + f64::from(a + b) * 1e-9;
            rows.push(row);
            pairs.push(RecordPair {
                rows: [a, b],
                score: similarity,
                similarity,
            });
        }
    }
    let mut order: Vec<usize> = (0..pairs.len()).collect();
    order.sort_unstable_by(|x, y| pairs[*x].before(&pairs[*y]));
    let levels = SimilarityLevels {
        rows: order.iter().flat_map(|i| rows[*i]).collect(),
        columns: COLUMNS,
    };
    (levels, order.into_iter().map(|i| pairs[i]).collect())
}

/// Isotonic regression by its formula: the greatest of all means that end here of the least that begin here.
fn slow_isotonic(values: &[(f64, f64)]) -> Vec<f64> {
    let mean = |from: usize, to: usize| {
        let weight: f64 = values[from..=to].iter().map(|value| value.1).sum();
        values[from..=to]
            .iter()
            .map(|value| value.0 * value.1)
            .sum::<f64>()
            / weight
    };
    let mean_at = |i: usize| {
        let least = |from: usize| (i..values.len()).map(move |to| mean(from, to));
        (0..=i)
            .map(|from| least(from).fold(f64::INFINITY, f64::min))
            .fold(f64::NEG_INFINITY, f64::max)
    };
    (0..values.len()).map(mean_at).collect()
}

/// Points by the formulas at the top of this file, pair by pair.
fn slow_points(levels: &SimilarityLevels, likely: &[f64]) -> Vec<[f64; LEVELS]> {
    (0..COLUMNS)
        .map(|column| {
            let count = |level: usize, weight: &dyn Fn(f64) -> f64| -> f64 {
                let rows = levels.rows.chunks(COLUMNS).zip(likely);
                let on_level = rows.filter(|(row, _)| usize::from(row[column]) == level);
                on_level.map(|(_, likely)| weight(*likely)).sum()
            };
            let added = UNSEEN * (LEVELS - 1) as f64;
            let sums = [
                (1..LEVELS).map(|level| count(level, &|p| p)).sum::<f64>() + added,
                (1..LEVELS)
                    .map(|level| count(level, &|p| 1.0 - p))
                    .sum::<f64>()
                    + added,
            ];
            let seen: Vec<usize> = (1..LEVELS)
                .filter(|level| count(*level, &|_| 1.0) > 0.0)
                .collect();
            let raw: Vec<(f64, f64)> = seen
                .iter()
                .map(|level| {
                    let (m, u) = (count(*level, &|p| p), count(*level, &|p| 1.0 - p));
                    let ratio = ((m + UNSEEN) / sums[0]) / ((u + UNSEEN) / sums[1]);
                    (ratio.log2(), m + u + 1.0)
                })
                .collect();
            let means = slow_isotonic(&raw);
            let points_at = |level: usize| {
                let place = seen.iter().rposition(|seen| *seen <= level).unwrap_or(0);
                means[place]
            };
            std::array::from_fn(|level| if level == 0 { 0.0 } else { points_at(level) })
        })
        .collect()
}

fn sum(points: &[[f64; LEVELS]], row: &[u8]) -> f64 {
    points
        .iter()
        .zip(row)
        .map(|(points, level)| points[usize::from(*level)])
        .sum()
}

#[test]
fn learned_points_agree_with_a_slow_reference() {
    for seed in 0..4 {
        let (levels, pairs) = made_up(seed);
        let distinct = Distinct::from_keys(&[None; 120], 60);
        let [accepted, ..] = Rounds::accept(&pairs, &distinct, Matching::OneToOne).places;
        let count = accepted.len() / 2;
        for both in [Some(true), Some(false), None] {
            let start = match both {
                Some(both) => Start::OnePartner {
                    accepted: accepted.clone(),
                    both,
                },
                None => Start::FirstPairs(count),
            };
            let learned = Points::learn(&levels, &pairs, 120, &start, &Silent).unwrap();
            let mut likely = vec![0.0; pairs.len()];
            match both {
                Some(_) => accepted
                    .iter()
                    .for_each(|place| likely[*place] = pairs[*place].similarity.clamp(0.02, 0.98)),
                None => likely[..count].fill(1.0),
            }
            let mut points = slow_points(&levels, &likely);
            for _ in 0..ROUNDS {
                let rows: Vec<&[u8]> = levels.rows.chunks(COLUMNS).collect();
                let prior = likely.iter().sum::<f64>() / likely.len() as f64;
                let odds: Vec<f64> = rows
                    .iter()
                    .map(|row| sum(&points, row).exp2() * prior / (1.0 - prior))
                    .collect();
                likely = match both {
                    Some(both) => (0..pairs.len())
                        .map(|i| {
                            let [a, b] = pairs[i].rows;
                            let rivals = (0..pairs.len()).filter(|j| {
                                let [c, d] = pairs[*j].rows;
                                *j != i && (a == c || both && b == d)
                            });
                            odds[i] / (1.0 + odds[i] + rivals.map(|j| odds[j]).sum::<f64>())
                        })
                        .collect(),
                    None => {
                        let likely_at = |even: f64| -> Vec<f64> {
                            let p = |row: &&[u8]| 1.0 / (1.0 + (even - sum(&points, row)).exp2());
                            rows.iter().map(p).collect()
                        };
                        let (mut low, mut high) = (-100.0_f64, 100.0);
                        for _ in 0..80 {
                            let middle = f64::midpoint(low, high);
                            if likely_at(middle).iter().sum::<f64>() > count as f64 {
                                low = middle
                            } else {
                                high = middle
                            }
                        }
                        likely_at(low)
                    }
                };
                points = slow_points(&levels, &likely);
            }
            for (row, score) in levels
                .rows
                .chunks(COLUMNS)
                .zip(learned.score_pairs(&levels))
            {
                let expected = sum(&points, row);
                assert!(
                    (score - expected).abs() < 1e-6,
                    "{seed} {both:?}: {score} {expected}"
                );
            }
            assert!((learned.expected - likely.iter().sum::<f64>()).abs() < 1e-6);
        }
    }
}

#[test]
fn what_cannot_be_learned_is_refused() {
    let (levels, pairs) = made_up(9);
    let few = Start::FirstPairs(3);
    let error = Points::learn(&levels, &pairs, 120, &few, &Silent)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("3 candidate pairs") && error.contains("`score=text`"),
        "{error}"
    );
    let equal = SimilarityLevels {
        rows: vec![5; levels.rows.len()],
        columns: COLUMNS,
    };
    let error = Points::learn(&equal, &pairs, 120, &Start::FirstPairs(50), &Silent).unwrap_err();
    assert!(error.to_string().contains("do not rise"), "{error}");
}
