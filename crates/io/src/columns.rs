//! Columns of tables in memory: reads the texts, tokens and ids of their rows.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowTemporalType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type,
    Decimal256Type, DecimalType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType,
    Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch};
use arrow_schema::{DataType, Schema, TimeUnit};

use super::csv::is_integer;
use super::fields::{FieldPath, Fields, Wanted, WeightsField, push_joined};
use super::ids::Id;
use super::json::json_string;
use super::refusal::{Refusal, listed, several};
use simgpu::documents::{DocumentBatch, TextBatch, TokenBatch};
use simgpu_base::encoding::column_looks_like;

/// The fields that a run needs of each record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Needed<'a> {
    pub(super) wanted: Wanted<'a>,
    /// Fields that are read beside the wanted ones, if any.
    pub(super) beside: [Option<&'a FieldPath>; 2],
}

/// The needed columns of a table, at its top level.
pub(super) fn wanted_roots(schema: &Schema, needed: Needed<'_>) -> Vec<usize> {
    let paths: Vec<&FieldPath> = match needed.wanted {
        Wanted::Document(fields) => {
            let weights = fields.weights.iter().map(|weights| &weights.path);
            let content = fields.content.iter();
            content.chain([&fields.id]).chain(weights).collect()
        }
        Wanted::Values(fields) => fields.iter().map(|field| &field.path).collect(),
    };
    let paths = paths.into_iter().chain(needed.beside.into_iter().flatten());
    let roots: Vec<_> = paths.filter_map(|path| path.segments().first()).collect();
    let columns = schema.fields().iter().enumerate();
    columns
        .filter(|(_, column)| roots.contains(&column.name()))
        .map(|(i, _)| i)
        .collect()
}

/// Checks that a schema has the wanted columns, or says what is wrong. A column without any value, of type Null,
/// fits all.
pub(super) fn check_schema(schema: &Schema, wanted: Wanted<'_>) -> Result<(), Refusal> {
    let check = |path: &FieldPath, parameter: &str, wanted: &str, fits: fn(&DataType) -> bool| {
        check_column(schema, path, parameter, wanted, fits)
    };
    let fields = match wanted {
        Wanted::Document(fields) => {
            let content = if fields.is_tokens {
                "tokens_field"
            } else {
                "text_field"
            };
            for path in &fields.content {
                check_one(schema, path, content)?;
            }
            if let Some(weights) = &fields.weights {
                check_one(schema, &weights.path, "weights_field")?;
            }
            check_one(schema, &fields.id, "id_field")?;
            fields
        }
        Wanted::Values(fields) => {
            for field in fields {
                check_one(schema, &field.path, field.parameter)?;
            }
            let required = fields.iter().filter(|field| field.is_required);
            let mut required = required.map(|field| {
                let checked = check(
                    &field.path,
                    field.parameter,
                    "numbers, dates or strings",
                    |data_type| !data_type.is_nested(),
                );
                checked.map_err(|refusal| refusal.with_hint(field.hint))
            });
            return required.try_for_each(|checked| checked);
        }
    };
    let missing: Vec<(&FieldPath, Refusal)> = missing(schema, fields).collect();
    for content in &fields.content {
        let is_missing = missing.iter().any(|(path, _)| *path == content);
        if fields.is_tokens {
            let wanted = "a list of strings or integers";
            check(content, "tokens_field", wanted, |data_type| {
                item_type(data_type).is_some_and(is_token)
            })?;
        } else if !is_missing || missing.len() == fields.content.len() {
            check_text(schema, content)?;
        }
    }
    if let Some(weights) = &fields.weights {
        let wanted = "a list of numbers";
        check(&weights.path, "weights_field", wanted, |data_type| {
            item_type(data_type).is_some_and(is_number)
        })?;
    }
    if fields.id_required {
        let wanted = "strings, numbers, dates or UUIDs";
        check(&fields.id, "id_field", wanted, may_be_id)?;
    }
    Ok(())
}

/// The fields of the text that a table lacks, each with the refusal of a table without it.
pub(super) fn missing<'f>(
    schema: &Schema,
    fields: &'f Fields,
) -> impl Iterator<Item = (&'f FieldPath, Refusal)> {
    let lacks = |path: &&FieldPath| {
        column_type(schema, path).is_none() && array_on_the_way(schema, path).is_none()
    };
    let missing = fields.content.iter().filter(lacks);
    missing.filter_map(|path| Some((path, check_text(schema, path).err()?)))
}

