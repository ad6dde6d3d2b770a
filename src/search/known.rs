//! What an index knows of a document.

/// A document of an index, as far as a search needs it.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct KnownDocument {
    /// Its id, as JSON.
    #[doc(hidden)]
    pub id: String,
    /// 128 bits of the digest of its text or tokens; `None` if it is blank.
    #[doc(hidden)]
    pub digest: Option<u128>,
    /// Whether it has shingles.
    #[doc(hidden)]
    pub has_shingles: bool,
    /// Its band keys, as far as it shares them with the documents that were looked up. The others are those of no document.
    #[doc(hidden)]
    pub keys: Vec<u64>,
    /// Its packed signature; empty unless signatures verify.
    #[doc(hidden)]
    pub signature: Vec<u64>,
    /// Its set of shingles; empty unless shingles verify.
    #[doc(hidden)]
    pub set: Vec<u64>,
}
