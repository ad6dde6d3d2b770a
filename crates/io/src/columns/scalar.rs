//! A value of a column that is neither an integer, a text nor a list, and its two texts.
//!
//! As an id, a value is what other programs print for it. Where values are compared or ordered, its text is the usual one
//! ([`usual`](crate::usual::usual)), which is the same in all formats. So a timestamp at midnight is
//! `2020-01-01 00:00:00` as an id, and `2020-01-01` otherwise.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowTemporalType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type,
    Decimal256Type, DecimalType, DurationMicrosecondType, DurationMillisecondType,
    DurationNanosecondType, DurationSecondType, Float16Type, Float32Type, Float64Type,
    Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray};
use arrow_schema::{DataType, TimeUnit};
use chrono::{NaiveDateTime, NaiveTime};

use super::schema::UUID_BYTES;
use crate::csv::is_integer;
use crate::ids::Id;
use crate::json::json_string;
use crate::usual::{text_of_day, text_of_duration, text_of_instant, usual};

/// A float of 16 bits.
type F16 = <Float16Type as ArrowPrimitiveType>::Native;

/// A value of a table.
pub(crate) enum Scalar {
    Boolean(bool),
    Half(F16),
    Single(f32),
    Double(f64),
    /// A decimal number with all its digits.
    Decimal(String),
    Date(Dated<NaiveDateTime>),
    Timestamp {
        moment: Dated<NaiveDateTime>,
        has_zone: bool,
    },
    TimeOfDay(Dated<NaiveTime>),
    /// In nanoseconds.
    Duration(i128),
    Uuid([u8; 16]),
}

/// A date or time, and the number by which a column stores it.
pub(crate) struct Dated<T> {
    /// `None` if no calendar has it.
    value: Option<T>,
    number: i64,
}

impl Scalar {
    /// The value at a place of an array, which is not null; `None` if its type is none of these.
    pub(super) fn read(values: &ArrayRef, place: usize, is_uuid: bool) -> Option<Self> {
        macro_rules! with {
            ($read:ident, $kind:ty) => {
                $read(values.as_primitive::<$kind>(), place)
            };
        }
        Some(match values.data_type() {
            DataType::Boolean => Scalar::Boolean(values.as_boolean().value(place)),
            DataType::Float16 => Scalar::Half(with!(number, Float16Type)),
            DataType::Float32 => Scalar::Single(with!(number, Float32Type)),
            DataType::Float64 => Scalar::Double(with!(number, Float64Type)),
            DataType::Decimal32(..) => Scalar::Decimal(with!(decimal, Decimal32Type)),
            DataType::Decimal64(..) => Scalar::Decimal(with!(decimal, Decimal64Type)),
            DataType::Decimal128(..) => Scalar::Decimal(with!(decimal, Decimal128Type)),
            DataType::Decimal256(..) => Scalar::Decimal(with!(decimal, Decimal256Type)),
            DataType::Date32 => Scalar::Date(with!(moment, Date32Type)),
            DataType::Date64 => Scalar::Date(with!(moment, Date64Type)),
            DataType::Timestamp(unit, zone) => Scalar::Timestamp {
                moment: match unit {
                    TimeUnit::Second => with!(moment, TimestampSecondType),
                    TimeUnit::Millisecond => with!(moment, TimestampMillisecondType),
                    TimeUnit::Microsecond => with!(moment, TimestampMicrosecondType),
                    TimeUnit::Nanosecond => with!(moment, TimestampNanosecondType),
                },
                has_zone: zone.is_some(),
            },
            // Arrow has times in seconds and milliseconds of 32 bits, and in finer units of 64.
            DataType::Time32(TimeUnit::Second) => {
                Scalar::TimeOfDay(with!(time_of_day, Time32SecondType))
            }
            DataType::Time32(_) => Scalar::TimeOfDay(with!(time_of_day, Time32MillisecondType)),
            DataType::Time64(TimeUnit::Microsecond) => {
                Scalar::TimeOfDay(with!(time_of_day, Time64MicrosecondType))
            }
            DataType::Time64(_) => Scalar::TimeOfDay(with!(time_of_day, Time64NanosecondType)),
            DataType::Duration(unit) => {
                let (count, nanoseconds) = match unit {
                    TimeUnit::Second => (with!(number, DurationSecondType), 1_000_000_000),
                    TimeUnit::Millisecond => (with!(number, DurationMillisecondType), 1_000_000),
                    TimeUnit::Microsecond => (with!(number, DurationMicrosecondType), 1000),
                    TimeUnit::Nanosecond => (with!(number, DurationNanosecondType), 1),
                };
                Scalar::Duration(i128::from(count) * nanoseconds)
            }
            DataType::FixedSizeBinary(UUID_BYTES) if is_uuid => {
                Scalar::Uuid(values.as_fixed_size_binary().value(place).try_into().ok()?)
            }
            _ => return None,
        })
    }

