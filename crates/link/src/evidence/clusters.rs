//! Entities by average link: two clusters join if the evidence of all pairs between them, taken together, is positive.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use rayon::prelude::*;

use super::values::number;
use simgpu::pipeline::{Components, Mixed};

/// Log odds of a pair count up to this far either way, so that no pair decides alone.
const CLIP: f64 = 6.0;

/// The log odds of a pair that is no candidate.
const NO_CANDIDATE: f64 = -4.0;

/// How much of the prior of one pair two larger clusters are spared: it should count once, not once per pair.
const SPARED: f64 = 0.35;

/// A pair of records with its natural log odds, and how many pairs it stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scored {
    pub(crate) records: [u32; 2],
    pub(crate) log_odds: f64,
    pub(crate) weight: f64,
}

/// The evidence between two clusters: the sum of log odds, and how many pairs it is of.
#[derive(Clone, Copy, Debug, Default)]
struct ClusterEvidence {
    sum: f64,
    pairs: f64,
}

impl ClusterEvidence {
    fn add(&mut self, other: ClusterEvidence) {
        self.sum += other.sum;
        self.pairs += other.pairs;
    }

    /// The mean over `all` pairs, of which the others are no candidates.
    fn mean(self, all: f64) -> f64 {
        if self.pairs > all {
            self.sum / self.pairs
        } else {
            (self.sum + NO_CANDIDATE * (all - self.pairs)) / all
        }
    }
}

/// The entities of records.
#[derive(Debug, Default)]
pub(crate) struct Clusters {
    /// For each record, the first one of its entity.
    pub(crate) first: Vec<u32>,
    /// The pairs that joined two clusters.
    pub(crate) joining: Vec<Scored>,
}

impl Clusters {
    /// Joins records, the pairs with the highest odds first. All `pairs` are of connected records, in the order of
    /// [`connected`]; `sizes` counts the copies of each record, and `log_prior` is the natural logarithm of the share of all
    /// pairs that are of the same thing. Only pairs with log odds above `least`, 0 or more, join two clusters.
    pub(crate) fn form(pairs: &[(u32, Scored)], sizes: &[u32], log_prior: f64, least: f64) -> Self {
        let mut first: Vec<u32> = (0..).take(sizes.len()).collect();
        let components: Vec<&[(u32, Scored)]> = pairs.chunk_by(|a, b| a.0 == b.0).collect();
        let joined: Vec<JoinedComponent> = components
            .par_iter()
            .map(|pairs| Component::new(pairs, sizes).join(pairs, log_prior, least))
            .collect();
        let mut joining = Vec::new();
        for component in joined {
            for (record, first_record) in component.entities {
                first[record as usize] = first_record;
            }
            joining.extend(component.joining);
        }
        Clusters { first, joining }
    }

    /// The number of records that are linked to another one.
    pub(crate) fn linked(&self) -> usize {
        let firsts = (0..)
            .zip(&self.first)
            .filter(|(record, first)| record != *first);
        let mut entities: Vec<u32> = firsts.map(|(_, first)| *first).collect();
        let others = entities.len();
        entities.sort_unstable();
        entities.dedup();
        others + entities.len()
    }
}

/// The entities of the records of a component.
struct JoinedComponent {
    /// Each record with the first one of its entity.
    entities: Vec<(u32, u32)>,
    /// The pairs that joined two clusters.
    joining: Vec<Scored>,
}

/// The pairs whose records are connected by pairs with positive odds, with the first record that they are connected to, by
/// that record. No others can be in one entity. `log_odds` are those of each pair.
pub(crate) fn connected(
    pairs: &[[u32; 2]],
    weights: &[f32],
    records: usize,
    log_odds: impl Fn(usize) -> f64 + Sync,
) -> Vec<(u32, Scored)> {
    let mut components = Components::new(records);
    let pairs_above = pairs
        .iter()
        .enumerate()
        .filter(|(place, _)| log_odds(*place) > 0.0);
    for (_, [a, b]) in pairs_above {
        components.unite(*a, *b);
    }
    let root: Vec<u32> = (0..number(records))
        .map(|record| components.root(record))
        .collect();
    let within = pairs.par_iter().enumerate().filter_map(|(place, pair)| {
        let [a, b] = pair.map(|record| root[record as usize]);
        let scored = || Scored {
            records: *pair,
            log_odds: log_odds(place),
            weight: f64::from(weights[place]),
        };
        (a == b).then(|| (a, scored()))
    });
    let mut within: Vec<(u32, Scored)> = within.collect();
    within.par_sort_by_key(|(root, pair)| (*root, pair.records));
    within
}

