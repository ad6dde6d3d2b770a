//! The mixture: how many pairs share which fields, and what the levels say, by expectation-maximisation.
//!
//! A class of pairs is a set S of fields that both records have from one source: members of a household share street and phone.
//! In class S, the fields of S are on levels as those of one thing are (m), all others as by chance (u). Only the class of all
//! fields is the same thing. Chance, the class of no field, is fixed at its expected number of pairs, so it need not be learned;
//! each other class has as many pairs as explain what chance does not.

use rayon::prelude::*;

use super::kinds::Kind;
use super::levels::{CLOSE, CROSSWISE, LEVELS, NEAR, NONE};
use super::patterns::Patterns;
use super::rates::Rates;
use super::seen::{AGREES, AllBut, Seen, agreement, in_six};
use super::values::Field;

/// Fields of which classes share subsets, at most.
pub(crate) const LATTICE: usize = 8;

/// Rounds of expectation-maximisation, at most and at least.
const ROUNDS: usize = 40;
const LEAST_ROUNDS: usize = 16;

/// Rounds before related texts, and before the levels of the same thing, are learned.
const TEXTS_FROM: usize = 4;
const LEVELS_FROM: usize = 8;

/// A change of all classes by less than this share of the pairs of the same thing is none.
const NO_CHANGE: f64 = 3e-3;

/// What is believed of the levels of the same thing before any pair is seen, as so many pairs: equal, close, near, far, other.
const BELIEVED: [f64; 6] = [0.75, 0.1, 0.05, 0.05, 0.05, 0.02];
const BELIEVED_PAIRS: f64 = 20.0;

/// The levels of the same thing in the first rounds.
const FIRST: [f64; 6] = [0.8, 0.1, 0.04, 0.03, 0.03, 0.0];

/// Texts of related things: near, far, other.
const RELATED: [f64; 3] = [0.1, 0.3, 0.6];

/// Strong fields of the same thing agree in at least this share of the pairs; the leading text in more.
const LEAST_AGREEMENT: f64 = 0.5;
const LEAST_OF_TEXT: f64 = 0.85;

/// Bits of a field that is strong, at least; and the greatest share of records that lack it.
const STRONG_BITS: f64 = 5.0;
const STRONG_MISSING: f64 = 0.7;

/// Strong fields that a class of related things lacks, at least.
const LACKING: usize = 2;

/// Patterns that a thread takes at a time. Sums are added up by chunks, so that they do not depend on threads.
const CHUNK: usize = 512;

const CLOSE_AT: usize = CLOSE as usize;

/// The fields and what a pair of different things has, in one round.
#[derive(Debug)]
pub(crate) struct Setting<'a> {
    pub(crate) fields: &'a [Field],
    pub(crate) rates: &'a [Rates],
    /// Whether values of the field may stand crosswise, and it has that level.
    pub(crate) crossed: &'a [bool],
    /// Whether the field mostly differs where all others agree.
    pub(crate) doubted: &'a [bool],
    /// The number of records.
    pub(crate) records: f64,
}

/// What is learned of a field.
#[derive(Clone, Debug)]
pub(crate) struct Learned {
    /// The shares of the pairs of the same thing that have it on the levels equal, close, near, far, other and crosswise.
    pub(crate) same: [f64; 6],
    /// For a text, the shares of related things: close, near, far, other.
    pub(crate) related: Option<[f64; 4]>,
    /// What is seen of it in pairs of the same thing.
    pub(crate) seen: Seen,
}

/// A mixture that was learned.
#[derive(Clone, Debug)]
pub(crate) struct Mixture {
    /// The fields of which classes share subsets, by descending worth: bit i of a class is field `lattice[i]`.
    pub(crate) lattice: Vec<usize>,
    /// The other fields.
    pub(crate) weak: Vec<usize>,
    /// For each field of the lattice, whether it is strong.
    pub(crate) strong: Vec<bool>,
    /// The share of all pairs that are of each class, 0 for those that are left out; 1 for chance.
    pub(crate) shares: Vec<f64>,
    /// By field.
    pub(crate) learned: Vec<Learned>,
    /// The number of pairs of records.
    pub(crate) all_pairs: f64,
    leading_text: Option<usize>,
    /// What is seen where one strong field is lacking that may be, since it is doubted or the leading text.
    all_but: Vec<AllBut>,
}

