//! Reads the records to link: an id, and the values of some fields.

use crate::documents::TokenBatch;
use crate::io::Id;
use crate::io::usual;
use crate::io::{Chunk, Record};
use crate::io::{FieldPath, ValueField};
use crate::io::{Value, for_each_record};

/// The fields of the records to link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordFields {
    /// The fields that are compared. A value is a text, a number, a date, a time or a duration, of which each format has the
    /// same text; one that is missing or null is empty. A column of a table must exist.
    pub compared: Vec<FieldPath>,
    /// The field of the id; default `id`.
    pub id: FieldPath,
    /// Whether a record without an id is a bad record; default false: if any record lacks an id, all ids are
    /// `file:row`.
    pub id_required: bool,
}

impl RecordFields {
    /// Records with these fields, whose id is in the field `id`.
    pub fn new(compared: Vec<FieldPath>) -> Self {
        RecordFields {
            compared,
            id: FieldPath::new("id"),
            id_required: false,
        }
    }

    /// The fields to read, in the order of [`RecordFields::parse`].
    pub(crate) fn values(&self) -> Vec<ValueField> {
        let field = |path: &FieldPath, parameter, is_required| ValueField {
            path: path.clone(),
            parameter,
            is_required,
        };
        let id = field(&self.id, ValueField::ID, self.id_required);
        let compared = self.compared.iter().map(|path| field(path, "fields", true));
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