/// The root of a cluster, which need not be its least record: that with the most evidence. Halves the path to it.
fn find(parent: &mut [u32], mut record: u32) -> u32 {
    while parent[record as usize] != record {
        let above = parent[parent[record as usize] as usize];
        parent[record as usize] = above;
        record = above;
    }
    record
}

/// Records that are connected by pairs with positive odds, numbered among themselves.
struct Component {
    records: Vec<u32>,
    sizes: Vec<f64>,
    /// The evidence between each cluster and others.
    between: Vec<HashMap<u32, ClusterEvidence, BuildHasherDefault<Mixed>>>,
}

impl Component {
    fn new(pairs: &[(u32, Scored)], sizes: &[u32]) -> Self {
        let mut records: Vec<u32> = pairs.iter().flat_map(|(_, pair)| pair.records).collect();
        records.sort_unstable();
        records.dedup();
        let sizes: Vec<f64> = records
            .iter()
            .map(|record| f64::from(sizes[*record as usize]))
            .collect();
        let mut component = Component {
            between: vec![HashMap::default(); records.len()],
            records,
            sizes,
        };
        for (_, pair) in pairs {
            let [a, b] = pair.records.map(|record| component.number(record));
            let copies = pair.weight * component.sizes[a as usize] * component.sizes[b as usize];
            let evidence = ClusterEvidence {
                sum: pair.log_odds.clamp(-CLIP, CLIP) * copies,
                pairs: copies,
            };
            component.add([a, b], evidence);
        }
        component
    }

    /// Adds evidence between two clusters, to what each has of the other.
    fn add(&mut self, [a, b]: [u32; 2], evidence: ClusterEvidence) {
        for (own, other) in [(a, b), (b, a)] {
            let between = &mut self.between[own as usize];
            between.entry(other).or_default().add(evidence);
        }
    }

    /// The number of a record of this component.
    fn number(&self, record: u32) -> u32 {
        number(self.records.partition_point(|other| *other < record))
    }

    /// The entity of each record, and the pairs that joined two.
    fn join(mut self, pairs: &[(u32, Scored)], log_prior: f64, least: f64) -> JoinedComponent {
        let positive = pairs.iter().map(|(_, pair)| *pair);
        let mut order: Vec<Scored> = positive.filter(|pair| pair.log_odds > least).collect();
        order.sort_unstable_by(|x, y| {
            y.log_odds
                .total_cmp(&x.log_odds)
                .then(x.records.cmp(&y.records))
        });
        let mut parent: Vec<u32> = (0..).take(self.records.len()).collect();
        let mut joining = Vec::new();
        for pair in order {
            let ends = pair.records.map(|record| self.number(record));
            let [mut into, mut from] = ends.map(|end| find(&mut parent, end));
            if into == from || !self.may_join([into, from], log_prior) {
                continue;
            }
            // What has less evidence moves, so that few entries of the maps do.
            if self.between[into as usize].len() < self.between[from as usize].len() {
                (into, from) = (from, into);
            }
            parent[from as usize] = into;
            self.merge(into, from);
            joining.push(pair);
        }
        let mut first: HashMap<u32, u32> = HashMap::new();
        let mut entities = Vec::with_capacity(self.records.len());
        for (own, record) in (0..).zip(&self.records) {
            let root = find(&mut parent, own);
            // Records ascend, so that the first one of a cluster comes first.
            entities.push((*record, *first.entry(root).or_insert(*record)));
        }
        JoinedComponent { entities, joining }
    }

    fn may_join(&self, [into, from]: [u32; 2], log_prior: f64) -> bool {
        let evidence = self.between[into as usize]
            .get(&from)
            .copied()
            .unwrap_or_default();
        let all = self.sizes[into as usize] * self.sizes[from as usize];
        evidence.mean(all) - SPARED * log_prior * (1.0 - all.sqrt().recip()) > 0.0
    }

