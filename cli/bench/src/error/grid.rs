//! Which series there are, and the number of their trials.

use super::input::SetSource;
use super::series::Series;
use crate::plan::SCHEMES;
use crate::{Effort, Plan, Varied};
use simgpu::pipeline::SlotBits;
use simgpu::scheme::DEFAULT_NUM_PERM;

/// Requested similarities.
const SIMILARITIES: [f64; 7] = [0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95];

/// Elements per set.
const SET_SIZES: [usize; 7] = [1, 2, 8, 32, 128, 1000, 10_000];

/// Elements per set of weighted elements.
const WEIGHTED_SET_SIZES: [usize; 2] = [128, 1000];

/// Most elements per set. Progressions below 2^32 could be longer, but one trial of this size takes half a second.
pub(super) const MAX_SET_SIZE: usize = 1 << 24;

/// Set size of the series over numbers of slots and bits.
const SWEPT_SET_SIZE: usize = 1000;

/// Similarity of the series over numbers of slots.
const SWEPT_SIMILARITIES: [f64; 1] = [0.5];

/// One part in this many of the updates of other series: slow backends take part in the series that compares them.
const PART_OF_COMPARED: u64 = 4;

/// The axes of all series.
pub(super) struct ErrorGrid {
    /// Default schemes.
    pub(super) schemes: &'static [&'static str],
    /// Elements per set.
    pub(super) set_sizes: Vec<usize>,
    similarities: &'static [f64],
    inputs: &'static [&'static str],
    num_perms: Vec<u32>,
    swept_num_perms: &'static [u32],
    /// Updates per scheme and series; the number of trials follows from it, within bounds.
    updates: u64,
    least_trials: u64,
    most_trials: u64,
}

impl ErrorGrid {
    /// The grid of a plan.
    pub(super) fn of(plan: &Plan) -> Self {
        let usual = ErrorGrid {
            schemes: &SCHEMES,
            set_sizes: SET_SIZES.to_vec(),
            similarities: &SIMILARITIES,
            inputs: &[
                "random",
                "interval",
                "progression",
                "zipf",
                "edits",
                "counts",
                "stars",
                "exponential",
                "pareto",
            ],
            num_perms: vec![DEFAULT_NUM_PERM],
            swept_num_perms: &[16, 64, 256, 1024],
            updates: 3_000_000_000,
            least_trials: 200,
            most_trials: 2000,
        };
        let mut grid = match plan.effort {
            Effort::Quick => ErrorGrid {
                schemes: &["affine32", "affine32-even", "mersenne31", "fast"],
                set_sizes: vec![8, 128, SWEPT_SET_SIZE],
                similarities: &[0.5, 0.9],
                inputs: &["random", "progression", "edits"],
                updates: 600_000_000,
                most_trials: 1000,
                ..usual
            },
            Effort::Usual => usual,
            Effort::Full => ErrorGrid {
                updates: 20_000_000_000,
                least_trials: 1000,
                most_trials: 10_000,
                ..usual
            },
        };
        if !plan.lengths.is_empty() {
            let lengths = plan.lengths.iter();
            let sizes = lengths.map(|len| usize::try_from(*len).unwrap_or(usize::MAX));
            grid.set_sizes = sizes.collect();
        }
        if !plan.num_perms.is_empty() {
            grid.num_perms.clone_from(&plan.num_perms);
            grid.swept_num_perms = &[];
        }
        grid
    }

    /// The size of the sets, and the slots, at which backends are compared.
    fn compared_sizes(&self) -> Option<(usize, u32)> {
        let drawn = self.set_sizes.iter().filter(can_be_drawn);
        let nearest = drawn.min_by_key(|size| size.abs_diff(SWEPT_SET_SIZE));
        nearest.copied().zip(self.num_perms.first().copied())
    }

    fn is_compared(
        &self,
        input: &SetSource,
        varied: Varied,
        set_size: usize,
        num_perm: u32,
    ) -> bool {
        matches!(input, SetSource::Random)
            && varied == Varied::Data
            && self.compared_sizes() == Some((set_size, num_perm))
    }

    /// The series that all backends sign: random sets, for one seed, so that each backend needs one signer.
    pub(super) fn compared<'a>(&'a self, inputs: &'a [SetSource]) -> Option<Series<'a>> {
        let (set_size, num_perm) = self.compared_sizes()?;
        let input = inputs.iter().find(|it| matches!(it, SetSource::Random))?;
        let part = ErrorGrid {
            updates: self.updates / PART_OF_COMPARED,
            num_perms: Vec::new(),
            set_sizes: Vec::new(),
            ..*self
        };
        Some(Series {
            varied: Varied::Data,
            ..part.over_seeds(input, set_size, num_perm, self.similarities)
        })
    }

