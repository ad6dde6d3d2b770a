//! Where symbols are in the texts of their documents.

use std::ops::Range;

use super::texts::{UnitTexts, start};
use super::unit::{PassageUnit, PassageUnits};
use crate::search::{Passages, Piece, Symbols};

/// A part of a document: symbols in a row of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TextPart {
    pub(crate) document: usize,
    /// Bytes of the text.
    pub(crate) bytes: Range<usize>,
    /// Its place as results state it: bytes, or for lists of tokens, tokens.
    pub(crate) stated: Range<usize>,
    /// The number of units.
    pub(crate) len: usize,
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
    /// The first run of each document, and the number of runs.
    pub(crate) fn documents(&self) -> Vec<usize> {
        if self.is_bytes() {
            (0..=self.text_ends.len()).collect()
        } else {
            std::iter::once(0)
                .chain(self.document_runs.iter().copied())
                .collect()
        }
    }

    /// What a search reads: symbols, and the ends of their runs.
    pub(crate) fn symbols(&self) -> (Symbols<'_>, &[usize]) {
        if self.is_bytes() {
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
        if self.is_bytes() {
            self.text(document).len()
        } else {
            let runs = self.documents_runs(document);
            let units_of_run = |run: usize| {
                let len = self.run_ends[run] - start(&self.run_ends, run);
                len.div_ceil(units.stride())
            };
            runs.map(units_of_run).sum()
        }
    }

    fn documents_runs(&self, document: usize) -> Range<usize> {
        start(&self.document_runs, document)..self.document_runs[document]
    }

    /// Whether a run of symbols ends before this one, by its number among all.
    pub(crate) fn ends_run(&self, symbol: usize) -> bool {
        !self.is_bytes() && self.run_ends.binary_search(&symbol).is_ok()
    }

    /// The bytes of a symbol, by its number among all.
    pub(crate) fn bytes_of_symbol(&self, document: usize, symbol: usize) -> Range<usize> {
        if self.is_bytes() {
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
        if self.is_bytes() {
            let at = |byte: usize| (symbols.start + byte).min(symbols.end);
            return at(part.start)..at(part.end);
        }
        let places = &self.places[symbols.clone()];
        let is_before = |[from, to]: &[u32; 2]| (*to).max(from + 1) as usize <= part.start;
        let first = places.partition_point(is_before);
        let end = places.partition_point(|[from, _]| (*from as usize) < part.end);
        symbols.start + first..symbols.start + end.max(first)
    }

    /// The part of a document that symbols of a run make, counted from the beginning of the run.
    pub(crate) fn part(&self, run: usize, symbols: Range<usize>, units: PassageUnits) -> TextPart {
        let len = symbols.len().div_ceil(units.stride());
        let (document, bytes) = if self.is_bytes() {
            (run, symbols.clone())
        } else {
            let first = start(&self.run_ends, run) + symbols.start;
            let document = self.symbol_ends.partition_point(|end| *end <= first);
            let [from, _] = self.places[first];
            let [_, to] = self.places[first + symbols.len() - 1];
            (document, from as usize..to as usize)
        };
        TextPart {
            document,
            stated: match units.unit {
                // A list is one run.
                PassageUnit::Tokens => symbols,
                _ => bytes.clone(),
            },
            bytes,
            len,
        }
    }

    /// The bytes of a part.
    pub(crate) fn bytes_of(&self, part: &TextPart) -> &[u8] {
        &self.text(part.document).as_bytes()[part.bytes.clone()]
    }

    /// A piece and its source in their texts.
    pub(crate) fn placed(&self, piece: &Piece, units: PassageUnits) -> PlacedPiece {
        let symbols = |start: usize| start..start + piece.len;
        let own = self.part(piece.document, symbols(piece.start), units);
        let source = self.part(piece.source_document, symbols(piece.source_start), units);
        PlacedPiece {
            is_exact: self.bytes_of(&own) == self.bytes_of(&source),
            document: own.document,
            bytes: own.bytes,
            source_document: source.document,
            source_bytes: source.bytes,
            stated: [own.stated, source.stated],
            len: own.len,
        }
    }

    /// The spans of all documents, in order.
    pub(crate) fn spans<'a>(
        &'a self,
        found: &'a Passages,
        units: PassageUnits,
    ) -> impl Iterator<Item = TextPart> + 'a {
        let spans = found.spans();
        spans.map(move |(run, symbols)| self.part(run, symbols, units))
    }
}
