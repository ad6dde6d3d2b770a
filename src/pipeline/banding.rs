//! Cuts signatures into bands and computes the band keys (MMDS 3.4).
//!
//! A band has `rows` slots. Two documents are candidates if they agree in all slots of at least one band.

use super::quadrature::gauss_legendre;
use crate::error::{Conflict, Error, Result};
use crate::scheme::Slots;
use crate::scheme::{PresetBanding, Scheme};
use crate::simd::block_hash::murmur3_32_of_blocks;

/// Number of bands b and rows per band r, which shape the S-curve `1 - (1 - s^r)^b` (MMDS 3.4.2).
///
/// ```
/// use simgpu::pipeline::{Banding, ErrorWeights};
///
/// let banding = Banding::for_threshold(0.8, 128, ErrorWeights::VERIFIED)?;
/// assert_eq!((banding.bands(), banding.rows()), (16, 8));
/// assert!(banding.candidate_probability(0.8) > 0.94);
/// assert!(banding.candidate_probability(0.4) < 0.02);
/// # Ok::<(), simgpu::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Banding {
    bands: usize,
    rows: usize,
}

/// Weights of false positives and false negatives for [`Banding::for_threshold`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorWeights {
    /// Weight of false positives, which are measured by the area under the S-curve below the threshold.
    pub false_positive: f64,
    /// Weight of false negatives, which are measured by the area over the S-curve above the threshold.
    pub false_negative: f64,
}

impl ErrorWeights {
    /// Equal weights: datasketch's default, with the same results.
    pub const EQUAL: ErrorWeights = ErrorWeights {
        false_positive: 0.5,
        false_negative: 0.5,
    };

    /// Weights for runs that verify candidates: verification removes false positives, but a missed pair is
    /// lost.
    pub const VERIFIED: ErrorWeights = ErrorWeights {
        false_positive: 0.05,
        false_negative: 0.95,
    };
}

impl Banding {
    /// `bands` bands of `rows` slots each, for signatures of `num_perm` slots.
    ///
    /// # Errors
    /// [`Error::Parameter`] if either is 0, or if they need more than `num_perm` slots.
    pub fn new(bands: usize, rows: usize, num_perm: usize) -> Result<Self> {
        if bands == 0 || rows == 0 || bands.saturating_mul(rows) > num_perm {
            return Err(Error::Parameter {
                name: "bands x rows",
                value: format!("{bands} x {rows}"),
                expected: format!(
                    "at least 1 x 1, with a product of at most {num_perm}, the value of `num_perm`"
                ),
            });
        }
        Ok(Banding { bands, rows })
    }

    /// The default banding of a scheme. Without a preset: the best one for the threshold under
    /// [`ErrorWeights::VERIFIED`]. For a preset: the bands and rows that its tool fixes, if the number of permutations
    /// is the preset's; otherwise the best ones under [`ErrorWeights::EQUAL`].
    ///
    /// # Errors
    /// As [`Banding::for_threshold`].
    pub fn for_scheme(threshold: f64, scheme: &Scheme) -> Result<Self> {
        check_threshold(threshold)?;
        let num_perm = scheme.num_perm();
        match scheme.preset() {
            None => Banding::for_threshold(threshold, num_perm, ErrorWeights::VERIFIED),
            Some(preset) => match preset.banding {
                PresetBanding::Fixed { bands, rows } if num_perm == preset.num_perm as usize => {
                    Banding::new(bands, rows, num_perm)
                }
                _ => Banding::for_threshold(threshold, num_perm, ErrorWeights::EQUAL),
            },
        }
    }

    /// Number of bands.
    pub fn bands(&self) -> usize {
        self.bands
    }

    /// Slots per band.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Checks that signatures of `num_perm` slots have all bands.
    ///
    /// # Errors
    /// [`Conflict::BandsTooMany`] if they do not.
    #[doc(hidden)]
    pub fn check_fits(&self, num_perm: usize) -> Result<()> {
        let Banding { bands, rows } = *self;
        if bands * rows > num_perm {
            return Err(Conflict::BandsTooMany {
                bands,
                rows,
                num_perm,
            }
            .into());
        }
        Ok(())
    }

    /// The probability that two sets of this Jaccard similarity become candidates: `1 - (1 - s^r)^b`.
    pub fn candidate_probability(&self, similarity: f64) -> f64 {
        1.0 - self.miss_probability(similarity)
    }

    fn miss_probability(&self, similarity: f64) -> f64 {
        (1.0 - similarity.powf(self.rows as f64)).powf(self.bands as f64)
    }

