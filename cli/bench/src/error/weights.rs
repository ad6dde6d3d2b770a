//! Random weights of elements, by law, and sets of their copies.

use super::random::SplitMix64;
use simgpu::scheme::WeightScale;

/// The law of the weights of a set's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeightLaw {
    /// Counts of 1, 2, 3 and so on, each half as likely as the one before.
    Counts,
    /// Ratings of one to five stars.
    Stars,
    /// Exponentially distributed with a mean of 1.
    Exponential,
    /// Pareto distributed with an exponent of 1, from 1 to 10,000.
    Pareto,
}

/// Copies of a set of real weights that are aimed at.
const COPIES: f64 = 1024.0;

/// The greatest weight.
const MOST: f64 = 1e4;

impl WeightLaw {
    /// All laws.
    pub(super) const ALL: [WeightLaw; 4] = [
        WeightLaw::Counts,
        WeightLaw::Stars,
        WeightLaw::Exponential,
        WeightLaw::Pareto,
    ];

    /// The name in the tables.
    pub(super) fn name(self) -> &'static str {
        match self {
            WeightLaw::Counts => "counts",
            WeightLaw::Stars => "stars",
            WeightLaw::Exponential => "exponential",
            WeightLaw::Pareto => "pareto",
        }
    }

    /// Draws a weight.
    pub(super) fn draw(self, random: &mut SplitMix64) -> f64 {
        // Above 0, up to 1.
        let uniform = ((random.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64;
        match self {
            WeightLaw::Counts => (1.0 - uniform.log2()).floor().min(MOST),
            WeightLaw::Stars => (5.0 * uniform).ceil(),
            WeightLaw::Exponential => -uniform.ln(),
            WeightLaw::Pareto => uniform.recip().min(MOST),
        }
    }

    /// The mean weight.
    fn mean(self) -> f64 {
        match self {
            WeightLaw::Counts => 2.0,
            WeightLaw::Stars => 3.0,
            WeightLaw::Exponential => 1.0,
            WeightLaw::Pareto => 1.0 + MOST.ln(),
        }
    }

    /// The scale of sets of `elements`: 1 for whole weights, otherwise the power of two that is nearest to the number of
    /// copies aimed at.
    ///
    /// # Errors
    /// [`simgpu::Error::Parameter`] for many million elements.
    pub(super) fn scale(self, elements: usize) -> simgpu::Result<WeightScale> {
        match self {
            WeightLaw::Counts | WeightLaw::Stars => WeightScale::new(1.0),
            WeightLaw::Exponential | WeightLaw::Pareto => {
                let ratio = COPIES / (elements as f64 * self.mean());
                WeightScale::new(ratio.log2().round().clamp(-20.0, 20.0).exp2())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_those_of_the_laws() {
        for law in WeightLaw::ALL {
            let mut random = SplitMix64::of(&[7]);
            let draws = 400_000;
            let sum: f64 = (0..draws).map(|_| law.draw(&mut random)).sum();
            let mean = sum / f64::from(draws);
            assert!((mean / law.mean() - 1.0).abs() < 0.05, "{law:?}: {mean}");
        }
    }
}
