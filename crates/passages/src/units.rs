//! The texts of documents, and the units that their passages are made of.

use std::fmt;
use std::num::NonZeroUsize;
use std::ops::Range;

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};
use xxhash_rust::xxh3::xxh3_64;

use super::search::{Passages, Piece, Symbols};
use simgpu::documents::TextBatch;
use simgpu::error::{Error, Result};
use simgpu::pipeline::{Normalise, UnitPlaces, place_code_tokens, place_lines, place_paragraphs};
use simgpu::simd::Isa;

/// What passages are made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PassageUnit {
    /// Words, as in [`Unit::Words`](simgpu::pipeline::Unit::Words). Punctuation and white space between them do not count.
    #[default]
    Words,
    /// Tokens of program text, as in [`Unit::Code`](simgpu::pipeline::Unit::Code). White space does not count.
    Code,
    /// Characters: Unicode scalar values.
    Chars,
    /// Bytes.
    Bytes,
    /// Tokens that are stored in the record, such as those of a model's vocabulary.
    Tokens,
    /// Lines, without white space around them. Each is a passage if it is long enough.
    Lines,
    /// Paragraphs: lines between blank ones. Each is a passage if it is long enough.
    Paragraphs,
}

impl PassageUnit {
    /// All units.
    pub const ALL: [PassageUnit; 7] = [
        PassageUnit::Words,
        PassageUnit::Code,
        PassageUnit::Chars,
        PassageUnit::Bytes,
        PassageUnit::Tokens,
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
            PassageUnit::Tokens => "tokens",
            PassageUnit::Lines => "lines",
            PassageUnit::Paragraphs => "paragraphs",
        }
    }

    /// The default of the least length: 50 words or tokens, 200 characters or bytes, 20 characters of a line or paragraph.
    pub fn default_min_length(self) -> NonZeroUsize {
        let length = match self {
            PassageUnit::Words | PassageUnit::Code | PassageUnit::Tokens => 50,
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
    /// The least length, in units; for lines and paragraphs, in characters of what [`PassageUnits::normalise`] leaves of one.
    pub min_length: NonZeroUsize,
    /// Whether what stands between the units of a passage must be equal, too; default false.
    pub bytes_equal: bool,
    /// What does not tell units apart; default nothing. Places are always those of the text as it is. Acts on words, tokens
    /// of code and characters by case alone, not on bytes and lists of tokens.
    pub normalise: Normalise,
    /// Whether each decimal digit of a unit counts as 0; default false. Not of bytes and lists of tokens.
    pub mask_digits: bool,
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
            normalise: Normalise {
                keep_whitespace: true,
                ..Normalise::default()
            },
            mask_digits: false,
        }
    }

    /// Whether units can be equal that are written in another way.
    pub(crate) fn normalises(self) -> bool {
        let PassageUnits { normalise, .. } = PassageUnits::of(self.unit);
        self.normalise != normalise || self.mask_digits
    }

    /// Refuses equal bytes of what is normalised.
    pub(crate) fn check(self) -> Result<()> {
        if self.bytes_equal && self.normalises() {
            return Err(Error::Parameter {
                name: "`bytes_equal`",
                value: "true".to_owned(),
                expected: "units as they are written, without `lowercase`, `strip_punctuation`, `merge_whitespace` and `mask_digits`".to_owned(),
            });
        }
        Ok(())
    }

    /// What of a unit tells it apart from others.
    fn form<'a>(self, unit: &'a str, form: &'a mut String) -> &'a str {
        if !self.normalises() {
            return unit;
        }
        if self.unit.is_passage() {
            self.normalise.apply(unit, form)
        } else {
            // Without white space and punctuation of their own, or made of one character.
            let Normalise { lowercase, .. } = self.normalise;
            let case = Normalise {
                lowercase,
                ..PassageUnits::of(self.unit).normalise
            };
            case.apply(unit, form);
        }
        if self.mask_digits {
            let masked = |letter: char| if is_digit(letter) { '0' } else { letter };
            *form = form.chars().map(masked).collect();
        }
        if self.unit.is_passage() {
            form.trim()
        } else {
            form
        }
    }

    /// Whether what is left of a unit is too short for a passage.
    fn is_too_short(self, form: &str) -> bool {
        self.unit.is_passage() && form.chars().nth(self.min_length.get() - 1).is_none()
    }

    /// The least number of symbols of a passage.
    pub(crate) fn symbols(self) -> NonZeroUsize {
        let units = if self.unit.is_passage() {
            NonZeroUsize::MIN
        } else {
            self.min_length
        };
        units.saturating_add((units.get() - 1).saturating_mul(self.stride() - 1))
    }

    /// The symbols of a unit: a second one stands for what is between it and the next unit.
    pub(crate) fn stride(self) -> usize {
        let leaves_out = !matches!(
            self.unit,
            PassageUnit::Bytes | PassageUnit::Chars | PassageUnit::Tokens
        );
        if self.bytes_equal && leaves_out { 2 } else { 1 }
    }
}

