//! The texts of documents, and the units that their passages are made of.

use std::fmt;
use std::num::NonZeroUsize;
use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

use super::search::{Passages, Piece, Symbols};
use crate::error::{Error, Result};
use crate::pipeline::{UnitPlaces, place_code_tokens, place_lines, place_paragraphs};
use crate::simd::Isa;

/// What passages are made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PassageUnit {
    /// Words, as in [`Unit::Words`](crate::pipeline::Unit::Words). Punctuation and white space between them do not count.
    #[default]
    Words,
    /// Tokens of program text, as in [`Unit::Code`](crate::pipeline::Unit::Code). White space does not count.
    Code,
    /// Characters: Unicode scalar values.
    Chars,
    /// Bytes.
    Bytes,
    /// Lines, without white space around them. Each is a passage if it is long enough.
    Lines,
    /// Paragraphs: lines between blank ones. Each is a passage if it is long enough.
    Paragraphs,
}

impl PassageUnit {
    /// All units.
    pub const ALL: [PassageUnit; 6] = [
        PassageUnit::Words,
        PassageUnit::Code,
        PassageUnit::Chars,
        PassageUnit::Bytes,
        PassageUnit::Lines,
        PassageUnit::Paragraphs,
    ];

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            PassageUnit::Words => "words",
            PassageUnit::Code => "code",
            PassageUnit::Chars => "chars",
            PassageUnit::Bytes => "bytes",
            PassageUnit::Lines => "lines",
            PassageUnit::Paragraphs => "paragraphs",
        }
    }

    /// The default of the least length: 50 words or tokens, 200 characters or bytes, 20 characters of a line or paragraph.
    pub fn default_min_length(self) -> NonZeroUsize {
        let length = match self {
            PassageUnit::Words | PassageUnit::Code => 50,
            PassageUnit::Chars | PassageUnit::Bytes => 200,
            PassageUnit::Lines | PassageUnit::Paragraphs => 20,
        };
        NonZeroUsize::MIN.saturating_add(length - 1)
    }

    /// Whether each unit alone is a passage, if it has the least length in characters.
    fn is_passage(self) -> bool {
        matches!(self, PassageUnit::Lines | PassageUnit::Paragraphs)
    }
}

impl fmt::Display for PassageUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How texts are cut into units, and the least length of a passage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassageUnits {
    /// The unit.
    pub unit: PassageUnit,
    /// The least length, in units; in characters for lines and paragraphs.
    pub min_length: NonZeroUsize,
    /// Whether what stands between the units of a passage must be equal, too; default false.
    pub bytes_equal: bool,
}

impl Default for PassageUnits {
    fn default() -> Self {
        PassageUnits::of(PassageUnit::default())
    }
}

impl PassageUnits {
    /// A unit with its default length.
    pub fn of(unit: PassageUnit) -> Self {
        PassageUnits {
            unit,
            min_length: unit.default_min_length(),
            bytes_equal: false,
        }
    }

    /// The least number of symbols of a passage.
    pub(crate) fn symbols(self) -> NonZeroUsize {
        let units = match self.unit.is_passage() {
            true => NonZeroUsize::MIN,
            false => self.min_length,
        };
        units.saturating_add((units.get() - 1).saturating_mul(self.stride() - 1))
    }

    /// The symbols of a unit: a second one stands for what is between it and the next unit.
    pub(crate) fn stride(self) -> usize {
        match self.bytes_equal && !matches!(self.unit, PassageUnit::Bytes | PassageUnit::Chars) {
            true => 2,
            false => 1,
        }
    }
}

/// Documents as texts and symbols. Two units are the same symbol if they are equal; others are the same with a probability
/// of 2^-64, but for bytes, which are their own symbols.
#[derive(Debug, Default)]
pub(crate) struct UnitTexts {
    text: String,
    text_ends: Vec<usize>,
    /// A symbol for each unit; none for bytes.
    symbols: Vec<u64>,
    /// The bytes of each unit, from the beginning of its document.
    places: Vec<[u32; 2]>,
    /// Where the symbols of each document end.
    symbol_ends: Vec<usize>,
    /// Where runs of symbols end, which no passage leaves: documents, and parts of them between units that are too short.
    run_ends: Vec<usize>,
    /// The number of runs up to the end of each document.
    document_runs: Vec<usize>,
    units: u64,
}

