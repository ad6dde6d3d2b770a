//! Neighbours and recommendations from files of ratings.

use std::cell::Cell;
use std::fmt;
use std::path::Path;
use std::time::Instant;

use arrow_array::RecordBatch;
use serde::Serialize;

use super::pairs::{PairsOutput, Rows, Target};
use crate::error::{BadRecord, Error, Result};
use crate::io::{
    CONFIDENCE, Columns, Event, FilesReading, InputFile, Inputs, ItemNames, NameFields,
    OnBadRecord, REPORT_VERSION, RankedNeighbour, RankedRecommendation, RatedNames, RatingFields,
    RatingNeeds, RatingsOfChunk, RatingsRead, Reading, SkippedRecord, ValueField, Wanted,
    write_rows_as_table, write_rows_as_text,
};
use crate::progress::{Progress, Silent, Timings, advance};
use crate::ratings::{
    By, Evaluation, NeighbourTask, Neighbours, Ratings, RecommendTask, Recommender, hold_out,
    neighbours, recommend,
};

/// What to find in ratings.
#[derive(Clone, Debug, PartialEq)]
pub enum RatingsTask {
    /// The neighbours of every item or user.
    Neighbours(NeighbourTask),
    /// Recommendations.
    Recommend(RecommendTask, Recommendees),
    /// How often recommendations find the item that a user liked last ([`hold_out`]).
    HoldOut(RecommendTask),
}

/// To whom to recommend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recommendees {
    /// To all users, in the order of their first ratings.
    All,
    /// To the user with this id.
    User(String),
}

impl RatingsTask {
    /// The parameters of the neighbours.
    pub fn neighbours(&self) -> &NeighbourTask {
        match self {
            RatingsTask::Neighbours(task) => task,
            RatingsTask::Recommend(task, _) | RatingsTask::HoldOut(task) => &task.neighbours,
        }
    }

    fn needs(&self) -> RatingNeeds {
        RatingNeeds {
            rated_as: self.neighbours().rated_as,
            time: matches!(self, RatingsTask::HoldOut(_)),
        }
    }
}

/// A file with the names of items.
#[derive(Debug)]
pub struct NamesFile {
    /// The file, which is one.
    pub inputs: Inputs,
    /// Its fields.
    pub fields: NameFields,
}

/// The counts of a run over ratings. `records = ratings + repeated + skipped`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RatingsCounts {
    /// Records read, including bad ones.
    pub records: u64,
    /// Ratings, one per user and item.
    pub ratings: u64,
    /// Ratings that a later one of the same item by the same user replaced.
    pub repeated: u64,
    /// Bad records skipped.
    pub skipped: u64,
    /// Users.
    pub users: u64,
    /// Items.
    pub items: u64,
    /// Items without a name, if names were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unnamed: Option<u64>,
    /// Rows of results.
    pub results: u64,
    /// Items or users without a neighbour, or users without a recommendation; `None` if items were held out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_result: Option<u64>,
    /// Pairs with elements in common, but fewer than the minimum support; `None` if items were held out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unsupported_pairs: Option<u64>,
}

/// How often recommendations and popularity found the items that were held out.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct HitRates {
    /// Users who took part.
    pub users: u64,
    /// Users whose item was recommended.
    pub hits: u64,
    /// Their share.
    pub hit_rate: f64,
    /// The confidence interval of the share, 95 %.
    pub interval: (f64, f64),
    /// Users whose item is among the most popular ones.
    pub popularity_hits: u64,
    /// Their share.
    pub popularity_hit_rate: f64,
    /// The confidence interval of that share, 95 %.
    pub popularity_interval: (f64, f64),
}

impl HitRates {
    fn of(evaluation: &Evaluation) -> Result<Self> {
        let users = evaluation.held_out.len() as u64;
        let (hits, popularity_hits) = (evaluation.hits(), evaluation.popularity_hits());
        Ok(HitRates {
            users,
            hits,
            hit_rate: hits as f64 / users as f64,
            interval: evaluation.interval(hits, CONFIDENCE)?,
            popularity_hits,
            popularity_hit_rate: popularity_hits as f64 / users as f64,
            popularity_interval: evaluation.interval(popularity_hits, CONFIDENCE)?,
        })
    }
}

