//! How far estimates are from the exact similarity, scheme by scheme.
//!
//! ```text
//! extent    which cells there are, and how many trials each gets
//! input     pairs of sets whose similarity is known
//! signing   what signs them: a scheme, or anything else
//! series    many trials of one kind of pair
//! cell      from matches to errors: a row of errors.csv
//! verdict   which schemes are not what they should be
//! ```

mod random;

mod extent;

pub mod input;

mod edits;

pub mod signing;

pub mod series;

mod cell;

pub mod verdict;

pub use input::Input;
pub use random::Random;
pub use series::Series;
pub use signing::Signing;
pub use verdict::{Fault, Finding, findings};

use super::{Absence, Corpus, Plan, Record};
use extent::{Extent, MAX_SET_SIZE};
use simgpu::backend::Backend;
use simgpu::pipeline::{Signatures, Signer};
use simgpu::progress::Progress;
use simgpu::scheme::{DEFAULT_NUM_PERM, Scheme};
use simgpu::simd::Isa;
use simgpu::{Error, Result};

/// Measures the errors of the schemes that are planned, and gives a record for each cell when its series ends.
///
/// # Errors
/// What signing fails with, and what `take` fails with.
pub fn measure(
    plan: &Plan,
    corpus: &Corpus,
    progress: &dyn Progress,
    take: &mut dyn FnMut(Record) -> Result<()>,
) -> Result<()> {
    let extent = Extent::of(plan);
    for size in extent.set_sizes.iter().filter(|it| **it > MAX_SET_SIZE) {
        take(Record::Absence(Absence {
            what: format!("estimation error of sets of {size} elements"),
            why: format!("they are too large to be drawn often; give up to {MAX_SET_SIZE}"),
        }))?;
    }
    let schemes = plan.schemes_or(extent.schemes, DEFAULT_NUM_PERM)?;
    agree(&schemes)?;
    let signings: Vec<Signing> = schemes.into_iter().map(Signing::of).collect();
    let inputs = Input::all(corpus);
    let series = extent.series(&inputs);
    progress.begin("error", series.len() as u64);
    for (done, series) in (1..).zip(&series) {
        let cells = series.measure(&signings)?;
        if cells.is_empty() {
            take(Record::Absence(series.absence()))?;
        }
        for cell in cells {
            take(Record::Error(cell))?;
        }
        progress.advance(done, 0, 0);
    }
    Ok(())
}

/// Shows that all instructions compute the definition, so that errors belong to the scheme alone.
fn agree(schemes: &[Scheme]) -> Result<()> {
    /// Elements of each set, and those that it shares with the first.
    const SETS: (usize, [usize; 3]) = (1000, [1, 500, 999]);
    let Some(pairs) = Input::Random.draw(SETS.0, &SETS.1, &mut Random::of(&[0])) else {
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
                    "{scheme} on {isa} gives other signatures than the definition"
                )));
            }
        }
    }
    Ok(())
}