    fn merge(&mut self, into: u32, from: u32) {
        self.sizes[into as usize] += self.sizes[from as usize];
        self.between[into as usize].remove(&from);
        for (other, evidence) in std::mem::take(&mut self.between[from as usize]) {
            if other == into {
                continue;
            }
            self.between[other as usize].remove(&from);
            self.add([other, into], evidence);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simgpu::scheme::fmix64;

    fn pair(a: u32, b: u32, log_odds: f64) -> Scored {
        Scored {
            records: [a, b],
            log_odds,
            weight: 1.0,
        }
    }

    fn clusters(pairs: &[Scored], records: usize, log_prior: f64) -> Vec<u32> {
        let rows: Vec<[u32; 2]> = pairs.iter().map(|pair| pair.records).collect();
        let within = connected(&rows, &vec![1.0; pairs.len()], records, |place| {
            pairs[place].log_odds
        });
        Clusters::form(&within, &vec![1; records], log_prior, 0.0).first
    }

    #[test]
    fn a_chain_does_not_become_one_entity() {
        // 0-1-2-3, each like the next; no two others are.
        let chain = [pair(0, 1, 5.0), pair(1, 2, 2.0), pair(2, 3, 5.0)];
        assert_eq!(clusters(&chain, 4, 0.0), [0, 0, 2, 2]);
        let whole = [
            chain.to_vec(),
            vec![pair(0, 2, 1.0), pair(1, 3, 1.0), pair(0, 3, -3.0)],
        ]
        .concat();
        assert_eq!(clusters(&whole, 4, 0.0), [0; 4]);
    }

    #[test]
    fn larger_clusters_are_spared_the_prior() {
        let pairs = [
            pair(0, 1, 5.0),
            pair(2, 3, 5.0),
            pair(1, 2, 1.0),
            pair(0, 2, -1.5),
            pair(0, 3, -1.5),
            pair(1, 3, -1.5),
        ];
        assert_eq!(clusters(&pairs, 4, 0.0), [0, 0, 2, 2]);
        assert_eq!(clusters(&pairs, 4, -10.0), [0; 4]);
    }

    /// Average link by its definition: the best pair of two clusters whose mean over all pairs is positive.
    fn slow(pairs: &[Scored], records: usize) -> Vec<u32> {
        let mut first: Vec<u32> = (0..number(records)).collect();
        let mut order: Vec<&Scored> = pairs.iter().filter(|pair| pair.log_odds > 0.0).collect();
        order.sort_by(|x, y| {
            y.log_odds
                .total_cmp(&x.log_odds)
                .then(x.records.cmp(&y.records))
        });
        for pair in order {
            let [a, b] = pair.records.map(|record| first[record as usize]);
            let members = |entity: u32| {
                (0..records)
                    .filter(|record| first[*record] == entity)
                    .collect::<Vec<_>>()
            };
            let (members_a, members_b) = (members(a), members(b));
            let mut sum = 0.0;
            for x in &members_a {
                for y in &members_b {
                    let rows = [number(*x.min(y)), number(*x.max(y))];
                    let known = pairs.iter().find(|pair| pair.records == rows);
                    sum += known.map_or(NO_CANDIDATE, |pair| pair.log_odds.clamp(-CLIP, CLIP));
                }
            }
            if a != b && sum > 1e-9 {
                let least = a.min(b);
                first
                    .iter_mut()
                    .filter(|first| **first == a || **first == b)
                    .for_each(|first| *first = least);
            }
        }
        first
    }

    #[test]
    fn entities_are_those_of_the_definition() {
        for seed in 0..60_u64 {
            let records = 12;
            let mut pairs = Vec::new();
            for a in 0..records {
                for b in a + 1..records {
                    let random = fmix64(seed << 32 | u64::from(a * 100 + b));
                    if random.is_multiple_of(3) {
                        pairs.push(pair(a, b, ((random >> 20) % 33) as f64 / 2.0 - 7.3));
                    }
                }
            }
            assert_eq!(
                clusters(&pairs, records as usize, 0.0),
                slow(&pairs, records as usize),
                "{seed}"
            );
        }
    }
}