impl Mixture {
    /// Learns from the patterns. `same` are the levels of the same thing by field, from a round before.
    pub(crate) fn learn(
        setting: &Setting<'_>,
        patterns: &Patterns,
        before: Option<&Mixture>,
    ) -> Self {
        let mut mixture = Mixture::start(setting, patterns, before);
        for round in 0..ROUNDS {
            let weights = Weights::new(&mixture, setting);
            let sums = mixture.expect(&weights, patterns);
            let change = mixture.maximise(&sums, setting, round);
            if round + 1 >= LEAST_ROUNDS && change < NO_CHANGE {
                break;
            }
        }
        mixture
    }

    fn start(setting: &Setting<'_>, patterns: &Patterns, before: Option<&Mixture>) -> Self {
        let Setting { fields, rates, .. } = *setting;
        let mut order: Vec<usize> = (0..fields.len()).collect();
        let worth = |field: usize| rates[field].worth(&fields[field]);
        order.sort_by(|a, b| worth(*b).total_cmp(&worth(*a)).then(a.cmp(b)));
        let weak = order.split_off(order.len().min(LATTICE));
        let least_bits = STRONG_BITS.min(setting.records.log2() - 2.0);
        let is_strong = |field: &usize| {
            rates[*field].bits >= least_bits && fields[*field].missing < STRONG_MISSING
        };
        let strong: Vec<bool> = order.iter().map(is_strong).collect();
        let mut texts = order.iter().zip(&strong);
        let leading_text =
            texts.position(|(field, is_strong)| *is_strong && fields[*field].kind == Kind::Text);
        let learned = (0..fields.len()).map(|field| Learned {
            same: before.map_or(FIRST, |before| before.learned[field].same),
            related: (fields[field].kind == Kind::Text && order.contains(&field))
                .then(|| related_at_first(&rates[field])),
            seen: Seen::default(),
        });
        let mut mixture = Mixture {
            learned: learned.collect(),
            shares: Vec::new(),
            lattice: order,
            weak,
            strong,
            all_pairs: setting.records * (setting.records - 1.0) / 2.0,
            leading_text,
            all_but: Vec::new(),
        };
        let allowed: Vec<bool> = (0..mixture.classes())
            .map(|class| mixture.is_kept(class, setting.doubted))
            .collect();
        let kept = allowed.iter().filter(|is_kept| **is_kept).count() as f64;
        mixture.shares = allowed
            .iter()
            .map(|is_kept| if *is_kept { 1e-3 / kept } else { 0.0 })
            .collect();
        let covered = patterns.counts.iter().zip(&patterns.is_covered);
        let covered: f64 = covered
            .filter(|(_, is_covered)| **is_covered)
            .map(|(count, _)| count)
            .sum();
        let same = mixture.same();
        mixture.shares[same] = (0.3 * covered / mixture.all_pairs + 1e-9).min(0.1);
        mixture.shares[0] = 1.0;
        let strong = (0..mixture.lattice.len()).filter(|place| mixture.strong[*place]);
        let alone = strong.filter(|place| mixture.shares[same ^ 1 << place] > 0.0);
        let all_but = alone.map(|place| AllBut {
            lacks: mixture.lattice[place],
            seen: Vec::new(),
        });
        mixture.all_but = all_but.collect();
        mixture
    }

    /// The strong fields, and what is learned of them.
    pub(crate) fn strong_fields(&self) -> impl Iterator<Item = (usize, &Learned)> {
        let lattice = self.lattice.iter().zip(&self.strong);
        let strong = lattice.filter(|(_, is_strong)| **is_strong);
        strong.map(|(field, _)| (*field, &self.learned[*field]))
    }

