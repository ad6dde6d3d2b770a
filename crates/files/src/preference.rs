//! Which documents to keep by the values of a field and by their files.

use super::log::Log;
use super::run::Run;
use arrow_array::RecordBatch;
use simgpu::error::{Error, Result, row_number};
use simgpu::progress::Progress;
use simgpu::search::{Classify, NextPreference};
use simgpu::store::Texts;
use simgpu_io::{FieldPath, FieldValues, Globs, KeepBy, Places, Unordered, ValueForms, ValueKind};

/// How documents are classified: by the rank of their source, then by a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Classes {
    /// How the values of all documents are compared; `None` if there are none.
    kind: Option<ValueKind>,
    /// Whether small values come first.
    smallest: bool,
}

impl Classes {
    fn rank(&self, sources: impl Iterator<Item = u32>, values: &FieldValues) -> Result<Vec<u64>> {
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
        let values = FieldValues::with_known_kind(values);
        self.rank(sources.iter().copied(), &values)
    }
}

/// The order of preference of documents.
pub(super) struct Preference {
    /// For each file, the number of the first pattern of [`Run::prefer_source`] that matches it, and its first row.
    sources: Vec<(u32, u32)>,
    classes: Classes,
}

/// What is known of the documents that were read.
pub(super) struct Known<'a> {
    pub(super) places: &'a Places,
    /// What the values of the field of [`Run::keep_by`] are.
    pub(super) forms: ValueForms,
    /// Lists the fields of documents that lack one; `None` if they have it, without a value.
    pub(super) names: &'a dyn Fn(&FieldPath) -> Option<String>,
}

