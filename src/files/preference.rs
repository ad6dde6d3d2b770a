//! Which documents to keep by the values of a field and by their files.

use super::log::Log;
use super::run::Run;
use crate::error::{Error, Result, row_number};
use crate::io::{FieldValues, KeepBy, Places, Unordered, ValueForms, ValueKind};
use crate::progress::Progress;
use crate::search::{Classify, NextPreference};
use crate::store::Texts;
use arrow_array::RecordBatch;

/// How documents are classified: by the rank of their source, then by a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Classes {
    /// How the values of all documents are compared; `None` if there are none.
    kind: Option<ValueKind>,
    /// Whether small values come first.
    smallest: bool,
}

impl Classes {
    fn of(&self, sources: impl Iterator<Item = u32>, values: &FieldValues) -> Result<Vec<u64>> {
        let class = |source: u32, place: u32| u64::from(source) << 32 | u64::from(place);
        Ok(match self.kind {
            None => sources.map(|source| class(source, 0)).collect(),
            Some(kind) => {
                let places = values.places(kind, self.smallest)?;
                let both = sources.zip(places);
                both.map(|(source, place)| class(source, place)).collect()
            }
        })
    }
}

impl Classify for Classes {
    fn classes(&self, sources: &[u32], values: Texts) -> Result<Vec<u64>> {
        let values = FieldValues::of_known_kind(values);
        self.of(sources.iter().copied(), &values)
    }
}

/// The order of preference of documents.
pub(super) struct Preference {
    /// For each file, the number of the first pattern of [`Run::prefer_source`] that matches it, and its first row.
    sources: Vec<(u32, u32)>,
    classes: Classes,
}

impl Preference {
    /// The preference among `rows` documents; `None` if there is none. `warn` takes warnings.
    pub(super) fn of(
        run: &Run<'_>,
        places: &Places,
        rows: u32,
        forms: ValueForms,
        warn: &dyn Fn(&str),
    ) -> Result<Option<Self>> {
        if run.keep_by.is_none() && run.prefer_source.is_empty() {
            return Ok(None);
        }
        if let Some(by) = &run.keep_by {
            check_values(by, rows, forms, warn)?;
        }
        let mut is_matched = vec![false; run.prefer_source.patterns().len()];
        let files = places.files.iter().map(|file| {
            let source = run.prefer_source.first_match(&file.relative);
            if let Some(source) = source {
                is_matched[source] = true;
            }
            let source = source.unwrap_or(is_matched.len());
            let source = u32::try_from(source).map_err(|_| Error::Parameter {
                name: "`prefer_source`",
                value: format!("a list of {} patterns", is_matched.len()),
                expected: "fewer than 2^32 patterns".to_owned(),
            })?;
            Ok((source, file.first_row))
        });
        let sources = files.collect::<Result<_>>()?;
        for (pattern, is_matched) in run.prefer_source.patterns().zip(is_matched) {
            if !is_matched {
                warn(&format!(
                    "no file is preferred for `prefer_source={pattern}`: none matches it, or all match an earlier pattern"
                ));
            }
        }
        let by = run.keep_by.as_ref();
        Ok(Some(Preference {
            sources,
            classes: Classes {
                kind: by.and(forms.kind()),
                smallest: by.is_some_and(|by| by.smallest),
            },
        }))
    }

    /// The class of each of `rows` documents.
    pub(super) fn classes(&self, rows: u32, values: &FieldValues) -> Result<Vec<u64>> {
        self.classes
            .of(self.sources_by_row().take(rows as usize), values)
    }

    /// How documents on disk are classified.
    pub(super) fn rule(&self) -> Classes {
        self.classes
    }

    /// What decides the class of each document, in order of rows.
    pub(super) fn in_order<'a>(&'a self, log: &'a Log) -> NextPreference<'a> {
        let (mut sources, mut values) = (self.sources_by_row(), log.values());
        let has_values = self.classes.kind.is_some();
        Box::new(move || {
            let value = values.next().filter(|_| has_values).transpose()?;
            Ok((
                sources.next().unwrap_or_default(),
                value.unwrap_or_default(),
            ))
        })
    }

    /// The number of the pattern that matches the file of each document, and of rows beyond the last one.
    fn sources_by_row(&self) -> impl Iterator<Item = u32> {
        let mut rest = self.sources.as_slice();
        let mut source = 0;
        (0..=u32::MAX).map(move |row| {
            while let Some(((next, first_row), after)) = rest.split_first()
                && *first_row <= row
            {
                (source, rest) = (*next, after);
            }
            source
        })
    }
}

/// Refuses a field that no document has, and warns of values of several kinds.
fn check_values(by: &KeepBy, rows: u32, forms: ValueForms, warn: &dyn Fn(&str)) -> Result<()> {
    if rows > 0 && forms.kind().is_none() {
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
    if forms.kind() == Some(ValueKind::Mixed) {
        warn(&format!(
            "some values of `keep_by={}` are numbers or dates, but not all; all are compared as strings, byte by byte",
            by.field
        ));
    }
    Ok(())
}

/// The class of each row of a table for [`dedup_by_class`](crate::search::dedup_by_class), by the values of a field: the
/// rows that [`Run::keep_by`] prefers have lower ones.
///
/// # Errors
/// [`Error::Parameter`] if no row has the field, or its values have no order.
pub fn keep_classes(by: &KeepBy, rows: &RecordBatch, progress: &dyn Progress) -> Result<Vec<u64>> {
    let mut values = FieldValues::default();
    let read = values.push_rows(rows, &by.field, |_| true);
    read.map_err(|Unordered { problem, .. }| Error::Parameter {
        name: "`keep_by`",
        value: format!("{:?}, but {problem}", by.field.to_string()),
        expected: "another field".to_owned(),
    })?;
    let count = row_number(rows.num_rows())?;
    check_values(by, count, values.forms(), &|warning| progress.warn(warning))?;
    let classes = Classes {
        kind: values.forms().kind(),
        smallest: by.smallest,
    };
    classes.of(std::iter::repeat_n(0, rows.num_rows()), &values)
}
