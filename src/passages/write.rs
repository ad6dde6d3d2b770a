//! Writes passages, and the records without them.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use super::cuts::Cuts;
use super::lost::Found;
use super::report::{CutsLine, PassageCounts, PassageLine, PassageReport, RemovedLine};
use super::run::PassagesRun;
use super::units::UnitTexts;
use crate::error::{Error, Result};
use crate::files::{
    FileEvent, KeptOfChunk, KeptOutput, Placed, Rereading, Written, create_json, create_run_record,
};
use crate::io::{Columns, Fate, InputFile, JsonLines, OutputFolder, Places, Position, REPORT};
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
            bytes: files.iter().map(InputFile::stored_bytes).sum(),
            progress: self.options.progress,
        };
        let cut = |placed: Placed| {
            let (cuts, first) = cuts.rows(rows_of(&placed))?;
            let fate = |row: &Option<u32>| match row.map(|row| row as usize - first) {
                Some(row) if !cuts.is_removed(row) => Fate::Cut(cuts.of(row)),
                _ => Fate::Drop,
            };
            let fates: Vec<Fate<'_>> = placed.rows.iter().map(fate).collect();
            let records = fates
                .iter()
                .filter(|fate| matches!(fate, Fate::Cut(_)))
                .count();
            let kept = placed.chunk.cut(&fates, &self.fields);
            let kept = kept.map_err(|problem| Error::Input {
                path: files[placed.chunk.file].named.clone(),
                problem,
                remedy: "or pass `action=report` and cut the texts by passages.jsonl".to_owned(),
            })?;
            Ok(KeptOfChunk {
                records: records as u64,
                kept,
            })
        };
        let mut written = 0;
        kept.write(&Written::default(), |each| {
            again.read("write", &Position::default(), cut, |part| match part {
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
        let stride = self.units.stride();
        let mut counts = PassageCounts::of(texts, texts.spans(&found.passages, stride));
        let mut passages = lines(output, PASSAGES)?;
        for pieces in found.passages.pieces().chunks(BLOCK) {
            for piece in pieces {
                let piece = texts.placed(piece, stride);
                counts.add(&piece);
                if let Some(lines) = &mut passages {
                    lines.write(&PassageLine::of(&piece, places, &field)?)?;
                }
            }
            advance(progress, counts.pieces, 0, 0)?;
        }
        passages.map_or(Ok(()), JsonLines::finish)?;
        if !self.action.keeps_texts() {
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
