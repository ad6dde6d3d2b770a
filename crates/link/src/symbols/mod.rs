//! The symbols of records, by rarity: words, windows of three characters of each word between blanks, and whole values.
//!
//! Words and windows are a set, which knows no order, sign or separator: `Kim Lee` and `Lee Kim` have the same ones. So the
//! whole value of a field is one symbol more. It weighs little, so that it decides between values of equal words, and hardly
//! between others.
//!
//! As a symbol like others, the whole value needs no second look at a pair, and decides also between pairs that differ
//! in another field.
//!
//! **Sums run from the rarest symbol on everywhere**, in the search and where two lists are merged. So equal pairs
//! have equal bits, whichever way they were scored; ties are broken by rows.

mod keys;

mod list;

mod rarity;

mod lists;

mod values;

pub(crate) use self::keys::{SymbolScratch, SymbolText, for_each_symbol};
pub(crate) use self::list::{for_each_shared, quotient};
pub(crate) use self::lists::{Lists, WeightedLists};
pub(crate) use self::rarity::Symbols;
pub(crate) use self::values::FieldValues;

/// Records that a thread takes at a time.
const CHUNK: usize = 256;

/// Records between two calls of [`Progress::advance`](simgpu::progress::Progress::advance).
const BLOCK: usize = 1 << 15;
