//! The fields of a record that a run reads.

use crate::documents::{DocumentBatch, TextBatch, TokenBatch};

/// The fields of a record that a run reads.
///
/// ```
/// use simgpu::io::{FieldPath, Fields};
///
/// let fields = Fields { content: FieldPath::new("body.text"), ..Fields::default() };
/// assert_eq!(fields.id.to_string(), "id");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fields {
    /// The field of the text or tokens; default `text`.
    pub content: FieldPath,
    /// Whether `content` is an array of tokens instead of a text; default false.
    pub is_tokens: bool,
    /// The field of the id; default `id`.
    pub id: FieldPath,
    /// Whether a record without an id is a bad record; default false: if any record lacks an id, all ids are
    /// `file:row`.
    pub id_required: bool,
}

impl Default for Fields {
    fn default() -> Self {
        Fields {
            content: FieldPath::new("text"),
            is_tokens: false,
            id: FieldPath::new("id"),
            id_required: false,
        }
    }
}

impl Fields {
    /// The default fields for texts, or for tokens.
    pub(crate) fn of_form(is_tokens: bool) -> Self {
        Fields {
            content: FieldPath::new(if is_tokens { "tokens" } else { "text" }),
            is_tokens,
            ..Fields::default()
        }
    }

    /// An empty batch for texts or for tokens.
    pub(crate) fn empty_batch(&self) -> DocumentBatch {
        if self.is_tokens {
            DocumentBatch::Tokens(TokenBatch::default())
        } else {
            DocumentBatch::Texts(TextBatch::default())
        }
    }
}

/// A dotted path to a field: `a.b` is the field `b` of the object in field `a`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldPath(Vec<String>);

impl FieldPath {
    /// Parses a dotted path.
    pub fn new(dotted: &str) -> Self {
        FieldPath(dotted.split('.').map(str::to_owned).collect())
    }

    pub(crate) fn segments(&self) -> &[String] {
        &self.0
    }
}

impl std::fmt::Display for FieldPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.join("."))
    }
}

/// What a run does with a bad record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnBadRecord {
    /// Fail the run.
    #[default]
    Fail,
    /// Leave out the record, count it, and list it in the report.
    Skip,
}
