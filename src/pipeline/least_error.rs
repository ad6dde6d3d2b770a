//! The bands and rows with the least expected error, as datasketch chooses them (Zhu, Nargesian, Pu and Miller 2016,
//! *LSH Ensemble*, section 5).

use std::ops::Range;

use super::banding::{Banding, ErrorWeights, check_threshold, power};
use super::quadrature::gauss_legendre;
use crate::error::Result;

impl Banding {
    /// The banding of at most `num_perm` slots that minimises the weighted sum of its
    /// [`error_areas`](Banding::error_areas): the choice of datasketch. The areas are exact to double precision.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) unless the threshold lies in (0, 1] and `num_perm` is at least 1.
    pub fn for_threshold(threshold: f64, num_perm: usize, weights: ErrorWeights) -> Result<Self> {
        check_threshold(threshold)?;
        let ranges = ErrorRanges {
            below: 0.0..threshold,
            above: threshold..1.0,
            similarity: |similarity| similarity,
        };
        ranges.least_error(num_perm, num_perm, weights)
    }
}

/// Where a banding errs: it may find pairs below a threshold, and miss pairs above it.
///
/// The ranges are of a measure, such as the containment, and `similarity` is the Jaccard similarity of a pair at a point
/// of it. Pairs are distributed evenly over the measure.
#[doc(hidden)]
#[derive(Debug)]
pub struct ErrorRanges<S> {
    #[doc(hidden)]
    pub below: Range<f64>,
    #[doc(hidden)]
    pub above: Range<f64>,
    #[doc(hidden)]
    pub similarity: S,
}

impl<S: Fn(f64) -> f64> ErrorRanges<S> {
    /// The banding of at most `num_perm` slots and `max_rows` rows with the least weighted sum of the areas of false
    /// positives (under the S-curve `1 - (1 - s^r)^b` below the threshold) and of false negatives (over it above the
    /// threshold). Of equal ones, the first by bands and then rows.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) if `num_perm` is 0.
    #[doc(hidden)]
    pub fn least_error(
        &self,
        num_perm: usize,
        max_rows: usize,
        weights: ErrorWeights,
    ) -> Result<Banding> {
        let mut best = (Banding::new(1, 1, num_perm)?, f64::INFINITY);
        let panels = panels(num_perm);
        let nodes = |range: &Range<f64>| -> Vec<Node> {
            gauss_legendre(range.start, range.end, panels)
                .map(|(point, weight)| ((self.similarity)(point), weight))
                .collect()
        };
        let (below, above) = (nodes(&self.below), nodes(&self.above));
        let mut errors = Vec::new();
        for rows in 1..=max_rows.min(num_perm) {
            let mut below = Misses::new(&below, rows);
            let mut above = Misses::new(&above, rows);
            for bands in 1..=num_perm / rows {
                let false_positive = below.next_area(|missed| 1.0 - missed);
                // Loses what datasketch loses to rounding: misses below 1e-16 count as none.
                let false_negative = above.next_area(|missed| 1.0 - (1.0 - missed));
                let error = false_positive * weights.false_positive
                    + false_negative * weights.false_negative;
                errors.push(((bands, rows), error));
            }
        }
        errors.sort_unstable_by_key(|(banding, _)| *banding);
        for ((bands, rows), error) in errors {
            // Equal errors differ by rounding.
            if error < best.1 * (1.0 - 1e-14) {
                best = (Banding::new(bands, rows, num_perm)?, error);
            }
        }
        Ok(best.0)
    }
}

/// A part of an integral: a similarity and its weight.
type Node = (f64, f64);

/// The probabilities of a miss at the nodes, `(1 - s^rows)^bands`, for a growing number of bands.
struct Misses {
    band: Vec<f64>,
    misses: Vec<f64>,
    weights: Vec<f64>,
}

impl Misses {
    fn new(nodes: &[Node], rows: usize) -> Self {
        Misses {
            band: nodes.iter().map(|(s, _)| 1.0 - power(*s, rows)).collect(),
            misses: vec![1.0; nodes.len()],
            weights: nodes.iter().map(|(_, weight)| *weight).collect(),
        }
    }

    /// The integral of a function of the probability, with one more band.
    fn next_area(&mut self, of: impl Fn(f64) -> f64) -> f64 {
        /// Nodes of a panel.
        const LANES: usize = 8;
        let mut sums = [0.0; LANES];
        let all = self.misses.chunks_exact_mut(LANES);
        let one = self.band.chunks_exact(LANES);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums the areas by small steps, in no hurry.
    fn error_by_steps(banding: Banding, threshold: f64, weights: ErrorWeights) -> f64 {
        const STEPS: u32 = 4000;
        let mut error = 0.0;
        for step in 0..STEPS {
            let similarity = (f64::from(step) + 0.5) / f64::from(STEPS);
            let found = banding.candidate_probability(similarity);
            error += if similarity < threshold {
                weights.false_positive * found
            } else {
                weights.false_negative * (1.0 - found)
            };
        }
        error / f64::from(STEPS)
    }

    #[test]
    fn no_banding_has_a_smaller_error() {
        for weights in [ErrorWeights::EQUAL, ErrorWeights::VERIFIED] {
            for threshold in [0.3, 0.5, 0.8, 1.0] {
                let ranges = ErrorRanges {
                    below: 0.0..threshold,
                    above: threshold..1.0,
                    similarity: |similarity| similarity,
                };
                for max_rows in [2, 24] {
                    let chosen = ranges.least_error(24, max_rows, weights).unwrap();
                    assert!(chosen.rows() <= max_rows && chosen.bands() * chosen.rows() <= 24);
                    let least = error_by_steps(chosen, threshold, weights);
                    for rows in 1..=max_rows {
                        for bands in 1..=24 / rows {
                            let other = Banding::new(bands, rows, 24).unwrap();
                            let error = error_by_steps(other, threshold, weights);
                            assert!(least <= error + 1e-7, "{other:?} beats {chosen:?}");
                        }
                    }
                }
            }
        }
    }

    /// The area under s of one band below 1/2 equals the area over 1 - s^2 of it above: both have the error 1/8.
    #[test]
    fn ties_go_to_the_fewest_bands_and_rows() {
        let banding = Banding::for_threshold(0.5, 2, ErrorWeights::EQUAL).unwrap();
        assert_eq!((banding.bands(), banding.rows()), (1, 1));
    }

    /// datasketch 1.6 and 2.0 find 24 bands at 0.8: more of them miss less than a double can tell.
    #[test]
    fn misses_below_rounding_count_as_none() {
        let weights = ErrorWeights {
            false_positive: 0.0,
            false_negative: 1.0,
        };
        let banding = Banding::for_threshold(0.8, 300, weights).unwrap();
        assert_eq!((banding.bands(), banding.rows()), (24, 1));
    }

    #[test]
    fn no_slots_have_no_banding() {
        assert!(Banding::for_threshold(0.5, 0, ErrorWeights::EQUAL).is_err());
    }
}
