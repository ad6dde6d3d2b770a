//! Which records of one file are one thing: the rounds of rates, mixture and entities.

mod compared;

#[cfg(test)]
pub(super) mod tests;

use rayon::prelude::*;

use self::compared::ComparedPairs;
use super::candidates::LeftOut;
use super::clusters::{Clusters, Scored, connected};
use super::kinds::Kind;
use super::levels::{EQUAL, compare, crossed, level_name};
use super::missed::{Missed, found_alone, nearly};
use super::mixture::{Mixture, Setting, Weights};
use super::patterns::{MOST_FIELDS, Patterns, WeightedPairs};
use super::rates::{FieldSample, Rates, Things};
use super::stated::Expected;
use super::values::{Column, Fields, Reason, number};
use crate::tables::RecordTables;
use crate::words::Equivalents;
use simgpu::error::Result;
use simgpu::progress::{Progress, advance};

/// Rounds in which rates are counted with the entities of the round before.
const ROUNDS: usize = 3;

/// As how many records one with many copies counts: else the copies of one record would decide for all.
const MOST_COPIES: u32 = 8;

/// A strong field that agrees in less than this share of the pairs of the same thing is doubted.
pub(super) const DOUBTED: f64 = 0.35;

/// Such pairs must have the field, at least.
pub(super) const DOUBTED_PAIRS: f64 = 3.0;

/// Where fewer records than these are linked, or fewer than one in a thousand, a pair needs log odds of 99 to 1: rates are not
/// known so well that the best of all pairs could be told from chance otherwise.
const FEW: usize = 10;
const FEW_SHARE: f64 = 1e-3;
const LOG_ODDS_OF_FEW: f64 = 4.595;

/// Odds that pairs would need instead of more than one, to show how much depends on that.
pub(crate) const BARS: [f64; 2] = [0.9, 1.1];

/// Pairs that are not linked are kept as examples from these log odds on.
const LEAST_KEPT: f64 = -7.0;

/// What the evidence says.
#[derive(Debug)]
pub(crate) struct Evidence {
    pub(crate) fields: Fields,
    /// By used field.
    pub(crate) rates: Vec<Rates>,
    pub(crate) doubted: Vec<bool>,
    /// What was learned; `None` if no two records share anything.
    pub(crate) learned: Option<(Mixture, Weights)>,
    /// Pairs of fields whose values may stand crosswise.
    pub(super) crossed: Vec<[usize; 2]>,
    /// The number of candidate pairs.
    pub(crate) candidates: usize,
    /// The pairs of records that are connected, with their log odds.
    pairs: Vec<(u32, Scored)>,
    pub(crate) clusters: Clusters,
    /// The records with copies, and the log odds that two equal ones are the same thing.
    pub(crate) equality: Vec<(u32, f64)>,
    pub(crate) expected: Expected,
    pub(crate) missed: Missed,
    /// What the bounds on candidates left out.
    pub(crate) left_out: LeftOut,
    /// The entities if pairs needed odds of [`BARS`].
    pub(crate) at_bars: Vec<Clusters>,
    /// Pairs that are likely enough to be shown, connected or not.
    pub(crate) shown: Vec<Scored>,
}

impl Evidence {
    /// Decides which of the distinct records of one file are one thing.
    pub(crate) fn find(
        tables: &RecordTables<'_>,
        equivalents: &Equivalents,
        kinds: &[Option<Kind>],
        progress: &dyn Progress,
    ) -> Result<Self> {
        let replaced = |word: &str| equivalents.replaced(word);
        let fields = tables.field_count();
        progress.begin("weigh", fields as u64);
        let mut columns = Vec::with_capacity(fields);
        for field in 0..fields {
            let rows = (0..tables.rows()).into_par_iter();
            let texts = rows.map(|row| {
                let value = tables.fields(row).nth(field).unwrap_or_default();
                String::from_utf8_lossy(value)
            });
            let set = kinds.get(field).copied().flatten();
            columns.push(Column::new(&texts.collect::<Vec<_>>(), set, &replaced));
            advance(progress, field as u64 + 1, 0, 0)?;
        }
        let copies = (0..tables.rows()).map(|record| tables.distinct.copies(record));
        let sizes = copies.map(|copies| {
            u32::try_from(copies)
                .unwrap_or(MOST_COPIES)
                .min(MOST_COPIES)
        });
        Evidence::decide(
            Fields::from_columns(columns.into_iter()),
            &sizes.collect::<Vec<u32>>(),
            progress,
        )
    }

