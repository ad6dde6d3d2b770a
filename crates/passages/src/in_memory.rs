//! Passages of texts in memory.

use std::ops::Range;

use super::choice::Conditions;
use super::cuts::{Shrinking, Snap};
use super::search::{PassageSearch, Piece, Symbols};
use super::sources::Occurrences;
use super::units::{PassageUnit, PassageUnits, TextPart, UnitTexts};
use simgpu::documents::{Document, Documents};
use simgpu::error::{Error, Result};
use simgpu::pipeline::UnitPlaces;
use simgpu::progress::Progress;

/// A search for passages in texts. [`PassagesRun`](super::PassagesRun) searches files, and can cut them out.
///
/// ```
/// use simgpu_passages::{PassageUnit, PassageUnits, PassagesInMemory};
/// use simgpu::progress::Silent;
///
/// let units = PassageUnits { min_length: 3.try_into()?, ..PassageUnits::of(PassageUnit::Words) };
/// let texts = ["a rose is red", "what a rose is"];
/// let found = PassagesInMemory::new(units).find(&texts[..], &Silent)?;
/// assert_eq!((found[0].row, found[0].bytes.clone()), (1, 5..14)); // a rose is
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct PassagesInMemory {
    #[doc(hidden)]
    pub units: PassageUnits,
    /// Which occurrences are found; default those that occur earlier.
    pub occurrences: Occurrences,
    /// Finds only passages that occur so often, all occurrences counted; default 2.
    pub min_count: u32,
    /// Finds only passages that occur in another text; default false.
    pub other_documents: bool,
    /// Finds only passages of the reference of [`PassagesInMemory::find_against`]; default false.
    pub only_against: bool,
}

/// A part of a text that equals a part of the same or another one. Places are bytes; of lists of tokens, tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextPassage {
    /// The number of the text.
    pub row: usize,
    /// Its place.
    pub bytes: Range<usize>,
    /// Whether its source is in the reference.
    pub in_reference: bool,
    /// The number of the text of its source, among those of the reference if it is there.
    pub source_row: usize,
    /// The place of its source.
    pub source_bytes: Range<usize>,
    /// Its length in units.
    pub length: usize,
    /// Whether all bytes are those of the source, not only the units.
    pub exact: bool,
}

impl PassagesInMemory {
    /// A search for passages of these units that occur earlier, twice or more.
    pub fn new(units: PassageUnits) -> Self {
        PassagesInMemory {
            units,
            occurrences: Occurrences::default(),
            min_count: 2,
            other_documents: false,
            only_against: false,
        }
    }

    /// The passages, in the order of the documents, on the threads of the current rayon pool. Progress counts units in the
    /// stage `compare`.
    ///
    /// # Errors
    /// Those of [`PassagesInMemory::find_against`].
    pub fn find<D: Documents + ?Sized>(
        &self,
        documents: &D,
        progress: &dyn Progress,
    ) -> Result<Vec<TextPassage>> {
        let found = self.find_against(documents, None, progress)?;
        Ok(found.passages)
    }

