//! Numbers and times of cells, and times in texts.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowTemporalType, DecimalType, DurationMicrosecondType, DurationMillisecondType,
    DurationNanosecondType, DurationSecondType, Float16Type,
};
use arrow_array::{Array, ArrowPrimitiveType, PrimitiveArray};
use arrow_schema::{DataType, TimeUnit};
use chrono::{DateTime, NaiveDate, NaiveDateTime};

use crate::columns::Column;
use crate::usual::{text_of_day, text_of_duration, text_of_instant, usual};

/// The text of a duration in a table; `None` for another type. Its texts have no order.
pub(crate) fn duration_at(column: &Column, row: usize) -> Option<String> {
    let (values, place) = (&column.values, column.place(row)?);
    let (count, nanoseconds) = match values.data_type() {
        DataType::Duration(TimeUnit::Second) => {
            let values = values.as_primitive::<DurationSecondType>();
            (values.value(place), 1_000_000_000)
        }
        DataType::Duration(TimeUnit::Millisecond) => {
            let values = values.as_primitive::<DurationMillisecondType>();
            (values.value(place), 1_000_000)
        }
        DataType::Duration(TimeUnit::Microsecond) => {
            let values = values.as_primitive::<DurationMicrosecondType>();
            (values.value(place), 1000)
        }
        DataType::Duration(TimeUnit::Nanosecond) => {
            let values = values.as_primitive::<DurationNanosecondType>();
            (values.value(place), 1)
        }
        _ => return None,
    };
    Some(text_of_duration(i128::from(count) * nanoseconds))
}

pub(super) fn float<T: ArrowPrimitiveType>(values: &PrimitiveArray<T>, place: usize) -> String
where
    T::Native: Into<f64> + ToString,
{
    let value = values.value(place);
    if value.into().is_nan() {
        String::new()
    } else {
        value.to_string()
    }
}

/// The fewest digits that tell a number of 16 bits from its neighbours, whose distance is a 2048th or more.
pub(super) fn half(value: f64) -> String {
    let is_near = |text: &str| {
        let shown = text.parse().unwrap_or(f64::NAN);
        <Float16Type as ArrowPrimitiveType>::Native::from_f64(shown)
            == <Float16Type as ArrowPrimitiveType>::Native::from_f64(value)
    };
    let mut texts = (0..6).map(|digits| format!("{value:.digits$e}"));
    match texts.find(|text| is_near(text)) {
        Some(text) if value.is_finite() => usual(&text, true).into_owned(),
        _ if value.is_nan() => String::new(),
        _ => value.to_string(),
    }
}

pub(super) fn decimal<T: DecimalType>(values: &PrimitiveArray<T>, place: usize) -> String {
    values.value_as_string(place)
}

pub(super) fn instant_at<T: ArrowTemporalType>(values: &PrimitiveArray<T>, place: usize) -> String
where
    i64: From<T::Native>,
{
    // A date that no calendar holds is its number.
    let number = || i64::from(values.value(place)).to_string();
    let instant = values.value_as_datetime(place);
    instant.map_or_else(number, text_of_instant)
}

pub(super) fn time_at<T: ArrowTemporalType>(values: &PrimitiveArray<T>, place: usize) -> String
where
    i64: From<T::Native>,
{
    let number = || i64::from(values.value(place)).to_string();
    let time = values.value_as_time(place);
    time.map_or_else(number, text_of_day)
}

/// The seconds and nanoseconds since 1970 of a date, or of a date and a time (RFC 3339). Without an offset, the
/// time is UTC; without a time, it is midnight.
pub(super) fn instant(text: &str) -> Option<(i64, u32)> {
    let of = |seconds, nanoseconds| Some((seconds, nanoseconds));
    if let Ok(date) = DateTime::parse_from_rfc3339(text) {
        return of(date.timestamp(), date.timestamp_subsec_nanos());
    }
    let date = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f"]
        .iter()
        .find_map(|format| NaiveDateTime::parse_from_str(text, format).ok());
    let date = match date {
        Some(date) => date,
        None => NaiveDate::parse_from_str(text, "%Y-%m-%d")
            .ok()?
            .and_hms_opt(0, 0, 0)?,
    };
    let date = date.and_utc();
    of(date.timestamp(), date.timestamp_subsec_nanos())
}
