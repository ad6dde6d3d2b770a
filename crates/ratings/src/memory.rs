//! Ratings in memory.

use std::path::Path;

use arrow_array::RecordBatch;
use rayon::prelude::*;

use super::read::{ItemNames, NameFields, RatingFields, RatingsOfChunk, RatingsRead};
use super::report::RatingsReport;
use super::results::{Answer, Rated, ordered};
use super::task::RatingsTask;
use simgpu::error::{Error, Result};
use simgpu::progress::{Progress, advance};
use simgpu_io::{Chunk, OnBadRecord, chunks_of_rows};

/// Ratings in memory, as rows of tables. [`RatingsInMemory::find`] finds what a [`RatingsRun`](super::RatingsRun)
/// finds in a Parquet file with these rows.
///
/// ```
/// use std::sync::Arc;
/// use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
/// use simgpu_ratings::{RatingsInMemory, RatingsTask};
/// use simgpu::progress::Silent;
/// use simgpu_ratings::NeighbourTask;
///
/// let users: ArrayRef = Arc::new(Int64Array::from(vec![1, 1, 2, 2]));
/// let items: ArrayRef = Arc::new(StringArray::from(vec!["Alien", "Aliens", "Alien", "Aliens"]));
/// let stars: ArrayRef = Arc::new(Float64Array::from(vec![5.0, 4.0, 4.0, 5.0]));
/// let rows = RecordBatch::try_from_iter([("user", users), ("item", items), ("rating", stars)]).unwrap();
/// let task = RatingsTask::Neighbours(NeighbourTask { min_support: 2, ..NeighbourTask::default() });
/// let mut found = 0;
/// let report = RatingsInMemory::new(&[rows]).find(&task, &Silent, &mut |rows| {
///     found += rows.num_rows();
///     Ok(())
/// })?;
/// assert_eq!((found, report.counts.results), (2, 2));
/// # Ok::<(), simgpu::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct RatingsInMemory<'a> {
    #[doc(hidden)]
    pub rows: &'a [RecordBatch],
    /// The fields of a rating.
    pub fields: RatingFields,
    /// The names of items, which stand beside their ids in the results; default none.
    pub names: Option<(&'a [RecordBatch], NameFields)>,
    /// What to do with a bad row; default [`OnBadRecord::Fail`].
    pub on_bad_record: OnBadRecord,
}

/// What errors and reports call the rows.
const RATINGS: &str = "ratings";

impl<'a> RatingsInMemory<'a> {
    /// Takes the rows of tables, with default options.
    pub fn new(rows: &'a [RecordBatch]) -> Self {
        RatingsInMemory {
            rows,
            fields: RatingFields::default(),
            names: None,
            on_bad_record: OnBadRecord::default(),
        }
    }

    /// Finds what a task asks for, on the current rayon pool, and calls `each` with tables of the rows that
    /// [`RatingsRun::run`](super::RatingsRun::run) writes: at least one, which may be empty.
    ///
    /// # Errors
    /// [`Error::BadRecord`] for a row that is no rating, and [`Error::NoGoodRecord`] if every row is one that was skipped;
    /// the errors of the task ([`neighbours`](crate::neighbours), [`recommend`](crate::recommend),
    /// [`hold_out`](crate::hold_out)); [`Error::Stopped`] if the progress stops the search; and the first error
    /// of `each`.
    pub fn find(
        &self,
        task: &RatingsTask,
        progress: &dyn Progress,
        each: &mut dyn FnMut(RecordBatch) -> Result<()>,
    ) -> Result<RatingsReport> {
        let rated = self.read(task, progress)?;
        let mut report = rated.report(task);
        let found = Answer::new(&rated, task, progress)?;
        each(found.empty(&rated)?)?;
        let written = found.for_each(&rated, progress, each)?;
        found.complete(&mut report, written)?;
        report.warn_of_unnamed("`names`", progress);
        Ok(report)
    }

    fn read(&self, task: &RatingsTask, progress: &dyn Progress) -> Result<Rated> {
        let needs = task.needs();
        let fields = self.fields.values(needs);
        let rows = self.rows.iter().map(|rows| rows.num_rows() as u64);
        progress.begin("read", rows.sum());
        let mut read = RatingsRead::default();
        let all: Vec<Chunk> = chunks_of_rows(self.rows).collect();
        for chunks in all.chunks(2 * rayon::current_num_threads()) {
            let parsed: Vec<RatingsOfChunk> = chunks
                .par_iter()
                .map(|chunk| RatingsOfChunk::parse(chunk, &fields, needs))
                .collect();
            for chunk in &parsed {
                read.add(chunk, Path::new(RATINGS), self.on_bad_record)?;
            }
            advance(progress, read.records(), 0, 0)?;
        }
        let ratings = ordered(&mut read, &self.fields, needs, progress)?;
        if let (true, Some((_, first))) = (ratings.all().is_empty(), read.skipped.first()) {
            return Err(Error::NoGoodRecord(first.clone()));
        }
        Ok(Rated {
            ratings,
            names: self.names_of(&read)?,
            read,
            files: vec![RATINGS.to_owned()],
        })
    }

    fn names_of(&self, read: &RatingsRead) -> Result<Option<ItemNames>> {
        let Some((rows, fields)) = &self.names else {
            return Ok(None);
        };
        let fields = fields.values();
        let mut names = ItemNames::new(&read.items);
        for chunk in chunks_of_rows(rows) {
            let added = names.add(&chunk, &fields, &read.items);
            added.map_err(|(_, problem)| Error::Parameter {
                name: "`names`",
                value: format!("a table whose {problem}"),
                expected: "ids and names that are strings or integers".to_owned(),
            })?;
        }
        Ok(Some(names))
    }
}