impl Preference {
    /// The preference among `rows` documents, without those of a reference; `None` if there is none. `warn` takes warnings.
    pub(super) fn new(
        run: &Run<'_>,
        known: &Known<'_>,
        rows: u32,
        warn: &dyn Fn(&str),
    ) -> Result<Option<Self>> {
        let Known {
            places,
            forms,
            names,
        } = *known;
        if run.keep_by.is_none() && run.prefer_source.is_empty() {
            return Ok(None);
        }
        if let Some(by) = &run.keep_by {
            check_values(by, rows, forms, names, warn)?;
        }
        let names = places.files.iter().enumerate();
        let names = names
            .map(|(number, file)| (number >= places.reference_files).then_some(&*file.relative));
        let ranks = ranks_of_files(&run.prefer_source, names, warn)?;
        let files = places.files.iter().zip(ranks);
        let sources = files
            .map(|(file, source)| (source, file.first_row))
            .collect();
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
            .rank(self.sources_by_row().take(rows as usize), values)
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

/// For each file, the number of the first pattern that matches its name, or the number of all patterns. A file without a name
/// is not preferred. `warn` is told of patterns without a file.
///
/// # Errors
/// [`Error::Parameter`] for 2^32 patterns or more.
#[doc(hidden)]
pub fn ranks_of_files<'a>(
    patterns: &Globs,
    names: impl Iterator<Item = Option<&'a str>>,
    warn: &dyn Fn(&str),
) -> Result<Vec<u32>> {
    let mut is_matched = vec![false; patterns.patterns().len()];
    let ranks = names.map(|name| {
        let source = name.and_then(|name| patterns.first_match(name));
        if let Some(source) = source {
            is_matched[source] = true;
        }
        let source = source.unwrap_or(is_matched.len());
        u32::try_from(source).map_err(|_| Error::Parameter {
            name: "`prefer_source`",
            value: format!("a list of {} patterns", is_matched.len()),
            expected: "fewer than 2^32 patterns".to_owned(),
        })
    });
    let ranks = ranks.collect::<Result<_>>()?;
    for (pattern, is_matched) in patterns.patterns().zip(is_matched) {
        if !is_matched {
            warn(&format!(
                "no file is preferred for `prefer_source={pattern}`: none matches it, or all match an earlier pattern"
            ));
        }
    }
    Ok(ranks)
}

/// Refuses a field that no document has, and warns of values of several kinds.
fn check_values(
    by: &KeepBy,
    rows: u32,
    forms: ValueForms,
    names: &dyn Fn(&FieldPath) -> Option<String>,
    warn: &dyn Fn(&str),
) -> Result<()> {
    if rows > 0 && forms.kind().is_none() {
        let field = by.field.to_string();
        let directions = if field.contains(':') {
            ", alone or with one of the directions :asc and :desc"
        } else {
            ""
        };
        let names = names(&by.field).map_or(String::new(), |names| format!("; {names}"));
        return Err(Error::Parameter {
            name: "`keep_by`",
            value: format!("{field:?}"),
            expected: format!("a field that a document has{directions}{names}"),
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

/// The class of each row of a table for [`dedup_by_class`](simgpu::search::dedup_by_class), by the values of a field: the
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
    let warn = |warning: &str| progress.warn(warning);
    check_values(by, count, values.forms(), &|_| None, &warn)?;
    let classes = Classes {
        kind: values.forms().kind(),
        smallest: by.smallest,
    };
    classes.rank(std::iter::repeat_n(0, rows.num_rows()), &values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{LITTLE, Place, Watched, engine, overwriting, skipping, task, watched_by};

    /// Three files, each with three copies of one text and one text of its own.
    fn place() -> Place {
        let place = Place::new();
        for (file, scores) in [("a", [3, 1, 2]), ("b", [5, 9, 9]), ("c", [4, 0, 7])] {
            let mut lines = String::new();
            for (number, score) in scores.iter().enumerate() {
                lines += &format!(
                    "{{\"id\": \"{file}{number}\", \"text\": \"one text of all files\", \"score\": {score}}}\n"
                );
            }
            // Where a file begins, another source does.
            lines +=
                &format!("{{\"id\": \"{file}-own\", \"text\": \"own text of {file} alone\"}}\n");
            place.write(&format!("in/{file}.jsonl"), lines);
        }
        // So many others that some memory is too little.
        let other = |at: u64| format!("{{\"id\": {at}, \"text\": \"x{at} y{at} z{at}\"}}\n");
        place.write("in/d.jsonl", (0..300).map(other).collect::<String>());
        place
    }

    /// The id of the kept copy, the same in memory and on disk.
    fn kept(place: &Place, keep_by: Option<&str>, sources: &[&str]) -> Result<String> {
        let engine = engine();
        let inputs = place.inputs();
        let mut found = Vec::new();
        for memory in [1 << 30, LITTLE] {
            let run = Run {
                memory: Some(memory),
                options: overwriting(true),
                ..skipping(&engine, &inputs)
            };
            let mut run = Run {
                prefer_source: Globs::new(sources)?,
                ..run
            };
            if let Some(keep_by) = keep_by {
                run = Run {
                    keep_by: Some(KeepBy::new(keep_by)),
                    ..run
                };
            }
            run.dedup(&task(&engine), &place.path("out"))?;
            let removed = place.lines("out/removed.jsonl");
            assert_eq!(removed.len(), 8);
            let ids = removed
                .iter()
                .map(|line| line["kept_id"].as_str().unwrap().to_owned());
            let ids: std::collections::BTreeSet<String> = ids.collect();
            assert_eq!(ids.len(), 1);
            found.extend(ids);
        }
        assert_eq!(found[0], found[1]);
        Ok(found.remove(0))
    }

    #[test]
    fn sources_come_first_then_values_then_rows() {
        let place = place();
        for (keep_by, sources, expected) in [
            (None, &[][..], "a0"),
            (None, &["b.jsonl"], "b0"),
            (None, &["none", "c*", "a*"], "c0"),
            (Some("score"), &[], "b1"),
            (Some("score:asc"), &[], "c1"),
            (Some("score"), &["a.jsonl"], "a0"),
            (Some("score:asc"), &["[ab].jsonl"], "a1"),
            (Some("score"), &["c.jsonl", "b.jsonl"], "c2"),
        ] {
            let found = kept(&place, keep_by, sources).unwrap();
            assert_eq!(found, expected, "{keep_by:?} {sources:?}");
        }
    }

    #[test]
    fn a_field_that_no_document_has_is_refused() {
        let place = place();
        for (field, remedy) in [("scores", "a field that"), ("score:up", ":asc and :desc")] {
            let refused = kept(&place, Some(field), &[]).unwrap_err().to_string();
            assert!(
                refused.contains("`keep_by`") && refused.contains(remedy),
                "{refused}"
            );
        }
    }

    #[test]
    fn patterns_without_a_file_are_told() {
        let (place, engine) = (place(), engine());
        let inputs = place.inputs();
        let told = Watched::stop_at(usize::MAX);
        let run = Run {
            options: watched_by(&told),
            prefer_source: Globs::new(&["a.jsonl", "a*", "x"]).unwrap(),
            ..skipping(&engine, &inputs)
        };
        run.dedup(&task(&engine), &place.path("out")).unwrap();
        for (pattern, is_told) in [("a.jsonl", false), ("a*", true), ("x", true)] {
            assert_eq!(
                told.has(&format!("`prefer_source={pattern}`")),
                is_told,
                "{pattern}"
            );
        }
    }
}
