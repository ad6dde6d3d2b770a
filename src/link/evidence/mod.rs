//! The decision for one file, by evidence that fields give together and without labels (Fellegi and Sunter, 1969, as a mixture).
//!
//! ```text
//! values      clean the values, find the kind of each field, set copies of other fields aside
//! candidates  pairs of records that share a value, a word or two values
//! levels      how alike both values of a field are: equal, close, near, far, other, crosswise
//! rates       how often that happens by chance (u): each value counts once per entity
//! patterns    pairs with equal levels, as one with a count
//! mixture     which sets of fields pairs share: the same thing shares all; chance is fixed
//! clusters    two clusters join if all pairs between them together are more likely the same than not
//! stated      how many of the pairs within entities are expected to be right
//! ```
//!
//! 1. Pairs of different things agree by chance, or because they share something: members of a household share street and phone.
//! 2. Each set of fields that pairs may share is a class of its own, so that no household is taken for one person.
//! 3. Chance is not learned: its rates follow from the values, and its number of pairs is known.
//! 4. A class counts as far as there are more pairs than chance and the other classes explain.
//! 5. A class that lacks fewer than two strong fields is the same thing with errors, unless a field that differs is doubted.
//! 6. A field is strong if equality by chance is rare: five bits.
//! 7. Strong fields of the same thing must agree in half of the pairs, the leading text in 85 %; else the pairs are related things.
//! 8. Entities form from the best pair on, and two join only if the pairs between them, taken together, speak for it.
//! 9. The rates are counted again with each value once per entity, three times in all.
//! 10. What is stated follows from the odds of all pairs within entities; without enough evidence, nothing is stated.

pub(crate) mod values;

mod candidates;

mod levels;

mod rates;

mod patterns;

mod mixture;

mod clusters;

mod stated;

use crate::pipeline::Mixed;
use crate::scheme::fmix64;

use self::clusters::{Clusters, Scored};
use self::levels::{Levels, crossed};
use self::mixture::{Mixture, Setting};
use self::patterns::{MOST_FIELDS, Patterns};
use self::rates::{Rates, Things};
use self::stated::{Expected, pairs_of};
use self::values::{Fields, Kind, number};

/// Rounds in which rates are counted with the entities of the round before.
const ROUNDS: usize = 3;

/// Random pairs from which the rates of levels are counted, at most.
const RANDOM_PAIRS: usize = 400_000;

/// As how many records one with many copies counts: else the copies of one record would decide for all.
const MOST_COPIES: u32 = 8;

/// A strong field that agrees in less than this share of the pairs of the same thing is doubted.
const DOUBTED: f64 = 0.35;

/// Such pairs must have the field, at least.
const DOUBTED_PAIRS: f64 = 3.0;

/// A doubted number whose levels are this near to those of chance is noise.
const NOISE_BITS: f64 = 0.15;

/// What the evidence says.
#[derive(Debug)]
pub(crate) struct Evidence {
    pub(crate) fields: Fields,
    /// Fields that were set aside as noise, by their places among the compared ones.
    pub(crate) noise: Vec<usize>,
    /// By used field.
    pub(crate) rates: Vec<Rates>,
    pub(crate) mixture: Option<Mixture>,
    pub(crate) doubted: Vec<bool>,
    /// The pairs of different records, with their log odds.
    pub(crate) pairs: Vec<Scored>,
    pub(crate) clusters: Clusters,
    /// For records with copies: whether their equality is evidence.
    pub(crate) equality: Vec<(u32, f64)>,
    pub(crate) expected: Expected,
}

/// Decides which of the distinct records are one thing; `copies` counts the equal ones of each.
pub(crate) fn decide(fields: Fields, copies: &[u32]) -> Evidence {
    let records = copies.len();
    let sizes: Vec<u32> = copies.iter().map(|copies| (*copies).min(MOST_COPIES)).collect();
    let mut evidence = Evidence {
        doubted: vec![false; fields.used.len()],
        fields,
        noise: Vec::new(),
        rates: Vec::new(),
        mixture: None,
        pairs: Vec::new(),
        clusters: Clusters {
            first: (0..number(records)).collect(),
            joining: Vec::new(),
        },
        equality: Vec::new(),
        expected: Expected::default(),
    };
    evidence.fields.keep(MOST_FIELDS);
    evidence.doubted.truncate(evidence.fields.used.len());
    let mut compared = Compared::of(&evidence.fields, &sizes);
    if evidence.fields.used.is_empty() || compared.pairs.is_empty() {
        return evidence;
    }
    let mut rounds = 0..ROUNDS;
    while rounds.next().is_some() {
        evidence.round(&compared, &sizes);
        if let Some(noise) = evidence.find_noise() {
            evidence.set_aside(noise, &mut compared);
            rounds = 0..rounds.end - rounds.start + 1;
        }
    }
    evidence.expected = Expected::of(&evidence.pairs, &evidence.clusters.first, &sizes);
    evidence
}

