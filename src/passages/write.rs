//! Writes passages, and the records without them.

use std::borrow::Cow;
use std::fs::File;
use std::ops::Range;
use std::path::Path;

use super::cuts::Cuts;
use super::lost::Found;
use super::overview::{Overview, Part, PassagesOverview};
use super::report::{CutsLine, PassageCounts, PassageLine, PassageReport, RemovedLine};
use super::run::{PassageAction, PassagesRun, uncut};
use super::units::{PlacedPiece, UnitTexts};
use crate::error::{BadRecord, Error, Result};
use crate::files::{
    FileEvent, KeptOfChunk, KeptOutput, Placed, Rereading, Written, create_json, create_run_record,
};
use crate::io::{Columns, Fate, InputFile, JsonLines, OutputFolder, Places, REPORT};
use crate::progress::{Timings, advance};

/// What was cut out of each document.
pub(super) const CUTS: &str = "cuts.jsonl";

/// The documents that were removed.
pub(super) const REMOVED: &str = "removed.jsonl";

/// The file of the passages.
pub(super) const PASSAGES: &str = "passages.jsonl";

/// Lines written between two looks at whether to stop.
const BLOCK: usize = 1 << 14;

/// What is cut out of documents, by their rows.
pub(super) trait CutsOfRows: Sync {
    /// What is cut out of these documents, and the row of the first one that it has.
    ///
    /// # Errors
    /// Those of reading it.
    fn rows(&self, rows: Range<usize>) -> Result<(Cow<'_, Cuts>, usize)>;
}

impl CutsOfRows for Cuts {
    fn rows(&self, _: Range<usize>) -> Result<(Cow<'_, Cuts>, usize)> {
        Ok((Cow::Borrowed(self), 0))
    }
}

/// The rows of a chunk.
fn rows_of(placed: &Placed) -> Range<usize> {
    let mut rows = placed.rows.iter().flatten().map(|row| *row as usize);
    match (rows.next(), rows.next_back()) {
        (Some(first), last) => first..last.unwrap_or(first) + 1,
        (None, _) => 0..0,
    }
}

/// A file of lines in the output folder.
pub(super) fn lines(output: &OutputFolder, name: &str) -> Result<JsonLines<File>> {
    let (file, path) = output.create(name)?;
    Ok(JsonLines::new(file, path))
}

/// Writes the pieces, and gathers what a report says of them.
pub(super) struct PiecesOutput<'a> {
    pub(super) overview: Overview<'a>,
    places: &'a Places,
    field: String,
    lines: Option<JsonLines<File>>,
}

impl<'a> PiecesOutput<'a> {
    pub(super) fn new(
        run: &PassagesRun<'_>,
        output: Option<&OutputFolder>,
        overview: Overview<'a>,
    ) -> Result<Self> {
        Ok(PiecesOutput {
            places: overview.places,
            overview,
            field: run.fields.content_names(),
            lines: output.map(|output| lines(output, PASSAGES)).transpose()?,
        })
    }

    /// Adds the next piece.
    pub(super) fn add(&mut self, piece: &PlacedPiece) -> Result<()> {
        self.overview.add(piece)?;
        match &mut self.lines {
            Some(lines) => lines.write(&PassageLine::of(piece, self.places, &self.field)?),
            None => Ok(()),
        }
    }

    pub(super) fn finish(self) -> Result<Overview<'a>> {
        self.lines.map_or(Ok(()), JsonLines::finish)?;
        Ok(self.overview)
    }
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
        let kept = KeptOutput {
            folder: output,
            files,
            compression_level: self.options.compression_level,
            completed: &|_: String| {},
            checkpoint: &|_: &dyn Fn() -> Written| Ok(()),
        };
        let again = Rereading {
            files,
            places,
            reading: self.reading(Columns::All, temporary),
            bytes: files[self.of_reference()..]
                .iter()
                .map(InputFile::stored_bytes)
                .sum(),
            progress: self.options.progress,
        };
        let is_mark = self.action == PassageAction::Mark;
        let cut = |placed: Placed| {
            let (cuts, first) = cuts.rows(rows_of(&placed))?;
            let fate = |row: &Option<u32>| match row.map(|row| row as usize - first) {
                Some(row) if cuts.is_removed(row) => Fate::Drop,
                Some(row) if is_mark => Fate::Mark(cuts.of(row)),
                Some(row) => Fate::Cut(cuts.of(row)),
                None => Fate::Drop,
            };
            let fates: Vec<Fate<'_>> = placed.rows.iter().map(fate).collect();
            let records = fates
                .iter()
                .filter(|fate| !matches!(fate, Fate::Drop))
                .count();
            let kept = match is_mark {
                true => {
                    let marked = placed.chunk.marked(&fates, &self.mark_field);
                    marked.map_err(|error| {
                        let file = &files[placed.chunk.file].named;
                        Self::unmarked((file, &placed), places, error)
                    })
                }
                false => {
                    let cut = placed.chunk.cut(&fates, &self.fields);
                    cut.map_err(|problem| uncut(&files[placed.chunk.file].named, problem))
                }
            };
            let kept = kept?;
            Ok(KeptOfChunk {
                records: records as u64,
                kept,
            })
        };
        let mut written = 0;
        let start = places.start_of_file(self.of_reference());
        kept.write(&Written::after_reference(self.of_reference()), |each| {
            again.read("write", &start, cut, |part| match part {
                FileEvent::Chunk(KeptOfChunk { records: 0, .. }) => Ok(()),
                FileEvent::Chunk(kept) => {
                    written += kept.records;
                    each(FileEvent::Chunk(kept))
                }
                part => each(part),
            })?;
            Ok(written)
        })?;
        Ok(())
    }

    /// The error of a record of a chunk that cannot be marked.
    fn unmarked(
        (file, placed): (&Path, &Placed),
        places: &Places,
        (record, problem): (usize, String),
    ) -> Error {
        let row = placed.rows.get(record).copied().flatten();
        let (_, row) = row.map_or(("", 0), |row| places.place(row));
        Error::BadRecord(BadRecord {
            file: file.to_owned(),
            row,
            line: None,
            problem: format!("{problem}; choose another name by `mark_field`"),
        })
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
        let mut overview = Overview::new(self.units, places);
        overview.counts = PassageCounts::of(texts, self.units, self.against.is_some(), spans());
        let mut spans = spans().peekable();
        for document in texts.reference..texts.len() {
            let of_document = std::iter::from_fn(|| spans.next_if(|(of, ..)| *of == document));
            let bytes = of_document.map(|(_, bytes, _)| bytes);
            overview.add_document(document, texts.text(document).len(), bytes)?;
        }
        let mut pieces = PiecesOutput::new(self, output, overview)?;
        for block in found.passages.pieces().chunks(BLOCK) {
            for piece in block {
                pieces.add(&texts.placed(piece, self.units))?;
            }
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

    /// Writes what the run says of itself, and gives all files their names.
    pub(super) fn commit(
        &self,
        output: OutputFolder,
        report: &PassageReport,
        timings: &Timings,
        elapsed_s: f64,
    ) -> Result<()> {
        create_json(&output, REPORT, report)?;
        create_run_record(&output, &self.options, timings, elapsed_s)?;
        // Last chance to stop the run.
        advance(self.options.progress, report.counts.pieces, 0, 0)?;
        output.commit()
    }
}
