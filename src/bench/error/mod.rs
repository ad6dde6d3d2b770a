//! How far estimates are from the exact similarity, scheme by scheme.
//!
//! ```text
//! input     pairs of sets whose similarity is known
//! signing   what signs them: a scheme, or anything else
//! series    many trials of one kind of pair
//! cell      from matches to errors: a row of errors.csv
//! verdict   which schemes are not what they should be
//! ```

mod random;

pub mod input;

mod edits;

pub mod signing;

pub mod series;

mod cell;

pub mod verdict;

pub use input::Input;
pub use random::Random;
pub use series::Series;
pub use signing::Signing;
pub use verdict::{Fault, Finding, findings};

use super::{Corpus, Effort, Plan, Record, Varied};
use crate::error::Result;
use crate::pipeline::{Progress, SlotBits};

/// Measures the errors of the schemes that are planned, and gives a record for each cell when its series ends.
///
/// # Errors
/// What signing fails with, and what `take` fails with.
pub fn measure(
    plan: &Plan,
    corpus: &Corpus,
    progress: &dyn Progress,
    take: &mut dyn FnMut(Record) -> Result<()>,
) -> Result<()> {
    let extent = Extent::of(plan);
    let signings = signings(plan)?;
    let inputs = Input::all(corpus);
    let series = extent.series(&inputs);
    progress.begin("error", series.len() as u64);
    for (done, series) in (1..).zip(&series) {
        let cells = series.measure(&signings)?;
        let trials = cells.iter().map(|cell| cell.trials).sum();
        for cell in cells {
            take(Record::Error(cell))?;
        }
        progress.advance(done, trials, 0);
    }
    Ok(())
}

/// The schemes of a plan, or a few that have one of each kind among them.
fn signings(plan: &Plan) -> Result<Vec<Signing>> {
    const FEW: [&str; 4] = ["affine32", "affine32-even", "mersenne31", "fast"];
    let schemes = plan.schemes(crate::scheme::DEFAULT_NUM_PERM)?;
    let is_chosen = |name: &str| match plan.effort {
        Effort::Quick if plan.schemes.is_empty() => FEW.contains(&name),
        _ => true,
    };
    let signings = schemes.into_iter().map(Signing::of);
    Ok(signings.filter(|it| is_chosen(&it.name)).collect())
}

/// Similarities that are asked for.
const SIMILARITIES: [f64; 7] = [0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95];

/// Elements of each set.
const SET_SIZES: [usize; 7] = [1, 2, 8, 32, 128, 1000, 10_000];

/// The set size at which numbers of slots, and of bits, are compared.
const SWEPT_SET_SIZE: usize = 1000;

/// Which cells there are.
struct Extent {
    set_sizes: Vec<usize>,
    similarities: &'static [f64],
    inputs: &'static [&'static str],
    varied: &'static [Varied],
    num_perms: Vec<u32>,
    swept_num_perms: &'static [u32],
    /// Values that a scheme computes for a series, but at least and at most so many trials are made.
    updates: u64,
    trials: std::ops::RangeInclusive<u64>,
}

impl Extent {
    fn of(plan: &Plan) -> Self {
        let or = |asked: &[u64], usual: &[usize]| match asked {
            [] => usual.to_vec(),
            asked => asked
                .iter()
                .map(|it| usize::try_from(*it).unwrap_or(usize::MAX))
                .collect(),
        };
        let both = &[Varied::Seeds, Varied::Data];
        let all = &["random", "interval", "progression", "zipf", "edits"];
        let sweep = plan.num_perms.is_empty();
        let num_perms = match plan.num_perms.as_slice() {
            [] => vec![crate::scheme::DEFAULT_NUM_PERM],
            asked => asked.to_vec(),
        };
        match plan.effort {
            Effort::Quick => Extent {
                set_sizes: or(&plan.lengths, &[8, 128, 1000]),
                similarities: &[0.5, 0.9],
                inputs: &["random", "progression", "edits"],
                varied: &[Varied::Seeds],
                num_perms,
                swept_num_perms: if sweep { &[16, 64, 256] } else { &[] },
                updates: 200_000_000,
                trials: 200..=1000,
            },
            Effort::Usual => Extent {
                set_sizes: or(&plan.lengths, &SET_SIZES),
                similarities: &SIMILARITIES,
                inputs: all,
                varied: both,
                num_perms,
                swept_num_perms: if sweep { &[16, 64, 256, 1024] } else { &[] },
                updates: 1_000_000_000,
                trials: 150..=1000,
            },
            Effort::Full => Extent {
                set_sizes: or(&plan.lengths, &SET_SIZES),
                similarities: &SIMILARITIES,
                inputs: all,
                varied: both,
                num_perms,
                swept_num_perms: if sweep { &[16, 64, 256, 1024] } else { &[] },
                updates: 20_000_000_000,
                trials: 1000..=10_000,
            },
        }
    }

    /// All series, small sets first.
    fn series<'a>(&self, inputs: &'a [Input]) -> Vec<Series<'a>> {
        let mut series = Vec::new();
        let is_chosen = |input: &&Input| self.inputs.contains(&input.name());
        for set_size in self.set_sizes.iter().copied() {
            for input in inputs.iter().filter(is_chosen) {
                for varied in self.varied.iter().copied() {
                    for num_perm in self.num_perms.iter().copied() {
                        let is_swept = matches!(input, Input::Random)
                            && varied == Varied::Seeds
                            && set_size == SWEPT_SET_SIZE;
                        series.push(Series {
                            input,
                            varied,
                            set_size,
                            similarities: self.similarities,
                            num_perm,
                            slot_bits: if is_swept { &SlotBits::ALL } else { &[] },
                            trials: self.trials(set_size, self.similarities.len(), num_perm),
                        });
                    }
                }
            }
        }
        let random = inputs.iter().filter(|input| matches!(input, Input::Random));
        for input in random {
            for num_perm in self.swept_num_perms.iter().copied() {
                series.push(Series {
                    input,
                    varied: Varied::Seeds,
                    set_size: SWEPT_SET_SIZE,
                    similarities: &[0.5],
                    num_perm,
                    slot_bits: &[],
                    trials: self.trials(SWEPT_SET_SIZE, 1, num_perm),
                });
            }
        }
        series
    }

    fn trials(&self, set_size: usize, similarities: usize, num_perm: u32) -> usize {
        let updates = (1 + similarities) as u64 * set_size as u64 * u64::from(num_perm);
        let trials = self.updates / updates.max(1);
        usize::try_from(trials.clamp(*self.trials.start(), *self.trials.end())).unwrap_or(0)
    }
}
