//! Cuts parts out of the texts of rows of tables. The columns keep their types.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, LargeBinaryArray, LargeStringArray, RecordBatch,
    StringArray, StringViewArray, StructArray,
};
use arrow_schema::DataType;

use super::columns::{Column, column};
use super::cuts::{Cuts, Fate, cuts_of_parts, push_without};
use super::fields::Fields;

/// The rows without the cuts of their texts. Those that are dropped are still there.
pub(super) fn cut_rows(
    rows: &RecordBatch,
    fates: &[Fate<'_>],
    fields: &Fields,
) -> Result<RecordBatch, String> {
    let content: Vec<Option<Column>> = fields
        .content
        .iter()
        .map(|path| column(rows, path).map(Column::new))
        .collect();
    let text = |column: &Option<Column>, row: usize| -> Option<String> {
        let text = column.as_ref()?.text(row)?;
        text.ok().map(str::to_owned)
    };
    // By field, then by row.
    let mut left: Vec<Vec<Option<Vec<u8>>>> = vec![vec![None; fates.len()]; content.len()];
    for (row, fate) in fates.iter().enumerate() {
        let Fate::Cut(cuts @ [_, ..]) = fate else {
            continue;
        };
        let texts: Vec<Option<String>> = content.iter().map(|column| text(column, row)).collect();
        let lengths = texts
            .iter()
            .map(|text| text.as_ref().map_or(0, String::len));
        let parts = cuts_of_parts(cuts, lengths);
        for ((left, text), cuts) in left.iter_mut().zip(texts).zip(parts) {
            left[row] = text
                .filter(|_| !cuts.is_empty())
                .map(|text| without(&text, &cuts));
        }
    }
    let mut columns = rows.columns().to_vec();
    for (path, left) in fields.content.iter().zip(&left) {
        // A column that a table lacks has no texts.
        if let Some((root, inner)) = path.segments().split_first()
            && left.iter().any(Option::is_some)
        {
            let at = rows
                .schema()
                .index_of(root)
                .map_err(|error| error.to_string())?;
            columns[at] = replaced(&columns[at], inner, left)?;
        }
    }
    RecordBatch::try_new(rows.schema(), columns).map_err(|error| error.to_string())
}

/// Refuses a column whose texts cannot be cut.
pub(super) fn check_columns(rows: &RecordBatch, fields: &Fields) -> Result<(), String> {
    let columns = fields.content.iter().filter_map(|path| column(rows, path));
    for column in columns {
        if let kind @ DataType::Dictionary(..) = column.data_type() {
            return Err(uncut(kind));
        }
    }
    Ok(())
}

fn uncut(kind: &DataType) -> String {
    format!(
        "texts of the type {kind} cannot be cut; write the column as strings without a dictionary"
    )
}

fn without(text: &str, cuts: &Cuts) -> Vec<u8> {
    let mut left = Vec::with_capacity(text.len());
    push_without(text.as_bytes(), cuts, &mut left);
    left
}

/// A column with other texts in some rows, at a path within.
fn replaced(
    column: &ArrayRef,
    inner: &[String],
    texts: &[Option<Vec<u8>>],
) -> Result<ArrayRef, String> {
    if texts.iter().all(Option::is_none) {
        return Ok(Arc::clone(column));
    }
    let Some((name, inner)) = inner.split_first() else {
        return with_texts(column, texts);
    };
    let outer = column
        .as_struct_opt()
        .ok_or("a field of the text is no struct")?;
    let (at, _) = outer
        .fields()
        .find(name)
        .ok_or("a field of the text is missing")?;
    let mut children = outer.columns().to_vec();
    children[at] = replaced(&children[at], inner, texts)?;
    let replaced = StructArray::try_new(outer.fields().clone(), children, outer.nulls().cloned());
    Ok(Arc::new(replaced.map_err(|error| error.to_string())?))
}

/// A column of texts with others in some rows.
fn with_texts(column: &ArrayRef, texts: &[Option<Vec<u8>>]) -> Result<ArrayRef, String> {
    let rows = 0..column.len();
    macro_rules! bytes {
        ($array:ty, $old:expr) => {{
            let old = $old;
            let value = |row: usize| {
                let kept = || old.is_valid(row).then(|| old.value(row));
                texts[row].as_deref().or_else(kept)
            };
            Arc::new(rows.map(value).collect::<$array>()) as ArrayRef
        }};
    }
    macro_rules! strings {
        ($array:ty, $old:expr) => {{
            let old = $old;
            // A text is cut between characters.
            let text = |bytes| std::str::from_utf8(bytes).unwrap_or_default();
            let value = |row: usize| {
                let kept = || old.is_valid(row).then(|| old.value(row));
                texts[row].as_deref().map(text).or_else(kept)
            };
            Arc::new(rows.map(value).collect::<$array>()) as ArrayRef
        }};
    }
    Ok(match column.data_type() {
        DataType::Utf8 => strings!(StringArray, column.as_string::<i32>()),
        DataType::LargeUtf8 => strings!(LargeStringArray, column.as_string::<i64>()),
        DataType::Utf8View => strings!(StringViewArray, column.as_string_view()),
        DataType::Binary => bytes!(BinaryArray, column.as_binary::<i32>()),
        DataType::LargeBinary => bytes!(LargeBinaryArray, column.as_binary::<i64>()),
        DataType::BinaryView => bytes!(BinaryViewArray, column.as_binary_view()),
        other => return Err(uncut(other)),
    })
}

#[cfg(test)]
mod tests {
    use arrow_schema::{Field, Schema};

    use super::*;
    use crate::FieldPath;

    #[test]
    fn columns_keep_types_and_nulls() {
        let texts = [Some("abcé"), None, Some("xyz"), Some("no")];
        let arrays: [ArrayRef; 6] = [
            Arc::new(StringArray::from_iter(texts)),
            Arc::new(LargeStringArray::from_iter(texts)),
            Arc::new(StringViewArray::from_iter(texts)),
            Arc::new(BinaryArray::from_iter(texts)),
            Arc::new(LargeBinaryArray::from_iter(texts)),
            Arc::new(BinaryViewArray::from_iter(texts)),
        ];
        for array in arrays {
            let field = Arc::new(Field::new("t", array.data_type().clone(), true));
            let outer = StructArray::from(vec![(Arc::clone(&field), Arc::clone(&array))]);
            let schema = Schema::new(vec![
                (*field).clone(),
                Field::new("o", outer.data_type().clone(), false),
            ]);
            let rows =
                RecordBatch::try_new(Arc::new(schema), vec![array, Arc::new(outer)]).unwrap();
            for (name, at) in [("t", 0), ("o.t", 1)] {
                let path = FieldPath::new(name);
                let fields = Fields {
                    content: vec![path.clone()],
                    ..Fields::default()
                };
                let fates = [
                    Fate::Cut(&[[1, 3]]),
                    Fate::Cut(&[]),
                    Fate::Drop,
                    Fate::Cut(&[[0, 2]]),
                ];
                let cut = cut_rows(&rows, &fates, &fields).unwrap();
                assert_eq!(cut.schema(), rows.schema());
                assert_eq!(cut.column(1 - at), rows.column(1 - at));
                let cut = Column::new(column(&cut, &path).unwrap());
                let texts: Vec<_> = (0..4)
                    .map(|row| cut.text(row).map(Result::unwrap))
                    .collect();
                assert_eq!(texts, [Some("aé"), None, Some("xyz"), Some("")]);
            }
        }
    }
}
