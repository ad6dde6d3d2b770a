//! A whole measurement: all parts of a plan, written to a folder while rows arrive.

use std::time::{Duration, Instant};

use crate::corpus::BenchCorpus;
use crate::folder::ResultsFolder;
use crate::plan::{BenchPart, Plan};
use crate::record::{Absence, Row};
use crate::targets::{ComputeTarget, targets};
use crate::{error, lsh, throughput};
use simgpu::progress::Progress;
use simgpu::{Error, Result};

/// Minimum time between two renderings of summary and report.
const RENDER_INTERVAL: Duration = Duration::from_secs(1);

/// A plan with its corpus and the backends that it measures.
#[derive(Debug)]
pub struct Measurement {
    plan: Plan,
    corpus: BenchCorpus,
    targets: Vec<ComputeTarget>,
    /// Backends that this machine lacks.
    absences: Vec<Absence>,
}

impl Measurement {
    /// Reads the corpus of a plan and finds its backends.
    ///
    /// # Errors
    /// Those of [`BenchCorpus::read`]; [`Error::Parameter`](simgpu::Error) for `auto`, which chooses among the other
    /// backends; [`Error::Unsupported`](simgpu::Error) for a named device or backend that is missing.
    pub fn prepare(plan: Plan) -> Result<Self> {
        let corpus = BenchCorpus::read(plan.input.as_deref())?;
        let (targets, absences) = targets(&plan)?;
        Ok(Measurement {
            plan,
            corpus,
            targets,
            absences,
        })
    }

    /// Measures, and writes each row to the folder as it arrives; summary and report follow at most a second later.
    ///
    /// # Errors
    /// [`Error::Parameter`](simgpu::Error) for axes out of range, [`Error::Disagreement`](simgpu::Error) if two backends
    /// compute different signatures, [`Error::Stopped`](simgpu::Error), [`Error::Io`](simgpu::Error), and errors of stages.
    pub fn run(&self, folder: &mut ResultsFolder, progress: &dyn Progress) -> Result<()> {
        let measured = self.measure(folder, progress);
        // Who stops a measurement keeps its rows.
        if matches!(measured, Ok(()) | Err(Error::Stopped)) {
            folder.complete()?;
        }
        measured
    }

    fn measure(&self, folder: &mut ResultsFolder, progress: &dyn Progress) -> Result<()> {
        let mut rendered = Instant::now();
        let mut take = |row: Row| {
            // Several parts may miss the same.
            if matches!(&row, Row::Absence(absence) if folder.tables.absent.contains(absence)) {
                return Ok(());
            }
            folder.add(row)?;
            if rendered.elapsed() >= RENDER_INTERVAL {
                folder.render()?;
                rendered = Instant::now();
            }
            Ok(())
        };
        for absence in &self.absences {
            take(Row::Absence(absence.clone()))?;
        }
        let (plan, targets, corpus) = (&self.plan, &self.targets, &self.corpus);
        if plan.has(BenchPart::Throughput) {
            throughput::measure(plan, targets, corpus, progress, &mut take)?;
        }
        if plan.has(BenchPart::Error) {
            error::measure(plan, targets, corpus, progress, &mut take)?;
        }
        if plan.has(BenchPart::Lsh) {
            lsh::measure(plan, corpus, progress, &mut take)?;
        }
        folder.render()
    }
}