/// A piece as bytes of two texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlacedPiece {
    pub(crate) document: usize,
    pub(crate) bytes: Range<usize>,
    pub(crate) source_document: usize,
    pub(crate) source_bytes: Range<usize>,
    /// The number of units.
    pub(crate) len: usize,
    /// Whether all bytes are the same, not only the units.
    pub(crate) is_exact: bool,
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
        if u32::try_from(text.len()).is_err() {
            return Err("the text has 4 GiB or more".to_owned());
        }
        self.text.push_str(text);
        self.text_ends.push(self.text.len());
        let mut end = None;
        let mut add = |place: Option<Range<usize>>| end = self.add(text, place, end.take(), units);
        match units.unit {
            PassageUnit::Bytes => {
                self.units += text.len() as u64;
                return Ok(());
            }
            PassageUnit::Chars => text.char_indices().for_each(|(at, char)| {
                add(Some(at..at + char.len_utf8()));
            }),
            PassageUnit::Words => finder.for_each_word(Isa::best(), text, |place| add(Some(place))),
            PassageUnit::Code => place_code_tokens(text, |place| add(Some(place))),
            PassageUnit::Lines => place_lines(text, |place| add(units.if_long(text, place))),
            PassageUnit::Paragraphs => {
                place_paragraphs(text, |place| add(units.if_long(text, place)));
            }
        }
        self.symbol_ends.push(self.symbols.len());
        self.run_ends.push(self.symbols.len());
        self.document_runs.push(self.run_ends.len());
        Ok(())
    }

    /// Adds a unit, or the end of a run if it is too short. `end` is where the unit before ended, in the same run; returns
    /// the same for the next one.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "a text has less than 4 GiB"
    )]
    fn add(
        &mut self,
        text: &str,
        place: Option<Range<usize>>,
        end: Option<usize>,
        units: PassageUnits,
    ) -> Option<usize> {
        let Some(place) = place else {
            self.run_ends.push(self.symbols.len());
            return None;
        };
        if let (2, Some(end)) = (units.stride(), end) {
            self.places.push([end as u32, place.start as u32]);
            self.symbols
                .push(xxh3_64(&text.as_bytes()[end..place.start]));
        }
        self.units += 1;
        self.places.push([place.start as u32, place.end as u32]);
        self.symbols.push(xxh3_64(&text.as_bytes()[place.clone()]));
        Some(place.end)
    }

    /// Appends all documents of other texts.
    pub(crate) fn append(&mut self, other: &UnitTexts) {
        let (text, symbols) = (self.text.len(), self.symbols.len());
        self.text.push_str(&other.text);
        self.symbols.extend_from_slice(&other.symbols);
        self.places.extend_from_slice(&other.places);
        let moved = |ends: &mut Vec<usize>, of: &[usize], by: usize| {
            ends.extend(of.iter().map(|end| end + by));
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

    fn are_bytes(&self) -> bool {
        self.symbol_ends.len() < self.text_ends.len()
    }

    /// The number of units.
    pub(crate) fn units(&self) -> u64 {
        self.units
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

    /// The first run of each document, and the number of runs.
    pub(crate) fn documents(&self) -> Vec<usize> {
        match self.are_bytes() {
            true => (0..=self.text_ends.len()).collect(),
            false => std::iter::once(0)
                .chain(self.document_runs.iter().copied())
                .collect(),
        }
    }

    /// What a search reads: symbols, and the ends of their runs.
    pub(crate) fn symbols(&self) -> (Symbols<'_>, &[usize]) {
        match self.are_bytes() {
            true => (Symbols::Bytes(self.text.as_bytes()), &self.text_ends),
            false => (Symbols::U64(&self.symbols), &self.run_ends),
        }
    }

    /// The symbols of a run.
    pub(crate) fn run_symbols(&self, run: usize) -> Range<usize> {
        let (_, ends) = self.symbols();
        start(ends, run)..ends[run]
    }

    /// The text of a document.
    pub(crate) fn text(&self, document: usize) -> &str {
        &self.text[start(&self.text_ends, document)..self.text_ends[document]]
    }

    /// The number of units of a document.
    pub(crate) fn units_of(&self, document: usize, units: PassageUnits) -> usize {
        match self.are_bytes() {
            true => self.text(document).len(),
            false => {
                let runs = self.documents_runs(document);
                let of_run = |run: usize| {
                    let len = self.run_ends[run] - start(&self.run_ends, run);
                    len.div_ceil(units.stride())
                };
                runs.map(of_run).sum()
            }
        }
    }

    fn documents_runs(&self, document: usize) -> Range<usize> {
        start(&self.document_runs, document)..self.document_runs[document]
    }

    /// Whether a run of symbols ends before this one, by its number among all.
    pub(crate) fn ends_run(&self, symbol: usize) -> bool {
        !self.are_bytes() && self.run_ends.binary_search(&symbol).is_ok()
    }

    /// The bytes of a symbol, by its number among all.
    pub(crate) fn bytes_of_symbol(&self, document: usize, symbol: usize) -> Range<usize> {
        match self.are_bytes() {
            true => {
                let at = symbol - start(&self.text_ends, document);
                at..at + 1
            }
            false => {
                let [from, to] = self.places[symbol];
                from as usize..to as usize
            }
        }
    }

    /// A document and bytes of it, of symbols of a run.
    pub(crate) fn place(&self, run: usize, symbols: Range<usize>) -> (usize, Range<usize>) {
        if self.are_bytes() {
            return (run, symbols);
        }
        let first = start(&self.run_ends, run) + symbols.start;
        let document = self.symbol_ends.partition_point(|end| *end <= first);
        let [from, _] = self.places[first];
        let [_, to] = self.places[first + symbols.len() - 1];
        (document, from as usize..to as usize)
    }

    /// The bytes of a piece and its source.
    pub(crate) fn placed(&self, piece: &Piece, stride: usize) -> PlacedPiece {
        let symbols = |start: usize| start..start + piece.len;
        let (document, bytes) = self.place(piece.document, symbols(piece.start));
        let (source_document, source_bytes) =
            self.place(piece.source_document, symbols(piece.source_start));
        let of = |document: usize, bytes: &Range<usize>| {
            let start = start(&self.text_ends, document);
            &self.text.as_bytes()[start + bytes.start..start + bytes.end]
        };
        PlacedPiece {
            is_exact: of(document, &bytes) == of(source_document, &source_bytes),
            document,
            bytes,
            source_document,
            source_bytes,
            len: piece.len.div_ceil(stride),
        }
    }

    /// The bytes of each span, by document, and its number of symbols.
    pub(crate) fn spans<'a>(
        &'a self,
        found: &'a Passages,
        stride: usize,
    ) -> impl Iterator<Item = (usize, Range<usize>, usize)> + 'a {
        found.spans().map(move |(run, symbols)| {
            let len = symbols.len().div_ceil(stride);
            let (document, bytes) = self.place(run, symbols);
            (document, bytes, len)
        })
    }
}

