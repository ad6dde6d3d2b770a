//! Reads the records to link: an id, and the values of some fields.

use std::borrow::Cow;
use std::str::FromStr;

use crate::evidence::Kind;
use crate::parameters::Link;
use simgpu::documents::TokenBatch;
use simgpu::error::Error;
use simgpu_io::Id;
use simgpu_io::usual;
use simgpu_io::{Chunk, Record};
use simgpu_io::{FieldPath, ValueField};
use simgpu_io::{Value, for_each_record};

/// A field that is compared.
///
/// Parsed from `A`, `A=B` or `A=B:KIND`: its path in the first input, in the second one where it differs, and the kind of its
/// values where it is set. `A1+A2` is a field that an input has in parts: their values are joined by a blank. A backslash
/// before `=`, `:`, `,` or `+` makes it a part of the path.
///
/// ```
/// use simgpu_io::FieldPath;
/// use simgpu_link::{ComparedField, Kind};
///
/// let field: ComparedField = "first+last=name:text".parse()?;
/// assert_eq!(field.a, ["first", "last"].map(FieldPath::new));
/// assert_eq!(field.b, [FieldPath::new("name")]);
/// assert_eq!(field.kind, Some(Kind::Text));
/// # Ok::<(), simgpu::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparedField {
    /// The paths of its parts in the first input, or the only one: results call the field by them.
    pub a: Vec<FieldPath>,
    /// The paths of its parts in the second input.
    pub b: Vec<FieldPath>,
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
            a: vec![path.clone()],
            b: vec![path],
            kind: None,
        }
    }
}

/// The field of the id in each input.
///
/// Parsed from `A` or `A=B`: its path in the first input, and in the second one where it differs. A backslash before `=` makes
/// it a part of the path.
///
/// ```
/// use simgpu_link::IdFields;
///
/// let id: IdFields = "customer_id=id".parse()?;
/// assert_eq!((id.a.to_string(), id.b.to_string()), ("customer_id".to_owned(), "id".to_owned()));
/// # Ok::<(), simgpu::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdFields {
    /// Its path in the first input, or the only one.
    pub a: FieldPath,
    /// Its path in the second input.
    pub b: FieldPath,
}

impl From<FieldPath> for IdFields {
    fn from(path: FieldPath) -> Self {
        IdFields {
            a: path.clone(),
            b: path,
        }
    }
}

impl FromStr for IdFields {
    type Err = Error;

    /// # Errors
    /// [`Error::Parameter`] for a second `=`. A path may be empty: pandas writes a column without a name.
    fn from_str(text: &str) -> Result<Self, Error> {
        let path = |escaped: &str| FieldPath::new(&unescaped(escaped));
        match &split(text, '=')[..] {
            [both] => Ok(path(both).into()),
            [a, b] => Ok(IdFields {
                a: path(a),
                b: path(b),
            }),
            _ => Err(refused("`id_field`", text, ONE_EQUALS)),
        }
    }
}

const ONE_EQUALS: &str = "one = at most; write \\= where it is part of a name";

fn refused(name: &'static str, value: &str, expected: &str) -> Error {
    Error::Parameter {
        name,
        value: format!("{value:?}"),
        expected: expected.to_owned(),
    }
}

impl FromStr for ComparedField {
    type Err = Error;

