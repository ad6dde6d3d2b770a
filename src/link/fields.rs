//! Reads the records to link: an id, and the values of some fields.

use std::str::FromStr;

use super::{Kind, Link};
use crate::documents::TokenBatch;
use crate::error::Error;
use crate::io::Id;
use crate::io::usual;
use crate::io::{Chunk, Record};
use crate::io::{FieldPath, ValueField};
use crate::io::{Value, for_each_record};

/// A field that is compared.
///
/// Parsed from `A`, `A=B` or `A=B:KIND`: its path in the first input, in the second one where it differs, and the kind of its
/// values where it is set. A backslash before `=`, `:` or `,` makes it a part of the path.
///
/// ```
/// use simgpu::link::{ComparedField, Kind};
///
/// let field: ComparedField = "title=name:text".parse()?;
/// assert_eq!((field.a.to_string(), field.b.to_string()), ("title".to_owned(), "name".to_owned()));
/// assert_eq!(field.kind, Some(Kind::Text));
/// # Ok::<(), simgpu::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparedField {
    /// Its path in the first input, or the only one: results call the field so.
    pub a: FieldPath,
    /// Its path in the second input.
    pub b: FieldPath,
    /// The kind of its values; `None` to find it from them.
    pub kind: Option<Kind>,
}

impl ComparedField {
    /// The fields of a list that is separated by commas, each in the form that is parsed.
    pub fn in_list(list: &str) -> Vec<&str> {
        split(list, ',')
    }
}

impl From<FieldPath> for ComparedField {
    fn from(path: FieldPath) -> Self {
        ComparedField {
            a: path.clone(),
            b: path,
            kind: None,
        }
    }
}

impl FromStr for ComparedField {
    type Err = Error;

    /// # Errors
    /// [`Error::Parameter`] for an empty path, a second `=` or `:`, and a kind that there is not.
    fn from_str(text: &str) -> Result<Self, Error> {
        let refused = |expected: &str| Error::Parameter {
            name: "`fields`",
            value: format!("{text:?}"),
            expected: expected.to_owned(),
        };
        let path = |escaped: &str| match unescaped(escaped) {
            path if path.is_empty() => Err(refused("the name of a field on each side of =")),
            path => Ok(FieldPath::new(&path)),
        };
        let (paths, kind) = match &split(text, ':')[..] {
            [paths] => (*paths, None),
            [paths, kind] => (*paths, Some(*kind)),
            _ => {
                return Err(refused(
                    "one : at most; write \\: where it is part of a name",
                ));
            }
        };
        let kind = kind.map(|kind| {
            let names: Vec<&str> = Kind::all().map(Kind::name).collect();
            let expected = format!(
                "one of {} after :; write \\: where it is part of a name",
                names.join(", ")
            );
            Kind::named(kind).ok_or_else(|| refused(&expected))
        });
        let (a, b) = match &split(paths, '=')[..] {
            [both] => (path(both)?, path(both)?),
            [a, b] => (path(a)?, path(b)?),
            _ => {
                return Err(refused(
                    "one = at most; write \\= where it is part of a name",
                ));
            }
        };
        Ok(ComparedField {
            a,
            b,
            kind: kind.transpose()?,
        })
    }
}

/// The fields of the records to link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordFields {
    /// The fields that are compared. A value is a text, a number, a date, a time or a duration, of which each format has the
    /// same text; one that is missing or null is empty. A column of a table must exist.
    pub compared: Vec<ComparedField>,
    /// The field of the id; default `id`.
    pub id: FieldPath,
    /// Whether a record without an id is a bad record; default false: if any record lacks an id, all ids are
    /// `file:row`.
    pub id_required: bool,
}

/// The parts of a text between letters `at` that no backslash escapes.
fn split(text: &str, at: char) -> Vec<&str> {
    let mut is_escaped = false;
    let is_end = |letter: char| {
        let ends = letter == at && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
        ends
    };
    text.split(is_end).collect()
}

/// A path as [`FieldPath::new`] takes it: without the backslashes of `=`, `:` and `,`.
fn unescaped(text: &str) -> String {
    let mut path = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, letters.peek()) {
            ('\\', Some('=' | ':' | ',')) => {}
            ('\\', Some('\\')) => {
                path.push_str("\\\\");
                letters.next();
            }
            _ => path.push(letter),
        }
    }
    path
}

