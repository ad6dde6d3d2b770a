//! Links records in memory, as rows of tables.

use std::path::Path;

use arrow_array::RecordBatch;
use rayon::prelude::*;

use crate::fields::{RecordFields, Side};
use crate::parameters::Link;
use crate::read::RecordsFile;
use crate::report::LinkReport;
use crate::task::link;
use crate::write::Writing;
use simgpu::documents::TokenBatch;
use simgpu::error::{Result, row_number};
use simgpu::progress::{Progress, advance};
use simgpu_io::{
    Chunk, DocumentIds, FieldPath, OnBadRecord, Places, Record, SourceFile, chunks_of_rows,
};

/// A search in memory for records that describe the same thing. [`LinkInMemory::find`] finds what a
/// [`LinkRun`](super::LinkRun) finds in Parquet files with these rows.
///
/// ```
/// use std::sync::Arc;
/// use arrow_array::{ArrayRef, RecordBatch, StringArray};
/// use simgpu_io::FieldPath;
/// use simgpu_link::{Link, LinkInMemory, RecordFields};
/// use simgpu::progress::Silent;
///
/// let table = |names: [&str; 2]| {
///     let names: ArrayRef = Arc::new(StringArray::from_iter_values(names));
///     [RecordBatch::try_from_iter([("name", names)]).unwrap()]
/// };
/// let (a, b) = (table(["Ann Smith", "Bob Jones"]), table(["Bob Jones", "Anne Smith"]));
/// let task = Link { threshold: Some(0.3), ..Link::default() };
/// let fields = RecordFields::new([FieldPath::new("name")]);
/// let found = LinkInMemory { second: Some(&b), ..LinkInMemory::new(&a, fields) }.find(&task, &Silent)?;
/// assert_eq!(found.links.num_rows(), 2);
/// # Ok::<(), simgpu::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct LinkInMemory<'a> {
    /// The tables, or those of the first collection.
    pub first: &'a [RecordBatch],
    /// The tables of a second collection, to whose records those of the first are linked; default none.
    pub second: Option<&'a [RecordBatch]>,
    /// The columns that are compared, and that of the id.
    pub fields: RecordFields,
    /// What to do with a bad row; default [`OnBadRecord::Fail`].
    pub on_bad_record: OnBadRecord,
    /// Whether an id that occurs twice in one collection is an error; default false.
    pub unique_ids: bool,
}

/// The links among records in memory. Scores and similarities are rounded to six digits after the point.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LinkFound {
    /// One row per link, by descending score: `row_a`, `row_b` (from 0, in their tables), `id_a` and `id_b` (where all
    /// records have ids), `score`, `similarity` (of the whole records), `similarity_<field>` of each field,
    /// `points_<field>` and `whole_points` or `other_points` (where the score has points), `shared` and `shared_records` (lists: the rarest
    /// shared symbols, and how many records have each), `runner_up_row_a`, `runner_up_row_b` and their ids,
    /// `runner_up_score`, and `distance`, the score of the link less that one.
    pub links: RecordBatch,
    /// With one table, one row per good record: `row`, `id`, `entity` (the row of the first record of its entity) and
    /// `entity_id`.
    pub entities: Option<RecordBatch>,
    /// The report. Its files are `a` and `b`.
    pub report: LinkReport,
}

/// What errors and reports call the tables.
const NAMES: [&str; 2] = ["a", "b"];

impl<'a> LinkInMemory<'a> {
    /// A search among the rows of tables, by these fields.
    pub fn new(rows: &'a [RecordBatch], fields: RecordFields) -> Self {
        LinkInMemory {
            first: rows,
            second: None,
            fields,
            on_bad_record: OnBadRecord::default(),
            unique_ids: false,
        }
    }

    /// Finds the links, on the current rayon pool.
    ///
    /// # Errors
    /// [`Error::BadRecord`](simgpu::Error::BadRecord) for a row that cannot be used, whose file is `a` or `b`, and [`Error::NoGoodRecord`](simgpu::Error::NoGoodRecord) if every
    /// row of a table is one that was skipped; [`Error::RepeatedId`](simgpu::Error::RepeatedId) with [`LinkInMemory::unique_ids`]; and the errors of
    /// [`link`](super::link()).
    pub fn find(&self, task: &Link, progress: &dyn Progress) -> Result<LinkFound> {
        let task = &self.fields.task(task, FieldPath::flat);
        task.check(self.fields.compared.len(), self.second.is_some())?;
        self.fields.check(self.second.is_some())?;
        let first = self.read(self.first, Side::A, progress)?;
        let second = self.second;
        let second = second.map(|rows| self.read(rows, Side::B, progress));
        let second = second.transpose()?;
        let second_records = second.as_ref().map(|file| &file.records);
        let mut linked = link(&first.records, second_records, task, progress)?;
        let files = [Some(&first), second.as_ref()].into_iter().flatten();
        let files: Vec<&Places> = files.map(|file| &file.places).collect();
        linked.counts.skipped = files.iter().map(|file| file.skipped.len() as u64).sum();
        let writing = Writing {
            linked: &linked,
            files: &files,
            names: task.field_names.clone(),
        };
        let report = writing.report(task, &self.fields)?;
        report
            .warnings
            .iter()
            .for_each(|warning| progress.warn(warning));
        Ok(LinkFound {
            links: writing.links_table(progress)?,
            entities: writing.entities_table()?,
            report,
        })
    }

    fn read(
        &self,
        rows: &[RecordBatch],
        side: Side,
        progress: &dyn Progress,
    ) -> Result<RecordsFile> {
        let name = match side {
            Side::A => NAMES[0],
            Side::B => NAMES[1],
        };
        let fields = self.fields.values(side);
        progress.begin("read", rows.iter().map(|rows| rows.num_rows() as u64).sum());
        let file = SourceFile {
            relative: name.to_owned(),
            first_row: 0,
            records: 0,
            fingerprint: None,
        };
        let mut places = Places {
            files: vec![file],
            ids: Some(DocumentIds::default()),
            ..Places::default()
        };
        let mut records = TokenBatch::default();
        let all: Vec<Chunk> = chunks_of_rows(rows).collect();
        for chunks in all.chunks(2 * rayon::current_num_threads()) {
            let parsed: Vec<(Vec<Record>, TokenBatch)> = chunks
                .par_iter()
                .map(|chunk| self.fields.parse(chunk, side, &fields))
                .collect();
            for (noted, batch) in parsed {
                let mut row = row_number(records.len())?;
                for record in noted {
                    let is_good = matches!(record, Record::Document(_));
                    places.note(0, Path::new(name), record, row, self.on_bad_record)?;
                    row += u32::from(is_good);
                }
                records.append(&batch);
            }
            let read = places.records();
            advance(progress, read, read, 0)?;
        }
        let file = RecordsFile::complete(side, records, places, self.unique_ids)?;
        // Each column is there.
        file.warn(name, &self.fields, &|_| None, progress);
        Ok(file)
    }
}