    /// The id that it is; `None` if it is no id.
    pub(super) fn into_id(self) -> Option<Id> {
        let text = match self {
            Scalar::Half(value) => {
                let value = value.to_f32();
                return Some(id_of_float(value.is_finite(), format!("{value:?}")));
            }
            Scalar::Single(value) => {
                return Some(id_of_float(value.is_finite(), format!("{value:?}")));
            }
            Scalar::Double(value) => {
                return Some(id_of_float(value.is_finite(), format!("{value:?}")));
            }
            // As a number of JSON, 1.50 would lose its end.
            Scalar::Decimal(text) if is_integer(&text) => return Some(Id::Json(text)),
            Scalar::Decimal(text) => text,
            Scalar::Date(date) => date.value?.date().to_string(),
            Scalar::Timestamp { moment, has_zone } => {
                // The values of a column with a time zone are in UTC.
                let offset = if has_zone { "+00:00" } else { "" };
                format!("{}{offset}", moment.value?)
            }
            Scalar::TimeOfDay(time) => time.value?.to_string(),
            Scalar::Uuid(bytes) => text_of_uuid(bytes),
            Scalar::Boolean(_) | Scalar::Duration(_) => return None,
        };
        Some(Id::Json(json_string(&text)))
    }

    /// Whether the usual texts of such values have an order.
    pub(crate) fn has_order(&self) -> bool {
        !matches!(self, Scalar::Duration(_))
    }

    /// The usual text, which is empty for NaN; `None` if it has none.
    pub(crate) fn into_text(self) -> Option<String> {
        Some(match self {
            Scalar::Boolean(value) => value.to_string(),
            Scalar::Half(value) => text_of_half(f64::from(value)),
            Scalar::Single(value) if value.is_nan() => String::new(),
            Scalar::Single(value) => value.to_string(),
            Scalar::Double(value) if value.is_nan() => String::new(),
            Scalar::Double(value) => value.to_string(),
            Scalar::Decimal(text) => text,
            Scalar::Date(moment) | Scalar::Timestamp { moment, .. } => moment.text(text_of_instant),
            Scalar::TimeOfDay(time) => time.text(text_of_day),
            Scalar::Duration(nanoseconds) => text_of_duration(nanoseconds),
            Scalar::Uuid(_) => return None,
        })
    }
}

impl<T> Dated<T> {
    /// The text of the date or time; of one that no calendar has, its number.
    fn text(self, text_of: fn(T) -> String) -> String {
        let number = || self.number.to_string();
        self.value.map_or_else(number, text_of)
    }
}

fn number<T: ArrowPrimitiveType>(values: &PrimitiveArray<T>, place: usize) -> T::Native {
    values.value(place)
}

fn decimal<T: DecimalType>(values: &PrimitiveArray<T>, place: usize) -> String {
    values.value_as_string(place)
}

fn moment<T: ArrowTemporalType>(values: &PrimitiveArray<T>, place: usize) -> Dated<NaiveDateTime>
where
    i64: From<T::Native>,
{
    Dated {
        value: values.value_as_datetime(place),
        number: i64::from(values.value(place)),
    }
}

fn time_of_day<T: ArrowTemporalType>(values: &PrimitiveArray<T>, place: usize) -> Dated<NaiveTime>
where
    i64: From<T::Native>,
{
    Dated {
        value: values.value_as_time(place),
        number: i64::from(values.value(place)),
    }
}

/// A float as a number of JSON; one that is no number is none, as pandas has it.
fn id_of_float(is_finite: bool, text: String) -> Id {
    if is_finite { Id::Json(text) } else { Id::None }
}

/// The fewest digits that tell a number of 16 bits from its neighbours, whose distance is a 2048th or more.
fn text_of_half(value: f64) -> String {
    let is_near = |text: &str| {
        let shown = text.parse().unwrap_or(f64::NAN);
        F16::from_f64(shown) == F16::from_f64(value)
    };
    let mut texts = (0..6).map(|digits| format!("{value:.digits$e}"));
    match texts.find(|text| is_near(text)) {
        Some(text) if value.is_finite() => usual(&text, true).into_owned(),
        _ if value.is_nan() => String::new(),
        _ => value.to_string(),
    }
}

/// The usual form of a UUID, five groups of digits.
fn text_of_uuid(bytes: [u8; 16]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &digits[part]);
    parts.join("-")
}