fn check_text(schema: &Schema, path: &FieldPath) -> Result<(), Refusal> {
    check_column(schema, path, "text_field", "strings", is_text)
}

/// Refuses a column whose name another one has, as in a CSV file: nobody can tell which of them is meant.
pub(super) fn check_one(schema: &Schema, path: &FieldPath, parameter: &str) -> Result<(), Refusal> {
    let mut fields = schema.fields();
    for name in path.segments() {
        let mut same = fields.iter().filter(|field| field.name() == name);
        let Some(first) = same.next() else {
            return Ok(());
        };
        if same.next().is_some() {
            return Err(Refusal::new(
                format!("two columns are called {name:?}"),
                format!("rename one of them, or choose another with `{parameter}`"),
            ));
        }
        let DataType::Struct(inner) = first.data_type() else {
            return Ok(());
        };
        fields = inner;
    }
    Ok(())
}

/// Checks that the column that `parameter` names is there, and holds what fits, which messages call `wanted`.
fn check_column(
    schema: &Schema,
    path: &FieldPath,
    parameter: &str,
    wanted: &str,
    fits: fn(&DataType) -> bool,
) -> Result<(), Refusal> {
    let choose = format!("choose the column with `{parameter}`");
    let what = match parameter {
        "id_field" => "id column",
        _ => "column",
    };
    match column_type(schema, path) {
        Some(data_type) if *data_type == DataType::Null || fits(data_type) => Ok(()),
        Some(data_type) => Err(Refusal::new(
            format!("{what} \"{path}\" holds {data_type}, not {wanted}"),
            match item_type(data_type) {
                Some(item) if parameter == "text_field" && is_token(item) => format!(
                    "join the texts of each list in one column, with the program that wrote the file, and {choose}; or if they \
                     are tokens, pass `unit=tokens` and `tokens_field={path}`"
                ),
                Some(_) if matches!(parameter, "text_field" | "fields") => format!(
                    "join the texts of each list in one column, with the program that wrote the file, and {choose}"
                ),
                _ if parameter == "text_field" => {
                    format!("{choose}, or rename the columns of this file")
                }
                _ => choose,
            },
        )),
        None => {
            if let Some(array) = array_on_the_way(schema, path) {
                let problem = format!(
                    "there is no {what} \"{path}\"; {array:?} is a list, and columns are found in structs alone"
                );
                return Err(Refusal::new(
                    problem,
                    format!(
                        "join the texts of each list in one column, with the program that wrote the file, and {choose}"
                    ),
                ));
            }
            let names = schema.fields().iter().map(|field| field.name().clone());
            let listed = listed("column", &names.collect::<Vec<_>>());
            let of_texts = schema.fields().iter().find(|field| {
                let item = item_type(field.data_type());
                parameter == "text_field"
                    && item.is_some_and(|item| matches!(item, DataType::Struct(_)))
            });
            let in_list = of_texts.map_or(String::new(), |field| {
                format!(
                    "{:?} is a list: join the texts of each list in one column, with the program that wrote the file, and ",
                    field.name()
                )
            });
            let problem = format!("there is no {what} \"{path}\"; {listed}");
            let remedy = format!("{in_list}{choose}{}", several(parameter));
            Err(Refusal::new(problem, remedy))
        }
    }
}

/// The column of lists that a path leads into, if it does.
fn array_on_the_way(schema: &Schema, path: &FieldPath) -> Option<String> {
    let inner = path.segments().len();
    let outer = (1..inner).map(|depth| path.segments()[..depth].join("."));
    let is_list = |outer: &String| {
        let data_type = column_type(schema, &FieldPath::new(outer));
        data_type.is_some_and(|data_type| item_type(data_type).is_some())
    };
    outer.into_iter().find(is_list)
}

/// The type of the items of lists.
fn item_type(data_type: &DataType) -> Option<&DataType> {
    match data_type {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            Some(item.data_type())
        }
        _ => None,
    }
}

fn column_type<'a>(schema: &'a Schema, path: &FieldPath) -> Option<&'a DataType> {
    let (root, inner) = path.segments().split_first()?;
    let mut data_type = schema.field_with_name(root).ok()?.data_type();
    for name in inner {
        let DataType::Struct(fields) = data_type else {
            return None;
        };
        let (_, field) = fields.find(name)?;
        data_type = field.data_type();
    }
    Some(data_type)
}

