//! The bands and rows with the least expected error, and the partitions of an ensemble, as datasketch chooses them.

use simgpu::internals::gauss_legendre;

/// Weights of false positives and of false negatives.
pub(super) type Weights = (f64, f64);

/// A part of an integral: a similarity and its weight.
type Node = (f64, f64);

/// Bands and rows for a threshold of the Jaccard similarity.
pub(super) fn for_similarity(threshold: f64, num_perm: usize, weights: Weights) -> (usize, usize) {
    let panels = panels(num_perm);
    let below = nodes(0.0, threshold, panels, |similarity| similarity);
    let above = nodes(threshold, 1.0, panels, |similarity| similarity);
    least_error(&below, &above, num_perm, num_perm, weights)
}

/// Bands and rows for a threshold of the containment, where an indexed set has `ratio` times the size of the query,
/// with at most `max_rows` rows (Zhu et al. 2016, section 5).
pub(super) fn for_containment(
    threshold: f64,
    num_perm: usize,
    max_rows: usize,
    ratio: f64,
    weights: Weights,
) -> (usize, usize) {
    let panels = panels(num_perm);
    let similarity = |containment: f64| containment / (1.0 + ratio - containment);
    // No set contains more than `ratio` of the query.
    let most = ratio.min(1.0);
    let below = nodes(0.0, threshold.min(ratio), panels, similarity);
    let above = match most < threshold {
        true => Vec::new(),
        false => nodes(threshold, most, panels, similarity),
    };
    least_error(&below, &above, num_perm, max_rows, weights)
}

/// The first pair, by bands and then rows, with the least weighted sum of the areas of false positives (under the
/// S-curve `1 - (1 - s^r)^b` below the threshold) and of false negatives (over it above the threshold).
fn least_error(
    below: &[Node],
    above: &[Node],
    num_perm: usize,
    max_rows: usize,
    weights: Weights,
) -> (usize, usize) {
    let mut errors = Vec::new();
    for rows in 1..=max_rows.min(num_perm) {
        let mut below = Misses::new(below, rows);
        let mut above = Misses::new(above, rows);
        for bands in 1..=num_perm / rows {
            let false_positive = below.next_area(|missed| 1.0 - missed);
            // Loses what datasketch loses to rounding: misses below 1e-16 count as none.
            let false_negative = above.next_area(|missed| 1.0 - (1.0 - missed));
            let error = false_positive * weights.0 + false_negative * weights.1;
            errors.push(((bands, rows), error));
        }
    }
    errors.sort_unstable_by_key(|(banding, _)| *banding);
    let mut best = ((0, 0), f64::INFINITY);
    for (banding, error) in errors {
        // Equal errors differ by rounding.
        if error < best.1 * (1.0 - 1e-14) {
            best = (banding, error);
        }
    }
    best.0
}

/// The probabilities of a miss at the nodes, `(1 - s^rows)^bands`, for a growing number of bands.
struct Misses {
    by_one: Vec<f64>,
    by_all: Vec<f64>,
    weights: Vec<f64>,
}

impl Misses {
    fn new(nodes: &[Node], rows: usize) -> Self {
        let rows = i32::try_from(rows).unwrap_or(i32::MAX);
        Misses {
            by_one: nodes.iter().map(|(s, _)| 1.0 - s.powi(rows)).collect(),
            by_all: vec![1.0; nodes.len()],
            weights: nodes.iter().map(|(_, weight)| *weight).collect(),
        }
    }

    /// The integral of a function of the probability, with one more band.
    fn next_area(&mut self, of: impl Fn(f64) -> f64) -> f64 {
        const LANES: usize = 8;
        let mut sums = [0.0; LANES];
        let all = self.by_all.chunks_exact_mut(LANES);
        let one = self.by_one.chunks_exact(LANES);
        for ((all, one), weights) in all.zip(one).zip(self.weights.chunks_exact(LANES)) {
            for lane in 0..LANES {
                all[lane] *= one[lane];
                sums[lane] += weights[lane] * of(all[lane]);
            }
        }
        sums.iter().sum()
    }
}

/// Panels of an integral: the integrands are polynomials of degree `num_perm`, and a panel is exact up to 15.
fn panels(num_perm: usize) -> u32 {
    u32::try_from(num_perm / 8).map_or(128, |panels| panels.clamp(16, 128))
}

/// The nodes of an integral, at the similarity for each of its points.
fn nodes(from: f64, to: f64, panels: u32, similarity: impl Fn(f64) -> f64) -> Vec<Node> {
    gauss_legendre(from, to, panels)
        .map(|(point, weight)| (similarity(point), weight))
        .collect()
}

/// Cuts ascending set sizes, with the number of sets of each, into `parts` intervals with few expected false positives,
/// and returns the last index of each interval. There must be at least as many sizes as parts.
///
/// As in datasketch, only the last cut is optimal: the cuts before it are chosen by the cost of one interval more than
/// remains.
pub(super) fn partitions(sizes: &[f64], counts: &[f64], parts: usize) -> Vec<usize> {
    let last = sizes.len() - 1;
    if parts == sizes.len() || parts == 1 {
        return (sizes.len() - parts..=last).collect();
    }
    let cost = IntervalCosts::new(sizes, counts);
    // costs[p - 1][u]: the least cost of the sizes 0..=u in p intervals, 0 if there are fewer sizes.
    let mut costs = vec![
        (0..=last)
            .map(|upper| cost.of(0, upper))
            .collect::<Vec<_>>(),
    ];
    let best_cut = |costs: &[f64], first: usize, upper: usize| {
        let cuts = (first..upper).map(|cut| (costs[cut] + cost.of(cut + 1, upper), cut));
        cuts.reduce(|best, next| if next.0 < best.0 { next } else { best })
            .unwrap_or_default()
    };
    for part in 2..parts {
        let of_fewer = &costs[part - 2];
        let least = (0..=last)
            .map(|upper| best_cut(of_fewer, part - 2, upper).0)
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
    ends
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
    fn of(&self, lower: usize, upper: usize) -> f64 {
        let between = |sums: &[f64]| sums[upper + 1] - sums[lower];
        between(&self.counts) - between(&self.totals) / self.sizes[upper]
    }
}
