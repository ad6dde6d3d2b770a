//! Neighbours and recommendations from tables of ratings. `simgpu/_ratings.py` gives the results their shape.

use arrow_array::RecordBatch;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use simgpu::Error;
use simgpu_cli::arguments::OnBadRecordArgument;
use simgpu_cli::commands::ratings::{HoldOutArgument, NeighbourArguments};
use simgpu_cli::options::Mode;
use simgpu_ratings::RatedAs;
use simgpu_ratings::{NameFields, RatingFields};
use simgpu_ratings::{RatingsInMemory, RatingsTask, Recommendees};

use crate::beside::Ids;
use crate::columns::{Frame, path};
use crate::errors::{input_error, parameter_error, run_error, to_python};
use crate::json;
use crate::options::Options;
use crate::pool;
use crate::progress::Display;
use crate::table::PyTable;
use crate::texts::Column;

/// What is asked of ratings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Neighbours,
    Recommendations,
    HeldOut,
}

impl Asked {
    /// The function of Python that asks.
    fn function(self) -> &'static str {
        match self {
            Asked::Neighbours => "neighbours",
            Asked::Recommendations => "recommend",
            Asked::HeldOut => "hold_out",
        }
    }
}

/// The neighbours of all items or users. The options are those of `simgpu.neighbours`.
#[pyfunction]
pub(crate) fn neighbours_of_ratings<'py>(
    py: Python<'py>,
    options: Bound<'py, PyDict>,
) -> PyResult<RatingTables<'py>> {
    find(py, &Options(options), Asked::Neighbours)
}

/// Recommendations for all users, or for some. The options are those of `simgpu.recommend`.
#[pyfunction]
pub(crate) fn recommend_by_ratings<'py>(
    py: Python<'py>,
    options: Bound<'py, PyDict>,
) -> PyResult<RatingTables<'py>> {
    find(py, &Options(options), Asked::Recommendations)
}

/// Whether recommendations find what is held out. The options are those of `simgpu.hold_out`.
#[pyfunction]
pub(crate) fn hold_out_of_ratings<'py>(
    py: Python<'py>,
    options: Bound<'py, PyDict>,
) -> PyResult<RatingTables<'py>> {
    find(py, &Options(options), Asked::HeldOut)
}

/// The rows, and the report.
type RatingTables<'py> = (PyTable, Bound<'py, PyAny>);

fn find<'py>(py: Python<'py>, options: &Options<'py>, asked: Asked) -> PyResult<RatingTables<'py>> {
    let task = options.ratings_task(asked)?;
    let (fields, rows) = options.ratings(asked)?;
    let names = options.names_of_items(asked)?;
    let on_bad_record: OnBadRecordArgument = options.choice("on_bad_record")?;
    let names = names.as_ref();
    let ratings = RatingsInMemory {
        fields,
        names: names.map(|(fields, rows)| (&rows[..], fields.clone())),
        on_bad_record: on_bad_record.resolve(),
        ..RatingsInMemory::new(&rows)
    };
    let mut display = Display::new(options.value("progress")?)?;
    let found = pool::run(py, options.threads()?, &mut display, |progress| {
        let mut rows = Vec::new();
        let report = ratings.find(&task, progress, &mut |found| {
            rows.push(found);
            Ok(())
        });
        Ok(report.map(|report| (rows, report)))
    })?;
    let (rows, report) = found.map_err(|error| raised(py, error))?;
    let mut json = Vec::new();
    report.write_json(&mut json)?;
    let report = json::parsed(py, &json)?;
    Ok((PyTable::from_batches(&rows)?, report))
}

/// The exception for an error about ratings: rows have no file, and options another name than those of the command.
fn raised(py: Python<'_>, error: Error) -> PyErr {
    const REMEDY: &str = "correct it, or pass on_bad_record=\"skip\" to leave out such rows";
    match error {
        Error::BadRecord(bad) => input_error(py, bad.row, &bad.problem, REMEDY),
        Error::NoGoodRecord(bad) => {
            let problem = format!("{}, and no row is a rating", bad.problem);
            let remedy = "choose the columns by user_field, item_field, rating_field and time_field, or correct the rows";
            input_error(py, bad.row, &problem, remedy)
        }
        Error::Parameter {
            name: "`recommend`",
            value,
            ..
        } => {
            let message =
                format!("users has {value}, who rated nothing; give users of the ratings");
            parameter_error(py, message)
        }
        error => to_python(py, error),
    }
}

