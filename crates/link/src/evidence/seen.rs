//! What is seen of a field in pairs that share all others: how many have it, and on which levels.

use super::levels::{CLOSE, LEVELS};
use super::rates::Rates;

const CLOSE_AT: usize = CLOSE as usize;

/// Which of the six levels agree: equal, close, near, crosswise.
pub(crate) const AGREES: [bool; 6] = [true, true, true, false, false, true];

/// By how many standard errors a count exceeds the expected one, if that is no chance.
const STANDARD_ERRORS: f64 = 3.0;

/// What is seen of a field in some pairs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    /// The pairs that have it.
    pub(crate) pairs: f64,
    /// The share of them in which it agrees, and in which it is equal.
    pub(crate) agrees: f64,
    pub(crate) equal: f64,
    /// Bits by which its levels differ from chance.
    pub(crate) divergence: f64,
}

impl Seen {
    /// Counts the levels of some pairs, which chance has at `rates`.
    pub(crate) fn count(levels: &[f64; LEVELS], rates: &Rates) -> Self {
        let seen = in_six(levels);
        let pairs: f64 = seen.iter().sum();
        Seen {
            pairs,
            agrees: agreement(&seen) / pairs.max(1e-9),
            equal: seen[0] / pairs.max(1e-9),
            divergence: divergence(&seen, &in_six(&rates.u)),
        }
    }

    /// Whether it is equal, or agrees, in more pairs than chance explains.
    pub(crate) fn is_beyond_chance(&self, rates: &Rates) -> bool {
        let chance = in_six(&rates.u);
        let is_beyond = |share: f64, chance: f64| {
            let expected = chance * self.pairs;
            share * self.pairs > expected + STANDARD_ERRORS * expected.sqrt() + 1.0
        };
        is_beyond(self.equal, chance[0]) || is_beyond(self.agrees, agreement(&chance))
    }
}

/// The fields in pairs that share all but one: those of the same thing, and those of the class that lacks this one.
#[derive(Clone, Debug)]
pub(crate) struct AllBut {
    pub(crate) lacks: usize,
    /// By field.
    pub(crate) seen: Vec<Seen>,
}

/// The sum of the levels that agree.
pub(crate) fn agreement(shares: &[f64; 6]) -> f64 {
    let agreeing = shares.iter().zip(AGREES).filter(|(_, agrees)| *agrees);
    agreeing.map(|(share, _)| share).sum()
}

/// All levels as six: equal, close, near, far, other, crosswise.
pub(crate) fn in_six(levels: &[f64; LEVELS]) -> [f64; 6] {
    let equal = levels[1..CLOSE_AT].iter().sum();
    std::array::from_fn(|level| match level {
        0 => equal,
        level => levels[CLOSE_AT + level - 1],
    })
}

/// The bits by which counts of levels differ from chance, with five pairs by chance added.
fn divergence(seen: &[f64; 6], chance: &[f64; 6]) -> f64 {
    const ADDED: f64 = 5.0;
    let all: f64 = seen.iter().sum();
    let both = seen.iter().zip(chance);
    let bits = both.map(|(seen, chance)| {
        let share = (seen + ADDED * chance) / (all + ADDED);
        share * (share.max(1e-9) / chance.max(1e-9)).log2()
    });
    bits.sum()
}
