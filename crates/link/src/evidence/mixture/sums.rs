//! The sums of an expectation step, over patterns of pairs.

use super::model::Mixture;
use crate::evidence::levels::LEVELS;

/// Sums of the expectation step.
pub(super) struct Sums {
    pub(super) likelihoods: Vec<f64>,
    /// By field and level, over pairs of the same thing.
    pub(super) same: Vec<[f64; LEVELS]>,
    /// The same, with pairs that lack one field only, for each of [`Mixture::all_but`].
    pub(super) all_but: Vec<Vec<[f64; LEVELS]>>,
    /// By field and level, over pairs that share other fields only.
    pub(super) related: Vec<[f64; LEVELS]>,
}

impl Sums {
    pub(super) fn new(mixture: &Mixture) -> Self {
        let field_sums = vec![[0.0; LEVELS]; mixture.learned.len()];
        Sums {
            likelihoods: vec![0.0; mixture.classes()],
            all_but: vec![field_sums.clone(); mixture.all_but.len()],
            same: field_sums.clone(),
            related: field_sums,
        }
    }

    /// Adds so many pairs of a pattern, whose likelihoods are given.
    pub(super) fn add(
        &mut self,
        mixture: &Mixture,
        levels: &[u8],
        count: f64,
        likelihoods: &mut [f64],
    ) {
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

    pub(super) fn merge(&mut self, other: &Sums) {
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

/// The sum, in eight parts side by side: a sum one after the other waits for each addition.
pub(super) fn sum(values: &[f64]) -> f64 {
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
