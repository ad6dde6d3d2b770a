use std::collections::{BTreeMap, BTreeSet};

use super::*;
use simgpu::scheme::fmix64;

fn pair(a: u32, b: u32, score: f64) -> RecordPair {
    RecordPair {
        rows: [a, b],
        score,
        similarity: score,
    }
}

/// Pairs of `a` first and `b` second records, with few distinct scores, in the order of acceptance.
fn pairs(seed: u64, a: u32, b: u32) -> Vec<RecordPair> {
    let mut pairs = Vec::new();
    for (i, row) in (0..a).enumerate() {
        for (j, other) in (a..a + b).enumerate() {
            let random = fmix64(seed << 32 | (i * 1000 + j) as u64);
            if random.is_multiple_of(3) {
                pairs.push(pair(row, other, (random >> 20 & 7) as f64 / 8.0));
            }
        }
    }
    pairs.sort_unstable_by(RecordPair::before);
    pairs
}

/// One round by its definition: the best pair that may still be accepted, again and again.
fn slow_round(pairs: &[RecordPair], struck: &BTreeSet<usize>, is_one_to_one: bool) -> Vec<usize> {
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

/// Distinct records with a random number of copies each, among each other; those from `in_first` on are of a second file.
fn copied(seed: u64, records: u32, in_first: u32, most: u64) -> Distinct {
    let copies = |record: u32| {
        let random = fmix64(seed << 32 | u64::from(record) | 1 << 31);
        (0..1 + random % most).map(move |copy| (fmix64(random + copy), record))
    };
    let rows = |records: std::ops::Range<u32>| {
        let mut rows: Vec<(u64, u32)> = records.flat_map(copies).collect();
        rows.sort_unstable();
        rows.into_iter().map(|(_, record)| Some(u128::from(record)))
    };
    let mut keys: Vec<Option<u128>> = rows(0..in_first).collect();
    let first_file = keys.len();
    keys.extend(rows(in_first..records));
    Distinct::from_keys(&keys, first_file)
}

/// All pairs of rows, in the order of acceptance.
fn expanded(pairs: &[RecordPair], distinct: &Distinct) -> Vec<RecordPair> {
    let joined = all_pairs(pairs, distinct);
    let mut all: Vec<RecordPair> = joined.into_iter().map(|joined| joined.pair).collect();
    all.sort_unstable_by(RecordPair::before);
    all
}

#[test]
fn copies_are_matched_row_by_row() {
    let mut with_copies = 0;
    for seed in 0..200 {
        let (a, b) = (1 + u32::try_from(seed % 5).unwrap(), 4);
        let distinct = copied(seed, a + b, a, 1 + seed % 6);
        let pairs = pairs(seed, a, b);
        let all = expanded(&pairs, &distinct);
        with_copies += usize::from(all.len() > pairs.len());
        for matching in [Matching::OneToOne, Matching::ManyToOne] {
            let rounds = Rounds::accept(&pairs, &distinct, matching);
            let is_one_to_one = matching == Matching::OneToOne;
            let expected = slow_round(&all, &BTreeSet::new(), is_one_to_one);
            let expected: Vec<RecordPair> = expected.into_iter().map(|place| all[place]).collect();
            let mut found: Vec<RecordPair> = rounds.joined.iter().map(|one| one.pair).collect();
            found.sort_unstable_by(RecordPair::before);
            assert_eq!(found, expected, "{seed} {matching:?}");
            // A record of many to one has as many runners-up as it has other candidates.
            let [_, second, _] = rounds.places;
            let second: Vec<f64> = second.iter().map(|place| pairs[*place].score).collect();
            let struck = expected.iter().map(|pair| {
                let is_it = |other: &RecordPair| other.rows == pair.rows;
                all.iter().position(is_it).unwrap()
            });
            let slow = slow_round(&all, &struck.collect(), is_one_to_one);
            let slow: Vec<f64> = slow.into_iter().map(|place| all[place].score).collect();
            assert!(second.is_sorted_by(|x, y| x >= y));
            if is_one_to_one {
                assert_eq!(second.is_empty(), slow.is_empty(), "{seed}")
            } else {
                assert_eq!(second, slow, "{seed}")
            }
        }
    }
    assert!(with_copies > 100, "{with_copies}");
}

#[test]
fn rounds_accept_the_best_pairs_left() {
    for seed in 0..20 {
        let (a, b) = (3 + u32::try_from(seed % 7).unwrap(), 6);
        let pairs = pairs(seed, a, b);
        let distinct = copied(seed, a + b, a, 1);
        for matching in [Matching::OneToOne, Matching::ManyToOne] {
            let mut struck = BTreeSet::new();
            for round in Rounds::accept(&pairs, &distinct, matching).places {
                let expected = slow_round(&pairs, &struck, matching == Matching::OneToOne);
                assert_eq!(round, expected, "{seed} {matching:?}");
                struck.extend(round);
            }
        }
    }
}

/// Entities by their definition: all pairs of two entities are counted at each step. Copies of a record are one
/// from the beginning.
fn slow_entities(
    pairs: &[RecordPair],
    distinct: &Distinct,
    threshold: f64,
) -> BTreeSet<BTreeSet<u32>> {
    let mut entities: Vec<BTreeSet<u32>> = (0..distinct.len())
        .map(|record| distinct.rows(record).iter().copied().collect())
        .collect();
    let row_pairs: BTreeSet<[u32; 2]> = expanded(pairs, distinct)
        .iter()
        .filter(|pair| pair.score >= threshold)
        .map(|pair| {
            [
                pair.rows[0].min(pair.rows[1]),
                pair.rows[0].max(pair.rows[1]),
            ]
        })
        .collect();
    for pair in pairs.iter().filter(|pair| pair.score >= threshold) {
        let [a, b] = pair.rows.map(|record| {
            let row = distinct.first_row(record as usize);
            let entity = entities.iter().position(|rows| rows.contains(&row));
            entity.unwrap()
        });
        if a == b {
            continue;
        }
        let all = entities[a]
            .iter()
            .flat_map(|x| entities[b].iter().map(move |y| [*x, *y]));
        let reach = all
            .filter(|[x, y]| row_pairs.contains(&[*x.min(y), *x.max(y)]))
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
    for seed in 0..90 {
        let rows = 14;
        let distinct = copied(seed, rows, rows, 1 + seed % 3 * 3);
        let all = (0..rows).flat_map(|a| (a + 1..rows).map(move |b| (a, b)));
        let mut pairs: Vec<RecordPair> = all
            .filter_map(|(a, b)| {
                let random = fmix64(seed << 32 | u64::from(a * 100 + b));
                let is_near = a % 4 == b % 4;
                (is_near || random.is_multiple_of(4))
                    .then(|| pair(a, b, (random >> 20 & 7) as f64 / 8.0))
            })
            .collect();
        pairs.sort_unstable_by(RecordPair::before);
        for threshold in [0.25, 0.5] {
            let entities = Entities::form(&pairs, &distinct, threshold);
            let mut found = BTreeMap::<u32, BTreeSet<u32>>::new();
            for (record, first) in entities.first.iter().enumerate() {
                let rows = found
                    .entry(distinct.first_row(*first as usize))
                    .or_default();
                rows.extend(distinct.rows(record));
            }
            assert!(
                found
                    .iter()
                    .all(|(first, rows)| rows.first() == Some(first))
            );
            let joined = entities.joined(&pairs, &distinct, |_| 1.0);
            let all_rows: usize = found.values().map(BTreeSet::len).sum();
            assert_eq!(joined.len(), all_rows - found.len());
            for one in joined {
                let [a, b] = one.pair.rows;
                assert!(
                    found
                        .values()
                        .any(|rows| rows.contains(&a) && rows.contains(&b))
                );
            }
            large += found.values().filter(|rows| rows.len() > 2).count();
            let found: BTreeSet<BTreeSet<u32>> = found.into_values().collect();
            assert_eq!(found, slow_entities(&pairs, &distinct, threshold), "{seed}");
        }
    }
    assert!(large > 100, "{large}");
}
