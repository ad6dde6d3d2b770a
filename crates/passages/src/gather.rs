//! Gathers what a report says of passages ([`PassagesOverview`]).
//!
//! Documents and pieces pass by in order. What is shown follows from them alone, so that it is the same in every run. Memory
//! does not grow with the number of pieces.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::frequent::{CountedPlace, FrequentSources, LISTED, low};
use super::overview::{
    CoveredDocument, CoveredSource, FrequentPassage, LengthBin, PassageExample, PassagesOverview,
};
use super::report::{PassageCounts, PassagesSummary};
use super::units::{PassageUnits, PlacedPiece, TextPart};
use simgpu::error::{Result, row_number};
use simgpu_files::{Lowest, pair_at_random, placed, with_most_documents};
use simgpu_io::{ExampleDocument, Places};

/// Examples of a kind, at most.
const SHOWN: usize = 8;

/// A part of a document that a page shows.
#[derive(Clone, Debug)]
pub(super) struct ShownPart {
    /// The number of the document among all.
    pub(super) row: u32,
    /// Bytes of its text.
    pub(super) bytes: Range<usize>,
}

/// What a report says of passages, and the parts of texts that a page shows with it.
pub(super) struct Gathered {
    pub(super) summary: PassagesSummary,
    pub(super) parts: Vec<ShownPart>,
}

/// What is gathered while documents and pieces pass by, and the counts.
pub(super) struct Gathering<'a> {
    pub(super) counts: PassageCounts,
    pub(super) places: &'a Places,
    min_length: u64,
    /// Pieces by how often the least length can be doubled.
    lengths: BTreeMap<u32, u64>,
    /// The listed files, by number, and the place of each file among them; the last one is for all others.
    listed: Vec<usize>,
    place_of_file: Vec<usize>,
    sources: Vec<CoveredSource>,
    frequent: FrequentSources,
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
        // Files of a reference are not listed.
        documents[..places.reference_files].fill(0);
        let listed = with_most_documents(&documents);
        let mut place_of_file = vec![listed.len(); documents.len()];
        for (at, file) in listed.iter().enumerate() {
            place_of_file[*file] = at;
        }
        let empty = CoveredSource {
            from_reference: (places.reference_files > 0).then_some(0),
            ..CoveredSource::default()
        };
        let mut sources = vec![empty; listed.len() + 1];
        for (documents, at) in documents.into_iter().zip(&place_of_file) {
            sources[*at].documents += documents;
        }
        Gathering {
            counts: PassageCounts::default(),
            places,
            min_length: units.symbols().get().div_ceil(units.stride()) as u64,
            lengths: BTreeMap::new(),
            listed,
            place_of_file,
            sources,
            frequent: FrequentSources::default(),
            most_covered: Lowest::new(LISTED, 1),
            shortest: Lowest::new(SHOWN, 1),
            inexact: Lowest::new(2 * SHOWN, 1),
            // As many as may be among the others, too.
            random: Lowest::new(3 * SHOWN, 1),
        }
    }

    /// Adds and counts the spans of the next document of the inputs, whose text has so many bytes.
    pub(super) fn add_document(
        &mut self,
        row: usize,
        bytes: usize,
        spans: &[TextPart],
    ) -> Result<()> {
        self.counts.add_spans(spans);
        let covered: usize = spans.iter().map(|span| span.bytes.len()).sum();
        let row = row_number(row)?;
        let source = &mut self.sources[self.place_of_file[self.places.file_of(row)]];
        source.bytes += bytes as u64;
        source.covered_bytes += covered as u64;
        if covered > 0 {
            source.covered_documents += 1;
            let document = (row, bytes as u64, covered as u64);
            // The more is covered, the lower the key.
            let key = u64::MAX - covered as u64;
            self.most_covered.offer(key, row, document);
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
        let [file, source_file] = [row, source_row].map(|row| self.places.file_of(row));
        let source = &mut self.sources[self.place_of_file[file]];
        source.pieces += 1;
        source.within_source += u64::from(file == source_file);
        if let Some(from) = &mut source.from_reference {
            *from += u64::from(source_file < self.places.reference_files);
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

    /// Ends the gathering, and names what was chosen to be shown.
    pub(super) fn end(self) -> Result<Gathered> {
        let kind = |why, pieces| ExampleKind { why, pieces };
        let examples = chosen([
            kind("shortest", &self.shortest),
            kind("inexact", &self.inexact),
            kind("random", &self.random),
        ]);
        let frequent = self.frequent.most();
        let mut parts: Vec<ShownPart> = Vec::new();
        for (_, piece) in &examples {
            parts.push(ShownPart {
                row: row_number(piece.document)?,
                bytes: piece.bytes.clone(),
            });
            parts.push(ShownPart {
                row: row_number(piece.source_document)?,
                bytes: piece.source_bytes.clone(),
            });
        }
        parts.extend(frequent.iter().map(|place| ShownPart {
            row: place.row,
            bytes: place.bytes(),
        }));
        let mut rows: BTreeSet<u32> = parts.iter().map(|part| part.row).collect();
        rows.extend(self.most_covered.items().map(|(row, ..)| *row));
        let named = NamedDocuments {
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
                .map(|place| named.frequent(place, at_least))
                .collect::<Result<_>>()?,
            lengths: bins(&self.lengths, self.min_length),
            sources: self.named_sources(),
        };
        let summary = PassagesSummary {
            counts: self.counts,
            overview,
        };
        Ok(Gathered { summary, parts })
    }

    /// The files with their names, and the others.
    fn named_sources(&self) -> Vec<CoveredSource> {
        let documents = self.places.documents_of_files();
        let inputs = &documents[self.places.reference_files..];
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

/// Pieces that are examples for one reason.
struct ExampleKind<'a> {
    why: &'static str,
    pieces: &'a Lowest<PlacedPiece>,
}

/// The examples of each kind, but for those of a kind before.
fn chosen(kinds: [ExampleKind<'_>; 3]) -> Vec<(&'static str, PlacedPiece)> {
    let mut seen = BTreeSet::new();
    let mut examples = Vec::new();
    for ExampleKind { why, pieces } in kinds {
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
struct NamedDocuments<'a> {
    ids: BTreeMap<u32, Box<RawValue>>,
    places: &'a Places,
}

impl NamedDocuments<'_> {
    fn document(&self, row: u32) -> Result<ExampleDocument> {
        placed(row, &self.ids, self.places)
    }

    fn example(&self, why: &'static str, piece: &PlacedPiece) -> Result<PassageExample> {
        let [own, source] = &piece.stated;
        Ok(PassageExample {
            why,
            document: self.document(row_number(piece.document)?)?,
            start: own.start as u64,
            end: own.end as u64,
            source: self.document(row_number(piece.source_document)?)?,
            source_start: source.start as u64,
            source_end: source.end as u64,
            length: piece.len as u64,
            exact: piece.is_exact,
        })
    }

    fn frequent(&self, place: &CountedPlace, at_least: bool) -> Result<FrequentPassage> {
        Ok(FrequentPassage {
            pieces: place.count.pieces,
            at_least,
            length: place.count.length.into(),
            source: self.document(place.row)?,
            start: place.count.stated[0].into(),
            end: place.count.stated[1].into(),
        })
    }
}