/// All parameters that affect the result.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RatingsParameters {
    /// What is compared: `item` or `user`.
    pub by: &'static str,
    /// What is in a set: `seen`, `liked`, `liked-hated` or `stars`.
    #[serde(rename = "as")]
    pub rated_as: &'static str,
    /// Liked from this number of stars on.
    pub liked_from: f64,
    /// Hated up to this number of stars.
    pub hated_to: f64,
    /// The fewest elements in common.
    pub min_support: u32,
    /// The most results of each item or user.
    pub top: usize,
    /// The most neighbours that vote; `None` unless items are recommended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub neighbours: Option<usize>,
    /// The user to whom items are recommended, or `all`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recommend: Option<String>,
    /// What was held out: `last`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold_out: Option<&'static str>,
}

impl RatingsParameters {
    fn of(task: &RatingsTask) -> Self {
        let of_neighbours = task.neighbours();
        let (top, voting) = match task {
            RatingsTask::Neighbours(task) => (task.top, None),
            RatingsTask::Recommend(task, _) | RatingsTask::HoldOut(task) => {
                (task.top, Some(task.neighbours.top))
            }
        };
        RatingsParameters {
            by: of_neighbours.by.name(),
            rated_as: of_neighbours.rated_as.name(),
            liked_from: of_neighbours.scale.liked_from,
            hated_to: of_neighbours.scale.hated_to,
            min_support: of_neighbours.min_support,
            top,
            neighbours: voting,
            recommend: match task {
                RatingsTask::Recommend(_, Recommendees::All) => Some("all".to_owned()),
                RatingsTask::Recommend(_, Recommendees::User(user)) => Some(user.clone()),
                _ => None,
            },
            hold_out: matches!(task, RatingsTask::HoldOut(_)).then_some("last"),
        }
    }
}

/// The report of a run over ratings. Equal inputs and options make equal reports.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct RatingsReport {
    /// The version of the layout.
    pub simgpu_report: u32,
    /// `ratings`.
    pub command: &'static str,
    /// The counts.
    pub counts: RatingsCounts,
    /// The parameters.
    pub parameters: RatingsParameters,
    /// The hit rates, if items were held out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hit_rates: Option<HitRates>,
    /// The bad records.
    pub skipped: Vec<SkippedRecord>,
}

impl RatingsReport {
    /// Writes the report as JSON, the same bytes as in the file.
    ///
    /// # Errors
    /// Those of the target.
    pub fn write_json(&self, target: &mut impl std::io::Write) -> std::io::Result<()> {
        crate::io::write_json(target, self)
    }
}

/// The outcome of a run over ratings.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RatingsOutcome {
    /// The counts, parameters and hit rates.
    pub report: RatingsReport,
    /// The elapsed times of the stages.
    pub timings: Timings,
    /// The elapsed seconds of the run.
    pub elapsed_s: f64,
}

/// A run over files of ratings. Set its options, then call [`RatingsRun::run`]. Memory grows with the number of ratings.
///
/// ```
/// use std::fs;
/// use simgpu::io::Inputs;
/// use simgpu::jobs::{PairsOutput, RatingsRun, RatingsTask};
/// use simgpu::ratings::NeighbourTask;
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let folder = folder.path();
/// let rated = "user,item,rating\n1,Alien,5\n1,Aliens,4\n2,Alien,4\n2,Aliens,5\n";
/// fs::write(folder.join("ratings.csv"), rated).unwrap();
/// let inputs = Inputs::find(&[folder.join("ratings.csv")], None)?;
/// let task = RatingsTask::Neighbours(NeighbourTask { min_support: 2, ..NeighbourTask::default() });
/// let output = folder.join("neighbours.csv");
/// RatingsRun::new(&inputs).run(&task, PairsOutput::File(&output))?;
/// let found = fs::read_to_string(output).unwrap();
/// assert!(found.contains("\nAlien,Aliens,1,1,2,"));
/// # Ok::<(), simgpu::Error>(())
/// ```
#[must_use]
pub struct RatingsRun<'a> {
    inputs: &'a Inputs,
    fields: RatingFields,
    names: Option<&'a NamesFile>,
    on_bad_record: OnBadRecord,
    overwrite: bool,
    compression_level: Option<u32>,
    progress: &'a dyn Progress,
    start: Instant,
}

impl fmt::Debug for RatingsRun<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RatingsRun")
            .field("inputs", &self.inputs)
            .field("fields", &self.fields)
            .finish_non_exhaustive()
    }
}

impl<'a> RatingsRun<'a> {
    /// Makes a run over inputs, with default options.
    pub fn new(inputs: &'a Inputs) -> Self {
        RatingsRun {
            inputs,
            fields: RatingFields::default(),
            names: None,
            on_bad_record: OnBadRecord::default(),
            overwrite: false,
            compression_level: None,
            progress: &Silent,
            start: Instant::now(),
        }
    }