/// The type of the values, for a dictionary that of its entries.
fn values_type(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => values,
        data_type => data_type,
    }
}

fn is_text(data_type: &DataType) -> bool {
    matches!(
        values_type(data_type),
        DataType::Utf8
            | DataType::LargeUtf8
            | DataType::Utf8View
            | DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
    )
}

fn is_number(data_type: &DataType) -> bool {
    data_type.is_integer()
        || matches!(
            data_type,
            DataType::Float32 | DataType::Float64 | DataType::Null
        )
}

/// Whether values are strings or integers, as tokens and ids are. A list without any item has items of type Null.
fn is_token(data_type: &DataType) -> bool {
    is_text(data_type) || values_type(data_type).is_integer() || *data_type == DataType::Null
}

/// Whether values may be ids. One that is an array of 16 bytes is an id if it is a UUID, which its metadata say.
fn may_be_id(data_type: &DataType) -> bool {
    let data_type = values_type(data_type);
    is_token(data_type)
        || data_type.is_floating()
        || data_type.is_decimal()
        || data_type.is_temporal()
            && !matches!(data_type, DataType::Duration(_) | DataType::Interval(_))
        || matches!(data_type, DataType::FixedSizeBinary(UUID_BYTES))
}

/// Bytes of a UUID.
const UUID_BYTES: i32 = 16;

/// The metadata of a column that name its type, and the name of the type of UUIDs (Arrow's canonical extension types).
pub(super) const EXTENSION: (&str, &str) = ("ARROW:extension:name", "arrow.uuid");

/// Appends the documents of the rows that `is_wanted` marks to `documents`. Returns for each of these rows its
/// id, or what is wrong with the row.
pub(super) fn parse(
    rows: &RecordBatch,
    fields: &Fields,
    is_wanted: &[bool],
    documents: &mut DocumentBatch,
) -> Vec<Result<Id, String>> {
    let content = fields.content.iter();
    let content: Vec<(&FieldPath, Option<Column>)> = content
        .map(|path| (path, column(rows, path).map(Column::new)))
        .collect();
    let weights = fields.weights.as_ref();
    let weights = weights.map(|field| (field, column(rows, &field.path).map(Column::new)));
    let ids = id_column(rows, &fields.id);
    let id_field = format!("id column \"{}\"", fields.id);
    let wanted = (0..rows.num_rows()).filter(|row| is_wanted[*row]);
    wanted
        .map(|row| {
            let id = match &ids {
                Some(ids) => ids.id(row, &id_field)?,
                None => Id::None,
            };
            let id = id.checked(fields.id_required, &id_field)?;
            match documents {
                DocumentBatch::Texts(texts) => push_text(&content, row, texts)?,
                DocumentBatch::Tokens(tokens) => {
                    push_tokens(&content, row, tokens)?;
                    tokens.finish_document();
                }
                DocumentBatch::Weighted(tokens) => {
                    let numbers = weights_of(weights.as_ref(), row)?;
                    tokens.push_with(&numbers, |tokens| push_tokens(&content, row, tokens))?;
                }
            }
            Ok(id)
        })
        .collect()
}

fn push_text(
    content: &[(&FieldPath, Option<Column>)],
    row: usize,
    texts: &mut TextBatch,
) -> Result<(), String> {
    let mut parts = Vec::with_capacity(content.len());
    for (path, column) in content {
        let text = column.as_ref().and_then(|column| column.text(row));
        let text = text
            .transpose()
            .map_err(|bad| format!("column \"{path}\" holds {bad}"))?;
        parts.extend(text);
    }
    if parts.is_empty() {
        let named = |is_there: bool| {
            let columns = content
                .iter()
                .filter(|(_, column)| column.is_some() == is_there);
            let names: Vec<String> = columns.map(|(path, _)| format!("\"{path}\"")).collect();
            names.join(" and ")
        };
        let are_null = match content
            .iter()
            .filter(|(_, column)| column.is_some())
            .count()
        {
            1 => format!("column {} is null", named(true)),
            _ => format!("columns {} are null", named(true)),
        };
        return Err(match &*named(false) {
            "" => are_null,
            missing => format!("{are_null}, and there is no column {missing}"),
        });
    }
    texts.push_with(|text| {
        let start = text.len();
        parts.iter().for_each(|part| push_joined(text, start, part));
        Some(())
    });
    Ok(())
}

