//! Matching: which candidate pairs are accepted.

use std::collections::HashMap;

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

/// The entities of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entities {
    /// For each record, the first one of its entity.
    pub(crate) first: Vec<u32>,
    /// The places of the pairs that joined two entities, in the order of acceptance: one less than an entity has records.
    pub(crate) links: Vec<usize>,
}

impl Entities {
    /// Joins records, the pairs with the highest scores first: the entities of both records become one if at least half of
    /// the pairs of a record of each reach the threshold. So a chain of records, each similar to the next, does not grow
    /// from one thing to another; and no order of the records matters.
    pub(crate) fn of_pairs(pairs: &[Pair], rows: usize, threshold: f64) -> Self {
        let reaching = &pairs[..pairs.partition_point(|pair| pair.score >= threshold)];
        // For each entity, the numbers of pairs that it has with others.
        let mut shared: Vec<HashMap<u32, u64>> = vec![HashMap::new(); rows];
        for pair in reaching {
            let [a, b] = pair.rows;
            *shared[a as usize].entry(b).or_default() += 1;
            *shared[b as usize].entry(a).or_default() += 1;
        }
        let mut entity: Vec<u32> = (0..).take(rows).collect();
        let mut members: Vec<Vec<u32>> = entity.iter().map(|row| vec![*row]).collect();
        let mut links = Vec::new();
        for (place, pair) in reaching.iter().enumerate() {
            let [mut into, mut from] = pair.rows.map(|row| entity[row as usize]);
            if into == from {
                continue;
            }
            let sizes = [into, from].map(|entity| members[entity as usize].len() as u64);
            let reach = shared[into as usize].get(&from).copied().unwrap_or(0);
            if 2 * reach < sizes[0] * sizes[1] {
                continue;
            }
            if sizes[0] < sizes[1] {
                (into, from) = (from, into);
            }
            for (other, pairs) in std::mem::take(&mut shared[from as usize]) {
                let of_other = &mut shared[other as usize];
                of_other.remove(&from);
                if other != into {
                    *of_other.entry(into).or_default() += pairs;
                    *shared[into as usize].entry(other).or_default() += pairs;
                }
            }
            let moved = std::mem::take(&mut members[from as usize]);
            moved.iter().for_each(|row| entity[*row as usize] = into);
            members[into as usize].extend(moved);
            links.push(place);
        }
        let mut first: Vec<u32> = (0..).take(rows).collect();
        for of_entity in &members {
            let least = of_entity.iter().copied().min().unwrap_or(0);
            of_entity
                .iter()
                .for_each(|row| first[*row as usize] = least);
        }
        Entities { first, links }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::scheme::fmix64;

    fn pair(a: u32, b: u32, score: f64) -> Pair {
        Pair {
            rows: [a, b],
            score,
            similarity: score,
        }
    }

    /// Pairs of `a` first and `b` second records, with few distinct scores, in the order of acceptance.
    fn pairs(seed: u64, a: u32, b: u32) -> Vec<Pair> {
        let mut pairs = Vec::new();
        for (i, row) in (0..a).enumerate() {
            for (j, other) in (a..a + b).enumerate() {
                let random = fmix64(seed << 32 | (i * 1000 + j) as u64);
                if random.is_multiple_of(3) {
                    pairs.push(pair(row, other, (random >> 20 & 7) as f64 / 8.0));
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

    /// Entities by their definition: all pairs of two entities are counted at each step.
    fn slow_entities(pairs: &[Pair], rows: u32, threshold: f64) -> BTreeSet<BTreeSet<u32>> {
        let reaches: BTreeSet<[u32; 2]> = pairs
            .iter()
            .filter(|pair| pair.score >= threshold)
            .map(|pair| pair.rows)
            .collect();
        let mut entities: Vec<BTreeSet<u32>> = (0..rows).map(|row| BTreeSet::from([row])).collect();
        for pair in pairs.iter().filter(|pair| pair.score >= threshold) {
            let [a, b] = pair.rows.map(|row| {
                let of_row = entities
                    .iter()
                    .position(|of_entity| of_entity.contains(&row));
                of_row.unwrap()
            });
            if a == b {
                continue;
            }
            let all = entities[a]
                .iter()
                .flat_map(|x| entities[b].iter().map(move |y| [*x, *y]));
            let reach = all
                .filter(|[x, y]| reaches.contains(&[*x.min(y), *x.max(y)]))
                .count();
            if 2 * reach >= entities[a].len() * entities[b].len() {
                let joined = entities[b].clone();
                entities[a].extend(joined);
                entities.remove(b);
            }
        }
        entities.into_iter().collect()
    }

    #[test]
    fn entities_are_those_of_the_definition() {
        let mut large = 0;
        for seed in 0..60 {
            let rows = 14;
            let all = (0..rows).flat_map(|a| (a + 1..rows).map(move |b| (a, b)));
            let mut pairs: Vec<Pair> = all
                .filter_map(|(a, b)| {
                    let random = fmix64(seed << 32 | u64::from(a * 100 + b));
                    let is_near = a % 4 == b % 4;
                    (is_near || random.is_multiple_of(4))
                        .then(|| pair(a, b, (random >> 20 & 7) as f64 / 8.0))
                })
                .collect();
            pairs.sort_unstable_by(Pair::before);
            for threshold in [0.25, 0.5] {
                let entities = Entities::of_pairs(&pairs, rows as usize, threshold);
                let mut found = std::collections::BTreeMap::<u32, BTreeSet<u32>>::new();
                for (row, first) in (0..).zip(&entities.first) {
                    found.entry(*first).or_default().insert(row);
                }
                assert!(
                    found
                        .iter()
                        .all(|(first, rows)| rows.first() == Some(first))
                );
                assert_eq!(entities.links.len(), rows as usize - found.len());
                large += found.values().filter(|rows| rows.len() > 2).count();
                let found: BTreeSet<BTreeSet<u32>> = found.into_values().collect();
                assert_eq!(found, slow_entities(&pairs, rows, threshold), "{seed}");
            }
        }
        assert!(large > 100, "{large}");
    }
}