    /// The fields of a rating.
    pub fn fields(self, fields: RatingFields) -> Self {
        RatingsRun { fields, ..self }
    }

    /// The names of items, which stand beside their ids in the results; default none.
    pub fn names(self, names: &'a NamesFile) -> Self {
        RatingsRun {
            names: Some(names),
            ..self
        }
    }

    /// What the run does with a bad record; default [`OnBadRecord::Fail`].
    pub fn on_bad_record(self, on_bad_record: OnBadRecord) -> Self {
        RatingsRun {
            on_bad_record,
            ..self
        }
    }

    /// Whether to replace an earlier output; default false.
    pub fn overwrite(self, overwrite: bool) -> Self {
        RatingsRun { overwrite, ..self }
    }

    /// The level of a compressed output; default that of the compression.
    pub fn compression_level(self, level: u32) -> Self {
        RatingsRun {
            compression_level: Some(level),
            ..self
        }
    }

    /// Receives progress, messages and warnings, and can stop the run.
    pub fn progress(self, progress: &'a dyn Progress) -> Self {
        RatingsRun { progress, ..self }
    }

    /// When the run started, for the elapsed time.
    pub fn started(self, start: Instant) -> Self {
        RatingsRun { start, ..self }
    }

    /// Reads the ratings, and writes what the task finds. The rows of the output:
    ///
    /// - neighbours: `id`, `name`, `neighbour_id`, `neighbour_name`, `rank`, `similarity`, `support`, `low`, `high`;
    /// - recommendations: `user`, `rank`, `item`, `name`, `score`, `because`, `because_name`;
    /// - items that were held out: `user`, `item`, `name`, `rank`, `popularity_rank`.
    ///
    /// Names are there if [`RatingsRun::names`] is set, and for items only. Items and users come in the order of their
    /// first rating in the inputs, and ids are integers if all are.
    ///
    /// # Errors
    /// Any error of reading the inputs or writing the output, of the task ([`neighbours`], [`recommend`],
    /// [`hold_out`]), and [`Error::Stopped`] if the progress stops the run. After an error there is no new output file.
    pub fn run(self, task: &RatingsTask, mut output: PairsOutput<'_>) -> Result<RatingsOutcome> {
        let outputs = output.names();
        self.inputs.check_not_overwritten_by(&outputs)?;
        if let Some(names) = self.names {
            names.inputs.check_not_overwritten_by(&outputs)?;
        }
        let temporary = output.temporary();
        let mut target = Target::open(&mut output, self.overwrite, self.compression_level)?;
        let mut timings = Timings::default();
        let rated = timings.time("read", 0, || self.read(task, &temporary))?;
        let mut report = rated.report(task);
        let found = timings.time("compare", 0, || Found::new(&rated, task, self.progress))?;
        timings.time("write", 0, || {
            let schema = found.empty(&rated)?.schema();
            let written = Cell::default();
            let for_each = |each: &mut dyn FnMut(RecordBatch) -> Result<()>| {
                written.set(found.for_each(&rated, self.progress, each)?);
                Ok(())
            };
            target.write_rows(&Rows {
                none: &|| for_each(&mut |_| Ok(())),
                text: &|format, target, path| {
                    write_rows_as_text(&for_each, &schema, format, target, path)
                },
                table: &|file, path| write_rows_as_table(&for_each, &schema, file, path),
            })?;
            found.complete(&mut report, written.get())
        })?;
        self.warn(&report);
        target.commit(&report, self.progress, report.counts.results)?;
        let elapsed_s = timings.complete(self.start);
        Ok(RatingsOutcome {
            report,
            timings,
            elapsed_s,
        })
    }

