//! Checks that the columns of a table exist and have usable types.

use arrow_schema::{DataType, Schema};

use crate::fields::{FieldPath, Fields, Wanted};
use crate::refusal::{Refusal, any_of, listed, several};

/// The fields that a run needs of each record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Needed<'a> {
    pub(crate) wanted: Wanted<'a>,
    /// Fields that are read beside the wanted ones, if any.
    pub(crate) beside: [Option<&'a FieldPath>; 2],
}

/// The needed columns of a table, at its top level.
pub(crate) fn wanted_roots(schema: &Schema, needed: Needed<'_>) -> Vec<usize> {
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
pub(crate) fn check_schema(schema: &Schema, wanted: Wanted<'_>) -> Result<(), Refusal> {
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
            let mut required = fields.iter().filter(|field| field.is_required);
            return required.try_for_each(|field| {
                let wanted = "numbers, dates or strings";
                let fits = |data_type: &DataType| !data_type.is_nested();
                let checked = check(&field.path, field.parameter, wanted, fits);
                checked.map_err(|refusal| {
                    let is_missing = |path| column_type(schema, path).is_none();
                    let others = fields.iter().filter(|other| {
                        is_missing(&field.path)
                            && other.is_required
                            && other.path != field.path
                            && is_missing(&other.path)
                    });
                    field.refused(refusal, others)
                })
            });
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
        } else if !is_missing {
            check_text(schema, content)?;
        } else if missing.len() == fields.content.len() {
            let all: Vec<&FieldPath> = fields.content.iter().collect();
            return check_text(schema, content).map_err(|refusal| refusal.naming_columns(&all));
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
pub(crate) fn missing<'f>(
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
pub(crate) fn check_one(schema: &Schema, path: &FieldPath, parameter: &str) -> Result<(), Refusal> {
    let mut fields = schema.fields();
    for name in path.segments() {
        let mut same = fields.iter().filter(|field| field.name() == name);
        let Some(first) = same.next() else {
            return Ok(());
        };
        if same.next().is_some() {
            return Err(Refusal::new(
                format!("two columns are called {name:?}"),
                format!(
                    "rename one of them, such as in Python by `.rename_columns` of a table that `pyarrow.parquet.ParquetFile(FILE).read()` \
                     reads, or choose another with `{parameter}`"
                ),
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
                    let texts = schema
                        .fields()
                        .iter()
                        .filter(|field| fits(field.data_type()));
                    let texts: Vec<&String> = texts.map(|field| field.name()).collect();
                    if texts.is_empty() {
                        format!("{choose}; the file has none of {wanted}")
                    } else {
                        format!("{choose}: {wanted} are in {}", any_of("column", &texts))
                    }
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
            let nested = schema.fields().iter().find(|field| {
                let item = item_type(field.data_type());
                parameter == "text_field"
                    && item.is_some_and(|item| matches!(item, DataType::Struct(_)))
            });
            let in_list = nested.map_or(String::new(), |field| {
                format!(
                    "{:?} is a list: join the texts of each list in one column, with the program that wrote the file, and ",
                    field.name()
                )
            });
            let problem = format!("there is no {what} \"{path}\"; {listed}");
            let tokens_hint = if parameter == "tokens_field" {
                ", or leave out `unit=tokens` if the records have texts in place of tokens"
            } else {
                ""
            };
            let remedy = format!("{in_list}{choose}{}{tokens_hint}", several(parameter));
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

pub(super) fn is_text(data_type: &DataType) -> bool {
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
pub(super) const UUID_BYTES: i32 = 16;

/// The metadata of a column that name its type, and the name of the type of UUIDs (Arrow's canonical extension types).
pub(crate) const EXTENSION: (&str, &str) = ("ARROW:extension:name", "arrow.uuid");
