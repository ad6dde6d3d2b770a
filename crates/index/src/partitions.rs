//! The partitions of an ensemble by set size (Zhu, Nargesian, Pu and Miller 2016, *LSH Ensemble*, section 5).

use simgpu::error::{Conflict, Result};

/// Cuts set sizes into `parts` intervals with few expected false positives, and returns the index of the last size of
/// each.
///
/// Sizes are positive and ascend, and `counts` are the numbers of sets of each. A set of size s in an interval that ends
/// with size u is expected to be found falsely with probability `(u - s) / u`, because the interval is searched as if all
/// of its sets had size u. As in datasketch, only the last cut is optimal: the cuts before it are chosen by the cost of
/// one interval more than remains. n sizes take O(parts n^2) steps.
///
/// ```
/// use simgpu_index::optimal_partitions;
///
/// // Sets of 1 to 3 and of 100 to 103 members: the first part ends with size 3, the second one with size 103.
/// let sizes = [1.0, 2.0, 3.0, 100.0, 103.0];
/// assert_eq!(optimal_partitions(&sizes, &[5.0; 5], 2)?, [2, 4]);
/// # Ok::<(), simgpu::Error>(())
/// ```
///
/// # Errors
/// [`Error::Conflict`](simgpu::Error::Conflict) unless there are as many counts as sizes, and 1 part to as many.
pub fn optimal_partitions(sizes: &[f64], counts: &[f64], parts: usize) -> Result<Vec<usize>> {
    if sizes.len() != counts.len() || !(1..=sizes.len()).contains(&parts) {
        return Err(Conflict::Parts {
            sizes: sizes.len(),
            counts: counts.len(),
            parts,
        }
        .into());
    }
    let last = sizes.len() - 1;
    if parts == sizes.len() || parts == 1 {
        return Ok((sizes.len() - parts..=last).collect());
    }
    let cost = IntervalCosts::new(sizes, counts);
    // costs[p - 1][u]: the least cost of the sizes 0..=u in p intervals, 0 if there are fewer sizes.
    let mut costs = vec![
        (0..=last)
            .map(|upper| cost.sum(0, upper))
            .collect::<Vec<_>>(),
    ];
    let best_cut = |costs: &[f64], first: usize, upper: usize| {
        let cuts = (first..upper).map(|cut| (costs[cut] + cost.sum(cut + 1, upper), cut));
        cuts.reduce(|best, next| if next.0 < best.0 { next } else { best })
            .unwrap_or_default()
    };
    for part in 2..parts {
        let previous = &costs[part - 2];
        let least = (0..=last)
            .map(|upper| best_cut(previous, part - 2, upper).0)
            .collect();
        costs.push(least);
    }
    let mut upper = best_cut(&costs[parts - 2], parts - 2, last).1;
    let mut ends = vec![last, upper];
    for part in (2..parts).rev() {
        upper = best_cut(&costs[part - 1], part - 2, upper).1;
        ends.push(upper);
    }
    ends.reverse();
    Ok(ends)
}

/// Expected false positives of intervals of sizes, from running sums.
struct IntervalCosts<'a> {
    sizes: &'a [f64],
    counts: Vec<f64>,
    totals: Vec<f64>,
}

impl<'a> IntervalCosts<'a> {
    fn new(sizes: &'a [f64], counts: &[f64]) -> Self {
        let sums = |values: &mut dyn Iterator<Item = f64>| {
            let running = values.scan(0.0, |sum, value| {
                *sum += value;
                Some(*sum)
            });
            std::iter::once(0.0).chain(running).collect()
        };
        IntervalCosts {
            sizes,
            counts: sums(&mut counts.iter().copied()),
            totals: sums(&mut counts.iter().zip(sizes).map(|(count, size)| count * size)),
        }
    }