/// The pairs that are compared, and the levels of their fields.
struct Compared {
    /// Candidates, then each record with copies as a pair of equal ones.
    pairs: Vec<[u32; 2]>,
    /// How many pairs each stands for, copies included.
    weights: Vec<f64>,
    /// How many of them are of different records, and the weights of those without copies.
    different: Vec<f64>,
    levels: Levels,
    /// Fields whose values stand crosswise: that have the level.
    crossed: Vec<bool>,
    random: Vec<[u32; 2]>,
    of_random: Levels,
    /// The records of the largest block that was taken.
    largest: usize,
}

impl Compared {
    fn of(fields: &Fields, sizes: &[u32]) -> Self {
        let used = &fields.used;
        let found = candidates::find(used, sizes.len());
        let crossed = crossed(used);
        let mut pairs: Vec<[u32; 2]> = found.pairs.iter().map(|pair| pair.records).collect();
        let different: Vec<f64> = found.pairs.iter().map(|pair| f64::from(pair.weight)).collect();
        let of_copies = |[a, b]: &[u32; 2]| f64::from(sizes[*a as usize] * sizes[*b as usize]);
        let mut weights: Vec<f64> = pairs.iter().zip(&different).map(|(pair, weight)| weight * of_copies(pair)).collect();
        for (record, copies) in (0..).zip(sizes).filter(|(_, copies)| **copies > 1) {
            pairs.push([record; 2]);
            weights.push(pairs_of(*copies));
        }
        let random = random_pairs(sizes.len());
        Compared {
            levels: Levels::of(used, &crossed, &pairs),
            of_random: Levels::of(used, &crossed, &random),
            crossed: (0..used.len()).map(|field| crossed.iter().any(|places| places[0] == field)).collect(),
            pairs,
            weights,
            different,
            random,
            largest: found.largest,
        }
    }
}

/// Random pairs of different records; all of them, if they are few.
fn random_pairs(records: usize) -> Vec<[u32; 2]> {
    let all = records * records.saturating_sub(1) / 2;
    if all <= RANDOM_PAIRS {
        let rows = 0..number(records);
        return rows.clone().flat_map(|a| (a + 1..rows.end).map(move |b| [a, b])).collect();
    }
    let random = |seed: u64| {
        let record = fmix64(seed | 1 << 50) % records as u64;
        #[allow(clippy::cast_possible_truncation, reason = "less than the records")]
        let record = record as u32;
        record
    };
    let pairs = (0..RANDOM_PAIRS as u64).map(|seed| [random(2 * seed), random(2 * seed + 1)]);
    pairs.filter(|[a, b]| a != b).collect()
}

impl Evidence {
    /// One round: rates with the entities of the round before, the mixture, and new entities.
    fn round(&mut self, compared: &Compared, sizes: &[u32]) {
        let used = &self.fields.used;
        let mut times = sizes.to_vec();
        for (record, _) in self.equality.iter().filter(|(_, log_odds)| *log_odds > 0.0) {
            times[*record as usize] = 1;
        }
        let things = Things {
            entity: &self.clusters.first,
            times: &times,
        };
        let is_different = |[a, b]: &[u32; 2]| things.entity[*a as usize] != things.entity[*b as usize];
        let different: Vec<bool> = compared.random.iter().map(is_different).collect();
        let rates = used.iter().enumerate().map(|(column, field)| {
            let sampled = (&compared.of_random, column, &*different);
            Rates::of(field, &things, sampled, compared.crossed[column], compared.largest)
        });
        self.rates = rates.collect();
        let patterns = Patterns::of(used, &self.rates, &compared.levels, (&compared.pairs, &compared.weights));
        let setting = Setting {
            fields: used,
            rates: &self.rates,
            crossed: &compared.crossed,
            doubted: &self.doubted,
            records: sizes.iter().map(|copies| f64::from(*copies)).sum(),
        };
        let mixture = Mixture::learn(&setting, &patterns, self.mixture.as_ref());
        let of_pattern = mixture.log_odds(&setting, &patterns);
        let log_odds = |place: usize| of_pattern[patterns.of_pair[place] as usize];
        let scored = compared.different.iter().enumerate().map(|(place, weight)| Scored {
            records: compared.pairs[place],
            log_odds: log_odds(place),
            weight: *weight,
        });
        self.pairs = scored.collect();
        let equal = self.pairs.len()..compared.pairs.len();
        self.equality = equal.map(|place| (compared.pairs[place][0], log_odds(place))).collect();
        let log_prior = mixture.shares[mixture.same()].max(1e-12).ln();
        self.clusters = Clusters::of(&self.pairs, sizes, log_prior);
        self.doubt(&mixture);
        self.mixture = Some(mixture);
    }

