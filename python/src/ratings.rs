//! Neighbours and recommendations from tables of ratings. `simgpu/_ratings.py` gives them their shape.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Float32Type, Float64Type, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array};
use arrow_schema::{DataType, TimeUnit};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use simgpu::Result;
use simgpu::progress::Progress;
use simgpu::ratings::{
    By, NeighbourTask, RatedAs, Rating, Ratings, RecommendTask, Recommendation, Recommender, Scale,
    neighbours, recommend,
};

use crate::errors::{OrRaise, input_error, parameter_error};
use crate::memory::{Ids, integers};
use crate::pool;
use crate::progress::Display;
use crate::table::PyTable;
use crate::texts::Column;

/// The confidence of intervals, that of the command.
const CONFIDENCE: f64 = 0.95;

/// What a search among ratings needs, from the keywords of Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct RatingSettings<'py> {
    user: String,
    item: String,
    rating: String,
    time: Option<String>,
    by: String,
    as_: String,
    liked_from: f64,
    hated_to: f64,
    min_support: u32,
    threads: Option<usize>,
    progress: Option<Bound<'py, PyAny>>,
}

/// Ratings, and the ids of their users and items.
struct Rated {
    ratings: Ratings,
    users: Ids,
    items: Ids,
}

impl RatingSettings<'_> {
    fn task(&self, py: Python<'_>, top: usize) -> PyResult<NeighbourTask> {
        Ok(NeighbourTask {
            by: self.by.parse::<By>().or_raise(py)?,
            rated_as: self.as_.parse::<RatedAs>().or_raise(py)?,
            scale: Scale {
                liked_from: self.liked_from,
                hated_to: self.hated_to,
            },
            top,
            min_support: self.min_support,
        })
    }

    /// Reads the columns of a table.
    fn read(&self, data: &Bound<'_, PyAny>, rated_as: RatedAs) -> PyResult<Rated> {
        let py = data.py();
        let column = |name: &str| Column::new(data, Some(name));
        let (users, of_users) = distinct_ids(py, &column(&self.user)?)?;
        let (items, of_items) = distinct_ids(py, &column(&self.item)?)?;
        let rows = of_users.len();
        let stars = match rated_as.needs_stars() {
            true => stars(py, &column(&self.rating)?, &self.rating)?,
            false => vec![None; rows],
        };
        let times = match &self.time {
            Some(name) => times(py, &column(name)?, name)?,
            None => vec![0; rows],
        };
        for len in [of_items.len(), stars.len(), times.len()] {
            if len != rows {
                let message =
                    format!("columns have {rows} and {len} rows; give columns of one length");
                return Err(parameter_error(py, message));
            }
        }
        let ratings = (0..rows).map(|row| Rating {
            user: of_users[row],
            item: of_items[row],
            stars: stars[row],
            time: times[row],
        });
        let ratings = Ratings::new(users.count(), items.count(), ratings.collect());
        Ok(Rated {
            ratings: ratings.or_raise(py)?,
            users,
            items,
        })
    }
}

/// The neighbours of all items or users, as a table.
#[pyfunction]
#[pyo3(signature = (data, settings, top))]
pub(crate) fn neighbours_of_ratings(
    data: &Bound<'_, PyAny>,
    settings: RatingSettings<'_>,
    top: usize,
) -> PyResult<PyTable> {
    let py = data.py();
    let task = settings.task(py, top)?;
    let rated = settings.read(data, task.rated_as)?;
    let mut display = Display::new(settings.progress)?;
    let found = pool::run(py, settings.threads, &mut display, |progress| {
        neighbours(&rated.ratings, &task, progress)
    })?;
    let mut rows = Vec::new();
    for row in 0..found.rows() {
        for (rank, neighbour) in (1_i64..).zip(found.of(row)) {
            let interval = neighbour.interval(CONFIDENCE).or_raise(py)?;
            rows.push((row, rank, *neighbour, interval));
        }
    }
    let ids = match task.by {
        By::Item => &rated.items,
        By::User => &rated.users,
    };
    PyTable::new(vec![
        ("id", ids.of_rows(rows.iter().map(|row| row.0))),
        (
            "neighbour_id",
            ids.of_rows(rows.iter().map(|row| row.2.row)),
        ),
        ("rank", counts(rows.iter().map(|row| row.1))),
        (
            "similarity",
            shares(rows.iter().map(|row| row.2.similarity)),
        ),
        (
            "support",
            counts(rows.iter().map(|row| i64::from(row.2.support))),
        ),
        ("low", shares(rows.iter().map(|row| row.3.0))),
        ("high", shares(rows.iter().map(|row| row.3.1))),
    ])
}

