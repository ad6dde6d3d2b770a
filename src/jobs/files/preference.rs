//! Which documents to keep by the values of a field and by their files.

use super::run::Run;
use crate::error::{Error, Result};
use crate::io::{FieldValues, Places, ValueKind};

/// The class of each document, by row: the number of the first pattern of [`Run::prefer_source`] that matches
/// its file, then the place of its value in the order of [`Run::keep_by`]. `None` without either. `warn` takes warnings.
pub(super) fn classes(
    run: &Run<'_>,
    places: &Places,
    rows: u32,
    values: FieldValues,
    warn: &dyn Fn(&str),
) -> Result<Option<Vec<u64>>> {
    if run.keep_by.is_none() && run.prefer_source.is_empty() {
        return Ok(None);
    }
    let mut classes = match &run.keep_by {
        None => vec![0; rows as usize],
        Some(by) => {
            if rows > 0 && values.is_all_absent() {
                let field = by.field.to_string();
                let expected = match field.contains(':') {
                    true => {
                        "a field that a document has, alone or with one of the directions :asc and :desc"
                    }
                    false => "a field that a document has",
                };
                return Err(Error::Parameter {
                    name: "`keep_by`",
                    value: format!("{field:?}"),
                    expected: expected.to_owned(),
                });
            }
            let order = values.places(by.smallest);
            if order.kind == ValueKind::Mixed {
                warn(&format!(
                    "some values of `keep_by={}` are numbers or dates, but not all; all are compared as strings, byte by byte",
                    by.field
                ));
            }
            order.places.into_iter().map(u64::from).collect()
        }
    };
    let mut is_matched = vec![false; run.prefer_source.patterns().len()];
    let mut end = rows;
    for file in places.files.iter().rev() {
        let source = run.prefer_source.first_match(&file.relative);
        if let Some(source) = source {
            is_matched[source] = true;
        }
        let class = (source.unwrap_or(is_matched.len()) as u64) << 32;
        for row in &mut classes[file.first_row as usize..end as usize] {
            *row |= class;
        }
        end = file.first_row;
    }
    for (pattern, is_matched) in run.prefer_source.patterns().zip(is_matched) {
        if !is_matched {
            warn(&format!(
                "no file is preferred for `prefer_source={pattern}`: none matches it, or all match an earlier pattern"
            ));
        }
    }
    Ok(Some(classes))
}
