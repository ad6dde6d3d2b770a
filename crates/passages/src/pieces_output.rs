//! Writes the pieces: `passages.jsonl` or `passages.parquet`.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray};
use arrow_schema::{DataType, Field};
use rayon::prelude::*;

use super::gather::Gathering;
use super::lines::PassageLine;
use super::report::PassagesFormat;
use super::run::PassagesRun;
use super::units::PlacedPiece;
use simgpu::clock::in_parallel;
use simgpu::error::Result;
use simgpu_io::{
    ColumnWriter, IdColumn, JsonLines, OutputFolder, Places, column_strings, u64s, unwritable_table,
};

/// Rows of a batch of a table.
const BATCH: usize = 1 << 14;

/// Writes the pieces, and gathers what a report says of them.
pub(super) struct PiecesOutput<'a> {
    pub(super) overview: Gathering<'a>,
    places: &'a Places,
    field: String,
    target: PiecesTarget,
    waiting: Vec<PlacedPiece>,
}

/// Where pieces are written.
enum PiecesTarget {
    Nothing,
    Lines(JsonLines<File>),
    Table(Box<PieceTable>),
}

impl<'a> PiecesOutput<'a> {
    pub(super) fn new(
        run: &PassagesRun<'_>,
        output: Option<&OutputFolder>,
        overview: Gathering<'a>,
    ) -> Result<Self> {
        let places = overview.places;
        let target = match output {
            None => PiecesTarget::Nothing,
            Some(output) => {
                let (file, path) = output.create(run.format.file_name())?;
                match run.format {
                    PassagesFormat::JsonLines => PiecesTarget::Lines(JsonLines::new(file, path)),
                    PassagesFormat::Parquet => {
                        PiecesTarget::Table(Box::new(PieceTable::new(file, path, places)?))
                    }
                }
            }
        };
        Ok(PiecesOutput {
            places,
            overview,
            field: run.fields.content_names(),
            target,
            waiting: Vec::new(),
        })
    }

    /// Adds the next piece.
    pub(super) fn add(&mut self, piece: PlacedPiece) -> Result<()> {
        self.waiting.push(piece);
        if self.waiting.len() < BATCH {
            Ok(())
        } else {
            self.flush()
        }
    }

    /// Writes the pieces that wait, and gathers what is said of them beside.
    fn flush(&mut self) -> Result<()> {
        let pieces = std::mem::take(&mut self.waiting);
        let (overview, target) = (&mut self.overview, &mut self.target);
        let line = |piece: &PlacedPiece| PassageLine::new(piece, self.places, &self.field);
        let gather = || pieces.iter().try_for_each(|piece| overview.add(piece));
        let write = || match target {
            PiecesTarget::Nothing => Ok(()),
            PiecesTarget::Lines(lines) => lines.write_each(pieces.par_iter(), line),
            PiecesTarget::Table(table) => {
                table.write(pieces.iter().map(line).collect::<Result<_>>()?)
            }
        };
        let (gathered, written) = in_parallel(|| rayon::join(gather, write));
        gathered.and(written)
    }

    /// Writes all pieces that wait, and ends the file.
    pub(super) fn finish(mut self) -> Result<Gathering<'a>> {
        self.flush()?;
        match self.target {
            PiecesTarget::Nothing => {}
            PiecesTarget::Lines(lines) => lines.finish()?,
            PiecesTarget::Table(table) => {
                let PieceTable { table, path, .. } = *table;
                table.finish().map_err(unwritable_table(&path))?;
            }
        }
        Ok(self.overview)
    }
}

/// The fields of `passages.jsonl` as columns.
struct PieceTable {
    table: ColumnWriter,
    path: PathBuf,
    ids: IdColumn,
    has_reference: bool,
}

impl PieceTable {
    fn new(file: File, path: PathBuf, places: &Places) -> Result<Self> {
        let ids = places.id_column();
        let number = |name: &str| Field::new(name, DataType::UInt64, false);
        let text = |name: &str| Field::new(name, DataType::Utf8, false);
        let mut columns = vec![
            ids.field("id"),
            text("file"),
            number("row"),
            text("field"),
            number("start"),
            number("end"),
            ids.field("source_id"),
            text("source_file"),
            number("source_row"),
            number("source_start"),
            number("source_end"),
            number("length"),
            Field::new("exact", DataType::Boolean, false),
        ];
        if places.reference_files > 0 {
            columns.insert(SOURCE_IN, text("source_in"));
        }
        let table = ColumnWriter::new(file, columns, []).map_err(unwritable_table(&path))?;
        Ok(PieceTable {
            table,
            path,
            ids,
            has_reference: places.reference_files > 0,
        })
    }

    /// Writes rows.
    fn write(&mut self, lines: Vec<PassageLine<'_>>) -> Result<()> {
        let numbers = |field: fn(&PassageLine<'_>) -> usize| {
            u64s(lines.iter().map(|line| Some(field(line) as u64)))
        };
        let exact: BooleanArray = lines.iter().map(|line| Some(line.exact)).collect();
        let mut columns: Vec<ArrayRef> = vec![
            self.ids.array(lines.iter().map(|line| line.id.get())),
            column_strings(lines.iter().map(|line| Some(line.file))),
            u64s(lines.iter().map(|line| Some(line.row))),
            column_strings(lines.iter().map(|line| Some(line.field))),
            numbers(|line| line.start),
            numbers(|line| line.end),
            self.ids
                .array(lines.iter().map(|line| line.source_id.get())),
            column_strings(lines.iter().map(|line| Some(line.source_file))),
            u64s(lines.iter().map(|line| Some(line.source_row))),
            numbers(|line| line.source_start),
            numbers(|line| line.source_end),
            numbers(|line| line.length),
            Arc::new(exact),
        ];
        if self.has_reference {
            let source_in = column_strings(lines.iter().map(|line| line.source_in));
            columns.insert(SOURCE_IN, source_in);
        }
        let written = self.table.write(columns);
        written.map_err(unwritable_table(&self.path))
    }
}

/// The place of the column `source_in`, if there is a reference.
const SOURCE_IN: usize = 7;
