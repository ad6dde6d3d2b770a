//! The fields of a record that a run reads.

use super::format::Format;
use super::refusal::Refusal;
use simgpu::documents::{DocumentBatch, TextBatch, TokenBatch, WeightedBatch};
use simgpu::error::{Error, Result};
use simgpu::scheme::WeightScale;

/// The fields of a record that a run reads.
///
/// ```
/// use simgpu_io::{FieldPath, Fields};
///
/// let content = ["title", "body.text"].map(FieldPath::new).to_vec();
/// let fields = Fields { content, ..Fields::default() };
/// assert_eq!(fields.id.to_string(), "id");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fields {
    /// The fields of the text, or the one field of the tokens; default `text`.
    ///
    /// The text of a record is the text of these fields, joined by line breaks. Fields that are missing, null
    /// or empty are left out; a record in which all are missing or null is a bad record. A table must have one of
    /// these columns, and each column that a table lacks must be a field of another input.
    pub content: Vec<FieldPath>,
    /// Whether `content` is an array of tokens instead of a text; default false.
    pub is_tokens: bool,
    /// The weights of the tokens; default `None`.
    pub weights: Option<WeightsField>,
    /// The field of the id; default `id`.
    pub id: FieldPath,
    /// Whether a record without an id is a bad record; default false: if any record lacks an id, all ids are
    /// `file:row`.
    pub id_required: bool,
}

/// The field of the weights: an array of as many numbers as there are tokens, from 0 on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeightsField {
    /// The field.
    pub path: FieldPath,
    /// The scale of the shingling ([`Weighting::Given`](simgpu::pipeline::Weighting::Given)): a record with too many copies
    /// is a bad record.
    pub scale: WeightScale,
}

impl WeightsField {
    /// Refuses weights that are none, or too large.
    pub(super) fn check(&self, weights: &[f64]) -> std::result::Result<(), String> {
        let problem = self.scale.problem_in(weights.iter().copied());
        problem.map_or(Ok(()), |problem| {
            Err(format!("field \"{}\": {problem}", self.path))
        })
    }
}

impl Default for Fields {
    fn default() -> Self {
        Fields {
            content: vec![FieldPath::new("text")],
            is_tokens: false,
            weights: None,
            id: FieldPath::new("id"),
            id_required: false,
        }
    }
}

impl Fields {
    /// The default fields for texts, or for tokens.
    #[doc(hidden)]
    pub fn for_form(is_tokens: bool) -> Self {
        Fields {
            content: vec![FieldPath::new(if is_tokens { "tokens" } else { "text" })],
            is_tokens,
            ..Fields::default()
        }
    }

    /// Refuses a number of fields that cannot be read.
    pub(crate) fn check(&self) -> Result<()> {
        if self.content.is_empty() || self.is_tokens && self.content.len() > 1 {
            return Err(Error::Parameter {
                name: "content",
                value: format!("{:?}", self.content_names()),
                expected: if self.is_tokens {
                    "one field with tokens".to_owned()
                } else {
                    "at least one field with text".to_owned()
                },
            });
        }
        Ok(())
    }

    /// The names of the fields of the content, separated by commas.
    #[doc(hidden)]
    pub fn content_names(&self) -> String {
        let names: Vec<String> = self.content.iter().map(FieldPath::to_string).collect();
        names.join(", ")
    }

    /// An empty batch for texts or for tokens.
    #[doc(hidden)]
    pub fn empty_batch(&self) -> DocumentBatch {
        if self.weights.is_some() {
            DocumentBatch::Weighted(WeightedBatch::default())
        } else if self.is_tokens {
            DocumentBatch::Tokens(TokenBatch::default())
        } else {
            DocumentBatch::Texts(TextBatch::default())
        }
    }
}

/// A field whose value a run reads as it is, instead of a document.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct ValueField {
    #[doc(hidden)]
    pub path: FieldPath,
    /// The parameter that names the field, for messages.
    #[doc(hidden)]
    pub parameter: &'static str,
    /// More about this parameter, which the error of a missing column ends with; empty if there is nothing to say.
    #[doc(hidden)]
    pub hint: &'static str,
    /// Whether a file without the column is refused.
    #[doc(hidden)]
    pub is_required: bool,
}

impl ValueField {
    /// The parameter that names the field of the id.
    #[doc(hidden)]
    pub const ID: &'static str = "id_field";

    /// The parameter that names both fields of a pair of ids.
    #[doc(hidden)]
    pub const IDS: &'static str = "truth_fields";

    /// The parameter that names the field of the entity, which has an id, too.
    #[doc(hidden)]
    pub const ENTITY: &'static str = "entity_field";

    /// The parameter of the parts of items, which may be lists of texts.
    #[doc(hidden)]
    pub const ITEMS: &'static str = "item_fields";

