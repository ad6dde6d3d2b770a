//! Writes the hits: `hits.jsonl` or `hits.parquet`.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{ListBuilder, StringBuilder, StructBuilder, UInt64Builder};
use arrow_schema::{DataType, Field, Fields};

use crate::report::{HitEvidence, HitLine, Sample};
use simgpu::error::Result;
use simgpu_io::{
    ColumnWriter, IdColumn, JsonLines, OutputFolder, Places, column_strings, f64s, u64s,
    unwritable_table,
};

/// Rows of a batch of a table.
const BATCH: usize = 1 << 12;

/// The format of the list of hits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HitsFormat {
    /// JSON Lines: `hits.jsonl`.
    #[default]
    JsonLines,
    /// Parquet: `hits.parquet`.
    Parquet,
}

impl HitsFormat {
    /// The name of the file.
    pub fn file_name(self) -> &'static str {
        match self {
            HitsFormat::JsonLines => "hits.jsonl",
            HitsFormat::Parquet => "hits.parquet",
        }
    }
}

/// A hit and the place of its document.
type Row = (Box<serde_json::value::RawValue>, u32, HitEvidence);

/// Writes hits.
pub(super) struct HitsOutput<'a> {
    places: &'a Places,
    target: Target,
}

enum Target {
    Lines(JsonLines<File>),
    Table(Box<HitTable>),
}

impl<'a> HitsOutput<'a> {
    pub(super) fn new(
        output: &OutputFolder,
        format: HitsFormat,
        places: &'a Places,
        has_samples: bool,
    ) -> Result<Self> {
        let (file, path) = output.create(format.file_name())?;
        let target = match format {
            HitsFormat::JsonLines => Target::Lines(JsonLines::new(file, path)),
            HitsFormat::Parquet => {
                let ids = places.id_column();
                Target::Table(Box::new(HitTable::new(file, path, ids, has_samples)?))
            }
        };
        Ok(HitsOutput { places, target })
    }

    /// Adds the next hit.
    pub(super) fn add(
        &mut self,
        id: Box<serde_json::value::RawValue>,
        row: u32,
        evidence: HitEvidence,
    ) -> Result<()> {
        match &mut self.target {
            Target::Lines(lines) => {
                let (file, row) = self.places.place(row);
                let evidence = &evidence;
                lines.write(&HitLine {
                    id,
                    file,
                    row,
                    evidence,
                })
            }
            Target::Table(table) => {
                table.waiting.push((id, row, evidence));
                if table.waiting.len() < BATCH {
                    Ok(())
                } else {
                    table.flush(self.places)
                }
            }
        }
    }

    pub(super) fn finish(self) -> Result<()> {
        match self.target {
            Target::Lines(lines) => lines.finish(),
            Target::Table(mut table) => {
                table.flush(self.places)?;
                let HitTable { table, path, .. } = *table;
                table.finish().map_err(unwritable_table(&path))
            }
        }
    }
}

/// The fields of `hits.jsonl` as columns.
struct HitTable {
    table: ColumnWriter,
    path: PathBuf,
    ids: IdColumn,
    has_samples: bool,
    waiting: Vec<Row>,
}

fn text(name: &str) -> Field {
    Field::new(name, DataType::Utf8, false)
}

fn number(name: &str) -> Field {
    Field::new(name, DataType::UInt64, false)
}

fn list(name: &str, of: DataType) -> Field {
    let item = Arc::new(Field::new_list_field(of, false));
    Field::new(name, DataType::List(item), false)
}

/// The fields of an n-gram in `rarest`.
fn gram_fields() -> Fields {
    vec![text("ngram"), number("in_parts")].into()
}

/// The fields of a place in `also`.
fn place_fields() -> Fields {
    vec![number("start"), number("end")].into()
}

/// The fields of `sample`.
fn sample_fields() -> Fields {
    vec![text("before"), text("text"), text("after")].into()
}

impl HitTable {
    fn new(file: File, path: PathBuf, ids: IdColumn, has_samples: bool) -> Result<Self> {
        let mut columns = vec![
            ids.field("id"),
            text("file"),
            number("row"),
            text("item"),
            text("benchmark"),
            text("class"),
            Field::new("score", DataType::Float64, false),
            list("parts", DataType::Utf8),
            number("start"),
            number("end"),
            list("also", DataType::Struct(place_fields())),
            number("item_start"),
            number("item_end"),
            number("found"),
            number("ngrams"),
            list("content", DataType::UInt64),
            number("own"),
            list("lacks", DataType::Utf8),
            list("rarest", DataType::Struct(gram_fields())),
        ];
        if has_samples {
            columns.push(Field::new(
                "sample",
                DataType::Struct(sample_fields()),
                false,
            ));
        }
        let table = ColumnWriter::new(file, columns, []).map_err(unwritable_table(&path))?;
        Ok(HitTable {
            table,
            path,
            ids,
            has_samples,
            waiting: Vec::new(),
        })
    }

