//! The texts of documents, and the units that their passages are made of.

mod unit;

mod texts;

mod parts;

#[cfg(test)]
mod tests;

pub use unit::{PassageUnit, PassageUnits};
pub(crate) use {
    parts::{PlacedPiece, TextPart},
    texts::{UnitTexts, check_length},
};