    /// Doubts strong fields that mostly differ where all others agree.
    fn doubt(&mut self, mixture: &Mixture) {
        for (field, _) in strong(mixture) {
            let learned = &mixture.learned[field];
            if learned.agrees < DOUBTED && learned.pairs >= DOUBTED_PAIRS {
                self.doubted[field] = true;
            }
        }
    }

    /// A number that never agrees beyond chance, and not even nearly, where two other strong fields agree.
    fn find_noise(&self) -> Option<usize> {
        let mixture = self.mixture.as_ref()?;
        let good = strong(mixture).filter(|(_, learned)| learned.agrees >= 0.5).count();
        let is_noise = |field: &usize| {
            let learned = &mixture.learned[*field];
            let others_doubted = (0..self.doubted.len()).any(|other| other != *field && self.doubted[other]);
            self.fields.used[*field].kind == Kind::Code
                && learned.pairs >= DOUBTED_PAIRS
                && learned.agrees < DOUBTED
                && learned.divergence < NOISE_BITS
                && self.rates[*field].bits > 1.0
                && !others_doubted
        };
        (0..self.fields.used.len()).find(is_noise).filter(|_| good >= 2)
    }

    /// Takes a field out, and begins again without what was learned of it.
    fn set_aside(&mut self, field: usize, compared: &mut Compared) {
        self.noise.push(self.fields.used.remove(field).place);
        self.doubted.remove(field);
        if let Some(mixture) = &mut self.mixture {
            mixture.learned.remove(field);
        }
        compared.crossed.remove(field);
        compared.levels.remove(field);
        compared.of_random.remove(field);
    }

    /// The first record of the entity of each record.
    pub(crate) fn entities(&self) -> &[u32] {
        &self.clusters.first
    }
}

/// The strong fields, and what is learned of them.
fn strong(mixture: &Mixture) -> impl Iterator<Item = (usize, &mixture::Learned)> {
    let lattice = mixture.lattice.iter().zip(&mixture.strong);
    lattice.filter(|(_, is_strong)| **is_strong).map(|(field, _)| (*field, &mixture.learned[*field]))
}

impl Evidence {
    pub(crate) fn summary(&self, names: &[&str], verbose: bool) -> String {
        let Some(m) = &self.mixture else { return "no mixture".into() };
        let name = |f: usize| names[self.fields.used[f].place];
        let mut s = format!("strong {:?} doubted {:?} noise {:?} equal {}/{}", strong(m).map(|(f, _)| name(f)).collect::<Vec<_>>(), (0..self.doubted.len()).filter(|f| self.doubted[*f]).map(name).collect::<Vec<_>>(), self.noise, self.equality.iter().filter(|x| x.1 > 0.).count(), self.equality.len());
        if verbose {
            for f in 0..self.fields.used.len() {
                let field = &self.fields.used[f];
                s += &format!("\n    {:16} {:?} bits {:.1} missing {:.2} same {:.3?} u {:.5} {:.5?} agrees {:.2}", name(f), field.kind, self.rates[f].bits, field.missing, m.learned[f].same, self.rates[f].equal(), &self.rates[f].u[20..], m.learned[f].agrees);
            }
            let mut cl: Vec<(usize, f64)> = m.shares.iter().copied().enumerate().skip(1).collect();
            cl.sort_by(|a, b| b.1.total_cmp(&a.1));
            for (c, sh) in cl.iter().take(8) {
                s += &format!("\n    class {:?} {:.0}", (0..m.lattice.len()).filter(|i| c >> i & 1 == 1).map(|i| name(m.lattice[i])).collect::<Vec<_>>(), sh * m.all_pairs);
            }
            s += &format!("\n unused {:?}", self.fields.unused);
        }
        s
    }
}