    fn read(&self, task: &RatingsTask, temporary: &Path) -> Result<Rated> {
        let copied = |bytes| advance(self.progress, bytes, 0, bytes);
        if self.inputs.names_stream() {
            self.progress.begin("copy", 0);
        }
        let files = self.inputs.with_copy_of_stream(temporary, copied)?;
        let needs = task.needs();
        let fields = self.fields.values(needs);
        let mut read = RatingsRead::default();
        let reading = reading(&fields, temporary);
        let reading = FilesReading::new(&files, reading)?;
        self.progress
            .begin("read", files.iter().map(InputFile::stored_bytes).sum());
        reading.map(
            |chunk| Ok(RatingsOfChunk::parse(&chunk, &fields, needs)),
            |event| {
                if let Some(Event::Chunk(chunk)) = event {
                    let name = &files[chunk.file].named;
                    read.add(&chunk, name, self.on_bad_record)?;
                }
                advance(self.progress, reading.consumed(), 0, 0)
            },
        )?;
        for (number, file) in files.iter().enumerate() {
            if read.records_of(number) == 0 {
                let warning = format!("{} holds no records", file.named.display());
                self.progress.warn(&warning);
            }
        }
        let (ratings, ignores_times) = read.ratings(&self.fields, needs)?;
        if ignores_times {
            self.progress.warn(
                "the values of the field timestamp are neither all numbers nor all dates, so later records count as later ratings; choose the field with `time_field`",
            );
        }
        if let (true, Some((_, first))) = (ratings.all().is_empty(), read.skipped.first()) {
            return Err(no_good_record(first));
        }
        let names = self.names.map(|names| {
            let files = names.inputs.with_copy_of_stream(temporary, copied)?;
            read_names(&files, &names.fields, &read, temporary)
        });
        let relative = files.into_iter().map(|file| file.relative).collect();
        Ok(Rated {
            ratings,
            names: names.transpose()?,
            read,
            files: relative,
        })
    }

    fn warn(&self, report: &RatingsReport) {
        for path in &self.inputs.repeated {
            let path = path.display();
            let warning = format!("{path} was given more than once and is read only once");
            self.progress.warn(&warning);
        }
        if let Some(unnamed @ 1..) = report.counts.unnamed {
            let of = report.counts.items;
            let warning = format!("{unnamed} of {of} items have no name in the file of names");
            self.progress.warn(&warning);
        }
    }
}

/// How to read values.
fn reading<'a>(fields: &'a [ValueField], temporary: &'a Path) -> Reading<'a> {
    Reading {
        wanted: Wanted::Values(fields),
        columns: Columns::Needed,
        batch_bytes: 16 << 20,
        temporary: Some(temporary),
        keep_by: None,
        limit: None,
    }
}

/// The error if every record is bad.
fn no_good_record(first: &BadRecord) -> Error {
    Error::Input {
        path: first.file.clone(),
        problem: format!("every record is bad, the first in {first}"),
        remedy: "choose the fields with `user_field`, `item_field`, `rating_field` and `time_field`, or correct the records".to_owned(),
    }
}

fn read_names(
    files: &[InputFile],
    fields: &NameFields,
    read: &RatingsRead,
    temporary: &Path,
) -> Result<ItemNames> {
    let fields = fields.values();
    let mut names = ItemNames::new(&read.items);
    FilesReading::new(files, reading(&fields, temporary))?.map(Ok, |event| {
        let Some(Event::Chunk(chunk)) = event else {
            return Ok(());
        };
        let added = names.add(&chunk, &fields, &read.items);
        added.map_err(|(line, problem)| Error::Input {
            path: files[chunk.file].named.clone(),
            problem: match line {
                Some(line) => format!("line {line}: {problem}"),
                None => problem,
            },
            remedy: "correct the record".to_owned(),
        })
    })?;
    Ok(names)
}

/// Ratings, and what they are called.
struct Rated {
    read: RatingsRead,
    ratings: Ratings,
    names: Option<ItemNames>,
    /// The names of the files in reports.
    files: Vec<String>,
}

impl Rated {
    fn names(&self) -> RatedNames<'_> {
        RatedNames {
            users: &self.read.users,
            items: &self.read.items,
            names: self.names.as_ref(),
        }
    }

    /// The report, without results.
    fn report(&self, task: &RatingsTask) -> RatingsReport {
        let skipped = self.read.skipped.iter();
        RatingsReport {
            simgpu_report: REPORT_VERSION,
            command: "ratings",
            counts: RatingsCounts {
                records: self.read.records(),
                ratings: self.ratings.all().len() as u64,
                repeated: self.ratings.repeated(),
                skipped: self.read.skipped.len() as u64,
                users: u64::from(self.ratings.users()),
                items: u64::from(self.ratings.items()),
                unnamed: self.names.as_ref().map(ItemNames::missing),
                ..RatingsCounts::default()
            },
            parameters: RatingsParameters::of(task),
            hit_rates: None,
            skipped: skipped
                .map(|(file, record)| SkippedRecord {
                    file: self.files[*file].clone(),
                    row: record.row,
                    line: record.line,
                    problem: record.problem.clone(),
                })
                .collect(),
        }
    }
}

