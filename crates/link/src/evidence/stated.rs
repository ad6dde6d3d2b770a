//! The precision that is expected of the pairs within entities.

use rayon::prelude::*;

use super::clusters::Scored;
use super::values::number;
use simgpu::scheme::fmix64;

/// Records of an entity that are looked at, at most.
const SAMPLED: usize = 60;

/// Log odds beyond this are certain.
const CERTAIN: f64 = 50.0;

/// The range is that of odds that are all lower, or all higher, by this factor.
const FACTOR: f64 = 3.0;

/// The pairs within entities, and how many of them are expected to be right.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Expected {
    /// Pairs within entities, those of copies included.
    pub(crate) pairs: f64,
    /// Expected right pairs; and the least and the most, if all odds are [`FACTOR`] times lower or higher.
    pub(crate) right: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
}

/// The probability that a pair is of the same thing, if its odds are multiplied.
fn probability(log_odds: f64, factor: f64) -> f64 {
    let log_odds = (log_odds + factor.ln()).clamp(-CERTAIN, CERTAIN);
    1.0 / (1.0 + (-log_odds).exp())
}

impl Expected {
    /// Counts the pairs of different records within entities: each is right with its own probability, or by way of a third
    /// record of the entity, whichever is more likely. Where only some pairs were compared, two records hardly have a third one
    /// in common: there, the way may lead by two.
    pub(crate) fn count(pairs: &[(u32, Scored)], first: &[u32], sizes: &[u32]) -> Self {
        let entity = |pair: &Scored| pair.records.map(|record| first[record as usize]);
        let within = pairs.iter().map(|(_, pair)| (entity(pair), pair));
        let within = within
            .filter(|([a, b], _)| a == b)
            .map(|([a, _], pair)| (a, pair));
        let mut within: Vec<(u32, &Scored)> = within.collect();
        within.par_sort_by_key(|(entity, pair)| (*entity, pair.records));
        let mut members: Vec<(u32, u32)> = (0..)
            .zip(first)
            .map(|(record, first)| (*first, record))
            .collect();
        members.par_sort_unstable();
        let entities: Vec<&[(u32, u32)]> = members
            .chunk_by(|a, b| a.0 == b.0)
            .filter(|members| members.len() > 1)
            .collect();
        let parts: Vec<Expected> = entities
            .par_iter()
            .map(|members| {
                let entity = members[0].0;
                let start = within.partition_point(|(other, _)| *other < entity);
                let end = within.partition_point(|(other, _)| *other <= entity);
                let places = within[start..end].iter().map(|(_, pair)| *pair);
                let members: Vec<u32> = members.iter().map(|(_, record)| *record).collect();
                expect_of_entity(&members, places, sizes)
            })
            .collect();
        let mut all = Expected::default();
        for part in parts {
            all.pairs += part.pairs;
            all.right += part.right;
            all.least += part.least;
            all.most += part.most;
        }
        all
    }

    /// The expected precision: least, expected, most.
    pub(crate) fn precision(&self) -> Option<[f64; 3]> {
        let share = |right: f64| right / self.pairs;
        // One standard error of a count, as if one pair more were wrong.
        let error = (self.pairs - self.right + 1.0).sqrt() / self.pairs;
        (self.pairs > 0.0).then(|| {
            let [least, right, most] = [self.least, self.right, self.most].map(share);
            [(least - error).max(0.0), right, (most + error).min(1.0)]
        })
    }
}

fn expect_of_entity<'a>(
    members: &[u32],
    pairs: impl Iterator<Item = &'a Scored>,
    sizes: &[u32],
) -> Expected {
    let mut sampled: Vec<u32> = (0..number(members.len())).collect();
    if members.len() > SAMPLED {
        sampled.sort_unstable_by_key(|place| fmix64(u64::from(members[*place as usize])));
        sampled.truncate(SAMPLED);
        sampled.sort_unstable();
    }
    let place = |record: u32| members.partition_point(|member| *member < record);
    // The log odds of the sampled records with all others.
    let mut odds: Vec<Vec<f64>> = vec![vec![f64::NEG_INFINITY; members.len()]; sampled.len()];
    let (mut compared, mut is_sampled) = (Vec::new(), false);
    for pair in pairs {
        let [a, b] = pair.records.map(place);
        is_sampled |= pair.weight > 1.0;
        compared.push(([a, b], pair.log_odds));
        for (x, y) in [(a, b), (b, a)] {
            if let Ok(row) = sampled.binary_search(&number(x)) {
                odds[row][y] = pair.log_odds;
            }
        }
    }
    let mut shares = [0.0; 3];
    for (sum, factor) in shares.iter_mut().zip([1.0, FACTOR.recip(), FACTOR]) {
        let rows: Vec<Vec<f64>> = odds
            .iter()
            .map(|row| row.iter().map(|log| probability(*log, factor)).collect())
            .collect();
        *sum = if is_sampled {
            mean(
                &sampled,
                &with_third_record(&rows, &compared, factor),
                &rows,
            )
        } else {
            mean(&sampled, &rows, &rows)
        };
    }
    let all: f64 = members
        .iter()
        .map(|record| f64::from(sizes[*record as usize]))
        .sum();
    let pairs_of_copies: f64 = members
        .iter()
        .map(|record| pairs_of(sizes[*record as usize]))
        .sum();
    let pairs = all * (all - 1.0) / 2.0 - pairs_of_copies;
    let [right, least, most] = shares.map(|share| share * pairs);
    Expected {
        pairs,
        right,
        least,
        most,
    }
}