    /// The refusal of a file without the column of this field, which lacks those of the `others`, too.
    pub(super) fn refused<'f>(
        &self,
        refusal: Refusal,
        others: impl Iterator<Item = &'f ValueField>,
    ) -> Refusal {
        let missing = self.missing_too("column", others);
        refusal.with_hint(&missing).with_hint(self.hint)
    }

    /// Which other fields are missing, too, to end a message with that says that this one is.
    pub(super) fn missing_too<'f>(
        &self,
        kind: &str,
        others: impl Iterator<Item = &'f ValueField>,
    ) -> String {
        let others = others.map(|other| {
            let (path, parameter) = (&other.path, other.parameter);
            let choose = if parameter == self.parameter {
                String::new()
            } else {
                format!(": choose it with `{parameter}`")
            };
            format!("; {kind} \"{path}\" is not there either{choose}")
        });
        others.collect()
    }

    /// Whether a record that lacks the field is bad, in formats whose records have different fields. Records to link may
    /// lack a value, and so may those of which the entity is not known.
    pub(super) fn is_in_each_record(&self) -> bool {
        const FIELDS: [&str; 7] = [
            ValueField::ID,
            ValueField::IDS,
            ValueField::ITEMS,
            "user_field",
            "item_field",
            "rating_field",
            "time_field",
        ];
        self.is_required && FIELDS.contains(&self.parameter)
    }

    /// Whether its values may be lists of texts.
    pub(super) fn takes_lists(&self) -> bool {
        self.parameter == ValueField::ITEMS
    }

    /// Whether its values are ids.
    pub(super) fn is_id(&self) -> bool {
        [ValueField::ID, ValueField::IDS, ValueField::ENTITY].contains(&self.parameter)
    }
}

/// What to read of each record.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub enum Wanted<'a> {
    /// A document.
    Document(&'a Fields),
    /// The values of these fields.
    Values(&'a [ValueField]),
}

impl Wanted<'_> {
    /// Refuses a number of fields that cannot be read.
    pub(super) fn check(&self) -> Result<()> {
        match self {
            Wanted::Document(fields) => fields.check(),
            Wanted::Values(_) => Ok(()),
        }
    }

    /// Whether files of this format lack what is wanted: why, and the remedy.
    pub(super) fn refusal_of(&self, format: Format) -> Option<Refusal> {
        match self {
            Wanted::Document(fields) if fields.is_tokens => format.without_tokens().map(|kind| {
                let remedy =
                    "choose another `unit`, or give lists of tokens in JSON, Parquet or Arrow";
                Refusal::new(format!("a {kind} file holds no tokens"), remedy)
            }),
            Wanted::Values(_) if format == Format::Text => Some(Refusal::new(
                "a text file has no fields",
                "give records in CSV, JSON, Parquet or Arrow",
            )),
            Wanted::Document(_) | Wanted::Values(_) => None,
        }
    }
}

/// A message about the fields of the inputs, for those of a reference: other parameters name them.
pub(super) fn for_reference(message: &str) -> String {
    let message = message.replace("`text_field`", "`against_text_field`");
    message.replace("`id_field`", "`against_id_field`")
}

/// Joins the texts of the fields of a record: a line break between each two that are not empty.
pub(super) fn push_joined(text: &mut String, start: usize, part: &str) {
    if !part.is_empty() {
        if text.len() > start {
            text.push('\n');
        }
        text.push_str(part);
    }
}

/// A dotted path to a field: `a.b` is the field `b` of the object in field `a`.
///
/// A backslash makes a dot part of a name: `a\.b` is the field `a.b`. Two backslashes are one. CSV has no
/// objects, so there `a.b` is the column `a.b`, too.
///
/// ```
/// use simgpu_io::FieldPath;
///
/// assert_ne!(FieldPath::new(r"a\.b"), FieldPath::new("a.b"));
/// assert_eq!(FieldPath::new(r"a\.b").to_string(), r"a\.b");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldPath(Vec<String>);

impl FieldPath {
    /// Parses a dotted path.
    pub fn new(dotted: &str) -> Self {
        let mut segments = vec![String::new()];
        let mut letters = dotted.chars().peekable();
        while let Some(letter) = letters.next() {
            let escaped = (letter == '\\')
                .then(|| letters.next_if(|next| matches!(next, '.' | '\\')))
                .flatten();
            match (escaped, segments.last_mut()) {
                (None, _) if letter == '.' => segments.push(String::new()),
                (escaped, Some(last)) => last.push(escaped.unwrap_or(letter)),
                (_, None) => {}
            }
        }
        FieldPath(segments)
    }

    /// The field of this name, dots included.
    #[doc(hidden)]
    pub fn from_name(name: &str) -> Self {
        FieldPath(vec![name.to_owned()])
    }

    pub(crate) fn segments(&self) -> &[String] {
        &self.0
    }

    /// The name of the column in a table without structs.
    pub fn flat(&self) -> String {
        self.0.join(".")
    }
}

impl std::fmt::Display for FieldPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let escaped = |segment: &String| segment.replace('\\', r"\\").replace('.', r"\.");
        let segments: Vec<String> = self.0.iter().map(escaped).collect();
        f.write_str(&segments.join("."))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backslash_escapes_a_dot() {
        for (dotted, segments) in [
            ("a.b", &["a", "b"][..]),
            (r"a\.b", &["a.b"]),
            (r"a\.b.c", &["a.b", "c"]),
            (r"a\\.b", &[r"a\", "b"]),
            (r"a\b", &[r"a\b"]),
            (r"a\", &[r"a\"]),
            ("", &[""]),
            (".", &["", ""]),
        ] {
            let path = FieldPath::new(dotted);
            assert_eq!(path.segments(), segments, "{dotted}");
            assert_eq!(FieldPath::new(&path.to_string()), path, "{dotted}");
        }
    }
}