    /// Writes the hits that wait.
    fn flush(&mut self, places: &Places) -> Result<()> {
        let hits = std::mem::take(&mut self.waiting);
        let placed = || hits.iter().map(|(_, row, _)| places.place(*row));
        let all = || hits.iter().map(|(.., hit)| hit);
        let texts = |of: fn(&HitEvidence) -> &str| column_strings(all().map(of));
        let numbers = |of: fn(&HitEvidence) -> usize| u64s(all().map(|hit| of(hit) as u64));
        let mut columns: Vec<ArrayRef> = vec![
            self.ids.array(hits.iter().map(|(id, ..)| id.get())),
            column_strings(placed().map(|(file, _)| file)),
            u64s(placed().map(|(_, row)| row)),
            texts(|hit| &hit.item),
            texts(|hit| &hit.benchmark),
            texts(|hit| &hit.class),
            f64s(all().map(|hit| Some(hit.score))),
            lists_of_texts(all().map(|hit| &*hit.parts)),
            numbers(|hit| hit.start),
            numbers(|hit| hit.end),
            lists_of_places(all().map(|hit| &*hit.also)),
            numbers(|hit| hit.item_start),
            numbers(|hit| hit.item_end),
            numbers(|hit| hit.found),
            numbers(|hit| hit.ngrams),
            lists_of_numbers(all().map(|hit| hit.content)),
            numbers(|hit| hit.own),
            lists_of_texts(all().map(|hit| &*hit.lacks)),
            rarest(all()),
        ];
        if self.has_samples {
            columns.push(samples(all().map(|hit| hit.sample.as_ref())));
        }
        let written = self.table.write(columns);
        written.map_err(unwritable_table(&self.path))
    }
}

fn lists_of_texts<'a>(lists: impl Iterator<Item = &'a [String]>) -> ArrayRef {
    let item = Field::new_list_field(DataType::Utf8, false);
    let mut column = ListBuilder::new(StringBuilder::new()).with_field(item);
    for list in lists {
        list.iter()
            .for_each(|text| column.values().append_value(text));
        column.append(true);
    }
    Arc::new(column.finish())
}

fn lists_of_numbers(lists: impl Iterator<Item = [usize; 2]>) -> ArrayRef {
    let item = Field::new_list_field(DataType::UInt64, false);
    let mut column = ListBuilder::new(UInt64Builder::new()).with_field(item);
    for list in lists {
        for number in list {
            column.values().append_value(number as u64);
        }
        column.append(true);
    }
    Arc::new(column.finish())
}

fn lists_of_places<'a>(lists: impl Iterator<Item = &'a [[usize; 2]]>) -> ArrayRef {
    let item = Field::new_list_field(DataType::Struct(place_fields()), false);
    let values = StructBuilder::from_fields(place_fields(), 0);
    let mut column = ListBuilder::new(values).with_field(item);
    for list in lists {
        for place in list {
            let values = column.values();
            for (side, at) in place.iter().enumerate() {
                if let Some(numbers) = values.field_builder::<UInt64Builder>(side) {
                    numbers.append_value(*at as u64);
                }
            }
            values.append(true);
        }
        column.append(true);
    }
    Arc::new(column.finish())
}

fn rarest<'a>(hits: impl Iterator<Item = &'a HitEvidence>) -> ArrayRef {
    let fields = gram_fields();
    let item = Field::new_list_field(DataType::Struct(fields.clone()), false);
    let values = StructBuilder::from_fields(fields, 0);
    let mut column = ListBuilder::new(values).with_field(item);
    for hit in hits {
        for gram in &hit.rarest {
            let values = column.values();
            if let Some(ngram) = values.field_builder::<StringBuilder>(0) {
                ngram.append_value(&gram.ngram);
            }
            if let Some(in_parts) = values.field_builder::<UInt64Builder>(1) {
                in_parts.append_value(gram.in_parts as u64);
            }
            values.append(true);
        }
        column.append(true);
    }
    Arc::new(column.finish())
}

fn samples<'a>(samples: impl Iterator<Item = Option<&'a Sample>>) -> ArrayRef {
    let mut column = StructBuilder::from_fields(sample_fields(), 0);
    for sample in samples {
        let texts = sample.map_or(["", "", ""], |it| [&*it.before, &*it.text, &*it.after]);
        for (i, text) in texts.into_iter().enumerate() {
            if let Some(strings) = column.field_builder::<StringBuilder>(i) {
                strings.append_value(text);
            }
        }
        column.append(true);
    }
    Arc::new(column.finish())
}
