//! What the levels of the fields say for each class of pairs.

use super::model::{CLOSE_AT, Mixture, Setting};
use super::sums::sum;
use crate::evidence::levels::{CROSSWISE, LEVELS, NONE};
use crate::evidence::rates::Rates;

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
    pub(super) fn likelihoods(&self, mixture: &Mixture, levels: &[u8], likelihoods: &mut [f64]) {
        // The classes without a field are followed by the same classes with it: each field doubles them.
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
        // A weak field is in no class: related things share it as often as not, and the same thing always does.
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
