//! Gathers what a report says of passages ([`PassagesOverview`]).
//!
//! Documents and pieces pass by in order. What is shown follows from them alone, so that it is the same in every run. Memory
//! does not grow with the number of pieces.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::overview::{
    CoveredDocument, CoveredSource, FrequentPassage, LengthBin, PassageExample, PassagesOverview,
};
use super::report::PassageCounts;
use super::units::{PassageUnits, PlacedPiece};
use simgpu::error::{Result, row_number};
use simgpu_files::{Lowest, pair_at_random, placed, with_most_documents};
use simgpu_io::{ExampleDocument, Places};

/// Examples of a kind, at most.
const SHOWN: usize = 8;

/// Frequent passages, and documents with the most covered bytes, at most.
const LISTED: usize = 12;

/// Places of sources that are counted at a time, at most.
const COUNTED: usize = 1 << 18;

/// A part of a document, in bytes of its text.
pub(super) type Part = (u32, Range<usize>);

/// What is gathered while documents and pieces pass by, and the counts.
pub(super) struct Gathering<'a> {
    pub(super) counts: PassageCounts,
    pub(super) places: &'a Places,
    min_length: u64,
    /// Pieces by how often the least length can be doubled.
    lengths: BTreeMap<u32, u64>,
    /// The listed files, by number, and the place of each file among them; the last one is for all others.
    listed: Vec<usize>,
    of_file: Vec<usize>,
    sources: Vec<CoveredSource>,
    frequent: Frequent,
    most_covered: Lowest<(u32, u64, u64)>,
    shortest: Lowest<PlacedPiece>,
    inexact: Lowest<PlacedPiece>,
    random: Lowest<PlacedPiece>,
}

/// What is gathered of documents, for a checkpoint.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct GatheredDocuments {
    counts: PassageCounts,
    sources: Vec<CoveredSource>,
    most_covered: Lowest<(u32, u64, u64)>,
}

impl<'a> Gathering<'a> {
    pub(super) fn new(units: PassageUnits, places: &'a Places) -> Self {
        let mut documents = places.documents_of_files();
        documents[..places.of_reference].fill(0);
        let listed = with_most_documents(&documents);
        let mut of_file = vec![listed.len(); documents.len()];
        for (at, file) in listed.iter().enumerate() {
            of_file[*file] = at;
        }
        let of_source = CoveredSource {
            from_reference: (places.of_reference > 0).then_some(0),
            ..CoveredSource::default()
        };
        let mut sources = vec![of_source; listed.len() + 1];
        for (documents, at) in documents.into_iter().zip(&of_file) {
            sources[*at].documents += documents;
        }
        Gathering {
            counts: PassageCounts::default(),
            places,
            min_length: units.symbols().get().div_ceil(units.stride()) as u64,
            lengths: BTreeMap::new(),
            listed,
            of_file,
            sources,
            frequent: Frequent::default(),
            most_covered: Lowest::new(LISTED, 1),
            shortest: Lowest::new(SHOWN, 1),
            inexact: Lowest::new(2 * SHOWN, 1),
            // As many as may be among the others, too.
            random: Lowest::new(3 * SHOWN, 1),
        }
    }

    /// Adds the next document of the inputs, of a text of so many bytes, of which so many are covered.
    pub(super) fn add_document(&mut self, row: usize, bytes: usize, covered: usize) -> Result<()> {
        let row = row_number(row)?;
        let source = &mut self.sources[self.of_file[self.places.file_of(row)]];
        source.bytes += bytes as u64;
        source.covered_bytes += covered as u64;
        if covered > 0 {
            source.covered_documents += 1;
            let of_document = (row, bytes as u64, covered as u64);
            // The more is covered, the lower the key.
            let key = u64::MAX - covered as u64;
            self.most_covered.offer(key, row, of_document);
        }
        Ok(())
    }

    /// What is gathered of documents, before pieces.
    pub(super) fn documents(&self) -> GatheredDocuments {
        GatheredDocuments {
            counts: self.counts.clone(),
            sources: self.sources.clone(),
            most_covered: self.most_covered.clone(),
        }
    }

    /// Goes on from what was gathered of documents.
    pub(super) fn restore(&mut self, documents: GatheredDocuments) {
        self.counts = documents.counts;
        self.sources = documents.sources;
        self.most_covered = documents.most_covered;
    }

