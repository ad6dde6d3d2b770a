//! Columns of tables in memory: reads the texts, tokens and ids of their rows.

mod schema;

mod scalar;

mod column;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;

use super::fields::{FieldPath, Fields, WeightsField, push_joined};
use super::ids::Id;
use simgpu::documents::{DocumentBatch, TextBatch, TokenBatch};

pub(super) use column::{Column, column, id_column};
pub(super) use scalar::Scalar;
pub(super) use schema::{EXTENSION, Needed, check_one, check_schema, missing, wanted_roots};

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
        let nulls = match content
            .iter()
            .filter(|(_, column)| column.is_some())
            .count()
        {
            1 => format!("column {} is null", named(true)),
            _ => format!("columns {} are null", named(true)),
        };
        return Err(match &*named(false) {
            "" => nulls,
            missing => format!("{nulls}, and there is no column {missing}"),
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
