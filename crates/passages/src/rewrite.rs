//! Writes the kept records of inputs again: without what is cut out of their texts, or with marks of it.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use super::cuts::Cuts;
use simgpu::error::{Error, Result};
use simgpu_files::{FileEvent, KeptOfChunk, KeptOutput, Placed, Rereading, RunOptions, Written};
use simgpu_io::{
    Fate, FieldPath, Fields, InputFile, Inputs, OutputFolder, Places, Reading, WrittenFiles,
};

/// What is cut out of documents, by their rows.
#[doc(hidden)]
pub trait CutsOfRows: Sync {
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

/// Kept records of inputs.
#[doc(hidden)]
#[derive(Debug)]
pub struct Rewriting<'a> {
    /// The files of a reference, which are not written, then the inputs.
    #[doc(hidden)]
    pub files: &'a [InputFile],
    #[doc(hidden)]
    pub reference_files: usize,
    #[doc(hidden)]
    pub places: &'a Places,
    /// How all columns are read.
    #[doc(hidden)]
    pub reading: Reading<'a>,
    #[doc(hidden)]
    pub fields: &'a Fields,
    /// The field that records get instead of cuts, if they get one.
    #[doc(hidden)]
    pub mark_field: Option<&'a str>,
    /// The file by which texts can be cut where records of a format cannot.
    #[doc(hidden)]
    pub list: &'static str,
    #[doc(hidden)]
    pub options: &'a RunOptions<'a>,
}

impl Rewriting<'_> {
    /// Reads the inputs again and writes the kept records into `kept/`. Returns their number.
    #[doc(hidden)]
    pub fn write(self, output: &OutputFolder, cuts: &impl CutsOfRows) -> Result<u64> {
        output.sync_beside(|files| self.write_beside(output, files, cuts))
    }

    /// Tells `written` of the files.
    fn write_beside(
        self,
        output: &OutputFolder,
        written: &WrittenFiles,
        cuts: &impl CutsOfRows,
    ) -> Result<u64> {
        let inputs = &self.files[self.reference_files..];
        let kept = KeptOutput {
            folder: output,
            files: self.files,
            compression_level: self.options.compression_level,
            written,
            checkpoint: &|_: &dyn Fn() -> Written| Ok(()),
        };
        let rereading = Rereading {
            files: self.files,
            places: self.places,
            reading: self.reading,
            bytes: inputs.iter().map(InputFile::stored_bytes).sum(),
            progress: self.options.progress,
        };
        let kept_of = |placed: Placed| self.kept_of_chunk(&placed, cuts);
        let mut file = self.reference_files;
        let mut records = 0;
        // A reference is never written, so it is not read again.
        let start = self.places.start_of_file(self.reference_files);
        kept.write(&Written::after_reference(self.reference_files), |each| {
            rereading.read("write", &start, kept_of, |part| {
                match (part, self.mark_field) {
                    (FileEvent::Chunk(KeptOfChunk { records: 0, .. }), _) => Ok(()),
                    (FileEvent::Chunk(kept), _) => {
                        records += kept.records;
                        each(FileEvent::Chunk(kept))
                    }
                    (FileEvent::Table(form), Some(field)) => {
                        let marked = form.with_marks(field);
                        let named = &self.files[file].named;
                        each(FileEvent::Table(
                            marked.map_err(|problem| unmarked_table(named, problem))?,
                        ))
                    }
                    (FileEvent::Table(form), None) => each(FileEvent::Table(form)),
                    (FileEvent::End, _) => {
                        file += 1;
                        each(FileEvent::End)
                    }
                }
            })?;
            Ok(records)
        })
    }

    /// The kept records of a chunk: without what is cut out of them, or with their marks.
    fn kept_of_chunk(&self, placed: &Placed, cuts: &impl CutsOfRows) -> Result<KeptOfChunk> {
        let (cuts, first) = cuts.rows(rows_of(placed))?;
        let fate = |row: &Option<u32>| match row.map(|row| row as usize - first) {
            Some(row) if cuts.is_removed(row) => Fate::Drop,
            Some(row) if self.mark_field.is_some() => Fate::Mark(cuts.cut_out(row)),
            Some(row) => Fate::Cut(cuts.cut_out(row)),
            None => Fate::Drop,
        };
        let fates: Vec<Fate<'_>> = placed.rows.iter().map(fate).collect();
        let stays = |fate: &&Fate<'_>| !matches!(fate, Fate::Drop);
        let named = &self.files[placed.chunk.file].named;
        let kept = match self.mark_field {
            Some(field) => {
                let marked = placed.chunk.marked(&fates, field);
                marked.map_err(|(record, problem)| {
                    let row = placed.rows.get(record).copied().flatten();
                    let (_, row) = row.map_or(("", 0), |row| self.places.place(row));
                    unmarked_table(named, format!("row {row}: {problem}"))
                })
            }
            None => {
                let cut = placed.chunk.cut(&fates, self.fields);
                cut.map_err(|problem| uncut(named, problem, self.list))
            }
        };
        Ok(KeptOfChunk {
            records: fates.iter().filter(stays).count() as u64,
            kept: kept?,
        })
    }
}

/// The error of a file whose texts cannot be cut. `list` has the places.
#[doc(hidden)]
pub fn uncut(path: &Path, problem: String, list: &str) -> Error {
    Error::Input {
        path: path.to_owned(),
        problem,
        remedy: format!("or pass `action=report` and cut the texts by {list}"),
    }
}

/// The error of a file that cannot be marked.
fn unmarked_table(path: &Path, problem: String) -> Error {
    Error::Input {
        path: path.to_owned(),
        problem,
        remedy: "choose another name by `mark_field`".to_owned(),
    }
}

/// Refuses a field for marks in files whose records get none.
#[doc(hidden)]
pub fn check_marks(inputs: &Inputs, mark_field: &str) -> Result<()> {
    if mark_field.is_empty() {
        return Err(Error::Parameter {
            name: "`mark_field`",
            value: "\"\"".to_owned(),
            expected: "the name of a field".to_owned(),
        });
    }
    match inputs.first_without_marks() {
        None => Ok(()),
        Some(path) => Err(Error::Input {
            path: path.to_owned(),
            problem: "records of this format hold no list of places".to_owned(),
            remedy: "give records in JSON, Parquet or Arrow, or pass `action=report`, which lists the places"
                .to_owned(),
        }),
    }
}

/// Refuses to cut the text of a field twice.
#[doc(hidden)]
pub fn check_cut_fields(fields: &Fields) -> Result<()> {
    let content = &fields.content;
    let is_repeated = |(i, field): (usize, &FieldPath)| content[..i].contains(field);
    if content.iter().enumerate().any(is_repeated) {
        return Err(Error::Parameter {
            name: "`text_field`",
            value: fields.content_names(),
            expected: "each field once, since its text is cut".to_owned(),
        });
    }
    Ok(())
}