/// Documents as texts and symbols. The text of a list of tokens is the tokens, joined by spaces. Two units are the same symbol if they are equal; others are the same with a probability
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
    /// The number of first documents that are a reference.
    pub(crate) reference: usize,
}

/// A piece as bytes of two texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlacedPiece {
    pub(crate) document: usize,
    pub(crate) bytes: Range<usize>,
    pub(crate) source_document: usize,
    pub(crate) source_bytes: Range<usize>,
    /// The places of both as results state them: bytes, or for lists of tokens, tokens.
    pub(crate) stated: [Range<usize>; 2],
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
        check_length(text)?;
        self.text.push_str(text);
        self.text_ends.push(self.text.len());
        self.add_units(text, units, finder);
        Ok(())
    }

    /// The documents of a batch, which have less than 4 GiB each. Their texts are not copied.
    pub(crate) fn of(batch: TextBatch, units: PassageUnits, finder: &mut UnitPlaces) -> Self {
        let mut texts = UnitTexts::default();
        for text in batch.iter() {
            texts.add_units(text, units, finder);
        }
        (texts.text, texts.text_ends) = batch.into_parts();
        texts
    }

    /// Adds the units of the next document.
    fn add_units(&mut self, text: &str, units: PassageUnits, finder: &mut UnitPlaces) {
        if units.unit == PassageUnit::Words && units.stride() == 1 && !units.normalises() {
            let before = self.places.len();
            finder.hash_words(Isa::best(), text, &mut self.places, &mut self.symbols);
            self.units += (self.places.len() - before) as u64;
            self.end_document();
            return;
        }
        let (mut end, mut form) = (None, String::new());
        let mut add = |place: Range<usize>| {
            end = self.add(text, place, end.take(), (units, &mut form));
        };
        match units.unit {
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
        self.text.push_str(&text);
        self.text_ends.push(self.text.len());
        self.places.extend(places);
        self.units += symbols.len() as u64;
        self.symbols.extend(symbols);
        self.end_document();
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
        place: Range<usize>,
        end: Option<usize>,
        (units, form): (PassageUnits, &mut String),
    ) -> Option<usize> {
        let form = units.form(&text[place.clone()], form);
        if units.is_too_short(form) {
            self.run_ends.push(self.symbols.len());
            return None;
        }
        if let (2, Some(end)) = (units.stride(), end) {
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

    /// The bytes of the texts of the inputs.
    pub(crate) fn input_bytes(&self) -> u64 {
        self.bytes() - start(&self.text_ends, self.reference) as u64
    }

    /// The number of units of the inputs.
    pub(crate) fn input_units(&self, units: PassageUnits) -> u64 {
        let of_reference =
            (0..self.reference).map(|document| self.units_of(document, units) as u64);
        self.units - of_reference.sum::<u64>()
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
        if self.are_bytes() {
            (0..=self.text_ends.len()).collect()
        } else {
            std::iter::once(0)
                .chain(self.document_runs.iter().copied())
                .collect()
        }
    }

    /// What a search reads: symbols, and the ends of their runs.
    pub(crate) fn symbols(&self) -> (Symbols<'_>, &[usize]) {
        if self.are_bytes() {
            (Symbols::Bytes(self.text.as_bytes()), &self.text_ends)
        } else {
            (Symbols::U64(&self.symbols), &self.run_ends)
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
        if self.are_bytes() {
            self.text(document).len()
        } else {
            let runs = self.documents_runs(document);
            let of_run = |run: usize| {
                let len = self.run_ends[run] - start(&self.run_ends, run);
                len.div_ceil(units.stride())
            };
            runs.map(of_run).sum()
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
        if self.are_bytes() {
            let at = symbol - start(&self.text_ends, document);
            at..at + 1
        } else {
            let [from, to] = self.places[symbol];
            from as usize..to as usize
        }
    }

    /// The symbols of a run, by their numbers among all, that share a byte with a part of its document. One without bytes is
    /// at the byte behind it.
    pub(crate) fn symbols_at(&self, run: usize, part: Range<usize>) -> Range<usize> {
        let symbols = self.run_symbols(run);
        if self.are_bytes() {
            let at = |byte: usize| (symbols.start + byte).min(symbols.end);
            return at(part.start)..at(part.end);
        }
        let of_run = &self.places[symbols.clone()];
        let is_before = |[from, to]: &[u32; 2]| (*to).max(from + 1) as usize <= part.start;
        let first = of_run.partition_point(is_before);
        let end = of_run.partition_point(|[from, _]| (*from as usize) < part.end);
        symbols.start + first..symbols.start + end.max(first)
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
    pub(crate) fn placed(&self, piece: &Piece, units: PassageUnits) -> PlacedPiece {
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
            stated: match units.unit {
                PassageUnit::Tokens => [symbols(piece.start), symbols(piece.source_start)],
                _ => [bytes.clone(), source_bytes.clone()],
            },
            document,
            bytes,
            source_document,
            source_bytes,
            len: piece.len.div_ceil(units.stride()),
        }
    }

    /// Each span by document, as results state it: in bytes, or for lists of tokens, in tokens.
    pub(crate) fn stated_spans<'a>(
        &'a self,
        found: &'a Passages,
        units: PassageUnits,
    ) -> impl Iterator<Item = (usize, Range<usize>)> + 'a {
        found.spans().map(move |(run, symbols)| match units.unit {
            // A list is one run.
            PassageUnit::Tokens => (run, symbols),
            _ => self.place(run, symbols),
        })
    }

    /// The bytes of each span, by document, and its number of units.
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

/// Says what is wrong with a text of 4 GiB or more.
pub(crate) fn check_length(text: &str) -> std::result::Result<(), String> {
    match u32::try_from(text.len()) {
        Ok(_) => Ok(()),
        Err(_) => Err("the text has 4 GiB or more".to_owned()),
    }
}

/// Whether a character is a decimal digit of any script.
fn is_digit(letter: char) -> bool {
    letter.is_ascii_digit()
        || letter.is_numeric() && letter.general_category() == GeneralCategory::DecimalNumber
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
    use simgpu::progress::Silent;

    fn placed(texts: &[&str], units: PassageUnits) -> Vec<(String, PlacedPiece)> {
        let mut finder = UnitPlaces::default();
        let (mut all, mut half) = (UnitTexts::default(), UnitTexts::default());
        for (i, text) in texts.iter().enumerate() {
            let target = if i == 0 { &mut all } else { &mut half };
            target.push(text, units, &mut finder).unwrap();
        }
        all.append(half);
        let (symbols, ends) = all.symbols();
        let search = PassageSearch::new(units.symbols());
        let found = search.find(symbols, ends, &Silent).unwrap();
        let pieces = found.pieces().iter().map(|piece| all.placed(piece, units));
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
            ..PassageUnits::of(unit)
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
    fn units_are_equal_but_for_what_is_normalised() {
        let normalise = |lowercase, strip_punctuation, merge: bool| Normalise {
            lowercase,
            strip_punctuation,
            keep_whitespace: !merge,
        };
        let plain = |unit, min_length| units(unit, min_length);
        let texts = [
            "A Line,  of 12\n*****",
            "- a line of 7 ǅ\n-----\na line of 99 -",
        ];
        // What is left of a line is "0 line of 00" or shorter, or nothing at all.
        for (case, punctuation, merge, digits, expected) in [
            (false, false, false, false, &[][..]),
            (true, true, true, false, &[]),
            (true, true, false, true, &[]),
            (true, true, true, true, &["a line of 99 -"]),
        ] {
            let units = PassageUnits {
                normalise: normalise(case, punctuation, merge),
                mask_digits: digits,
                ..plain(PassageUnit::Lines, 5)
            };
            let found = placed(&texts, units);
            let lines: Vec<&str> = found.iter().map(|(text, _)| &**text).collect();
            assert_eq!(lines, expected, "{units:?}");
            assert!(found.iter().all(|(_, piece)| !piece.is_exact));
        }
        let texts = ["One TWO, three 3", "x one two-Three 4 y"];
        for (case, digits, expected) in [
            (false, true, None),
            (true, false, Some("one two-Three")),
            (true, true, Some("one two-Three 4")),
        ] {
            let units = PassageUnits {
                normalise: normalise(case, false, false),
                mask_digits: digits,
                ..plain(PassageUnit::Words, 3)
            };
            let found = placed(&texts, units);
            assert_eq!(
                found.first().map(|(text, _)| &**text),
                expected,
                "{units:?}"
            );
        }
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
