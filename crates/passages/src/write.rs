//! Writes passages, and the records without them.

use std::fs::File;
use std::path::Path;

use rayon::prelude::*;

use super::gather::{Gathering, Part};
use super::lost::Found;
use super::overview::PassagesOverview;
use super::pieces_output::PiecesOutput;
use super::report::{CutsLine, PassageCounts, PassageReport, RemovedLine};
use super::rewrite::{CutsOfRows, Rewriting};
use super::run::{PassageAction, PassagesRun};
use super::units::{PlacedPiece, UnitTexts};
use simgpu::clock::in_parallel;
use simgpu::error::Result;
use simgpu::progress::{Timings, advance};
use simgpu_files::{create_json, create_run_record};
use simgpu_io::{Columns, InputFile, JsonLines, OutputFolder, Places, REPORT};

/// What was cut out of each document.
pub(super) const CUTS: &str = "cuts.jsonl";

/// The documents that were removed.
pub(super) const REMOVED: &str = "removed.jsonl";

/// Lines written between two looks at whether to stop.
const BLOCK: usize = 1 << 14;

/// A file of lines in the output folder.
pub(super) fn lines(output: &OutputFolder, name: &str) -> Result<JsonLines<File>> {
    let (file, path) = output.create(name)?;
    Ok(JsonLines::new(file, path))
}

impl PassagesRun<'_> {
    /// Reads the inputs again and writes the kept records, without what is cut out of them.
    pub(super) fn write_kept(
        &self,
        output: &OutputFolder,
        (files, temporary): (&[InputFile], &Path),
        places: &Places,
        cuts: &impl CutsOfRows,
    ) -> Result<()> {
        let kept = Rewriting {
            files,
            of_reference: self.of_reference(),
            places,
            reading: self.reading(Columns::All, temporary),
            fields: &self.fields,
            mark_field: (self.action == PassageAction::Mark).then_some(&*self.mark_field),
            list: "passages.jsonl",
            options: &self.options,
        };
        kept.write(output, cuts).map(drop)
    }

    /// Writes and counts the pieces, and what is removed.
    pub(super) fn write(
        &self,
        output: Option<&OutputFolder>,
        texts: &UnitTexts,
        places: &Places,
        found: &Found,
    ) -> Result<(PassageCounts, PassagesOverview, Vec<Part>)> {
        let progress = self.options.progress;
        progress.begin("write", found.passages.pieces().len() as u64);
        let spans = || texts.spans(&found.passages, self.units.stride());
        let mut overview = Gathering::new(self.units, places);
        overview.counts = PassageCounts::of(texts, self.units, self.against.is_some(), spans());
        let mut spans = spans().peekable();
        for document in texts.reference..texts.len() {
            let of_document = std::iter::from_fn(|| spans.next_if(|(of, ..)| *of == document));
            let covered = of_document.map(|(_, bytes, _)| bytes.len()).sum();
            overview.add_document(document, texts.text(document).len(), covered)?;
        }
        let mut pieces = PiecesOutput::new(self, output, overview)?;
        for block in found.passages.pieces().chunks(BLOCK) {
            let placed = block.par_iter();
            let placed = placed.map(|piece| texts.placed(piece, self.units));
            let placed: Vec<PlacedPiece> = in_parallel(|| placed.collect());
            placed.into_iter().try_for_each(|piece| pieces.add(piece))?;
            advance(progress, pieces.overview.counts.pieces, 0, 0)?;
        }
        self.write_removed(output, texts, places, found)?;
        pieces.finish()?.end()
    }

    /// Writes what is cut out of each document, and which are removed.
    fn write_removed(
        &self,
        output: Option<&OutputFolder>,
        texts: &UnitTexts,
        places: &Places,
        found: &Found,
    ) -> Result<()> {
        let Some(output) = output.filter(|_| self.action.removes()) else {
            return Ok(());
        };
        let (mut cuts, mut removed) = (lines(output, CUTS)?, lines(output, REMOVED)?);
        let of = |document| CutsLine::of(document, found.cuts.of(document), places);
        let cut = (0..texts.len()).filter(|document| !found.cuts.of(*document).is_empty());
        cut.map(of).try_for_each(|line| cuts.write(&line?))?;
        for ((document, why), covered) in found.cuts.removed.iter().zip(&found.covered) {
            let of = (*document, *why, *covered);
            let bytes = texts.text(*document).len();
            removed.write(&RemovedLine::of(of, bytes, places)?)?;
        }
        cuts.finish()?;
        removed.finish()
    }

    /// Writes what the run says of itself, with its seconds and how often it went on, and gives all files their names.
    pub(super) fn commit(
        &self,
        output: OutputFolder,
        report: &PassageReport,
        timings: &Timings,
        times: (f64, u64),
    ) -> Result<()> {
        create_json(&output, REPORT, report)?;
        let (elapsed_s, resumed) = times;
        create_run_record(&output, &self.options, timings, elapsed_s, resumed)?;
        // Last chance to stop the run.
        advance(self.options.progress, report.counts.pieces, 0, 0)?;
        output.commit(self.options.progress)
    }
}
