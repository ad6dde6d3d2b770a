//! Documents as texts and symbols, which are added one after another.

use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

use super::unit::{PassageUnit, PassageUnits};
use simgpu::documents::TextBatch;
use simgpu::pipeline::{UnitPlaces, place_code_tokens, place_lines, place_paragraphs};
use simgpu::simd::Isa;

/// Documents as texts and symbols. The text of a list of tokens is the tokens, joined by spaces. Two units are the same
/// symbol if they are equal; others are the same with a probability of 2^-64, except for bytes, which are their own symbols.
#[derive(Debug, Default)]
pub(crate) struct UnitTexts {
    pub(super) text: String,
    pub(super) text_ends: Vec<usize>,
    /// A symbol for each unit; none for bytes.
    pub(super) symbols: Vec<u64>,
    /// The bytes of each unit, from the beginning of its document.
    pub(super) places: Vec<[u32; 2]>,
    /// Where the symbols of each document end.
    pub(super) symbol_ends: Vec<usize>,
    /// Where runs of symbols end, which no passage leaves: documents, and parts of them between units that are too short.
    pub(super) run_ends: Vec<usize>,
    /// The number of runs up to the end of each document.
    pub(super) document_runs: Vec<usize>,
    units: u64,
    /// The number of first documents that are a reference.
    pub(crate) reference: usize,
}

/// A unit in the text of its document.
struct TextUnit<'a> {
    text: &'a str,
    place: Range<usize>,
    /// Where the unit before ended, if it is in the same run.
    end_before: Option<usize>,
}

impl UnitTexts {
    /// Appends a document.
    ///
    /// # Errors
    /// What is wrong with a text of 4 GiB or more.
    pub(crate) fn push(
        &mut self,
        text: &str,
        units: PassageUnits,
        finder: &mut UnitPlaces,
    ) -> std::result::Result<(), String> {
        check_length(text)?;
        self.text.push_str(text);
        self.text_ends.push(self.text.len());
        self.add_units(text, units, finder);
        Ok(())
    }

    /// The documents of a batch, which have less than 4 GiB each. Their texts are not copied.
    pub(crate) fn from_batch(
        batch: TextBatch,
        units: PassageUnits,
        finder: &mut UnitPlaces,
    ) -> Self {
        let mut texts = UnitTexts::default();
        for text in batch.iter() {
            texts.add_units(text, units, finder);
        }
        (texts.text, texts.text_ends) = batch.into_parts();
        texts
    }

    /// Adds the units of the next document.
    fn add_units(&mut self, text: &str, units: PassageUnits, finder: &mut UnitPlaces) {
        // The usual case, in which places and hashes are found at once.
        if units.unit == PassageUnit::Words && units.stride() == 1 && !units.normalises() {
            let before = self.places.len();
            finder.hash_words(Isa::best(), text, &mut self.places, &mut self.symbols);
            self.units += (self.places.len() - before) as u64;
            self.end_document();
            return;
        }
        let (mut end, mut form) = (None, String::new());
        let mut add = |place: Range<usize>| {
            let unit = TextUnit {
                text,
                place,
                end_before: end.take(),
            };
            end = self.add(unit, units, &mut form);
        };
        match units.unit {
            // Bytes are their own symbols, and texts their runs: nothing is stored.
            PassageUnit::Bytes => {
                self.units += text.len() as u64;
                return;
            }
            PassageUnit::Chars => text.char_indices().for_each(|(at, char)| {
                add(at..at + char.len_utf8());
            }),
            PassageUnit::Words => finder.for_each_word(Isa::best(), text, add),
            PassageUnit::Code => place_code_tokens(text, add),
            PassageUnit::Lines => place_lines(text, add),
            PassageUnit::Paragraphs => place_paragraphs(text, add),
            // Lists of them come by the other method; a text holds none.
            PassageUnit::Tokens => {}
        }
        self.end_document();
    }

    fn end_document(&mut self) {
        self.symbol_ends.push(self.symbols.len());
        self.run_ends.push(self.symbols.len());
        self.document_runs.push(self.run_ends.len());
    }

