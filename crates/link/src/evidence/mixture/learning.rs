//! Learns a mixture by expectation-maximisation.

use rayon::prelude::*;

use super::model::{CLOSE_AT, LATTICE, Learned, Mixture, Setting};
use super::sums::Sums;
use super::weights::Weights;
use crate::evidence::kinds::Kind;
use crate::evidence::levels::NEAR;
use crate::evidence::patterns::Patterns;
use crate::evidence::rates::Rates;
use crate::evidence::seen::{AGREES, AllBut, Seen, agreement, in_six};

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
