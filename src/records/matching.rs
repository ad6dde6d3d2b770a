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

/// Rounds of acceptance: the second round accepts what would be accepted without the pairs of the first one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rounds {
    /// The places of the accepted pairs in the list of candidates, by round.
    pub(crate) accepted: Vec<Vec<usize>>,
}

/// Accepts pairs in three rounds. `pairs` are in the order of acceptance. A matching of many to many accepts all pairs,
/// so its rounds are those of many to one.
pub(crate) fn rounds(pairs: &[Pair], rows: usize, matching: Matching) -> Rounds {
    const ROUNDS: usize = 3;
    let is_one_to_one = matching == Matching::OneToOne;
    let mut is_struck = vec![false; pairs.len()];
    let accepted = (0..ROUNDS).map(|_| {
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
    });
    Rounds {
        accepted: accepted.collect(),
    }
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