fn push_tokens(
    content: &[(&FieldPath, Option<Column>)],
    row: usize,
    tokens: &mut TokenBatch,
) -> Result<(), String> {
    let Some((path, Some(column))) = content.first() else {
        return Err("there is no column of tokens".to_owned());
    };
    let Some(list) = column.list(row) else {
        return Err(format!("column \"{path}\" is null"));
    };
    let items = Column::new(list);
    for i in 0..items.len() {
        let token = match items.integer(i) {
            Some(integer) => Ok(Some(integer)),
            None => items
                .text(i)
                .transpose()
                .map(|text| text.map(str::to_owned)),
        };
        match token {
            Ok(Some(token)) => tokens.push_token(token.as_bytes()),
            wrong => {
                tokens.abandon_document();
                return Err(match wrong {
                    Err(bad) => format!("column \"{path}\" holds a token with {bad}"),
                    Ok(_) => format!("column \"{path}\" holds a null among its tokens"),
                });
            }
        }
    }
    Ok(())
}

/// The weights of the tokens of a row.
fn weights_of(
    weights: Option<&(&WeightsField, Option<Column>)>,
    row: usize,
) -> Result<Vec<f64>, String> {
    let Some((field, Some(column))) = weights else {
        return Err("there is no column of weights".to_owned());
    };
    let path = &field.path;
    let Some(list) = column.list(row) else {
        return Err(format!("column \"{path}\" is null"));
    };
    if list.null_count() > 0 {
        return Err(format!("column \"{path}\" holds a null among its weights"));
    }
    let numbers: Vec<f64> = match list.data_type() {
        DataType::Float64 => list.as_primitive::<Float64Type>().values().to_vec(),
        DataType::Float32 => {
            let numbers = list.as_primitive::<Float32Type>().values().iter();
            numbers.map(|number| f64::from(*number)).collect()
        }
        _ => {
            let items = Column::new(list);
            let integers = (0..items.len()).filter_map(|i| items.integer(i)?.parse().ok());
            integers.collect()
        }
    };
    field.check(&numbers)?;
    Ok(numbers)
}

/// The rows whose value in the column at a path is a string that is not UTF-8, with what is wrong with them.
pub(super) fn not_utf_8(rows: &RecordBatch, path: &FieldPath) -> Vec<(u64, String)> {
    let Some(column) = column(rows, path).map(Column::new) else {
        return Vec::new();
    };
    let problem = |row| {
        let bad = column.text(row)?.err()?;
        Some((row as u64, format!("column \"{path}\" holds {bad}")))
    };
    (0..rows.num_rows()).filter_map(problem).collect()
}

/// The column at a path. A value is null if a struct around it is null.
pub(super) fn column(rows: &RecordBatch, path: &FieldPath) -> Option<ArrayRef> {
    let (root, inner) = path.segments().split_first()?;
    let mut column = Arc::clone(rows.column_by_name(root)?);
    for name in inner {
        let outer = column.as_struct_opt()?;
        let child = Arc::clone(outer.column_by_name(name)?);
        column = match outer.nulls() {
            None => child,
            Some(nulls) => {
                let is_null: BooleanArray = nulls.iter().map(|valid| Some(!valid)).collect();
                arrow_select::nullif::nullif(&child, &is_null).ok()?
            }
        };
    }
    Some(column)
}

/// A column whose rows are values, or places in a dictionary of values.
pub(super) struct Column {
    pub(super) values: ArrayRef,
    /// The place in `values` of each row; `None` if they are the rows.
    places: Option<Vec<usize>>,
    pub(super) rows: ArrayRef,
    /// Whether arrays of 16 bytes are UUIDs.
    is_uuid: bool,
}

impl Column {
    pub(super) fn new(rows: ArrayRef) -> Self {
        let dictionary = rows.as_any_dictionary_opt();
        let (values, places) = match dictionary {
            Some(dictionary) if dictionary.values().is_empty() => {
                // All rows are null, so no place is used.
                (Arc::clone(dictionary.values()), Some(Vec::new()))
            }
            Some(dictionary) => (
                Arc::clone(dictionary.values()),
                Some(dictionary.normalized_keys()),
            ),
            None => (Arc::clone(&rows), None),
        };
        Column {
            values,
            places,
            rows,
            is_uuid: false,
        }
    }

