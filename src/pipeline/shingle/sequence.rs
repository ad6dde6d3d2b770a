//! The tokens of one document in order, and the words of its shingles, as bytes.

/// The tokens of a document, encoded injectively as one byte string: different lists have different bytes.
#[derive(Debug, Default)]
pub(super) struct TokenSequence(Vec<u8>);

impl TokenSequence {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn as_slice(&self) -> &[u8] {
        &self.0
    }

    /// Appends the length of a token, then the token.
    pub(super) fn push(&mut self, token: &[u8]) {
        self.0.extend_from_slice(&length(token));
        self.0.extend_from_slice(token);
    }

    /// Appends a number, 8 bytes.
    pub(super) fn push_number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }
}

/// The length of a byte string, as bytes.
fn length(bytes: &[u8]) -> [u8; 8] {
    (bytes.len() as u64).to_le_bytes()
}

/// How the words of a shingle are joined to one byte string.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Join {
    /// By one space. Different shingles of words have different bytes, because no word holds a space.
    #[default]
    Space,
    /// Without a separator.
    Nothing,
    /// Each word follows its length, 8 bytes little-endian. Different shingles of any byte strings have different
    /// bytes.
    Lengths,
}

/// Joined words, for base hashes that read the bytes of a whole shingle.
#[derive(Debug, Default)]
pub(super) struct JoinedWords {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    join: Join,
}

impl JoinedWords {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.join = Join::Space;
    }

    /// Joins the following words in another way, until `clear`.
    pub(super) fn join_by(&mut self, join: Join) {
        self.join = join;
    }

    pub(super) fn push(&mut self, word: &[u8]) {
        match self.join {
            Join::Space if !self.ends.is_empty() => self.bytes.push(b' '),
            Join::Space | Join::Nothing => {}
            Join::Lengths => self.bytes.extend_from_slice(&length(word)),
        }
        self.bytes.extend_from_slice(word);
        self.ends.push(self.bytes.len());
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn span(&self, words: std::ops::Range<usize>) -> &[u8] {
        let start = if words.start == 0 {
            0
        } else {
            self.ends[words.start - 1] + usize::from(self.join == Join::Space)
        };
        &self.bytes[start..self.ends[words.end - 1]]
    }

    /// All spans of `size` words. Fewer words make one span, no words make none.
    pub(super) fn spans(&self, size: usize) -> impl Iterator<Item = &[u8]> {
        let size = size.min(self.len());
        let firsts = if size == 0 { 0 } else { self.len() - size + 1 };
        (0..firsts).map(move |first| self.span(first..first + size))
    }
}
