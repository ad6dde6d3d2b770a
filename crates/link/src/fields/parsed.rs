//! The names of fields as they are written: `A`, `A=B`, `A+B` and `A:KIND`.

use std::str::FromStr;

use crate::evidence::Kind;
use simgpu::error::Error;
use simgpu_io::FieldPath;

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

pub(super) fn refused(name: &'static str, value: &str, expected: &str) -> Error {
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
