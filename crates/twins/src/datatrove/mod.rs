//! datatrove's signatures: the records of its first MinHash stage, byte for byte.
//!
//! A text becomes the words of its simplified form (`simplify`, `words`), whose runs are signed (`records`).
//! [`DocumentSigner`] does all three. Where datatrove asks Python's own tables or spaCy, it asks its caller, once per
//! character and per stretch of text.

mod records;

mod simplify;

mod words;

mod signer;

pub use records::{NamedHash, RecordLayout, sorted_records};
pub use signer::{Document, DocumentSigner, MinhashConfig, Obstacle};
pub use simplify::{Character, Simplification};
pub use words::{Cut, Tokenizer};

#[cfg(test)]
mod tests;
