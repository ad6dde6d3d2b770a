//! Measures all cases of a plan.

use super::cases::Cases;
use super::clock::Monotonic;
use super::runner::run_rounds;
use crate::corpus::BenchCorpus;
use crate::plan::Plan;
use crate::record::Row;
use crate::targets::ComputeTarget;
use simgpu::Result;
use simgpu::progress::Progress;

/// Measures the throughput of all cases of a plan, and hands each run to `take` as it ends.
///
/// # Errors
/// [`Error::Parameter`](simgpu::Error) for axes out of range, [`Error::Disagreement`](simgpu::Error) if two targets compute
/// different signatures, and errors of stages and of `take`.
pub(crate) fn measure(
    plan: &Plan,
    targets: &[ComputeTarget],
    corpus: &BenchCorpus,
    progress: &dyn Progress,
    take: &mut dyn FnMut(Row) -> Result<()>,
) -> Result<()> {
    let Cases {
        mut entrants,
        absences,
        schedule,
    } = Cases::of(plan, targets, corpus)?;
    for absence in absences {
        take(Row::Absence(absence))?;
    }
    run_rounds(&mut entrants, schedule, &Monotonic::start(), progress, take)
}