    /// All other series of sets within the size limit, small sets first; then those over numbers of slots.
    pub(super) fn series<'a>(&self, inputs: &'a [SetSource]) -> Vec<Series<'a>> {
        let mut series = Vec::new();
        for set_size in self.set_sizes.iter().filter(can_be_drawn) {
            for input in inputs.iter().filter(|it| self.inputs.contains(&it.name())) {
                let is_weighted = matches!(input, SetSource::Weighted(_));
                if is_weighted && !WEIGHTED_SET_SIZES.contains(set_size) {
                    continue;
                }
                // Which copies stand for a fraction of one is part of the data, not of the seed.
                let all = [Varied::Data, Varied::Seeds];
                let varied_in_turn = if is_weighted { &all[..1] } else { &all };
                for varied in varied_in_turn.iter().rev().copied() {
                    for num_perm in &self.num_perms {
                        if self.is_compared(input, varied, *set_size, *num_perm) {
                            continue;
                        }
                        let over_seeds =
                            self.over_seeds(input, *set_size, *num_perm, self.similarities);
                        let is_swept = matches!(input, SetSource::Random)
                            && varied == Varied::Seeds
                            && *set_size == SWEPT_SET_SIZE;
                        series.push(Series {
                            varied,
                            slot_bits: if is_swept { &SlotBits::ALL } else { &[] },
                            ..over_seeds
                        });
                    }
                }
            }
        }
        for input in inputs.iter().filter(|it| matches!(it, SetSource::Random)) {
            let sweep = self.swept_num_perms.iter();
            series.extend(sweep.map(|num_perm| {
                self.over_seeds(input, SWEPT_SET_SIZE, *num_perm, &SWEPT_SIMILARITIES)
            }));
        }
        series
    }

    /// A series that varies seeds.
    fn over_seeds<'a>(
        &self,
        input: &'a SetSource,
        set_size: usize,
        num_perm: u32,
        similarities: &'a [f64],
    ) -> Series<'a> {
        let hashes = (1 + similarities.len()) as u64 * set_size as u64;
        let trials = self.updates / (hashes * u64::from(num_perm)).max(1);
        let trials = trials.clamp(self.least_trials, self.most_trials);
        Series {
            input,
            varied: Varied::Seeds,
            set_size,
            similarities,
            num_perm,
            slot_bits: &[],
            trials: usize::try_from(trials).unwrap_or(usize::MAX),
        }
    }
}

/// Whether a set may have so many elements.
fn can_be_drawn(size: &&usize) -> bool {
    (1..=MAX_SET_SIZE).contains(*size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_narrow_the_grid() {
        let plan = Plan {
            lengths: vec![0, 7, u64::MAX],
            num_perms: vec![32, 64],
            ..Plan::default()
        };
        let inputs = [SetSource::Random, SetSource::Interval];
        let grid = ErrorGrid::of(&plan);
        let mut series = grid.series(&inputs);
        series.extend(grid.compared(&inputs));
        assert_eq!(series.len(), 2 * 2 * 2);
        assert!(
            series
                .iter()
                .all(|it| it.set_size == 7 && it.trials == 2000)
        );
    }

    #[test]
    fn backends_share_one_series_of_their_own() {
        let inputs = [SetSource::Interval, SetSource::Random];
        for (lengths, set_size) in [(vec![], 1000), (vec![5, 900, 20_000], 900), (vec![30], 30)] {
            let grid = ErrorGrid::of(&Plan {
                lengths,
                ..Plan::default()
            });
            let compared = grid.compared(&inputs).unwrap();
            assert_eq!(
                (compared.set_size, compared.varied),
                (set_size, Varied::Data)
            );
            let series = grid.series(&inputs);
            let is_compared = |it: &&Series<'_>| {
                it.input.name() == "random"
                    && (it.set_size, it.varied, it.num_perm) == (set_size, Varied::Data, 128)
            };
            assert_eq!(series.iter().filter(is_compared).count(), 0);
        }
    }

    #[test]
    fn large_sets_get_fewer_trials() {
        let series = ErrorGrid::of(&Plan::default()).series(&[SetSource::Random]);
        let over_seeds = series.iter().filter(|it| it.varied == Varied::Seeds);
        let trials: Vec<usize> = over_seeds.map(|it| it.trials).collect();
        assert_eq!(trials[..5], [2000; 5]);
        assert!(trials[5..7].is_sorted_by(|a, b| a > b), "{trials:?}");
        let swept = series.iter().filter(|it| !it.slot_bits.is_empty());
        assert_eq!(swept.count(), 1);
    }
}
