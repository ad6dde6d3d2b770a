//! Measures all series of a plan.

use super::grid::{ErrorGrid, MAX_SET_SIZE};
use super::input::SetSource;
use super::random::SplitMix64;
use super::signing_function::SigningFunction;
use crate::corpus::BenchCorpus;
use crate::plan::Plan;
use crate::record::{Absence, Row};
use crate::targets::ComputeTarget;
use simgpu::backend::Backend;
use simgpu::pipeline::{Signatures, Signer};
use simgpu::progress::{Progress, advance};
use simgpu::scheme::{DEFAULT_NUM_PERM, Scheme};
use simgpu::{Error, Result};

/// Most elements per set of the reference, true permutations: it permutes all elements once per slot.
const MAX_REFERENCE_SET_SIZE: usize = 128;

/// Measures the errors of all schemes of a plan, and those of true permutations if the plan names no scheme. All targets
/// sign one of the series, and the fastest instructions of the CPU all of them. Hands the cells of each series to `take`
/// when it ends.
///
/// # Errors
/// [`Error::Disagreement`] if a backend does not compute the definition; errors of signing and of `take`.
pub(crate) fn measure(
    plan: &Plan,
    targets: &[ComputeTarget],
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
    let (on_targets, absences) = on_targets(plan.schemes(DEFAULT_NUM_PERM)?, targets)?;
    for absence in absences {
        take(Row::Absence(absence))?;
    }
    let named = schemes.len();
    let mut functions: Vec<SigningFunction> =
        schemes.into_iter().map(SigningFunction::of).collect();
    if plan.schemes.is_empty() {
        functions.push(SigningFunction::permutations());
    }
    let inputs = SetSource::all(corpus);
    let compared = grid.compared(&inputs).into_iter();
    let compared = compared.map(|series| (series, on_targets.as_slice()));
    let others = grid.series(&inputs).into_iter().map(|series| {
        let has_reference = series.set_size <= MAX_REFERENCE_SET_SIZE;
        let measured = if has_reference {
            functions.len()
        } else {
            named
        };
        (series, &functions[..measured])
    });
    let all: Vec<_> = compared.chain(others).collect();
    progress.begin("error", all.len() as u64);
    for (done, (series, functions)) in (1..).zip(all) {
        let cells = series.measure(functions)?;
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

/// Every scheme on the fastest instructions of the CPU, which sign all series, then on the other targets that support
/// it; and what they do not support.
fn on_targets(
    schemes: Vec<Scheme>,
    targets: &[ComputeTarget],
) -> Result<(Vec<SigningFunction>, Vec<Absence>)> {
    let best = ComputeTarget::best_of_cpu();
    let others = targets.iter().filter(|target| !target.is_same(&best));
    let all: Vec<&ComputeTarget> = std::iter::once(&best).chain(others).collect();
    let (mut functions, mut absences) = (Vec::new(), Vec::new());
    for scheme in schemes {
        let mut supporting = Vec::new();
        for target in &all {
            match target.absence_of(&scheme) {
                Some(absence) => absences.push(absence),
                None => supporting.push((*target).clone()),
            }
        }
        agree(&scheme, &supporting)?;
        let on = |target| SigningFunction::on(scheme.clone(), target);
        functions.extend(supporting.into_iter().map(on));
    }
    Ok((functions, absences))
}

/// Checks that all targets compute the definition, so that errors are those of the scheme.
fn agree(scheme: &Scheme, targets: &[ComputeTarget]) -> Result<()> {
    /// Elements per set, and those shared with the first.
    const SETS: (usize, [usize; 3]) = (1000, [1, 500, 999]);
    let Some(pairs) = SetSource::Random.draw(SETS.0, &SETS.1, &mut SplitMix64::of(&[0])) else {
        return Ok(());
    };
    let sets = pairs.sets(scheme.family().hash_width())?;
    let signed = |signer: &dyn Signer| {
        let mut signatures = Signatures::new(signer.num_perm(), signer.slot_width());
        signatures.sign(signer, &sets).map(|()| signatures)
    };
    let definition = signed(&*Backend::Scalar.signer(scheme)?)?;
    for target in targets {
        let signer = target.signer(scheme)?;
        if signed(&*signer)? != definition {
            return Err(Error::Disagreement(format!(
                "signatures of {scheme} on {} differ from the definition",
                signer.describe()
            )));
        }
    }
    Ok(())
}
