//! The points of levels from counts of pairs, made to rise with the similarity.

use super::levels::{LEVELS, MISSING};

/// Pairs of either kind added to each level, so that none is impossible.
pub(super) const UNSEEN: f64 = 0.5;

/// The shares of each column's levels.
pub(super) fn shares(mut counts: Vec<[f64; LEVELS]>) -> Vec<[f64; LEVELS]> {
    for column in &mut counts {
        let all: f64 = column.iter().sum();
        column.iter_mut().for_each(|count| *count /= all.max(1.0));
    }
    counts
}

/// The points of the levels of a field by the numbers of pairs of the same thing and of others on each. Points never fall
/// as the similarity grows: where the counts say so, neighbouring levels get their mean (isotonic regression). A level
/// without pairs is worth as much as the next lower one that has some.
pub(super) fn points_of(same: &[f64; LEVELS], different: &[f64; LEVELS]) -> [f64; LEVELS] {
    let [all_same, all_different] = [same, different].map(|counts| {
        let added = UNSEEN * (LEVELS - 1) as f64;
        counts[1..].iter().sum::<f64>() + added
    });
    // Means of neighbouring levels: points, weight, the first level.
    let mut means: Vec<(f64, f64, usize)> = Vec::with_capacity(LEVELS);
    for level in 1..LEVELS {
        let pairs = same[level] + different[level];
        if pairs == 0.0 {
            continue;
        }
        let [same_share, different_share] = [
            (same[level] + UNSEEN) / all_same,
            (different[level] + UNSEEN) / all_different,
        ];
        means.push(((same_share / different_share).log2(), pairs + 1.0, level));
        // Pool adjacent violators: a mean below the one before it joins that one, until the means rise.
        while let [.., before, last] = means[..] {
            if before.0 <= last.0 {
                break;
            }
            let weight = before.1 + last.1;
            let mean = (before.0 * before.1 + last.0 * last.1) / weight;
            means.pop();
            let place = means.len() - 1;
            means[place] = (mean, weight, before.2);
        }
    }
    let points_at = |level: usize| {
        let lower = means.iter().rfind(|mean| mean.2 <= level);
        lower.or(means.first()).map_or(0.0, |mean| mean.0)
    };
    std::array::from_fn(|level| {
        if level == MISSING {
            0.0
        } else {
            points_at(level)
        }
    })
}
