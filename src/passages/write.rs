//! Writes passages, and the records without them.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use super::cuts::Cuts;
use super::lost::Found;
use super::report::{CutsLine, PassageCounts, PassageLine, PassageReport, RemovedLine};
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

/// A file of lines in the output folder, if there is one.
pub(super) fn lines(
    output: Option<&OutputFolder>,
    name: &str,
) -> Result<Option<JsonLines<std::fs::File>>> {
    let file = output.map(|output| output.create(name)).transpose()?;
    Ok(file.map(|(file, path)| JsonLines::new(file, path)))
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

    /// Writes and counts the pieces.
    pub(super) fn write(
        &self,
        output: Option<&OutputFolder>,
        texts: &UnitTexts,
        places: &Places,
        found: &Found,
    ) -> Result<PassageCounts> {
        let progress = self.options.progress;
        let field = self.fields.content_names();
        progress.begin("write", found.passages.pieces().len() as u64);
        let spans = texts.spans(&found.passages, self.units.stride());
        let has_reference = self.against.is_some();
        let mut counts = PassageCounts::of(texts, self.units, has_reference, spans);
        let mut passages = lines(output, PASSAGES)?;
        for pieces in found.passages.pieces().chunks(BLOCK) {
            for piece in pieces {
                let piece = texts.placed(piece, self.units);
                counts.add(&piece);
                if let Some(lines) = &mut passages {
                    lines.write(&PassageLine::of(&piece, places, &field)?)?;
                }
            }
            advance(progress, counts.pieces, 0, 0)?;
        }
        passages.map_or(Ok(()), JsonLines::finish)?;
        if self.action.removes() {
            let (mut cuts, mut removed) = (lines(output, CUTS)?, lines(output, REMOVED)?);
            if let Some(lines) = &mut cuts {
                let of = |document| CutsLine::of(document, found.cuts.of(document), places);
                let cut = (0..texts.len()).filter(|document| !found.cuts.of(*document).is_empty());
                cut.map(of).try_for_each(|line| lines.write(&line?))?;
            }
            if let Some(lines) = &mut removed {
                let removed = found.cuts.removed.iter().zip(&found.covered);
                for ((document, why), covered) in removed {
                    let removed = (*document, *why, *covered);
                    let bytes = texts.text(*document).len();
                    lines.write(&RemovedLine::of(removed, bytes, places)?)?;
                }
            }
            cuts.map_or(Ok(()), JsonLines::finish)?;
            removed.map_or(Ok(()), JsonLines::finish)?;
        }
        Ok(counts)
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
