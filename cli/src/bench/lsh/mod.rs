//! Which pairs become candidates, and what whole pipelines find of what there is.
//!
//! ```text
//! s_curve   pairs that become candidates, by similarity: rows of candidates.csv
//! truth     all pairs of a corpus whose exact similarity reaches a threshold
//! found     which of them a pipeline finds: rows of found.csv
//! ```

pub mod s_curve;

pub mod truth;

pub mod found;

use super::error::Signing;
use super::plan::SCHEMES;
use super::{Absence, Corpus, Effort, Plan, Record};
use found::{Documents, Pipeline, Truth};
use simgpu::Result;
use simgpu::jobs::Verification;
use simgpu::pipeline::{Banding, ErrorWeights};
use simgpu::progress::Progress;
use simgpu::scheme::{DEFAULT_NUM_PERM, Scheme};

/// Bands and rows whose S-curve is measured, where there are slots for any; else those that are best for 0.8.
const BANDINGS: [(usize, usize); 4] = [(32, 4), (25, 5), (16, 8), (9, 13)];

/// Measures candidates against the S-curve, and pipelines against exact truth.
///
/// # Errors
/// What a stage fails with, and what `take` fails with.
pub fn measure(
    plan: &Plan,
    corpus: &Corpus,
    progress: &dyn Progress,
    take: &mut dyn FnMut(Record) -> Result<()>,
) -> Result<()> {
    let extent = Extent::of(plan);
    let num_perms = match plan.num_perms.as_slice() {
        [] => vec![DEFAULT_NUM_PERM],
        asked => asked.to_vec(),
    };
    let documents = Documents::of(corpus)?;
    let thresholds = extent.thresholds.iter();
    let truths: Vec<Truth> = thresholds.map(|it| documents.truth(*it)).collect();
    for num_perm in num_perms {
        let schemes = plan.schemes_or(extent.schemes, num_perm)?;
        measure_candidates(&extent, &schemes, progress, take)?;
        if corpus.texts.is_empty() {
            take(Record::Absence(Absence {
                what: "recall and precision".to_owned(),
                why: "the corpus has no document; name another with --input".to_owned(),
            }))?;
            continue;
        }
        measure_found(&extent, &schemes, (&documents, &truths), progress, take)?;
    }
    Ok(())
}

/// How much is measured.
struct Extent {
    /// Schemes that are measured if none are named.
    schemes: &'static [&'static str],
    /// Pairs of each similarity.
    pairs: usize,
    /// The least similarities of pairs that pipelines look for.
    thresholds: &'static [f64],
    /// Runs of each pipeline.
    seeds: u32,
}

impl Extent {
    fn of(plan: &Plan) -> Self {
        match plan.effort {
            Effort::Quick => Extent {
                schemes: &["affine32"],
                pairs: 500,
                thresholds: &[0.8],
                seeds: 1,
            },
            Effort::Usual => Extent {
                schemes: &SCHEMES,
                pairs: 1000,
                thresholds: &[0.8, 0.5],
                seeds: 2,
            },
            Effort::Full => Extent {
                schemes: &SCHEMES,
                pairs: 20_000,
                thresholds: &[0.8, 0.5],
                seeds: 20,
            },
        }
    }
}

fn measure_candidates(
    extent: &Extent,
    schemes: &[Scheme],
    progress: &dyn Progress,
    take: &mut dyn FnMut(Record) -> Result<()>,
) -> Result<()> {
    progress.begin("candidates", schemes.len() as u64);
    for (done, scheme) in (1..).zip(schemes) {
        let num_perm = scheme.num_perm();
        let banding = |(bands, rows)| Banding::new(bands, rows, num_perm).ok();
        let mut bandings: Vec<Banding> = BANDINGS.into_iter().filter_map(banding).collect();
        if bandings.is_empty() {
            let best = Banding::for_threshold(0.8, num_perm, ErrorWeights::VERIFIED)?;
            bandings.push(best);
        }
        let signing = Signing::of(scheme.clone());
        let num_perm = u32::try_from(num_perm).unwrap_or(u32::MAX);
        for row in s_curve::measure(&signing, num_perm, &bandings, extent.pairs)? {
            take(Record::Candidates(row))?;
        }
        progress.advance(done, 0, 0);
    }
    Ok(())
}

fn measure_found(
    extent: &Extent,
    schemes: &[Scheme],
    (documents, truths): (&Documents, &[Truth]),
    progress: &dyn Progress,
    take: &mut dyn FnMut(Record) -> Result<()>,
) -> Result<()> {
    progress.begin("found", schemes.len() as u64 * u64::from(extent.seeds));
    let mut done = 0;
    for scheme in schemes {
        for seed in 1..=extent.seeds {
            // What verification by signature adds, and what is kept, is much the same for all seeds.
            let verifications = match seed {
                1 => &[Verification::Exact, Verification::Signature][..],
                _ => &[Verification::Exact],
            };
            for truth in truths {
                for verification in verifications {
                    let pipeline = Pipeline {
                        scheme: scheme.clone(),
                        seed,
                        verification: *verification,
                        removes: seed == 1 && *verification == Verification::Exact,
                    };
                    take(Record::Found(documents.find(truth, &pipeline)?))?;
                }
            }
            done += 1;
            progress.advance(done, 0, 0);
        }
    }
    Ok(())
}
