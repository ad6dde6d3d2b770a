//! Share of pairs that become candidates: the S-curve (MMDS 3.4.2), measured.

use rayon::prelude::*;

use crate::CandidateCount;
use crate::error::{SetSource, SigningFunction, SplitMix64, similarity_of};
use crate::statistics::binomial_band;
use simgpu::Result;
use simgpu::pipeline::Banding;

/// Elements per set: enough for similarities in steps of a hundredth.
const SET_SIZE: usize = 200;

/// Shared elements for similarities from 0.05 to 0.96, about 0.1 apart.
const SHARED: [usize; 11] = [19, 36, 67, 92, 114, 133, 150, 165, 178, 190, 196];

/// Share of the binomial within its range.
const CONFIDENCE: f64 = 0.95;

/// Counts pairs of random sets that share the key of a band; one row per similarity and banding. Each pair has its own
/// elements and seed, so that counts are binomial.
///
/// # Errors
/// Errors of signing.
pub fn measure_candidates(
    function: &SigningFunction,
    num_perm: u32,
    bandings: &[Banding],
    pairs: usize,
) -> Result<Vec<CandidateCount>> {
    let trials = (0..pairs as u64).into_par_iter();
    let trials: Vec<Vec<bool>> = trials
        .map(|trial| candidates_of(function, num_perm, bandings, trial))
        .collect::<Result<_>>()?;
    let cells = SHARED.iter().enumerate().flat_map(|(at, shared)| {
        let similarity = similarity_of(SET_SIZE, *shared);
        let bandings = bandings.iter().enumerate();
        bandings.map(move |(number, banding)| (number * SHARED.len() + at, similarity, banding))
    });
    let row = |(column, similarity, banding): (usize, f64, &Banding)| {
        let candidates = trials
            .iter()
            .filter(|trial| trial.get(column) == Some(&true))
            .count();
        let expected_share = banding.candidate_probability(similarity);
        let (low, high) = binomial_band(pairs as u64, expected_share, CONFIDENCE);
        CandidateCount {
            scheme: function.name.clone(),
            num_perm,
            bands: u32::try_from(banding.bands()).unwrap_or(u32::MAX),
            rows: u32::try_from(banding.rows()).unwrap_or(u32::MAX),
            similarity,
            pairs: pairs as u64,
            candidates: candidates as u64,
            expected_share,
            low_share: low as f64 / pairs as f64,
            high_share: high as f64 / pairs as f64,
        }
    };
    Ok(cells.map(row).collect())
}

/// Whether a pair of each similarity becomes a candidate, `[bandings, similarities]`.
#[allow(clippy::cast_possible_truncation, reason = "a seed has 32 bits")]
fn candidates_of(
    function: &SigningFunction,
    num_perm: u32,
    bandings: &[Banding],
    trial: u64,
) -> Result<Vec<bool>> {
    let mut found = vec![false; bandings.len() * SHARED.len()];
    for (at, shared) in SHARED.into_iter().enumerate() {
        let mut random = SplitMix64::of(&[shared as u64, trial]);
        let signer = (function.new_signer)(num_perm, random.next_u64() as u32)?;
        let Some(pairs) = SetSource::Random.draw(SET_SIZE, &[shared], &mut random) else {
            continue;
        };
        let sets = pairs.sets(function.hash_width)?;
        for (number, banding) in bandings.iter().enumerate() {
            let mut keys = vec![0; sets.len() * banding.bands()];
            signer.band_keys(&sets, *banding, &mut keys)?;
            let (a, b) = keys.split_at(banding.bands());
            if let Some(is_candidate) = found.get_mut(number * SHARED.len() + at) {
                *is_candidate = a.iter().zip(b).any(|(a, b)| a == b);
            }
        }
    }
    Ok(found)
}
