//! Matching: which candidate pairs are accepted.

use super::candidates::Pair;

/// How many partners a record may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Matching {
    /// One partner for each record of both files. The pair with the highest score is accepted first.
    #[default]
    OneToOne,
    /// One partner for each record of the first file, its best; records of the second file may have several.
    ManyToOne,
    /// Every pair that reaches the threshold.
    ManyToMany,
}

impl Matching {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Matching::OneToOne => "one-to-one",
            Matching::ManyToOne => "many-to-one",
            Matching::ManyToMany => "many-to-many",
        }
    }
}

/// Accepts pairs in three rounds, and returns the places of the accepted ones in `pairs`, which are in the order of
/// acceptance. Each round accepts what would be accepted without the pairs of the rounds before it. A matching of many to
/// many accepts all pairs, so its rounds are those of many to one.
pub(crate) fn rounds(pairs: &[Pair], rows: usize, matching: Matching) -> [Vec<usize>; 3] {
    let is_one_to_one = matching == Matching::OneToOne;
    let mut is_struck = vec![false; pairs.len()];
    std::array::from_fn(|_| {
        let mut has_partner = vec![false; rows];
        let mut of_round = Vec::new();
        for (place, pair) in pairs.iter().enumerate() {
            let [a, b] = pair.rows.map(|row| row as usize);
            if is_struck[place] || has_partner[a] || is_one_to_one && has_partner[b] {
                continue;
            }
            (has_partner[a], has_partner[b]) = (true, true);
            is_struck[place] = true;
            of_round.push(place);
        }
        of_round
    })
}

/// The entities of one file, by greedy clusters: each record joins the first record of the entity that is most similar,
/// if their score reaches the threshold, or else begins an entity. Returns for each record the first one of its entity,
/// and the place of the pair that says so.
pub(crate) fn entities(pairs: &[Pair], rows: usize, threshold: f64) -> Vec<(u32, Option<usize>)> {
    // The earlier records that each record may join, in the order of acceptance.
    let reaching = pairs.partition_point(|pair| pair.score >= threshold);
    let mut ends = vec![0; rows + 1];
    for pair in &pairs[..reaching] {
        ends[pair.rows[1] as usize + 1] += 1;
    }
    for row in 0..rows {
        ends[row + 1] += ends[row];
    }
    let mut earlier = vec![0; reaching];
    let mut next = ends.clone();
    for (place, pair) in pairs[..reaching].iter().enumerate() {
        let slot = &mut next[pair.rows[1] as usize];
        earlier[*slot] = place;
        *slot += 1;
    }
    let mut entities: Vec<(u32, Option<usize>)> = Vec::with_capacity(rows);
    for row in 0..rows {
        let joined = earlier[ends[row]..ends[row + 1]].iter().find(|place| {
            let first = pairs[**place].rows[0];
            entities[first as usize].1.is_none()
        });
        entities.push(match joined {
            Some(place) => (pairs[*place].rows[0], Some(*place)),
            None => (u32::try_from(row).unwrap_or(u32::MAX), None),
        });
    }
    entities
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::scheme::fmix64;

    /// Pairs of `a` first and `b` second records, with few distinct scores, in the order of acceptance.
    fn pairs(seed: u64, a: u32, b: u32) -> Vec<Pair> {
        let mut pairs = Vec::new();
        for (i, row) in (0..a).enumerate() {
            for (j, other) in (a..a + b).enumerate() {
                let random = fmix64(seed << 32 | (i * 1000 + j) as u64);
                if random.is_multiple_of(3) {
                    pairs.push(Pair {
                        rows: [row, other],
                        score: (random >> 20 & 7) as f64 / 8.0,
                    });
                }
            }
        }
        pairs.sort_unstable_by(Pair::before);
        pairs
    }

    /// One round by its definition: the best pair that may still be accepted, again and again.
    fn slow_round(pairs: &[Pair], struck: &BTreeSet<usize>, is_one_to_one: bool) -> Vec<usize> {
        let mut accepted: Vec<usize> = Vec::new();
        loop {
            let may = |place: &usize| {
                let meets = accepted.iter().any(|other| {
                    let ([a, b], [c, d]) = (pairs[*place].rows, pairs[*other].rows);
                    a == c || is_one_to_one && b == d
                });
                !meets && !struck.contains(place)
            };
            let open = (0..pairs.len()).filter(may);
            let best = open.min_by(|x, y| pairs[*x].before(&pairs[*y]));
            match best {
                Some(place) => accepted.push(place),
                None => return accepted,
            }
        }
    }

    #[test]
    fn rounds_accept_the_best_pairs_left() {
        for seed in 0..20 {
            let (a, b) = (3 + u32::try_from(seed % 7).unwrap(), 6);
            let pairs = pairs(seed, a, b);
            for matching in [Matching::OneToOne, Matching::ManyToOne] {
                let mut struck = BTreeSet::new();
                for round in rounds(&pairs, (a + b) as usize, matching) {
                    let expected = slow_round(&pairs, &struck, matching == Matching::OneToOne);
                    assert_eq!(round, expected, "{seed} {matching:?}");
                    struck.extend(round);
                }
            }
        }
    }

    #[test]
    fn records_join_the_most_similar_first_record() {
        let pair = |a, b, score| Pair {
            rows: [a, b],
            score,
        };
        let mut pairs = vec![
            pair(0, 1, 0.9),
            pair(1, 2, 0.95),
            pair(0, 3, 0.5),
            pair(2, 3, 0.6),
            pair(0, 4, 0.4),
        ];
        pairs.sort_unstable_by(Pair::before);
        let first = |threshold| -> Vec<u32> {
            let joined = entities(&pairs, 5, threshold);
            joined.into_iter().map(|(first, _)| first).collect()
        };
        // Record 1 has joined 0, so record 2 cannot join it and is a first record itself.
        assert_eq!(first(0.5), [0, 0, 2, 2, 4]);
        assert_eq!(first(0.4), [0, 0, 2, 2, 0]);
        assert_eq!(first(1.1), [0, 1, 2, 3, 4]);
    }
}
