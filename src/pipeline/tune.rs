//! Effects of bands and rows at a threshold: missed pairs, false candidates and memory.

use super::banding::{Banding, ErrorWeights};
use crate::error::Result;
use crate::scheme::Scheme;

/// The result of [`tune`]: bandings to choose from, for one threshold and one scheme.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuning {
    /// Minimum Jaccard similarity of near-duplicates.
    pub threshold: f64,
    /// Slots per signature.
    pub num_perm: usize,
    /// The threshold -0.2, -0.1, 0, +0.1 and +0.2; `None` outside 0 to 1.
    pub similarities: [Option<f64>; 5],
    /// The bandings with the least weighted error, by ascending weight of a false negative.
    pub by_weight: Vec<BandingEffect>,
    /// The default banding of the scheme ([`Banding::for_scheme`]).
    pub default: BandingEffect,
    /// The banding requested by the caller.
    pub requested: Option<BandingEffect>,
}

/// A banding and its effect on pairs around a threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BandingEffect {
    /// Bands and rows.
    pub banding: Banding,
    /// The weight w of a false negative that led to this banding; a false positive has weight 1 - w. `None` if
    /// a preset or the caller chose the banding.
    pub false_negative_weight: Option<f64>,
    /// Probability that a pair becomes a candidate, for each of [`Tuning::similarities`].
    pub candidates: [Option<f64>; 5],
    /// Bytes of band keys per document.
    pub key_bytes: usize,
    /// Area under the S-curve below the threshold.
    pub false_positive_area: f64,
    /// Area over the S-curve above the threshold.
    pub false_negative_area: f64,
}

/// Weights of a false negative.
const WEIGHTS: [f64; 6] = [0.05, 0.5, 0.8, 0.9, 0.95, 0.99];

/// Differences between [`Tuning::similarities`] and the threshold.
const OFFSETS: [f64; 5] = [-0.2, -0.1, 0.0, 0.1, 0.2];

/// Sums of decimals, such as 0.8 + 0.2, may exceed 1 by a rounding error.
const ROUNDING: f64 = 1e-9;

/// Computes the effect of bandings at a threshold: the best banding for each weight, the default of the
/// scheme, and `requested`.
///
/// ```
/// use simgpu::pipeline::{Banding, tune};
/// use simgpu::scheme::Scheme;
///
/// let scheme = Scheme::named("affine32")?;
/// let tuning = tune(0.8, &scheme, Some(Banding::new(20, 5, scheme.num_perm())?))?;
/// let default = tuning.default;
/// assert_eq!((default.banding.bands(), default.banding.rows()), (16, 8));
/// assert_eq!(default.key_bytes, 128);
/// // It finds 94.7 % of the pairs at the threshold. 20 bands of 5 rows find more of them, but also more
/// // dissimilar pairs.
/// assert!((default.candidates[2].unwrap() - 0.947).abs() < 1e-3);
/// let requested = tuning.requested.unwrap();
/// assert!(requested.false_negative_area < default.false_negative_area);
/// assert!(requested.false_positive_area > default.false_positive_area);
/// # Ok::<(), simgpu::Error>(())
/// ```
///
/// # Errors
/// [`Error::Parameter`](crate::Error::Parameter) if the threshold lies outside (0, 1], or `requested` needs
/// more slots than the scheme has.
pub fn tune(threshold: f64, scheme: &Scheme, requested: Option<Banding>) -> Result<Tuning> {
    let num_perm = scheme.num_perm();
    let requested = match requested {
        Some(banding) => Some(Banding::new(banding.bands(), banding.rows(), num_perm)?),
        None => None,
    };
    let default = Banding::for_scheme(threshold, scheme)?;
    let similarities = OFFSETS.map(|offset| {
        let similarity = threshold + offset;
        let is_similarity = (0.0..=1.0 + ROUNDING).contains(&similarity);
        is_similarity.then(|| similarity.min(1.0))
    });
    let effect = |banding: Banding, false_negative_weight: Option<f64>| {
        let (false_positive_area, false_negative_area) = banding.error_areas(threshold);
        BandingEffect {
            banding,
            false_negative_weight,
            candidates: similarities.map(|s| s.map(|s| banding.candidate_probability(s))),
            key_bytes: size_of::<u64>() * banding.bands(),
            false_positive_area,
            false_negative_area,
        }
    };
    let weighted_effect = |false_negative: f64| {
        let weights = ErrorWeights {
            false_positive: 1.0 - false_negative,
            false_negative,
        };
        let banding = Banding::for_threshold(threshold, num_perm, weights)?;
        Ok(effect(banding, Some(false_negative)))
    };
    let is_weighted = scheme.preset().is_none();
    Ok(Tuning {
        threshold,
        num_perm,
        similarities,
        by_weight: WEIGHTS
            .into_iter()
            .map(weighted_effect)
            .collect::<Result<_>>()?,
        default: effect(
            default,
            is_weighted.then_some(ErrorWeights::VERIFIED.false_negative),
        ),
        requested: requested.map(|banding| effect(banding, None)),
    })
}

impl Banding {
    /// Samples the S-curve: divides 0 to 1 into `points` equal parts and returns
    /// [`Banding::candidate_probability`] at the middle of each.
    pub fn s_curve(&self, points: u32) -> impl ExactSizeIterator<Item = f64> + use<> {
        let banding = *self;
        (0..points).map(move |point| {
            let similarity = (f64::from(point) + 0.5) / f64::from(points);
            banding.candidate_probability(similarity)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similarities_stay_between_0_and_1() {
        let scheme = Scheme::default();
        let at = |threshold: f64| tune(threshold, &scheme, None).unwrap();
        let tuning = at(0.8);
        assert_eq!(tuning.similarities[4], Some(1.0));
        assert_eq!(tuning.default.candidates[4], Some(1.0));
        let tuning = at(0.15);
        assert_eq!(tuning.similarities[0], None);
        assert_eq!(tuning.default.candidates[0], None);
        assert_eq!(at(0.2).similarities[0], Some(0.0));
        assert_eq!(at(1.0).similarities[3..], [None, None]);
    }

    #[test]
    fn the_default_has_a_weight_without_a_preset() {
        let tuning = tune(0.8, &Scheme::default(), None).unwrap();
        let weight = tuning.default.false_negative_weight;
        let same = |effect: &&BandingEffect| effect.false_negative_weight == weight;
        let weighted = tuning.by_weight.iter().find(same);
        assert_eq!(weighted, Some(&tuning.default));
        let tuning = tune(0.8, &Scheme::named("nemo").unwrap(), None).unwrap();
        assert_eq!(tuning.default.false_negative_weight, None);
    }

    #[test]
    fn bandings_of_too_many_slots_are_errors() {
        let banding = Banding::new(32, 8, 256).unwrap();
        assert!(tune(0.8, &Scheme::default(), Some(banding)).is_err());
    }

    #[test]
    fn the_s_curve_rises_from_0_to_1() {
        let curve: Vec<f64> = Banding::new(16, 8, 128).unwrap().s_curve(60).collect();
        assert_eq!(curve.len(), 60);
        assert!(curve.is_sorted() && curve[0] < 1e-12 && curve[59] > 1.0 - 1e-12);
    }
}
