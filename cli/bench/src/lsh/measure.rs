//! Measures all bandings, schemes and thresholds of a plan.

use super::found::{EvaluationCorpus, PipelineSettings, Truth};
use super::s_curve;
use crate::corpus::BenchCorpus;
use crate::error::SigningFunction;
use crate::plan::{Effort, Plan, SCHEMES};
use crate::record::{Absence, Row};
use simgpu::Result;
use simgpu::pipeline::{Banding, ErrorWeights};
use simgpu::progress::{Progress, advance};
use simgpu::scheme::{DEFAULT_NUM_PERM, Scheme};
use simgpu::search::Verification;

/// Bands and rows of the measured S-curves. Those that need too many slots are skipped; if all are, the best banding for
/// 0.8 is measured.
const BANDINGS: [(usize, usize); 4] = [(32, 4), (25, 5), (16, 8), (9, 13)];

/// Compares candidates with the S-curve, and pipelines with exact search. Hands each row to `take`.
///
/// # Errors
/// Errors of stages and of `take`.
pub(crate) fn measure(
    plan: &Plan,
    corpus: &BenchCorpus,
    progress: &dyn Progress,
    take: &mut dyn FnMut(Row) -> Result<()>,
) -> Result<()> {
    let grid = LshGrid::of(plan);
    let num_perms = match plan.num_perms.as_slice() {
        [] => vec![DEFAULT_NUM_PERM],
        named => named.to_vec(),
    };
    let judged = JudgedCorpus::new(corpus, grid.thresholds)?;
    if !corpus.texts.is_empty() {
        for truth in &judged.truths {
            take(Row::Found(judged.documents.join(truth)?))?;
        }
    }
    for num_perm in num_perms {
        let schemes = plan.schemes_or(grid.schemes, num_perm)?;
        grid.measure_candidates(&schemes, progress, take)?;
        if corpus.texts.is_empty() {
            take(Row::Absence(Absence {
                what: "recall and precision".to_owned(),
                why: "the corpus has no document; name another with --input".to_owned(),
            }))?;
            continue;
        }
        grid.measure_found(&schemes, &judged, progress, take)?;
    }
    Ok(())
}

/// The corpus that pipelines search, and its true pairs at each threshold.
struct JudgedCorpus {
    documents: EvaluationCorpus,
    truths: Vec<Truth>,
}

impl JudgedCorpus {
    fn new(corpus: &BenchCorpus, thresholds: &[f64]) -> Result<Self> {
        let documents = EvaluationCorpus::of(corpus)?;
        let truths = thresholds.iter().map(|it| documents.truth(*it)).collect();
        Ok(JudgedCorpus { documents, truths })
    }
}

/// The axes of the measurement.
struct LshGrid {
    /// Default schemes.
    schemes: &'static [&'static str],
    /// Pairs per similarity.
    pairs: usize,
    /// Thresholds of pipelines.
    thresholds: &'static [f64],
    /// Runs per pipeline, each with its own seed.
    seeds: u32,
}

impl LshGrid {
    fn of(plan: &Plan) -> Self {
        match plan.effort {
            Effort::Quick => LshGrid {
                schemes: &["affine32"],
                pairs: 500,
                thresholds: &[0.8],
                seeds: 1,
            },
            Effort::Usual => LshGrid {
                schemes: &SCHEMES,
                pairs: 1000,
                thresholds: &[0.8, 0.5],
                seeds: 2,
            },
            Effort::Full => LshGrid {
                schemes: &SCHEMES,
                pairs: 20_000,
                thresholds: &[0.8, 0.5],
                seeds: 20,
            },
        }
    }

    fn measure_candidates(
        &self,
        schemes: &[Scheme],
        progress: &dyn Progress,
        take: &mut dyn FnMut(Row) -> Result<()>,
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
            let function = SigningFunction::of(scheme.clone());
            let num_perm = u32::try_from(num_perm).unwrap_or(u32::MAX);
            for row in s_curve::measure_candidates(&function, num_perm, &bandings, self.pairs)? {
                take(Row::Candidates(row))?;
            }
            advance(progress, done, 0, 0)?;
        }
        Ok(())
    }

    fn measure_found(
        &self,
        schemes: &[Scheme],
        judged: &JudgedCorpus,
        progress: &dyn Progress,
        take: &mut dyn FnMut(Row) -> Result<()>,
    ) -> Result<()> {
        progress.begin("found", schemes.len() as u64 * u64::from(self.seeds));
        let mut done = 0;
        for scheme in schemes {
            for seed in 1..=self.seeds {
                // Verification by signature and removal vary little between seeds.
                let verifications = match seed {
                    1 => &[Verification::Exact, Verification::Signature][..],
                    _ => &[Verification::Exact],
                };
                for truth in &judged.truths {
                    for verification in verifications {
                        let pipeline = PipelineSettings {
                            scheme: scheme.clone(),
                            seed,
                            verification: *verification,
                            removes: seed == 1 && *verification == Verification::Exact,
                        };
                        take(Row::Found(judged.documents.find(truth, &pipeline)?))?;
                    }
                }
                done += 1;
                advance(progress, done, 0, 0)?;
            }
        }
        Ok(())
    }
}