    /// The same, where documents of a reference come first: what occurs there is a passage. They have none themselves.
    ///
    /// # Errors
    /// [`Error::Parameter`] for texts of 4 GiB or more, for texts with [`PassageUnit::Tokens`] or tokens with another unit,
    /// and for [`PassageUnits::bytes_equal`] beside units that are normalised; those of [`PassageSearch::find`].
    pub fn find_against<D: Documents + ?Sized>(
        &self,
        documents: &D,
        reference: Option<&D>,
        progress: &dyn Progress,
    ) -> Result<PassagesOfTexts> {
        self.units.check()?;
        let mut texts = UnitTexts::default();
        if let Some(reference) = reference {
            self.push(reference, &mut texts)?;
        }
        texts.reference = texts.len();
        self.push(documents, &mut texts)?;
        let mut search = PassageSearch::new(self.units.symbols());
        search.set_conditions(Conditions {
            occurrences: self.occurrences,
            min_count: self.min_count,
            other_documents: self.other_documents,
            stride: self.units.stride(),
            reference: texts.reference,
            only_reference: self.only_against,
        });
        let (symbols, ends): (Symbols<'_>, &[usize]) = texts.symbols();
        let found = search.find_in_documents(symbols, ends, &texts.documents(), progress)?;
        let first = texts.reference;
        let passage = |piece: &Piece| {
            let piece = texts.placed(piece, self.units);
            let in_reference = piece.source_document < first;
            let [bytes, source_bytes] = piece.stated;
            TextPassage {
                row: piece.document - first,
                bytes,
                in_reference,
                source_row: piece.source_document - if in_reference { 0 } else { first },
                source_bytes,
                length: piece.len,
                exact: piece.is_exact,
            }
        };
        let passages = found.pieces().iter().map(passage).collect();
        let spans = texts.spans(&found, self.units).collect();
        Ok(PassagesOfTexts {
            passages,
            spans,
            texts,
            units: self.units,
        })
    }

    fn push<D: Documents + ?Sized>(&self, documents: &D, texts: &mut UnitTexts) -> Result<()> {
        let mut finder = UnitPlaces::default();
        let is_tokens = self.units.unit == PassageUnit::Tokens;
        for row in 0..documents.len() {
            let pushed = match (documents.get(row), is_tokens) {
                (Document::Text(text), false) => texts.push(text, self.units, &mut finder),
                (Document::Tokens(tokens), true) => texts.push_tokens(tokens),
                (Document::Text(_) | Document::Tokens(_) | Document::Weighted(_), _) => {
                    return Err(Error::Parameter {
                        name: "`unit`",
                        value: self.units.unit.to_string(),
                        expected: if is_tokens {
                            "a unit of texts, or lists of tokens".to_owned()
                        } else {
                            "texts, or `unit=tokens` for lists of tokens".to_owned()
                        },
                    });
                }
            };
            pushed.map_err(|problem| Error::Parameter {
                name: "the documents",
                value: format!("such that of row {row} {problem}"),
                expected: "documents of less than 4 GiB".to_owned(),
            })?;
        }
        Ok(())
    }
}

/// The passages of documents in memory, which can be cut out.
#[derive(Debug)]
#[non_exhaustive]
pub struct PassagesOfTexts {
    /// The passages, in the order of the documents.
    pub passages: Vec<TextPassage>,
    /// What they cover: documents of the reference count, too.
    spans: Vec<TextPart>,
    texts: UnitTexts,
    units: PassageUnits,
}

impl PassagesOfTexts {
    /// The texts without their passages, shrunk as [`PassageAction::Cut`](super::PassageAction::Cut) does.
    ///
    /// # Errors
    /// [`Error::Parameter`] for lists of tokens, which are not cut.
    pub fn cut(&self, snap: Snap) -> Result<Vec<String>> {
        if self.units.unit == PassageUnit::Tokens {
            return Err(Error::Parameter {
                name: "`unit`",
                value: self.units.unit.to_string(),
                expected: "a unit of texts: lists of tokens are not cut".to_owned(),
            });
        }
        let mut shrinking = Shrinking::new(self.units, snap);
        let mut spans = self.spans.iter().peekable();
        let documents = self.texts.reference..self.texts.len();
        let left = documents.map(|document| {
            let own = std::iter::from_fn(|| spans.next_if(|span| span.document == document));
            let own: Vec<Range<usize>> = own.map(|span| span.stated.clone()).collect();
            let text = self.texts.text(document);
            let mut left = String::with_capacity(text.len());
            let mut from = 0;
            for cut in shrinking.cuts(text, &own) {
                left.push_str(&text[from..cut.start]);
                from = cut.end;
            }
            left.push_str(&text[from..]);
            left
        });
        Ok(left.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simgpu::progress::Silent;

    /// The lines of texts that stand before, by comparing each with all.
    fn repeated_lines(texts: &[&str], least: usize) -> Vec<(usize, String, usize)> {
        let lines = |row: usize| {
            texts[row]
                .lines()
                .map(str::trim)
                .filter(move |line| line.chars().count() >= least)
        };
        let mut seen: Vec<(usize, &str)> = Vec::new();
        let mut repeated = Vec::new();
        for row in 0..texts.len() {
            for line in lines(row) {
                match seen.iter().find(|(_, known)| *known == line) {
                    Some((source, _)) => repeated.push((row, line.to_owned(), *source)),
                    None => seen.push((row, line)),
                }
            }
        }
        repeated
    }

    #[test]
    fn lines_of_texts_are_those_that_stand_before() {
        let texts = [
            "one é line\nshort\nnext line",
            " one é line\nshort",
            "",
            "next line\nnext line\nother",
        ];
        for least in [1, 6, 9, 30] {
            let units = PassageUnits {
                min_length: least.try_into().unwrap(),
                ..PassageUnits::of(PassageUnit::Lines)
            };
            let found = PassagesInMemory::new(units)
                .find(&texts[..], &Silent)
                .unwrap();
            let mut lines = Vec::new();
            for found in found {
                let text = &texts[found.row][found.bytes];
                assert_eq!(text, &texts[found.source_row][found.source_bytes]);
                assert!(found.exact);
                // Lines that follow each other at both places are one piece.
                assert_eq!(found.length, text.lines().count());
                let piece_lines = text.lines().map(|line| line.trim().to_owned());
                lines.extend(piece_lines.map(|line| (found.row, line, found.source_row)));
            }
            assert_eq!(lines, repeated_lines(&texts, least), "{least}");
        }
    }

    #[test]
    fn documents_of_many_lines_are_one() {
        let texts = ["a line\nb\na line", "a line\nc\na line"];
        let units = PassageUnits {
            min_length: 3.try_into().unwrap(),
            ..PassageUnits::of(PassageUnit::Lines)
        };
        let search = PassagesInMemory {
            other_documents: true,
            ..PassagesInMemory::new(units)
        };
        let rows: Vec<_> = search
            .find(&texts[..], &Silent)
            .unwrap()
            .iter()
            .map(|found| (found.row, found.source_row))
            .collect();
        assert_eq!(rows, [(1, 0), (1, 0)]);
        let tokens = PassageUnits::of(PassageUnit::Tokens);
        assert!(
            PassagesInMemory::new(tokens)
                .find(&texts[..], &Silent)
                .is_err()
        );
    }

    #[test]
    fn what_a_reference_has_is_cut() {
        let units = PassageUnits {
            min_length: 3.try_into().unwrap(),
            ..PassageUnits::of(PassageUnit::Words)
        };
        let search = PassagesInMemory::new(units);
        let texts = ["x a b c y", "d e f", "d e f z"];
        let reference = ["a b c", "e f g"];
        for (only, expected) in [
            (false, ["x y", "d e f", "z"]),
            (true, ["x y", "d e f", "d e f z"]),
        ] {
            let search = PassagesInMemory {
                only_against: only,
                ..search
            };
            let found = search.find_against(&texts[..], Some(&reference[..]), &Silent);
            let found = found.unwrap();
            assert_eq!(found.cut(Snap::Words).unwrap(), expected);
            let first = &found.passages[0];
            assert_eq!(
                (first.row, first.in_reference, first.source_row),
                (0, true, 0)
            );
        }
        let found = search.find_against(&texts[..], None, &Silent).unwrap();
        assert_eq!(found.cut(Snap::Words).unwrap(), ["x a b c y", "d e f", "z"]);
    }
}
