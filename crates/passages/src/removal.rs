//! Which documents are removed: those of which too much is passages.

use std::ops::Range;

use super::items::{Match, spans};
use super::run::{PassageAction, PassagesRun};
use super::units::UnitTexts;

/// Why a document is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RemovalReason {
    /// More of it than `max_covered` is passages.
    MaxCovered,
    /// Fewer units than `min_left` would be left.
    MinLeft,
}

impl RemovalReason {
    /// The name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            RemovalReason::MaxCovered => "max_covered",
            RemovalReason::MinLeft => "min_left",
        }
    }
}

/// A document that is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RemovedDocument {
    /// Its number among all documents.
    pub(crate) row: usize,
    pub(crate) why: RemovalReason,
    /// Bytes of its text.
    pub(crate) bytes: usize,
    /// Bytes of its passages.
    pub(crate) covered_bytes: usize,
}

/// Decides which documents are removed.
pub(crate) struct RemovalRule<'a> {
    run: &'a PassagesRun<'a>,
    texts: &'a UnitTexts,
    /// The number of the first of these texts among all documents.
    row: usize,
}

impl<'a> RemovalRule<'a> {
    pub(crate) fn new(run: &'a PassagesRun<'a>, texts: &'a UnitTexts, row: usize) -> Self {
        RemovalRule { run, texts, row }
    }

    /// A document with these passages, if it is removed.
    pub(crate) fn removed(&self, document: usize, pieces: &[Match]) -> Option<RemovedDocument> {
        if pieces.is_empty() || !self.run.may_remove_documents() {
            return None;
        }
        let stride = self.run.units.stride();
        let (mut covered_bytes, mut covered_units) = (0, 0);
        for span in spans(pieces, |symbol| self.texts.ends_run(symbol)) {
            let Range { start, end } = span.clone();
            let [first, last] =
                [start, end - 1].map(|symbol| self.texts.bytes_of_symbol(document, symbol));
            covered_bytes += last.end - first.start;
            covered_units += span.len().div_ceil(stride);
        }
        let bytes = self.texts.text(document).len();
        let left = self.texts.units_of(document, self.run.units) - covered_units;
        let why = match self.run.action {
            PassageAction::Drop { max_covered }
                if covered_bytes as f64 > max_covered * bytes as f64 =>
            {
                RemovalReason::MaxCovered
            }
            _ if self
                .run
                .min_left
                .is_some_and(|least| (left as u64) < least.get()) =>
            {
                RemovalReason::MinLeft
            }
            _ => return None,
        };
        Some(RemovedDocument {
            row: self.row + document,
            why,
            bytes,
            covered_bytes,
        })
    }
}
