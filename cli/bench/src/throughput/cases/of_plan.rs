//! All cases of a plan.

use super::builder::Builder;
use crate::corpus::BenchCorpus;
use crate::plan::Plan;
use crate::record::Absence;
use crate::targets::ComputeTarget;
use crate::throughput::runner::{Entrant, RunSchedule};
use simgpu::Result;

/// Entrants with their schedule, and what is not measured.
pub(in crate::throughput) struct Cases<'a> {
    pub(in crate::throughput) entrants: Vec<Entrant<'a>>,
    pub(in crate::throughput) absences: Vec<Absence>,
    pub(in crate::throughput) schedule: RunSchedule,
}

impl<'a> Cases<'a> {
    /// Prepares the cases of a plan.
    ///
    /// # Errors
    /// Those of [`measure`](crate::throughput::measure) that precede the first run.
    pub(in crate::throughput) fn of(
        plan: &Plan,
        targets: &[ComputeTarget],
        corpus: &'a BenchCorpus,
    ) -> Result<Self> {
        let mut builder = Builder::new(plan, targets, corpus)?;
        builder.add_hashes()?;
        builder.add_stages()?;
        if builder.sample.is_empty() {
            let why = "the corpus has no document; name another with --input";
            builder.absent("texts".to_owned(), why.to_owned());
        } else {
            builder.add_texts()?;
            builder.add_dedup()?;
        }
        Ok(Cases {
            schedule: builder.axes.scope.schedule,
            entrants: builder.entrants,
            absences: builder.absences,
        })
    }
}
