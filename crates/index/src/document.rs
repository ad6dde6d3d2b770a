//! What an index keeps of a document.

use std::fmt;

use simgpu::documents::digest;

/// The id of a document in an index: a string or a number, as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DocumentId(String);

impl DocumentId {
    /// The id that a value of JSON is, as records have it; `None` unless it is a string or a number.
    #[must_use]
    pub fn from_json(json: &str) -> Option<Self> {
        match serde_json::from_str(json).ok()? {
            serde_json::Value::String(text) => Some(DocumentId::from(&*text)),
            serde_json::Value::Number(_) => Some(DocumentId(json.trim().to_owned())),
            _ => None,
        }
    }

    /// The id as JSON: a string in quotes, or a number.
    #[must_use]
    pub fn as_json(&self) -> &str {
        &self.0
    }

    /// What stands for the id in the table of ids.
    pub(super) fn key(&self) -> [u8; 16] {
        digest(self.0.as_bytes()).to_be_bytes()
    }
}

impl From<&str> for DocumentId {
    fn from(text: &str) -> Self {
        DocumentId(serde_json::Value::from(text).to_string())
    }
}

impl From<u64> for DocumentId {
    fn from(number: u64) -> Self {
        DocumentId(number.to_string())
    }
}

impl fmt::Display for DocumentId {
    /// A string without quotes, or a number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match serde_json::from_str::<String>(&self.0) {
            Ok(text) => f.write_str(&text),
            Err(_) => f.write_str(&self.0),
        }
    }
}

/// What the table of documents has of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(super) id: DocumentId,
    /// 128 bits of the digest of its text or tokens; `None` if it is blank.
    pub(super) digest: Option<u128>,
    /// Whether it has shingles, and so stands in all bands.
    pub(super) has_shingles: bool,
    /// Its packed signature; empty if none is kept.
    pub(super) signature: Vec<u64>,
}

/// Bits of the first byte of a record.
const IS_BLANK: u8 = 1;
const HAS_SHINGLES: u8 = 2;

impl Record {
    /// A byte of flags, the digest unless the document is blank, the id, and the words of the signature: all have as many, so that
    /// what stands before them is the id.
    pub(super) fn encode(&self) -> Vec<u8> {
        let id = self.id.0.as_bytes();
        let mut bytes = Vec::with_capacity(32 + id.len() + 8 * self.signature.len());
        let blank = if self.digest.is_none() { IS_BLANK } else { 0 };
        let shingles = if self.has_shingles { HAS_SHINGLES } else { 0 };
        bytes.push(blank | shingles);
        bytes.extend(self.digest.iter().flat_map(|digest| digest.to_le_bytes()));
        bytes.extend(id);
        bytes.extend(self.signature.iter().flat_map(|word| word.to_le_bytes()));
        bytes
    }

    /// The record of these bytes, with a signature of so many words or none; `None` if they are no record.
    pub(super) fn decode(bytes: &[u8], words: usize) -> Option<Self> {
        let (flags, bytes) = bytes.split_first()?;
        if flags & !(IS_BLANK | HAS_SHINGLES) != 0 {
            return None;
        }
        let (digest, bytes) = match flags & IS_BLANK {
            0 => {
                let (digest, bytes) = bytes.split_first_chunk()?;
                (Some(u128::from_le_bytes(*digest)), bytes)
            }
            _ => (None, bytes),
        };
        let (id, signature) = bytes.split_at_checked(bytes.len().checked_sub(8 * words)?)?;
        Some(Record {
            id: DocumentId::from_json(std::str::from_utf8(id).ok()?)?,
            digest,
            has_shingles: flags & HAS_SHINGLES != 0,
            signature: words_of(signature),
        })
    }
}

/// The words of bytes.
pub(super) fn words_of(bytes: &[u8]) -> Vec<u64> {
    let words = bytes.chunks_exact(8);
    let word = |bytes: &[u8]| {
        bytes
            .iter()
            .rev()
            .fold(0, |word, byte| word << 8 | u64::from(*byte))
    };
    words.map(word).collect()
}

/// The bytes of words.
pub(super) fn bytes_of(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn records_are_read_as_they_were_written(
            id in ".*", digest: Option<u128>, has_shingles: bool, signature in prop::collection::vec(any::<u64>(), 0..4),
        ) {
            let record = Record { id: DocumentId::from(&*id), digest, has_shingles, signature };
            let bytes = record.encode();
            prop_assert_eq!(Record::decode(&bytes, record.signature.len()), Some(record.clone()));
            prop_assert_eq!(words_of(&bytes_of(&record.signature)), record.signature);
        }

        #[test]
        fn any_bytes_are_a_record_or_none(bytes in prop::collection::vec(any::<u8>(), 0..60), words in 0usize..4) {
            let _ = Record::decode(&bytes, words);
        }
    }

    #[test]
    fn ids_are_strings_or_numbers() {
        for (json, shown) in [
            ("\"a\\u0062\"", "ab"),
            ("12", "12"),
            ("-1.50", "-1.50"),
            ("\"12\"", "12"),
        ] {
            assert_eq!(DocumentId::from_json(json).unwrap().to_string(), shown);
        }
        assert_eq!(
            DocumentId::from_json("\"\\u0061\""),
            Some(DocumentId::from("a"))
        );
        assert_eq!(DocumentId::from_json("12"), Some(DocumentId::from(12)));
        assert_ne!(DocumentId::from_json("12"), DocumentId::from_json("\"12\""));
        for json in ["", "null", "true", "[1]", "{}", "a"] {
            assert_eq!(DocumentId::from_json(json), None);
        }
    }
}
