//! Where a record holds what a run needs.

use crate::documents::{DocumentBatch, TextBatch, TokenBatch};

/// Where a record holds what is needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fields {
    /// The field of the text, or of the tokens; dots reach into objects.
    pub content: FieldPath,
    /// Whether that field is an array of tokens.
    pub is_tokens: bool,
    /// The field of the id.
    pub id: FieldPath,
    /// Whether a record without an id is bad; otherwise documents are then named by file and row.
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
    /// The default fields of texts, or of tokens.
    pub(crate) fn of_form(is_tokens: bool) -> Self {
        Fields {
            content: FieldPath::new(if is_tokens { "tokens" } else { "text" }),
            is_tokens,
            ..Fields::default()
        }
    }

    /// No documents yet, in the form that these fields give.
    pub(crate) fn empty_batch(&self) -> DocumentBatch {
        if self.is_tokens {
            DocumentBatch::Tokens(TokenBatch::default())
        } else {
            DocumentBatch::Texts(TextBatch::default())
        }
    }
}

/// A dotted path to a field: `a.b` is field `b` of the object in field `a`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldPath(Vec<String>);

impl FieldPath {
    /// The path as it is written.
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

/// What to do about a record that cannot be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnBadRecord {
    /// The run fails.
    #[default]
    Fail,
    /// The record is left out, counted and listed in the report.
    Skip,
}