    /// Adds the next piece.
    pub(super) fn add(&mut self, piece: &PlacedPiece) -> Result<()> {
        self.counts.add(piece);
        let row = row_number(piece.document)?;
        let source_row = row_number(piece.source_document)?;
        let [file, of] = [row, source_row].map(|row| self.places.file_of(row));
        let source = &mut self.sources[self.of_file[file]];
        source.pieces += 1;
        source.within_source += u64::from(file == of);
        if let Some(from) = &mut source.from_reference {
            *from += u64::from(of < self.places.of_reference);
        }
        let length = piece.len as u64;
        let doubled = (length / self.min_length).checked_ilog2().unwrap_or(0);
        *self.lengths.entry(doubled).or_insert(0) += 1;
        self.frequent.add(source_row, piece);
        self.shortest.offer(length, row, piece.clone());
        let key = pair_at_random(row, low(piece.bytes.start));
        self.random.offer(key, row, piece.clone());
        if !piece.is_exact {
            self.inexact.offer(key, row, piece.clone());
        }
        Ok(())
    }

    /// What the report says, and the parts of texts that a page shows beside it.
    pub(super) fn end(self) -> Result<(PassageCounts, PassagesOverview, Vec<Part>)> {
        let examples = chosen([
            ("shortest", &self.shortest),
            ("inexact", &self.inexact),
            ("random", &self.random),
        ]);
        let frequent = self.frequent.most();
        let mut parts: Vec<Part> = Vec::new();
        for (_, piece) in &examples {
            parts.push((row_number(piece.document)?, piece.bytes.clone()));
            parts.push((
                row_number(piece.source_document)?,
                piece.source_bytes.clone(),
            ));
        }
        parts.extend(frequent.iter().map(|of| (of.row, of.bytes())));
        let mut rows: BTreeSet<u32> = parts.iter().map(|(row, _)| *row).collect();
        rows.extend(self.most_covered.items().map(|(row, ..)| *row));
        let named = Named {
            ids: self.places.ids_of(&rows)?,
            places: self.places,
        };
        let at_least = self.frequent.is_pruned();
        let most_covered = self.most_covered.items();
        let most_covered = most_covered.map(|(row, bytes, covered_bytes)| {
            Ok(CoveredDocument {
                document: named.document(*row)?,
                bytes: *bytes,
                covered_bytes: *covered_bytes,
            })
        });
        let overview = PassagesOverview {
            most_covered: most_covered.collect::<Result<_>>()?,
            examples: examples
                .iter()
                .map(|(why, piece)| named.example(why, piece))
                .collect::<Result<_>>()?,
            frequent: frequent
                .iter()
                .map(|of| named.frequent(of, at_least))
                .collect::<Result<_>>()?,
            lengths: bins(&self.lengths, self.min_length),
            sources: self.named_sources(),
        };
        Ok((self.counts, overview, parts))
    }

    /// The files with their names, and the others.
    fn named_sources(&self) -> Vec<CoveredSource> {
        let documents = self.places.documents_of_files();
        let inputs = &documents[self.places.of_reference..];
        let with_documents = inputs.iter().filter(|documents| **documents > 0).count();
        let others = (with_documents - self.listed.len()) as u64;
        let mut sources = self.sources.clone();
        for (source, file) in sources.iter_mut().zip(&self.listed) {
            source.source = Some(self.places.files[*file].relative.clone());
        }
        match sources.last_mut() {
            Some(last) if others > 0 => last.others = Some(others),
            _ => sources.truncate(self.listed.len()),
        }
        sources
    }
}

/// The low bits of a place, which tell places in texts of less than 4 GiB apart.
#[allow(
    clippy::cast_possible_truncation,
    reason = "a text has less than 4 GiB"
)]
fn low(place: usize) -> u32 {
    place as u32
}

/// The examples of each kind, but for those of a kind before.
fn chosen(kinds: [(&'static str, &Lowest<PlacedPiece>); 3]) -> Vec<(&'static str, PlacedPiece)> {
    let mut seen = BTreeSet::new();
    let mut examples = Vec::new();
    for (why, pieces) in kinds {
        let new = pieces.items();
        let new = new.filter(|piece| seen.insert((piece.document, piece.bytes.start)));
        let new: Vec<PlacedPiece> = new.take(SHOWN).cloned().collect();
        examples.extend(new.into_iter().map(|piece| (why, piece)));
    }
    examples
}

fn bins(lengths: &BTreeMap<u32, u64>, min_length: u64) -> Vec<LengthBin> {
    let bins = lengths.iter().map(|(doubled, pieces)| LengthBin {
        least: min_length << doubled,
        pieces: *pieces,
    });
    bins.collect()
}

/// Documents with their ids.
struct Named<'a> {
    ids: BTreeMap<u32, Box<RawValue>>,
    places: &'a Places,
}

impl Named<'_> {
    fn document(&self, row: u32) -> Result<ExampleDocument> {
        placed(row, &self.ids, self.places)
    }

    fn example(&self, why: &'static str, piece: &PlacedPiece) -> Result<PassageExample> {
        let [at, of_source] = &piece.stated;
        Ok(PassageExample {
            why,
            document: self.document(row_number(piece.document)?)?,
            start: at.start as u64,
            end: at.end as u64,
            source: self.document(row_number(piece.source_document)?)?,
            source_start: of_source.start as u64,
            source_end: of_source.end as u64,
            length: piece.len as u64,
            exact: piece.is_exact,
        })
    }

    fn frequent(&self, of: &CountedPlace, at_least: bool) -> Result<FrequentPassage> {
        Ok(FrequentPassage {
            pieces: of.count.pieces,
            at_least,
            length: of.count.length.into(),
            source: self.document(of.row)?,
            start: of.count.stated[0].into(),
            end: of.count.stated[1].into(),
        })
    }
}