impl PassageUnits {
    /// The place of a unit, unless it is too short.
    fn if_long(self, text: &str, place: Range<usize>) -> Option<Range<usize>> {
        let mut characters = text[place.clone()].chars();
        characters.nth(self.min_length.get() - 1).map(|_| place)
    }
}

fn start(ends: &[usize], i: usize) -> usize {
    match i.checked_sub(1) {
        Some(before) => ends[before],
        None => 0,
    }
}

impl std::str::FromStr for PassageUnit {
    type Err = Error;

    /// The unit of a name.
    fn from_str(name: &str) -> Result<Self> {
        let known = PassageUnit::ALL.into_iter();
        let found = known.clone().find(|unit| unit.name() == name);
        found.ok_or_else(|| Error::UnknownName {
            what: "unit of passages",
            name: name.to_owned(),
            known: known.map(PassageUnit::name).collect::<Vec<_>>().join(", "),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::PassageSearch;
    use super::*;
    use crate::progress::Silent;

    fn placed(texts: &[&str], units: PassageUnits) -> Vec<(String, PlacedPiece)> {
        let mut finder = UnitPlaces::default();
        let (mut all, mut half) = (UnitTexts::default(), UnitTexts::default());
        for (i, text) in texts.iter().enumerate() {
            let target = if i == 0 { &mut all } else { &mut half };
            target.push(text, units, &mut finder).unwrap();
        }
        all.append(&half);
        let (symbols, ends) = all.symbols();
        let search = PassageSearch::new(units.symbols());
        let found = search.find(symbols, ends, &Silent).unwrap();
        let pieces = found
            .pieces()
            .iter()
            .map(|piece| all.placed(piece, units.stride()));
        pieces
            .map(|piece| {
                let text = all.text(piece.document)[piece.bytes.clone()].to_owned();
                let source = &all.text(piece.source_document)[piece.source_bytes.clone()];
                assert_eq!(piece.is_exact, source == text);
                (text, piece)
            })
            .collect()
    }

    fn units(unit: PassageUnit, min_length: usize) -> PassageUnits {
        PassageUnits {
            unit,
            min_length: NonZeroUsize::new(min_length).unwrap(),
            bytes_equal: false,
        }
    }

    #[test]
    fn words_hide_operators_and_say_so() {
        let texts = ["x: a + b > c, d", "", "y. a - b < c; d (a - b < c)"];
        let found = placed(&texts, units(PassageUnit::Words, 3));
        let texts: Vec<(&str, bool)> = found
            .iter()
            .map(|(text, piece)| (&**text, piece.is_exact))
            .collect();
        assert_eq!(texts, [("a - b < c; d", false), ("a - b < c", false)]);
        let texts = ["a + b > c", "a - b < c"];
        assert!(placed(&texts, units(PassageUnit::Code, 3)).is_empty());
    }

    #[test]
    fn lines_are_passages_of_their_own() {
        let texts = [
            "a line\nno\nlast line\n",
            "last line\nno\n  a line \nlast line",
        ];
        let found = placed(&texts, units(PassageUnit::Lines, 6));
        let lines: Vec<(&str, usize)> = found
            .iter()
            .map(|(text, piece)| (&**text, piece.source_document))
            .collect();
        assert_eq!(lines, [("last line", 0), ("a line", 0), ("last line", 0)]);
        assert!(placed(&texts, units(PassageUnit::Paragraphs, 6)).is_empty());
    }

    #[test]
    fn bytes_are_where_they_are() {
        let found = placed(&["", "xabcabc", "cabc"], units(PassageUnit::Bytes, 3));
        let bytes: Vec<(&str, usize, usize)> = found
            .iter()
            .map(|(text, piece)| (&**text, piece.source_document, piece.source_bytes.start))
            .collect();
        assert_eq!(bytes, [("abc", 1, 1), ("cabc", 1, 3)]);
    }
}