    /// Decides which records are one thing; `sizes` counts the equal ones of each. Where fields are noise, all begins anew
    /// without them, as if they had not been compared.
    pub(super) fn decide(
        mut fields: Fields,
        sizes: &[u32],
        progress: &dyn Progress,
    ) -> Result<Self> {
        fields.keep(MOST_FIELDS);
        loop {
            let mut evidence = Evidence::before(fields, sizes.len());
            let noise = evidence.learn(sizes, progress)?;
            if noise.is_empty() {
                return Ok(evidence);
            }
            fields = evidence.fields;
            for field in noise.into_iter().rev() {
                fields.set_aside(field, Reason::Noise);
            }
        }
    }

    /// What is known of so many records before any two are compared.
    fn before(fields: Fields, records: usize) -> Self {
        Evidence {
            doubted: vec![false; fields.used.len()],
            crossed: crossed(&fields.used),
            fields,
            rates: Vec::new(),
            learned: None,
            candidates: 0,
            pairs: Vec::new(),
            clusters: Clusters {
                first: (0..number(records)).collect(),
                joining: Vec::new(),
            },
            equality: Vec::new(),
            expected: Expected::default(),
            missed: Missed::default(),
            left_out: LeftOut::default(),
            at_bars: Vec::new(),
            shown: Vec::new(),
        }
    }

    /// Compares and learns in rounds, until fields turn out to be noise: those.
    fn learn(&mut self, sizes: &[u32], progress: &dyn Progress) -> Result<Vec<usize>> {
        let compared = ComparedPairs::new(&self.fields.used, &self.crossed, sizes, progress)?;
        self.left_out = compared.left_out;
        if self.fields.used.is_empty() || compared.pairs.is_empty() {
            return Ok(Vec::new());
        }
        progress.begin("learn", ROUNDS as u64);
        for round in 1..=ROUNDS {
            self.round(&compared, sizes, round == ROUNDS);
            advance(progress, round as u64, 0, 0)?;
            let noise = self.find_noise();
            if !noise.is_empty() {
                return Ok(noise);
            }
        }
        self.expected = Expected::count(&self.pairs, &self.clusters.first, sizes);
        self.missed = self.find_missed(sizes);
        Ok(Vec::new())
    }

    /// What may be missed.
    fn find_missed(&self, sizes: &[u32]) -> Missed {
        let Some((mixture, weights)) = &self.learned else {
            return Missed::default();
        };
        let mut missed = Missed {
            between: [0.0; 3],
            found_alone: found_alone(mixture, weights, &self.fields.used, &self.rates),
            nearly: nearly(mixture, &self.doubted),
            same: mixture.shares[mixture.same()] * mixture.all_pairs,
        };
        let between = self.shown.iter().filter_map(|pair| {
            let [a, b] = pair.records.map(|record| record as usize);
            let is_between = self.clusters.first[a] != self.clusters.first[b];
            is_between.then(|| (pair.log_odds, f64::from(sizes[a]) * f64::from(sizes[b])))
        });
        missed.add_between(between);
        missed
    }

    /// One round: rates with the entities of the round before, the mixture, and new entities.
    fn round(&mut self, compared: &ComparedPairs, sizes: &[u32], is_last: bool) {
        let used = &self.fields.used;
        self.rates = self.count_rates(compared, sizes);
        let pairs = WeightedPairs {
            records: &compared.pairs,
            weights: &compared.weights,
            levels: &compared.levels,
        };
        let patterns = Patterns::group(used, &self.rates, pairs);
        let setting = Setting {
            fields: used,
            rates: &self.rates,
            crossed: &(0..used.len())
                .map(|field| self.is_crossed(field))
                .collect::<Vec<bool>>(),
            doubted: &self.doubted,
            records: sizes.iter().map(|copies| f64::from(*copies)).sum(),
        };
        let before = self.learned.as_ref().map(|(mixture, _)| mixture);
        let mixture = Mixture::learn(&setting, &patterns, before);
        let weights = Weights::new(&mixture, &setting);
        let pattern_odds = mixture.log_odds(&weights, &patterns);
        let log_odds = |place: usize| pattern_odds[patterns.numbers[place] as usize];
        let different = &compared.pairs[..compared.different.len()];
        self.candidates = different.len();
        self.pairs = connected(different, &compared.different, sizes.len(), log_odds);
        self.shown = shown(different, log_odds);
        let equal = different.len()..compared.pairs.len();
        let equal = equal.map(|place| (compared.pairs[place][0], log_odds(place)));
        self.equality = equal.collect();
        let log_prior = mixture.shares[mixture.same()].max(1e-12).ln();
        self.clusters = clusters(&self.pairs, sizes, log_prior);
        if is_last {
            let at_bar = |bar: f64| {
                let log_odds = |place: usize| log_odds(place) - bar.ln();
                let pairs = connected(different, &compared.different, sizes.len(), log_odds);
                clusters(&pairs, sizes, log_prior)
            };
            self.at_bars = BARS.map(at_bar).into();
        }
        self.doubt(&mixture);
        self.learned = Some((mixture, weights));
    }