/// One of two inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    A,
    B,
}

impl RecordFields {
    /// Records with these fields, whose id is in the field `id`.
    pub fn new(compared: impl IntoIterator<Item: Into<ComparedField>>) -> Self {
        RecordFields {
            compared: compared.into_iter().map(Into::into).collect(),
            id: FieldPath::new("id"),
            id_required: false,
        }
    }

    /// The paths of the compared fields in an input.
    pub(super) fn paths(&self, side: Side) -> impl Iterator<Item = &FieldPath> {
        self.compared.iter().map(move |field| match side {
            Side::A => &field.a,
            Side::B => &field.b,
        })
    }

    /// The parameters of a search by these fields, with their kinds and what `name` calls them.
    pub(super) fn task(&self, task: &Link, name: impl Fn(&FieldPath) -> String) -> Link {
        Link {
            field_names: self.paths(Side::A).map(name).collect(),
            field_kinds: self.compared.iter().map(|field| field.kind).collect(),
            ..task.clone()
        }
    }

    /// The fields of an input to read, in the order of [`RecordFields::parse`].
    pub(super) fn values(&self, side: Side) -> Vec<ValueField> {
        let field = |path: &FieldPath, parameter, is_required| ValueField {
            path: path.clone(),
            parameter,
            is_required,
        };
        let id = field(&self.id, ValueField::ID, self.id_required);
        let compared = self.paths(side).map(|path| field(path, "fields", true));
        [id].into_iter().chain(compared).collect()
    }

    /// Parses the records of a chunk, which was read with [`RecordFields::values`]. A good record becomes a document whose
    /// tokens are the values of its fields.
    pub(crate) fn parse(&self, chunk: &Chunk, fields: &[ValueField]) -> (Vec<Record>, TokenBatch) {
        let mut records = Vec::new();
        let mut tokens = TokenBatch::default();
        for_each_record(chunk, fields, &mut |line, values| {
            let parsed = values.and_then(|values| {
                let [id, compared @ ..] = values else {
                    return Err("the record has no fields".to_owned());
                };
                let id = self.id(id.as_ref())?;
                for value in compared {
                    let text = value
                        .as_ref()
                        .map(|value| usual(&value.text, value.is_typed()));
                    tokens.push_token(text.unwrap_or_default().as_bytes());
                }
                tokens.finish_document();
                Ok(id)
            });
            records.push(match parsed {
                Ok(id) => Record::Document(id),
                Err(problem) => Record::Bad { line, problem },
            });
        });
        (records, tokens)
    }

    /// The id of a record.
    fn id(&self, value: Option<&Value<'_>>) -> Result<Id, String> {
        let id = value.map_or(Id::None, Value::to_id);
        id.checked(self.id_required, &format!("id field \"{}\"", self.id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (String, String, Option<Kind>) {
        let field: ComparedField = text.parse().unwrap();
        (field.a.flat(), field.b.flat(), field.kind)
    }

    #[test]
    fn a_field_has_a_name_in_each_input_and_a_kind() {
        let same = |name: &str, kind| (name.to_owned(), name.to_owned(), kind);
        for (text, expected) in [
            ("year", same("year", None)),
            ("dob:date", same("dob", Some(Kind::Date))),
            ("title=name", ("title".into(), "name".into(), None)),
            ("a.b=c:phone", ("a.b".into(), "c".into(), Some(Kind::Phone))),
            (r"a\=b\:c\,d", same("a=b:c,d", None)),
            (r"a\\=b", (r"a\".into(), "b".into(), None)),
            (r"a\b", same(r"a\b", None)),
            ("größe=🦀", ("größe".into(), "🦀".into(), None)),
        ] {
            assert_eq!(parsed(text), expected, "{text}");
        }
        let dotted: ComparedField = r"a\.b=x\\.y".parse().unwrap();
        assert_eq!(dotted.a, FieldPath::new(r"a\.b"));
        assert_eq!(dotted.b, FieldPath::new(r"x\\.y"));
    }

    #[test]
    fn what_is_no_field_is_refused() {
        for text in [
            "",
            "=",
            "a=",
            "=b",
            ":date",
            "a:",
            "a:day",
            "a=b=c",
            "a:date:phone",
            "a:date=b",
        ] {
            assert!(text.parse::<ComparedField>().is_err(), "{text}");
        }
    }
}