/// The pairs of so many copies.
pub(crate) fn pairs_of(copies: u32) -> f64 {
    let copies = f64::from(copies);
    copies * (copies - 1.0) / 2.0
}

/// The probabilities that sampled records are the same thing as others: their own, or by way of a third record.
fn with_third_record(rows: &[Vec<f64>], pairs: &[([usize; 2], f64)], factor: f64) -> Vec<Vec<f64>> {
    let mut further = rows.to_vec();
    for ([a, b], log_odds) in pairs {
        let probability = probability(*log_odds, factor);
        for (further, row) in further.iter_mut().zip(rows) {
            further[*a] = further[*a].max(row[*b] * probability);
            further[*b] = further[*b].max(row[*a] * probability);
        }
    }
    further
}

/// The mean over the pairs of sampled records of the probability: their own, or by way of a third record, to which the lower
/// one has the probabilities `lower`.
fn mean(sampled: &[u32], lower: &[Vec<f64>], rows: &[Vec<f64>]) -> f64 {
    let (mut sum, mut pairs) = (0.0, 0.0);
    for (i, row) in lower.iter().enumerate() {
        for (j, other) in rows.iter().enumerate().skip(i + 1) {
            let direct = row[sampled[j] as usize];
            let third = row
                .iter()
                .zip(other)
                .map(|(x, y)| x * y)
                .fold(0.0, f64::max);
            sum += direct.max(third);
            pairs += 1.0;
        }
    }
    sum / f64::max(pairs, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(a: u32, b: u32, log_odds: f64) -> (u32, Scored) {
        let records = [a, b];
        (
            0,
            Scored {
                records,
                log_odds,
                weight: 1.0,
            },
        )
    }

    #[test]
    fn a_third_record_makes_a_pair_likely() {
        let even = Expected::count(&[pair(0, 1, 0.0)], &[0, 0, 2], &[1; 3]);
        assert_eq!((even.pairs, even.right), (1.0, 0.5));
        assert!((even.least - 0.25).abs() < 1e-12 && (even.most - 0.75).abs() < 1e-12);
        // 0 and 2 are no candidates, but both are 1 with a probability of .9.
        let nine = 9_f64.ln();
        let third = Expected::count(&[pair(0, 1, nine), pair(1, 2, nine)], &[0; 3], &[1; 3]);
        assert_eq!(third.pairs, 3.0);
        assert!(
            (third.right - (0.9 + 0.9 + 0.81)).abs() < 1e-12,
            "{third:?}"
        );
        let [least, right, most] = third.precision().unwrap();
        assert!(least < right && right < most);
        assert_eq!(Expected::default().precision(), None);
    }

    #[test]
    fn copies_count_as_records() {
        let expected = Expected::count(&[pair(0, 1, 0.0)], &[0, 0], &[2, 3]);
        assert_eq!((expected.pairs, expected.right), (6.0, 3.0));
    }

    #[test]
    fn where_pairs_are_sampled_two_records_lead_to_another() {
        // A ring: 0 and 3 are connected by 1 and 2, with a probability of .9 each; also by 5 and 4.
        let ring = |weight: f64| -> Vec<(u32, Scored)> {
            let next = (0..6).map(|a| pair(a.min((a + 1) % 6), a.max((a + 1) % 6), 9_f64.ln()));
            next.map(|(root, pair)| (root, Scored { weight, ..pair }))
                .collect()
        };
        // Six neighbours, six pairs with one record between, three with two.
        let near = 6.0 * 0.9 + 6.0 * 0.81;
        for (weight, opposite) in [(1.0, 0.0), (20.0, 0.729)] {
            let expected = Expected::count(&ring(weight), &[0; 6], &[1; 6]);
            let right = near + 3.0 * opposite;
            assert!((expected.right - right).abs() < 1e-9, "{expected:?}");
        }
    }

    #[test]
    fn large_entities_are_sampled() {
        let records = 200;
        let pairs =
            (0..records).flat_map(|a| (a + 1..records).map(move |b| pair(a, b, 9_f64.ln())));
        let expected = Expected::count(&pairs.collect::<Vec<_>>(), &[0; 200], &[1; 200]);
        assert_eq!(expected.pairs, 19_900.0);
        assert!((expected.right / expected.pairs - 0.9).abs() < 1e-9);
    }
}