/// Recommendations for all users, or for those with the given ids, as a table.
#[pyfunction]
#[pyo3(signature = (data, users, settings, top, voting))]
pub(crate) fn recommend_by_ratings(
    data: &Bound<'_, PyAny>,
    users: Option<&Bound<'_, PyAny>>,
    settings: RatingSettings<'_>,
    top: usize,
    voting: usize,
) -> PyResult<PyTable> {
    let py = data.py();
    let task = RecommendTask {
        neighbours: settings.task(py, voting)?,
        top,
    };
    let rated = settings.read(data, task.neighbours.rated_as)?;
    let users = match users {
        Some(users) => wanted_users(&rated.users, users)?,
        None => (0..rated.ratings.users()).collect(),
    };
    let mut display = Display::new(settings.progress)?;
    let rows = pool::run(py, settings.threads, &mut display, |progress| {
        recommendations(&rated.ratings, &task, &users, progress)
    })?;
    let because = match task.neighbours.by {
        By::Item => &rated.items,
        By::User => &rated.users,
    };
    PyTable::new(vec![
        ("user", rated.users.of_rows(rows.iter().map(|row| row.0))),
        ("rank", counts(rows.iter().map(|row| row.1))),
        (
            "item",
            rated.items.of_rows(rows.iter().map(|row| row.2.item)),
        ),
        ("score", shares(rows.iter().map(|row| row.2.score))),
        (
            "because",
            because.of_rows(rows.iter().map(|row| row.2.because)),
        ),
    ])
}

/// Each user, and each of his recommendations with its rank.
fn recommendations(
    ratings: &Ratings,
    task: &RecommendTask,
    users: &[u32],
    progress: &dyn Progress,
) -> Result<Vec<(u32, i64, Recommendation)>> {
    let recommender = Recommender::new(ratings, task, progress)?;
    let mut rows = Vec::new();
    recommend(&recommender, users, progress, &mut |user, found| {
        rows.extend((1..).zip(found).map(|(rank, found)| (user, rank, *found)));
        Ok(())
    })?;
    Ok(rows)
}

fn counts(counts: impl Iterator<Item = i64>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(counts))
}

fn shares(shares: impl Iterator<Item = f64>) -> ArrayRef {
    Arc::new(Float64Array::from_iter_values(shares))
}

/// The ids of a column, each once, in the order of their first rows, and the number of each row's id among them.
fn distinct_ids(py: Python<'_>, column: &Column<'_>) -> PyResult<(Ids, Vec<u32>)> {
    Ok(match Ids::of_column(py, column)? {
        Ids::Numbers(ids) => {
            let (ids, rows) = numbered(ids);
            (Ids::Numbers(ids), rows)
        }
        Ids::Strings(ids) => {
            let (ids, rows) = numbered(ids);
            (Ids::Strings(ids), rows)
        }
    })
}

fn numbered<T: Clone + Eq + Hash>(values: Vec<T>) -> (Vec<T>, Vec<u32>) {
    let mut distinct = Vec::new();
    let mut known: HashMap<T, u32> = HashMap::new();
    let number = |value: T| {
        *known.entry(value).or_insert_with_key(|value| {
            distinct.push(value.clone());
            // Ratings refuse so many.
            u32::try_from(distinct.len() - 1).unwrap_or(u32::MAX)
        })
    };
    let rows = values.into_iter().map(number).collect();
    (distinct, rows)
}

/// The numbers of the users with these ids: one, or a column of them.
fn wanted_users(known: &Ids, users: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
    let py = users.py();
    let wanted = if let Ok(id) = users.extract::<i64>() {
        Ids::Numbers(vec![id])
    } else if let Ok(id) = users.extract::<String>() {
        Ids::Strings(vec![id])
    } else {
        Ids::of_column(py, &Column::new(users, None)?)?
    };
    match (known, &wanted) {
        (Ids::Numbers(known), Ids::Numbers(wanted)) => places(py, known, wanted),
        (Ids::Strings(known), Ids::Strings(wanted)) => places(py, known, wanted),
        (Ids::Numbers(_), Ids::Strings(_)) => Err(PyTypeError::new_err(
            "users are of type str, but the ratings have users of type int; give int",
        )),
        (Ids::Strings(_), Ids::Numbers(_)) => Err(PyTypeError::new_err(
            "users are of type int, but the ratings have users of type str; give str",
        )),
    }
}

fn places<T: Eq + Hash + std::fmt::Debug>(
    py: Python<'_>,
    known: &[T],
    wanted: &[T],
) -> PyResult<Vec<u32>> {
    let numbers: HashMap<&T, u32> = known.iter().zip(0..).collect();
    let number = |id: &T| {
        let unknown = || format!("user {id:?} has no rating; give users who rated something");
        let number = numbers.get(id).copied();
        number.ok_or_else(|| parameter_error(py, unknown()))
    };
    wanted.iter().map(number).collect()
}

