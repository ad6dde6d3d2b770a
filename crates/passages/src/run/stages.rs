//! The stages of a run: it reads, finds and writes in memory, or on disk if memory does not hold all texts.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;

use super::inputs::InputFiles;
use super::options::PassagesRun;
use super::outcome::PassagesOutcome;
use crate::disk::DiskRun;
use crate::gather::Gathered;
use crate::report::{CutCounts, PassageReport};
use crate::search::PassageSearch;
use crate::write::WrittenPassages;
use simgpu::error::{Conflict, Error, Result};
use simgpu::progress::{Timings, advance};
use simgpu::store::spill::{Budget, Spill};
use simgpu_files::{
    check_compression_level, create_json, create_run_record, identity, parameters_by_name,
    unfinished,
};
use simgpu_io::{Leftovers, OutputFolder, Places, REPORT};

impl PassagesRun<'_> {
    /// Finds and writes the passages, and commits the folder.
    pub(super) fn run_into(
        &self,
        folder: Option<&Path>,
        temporary: &Path,
    ) -> Result<PassagesOutcome> {
        let output = folder.map(|folder| self.open(folder)).transpose()?;
        let mut timings = Timings::default();
        let files = self.files(temporary)?;
        let inputs = InputFiles {
            files: &files,
            temporary,
        };
        let budget = self.disk_budget(output.as_ref(), inputs)?;
        if self.action.writes_records() {
            let outputs = files[self.reference_files()..]
                .iter()
                .map(|file| file.original_compression);
            check_compression_level(self.options.compression_level, outputs)?;
        }
        let written = self.find_and_write(output.as_ref(), inputs, &budget, &mut timings)?;
        let WrittenPassages {
            summary,
            excerpts,
            places,
            spill,
        } = written;
        let report = PassageReport::new(summary, self.parameters(), &places);
        if let Some(output) = &output {
            output.write_page(&report.page(&excerpts))?;
        }
        let elapsed_s = timings.complete(self.options.started);
        let outcome = PassagesOutcome {
            report,
            timings,
            elapsed_s,
        };
        if let Some(output) = output {
            let resumed = spill.as_ref().map_or(0, |spill| spill.resumed());
            self.commit(output, &outcome, resumed)?;
        }
        // Its files are needed no more: the results have their names.
        if let Some(spill) = spill {
            spill.complete();
        }
        Ok(outcome)
    }

    /// Writes what the run says of itself, with how often it was resumed, and gives all files their names.
    fn commit(&self, output: OutputFolder, outcome: &PassagesOutcome, resumed: u64) -> Result<()> {
        let PassagesOutcome {
            report,
            timings,
            elapsed_s,
        } = outcome;
        create_json(&output, REPORT, report)?;
        create_run_record(&output, &self.options, timings, *elapsed_s, resumed)?;
        // Last chance to stop the run.
        advance(self.options.progress, report.counts.pieces, 0, 0)?;
        output.commit(self.options.progress)
    }

    /// Opens the output folder, unless it would destroy an input.
    fn open(&self, folder: &Path) -> Result<OutputFolder> {
        for inputs in self.all_inputs() {
            inputs.check_output_outside(folder)?;
            inputs.check_not_overwritten_by(&[folder.to_owned()])?;
        }
        OutputFolder::open(folder, self.options.overwrite, Leftovers::Remove)
    }

    /// Finds and writes passages, in memory if all fits there.
    fn find_and_write(
        &self,
        output: Option<&OutputFolder>,
        inputs: InputFiles<'_>,
        budget: &Budget,
        timings: &mut Timings,
    ) -> Result<WrittenPassages> {
        let on_disk = |known: Option<Places>, timings: &mut Timings| {
            let spill = match &budget.unfinished {
                Some(spill) => Arc::clone(spill),
                None => Spill::new(budget)?,
            };
            DiskRun::new(self, output, inputs, &spill).run(known, timings)
        };
        if budget.unfinished.is_some() {
            return on_disk(None, timings);
        }
        let is_too_large =
            |error: &Error| matches!(error, Error::Conflict(Conflict::PassageMemory { .. }));
        let read = timings.time("read", 0, || self.read(inputs));
        let (texts, places) = match read {
            Err(error) if is_too_large(&error) => {
                return on_disk(None, timings);
            }
            read => read?,
        };
        let found = match self.find(&texts, timings) {
            Err(error) if is_too_large(&error) => {
                // The search on disk needs the memory. It need not note the records again.
                drop(texts);
                return on_disk(Some(places), timings);
            }
            found => found?,
        };
        let written = timings.time("write", 0, || {
            let Gathered { mut summary, parts } = self.write(output, &texts, &places, &found)?;
            let mut excerpts = self.excerpts(output, parts);
            excerpts.take_all(&texts, &found.cuts);
            if let Some(output) = output.filter(|_| self.action.writes_records()) {
                self.write_kept(output, inputs, &places, &found.cuts)?;
            }
            if self.action.removes() {
                let mut cut = CutCounts::default();
                cut.add(&texts, &found.cuts);
                summary.counts.cut = Some(cut.finish(summary.counts.bytes, found.lost));
            }
            Ok::<_, Error>((summary, excerpts))
        });
        let (summary, excerpts) = written?;
        Ok(WrittenPassages {
            summary,
            excerpts,
            places,
            spill: None,
        })
    }

    /// Memory and folder of a run on disk, and its files if it was stopped before.
    fn disk_budget(&self, output: Option<&OutputFolder>, inputs: InputFiles<'_>) -> Result<Budget> {
        let memory = self.budget().unwrap_or_default() / 2;
        // More than can be addressed is never asked for; less only makes more parts.
        let memory = usize::try_from(memory).unwrap_or_default();
        let output = output.filter(|_| !self.inputs.names_stream());
        let run = output.map(|output| {
            let against = self.against.as_ref().map(|_| self.reference_files());
            let beside = [
                ("against", json!(against)),
                ("compression_level", json!(self.options.compression_level)),
            ];
            let mut parameters = parameters_by_name(&self.parameters(), beside);
            let name = if self.fields.is_tokens {
                "tokens_field"
            } else {
                "text_field"
            };
            // As the options are named.
            for (reported, name) in [
                ("content_field", name),
                ("against_content_field", "against_text_field"),
            ] {
                let field = parameters.remove(reported);
                parameters.extend(field.map(|field| (name.to_owned(), field)));
            }
            identity(output.path(), parameters, inputs.files)
        });
        let run = run.transpose()?;
        let unfinished = match &run {
            Some(run) => unfinished(run, inputs.temporary, memory, self.restart)?,
            None => None,
        };
        Ok(Budget {
            memory,
            folder: inputs.temporary.to_owned(),
            run: run.map(Arc::new),
            unfinished,
        })
    }

    /// The search for the passages.
    pub(crate) fn search(&self, reference: usize) -> PassageSearch {
        let mut search = PassageSearch::new(self.units.symbols());
        search.set_conditions(self.conditions(reference));
        search
    }
}
