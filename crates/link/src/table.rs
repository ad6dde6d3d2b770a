//! Links, and the entity of every record, as tables in memory.

use std::sync::Arc;

use arrow_array::builder::{Int64Builder, ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};

use crate::rows::{EntityToWrite, LinkToWrite, PlacedRecord, rounded};
use crate::score::Score;
use simgpu::error::{Error, Result};
use simgpu_io::Places;

/// What the columns of a record are called.
#[derive(Clone, Copy)]
struct RecordColumns {
    row: &'static str,
    id: &'static str,
}

impl RecordColumns {
    const fn new(row: &'static str, id: &'static str) -> Self {
        RecordColumns { row, id }
    }
}

/// The columns of a table.
#[derive(Default)]
struct LinkColumns {
    fields: Vec<Field>,
    arrays: Vec<ArrayRef>,
}

impl LinkColumns {
    fn push(&mut self, name: impl Into<String>, may_be_null: bool, array: ArrayRef) {
        let data_type = array.data_type().clone();
        self.fields.push(Field::new(name, data_type, may_be_null));
        self.arrays.push(array);
    }

    fn scores(&mut self, name: impl Into<String>, scores: impl Iterator<Item = Option<f64>>) {
        let scores: Float64Array = scores.map(|score| score.map(rounded)).collect();
        self.push(name, true, Arc::new(scores));
    }

    /// The rows of records, and their ids if they have any.
    fn records<'a>(
        &mut self,
        names: RecordColumns,
        places: &Places,
        records: impl Iterator<Item = Option<PlacedRecord<'a>>> + Clone,
        may_be_null: bool,
    ) -> Result<()> {
        let rows = records.clone().map(|record| {
            let row = record.map(|record| record.places.place(record.row).1);
            row.map(u64::cast_signed)
        });
        self.push(
            names.row,
            may_be_null,
            Arc::new(rows.collect::<Int64Array>()),
        );
        if places.ids.is_some() {
            let ids = records.map(|record| record.map(|record| record.places.id(record.row)));
            let ids = ids.map(Option::transpose).collect::<Result<Vec<_>>>()?;
            let column = places.id_column().array_of_options(ids.into_iter());
            self.push(names.id, may_be_null, column);
        }
        Ok(())
    }

    /// The rarest symbols that both records of a link have, and the number of records that have each.
    fn shared_symbols(&mut self, links: &[LinkToWrite<'_>]) {
        let item = |data_type| Arc::new(Field::new("item", data_type, false));
        let mut symbols = ListBuilder::new(StringBuilder::new()).with_field(item(DataType::Utf8));
        let mut records = ListBuilder::new(Int64Builder::new()).with_field(item(DataType::Int64));
        for link in links {
            for (symbol, records_with) in &link.shared {
                symbols.values().append_value(symbol);
                records.values().append_value(i64::from(*records_with));
            }
            symbols.append(true);
            records.append(true);
        }
        self.push("shared", false, Arc::new(symbols.finish()));
        self.push("shared_records", false, Arc::new(records.finish()));
    }

    fn table(self) -> Result<RecordBatch> {
        let schema = Arc::new(Schema::new(self.fields));
        RecordBatch::try_new(schema, self.arrays)
            .map_err(|error| Error::Defect(format!("links are no table: {error}")))
    }
}

/// One row per link: `row_a`, `row_b`, `id_a` and `id_b` (where the records have ids), `score`, `similarity` (of the whole
/// records), `similarity_<field>` of each field, `points_<field>` and `whole_points` or `other_points` (where the score has points), `shared`
/// and `shared_records` (lists: the rarest shared symbols, and the number of records that have each), `runner_up_row_a`,
/// `runner_up_row_b` and their ids, `runner_up_score`, and `distance`, by which it is lower.
pub(crate) fn links_table(
    links: &[LinkToWrite<'_>],
    fields: &[String],
    [a, b]: [&Places; 2],
    score: Score,
) -> Result<RecordBatch> {
    let mut columns = LinkColumns::default();
    let side = |side: usize| links.iter().map(move |link| Some(link.records[side]));
    columns.records(RecordColumns::new("row_a", "id_a"), a, side(0), false)?;
    columns.records(RecordColumns::new("row_b", "id_b"), b, side(1), false)?;
    let scores = links.iter().map(|link| rounded(link.score));
    let scores = Float64Array::from_iter_values(scores);
    columns.push("score", false, Arc::new(scores));
    let similarities = links.iter().map(|link| rounded(link.similarity));
    let similarities = Float64Array::from_iter_values(similarities);
    columns.push("similarity", false, Arc::new(similarities));
    for (i, field) in fields.iter().enumerate() {
        let similarities = links.iter().map(|link| link.fields[i].similarity);
        columns.scores(format!("similarity_{field}"), similarities);
    }
    if score != Score::Text {
        for (i, field) in fields.iter().enumerate() {
            let points = links.iter().map(|link| link.fields[i].points);
            columns.scores(format!("points_{field}"), points);
        }
    }
    let whole = links.iter().map(|link| link.whole_points);
    match score {
        Score::Points => columns.scores("whole_points", whole),
        Score::Evidence => columns.scores("other_points", whole),
        Score::Auto | Score::Text | Score::Textbook => {}
    }
    columns.shared_symbols(links);
    let other = |side: usize| {
        let others = links.iter().map(|link| link.runner_up);
        others.map(move |other| other.map(|(records, _)| records[side]))
    };
    let names = RecordColumns::new("runner_up_row_a", "runner_up_id_a");
    columns.records(names, a, other(0), true)?;
    let names = RecordColumns::new("runner_up_row_b", "runner_up_id_b");
    columns.records(names, b, other(1), true)?;
    let scores = links.iter().map(|link| link.runner_up.map(|other| other.1));
    columns.scores("runner_up_score", scores);
    let distances = links
        .iter()
        .map(|link| link.runner_up.map(|other| link.score - other.1));
    columns.scores("distance", distances);
    columns.table()
}

/// One row per record: `row` and `id` (where records have ids), `entity` (the row of the first record of its entity) and
/// `entity_id`.
pub(crate) fn entities_table(records: &[EntityToWrite], places: &Places) -> Result<RecordBatch> {
    let mut columns = LinkColumns::default();
    let placed = |row| Some(PlacedRecord { places, row });
    let own = records.iter().map(|record| placed(record.row));
    let first = records.iter().map(|record| placed(record.first));
    columns.records(RecordColumns::new("row", "id"), places, own, false)?;
    columns.records(
        RecordColumns::new("entity", "entity_id"),
        places,
        first,
        false,
    )?;
    columns.table()
}
