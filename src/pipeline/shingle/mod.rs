//! Cuts documents into shingle sets (MMDS 3.2).
//!
//! The shingles of a document are its windows of `size` consecutive units, hashed to 32 or 64 bits. A set is a
//! list in text order. It keeps repeats: they change no minimum, and removing them costs more than signing them. With
//! [`Weighting::Counts`], the repeats of a shingle become its copies.
//!
//! **Repeats stay.** A third of the nine-byte windows of long English texts are repeats, and a table in the cache
//! would find most of them. But the table costs 1.5 to 2 ns per shingle, and signing costs 7.6 ns: to remove repeats
//! gained 2 to 8 % on long documents and lost 12 % on abstracts.

mod shingling;

mod normalise;

mod text_buffer;

mod word_class;

mod runs;

mod words;

mod stop_words;

mod pieces;

mod code;

mod places;

mod sequence;

mod occurrences;

mod repeats;

mod rarity;

mod scratch;

mod hash;

mod sets;

mod shingler;

mod grams;

mod single_tokens;

#[cfg(feature = "gpu")]
pub(crate) mod device;

pub use normalise::Normalise;
#[doc(hidden)]
pub use occurrences::Mixed;
#[doc(hidden)]
pub use places::{UnitPlaces, place_code_tokens, place_lines, place_paragraphs};
pub(crate) use rarity::Rarities;
pub use scratch::Scratch;
pub use sets::{ShingleBatch, ShingleSets};
pub use shingler::Shingler;
pub use shingling::{Shingling, Unit, Weighting};
pub use stop_words::StopWords;
pub(crate) use text_buffer::NormalisedTexts;
#[doc(hidden)]
pub use words::for_each_word;