impl<'py> Options<'py> {
    fn ratings_task(&self, asked: Asked) -> PyResult<RatingsTask> {
        let py = self.py();
        let neighbours = match asked {
            Asked::Neighbours => None,
            Asked::Recommendations | Asked::HeldOut => Some(self.count("neighbours")?),
        };
        let arguments = NeighbourArguments {
            by: self.choice("by")?,
            rated_as: self.choice("as_")?,
            liked_from: self.required("liked_from", STARS)?,
            hated_to: self.required("hated_to", STARS)?,
            top: self.count("top")?,
            min_support: self.count("min_support")?,
            recommend: (asked == Asked::Recommendations).then(|| "all".to_owned()),
            hold_out: (asked == Asked::HeldOut).then_some(HoldOutArgument::Last),
            neighbours,
        };
        let given = self.given("simgpu._ratings", asked.function(), "ratings")?;
        let checked = given.check(&arguments.modes());
        let task = checked.and_then(|()| arguments.task());
        let task = task.map_err(|error| run_error(py, error))?;
        match (task, self.value("users")?) {
            (RatingsTask::Recommend(task, _), Some(users)) => {
                let users = Recommendees::Users(ids_of(&users)?);
                Ok(RatingsTask::Recommend(task, users))
            }
            (task, _) => Ok(task),
        }
    }

    /// The columns of ratings, and the rows.
    fn ratings(&self, asked: Asked) -> PyResult<(RatingFields, [RecordBatch; 1])> {
        let ratings: Bound<'_, PyAny> = self.required("ratings", "a data frame")?;
        let frame = Frame::new(&ratings, "ratings")?;
        let name = |parameter| self.required::<String>(parameter, "the name of a column, as a str");
        let (user, item, rating) = (
            name("user_field")?,
            name("item_field")?,
            name("rating_field")?,
        );
        let time: Option<String> = self.optional("time_field", "the name of a column, as a str")?;
        let mut columns = vec![("user_field", &*user), ("item_field", &*item)];
        let has = |name: &str| frame.names().iter().any(|known| known == name);
        let as_: String = self.required("as_", "a name, as a str")?;
        if as_ != RatedAs::Seen.name() || has(&rating) {
            columns.push(("rating_field", &rating));
        }
        let timed = time.as_deref().unwrap_or(TIMESTAMP);
        if time.is_some() || asked == Asked::HeldOut || has(timed) {
            columns.push(("time_field", timed));
        }
        let fields = RatingFields {
            user: path(&user),
            item: path(&item),
            rating: path(&rating),
            time: time.as_deref().map(path),
        };
        Ok((fields, [frame.columns(&columns)?]))
    }

    /// The columns of the names of items, and the rows.
    fn names_of_items(&self, asked: Asked) -> PyResult<Option<(NameFields, [RecordBatch; 1])>> {
        let Some(names) = self.value("names")? else {
            let given = self.given("simgpu._ratings", asked.function(), "ratings")?;
            let checked = given.check(&[Mode::NoNames]);
            return checked
                .map(|()| None)
                .map_err(|error| run_error(self.py(), error));
        };
        let frame = Frame::new(&names, "names")?;
        let field =
            |parameter| self.required::<String>(parameter, "the name of a column, as a str");
        let (id, name) = (field("name_id_field")?, field("name_field")?);
        let rows = frame.columns(&[("name_id_field", &id), ("name_field", &name)])?;
        let fields = NameFields {
            id: path(&id),
            name: path(&name),
        };
        Ok(Some((fields, [rows])))
    }
}

const STARS: &str = "a number of stars";

/// The column of times, if there is one.
const TIMESTAMP: &str = "timestamp";

/// One id, or several.
fn ids_of(users: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    if let Ok(id) = users.extract::<i64>() {
        return Ok(vec![id.to_string()]);
    }
    if let Ok(id) = users.extract::<String>() {
        return Ok(vec![id]);
    }
    let ids = Ids::from_column(users.py(), &Column::called("users", users, None)?)?;
    Ok(match ids {
        Ids::Numbers(ids) => ids.iter().map(i64::to_string).collect(),
        Ids::Strings(ids) => ids,
    })
}
