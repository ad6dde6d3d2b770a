//! A search for passages in memory, on all threads.

use std::num::NonZeroUsize;
use std::ops::Range;

use rayon::prelude::*;

use super::choice::{Conditions, PassageChoice};
use super::items::Match;
use super::known::MOST_SYMBOLS;
use super::lengths::Lengths;
use super::pass::{matches, too_long};
use super::sources::{Occurrences, later_runs, pieces};
use super::text::Text;
use super::twin_places::TwinPlaces;
use super::twins::{SearchedText, TwinRuns};
use simgpu::clock::in_parallel;
use simgpu::error::{Error, Result};
use simgpu::progress::Progress;
use simgpu::simd::Isa;
use simgpu::simd::minima::Symbol;

/// The symbols of all documents, one after another.
#[derive(Clone, Copy, Debug)]
pub enum Symbols<'a> {
    /// Symbols of 8 bits.
    Bytes(&'a [u8]),
    /// Symbols of 32 bits.
    U32(&'a [u32]),
    /// Symbols of 64 bits.
    U64(&'a [u64]),
}

/// A part of a document that equals another part of the texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The number of its document.
    pub document: usize,
    /// Its first symbol, counted from the beginning of the document.
    pub start: usize,
    /// The document of its source.
    pub source_document: usize,
    /// The first symbol of its source, counted from the beginning of that document.
    pub source_start: usize,
    /// The number of symbols of both.
    pub len: usize,
}

/// The passages of texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passages {
    pieces: Vec<Piece>,
}

impl Passages {
    /// The pieces, in the order of their documents and starts. Two may overlap, by less than the least length.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The spans: each is the number of a document and all symbols in a row that are covered, counted from its beginning.
    pub fn spans(&self) -> impl Iterator<Item = (usize, Range<usize>)> {
        let mut pieces = self.pieces.iter().peekable();
        std::iter::from_fn(move || {
            let first = pieces.next()?;
            let mut end = first.start + first.len;
            while let Some(piece) =
                pieces.next_if(|piece| piece.document == first.document && piece.start <= end)
            {
                end = end.max(piece.start + piece.len);
            }
            Some((first.document, first.start..end))
        })
    }
}

/// A search for passages: windows of `min_length` symbols in a row, in one document, that occur elsewhere. A symbol is
/// covered if it lies in such a window.
///
/// ```
/// use simgpu_passages::{PassageSearch, Symbols};
/// use simgpu::progress::Silent;
///
/// let texts = ["a rose is a rose", "is a rose a rose?", "no"];
/// let ends: Vec<usize> = texts.iter().scan(0, |end, text| { *end += text.len(); Some(*end) }).collect();
/// let search = PassageSearch::new(7.try_into()?);
/// let found = search.find(Symbols::Bytes(texts.concat().as_bytes()), &ends, &Silent)?;
/// // "is a rose" occurs in the first text, from its eighth byte on.
/// let piece = found.pieces()[0];
/// assert_eq!((piece.document, piece.start, piece.source_document, piece.source_start, piece.len), (1, 0, 0, 7, 9));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PassageSearch {
    min_length: NonZeroUsize,
    conditions: Conditions,
    memory: u64,
    isa: Isa,
}

impl PassageSearch {
    /// A search for passages of at least `min_length` symbols that occur earlier.
    pub fn new(min_length: NonZeroUsize) -> Self {
        PassageSearch {
            min_length,
            conditions: Conditions::default(),
            memory: u64::MAX,
            isa: Isa::best(),
        }
    }

    /// Which windows are covered; default those that occur earlier.
    #[must_use]
    pub fn occurrences(mut self, occurrences: Occurrences) -> Self {
        self.conditions.occurrences = occurrences;
        self
    }

    /// Covers only windows that occur so often, all occurrences counted; default 2.
    #[must_use]
    pub fn min_count(mut self, count: u32) -> Self {
        self.conditions.min_count = count;
        self
    }

    /// Covers only windows that occur in another document, before this one or, with [`Occurrences::All`], anywhere;
    /// default false.
    #[must_use]
    pub fn other_documents(mut self, other_documents: bool) -> Self {
        self.conditions.other_documents = other_documents;
        self
    }

    /// The most bytes that the search takes beside the symbols; default any number. A search that would take more fails.
    #[must_use]
    pub fn memory(self, bytes: u64) -> Self {
        PassageSearch {
            memory: bytes,
            ..self
        }
    }

    /// Covers windows under these conditions.
    pub(super) fn set_conditions(&mut self, conditions: Conditions) {
        self.conditions = conditions;
    }

    /// Bytes that a search takes beside texts of so many symbols, unless few of them are repeated.
    pub(super) fn typical_bytes(min_length: NonZeroUsize, symbols: usize) -> u64 {
        // A window chooses one of its places, so of as many places about two have a region, of 16 bytes and more.
        const REGION: u64 = 16;
        let places = Lengths::new(min_length).grams.places as u64;
        (2 * REGION * symbols as u64).div_ceil(places + 1)
    }

    /// Selects the instruction set; default the fastest. The result does not depend on it.
    #[must_use]
    pub fn with_isa(self, isa: Isa) -> Self {
        PassageSearch { isa, ..self }
    }