    /// The sum of `(u - s) / u` over the sets with sizes s in the interval that ends with size u.
    fn sum(&self, lower: usize, upper: usize) -> f64 {
        let between = |sums: &[f64]| sums[upper + 1] - sums[lower];
        between(&self.counts) - between(&self.totals) / self.sizes[upper]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simgpu::scheme::fmix64;

    /// Distinct ascending sizes, and their counts.
    fn sizes(seed: u64, count: u64) -> (Vec<f64>, Vec<f64>) {
        let draw = |place: u64| (fmix64(seed << 32 | place) % 20 + 1) as f64;
        let sizes = (0..count).map(draw).scan(0.0, |size, step| {
            *size += step;
            Some(*size)
        });
        (
            sizes.collect(),
            (0..count).map(|place| draw(1000 + place)).collect(),
        )
    }

    /// The expected false positives of the sizes `from..=to`, one after another.
    fn cost(sizes: &[f64], counts: &[f64], from: usize, to: usize) -> f64 {
        (from..=to)
            .map(|place| counts[place] * (sizes[to] - sizes[place]) / sizes[to])
            .sum()
    }

    /// The cheapest cuts of `0..=to` into `parts` intervals, of all that there are.
    fn cheapest(sizes: &[f64], counts: &[f64], to: usize, parts: usize) -> f64 {
        if parts == 1 {
            return cost(sizes, counts, 0, to);
        }
        let cuts = (parts - 2..to)
            .map(|cut| cheapest(sizes, counts, cut, parts - 1) + cost(sizes, counts, cut + 1, to));
        cuts.fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn interval_costs_are_sums_over_sets() {
        let (sizes, counts) = sizes(1, 12);
        let costs = IntervalCosts::new(&sizes, &counts);
        for from in 0..12 {
            for to in from..12 {
                let difference = costs.sum(from, to) - cost(&sizes, &counts, from, to);
                assert!(difference.abs() < 1e-9, "{from} to {to}");
            }
        }
    }

    #[test]
    fn two_parts_are_the_cheapest() {
        for seed in 0..40 {
            let (sizes, counts) = sizes(seed, 2 + seed % 15);
            let ends = optimal_partitions(&sizes, &counts, 2).unwrap();
            let last = sizes.len() - 1;
            assert_eq!((ends.len(), ends[1]), (2, last));
            let found =
                cost(&sizes, &counts, 0, ends[0]) + cost(&sizes, &counts, ends[0] + 1, last);
            assert!(
                (found - cheapest(&sizes, &counts, last, 2)).abs() < 1e-9,
                "{seed}"
            );
        }
    }

    /// The last cut of more parts leaves the cheapest cuts of what is before it possible.
    #[test]
    fn the_last_cut_is_the_cheapest() {
        for seed in 0..20 {
            let (sizes, counts) = sizes(seed, 11);
            for parts in 3..=6 {
                let ends = optimal_partitions(&sizes, &counts, parts).unwrap();
                let cut = ends[parts - 2];
                let found =
                    cheapest(&sizes, &counts, cut, parts - 1) + cost(&sizes, &counts, cut + 1, 10);
                let least = cheapest(&sizes, &counts, 10, parts);
                assert!((found - least).abs() < 1e-9, "{seed} {parts}");
            }
        }
    }

    #[test]
    fn parts_end_in_order_with_the_last_size() {
        for seed in 0..40 {
            let (sizes, counts) = sizes(seed, 1 + seed);
            for parts in 1..=sizes.len() {
                let ends = optimal_partitions(&sizes, &counts, parts).unwrap();
                assert_eq!(ends.len(), parts);
                assert!(ends.is_sorted_by(|a, b| a <= b), "{ends:?}");
                assert_eq!(ends.last(), Some(&(sizes.len() - 1)));
            }
            let all: Vec<usize> = (0..sizes.len()).collect();
            assert_eq!(
                optimal_partitions(&sizes, &counts, sizes.len()).unwrap(),
                all
            );
        }
    }

    #[test]
    fn parts_that_cannot_be_are_errors() {
        for (sizes, counts, parts) in [(3, 2, 1), (3, 3, 0), (3, 3, 4), (0, 0, 0), (0, 0, 1)] {
            let error = optimal_partitions(&vec![1.0; sizes], &vec![1.0; counts], parts);
            assert!(error.is_err(), "{sizes} {counts} {parts}");
        }
    }
}