    /// # Errors
    /// [`Error::Parameter`] for an empty path, a part that is named twice, a second `=` or `:`, and a kind that there is not.
    fn from_str(text: &str) -> Result<Self, Error> {
        let refused = |expected: &str| refused("`fields`", text, expected);
        let parts = |escaped: &str| {
            let mut paths: Vec<FieldPath> = Vec::new();
            for part in split(escaped, '+') {
                let part = unescaped(part);
                let path = FieldPath::new(&part);
                if part.is_empty() {
                    return Err(refused(if escaped.is_empty() {
                        "the name of a field on each side of ="
                    } else {
                        "the name of a field on each side of +; write \\+ where it is part of a name"
                    }));
                }
                if paths.contains(&path) {
                    return Err(refused("each field once"));
                }
                paths.push(path);
            }
            Ok(paths)
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
            [both] => (parts(both)?, parts(both)?),
            [a, b] => (parts(a)?, parts(b)?),
            _ => return Err(refused(ONE_EQUALS)),
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
    pub id: IdFields,
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

/// A path as [`FieldPath::new`] takes it: without the backslashes of `=`, `:`, `,` and `+`.
fn unescaped(text: &str) -> String {
    let mut path = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, letters.peek()) {
            ('\\', Some('=' | ':' | ',' | '+')) => {}
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
pub(crate) enum Side {
    A,
    B,
}

impl RecordFields {
    /// Records with these fields, whose id is in the field `id`.
    pub fn new(compared: impl IntoIterator<Item: Into<ComparedField>>) -> Self {
        RecordFields {
            compared: compared.into_iter().map(Into::into).collect(),
            id: FieldPath::new("id").into(),
            id_required: false,
        }
    }

    /// Refuses names of a second input where there is one input only.
    pub(crate) fn check(&self, has_two_inputs: bool) -> Result<(), Error> {
        let differ = |name, a: &[FieldPath], b: &[FieldPath]| {
            let names = [a, b].map(|paths| joined(paths, FieldPath::to_string));
            let expected = "one name with one input: the name after = is that of the second input";
            Err(refused(name, &names.join("="), expected))
        };
        let mut compared = self.compared.iter();
        match compared.find(|field| field.a != field.b) {
            _ if has_two_inputs => Ok(()),
            Some(ComparedField { a, b, .. }) => differ("`fields`", a, b),
            None if self.id.a != self.id.b => {
                let [a, b] = [&self.id.a, &self.id.b].map(std::slice::from_ref);
                differ("`id_field`", a, b)
            }
            None => Ok(()),
        }
    }

    /// The field of the id in an input.
    pub(crate) fn id_path(&self, side: Side) -> &FieldPath {
        match side {
            Side::A => &self.id.a,
            Side::B => &self.id.b,
        }
    }

    /// The paths of the parts of each compared field in an input.
    pub(crate) fn paths(&self, side: Side) -> impl Iterator<Item = &[FieldPath]> {
        self.compared.iter().map(move |field| match side {
            Side::A => &*field.a,
            Side::B => &*field.b,
        })
    }

    /// The parameters of a search by these fields, with their kinds and what `name` calls their parts.
    pub(crate) fn task(&self, task: &Link, name: fn(&FieldPath) -> String) -> Link {
        Link {
            field_names: self
                .paths(Side::A)
                .map(|paths| joined(paths, name))
                .collect(),
            field_kinds: self.compared.iter().map(|field| field.kind).collect(),
            ..task.clone()
        }
    }

    /// The fields of an input to read, in the order of [`RecordFields::parse`].
    pub(crate) fn values(&self, side: Side) -> Vec<ValueField> {
        let id = ValueField {
            path: self.id_path(side).clone(),
            parameter: ValueField::ID,
            hint: "; A=B names the one of each of two inputs",
            is_required: self.id_required,
        };
        let compared = self.paths(side).flatten().map(|path| ValueField {
            path: path.clone(),
            parameter: "fields",
            hint: "; A=C compares column A of the first input with column C of the second, and A+B=C columns A and B, joined",
            is_required: true,
        });
        [id].into_iter().chain(compared).collect()
    }

    /// Parses the records of a chunk of an input, which was read with [`RecordFields::values`]. A good record becomes a
    /// document whose tokens are the values of its fields.
    pub(crate) fn parse(
        &self,
        chunk: &Chunk,
        side: Side,
        fields: &[ValueField],
    ) -> (Vec<Record>, TokenBatch) {
        let mut records = Vec::new();
        let mut tokens = TokenBatch::default();
        for_each_record(chunk, fields, &mut |line, values| {
            let parsed = values.and_then(|values| {
                let Some((id, mut parts)) = values.split_first() else {
                    return Err("the record has no fields".to_owned());
                };
                let id = self.id(id.as_ref(), side)?;
                for paths in self.paths(side) {
                    let field_parts;
                    (field_parts, parts) = parts.split_at(paths.len());
                    tokens.push_token(text_of(field_parts).as_bytes());
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
    fn id(&self, value: Option<&Value<'_>>, side: Side) -> Result<Id, String> {
        let id = value.map_or(Id::None, Value::to_id);
        let name = self.id_path(side);
        id.checked(self.id_required, &format!("id field \"{name}\""))
    }
}

/// The text of a field that has these parts: empty if none has a value.
fn text_of<'a>(parts: &'a [Option<Value<'_>>]) -> Cow<'a, str> {
    let mut texts = parts.iter().flatten();
    let mut next = || {
        let value = texts.next()?;
        Some(usual(&value.text, value.is_typed()))
    };
    let mut text = next().unwrap_or_default();
    while let Some(part) = next() {
        let joined = text.to_mut();
        joined.push(' ');
        joined.push_str(&part);
    }
    text
}

/// What results call a field of these parts.
pub(crate) fn joined(paths: &[FieldPath], name: impl Fn(&FieldPath) -> String) -> String {
    paths.iter().map(name).collect::<Vec<_>>().join("+")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parts of each side, with | between them, and the kind.
    fn parsed(text: &str) -> (String, String, Option<Kind>) {
        let field: ComparedField = text.parse().unwrap();
        let flat = |paths: &[FieldPath]| {
            let names: Vec<String> = paths.iter().map(FieldPath::flat).collect();
            names.join("|")
        };
        (flat(&field.a), flat(&field.b), field.kind)
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
            (
                "first+last=name",
                ("first|last".into(), "name".into(), None),
            ),
            (
                r"a\+b+c.d=e+f:text",
                ("a+b|c.d".into(), "e|f".into(), Some(Kind::Text)),
            ),
        ] {
            assert_eq!(parsed(text), expected, "{text}");
        }
        let dotted: ComparedField = r"a\.b=x\\.y".parse().unwrap();
        assert_eq!(dotted.a, [FieldPath::new(r"a\.b")]);
        assert_eq!(dotted.b, [FieldPath::new(r"x\\.y")]);
    }

    #[test]
    fn an_id_has_a_name_in_each_input() {
        for (text, [a, b]) in [
            ("key", ["key", "key"]),
            ("customer_id=id", ["customer_id", "id"]),
            (r"a\=b", ["a=b", "a=b"]),
            ("dc:id+x=a,b", ["dc:id+x", "a,b"]),
            ("", ["", ""]),
            ("=b", ["", "b"]),
        ] {
            let id: IdFields = text.parse().unwrap();
            assert_eq!([id.a.flat(), id.b.flat()], [a, b], "{text}");
        }
        assert!("a=b=c".parse::<IdFields>().is_err());
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
            "a+",
            "+a=b",
            "a=b++c",
            "a+b+a",
        ] {
            assert!(text.parse::<ComparedField>().is_err(), "{text}");
        }
    }
}