    /// The place of a field in the lattice, if it is strong.
    fn strong_place(&self, field: usize) -> Option<usize> {
        let place = self.lattice.iter().position(|other| *other == field)?;
        self.strong[place].then_some(place)
    }

    /// Whether a field is the strong text with the most bits.
    pub(crate) fn is_leading(&self, field: usize) -> bool {
        let place = self.strong_place(field);
        place.is_some() && place == self.leading_text
    }

    /// What is seen of a field in pairs of the same thing, and in those that lack only the field `lacks`.
    pub(crate) fn seen_without(&self, lacks: usize, field: usize) -> Seen {
        let all_but = self.all_but.iter().find(|all_but| all_but.lacks == lacks);
        all_but.map_or(self.learned[field].seen, |all_but| all_but.seen[field])
    }

    /// The number of pairs that share all fields, or lack no other than this one; `None` if it is not strong.
    pub(crate) fn pairs_without(&self, field: usize) -> Option<f64> {
        let class = self.same() ^ 1 << self.strong_place(field)?;
        Some((self.shares[class] + self.shares[self.same()]) * self.all_pairs)
    }

    /// The most pairs that lack a field and one other strong one.
    pub(crate) fn most_without_two(&self, field: usize) -> f64 {
        let Some(lacking) = self.strong_place(field) else {
            return 0.0;
        };
        let others =
            (0..self.lattice.len()).filter(|place| self.strong[*place] && *place != lacking);
        let shares = others.map(|other| self.shares[self.same() ^ 1 << lacking ^ 1 << other]);
        shares.fold(0.0, f64::max) * self.all_pairs
    }

    pub(crate) fn classes(&self) -> usize {
        1 << self.lattice.len()
    }

    /// The class of the same thing.
    pub(crate) fn same(&self) -> usize {
        self.classes() - 1
    }

    /// Whether a class can be told from the same thing: it lacks two strong fields, a field that is doubted, or the leading text.
    fn is_kept(&self, class: usize, doubted: &[bool]) -> bool {
        if class == 0 || class == self.same() {
            return true;
        }
        let lacks = |place: usize| class >> place & 1 == 0;
        let strong = (0..self.lattice.len()).filter(|place| self.strong[*place]);
        let all_strong = strong.clone().count();
        let lacking = strong.filter(|place| lacks(*place)).count();
        let is_doubted =
            (0..self.lattice.len()).any(|place| lacks(place) && doubted[self.lattice[place]]);
        lacking >= LACKING.min(all_strong.max(1))
            || is_doubted
            || self.leading_text.is_some_and(lacks)
    }

    /// Sums over all patterns, weighted by the classes' shares of each.
    fn expect(&self, weights: &Weights, patterns: &Patterns) -> Sums {
        let numbers: Vec<usize> = (0..patterns.len())
            .filter(|pattern| patterns.is_covered[*pattern])
            .collect();
        let zero = || Sums::new(self);
        let parts: Vec<Sums> = numbers
            .par_chunks(CHUNK)
            .map(|chunk| {
                let mut sums = zero();
                let mut likelihoods = vec![0.0; self.classes()];
                for pattern in chunk {
                    let levels = patterns.levels(*pattern);
                    weights.likelihoods(self, levels, &mut likelihoods);
                    sums.add(self, levels, patterns.counts[*pattern], &mut likelihoods);
                }
                sums
            })
            .collect();
        let mut all = zero();
        parts.iter().for_each(|part| all.merge(part));
        all
    }