/// What a task found.
enum Found<'a> {
    Neighbours(By, Neighbours),
    Recommend(By, Recommender<'a>, Vec<u32>),
    HeldOut(Evaluation),
}

/// The rows written so far, and for how many items or users there was none.
#[derive(Clone, Copy, Debug, Default)]
struct Written {
    results: u64,
    without: u64,
}

/// Rows of a batch.
const BATCH: usize = 1 << 16;

impl<'a> Found<'a> {
    fn new(rated: &'a Rated, task: &RatingsTask, progress: &dyn Progress) -> Result<Self> {
        let ratings = &rated.ratings;
        Ok(match task {
            RatingsTask::Neighbours(task) => {
                Found::Neighbours(task.by, neighbours(ratings, task, progress)?)
            }
            RatingsTask::Recommend(task, to) => {
                let users = match to {
                    Recommendees::All => (0..ratings.users()).collect(),
                    Recommendees::User(user) => {
                        let number = rated.read.users.number(user);
                        vec![number.ok_or_else(|| Error::Parameter {
                            name: "`recommend`",
                            value: user.clone(),
                            expected: "the id of a user who rated something, or all".to_owned(),
                        })?]
                    }
                };
                let recommender = Recommender::new(ratings, task, progress)?;
                Found::Recommend(task.neighbours.by, recommender, users)
            }
            RatingsTask::HoldOut(task) => Found::HeldOut(hold_out(ratings, task, progress)?),
        })
    }

    /// A table without rows.
    fn empty(&self, rated: &Rated) -> Result<RecordBatch> {
        match self {
            Found::Neighbours(by, _) => rated.names().neighbours(*by, &[]),
            Found::Recommend(by, ..) => rated.names().recommendations(*by, &[]),
            Found::HeldOut(_) => rated.names().held_out(&[]),
        }
    }

    /// Calls `each` with the rows of the result, in order.
    fn for_each(
        &self,
        rated: &Rated,
        progress: &dyn Progress,
        each: &mut dyn FnMut(RecordBatch) -> Result<()>,
    ) -> Result<Written> {
        let names = rated.names();
        let mut written = Written::default();
        match self {
            Found::Neighbours(by, found) => {
                progress.begin("write", u64::from(found.rows()));
                let mut batch: Vec<RankedNeighbour> = Vec::new();
                for row in 0..found.rows() {
                    let of_row = found.of(row);
                    batch.extend((1..).zip(of_row).map(|(rank, it)| (row, rank, *it)));
                    written.add(of_row.len());
                    if batch.len() >= BATCH || row + 1 == found.rows() {
                        each(names.neighbours(*by, &std::mem::take(&mut batch))?)?;
                        advance(progress, u64::from(row + 1), 0, 0)?;
                    }
                }
            }
            Found::Recommend(by, recommender, users) => {
                let mut batch: Vec<RankedRecommendation> = Vec::new();
                recommend(recommender, users, progress, &mut |user, found| {
                    batch.extend((1..).zip(found).map(|(rank, it)| (user, rank, *it)));
                    written.add(found.len());
                    if batch.len() < BATCH {
                        return Ok(());
                    }
                    each(names.recommendations(*by, &std::mem::take(&mut batch))?)
                })?;
                each(names.recommendations(*by, &batch)?)?;
            }
            Found::HeldOut(evaluation) => {
                progress.begin("write", evaluation.held_out.len() as u64);
                for batch in evaluation.held_out.chunks(BATCH) {
                    each(names.held_out(batch)?)?;
                    written.results += batch.len() as u64;
                    advance(progress, written.results, 0, 0)?;
                }
            }
        }
        Ok(written)
    }

    /// Adds the results to the report.
    fn complete(&self, report: &mut RatingsReport, written: Written) -> Result<()> {
        report.counts.results = written.results;
        let unsupported = match self {
            Found::Neighbours(_, found) => found.unsupported_pairs(),
            Found::Recommend(_, recommender, _) => recommender.neighbours().unsupported_pairs(),
            Found::HeldOut(evaluation) => {
                report.hit_rates = Some(HitRates::of(evaluation)?);
                return Ok(());
            }
        };
        report.counts.without_result = Some(written.without);
        report.counts.unsupported_pairs = Some(unsupported);
        Ok(())
    }
}

impl Written {
    /// Counts the results of one item or user.
    fn add(&mut self, results: usize) {
        self.results += results as u64;
        self.without += u64::from(results == 0);
    }
}