    /// Finds the passages of documents that end at `ends`, on the threads of the current rayon pool. The last end is the
    /// number of symbols. Progress counts symbols in the stage `compare`.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the ends are none, or there are more than 2^40 symbols or more than 2^31 distinct passages
    /// to remember, and [`Error::Stopped`] if the progress stops the search.
    pub fn find(
        &self,
        symbols: Symbols<'_>,
        ends: &[usize],
        progress: &dyn Progress,
    ) -> Result<Passages> {
        // Each document is a run of its own.
        let documents: Vec<usize> = (0..=ends.len()).collect();
        self.find_in_documents(symbols, ends, &documents, progress)
    }

    /// The same for documents of several runs of symbols: `documents` has the first run of each, and the number of runs.
    pub(super) fn find_in_documents(
        &self,
        symbols: Symbols<'_>,
        ends: &[usize],
        documents: &[usize],
        progress: &dyn Progress,
    ) -> Result<Passages> {
        match symbols {
            Symbols::Bytes(symbols) => self.find_in(symbols, ends, documents, progress),
            Symbols::U32(symbols) => self.find_in(symbols, ends, documents, progress),
            Symbols::U64(symbols) => self.find_in(symbols, ends, documents, progress),
        }
    }

    fn find_in<S: Symbol>(
        &self,
        symbols: &[S],
        ends: &[usize],
        documents: &[usize],
        progress: &dyn Progress,
    ) -> Result<Passages> {
        let text = self.text(symbols, ends)?;
        let searched = SearchedText {
            text: &text,
            window: self.min_length.get(),
            twins: &self.twins(&text, progress)?,
        };
        let documents = if self.conditions.has_exceptions() {
            documents
        } else {
            &[]
        };
        self.passages(&searched, documents, &mut |_, _| false)
    }

    /// The text of these symbols, or what is wrong with it.
    pub(super) fn text<'a, S: Symbol>(
        &self,
        symbols: &'a [S],
        ends: &'a [usize],
    ) -> Result<Text<'a, S>> {
        if !ends.is_sorted() || ends.last().copied().unwrap_or(0) != symbols.len() {
            return Err(Error::Parameter {
                name: "the ends of documents",
                value: format!("a list up to {:?}", ends.last()),
                expected: format!("ends that ascend to {}", symbols.len()),
            });
        }
        if symbols.len() > MOST_SYMBOLS {
            return Err(too_long());
        }
        Ok(Text::new(self.isa, symbols, ends))
    }

    /// The windows with an earlier twin. Progress counts symbols in the stage `compare`.
    pub(super) fn twins<S: Symbol>(
        &self,
        text: &Text<'_, S>,
        progress: &dyn Progress,
    ) -> Result<TwinRuns> {
        let lengths = Lengths::new(self.min_length);
        progress.begin("compare", text.symbols.len() as u64);
        let matches = matches(text, &lengths, self.memory, progress)?;
        Ok(later_runs(text, lengths.window, matches.in_order()))
    }

    /// Whether documents must be passed over one by one, to find windows that are no passages.
    pub(super) fn has_exceptions(&self) -> bool {
        self.conditions.has_exceptions()
    }

    /// The passages. `documents` has the first run of each document, and the number of runs; none if nothing depends on
    /// documents. `drops` gets the passages of each document and returns whether it is dropped.
    pub(super) fn passages<S: Symbol>(
        &self,
        searched: &SearchedText<'_, S>,
        documents: &[usize],
        drops: &mut dyn FnMut(usize, &[Match]) -> bool,
    ) -> Result<Passages> {
        let found = match documents {
            [] => pieces(searched, self.conditions.occurrences),
            _ => self.chosen_pieces(searched, documents, drops)?,
        };
        let text = searched.text;
        let piece = |found: Match| {
            let document = text.document_at(found.from);
            let source_document = text.document_at(found.source);
            Piece {
                document,
                start: found.from - text.document_start(document),
                source_document,
                source_start: found.source - text.document_start(source_document),
                len: found.to - found.from,
            }
        };
        Ok(Passages {
            pieces: in_parallel(|| found.into_par_iter().map(piece).collect()),
        })
    }

    /// The pieces of windows that fulfil the conditions, from one pass over the documents.
    fn chosen_pieces<S: Symbol>(
        &self,
        searched: &SearchedText<'_, S>,
        documents: &[usize],
        drops: &mut dyn FnMut(usize, &[Match]) -> bool,
    ) -> Result<Vec<Match>> {
        let last = documents.len() - 1;
        let starts = documents[..last].iter();
        let starts: Vec<usize> = starts
            .map(|run| searched.text.document_start(*run))
            .collect();
        let places = TwinPlaces::new(searched, &self.conditions, documents);
        let mut choice = PassageChoice::new(places, searched.window, self.conditions, &starts);
        let mut pieces = Vec::new();
        for document in self.conditions.reference..last {
            choice.begin_document();
            let first = pieces.len();
            for run in documents[document]..documents[document + 1] {
                pieces.extend(choice.pieces(searched.windows(run))?);
            }
            choice.end_document(drops(document, &pieces[first..]));
        }
        Ok(pieces)
    }
}