    /// The area of false positives, which lies under the S-curve left of `threshold`, and the area of false negatives,
    /// which lies over the S-curve right of `threshold`.
    ///
    /// They are the probabilities of each error for a pair of uniformly distributed similarity.
    pub fn error_areas(&self, threshold: f64) -> (f64, f64) {
        /// The S-curve bends sharply but is a polynomial: with 64 panels of degree 15 the error is below the rounding
        /// of a double.
        const PANELS: u32 = 64;
        let missed = |from, to| {
            let nodes = gauss_legendre(from, to, PANELS);
            let areas = nodes.map(|(similarity, weight)| {
                let factor = 1.0 - power(similarity, self.rows);
                (0..self.bands).fold(weight, |all, _| all * factor)
            });
            areas.sum::<f64>()
        };
        (threshold - missed(0.0, threshold), missed(threshold, 1.0))
    }
}

/// The probability that all of so many slots are equal, if each is with probability `equal`.
pub(super) fn power(equal: f64, slots: usize) -> f64 {
    // Saturates: no tool draws 2^31 permutations, and a double shows no difference between such powers.
    equal.powi(i32::try_from(slots).unwrap_or(i32::MAX))
}

/// Checks that a threshold lies in (0, 1].
///
/// # Errors
/// [`Error::Parameter`] if it does not.
pub fn check_threshold(threshold: f64) -> Result<()> {
    if threshold > 0.0 && threshold <= 1.0 {
        Ok(())
    } else {
        Err(Error::Parameter {
            name: "threshold",
            value: threshold.to_string(),
            expected: "a similarity above 0 and up to 1".to_owned(),
        })
    }
}

/// The key of a band, from its slots, version 1: `hi << 32 | lo`. The halves are murmur3-32 of the slots as
/// little-endian bytes, `hi` with seed `band ^ 0x9E3779B9` and `lo` with seed `band`.
///
/// Compare keys only with keys of the same band.
#[allow(
    clippy::cast_possible_truncation,
    reason = "a slot is split into halves"
)]
pub fn band_key(band: u32, slots: Slots<'_>) -> u64 {
    let seeds = [band, band ^ 0x9E37_79B9];
    let [low, high] = match slots {
        Slots::U32(slots) => murmur3_32_of_blocks(slots.iter().copied(), seeds),
        Slots::U64(slots) => {
            let halves = slots
                .iter()
                .flat_map(|slot| [*slot as u32, (*slot >> 32) as u32]);
            murmur3_32_of_blocks(halves, seeds)
        }
    };
    u64::from(high) << 32 | u64::from(low)
}

/// The slots of one band of a signature.
pub(super) fn slots_of_band(signature: Slots<'_>, banding: Banding, band: usize) -> Slots<'_> {
    signature.range(band * banding.rows..(band + 1) * banding.rows)
}

/// Writes the keys of all bands of a signature in order of bands.
#[allow(
    clippy::cast_possible_truncation,
    reason = "there are at most num_perm bands, and num_perm is a u32"
)]
pub(crate) fn keys_of_row(row: Slots<'_>, banding: Banding, keys: &mut [u64]) {
    for (band, key) in keys.iter_mut().enumerate().take(banding.bands) {
        *key = band_key(band as u32, slots_of_band(row, banding, band));
    }
}

/// Checks that `keys` has one entry per set and band, and that bands fit into `num_perm` slots.
pub(crate) fn check_keys(
    keys: &[u64],
    sets: usize,
    banding: Banding,
    num_perm: usize,
) -> Result<()> {
    banding.check_fits(num_perm)?;
    let bands = banding.bands;
    if keys.len() != sets * bands {
        return Err(Conflict::BandKeyRoom {
            sets,
            bands,
            keys: keys.len(),
        }
        .into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_are_exact() {
        // The integral of (1 - s^2)^2 is 203/480 below 1/2 and 53/480 above.
        let (below, above) = Banding { bands: 2, rows: 2 }.error_areas(0.5);
        assert!((below - (0.5 - 203.0 / 480.0)).abs() < 1e-15, "{below}");
        assert!((above - 53.0 / 480.0).abs() < 1e-15, "{above}");
    }

    #[test]
    fn bandings_out_of_range_are_errors() {
        for (bands, rows) in [(0, 1), (1, 0), (16, 9), (usize::MAX, 2)] {
            assert!(Banding::new(bands, rows, 128).is_err());
        }
        for threshold in [0.0, -0.1, 1.1, f64::NAN] {
            assert!(Banding::for_threshold(threshold, 128, ErrorWeights::EQUAL).is_err());
        }
    }

    #[test]
    fn default_banding_at_threshold_0_8() {
        let banding = Banding::for_threshold(0.8, 128, ErrorWeights::VERIFIED).unwrap();
        assert_eq!((banding.bands(), banding.rows()), (16, 8));
        assert!((banding.candidate_probability(0.8) - 0.947).abs() < 1e-3);
    }
}
