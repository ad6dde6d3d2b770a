//! What an index knows of a document.

/// A document of an index, as far as a search needs it.
#[derive(Clone, Debug)]
pub(crate) struct KnownDocument {
    /// Its id, as JSON.
    pub(crate) id: String,
    /// 128 bits of the digest of its text or tokens; `None` if it is blank.
    pub(crate) digest: Option<u128>,
    /// Whether it has shingles.
    pub(crate) has_shingles: bool,
    /// Its band keys, as far as it shares them with the documents that were looked up. The others are those of no document.
    pub(crate) keys: Vec<u64>,
    /// Its packed signature; empty unless signatures verify.
    pub(crate) signature: Vec<u64>,
    /// Its set of shingles; empty unless shingles verify.
    pub(crate) set: Vec<u64>,
}