    /// Takes new shares and levels from the sums; returns how much the shares changed.
    fn maximise(&mut self, sums: &Sums, setting: &Setting<'_>, round: usize) -> f64 {
        let covered = self.covered(setting);
        let same = self.same();
        let mut change = 0.0_f64;
        let mut shares = self.shares.clone();
        for (class, share) in shares
            .iter_mut()
            .enumerate()
            .skip(1)
            .filter(|(_, share)| **share > 0.0)
        {
            // A class whose share sinks to nothing stays possible.
            *share = (sums.likelihoods[class] / (self.all_pairs * covered[class])).max(1e-300);
            change = change.max((*share - self.shares[class]).abs());
        }
        self.shares = shares;
        for (all_but, sums) in self.all_but.iter_mut().zip(&sums.all_but) {
            let fields = sums.iter().zip(setting.rates);
            all_but.seen = fields
                .map(|(levels, rates)| Seen::count(levels, rates))
                .collect();
        }
        for field in 0..self.learned.len() {
            self.learn_levels(field, sums, setting, round);
        }
        change / self.shares[same].max(1e-12)
    }

    fn learn_levels(&mut self, field: usize, sums: &Sums, setting: &Setting<'_>, round: usize) {
        let rates = &setting.rates[field];
        let is_crossed = f64::from(setting.crossed[field]);
        let place = self.lattice.iter().position(|other| *other == field);
        let is_strong = place.is_some_and(|place| self.strong[place]);
        let is_leading = place.is_some() && place == self.leading_text;
        let learned = &mut self.learned[field];
        if let (Some(related), true) = (&mut learned.related, round >= TEXTS_FROM) {
            let counts = &sums.related[field][CLOSE_AT..];
            let first = related_at_first(rates);
            *related = std::array::from_fn(|level| counts[level] + BELIEVED_PAIRS * first[level]);
        }
        let seen = in_six(&sums.same[field]);
        learned.seen = Seen::count(&sums.same[field], rates);
        if round < LEVELS_FROM {
            return;
        }
        let mut believed = BELIEVED;
        believed[5] *= is_crossed;
        let all: f64 = believed.iter().sum();
        let mut same: [f64; 6] =
            std::array::from_fn(|level| seen[level] + BELIEVED_PAIRS * believed[level] / all);
        let all: f64 = same.iter().sum();
        same.iter_mut().for_each(|share| *share /= all);
        let least = if is_leading {
            LEAST_OF_TEXT
        } else {
            LEAST_AGREEMENT
        };
        let agrees = agreement(&same);
        if is_strong && agrees < least {
            for (level, share) in same.iter_mut().enumerate() {
                *share *= if AGREES[level] {
                    least / agrees.max(1e-9)
                } else {
                    (1.0 - least) / (1.0 - agrees).max(1e-9)
                };
            }
        }
        learned.same = same;
    }

    /// For each class, the probability that a pair of it is covered: has an equal value that is rare, two equal values, or a text
    /// that is close or near.
    fn covered(&self, setting: &Setting<'_>) -> Vec<f64> {
        let covering = |field: usize, is_same: bool| {
            let rates = &setting.rates[field];
            let shares = if is_same {
                self.same_by_level(field, rates)
            } else {
                rates.u
            };
            let (mut sure, mut other) = (0.0, 0.0);
            for (share, is_sure) in shares.iter().zip(&rates.is_sure).skip(1) {
                if *is_sure {
                    sure += share;
                } else {
                    other += share;
                }
            }
            if setting.fields[field].kind == Kind::Text {
                sure += shares[CLOSE_AT] + shares[usize::from(NEAR)];
            }
            [sure, other].map(|share| (1.0 - rates.missing) * share)
        };
        let both: Vec<[[f64; 2]; 2]> = (0..self.learned.len())
            .map(|field| [false, true].map(|is_same| covering(field, is_same)))
            .collect();
        let classes = 0..self.classes();
        classes
            .map(|class| {
                let (mut none, mut one) = (1.0, 0.0);
                let mut add = |[sure, other]: [f64; 2]| {
                    one = one * (1.0 - sure - other) + none * other;
                    none *= 1.0 - sure - other;
                };
                for (place, field) in self.lattice.iter().enumerate() {
                    add(both[*field][class >> place & 1]);
                }
                for field in &self.weak {
                    let [chance, same] = both[*field];
                    add(match class {
                        0 => chance,
                        class if class == self.same() => same,
                        _ => [0, 1].map(|at| f64::midpoint(chance[at], same[at])),
                    });
                }
                (1.0 - none - one).max(1e-12)
            })
            .collect()
    }

