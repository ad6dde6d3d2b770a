//! The field by which documents are preferred.

use crate::fields::FieldPath;

/// The field whose value decides which document of a cluster is kept.
///
/// ```
/// use simgpu_io::KeepBy;
///
/// let newest = KeepBy::new("meta.date");
/// let shortest = KeepBy::new("length:asc");
/// assert!(!newest.smallest && shortest.smallest);
/// assert_eq!(shortest.to_string(), "length:asc");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeepBy {
    /// The field.
    pub field: FieldPath,
    /// Whether the smallest value is kept; otherwise the largest.
    pub smallest: bool,
}

impl KeepBy {
    /// Parses `FIELD`, `FIELD:desc` (the largest value is kept) or `FIELD:asc` (the smallest). `FIELD` is a
    /// dotted path ([`FieldPath::new`]).
    pub fn new(text: &str) -> Self {
        let (field, smallest) = match (text.strip_suffix(":asc"), text.strip_suffix(":desc")) {
            (Some(field), _) => (field, true),
            (None, Some(field)) => (field, false),
            (None, None) => (text, false),
        };
        KeepBy {
            field: FieldPath::new(field),
            smallest,
        }
    }
}

impl std::fmt::Display for KeepBy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let order = if self.smallest { "asc" } else { "desc" };
        write!(f, "{}:{order}", self.field)
    }
}