    fn len(&self) -> usize {
        self.rows.len()
    }

    /// The place of a row's value; `None` if it is null.
    pub(crate) fn place(&self, row: usize) -> Option<usize> {
        let place = match &self.places {
            None => row,
            Some(places) => *places.get(row)?,
        };
        (self.rows.is_valid(row) && self.values.is_valid(place)).then_some(place)
    }

    /// The text of a row, `None` if it is null or of another type; an error says where it is not UTF-8.
    pub(super) fn text(&self, row: usize) -> Option<Result<&str, String>> {
        let place = self.place(row)?;
        let values = &self.values;
        let bytes = match values.data_type() {
            DataType::Utf8 => return Some(Ok(values.as_string::<i32>().value(place))),
            DataType::LargeUtf8 => return Some(Ok(values.as_string::<i64>().value(place))),
            DataType::Utf8View => return Some(Ok(values.as_string_view().value(place))),
            DataType::Binary => values.as_binary::<i32>().value(place),
            DataType::LargeBinary => values.as_binary::<i64>().value(place),
            DataType::BinaryView => values.as_binary_view().value(place),
            _ => return None,
        };
        Some(std::str::from_utf8(bytes).map_err(|error| {
            let looks_like = column_looks_like(bytes);
            format!("invalid UTF-8 at byte {}{looks_like}", error.valid_up_to())
        }))
    }

    pub(super) fn integer(&self, row: usize) -> Option<String> {
        macro_rules! value {
            ($integer:ty) => {
                self.values
                    .as_primitive::<$integer>()
                    .value(self.place(row)?)
                    .to_string()
            };
        }
        Some(match self.values.data_type() {
            DataType::Int8 => value!(Int8Type),
            DataType::Int16 => value!(Int16Type),
            DataType::Int32 => value!(Int32Type),
            DataType::Int64 => value!(Int64Type),
            DataType::UInt8 => value!(UInt8Type),
            DataType::UInt16 => value!(UInt16Type),
            DataType::UInt32 => value!(UInt32Type),
            DataType::UInt64 => value!(UInt64Type),
            _ => return None,
        })
    }

    /// The id of a row: a number or a string in its usual text. Messages call the column `name`.
    pub(super) fn id(&self, row: usize, name: &str) -> Result<Id, String> {
        let Some(place) = self.place(row) else {
            return Ok(Id::None);
        };
        if let Some(integer) = self.integer(row) {
            return Ok(Id::Json(integer));
        }
        match self.text(row).transpose() {
            Ok(Some(text)) => return Ok(Id::Json(json_string(text))),
            Ok(None) => {}
            Err(bad) => return Err(format!("{name} holds {bad}")),
        }
        let unusable = || Id::Unusable(format!("of type {}", self.values.data_type()));
        Ok(usual_text(&self.values, place, self.is_uuid).unwrap_or_else(unusable))
    }

    /// The texts of a row of a column of lists of strings; null ones are left out.
    pub(super) fn texts_of_list(&self, row: usize) -> Option<Vec<String>> {
        let list = Column::new(self.list(row)?);
        let rows = 0..list.rows.len();
        let texts = rows.filter_map(|row| Some(list.text(row).transpose().ok()??.to_owned()));
        (list.rows.is_empty() || is_text(list.values.data_type())).then(|| texts.collect())
    }

    /// The items of a row of a column of lists.
    fn list(&self, row: usize) -> Option<ArrayRef> {
        let place = self.place(row)?;
        match self.values.data_type() {
            DataType::List(_) => Some(self.values.as_list::<i32>().value(place)),
            DataType::LargeList(_) => Some(self.values.as_list::<i64>().value(place)),
            DataType::FixedSizeList(..) => Some(self.values.as_fixed_size_list().value(place)),
            _ => None,
        }
    }
}

/// The column of ids.
pub(super) fn id_column(rows: &RecordBatch, path: &FieldPath) -> Option<Column> {
    let mut column = Column::new(column(rows, path)?);
    if let [root] = path.segments() {
        let metadata = rows.schema_ref().field_with_name(root).ok()?.metadata();
        let (key, uuid) = EXTENSION;
        column.is_uuid = metadata.get(key).is_some_and(|name| name == uuid);
    }
    Some(column)
}

