//! Writes passages, and the records without them.

use std::borrow::Cow;
use std::fs::File;
use std::ops::Range;
use std::path::Path;

use super::cuts::Cuts;
use super::gather::{Gathering, Part};
use super::lost::Found;
use super::overview::PassagesOverview;
use super::pieces_output::PiecesOutput;
use super::report::{CutsLine, PassageCounts, PassageReport, RemovedLine};
use super::run::{PassageAction, PassagesRun, uncut};
use super::units::UnitTexts;
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

/// The error of a table that cannot be marked.
fn unmarked_table(path: &Path, problem: String) -> Error {
    Error::Input {
        path: path.to_owned(),
        problem,
        remedy: "choose another name by `mark_field`".to_owned(),
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
        let kept_of = |placed: Placed| self.kept_of_chunk(&placed, files, places, cuts);
        let mut file = self.of_reference();
        let mut written = 0;
        let start = places.start_of_file(self.of_reference());
        kept.write(&Written::after_reference(self.of_reference()), |each| {
            again.read("write", &start, kept_of, |part| match part {
                FileEvent::Chunk(KeptOfChunk { records: 0, .. }) => Ok(()),
                FileEvent::Chunk(kept) => {
                    written += kept.records;
                    each(FileEvent::Chunk(kept))
                }
                FileEvent::Table(form) if self.action == PassageAction::Mark => {
                    let marked = form.with_marks(&self.mark_field);
                    let named = &files[file].named;
                    each(FileEvent::Table(
                        marked.map_err(|problem| unmarked_table(named, problem))?,
                    ))
                }
                FileEvent::Table(form) => each(FileEvent::Table(form)),
                FileEvent::End => {
                    file += 1;
                    each(FileEvent::End)
                }
            })?;
            Ok(written)
        })?;
        Ok(())
    }

    /// The kept records of a chunk: without what is cut out of them, or with their marks.
    fn kept_of_chunk(
        &self,
        placed: &Placed,
        files: &[InputFile],
        places: &Places,
        cuts: &impl CutsOfRows,
    ) -> Result<KeptOfChunk> {
        let is_mark = self.action == PassageAction::Mark;
        let (cuts, first) = cuts.rows(rows_of(placed))?;
        let fate = |row: &Option<u32>| match row.map(|row| row as usize - first) {
            Some(row) if cuts.is_removed(row) => Fate::Drop,
            Some(row) if is_mark => Fate::Mark(cuts.of(row)),
            Some(row) => Fate::Cut(cuts.of(row)),
            None => Fate::Drop,
        };
        let fates: Vec<Fate<'_>> = placed.rows.iter().map(fate).collect();
        let stays = |fate: &&Fate<'_>| !matches!(fate, Fate::Drop);
        let named = &files[placed.chunk.file].named;
        let kept = match is_mark {
            true => {
                let marked = placed.chunk.marked(&fates, &self.mark_field);
                marked.map_err(|error| Self::unmarked((named, placed), places, error))
            }
            false => {
                let cut = placed.chunk.cut(&fates, &self.fields);
                cut.map_err(|problem| uncut(named, problem))
            }
        };
        Ok(KeptOfChunk {
            records: fates.iter().filter(stays).count() as u64,
            kept: kept?,
        })
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

    /// Writes what the run says of itself, with its seconds and how often it went on, and gives all files their names.
    pub(super) fn commit(
        &self,
        output: OutputFolder,
        report: &PassageReport,
        timings: &Timings,
        times: (f64, u64),
    ) -> Result<()> {
        create_json(&output, REPORT, report)?;
        create_run_record(&output, &self.options, timings, times)?;
        // Last chance to stop the run.
        advance(self.options.progress, report.counts.pieces, 0, 0)?;
        output.commit()
    }
}