    /// The shares of the pairs of the same thing by level, equal values split by rarity.
    pub(crate) fn same_by_level(&self, field: usize, rates: &Rates) -> [f64; LEVELS] {
        let same = &self.learned[field].same;
        std::array::from_fn(|level| match level {
            0 => 0.0,
            level if level < CLOSE_AT => same[0] * rates.rarity_shares[level],
            level => same[1 + level - CLOSE_AT],
        })
    }

    /// The natural logarithm of the odds that a pair of each pattern is of the same thing.
    pub(crate) fn log_odds(&self, weights: &Weights, patterns: &Patterns) -> Vec<f64> {
        let odds = (0..patterns.len()).into_par_iter().map_init(
            || vec![0.0; self.classes()],
            |likelihoods, pattern| weights.log_odds(self, patterns.levels(pattern), likelihoods),
        );
        odds.collect()
    }
}

fn related_at_first(rates: &Rates) -> [f64; 4] {
    let [near, far, other] = RELATED;
    [rates.u[CLOSE_AT].max(0.005), near, far, other]
}

/// What each level of each field multiplies the odds against chance by.
#[derive(Clone, Debug)]
pub(crate) struct Weights {
    /// In a class that shares the field.
    pub(crate) shared: Vec<[f64; LEVELS]>,
    /// In a class that shares other fields only: not 1 for texts of related things.
    pub(crate) related: Vec<[f64; LEVELS]>,
}

impl Weights {
    pub(crate) fn new(mixture: &Mixture, setting: &Setting<'_>) -> Self {
        let weights_of = |field: usize| {
            let rates = &setting.rates[field];
            let same = mixture.same_by_level(field, rates);
            let related = mixture.learned[field]
                .related
                .map(|related| related_by_level(&related, rates));
            let ratio = |share: f64, level: usize| share.max(1e-9) / rates.u[level].max(1e-12);
            let missing = usize::from(NONE);
            let shared = std::array::from_fn(|level| match level {
                level if level == missing => 1.0,
                level => ratio(same[level], level),
            });
            let related = std::array::from_fn(|level| match &related {
                Some(related) if level >= CLOSE_AT => ratio(related[level], level),
                _ => 1.0,
            });
            (shared, related)
        };
        let (shared, related) = (0..mixture.learned.len()).map(weights_of).unzip();
        Weights { shared, related }
    }

    /// The natural logarithm of the odds that a pair on these levels is of the same thing. `likelihoods` has a place per class.
    pub(crate) fn log_odds(
        &self,
        mixture: &Mixture,
        levels: &[u8],
        likelihoods: &mut [f64],
    ) -> f64 {
        self.likelihoods(mixture, levels, likelihoods);
        let same = mixture.same();
        let others = sum(&likelihoods[..same]);
        likelihoods[same].max(1e-300).ln() - others.ln()
    }

    /// The likelihood of each class, times its share, in relation to chance.
    fn likelihoods(&self, mixture: &Mixture, levels: &[u8], likelihoods: &mut [f64]) {
        likelihoods[0] = 1.0;
        for (place, field) in mixture.lattice.iter().enumerate() {
            let level = usize::from(levels[*field]);
            let (without, with) = likelihoods.split_at_mut(1 << place);
            let (shared, related) = (self.shared[*field][level], self.related[*field][level]);
            for (with, without) in with.iter_mut().zip(without) {
                *with = *without * shared;
                *without *= related;
            }
        }
        let (mut half, mut whole) = (1.0, 1.0);
        for field in &mixture.weak {
            let shared = self.shared[*field][usize::from(levels[*field])];
            half *= f64::midpoint(shared, 1.0);
            whole *= shared;
        }
        let same = mixture.same();
        likelihoods[same] *= whole / half;
        for (likelihood, share) in likelihoods.iter_mut().zip(&mixture.shares) {
            *likelihood *= half * share;
        }
        likelihoods[0] = 1.0;
    }
}