/// The id that a value is which is neither an integer nor a text; `None` if its type has no usual text.
fn usual_text(values: &ArrayRef, place: usize, is_uuid: bool) -> Option<Id> {
    Some(match values.data_type() {
        DataType::Float16 => {
            let value = values.as_primitive::<Float16Type>().value(place).to_f32();
            id_of_float(value.is_finite(), format!("{value:?}"))
        }
        DataType::Float32 => {
            let value = values.as_primitive::<Float32Type>().value(place);
            id_of_float(value.is_finite(), format!("{value:?}"))
        }
        DataType::Float64 => {
            let value = values.as_primitive::<Float64Type>().value(place);
            id_of_float(value.is_finite(), format!("{value:?}"))
        }
        DataType::Decimal32(..) => decimal::<Decimal32Type>(values, place),
        DataType::Decimal64(..) => decimal::<Decimal64Type>(values, place),
        DataType::Decimal128(..) => decimal::<Decimal128Type>(values, place),
        DataType::Decimal256(..) => decimal::<Decimal256Type>(values, place),
        DataType::Date32 => {
            let date = values.as_primitive::<Date32Type>().value_as_date(place)?;
            Id::Json(json_string(&date.to_string()))
        }
        DataType::Date64 => {
            let date = values.as_primitive::<Date64Type>().value_as_date(place)?;
            Id::Json(json_string(&date.to_string()))
        }
        DataType::Time32(TimeUnit::Second) => time::<Time32SecondType>(values, place)?,
        DataType::Time32(_) => time::<Time32MillisecondType>(values, place)?,
        DataType::Time64(TimeUnit::Microsecond) => time::<Time64MicrosecondType>(values, place)?,
        DataType::Time64(_) => time::<Time64NanosecondType>(values, place)?,
        DataType::Timestamp(unit, zone) => timestamp(values, place, *unit, zone.is_some())?,
        DataType::FixedSizeBinary(UUID_BYTES) if is_uuid => {
            uuid(values.as_fixed_size_binary().value(place))
        }
        _ => return None,
    })
}

/// A float as a number of JSON; one that is no number is none, as pandas has it.
fn id_of_float(is_finite: bool, text: String) -> Id {
    if is_finite { Id::Json(text) } else { Id::None }
}

/// A decimal number with all its digits: as a number of JSON, 1.50 would lose its end.
fn decimal<T: DecimalType>(values: &ArrayRef, place: usize) -> Id {
    let text = values.as_primitive::<T>().value_as_string(place);
    Id::Json(if is_integer(&text) {
        text
    } else {
        json_string(&text)
    })
}

/// A time of day as other programs print it.
fn time<T: ArrowTemporalType>(values: &ArrayRef, place: usize) -> Option<Id>
where
    i64: From<T::Native>,
{
    let time = values.as_primitive::<T>().value_as_time(place)?;
    Some(Id::Json(json_string(&time.to_string())))
}

/// The 16 bytes of a UUID in its usual form, five groups of digits.
fn uuid(bytes: &[u8]) -> Id {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &digits[part]);
    Id::Json(json_string(&parts.join("-")))
}

/// A date and time of a column whose values count `unit`.
fn timestamp(values: &ArrayRef, place: usize, unit: TimeUnit, has_zone: bool) -> Option<Id> {
    match unit {
        TimeUnit::Second => moment::<TimestampSecondType>(values, place, has_zone),
        TimeUnit::Millisecond => moment::<TimestampMillisecondType>(values, place, has_zone),
        TimeUnit::Microsecond => moment::<TimestampMicrosecondType>(values, place, has_zone),
        TimeUnit::Nanosecond => moment::<TimestampNanosecondType>(values, place, has_zone),
    }
}

/// A date and time as other programs print it.
fn moment<T: ArrowTemporalType>(values: &ArrayRef, place: usize, has_zone: bool) -> Option<Id>
where
    i64: From<T::Native>,
{
    let moment = values.as_primitive::<T>().value_as_datetime(place)?;
    // The values of a column with a time zone are in UTC.
    let offset = if has_zone { "+00:00" } else { "" };
    Some(Id::Json(json_string(&format!("{moment}{offset}"))))
}
