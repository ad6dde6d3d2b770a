//! What is cut out of documents.

use std::ops::Range;

/// What is cut out of documents, and which are removed.
#[derive(Clone, Debug, Default)]
#[doc(hidden)]
pub struct Cuts {
    /// Bytes of the texts.
    cuts: Vec<[u32; 2]>,
    /// Where the cuts of each document end.
    ends: Vec<usize>,
    is_removed: Vec<bool>,
    /// Bytes of passages that stay in documents that stay: parts of words, lines or characters.
    pub(crate) uncut: u64,
}

impl Cuts {
    /// Adds the next document.
    #[doc(hidden)]
    pub fn push(&mut self, cuts: impl IntoIterator<Item = Range<usize>>) {
        #[allow(
            clippy::cast_possible_truncation,
            reason = "a text has less than 4 GiB"
        )]
        let packed = cuts
            .into_iter()
            .map(|cut| [cut.start as u32, cut.end as u32]);
        self.cuts.extend(packed);
        self.ends.push(self.cuts.len());
        self.is_removed.push(false);
    }

    /// Adds the next document, which is removed.
    #[doc(hidden)]
    pub fn push_dropped(&mut self) {
        self.ends.push(self.cuts.len());
        self.is_removed.push(true);
    }

    /// What is cut out of a document.
    pub(crate) fn cut_out(&self, document: usize) -> &[[u32; 2]] {
        let start = document
            .checked_sub(1)
            .map_or(0, |before| self.ends[before]);
        &self.cuts[start..self.ends[document]]
    }

    pub(crate) fn is_removed(&self, document: usize) -> bool {
        self.is_removed[document]
    }

    /// The number of documents.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The bytes that are cut out of documents that stay.
    pub(crate) fn bytes(&self) -> u64 {
        self.cuts
            .iter()
            .map(|[start, end]| u64::from(end - start))
            .sum()
    }
}

/// Bytes of spans outside of the cuts; both ascend.
pub(crate) fn uncut(spans: &[Range<usize>], cuts: &[Range<usize>]) -> u64 {
    let mut cuts = cuts.iter().peekable();
    let uncut_of = |span: &Range<usize>| {
        let mut bytes = span.len();
        while cuts.next_if(|cut| cut.end <= span.start).is_some() {}
        while let Some(cut) = cuts.peek().filter(|cut| cut.start < span.end) {
            bytes -= cut.end.min(span.end) - cut.start.max(span.start);
            if cut.end > span.end {
                break;
            }
            cuts.next();
        }
        bytes as u64
    };
    spans.iter().map(uncut_of).sum()
}
