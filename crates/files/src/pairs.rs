//! Finds all similar pairs of documents in files.

mod target;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use super::outcome::Outcome;
use super::page::report_page;
use super::pairs_overview::PassingPairs;
use super::resume::ended;
use super::run::Run;
use super::samples::{Sampler, Samples};
use super::source::FileSource;
use simgpu::error::Result;
use simgpu::pipeline::Pairing;
use simgpu::progress::Timings;
use simgpu::search::{
    Context, DocumentPair, PairSearch, Pairs, PairsFound, Searched, Verification,
};
use simgpu_io::{PairsParameters, Report};

pub use target::{PairsOutput, RowForms, Target};

impl Run<'_> {
    /// Finds all similar pairs and writes them: `id_a`, `id_b`, `similarity` or `distance`, `file_a`, `row_a`,
    /// `file_b`, `row_b`. Their order is that of [`pairs()`](simgpu::search::pairs()). Memory does not grow with the
    /// number of pairs. With [`Run::page`], a page that shows them is written beside a file of pairs.
    ///
    /// # Errors
    /// Any error of reading the inputs or writing the output, and [`Error::Stopped`](simgpu::Error::Stopped) if
    /// the progress stops the run. After an error there is no new output file, and an earlier one is unchanged.
    /// A stream may have received some pairs.
    pub fn pairs(self, task: &Pairs, output: PairsOutput<'_>) -> Result<Outcome> {
        let file = output.file().map(Path::to_owned);
        let temporary = self.temporary.clone();
        let temporary = temporary.unwrap_or_else(|| output.temporary());
        let progress = self.options.progress;
        let outcome = self.pairs_into(task, output);
        ended(outcome, &temporary, file.as_deref(), progress)
    }

    fn pairs_into(self, task: &Pairs, mut output: PairsOutput<'_>) -> Result<Outcome> {
        let file = output.file().map(Path::to_owned);
        let search = &task.search;
        self.check_outputs(&output.names())?;
        let mut target = Target::open(
            &mut output,
            self.options.overwrite,
            self.options.compression_level,
        )?;
        target.set_page(self.page)?;
        let held_bytes = match search.verification {
            Verification::Exact => self.held_bytes,
            Verification::None | Verification::Signature => 0,
        };
        let mut timings = Timings::default();
        let temporary = target.temporary.clone();
        let mut source = FileSource::open(&self, held_bytes, temporary, &mut timings)?;
        let parameters = self.pairs_parameters(task);
        source.set_budget(file.as_deref(), search, parameters, self.memory_bytes())?;
        let (engine, progress) = (self.engine, self.options.progress);
        let context = &mut Context {
            search,
            pairing: Pairing::Across,
            progress,
            timings: &mut timings,
        };
        let searched = Searched::read(&mut source, engine, context)?;
        let pairs = PairSearch::new(searched, task, progress, &mut timings)?;
        let passing = self.page.then(|| {
            let passing = PassingPairs::new(&source.places, pairs.search());
            RefCell::new(passing)
        });
        let streamed = timings.time("compare and write", 0, || {
            let seen = |pair: &DocumentPair| {
                let mut passing = passing.as_ref().map(RefCell::borrow_mut);
                passing.iter_mut().for_each(|passing| passing.add(pair));
            };
            target.write(&pairs, &source.places, &seen, progress)
        })?;
        let compared = streamed.documents as u64;
        let mut found = pairs.found(streamed, timings, progress);
        source.complete(&mut found.counts);
        self.warn_of_oddities(&found.counts);
        let mut report = source.report("pairs", found.counts.clone(), Some(pairs.search()));
        report.inputs = source.places.input_reports();
        describe(&mut report, task, &found);
        if let Some(passing) = passing {
            let page = || self.page_of(&source, &passing.into_inner(), &mut report);
            let page = found.timings.time("page", 0, page)?;
            target.write_page(&page)?;
        }
        target.commit(&report, self.options.progress, compared)?;
        source.complete_budget();
        let resumed = source.resumed();
        let mut timings = found.timings;
        let elapsed_s = timings.complete(self.options.started);
        Ok(Outcome {
            report,
            timings,
            elapsed_s,
            resumed,
        })
    }
}

impl Run<'_> {
    /// The page of a search, whose texts are read here. Adds to the report what the page shows.
    fn page_of(
        &self,
        source: &FileSource<'_>,
        passing: &PassingPairs<'_>,
        report: &mut Report,
    ) -> Result<String> {
        report.overview = Some(passing.overview()?);
        let samples = if self.samples {
            let sampler = Sampler::new(passing.shown(), BTreeMap::new());
            sampler.take_all(source)?;
            sampler.into_samples(&source.places)?.0
        } else {
            Samples::default()
        };
        Ok(report_page(report, &samples))
    }
}

/// Adds what concerns pairs alone to a report.
pub(crate) fn describe(report: &mut Report, task: &Pairs, found: &PairsFound) {
    report.pairs = Some(PairsParameters::new(task));
    report.complete = Some(found.is_complete);
    report.expected_precision = found.expected_precision;
}

#[cfg(test)]
mod tests;