/// The shares of related texts by level: equal ones as by chance.
fn related_by_level(related: &[f64; 4], rates: &Rates) -> [f64; LEVELS] {
    let all: f64 = related.iter().sum();
    let unequal = 1.0 - rates.equal();
    std::array::from_fn(|level| match level {
        level if level < CLOSE_AT => rates.u[level],
        level if level == usize::from(CROSSWISE) => 0.0,
        level => related[level - CLOSE_AT] / all * unequal,
    })
}

/// The sum, in eight parts side by side: a sum one after the other waits for each addition.
fn sum(values: &[f64]) -> f64 {
    let mut parts = [0.0; 8];
    let chunks = values.chunks_exact(parts.len());
    let rest: f64 = chunks.remainder().iter().sum();
    for chunk in chunks {
        parts
            .iter_mut()
            .zip(chunk)
            .for_each(|(part, value)| *part += value);
    }
    rest + parts.iter().sum::<f64>()
}

/// Sums of the expectation step.
struct Sums {
    likelihoods: Vec<f64>,
    /// By field and level, over pairs of the same thing.
    same: Vec<[f64; LEVELS]>,
    /// The same, with pairs that lack one field only, for each of [`Mixture::all_but`].
    all_but: Vec<Vec<[f64; LEVELS]>>,
    /// By field and level, over pairs that share other fields only.
    related: Vec<[f64; LEVELS]>,
}

impl Sums {
    fn new(mixture: &Mixture) -> Self {
        let field_sums = vec![[0.0; LEVELS]; mixture.learned.len()];
        Sums {
            likelihoods: vec![0.0; mixture.classes()],
            all_but: vec![field_sums.clone(); mixture.all_but.len()],
            same: field_sums.clone(),
            related: field_sums,
        }
    }

    /// Adds so many pairs of a pattern, whose likelihoods are given.
    fn add(&mut self, mixture: &Mixture, levels: &[u8], count: f64, likelihoods: &mut [f64]) {
        let scale = count / sum(likelihoods);
        for (sum, likelihood) in self.likelihoods.iter_mut().zip(likelihoods.iter_mut()) {
            *likelihood *= scale;
            *sum += *likelihood;
        }
        let same = likelihoods[mixture.same()];
        add_levels(&mut self.same, levels, same);
        for (all_but, sums) in mixture.all_but.iter().zip(&mut self.all_but) {
            let lacking = mixture.strong_place(all_but.lacks);
            let lacking = lacking.map_or(0.0, |place| likelihoods[mixture.same() ^ 1 << place]);
            add_levels(sums, levels, same + lacking);
        }
        for (place, field) in mixture.lattice.iter().enumerate() {
            if mixture.learned[*field].related.is_some() {
                let without = likelihoods.chunks(1 << place).step_by(2);
                let sum: f64 = without.map(sum).sum();
                self.related[*field][usize::from(levels[*field])] += sum - likelihoods[0];
            }
        }
    }

    fn merge(&mut self, other: &Sums) {
        let add = |sums: &mut Vec<[f64; LEVELS]>, others: &[[f64; LEVELS]]| {
            for (sums, others) in sums.iter_mut().zip(others) {
                sums.iter_mut()
                    .zip(others)
                    .for_each(|(sum, other)| *sum += other);
            }
        };
        self.likelihoods
            .iter_mut()
            .zip(&other.likelihoods)
            .for_each(|(sum, other)| *sum += other);
        add(&mut self.same, &other.same);
        self.all_but
            .iter_mut()
            .zip(&other.all_but)
            .for_each(|(sums, others)| add(sums, others));
        add(&mut self.related, &other.related);
    }
}

/// Adds so many pairs to the level of each field.
fn add_levels(sums: &mut [[f64; LEVELS]], levels: &[u8], pairs: f64) {
    for (sums, level) in sums.iter_mut().zip(levels) {
        sums[usize::from(*level)] += pairs;
    }
}
