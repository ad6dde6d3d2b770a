//! Passages of texts in memory.

use std::ops::Range;

use super::search::{PassageSearch, Symbols};
use super::sources::Occurrences;
use super::units::{PassageUnit, PassageUnits, UnitTexts};
use crate::error::{Error, Result};
use crate::pipeline::UnitPlaces;
use crate::progress::Progress;

/// A search for passages in texts. [`PassagesRun`](super::PassagesRun) searches files, and can cut them out.
///
/// ```
/// use simgpu::passages::{PassageUnit, PassageUnits, PassagesInMemory};
/// use simgpu::progress::Silent;
///
/// let units = PassageUnits { min_length: 3.try_into()?, ..PassageUnits::of(PassageUnit::Words) };
/// let found = PassagesInMemory::new(units).find(&["a rose is red", "what a rose is"], &Silent)?;
/// assert_eq!((found[0].row, found[0].bytes.clone()), (1, 5..14)); // a rose is
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct PassagesInMemory {
    units: PassageUnits,
    occurrences: Occurrences,
    min_count: u32,
    other_documents: bool,
}

/// A part of a text that equals a part of the same or another one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextPassage {
    /// The number of the text.
    pub row: usize,
    /// Its place, in bytes.
    pub bytes: Range<usize>,
    /// The number of the text of its source.
    pub source_row: usize,
    /// The place of its source, in bytes.
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
        }
    }

    /// Which occurrences are found; default those that occur earlier.
    pub fn occurrences(self, occurrences: Occurrences) -> Self {
        PassagesInMemory {
            occurrences,
            ..self
        }
    }

    /// Finds only passages that occur so often, all occurrences counted; default 2.
    pub fn min_count(self, count: u32) -> Self {
        PassagesInMemory {
            min_count: count,
            ..self
        }
    }

    /// Finds only passages that occur in another text; default false.
    pub fn other_documents(self, other_documents: bool) -> Self {
        PassagesInMemory {
            other_documents,
            ..self
        }
    }

    /// The passages, in the order of the texts, on the threads of the current rayon pool. Progress counts units in the stage
    /// `compare`.
    ///
    /// # Errors
    /// [`Error::Parameter`] for texts of 4 GiB or more, for [`PassageUnit::Tokens`], and for
    /// [`PassageUnits::bytes_equal`] beside units that are normalised; those of [`PassageSearch::find`].
    pub fn find(&self, texts: &[&str], progress: &dyn Progress) -> Result<Vec<TextPassage>> {
        self.units.check()?;
        if self.units.unit == PassageUnit::Tokens {
            return Err(Error::Parameter {
                name: "`unit`",
                value: self.units.unit.to_string(),
                expected: "a unit of texts".to_owned(),
            });
        }
        let (mut all, mut finder) = (UnitTexts::default(), UnitPlaces::default());
        for (row, text) in texts.iter().enumerate() {
            let pushed = all.push(text, self.units, &mut finder);
            pushed.map_err(|problem| Error::Parameter {
                name: "the texts",
                value: format!("such that of row {row} {problem}"),
                expected: "texts of less than 4 GiB".to_owned(),
            })?;
        }
        let mut search = PassageSearch::new(self.units.symbols())
            .occurrences(self.occurrences)
            .min_count(self.min_count)
            .other_documents(self.other_documents);
        search.set_stride(self.units.stride());
        let (symbols, ends): (Symbols<'_>, &[usize]) = all.symbols();
        let found = search.find_in_documents(symbols, ends, &all.documents(), progress)?;
        let pieces = found.pieces().iter();
        let pieces = pieces.map(|piece| {
            let piece = all.placed(piece, self.units);
            TextPassage {
                row: piece.document,
                bytes: piece.bytes,
                source_row: piece.source_document,
                source_bytes: piece.source_bytes,
                length: piece.len,
                exact: piece.is_exact,
            }
        });
        Ok(pieces.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Silent;

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
            let found = PassagesInMemory::new(units).find(&texts, &Silent).unwrap();
            let mut lines = Vec::new();
            for found in found {
                let text = &texts[found.row][found.bytes];
                assert_eq!(text, &texts[found.source_row][found.source_bytes]);
                assert!(found.exact);
                // Lines that follow each other at both places are one piece.
                assert_eq!(found.length, text.lines().count());
                let of_piece = text.lines().map(|line| line.trim().to_owned());
                lines.extend(of_piece.map(|line| (found.row, line, found.source_row)));
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
        let search = PassagesInMemory::new(units).other_documents(true);
        let rows: Vec<_> = search
            .find(&texts, &Silent)
            .unwrap()
            .iter()
            .map(|found| (found.row, found.source_row))
            .collect();
        assert_eq!(rows, [(1, 0), (1, 0)]);
        let tokens = PassageUnits::of(PassageUnit::Tokens);
        assert!(PassagesInMemory::new(tokens).find(&texts, &Silent).is_err());
    }
}