    /// Appends a list of tokens.
    ///
    /// # Errors
    /// What is wrong with tokens of 4 GiB or more.
    pub(crate) fn push_tokens<'a>(
        &mut self,
        tokens: impl Iterator<Item = &'a [u8]>,
    ) -> std::result::Result<(), String> {
        let (mut text, mut places, mut symbols) = (String::new(), Vec::new(), Vec::new());
        for (i, token) in tokens.enumerate() {
            symbols.push(xxh3_64(token));
            text.push_str(if i > 0 { " " } else { "" });
            let from = text.len();
            text.push_str(&String::from_utf8_lossy(token));
            let [from, to] = [from, text.len()].map(u32::try_from);
            match (from, to) {
                (Ok(from), Ok(to)) => places.push([from, to]),
                _ => return Err("the tokens have 4 GiB or more".to_owned()),
            }
        }
        // Only now, so that refused tokens leave nothing behind.
        self.text.push_str(&text);
        self.text_ends.push(self.text.len());
        self.places.extend(places);
        self.units += symbols.len() as u64;
        self.symbols.extend(symbols);
        self.end_document();
        Ok(())
    }

    /// Adds a unit, or the end of a run if it is too short. Returns where it ended, for the next one of the same run. `form` is
    /// memory to use.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "a text has less than 4 GiB"
    )]
    fn add(&mut self, unit: TextUnit<'_>, units: PassageUnits, form: &mut String) -> Option<usize> {
        let TextUnit {
            text,
            place,
            end_before,
        } = unit;
        let form = units.form(&text[place.clone()], form);
        if units.is_too_short(form) {
            self.run_ends.push(self.symbols.len());
            return None;
        }
        // What stands between two units is a symbol of its own, if it must be equal, too.
        if let (2, Some(end)) = (units.stride(), end_before) {
            self.places.push([end as u32, place.start as u32]);
            self.symbols
                .push(xxh3_64(&text.as_bytes()[end..place.start]));
        }
        self.units += 1;
        self.places.push([place.start as u32, place.end as u32]);
        self.symbols.push(xxh3_64(form.as_bytes()));
        Some(place.end)
    }

    /// Appends all documents of other texts.
    pub(crate) fn append(&mut self, other: UnitTexts) {
        if self.len() == 0 {
            *self = other;
            return;
        }
        let (text, symbols) = (self.text.len(), self.symbols.len());
        self.text.push_str(&other.text);
        self.symbols.extend_from_slice(&other.symbols);
        self.places.extend_from_slice(&other.places);
        let moved = |ends: &mut Vec<usize>, others: &[usize], by: usize| {
            ends.extend(others.iter().map(|end| end + by));
        };
        moved(&mut self.text_ends, &other.text_ends, text);
        moved(&mut self.symbol_ends, &other.symbol_ends, symbols);
        let runs = self.run_ends.len();
        moved(&mut self.run_ends, &other.run_ends, symbols);
        moved(&mut self.document_runs, &other.document_runs, runs);
        self.units += other.units;
    }

    /// The number of documents.
    pub(crate) fn len(&self) -> usize {
        self.text_ends.len()
    }

    /// The bytes of all texts.
    pub(crate) fn bytes(&self) -> u64 {
        self.text.len() as u64
    }

    /// Whether the symbols are the bytes of the texts.
    pub(super) fn is_bytes(&self) -> bool {
        self.symbol_ends.len() < self.text_ends.len()
    }

    /// The bytes of the texts of the inputs.
    pub(crate) fn input_bytes(&self) -> u64 {
        self.bytes() - start(&self.text_ends, self.reference) as u64
    }

    /// The number of units of the inputs.
    pub(crate) fn input_units(&self, units: PassageUnits) -> u64 {
        let units_of = |document| self.units_of(document, units) as u64;
        self.units - (0..self.reference).map(units_of).sum::<u64>()
    }

    /// Bytes of memory.
    pub(crate) fn held_bytes(&self) -> u64 {
        let words = [
            &self.text_ends,
            &self.symbol_ends,
            &self.run_ends,
            &self.document_runs,
        ];
        let words: usize = words.iter().map(|list| list.capacity()).sum();
        let words = words + self.symbols.capacity() + self.places.capacity();
        (self.text.capacity() + 8 * words) as u64
    }
}

/// Says what is wrong with a text of 4 GiB or more.
pub(crate) fn check_length(text: &str) -> std::result::Result<(), String> {
    match u32::try_from(text.len()) {
        Ok(_) => Ok(()),
        Err(_) => Err("the text has 4 GiB or more".to_owned()),
    }
}

/// Where the part with this number begins, of parts that end at these places.
pub(super) fn start(ends: &[usize], i: usize) -> usize {
    match i.checked_sub(1) {
        Some(before) => ends[before],
        None => 0,
    }
}
