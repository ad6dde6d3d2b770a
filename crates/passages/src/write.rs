//! Writes passages, and the records without them.

use std::fs::File;
use std::sync::Arc;

use rayon::prelude::*;

use super::excerpts::Excerpts;
use super::find::FoundPassages;
use super::gather::{Gathered, Gathering};
use super::lines::{CutsLine, RemovedDocumentLine};
use super::pieces_output::PiecesOutput;
use super::report::{PassageCounts, PassagesSummary};
use super::rewrite::{CutsOfRows, Rewriting};
use super::run::{InputFiles, PassageAction, PassagesRun};
use super::units::{PlacedPiece, TextPart, UnitTexts};
use simgpu::clock::in_parallel;
use simgpu::error::Result;
use simgpu::progress::advance;
use simgpu::store::spill::Spill;
use simgpu_io::{Columns, JsonLines, OutputFolder, Places};

/// What was cut out of each document.
pub(super) const CUTS: &str = "cuts.jsonl";

/// The documents that were removed.
pub(super) const REMOVED: &str = "removed.jsonl";

/// Lines written between two looks at whether to stop.
const BLOCK: usize = 1 << 14;

/// What a run found and wrote.
pub(super) struct WrittenPassages {
    pub(super) summary: PassagesSummary,
    pub(super) excerpts: Excerpts,
    pub(super) places: Places,
    /// The files of a run on disk.
    pub(super) spill: Option<Arc<Spill>>,
}

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
        inputs: InputFiles<'_>,
        places: &Places,
        cuts: &impl CutsOfRows,
    ) -> Result<()> {
        let kept = Rewriting {
            files: inputs.files,
            reference_files: self.reference_files(),
            places,
            reading: self.reading(Columns::All, inputs.temporary),
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
        found: &FoundPassages,
    ) -> Result<Gathered> {
        let progress = self.options.progress;
        progress.begin("write", found.passages.pieces().len() as u64);
        let mut overview = Gathering::new(self.units, places);
        let reference = self.against.is_some().then_some(texts.reference as u64);
        overview.counts = PassageCounts::new(reference);
        overview.counts.add_texts(texts, self.units);
        let mut spans = texts.spans(&found.passages, self.units).peekable();
        for document in texts.reference..texts.len() {
            let own = std::iter::from_fn(|| spans.next_if(|span| span.document == document));
            let own: Vec<TextPart> = own.collect();
            overview.add_document(document, texts.text(document).len(), &own)?;
        }
        let mut pieces = PiecesOutput::new(self, output, overview)?;
        for block in found.passages.pieces().chunks(BLOCK) {
            let placed = block.par_iter();
            let placed = placed.map(|piece| texts.placed(piece, self.units));
            let placed: Vec<PlacedPiece> = in_parallel(|| placed.collect());
            placed.into_iter().try_for_each(|piece| pieces.add(piece))?;
            advance(progress, pieces.overview.counts.pieces, 0, 0)?;
        }
        self.write_removed(output, places, found)?;
        pieces.finish()?.end()
    }

    /// Writes what is cut out of each document, and which are removed.
    fn write_removed(
        &self,
        output: Option<&OutputFolder>,
        places: &Places,
        found: &FoundPassages,
    ) -> Result<()> {
        let Some(output) = output.filter(|_| self.action.removes()) else {
            return Ok(());
        };
        let (mut cuts, mut removed) = (lines(output, CUTS)?, lines(output, REMOVED)?);
        for document in 0..found.cuts.len() {
            let cut_out = found.cuts.cut_out(document);
            if !cut_out.is_empty() {
                cuts.write(&CutsLine::new(document, cut_out, places)?)?;
            }
        }
        for document in &found.removed {
            removed.write(&RemovedDocumentLine::new(document, places)?)?;
        }
        cuts.finish()?;
        removed.finish()
    }
}
