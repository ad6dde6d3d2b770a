//! Finds what a task asks for, and makes tables and a report of it.

use arrow_array::RecordBatch;

use super::read::{ItemNames, RatingFields, RatingNeeds, RatingsRead};
use super::report::{HitRates, RatingsCounts, RatingsParameters, RatingsReport};
use super::rows::{RankedNeighbour, RankedRecommendation, RatedNames};
use super::task::{RatingsTask, Recommendees};
use super::{By, Evaluation, Neighbours, Ratings, Recommender, hold_out, neighbours, recommend};
use simgpu::error::{Error, Result};
use simgpu::progress::{Progress, advance};
use simgpu_io::{NotRead, REPORT_VERSION, SkippedRecord};

/// Ratings, and what they are called.
pub(crate) struct Rated {
    pub(crate) read: RatingsRead,
    pub(crate) ratings: Ratings,
    pub(crate) names: Option<ItemNames>,
    /// The names of the files in reports.
    pub(crate) files: Vec<String>,
}

impl Rated {
    fn names(&self) -> RatedNames<'_> {
        RatedNames {
            users: &self.read.users,
            items: &self.read.items,
            names: self.names.as_ref(),
        }
    }

    /// The numbers of users.
    fn numbers_of(&self, users: &[String]) -> Result<Vec<u32>> {
        let number = |user: &String| {
            let number = self.read.users.number(user);
            number.ok_or_else(|| Error::Parameter {
                name: "`recommend`",
                value: user.clone(),
                expected: "the id of a user who rated something, or all".to_owned(),
            })
        };
        users.iter().map(number).collect()
    }

    /// The report, without results.
    pub(crate) fn report(&self, task: &RatingsTask) -> RatingsReport {
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
            parameters: RatingsParameters::new(task),
            hit_rates: None,
            not_read: NotRead::default(),
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

/// The ratings that were read, ordered by time. Warns of times that are none.
pub(crate) fn ordered(
    read: &mut RatingsRead,
    fields: &RatingFields,
    needs: RatingNeeds,
    progress: &dyn Progress,
) -> Result<Ratings> {
    let (ratings, ignores_times) = read.ratings(fields, needs)?;
    if ignores_times {
        progress.warn(
            "the values of the field timestamp are neither all numbers nor all dates, so later records count as later ratings; choose the field with `time_field`",
        );
    }
    Ok(ratings)
}

/// What a task found.
pub(crate) enum Answer<'a> {
    Neighbours(By, Neighbours),
    Recommend(By, Recommender<'a>, Vec<u32>),
    HeldOut(Evaluation),
}

/// The rows written so far, and for how many items or users there was none.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Written {
    results: u64,
    without: u64,
}

/// Rows of a batch.
const BATCH: usize = 1 << 16;

impl<'a> Answer<'a> {
    pub(crate) fn new(
        rated: &'a Rated,
        task: &RatingsTask,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let ratings = &rated.ratings;
        Ok(match task {
            RatingsTask::Neighbours(task) => {
                Answer::Neighbours(task.by, neighbours(ratings, task, progress)?)
            }
            RatingsTask::Recommend(task, to) => {
                let users = match to {
                    Recommendees::All => (0..ratings.users()).collect(),
                    Recommendees::Users(users) => rated.numbers_of(users)?,
                };
                let recommender = Recommender::new(ratings, task, progress)?;
                Answer::Recommend(task.neighbours.by, recommender, users)
            }
            RatingsTask::HoldOut(task) => Answer::HeldOut(hold_out(ratings, task, progress)?),
        })
    }

    /// A table without rows.
    pub(crate) fn empty(&self, rated: &Rated) -> Result<RecordBatch> {
        match self {
            Answer::Neighbours(by, _) => rated.names().neighbours(*by, &[]),
            Answer::Recommend(by, ..) => rated.names().recommendations(*by, &[]),
            Answer::HeldOut(_) => rated.names().held_out(&[]),
        }
    }

    /// Calls `each` with the rows of the result, in order.
    pub(crate) fn for_each(
        &self,
        rated: &Rated,
        progress: &dyn Progress,
        each: &mut dyn FnMut(RecordBatch) -> Result<()>,
    ) -> Result<Written> {
        let names = rated.names();
        let mut written = Written::default();
        match self {
            Answer::Neighbours(by, found) => {
                progress.begin("write", u64::from(found.rows()));
                let mut batch: Vec<RankedNeighbour> = Vec::new();
                for row in 0..found.rows() {
                    let neighbours = found.of(row);
                    batch.extend((1..).zip(neighbours).map(|(rank, it)| (row, rank, *it)));
                    written.add(neighbours.len());
                    if batch.len() >= BATCH || row + 1 == found.rows() {
                        each(names.neighbours(*by, &std::mem::take(&mut batch))?)?;
                        advance(progress, u64::from(row + 1), 0, 0)?;
                    }
                }
            }
            Answer::Recommend(by, recommender, users) => {
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
            Answer::HeldOut(evaluation) => {
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
    pub(crate) fn complete(&self, report: &mut RatingsReport, written: Written) -> Result<()> {
        report.counts.results = written.results;
        let unsupported = match self {
            Answer::Neighbours(_, found) => found.unsupported_pairs(),
            Answer::Recommend(_, recommender, _) => recommender.neighbours().unsupported_pairs(),
            Answer::HeldOut(evaluation) => {
                report.hit_rates = Some(HitRates::new(evaluation)?);
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
