//! Measures all series of a plan.

use super::grid::{ErrorGrid, MAX_SET_SIZE};
use super::input::SetSource;
use super::random::SplitMix64;
use super::signing_function::SigningFunction;
use crate::bench::corpus::BenchCorpus;
use crate::bench::plan::Plan;
use crate::bench::record::{Absence, Row};
use simgpu::backend::Backend;
use simgpu::pipeline::{Signatures, Signer};
use simgpu::progress::{Progress, advance};
use simgpu::scheme::{DEFAULT_NUM_PERM, Scheme};
use simgpu::simd::Isa;
use simgpu::{Error, Result};

/// Most elements per set of the reference, true permutations: it permutes all elements once per slot.
const MAX_REFERENCE_SET_SIZE: usize = 128;

/// Measures the errors of all schemes of a plan, and those of true permutations if the plan names no scheme. Hands
/// the cells of each series to `take` when it ends.
///
/// # Errors
/// [`Error::Disagreement`] if a backend does not compute the definition; errors of signing and of `take`.
pub(crate) fn measure(
    plan: &Plan,
    corpus: &BenchCorpus,
    progress: &dyn Progress,
    take: &mut dyn FnMut(Row) -> Result<()>,
) -> Result<()> {
    let grid = ErrorGrid::of(plan);
    for size in grid.set_sizes.iter().filter(|it| **it > MAX_SET_SIZE) {
        take(Row::Absence(Absence {
            what: format!("estimation error of sets of {size} elements"),
            why: format!(
                "sets of more than {MAX_SET_SIZE} elements take too long; lower --lengths"
            ),
        }))?;
    }
    let schemes = plan.schemes_or(grid.schemes, DEFAULT_NUM_PERM)?;
    agree(&schemes)?;
    let named = schemes.len();
    let mut functions: Vec<SigningFunction> =
        schemes.into_iter().map(SigningFunction::of).collect();
    if plan.schemes.is_empty() {
        functions.push(SigningFunction::permutations());
    }
    let inputs = SetSource::all(corpus);
    let series = grid.series(&inputs);
    progress.begin("error", series.len() as u64);
    for (done, series) in (1..).zip(&series) {
        let has_reference = series.set_size <= MAX_REFERENCE_SET_SIZE;
        let measured = if has_reference {
            functions.len()
        } else {
            named
        };
        let cells = series.measure(&functions[..measured])?;
        if cells.is_empty() {
            take(Row::Absence(series.absence()))?;
        }
        for cell in cells {
            take(Row::Error(cell))?;
        }
        advance(progress, done, 0, 0)?;
    }
    Ok(())
}

/// Checks that all instruction sets compute the definition, so that errors are those of the scheme.
fn agree(schemes: &[Scheme]) -> Result<()> {
    /// Elements per set, and those shared with the first.
    const SETS: (usize, [usize; 3]) = (1000, [1, 500, 999]);
    let Some(pairs) = SetSource::Random.draw(SETS.0, &SETS.1, &mut SplitMix64::of(&[0])) else {
        return Ok(());
    };
    for scheme in schemes {
        let sets = pairs.sets(scheme.family().hash_width())?;
        let signed = |signer: &dyn Signer| {
            let mut signatures = Signatures::new(signer.num_perm(), signer.slot_width());
            signatures.sign(signer, &sets).map(|()| signatures)
        };
        let definition = signed(&*Backend::Scalar.signer(scheme)?)?;
        for isa in Isa::available() {
            if signed(&*Backend::Simd.signer_on(scheme, *isa)?)? != definition {
                return Err(Error::Disagreement(format!(
                    "signatures of {scheme} on {isa} differ from the definition"
                )));
            }
        }
    }
    Ok(())
}
