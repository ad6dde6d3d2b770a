//! Reads the records to link: an id, and the values of some fields.

mod parsed;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use self::parsed::refused;
pub use self::parsed::{ComparedField, IdFields};
use crate::parameters::Link;
use simgpu::documents::TokenBatch;
use simgpu::error::Error;
use simgpu_io::{Chunk, FieldPath, Id, Record, Value, ValueField, for_each_record, usual};

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
            let expected = format!(
                "one name with one input, such as {}: the name after = is that of the second input",
                names[0]
            );
            Err(refused(name, &names.join("="), &expected))
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