/// Counts pieces by where their sources begin. If too many are different, rare ones are left out, so that a count may be too
/// small (lossy counting; Manku and Motwani 2002).
#[derive(Default)]
struct Frequent {
    /// By document and first byte.
    counts: HashMap<(u32, u32), Count>,
    /// Places with so few pieces were left out.
    left_out: u64,
}

#[derive(Clone, Copy)]
struct Count {
    pieces: u64,
    /// Of the shortest piece: where it ends, its place as results state it, and its length in units.
    end: u32,
    stated: [u32; 2],
    length: u32,
}

struct CountedPlace {
    row: u32,
    start: u32,
    count: Count,
}

impl CountedPlace {
    fn bytes(&self) -> Range<usize> {
        self.start as usize..self.count.end as usize
    }
}

impl Frequent {
    fn add(&mut self, row: u32, piece: &PlacedPiece) {
        let of_piece = Count {
            pieces: 0,
            end: low(piece.source_bytes.end),
            stated: [low(piece.stated[1].start), low(piece.stated[1].end)],
            length: low(piece.len),
        };
        let key = (row, low(piece.source_bytes.start));
        let count = self.counts.entry(key).or_insert(of_piece);
        if of_piece.end < count.end {
            *count = Count {
                pieces: count.pieces,
                ..of_piece
            };
        }
        count.pieces += 1;
        while self.counts.len() > COUNTED {
            self.left_out += 1;
            let left_out = self.left_out;
            self.counts.retain(|_, count| count.pieces > left_out);
        }
    }

    fn is_pruned(&self) -> bool {
        self.left_out > 0
    }

    /// Those with the most pieces, two or more. Of places that overlap, the one with the most.
    fn most(&self) -> Vec<CountedPlace> {
        let repeated = self.counts.iter().filter(|(_, count)| count.pieces > 1);
        let mut all: Vec<CountedPlace> = repeated
            .map(|((row, start), count)| CountedPlace {
                row: *row,
                start: *start,
                count: *count,
            })
            .collect();
        all.sort_unstable_by_key(|of| (Reverse(of.count.pieces), of.row, of.start));
        let mut most: Vec<CountedPlace> = Vec::new();
        for of in all {
            let bytes = of.bytes();
            let overlaps = |other: &CountedPlace| {
                let others = other.bytes();
                other.row == of.row && others.start < bytes.end && bytes.start < others.end
            };
            if !most.iter().any(overlaps) {
                most.push(of);
            }
            if most.len() == LISTED {
                break;
            }
        }
        most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(start: usize, end: usize) -> PlacedPiece {
        PlacedPiece {
            document: 9,
            bytes: 0..end - start,
            source_document: 3,
            source_bytes: start..end,
            stated: [0..end - start, start..end],
            len: end - start,
            is_exact: true,
        }
    }

    #[test]
    fn frequent_places_are_counted_by_hand() {
        let mut frequent = Frequent::default();
        for (start, end) in [(5, 20), (5, 15), (5, 40), (9, 30), (9, 30), (50, 60)] {
            frequent.add(3, &piece(start, end));
        }
        let most = frequent.most();
        // The place at 9 lies in that at 5, and the one at 50 has a single piece.
        assert_eq!(most.len(), 1);
        assert_eq!((most[0].bytes(), most[0].count.pieces), (5..15, 3));
        assert!(!frequent.is_pruned());
    }

    #[test]
    fn many_different_places_hide_no_frequent_one() {
        let mut frequent = Frequent::default();
        for i in 0..COUNTED + 9 {
            frequent.add(3, &piece(10 * i, 10 * i + 5));
            if i % 1000 == 0 {
                frequent.add(7, &piece(0, 5));
            }
        }
        assert!(frequent.is_pruned() && frequent.counts.len() <= COUNTED);
        let most = frequent.most();
        let all = (COUNTED as u64 + 9).div_ceil(1000);
        assert_eq!(most[0].row, 7);
        assert!(most[0].count.pieces <= all && most[0].count.pieces + frequent.left_out >= all);
    }
}