/// The stars of each row.
fn stars(py: Python<'_>, column: &Column<'_>, name: &str) -> PyResult<Vec<Option<f64>>> {
    let stars = numbers(column, name)?;
    match stars
        .iter()
        .position(|stars| !stars.is_some_and(f64::is_finite))
    {
        None => Ok(stars),
        Some(row) => Err(input_error(
            py,
            row,
            "a rating that is missing or not finite",
            "give every row a rating, or pass as_=\"seen\"",
        )),
    }
}

/// The time of each row; a greater number is later.
fn times(py: Python<'_>, column: &Column<'_>, name: &str) -> PyResult<Vec<i64>> {
    if let Column::Arrow(chunks) = column
        && chunks.arrays.iter().all(|array| array.null_count() == 0)
        && let Some(times) = instants(&chunks.arrays).or_else(|| integers(&chunks.arrays))
    {
        return Ok(times);
    }
    if let Column::Objects(objects) = column {
        let times: PyResult<_> = objects.iter_borrowed().map(|time| time.extract()).collect();
        if let Ok(times) = times {
            return Ok(times);
        }
    }
    let missing = |row| input_error(py, row, "a time that is missing", "give every row a time");
    let times = numbers(column, name)?.into_iter().enumerate();
    let times = times.map(|(row, time)| {
        let time = time.filter(|time| !time.is_nan());
        time.map(ordered).ok_or_else(|| missing(row))
    });
    times.collect()
}

/// An integer with the order of a number that is not NaN; both zeros are equal.
fn ordered(number: f64) -> i64 {
    let bits = (number + 0.0).to_bits().cast_signed();
    match bits < 0 {
        true => i64::MIN - bits,
        false => bits,
    }
}

/// The values of arrays of dates or timestamps, in the unit of their type; `None` if they are of another type.
fn instants(arrays: &[ArrayRef]) -> Option<Vec<i64>> {
    fn push<T: ArrowPrimitiveType<Native: Into<i64>>>(array: &ArrayRef, instants: &mut Vec<i64>) {
        let values = array.as_primitive::<T>().values().iter();
        instants.extend(values.map(|value| -> i64 { (*value).into() }));
    }
    let mut instants = Vec::new();
    for array in arrays {
        let push = match array.data_type() {
            DataType::Date32 => push::<Date32Type>,
            DataType::Timestamp(TimeUnit::Second, _) => push::<TimestampSecondType>,
            DataType::Timestamp(TimeUnit::Millisecond, _) => push::<TimestampMillisecondType>,
            DataType::Timestamp(TimeUnit::Microsecond, _) => push::<TimestampMicrosecondType>,
            DataType::Timestamp(TimeUnit::Nanosecond, _) => push::<TimestampNanosecondType>,
            _ => return None,
        };
        push(array, &mut instants);
    }
    Some(instants)
}

/// The numbers of a column; `None` where one is missing.
fn numbers(column: &Column<'_>, name: &str) -> PyResult<Vec<Option<f64>>> {
    match column {
        Column::Objects(objects) => {
            let number = |(row, object): (usize, Borrowed<'_, '_, PyAny>)| {
                object.extract::<Option<f64>>().map_err(|_| {
                    let message = format!("{name:?} of row {row} is no number; give numbers");
                    PyTypeError::new_err(message)
                })
            };
            objects.iter_borrowed().enumerate().map(number).collect()
        }
        Column::Arrow(chunks) => {
            let mut numbers = Vec::new();
            for array in &chunks.arrays {
                push_numbers(array, name, &mut numbers)?;
            }
            Ok(numbers)
        }
    }
}

fn push_numbers(array: &ArrayRef, name: &str, numbers: &mut Vec<Option<f64>>) -> PyResult<()> {
    match array.data_type() {
        DataType::Null => numbers.extend(std::iter::repeat_n(None, array.len())),
        DataType::Float64 => numbers.extend(array.as_primitive::<Float64Type>()),
        DataType::Float32 => {
            let values = array.as_primitive::<Float32Type>().iter();
            numbers.extend(values.map(|value| value.map(f64::from)));
        }
        data_type => {
            let Some(integers) = integers(std::slice::from_ref(array)) else {
                return Err(PyTypeError::new_err(format!(
                    "{name:?} has the Arrow type {data_type}; give numbers"
                )));
            };
            let values = integers.into_iter().enumerate();
            numbers
                .extend(values.map(|(row, value)| (!array.is_null(row)).then_some(value as f64)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::ordered;

    #[test]
    fn ordered_keeps_the_order() {
        let numbers = [
            f64::NEG_INFINITY,
            -1.5,
            -f64::MIN_POSITIVE,
            0.0,
            0.25,
            7.0,
            f64::INFINITY,
        ];
        let places = numbers.map(ordered);
        assert!(places.is_sorted_by(|a, b| a < b));
        assert_eq!(ordered(-0.0), ordered(0.0));
    }
}
