//! All cases of a plan.

use super::builder::Builder;
use crate::bench::corpus::Corpus;
use crate::bench::plan::Plan;
use crate::bench::record::Absence;
use crate::bench::throughput::runner::{Entrant, Rounds};
use simgpu::Result;

/// What is measured, and how often.
pub(in crate::bench::throughput) struct Cases<'a> {
    pub(in crate::bench::throughput) entrants: Vec<Entrant<'a>>,
    pub(in crate::bench::throughput) absences: Vec<Absence>,
    pub(in crate::bench::throughput) rounds: Rounds,
}

impl<'a> Cases<'a> {
    /// Prepares the cases of a plan.
    ///
    /// # Errors
    /// Those of [`measure`](crate::bench::throughput::measure) that precede the first run.
    pub(in crate::bench::throughput) fn of(plan: &Plan, corpus: &'a Corpus) -> Result<Self> {
        let mut builder = Builder::new(plan, corpus)?;
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
            rounds: builder.axes.scope.rounds,
            entrants: builder.entrants,
            absences: builder.absences,
        })
    }
}
