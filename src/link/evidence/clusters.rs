//! Entities by average link: two clusters join if the evidence of all pairs between them, taken together, is positive.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use rayon::prelude::*;

use super::Mixed;
use super::values::number;

/// Log odds of a pair count up to this far either way, so that no pair decides alone.
const CLIP: f64 = 6.0;

/// The log odds of a pair that is no candidate.
const NO_CANDIDATE: f64 = -4.0;

/// How much of the prior of one pair two larger clusters are spared: it should count once, not once per pair.
const SPARED: f64 = 0.25;

/// A pair of records with its natural log odds, and how many pairs it stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scored {
    pub(crate) records: [u32; 2],
    pub(crate) log_odds: f64,
    pub(crate) weight: f64,
}

/// The evidence between two clusters: the sum of log odds, and how many pairs it is of.
#[derive(Clone, Copy, Debug, Default)]
struct Evidence {
    sum: f64,
    pairs: f64,
}

impl Evidence {
    fn add(&mut self, other: Evidence) {
        self.sum += other.sum;
        self.pairs += other.pairs;
    }

    /// The mean over `all` pairs, of which the others are no candidates.
    fn mean(self, all: f64) -> f64 {
        match self.pairs > all {
            true => self.sum / self.pairs,
            false => (self.sum + NO_CANDIDATE * (all - self.pairs)) / all,
        }
    }
}

/// The first record of the entity of each record, and the pairs that joined two clusters, by their places.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Clusters {
    pub(crate) first: Vec<u32>,
    pub(crate) joining: Vec<usize>,
}

impl Clusters {
    /// Joins records, the pairs with the highest odds first. `sizes` counts the copies of each record, and `log_prior` is the
    /// natural logarithm of the share of all pairs that are of the same thing.
    pub(crate) fn of(pairs: &[Scored], sizes: &[u32], log_prior: f64) -> Self {
        let mut first: Vec<u32> = (0..).take(sizes.len()).collect();
        let root = components(pairs, sizes.len());
        let mut within: Vec<(u32, u32)> = (0..)
            .zip(pairs)
            .filter(|(_, pair)| root[pair.records[0] as usize] == root[pair.records[1] as usize])
            .map(|(place, pair)| (root[pair.records[0] as usize], place))
            .collect();
        within.par_sort_unstable();
        let components: Vec<&[(u32, u32)]> = within.chunk_by(|a, b| a.0 == b.0).collect();
        let joined: Vec<(Vec<(u32, u32)>, Vec<usize>)> = components
            .par_iter()
            .map(|component| {
                let places = component.iter().map(|(_, place)| *place as usize);
                Component::of(pairs, places.collect(), sizes).join(pairs, log_prior)
            })
            .collect();
        let mut joining = Vec::new();
        for (of_records, places) in joined {
            of_records.iter().for_each(|(record, of_entity)| first[*record as usize] = *of_entity);
            joining.extend(places);
        }
        Clusters { first, joining }
    }
}

/// For each record, the first one that it is connected to by pairs with positive odds.
fn components(pairs: &[Scored], records: usize) -> Vec<u32> {
    let mut parent: Vec<u32> = (0..).take(records).collect();
    for pair in pairs.iter().filter(|pair| pair.log_odds > 0.0) {
        let [a, b] = pair.records.map(|record| find(&mut parent, record));
        parent[a.max(b) as usize] = a.min(b);
    }
    (0..number(records)).map(|record| find(&mut parent, record)).collect()
}

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
    places: Vec<usize>,
    sizes: Vec<f64>,
    /// The evidence between each cluster and others.
    between: Vec<HashMap<u32, Evidence, BuildHasherDefault<Mixed>>>,
}

impl Component {
    fn of(pairs: &[Scored], places: Vec<usize>, sizes: &[u32]) -> Self {
        let mut records: Vec<u32> = places.iter().flat_map(|place| pairs[*place].records).collect();
        records.sort_unstable();
        records.dedup();
        let sizes: Vec<f64> = records.iter().map(|record| f64::from(sizes[*record as usize])).collect();
        let mut component = Component {
            between: vec![HashMap::default(); records.len()],
            records,
            places,
            sizes,
        };
        for place in &component.places {
            let pair = &pairs[*place];
            let [a, b] = pair.records.map(|record| component.number(record));
            let of_copies = pair.weight * component.sizes[a as usize] * component.sizes[b as usize];
            let evidence = Evidence {
                sum: pair.log_odds.clamp(-CLIP, CLIP) * of_copies,
                pairs: of_copies,
            };
            component.between[a as usize].entry(b).or_default().add(evidence);
            component.between[b as usize].entry(a).or_default().add(evidence);
        }
        component
    }

    /// The number of a record of this component.
    fn number(&self, record: u32) -> u32 {
        number(self.records.partition_point(|other| *other < record))
    }

    /// The entity of each record, and the places of the pairs that joined two.
    fn join(mut self, pairs: &[Scored], log_prior: f64) -> (Vec<(u32, u32)>, Vec<usize>) {
        let mut places = self.places.clone();
        places.retain(|place| pairs[*place].log_odds > 0.0);
        places.sort_unstable_by(|x, y| {
            let [x, y] = [x, y].map(|place| &pairs[*place]);
            y.log_odds.total_cmp(&x.log_odds).then(x.records.cmp(&y.records))
        });
        let mut parent: Vec<u32> = (0..).take(self.records.len()).collect();
        let mut joining = Vec::new();
        for place in places {
            let ends = pairs[place].records.map(|record| self.number(record));
            let [mut into, mut from] = ends.map(|end| find(&mut parent, end));
            if into == from || !self.may_join([into, from], log_prior) {
                continue;
            }
            if self.between[into as usize].len() < self.between[from as usize].len() {
                (into, from) = (from, into);
            }
            parent[from as usize] = into;
            self.merge(into, from);
            joining.push(place);
        }
        let mut first: HashMap<u32, u32> = HashMap::new();
        let mut entities = Vec::with_capacity(self.records.len());
        for (own, record) in (0..).zip(&self.records) {
            let root = find(&mut parent, own);
            // Records ascend, so that the first one of a cluster comes first.
            entities.push((*record, *first.entry(root).or_insert(*record)));
        }
        (entities, joining)
    }

    fn may_join(&self, [into, from]: [u32; 2], log_prior: f64) -> bool {
        let evidence = self.between[into as usize].get(&from).copied().unwrap_or_default();
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
            self.between[other as usize].entry(into).or_default().add(evidence);
            self.between[into as usize].entry(other).or_default().add(evidence);
        }
    }
}