    /// Counts how often values agree by chance. Copies whose equality is no evidence are different things.
    fn count_rates(&self, compared: &ComparedPairs, sizes: &[u32]) -> Vec<Rates> {
        let mut times = sizes.to_vec();
        for (record, _) in self.equality.iter().filter(|(_, log_odds)| *log_odds > 0.0) {
            times[*record as usize] = 1;
        }
        let entity = &self.clusters.first;
        let things = Things {
            entity,
            times: &times,
        };
        let is_different = |[a, b]: &[u32; 2]| entity[*a as usize] != entity[*b as usize];
        let different: Vec<bool> = compared.random.iter().map(is_different).collect();
        let fields = self.fields.used.iter().enumerate();
        let rates = fields.map(|(column, field)| {
            let sample = FieldSample {
                levels: &compared.random_levels,
                column,
                different: &different,
                is_crossed: self.is_crossed(column),
            };
            Rates::count(field, &things, &sample, compared.largest)
        });
        rates.collect()
    }

    /// Doubts strong fields that mostly differ where all others agree.
    fn doubt(&mut self, mixture: &Mixture) {
        for (field, learned) in mixture.strong_fields() {
            if learned.seen.agrees < DOUBTED && learned.seen.pairs >= DOUBTED_PAIRS {
                self.doubted[field] = true;
            }
        }
    }

    /// Whether values of a field may stand crosswise, so that it has that level.
    fn is_crossed(&self, field: usize) -> bool {
        self.crossed.iter().any(|places| places[0] == field)
    }

    /// What each of so many compared fields says of two distinct records: its level, and its points log2(m / u). One that is not
    /// used has none. Equal records have the levels of equal values.
    pub(crate) fn explain(&self, pair: [usize; 2], fields: usize) -> Vec<(String, f64)> {
        let used = &self.fields.used;
        let mut explained = vec![("unused".to_owned(), 0.0); fields];
        let mut pair = pair.map(number);
        pair.sort_unstable();
        let Some((_, weights)) = &self.learned else {
            return explained;
        };
        let mut row = vec![0; used.len()];
        compare(used, &self.crossed, pair, &mut row);
        for (field, level) in row.into_iter().enumerate() {
            let code = used[field].codes[pair[0] as usize];
            let level = match level {
                EQUAL => self.rates[field].levels[code as usize],
                level => level,
            };
            let points = weights.shared[field][usize::from(level)].log2();
            explained[used[field].place] = (level_name(level), points);
        }
        explained
    }

    /// The log odds that two equal records are the same thing.
    pub(crate) fn log_odds_of_copies(&self, record: usize) -> f64 {
        let record = number(record);
        let place = self
            .equality
            .binary_search_by_key(&record, |(record, _)| *record);
        place.map_or(0.0, |place| self.equality[place].1)
    }
}

/// The entities that pairs make, which are in the order of [`connected`].
fn clusters(pairs: &[(u32, Scored)], sizes: &[u32], log_prior: f64) -> Clusters {
    let clusters = Clusters::form(pairs, sizes, log_prior, 0.0);
    let few = FEW_SHARE * sizes.len() as f64;
    if (clusters.linked() as f64) < few.max(FEW as f64) {
        Clusters::form(pairs, sizes, log_prior, LOG_ODDS_OF_FEW)
    } else {
        clusters
    }
}

/// The pairs that are worth showing.
fn shown(pairs: &[[u32; 2]], log_odds: impl Fn(usize) -> f64 + Sync) -> Vec<Scored> {
    let likely = pairs.par_iter().enumerate().filter_map(|(place, records)| {
        let log_odds = log_odds(place);
        let scored = Scored {
            records: *records,
            log_odds,
            weight: 1.0,
        };
        (log_odds >= LEAST_KEPT).then_some(scored)
    });
    likely.collect()
}
