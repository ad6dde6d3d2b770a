//! The results of ratings as tables: neighbours, recommendations, and items that were held out.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, RecordBatch, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use super::read::ItemNames;
use super::{By, HeldOut, Neighbour, Recommendation};
use simgpu::error::{Error, Result};
use simgpu_io::{Labels, f64s, u64s};

/// The confidence of intervals in results.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// The names of what was rated, and by whom.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RatedNames<'a> {
    pub(crate) users: &'a Labels,
    pub(crate) items: &'a Labels,
    /// The names of items, if any were given.
    pub(crate) names: Option<&'a ItemNames>,
}

/// The columns of a table, one after the other.
#[derive(Default)]
struct Table {
    fields: Vec<Field>,
    columns: Vec<ArrayRef>,
}

impl Table {
    fn push(&mut self, field: Field, column: ArrayRef) {
        self.fields.push(field);
        self.columns.push(column);
    }

    fn counts(&mut self, name: &str, counts: impl Iterator<Item = u64>) {
        self.push(Field::new(name, DataType::UInt64, false), u64s(counts));
    }

    fn numbers(&mut self, name: &str, numbers: impl Iterator<Item = f64>) {
        let field = Field::new(name, DataType::Float64, false);
        self.push(field, f64s(numbers.map(Some)));
    }

    /// Places, of which some are absent.
    fn places(&mut self, name: &str, places: impl Iterator<Item = Option<u32>>) {
        let places: UInt64Array = places.map(|place| place.map(u64::from)).collect();
        let field = Field::new(name, DataType::UInt64, true);
        self.push(field, Arc::new(places));
    }

    fn ids(&mut self, name: &str, labels: &Labels, numbers: impl Iterator<Item = u32>) {
        let column = labels.column();
        // Unquoted texts are themselves, unless they look like JSON.
        let texts = numbers.map(|number| labels.json(number));
        self.push(column.field(name), column.array(texts));
    }

    /// The names of items, if there are any.
    fn names(&mut self, name: &str, names: Option<&ItemNames>, numbers: impl Iterator<Item = u32>) {
        let Some(names) = names else {
            return;
        };
        let mut column = StringBuilder::new();
        numbers.for_each(|number| column.append_option(names.get(number)));
        let field = Field::new(name, DataType::Utf8, true);
        self.push(field, Arc::new(column.finish()));
    }

    fn finish(self) -> Result<RecordBatch> {
        let schema: SchemaRef = Arc::new(Schema::new(self.fields));
        RecordBatch::try_new(schema, self.columns)
            .map_err(|error| Error::Defect(format!("a table of results is wrong: {error}")))
    }
}

/// A row and one of its neighbours, with the rank of it.
pub(crate) type RankedNeighbour = (u32, u64, Neighbour);

/// A user and one of his recommendations, with its rank.
pub(crate) type RankedRecommendation = (u32, u64, Recommendation);

impl RatedNames<'_> {
    /// What is compared.
    fn rows(&self, by: By) -> &Labels {
        match by {
            By::Item => self.items,
            By::User => self.users,
        }
    }

    /// The names of what is compared.
    fn names_of(&self, by: By) -> Option<&ItemNames> {
        self.names.filter(|_| by == By::Item)
    }

    /// `id`, `name`, `neighbour_id`, `neighbour_name`, `rank`, `similarity`, `support`, `low`, `high`. Names are there if
    /// items are compared and have any.
    pub(crate) fn neighbours(&self, by: By, rows: &[RankedNeighbour]) -> Result<RecordBatch> {
        let (labels, names) = (self.rows(by), self.names_of(by));
        let intervals: Result<Vec<(f64, f64)>> = rows
            .iter()
            .map(|(_, _, neighbour)| neighbour.interval(CONFIDENCE))
            .collect();
        let intervals = intervals?;
        let row = || rows.iter().map(|(row, _, _)| *row);
        let neighbours = || rows.iter().map(|(_, _, neighbour)| neighbour);
        let mut table = Table::default();
        table.ids("id", labels, row());
        table.names("name", names, row());
        table.ids("neighbour_id", labels, neighbours().map(|it| it.row));
        table.names("neighbour_name", names, neighbours().map(|it| it.row));
        table.counts("rank", rows.iter().map(|(_, rank, _)| *rank));
        table.numbers("similarity", neighbours().map(|it| it.similarity));
        table.counts("support", neighbours().map(|it| u64::from(it.support)));
        table.numbers("low", intervals.iter().map(|interval| interval.0));
        table.numbers("high", intervals.iter().map(|interval| interval.1));
        table.finish()
    }

    /// `user`, `rank`, `item`, `name`, `score`, `because`, `because_name`. Names are there if items have any.
    pub(crate) fn recommendations(
        &self,
        by: By,
        rows: &[RankedRecommendation],
    ) -> Result<RecordBatch> {
        let found = || rows.iter().map(|(_, _, found)| found);
        let mut table = Table::default();
        table.ids("user", self.users, rows.iter().map(|(user, _, _)| *user));
        table.counts("rank", rows.iter().map(|(_, rank, _)| *rank));
        table.ids("item", self.items, found().map(|it| it.item));
        table.names("name", self.names, found().map(|it| it.item));
        table.numbers("score", found().map(|it| it.score));
        let because = || found().map(|it| it.because);
        table.ids("because", self.rows(by), because());
        table.names("because_name", self.names_of(by), because());
        table.finish()
    }

    /// `user`, `item`, `name`, `rank`, `popularity_rank`. Names are there if items have any.
    pub(crate) fn held_out(&self, rows: &[HeldOut]) -> Result<RecordBatch> {
        let items = || rows.iter().map(|held| held.item);
        let mut table = Table::default();
        table.ids("user", self.users, rows.iter().map(|held| held.user));
        table.ids("item", self.items, items());
        table.names("name", self.names, items());
        table.places("rank", rows.iter().map(|held| held.rank));
        let popular = rows.iter().map(|held| held.popularity_rank);
        table.places("popularity_rank", popular);
        table.finish()
    }
}
