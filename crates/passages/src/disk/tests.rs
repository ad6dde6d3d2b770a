//! The search on disk against the definition.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;

use proptest::prelude::*;

use super::super::brute_force::{Asked, conditions, covered, hostile, patchwork, pieces_where};
use super::super::lengths::Lengths;
use super::super::units::{PassageUnit, PassageUnits, UnitTexts};
use super::super::{Occurrences, Piece};
use super::choose::{Chooser, Known, Rules};
use super::others::Others;
use super::regions::regions;
use super::search::{Listed, Reading, Search};
use simgpu::error::Result;
use simgpu::pipeline::UnitPlaces;
use simgpu::progress::Silent;
use simgpu::store::spill::{Budget, Spill};

/// Documents in chunks.
struct Chunks(Vec<UnitTexts>);

impl Chunks {
    fn new(texts: &[Vec<u8>], units: PassageUnits, chunk: usize) -> Self {
        let mut finder = UnitPlaces::default();
        let of_chunk = |texts: &[Vec<u8>]| {
            let mut chunk = UnitTexts::default();
            for text in texts {
                let text = std::str::from_utf8(text).unwrap();
                chunk.push(text, units, &mut finder).unwrap();
            }
            chunk
        };
        Chunks(texts.chunks(chunk).map(of_chunk).collect())
    }
}

impl Reading for Chunks {
    fn read<T: Send>(
        &self,
        _: &'static str,
        map: &(impl Fn(&UnitTexts) -> T + Sync),
        each: &mut dyn FnMut(&UnitTexts, T) -> Result<()>,
    ) -> Result<()> {
        self.0.iter().try_for_each(|chunk| each(chunk, map(chunk)))
    }
}

/// How a test searches.
#[derive(Clone, Copy, Debug)]
struct How {
    unit: PassageUnit,
    memory: usize,
    chunk: usize,
    threads: usize,
}

/// What is known of the windows of texts.
struct Searched {
    _folder: tempfile::TempDir,
    spill: Arc<Spill>,
    known: Known,
    places: usize,
}

impl Searched {
    fn new(texts: &[Vec<u8>], len: usize, how: How) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let spill = Spill::new(&Budget::new(folder.path(), how.memory)).unwrap();
        let min_length = NonZeroUsize::new(len).unwrap();
        let units = PassageUnits {
            min_length,
            ..PassageUnits::of(how.unit)
        };
        let chunks = Chunks::new(texts, units, how.chunk);
        let lengths = Lengths::new(min_length);
        let mut listed = Listed::new(&spill, 0);
        for chunk in &chunks.0 {
            listed.add(&regions(chunk, &lengths)).unwrap();
        }
        let places = listed.places;
        let search = Search {
            lengths: &lengths,
            spill: &spill,
            progress: &Silent,
        };
        let starts = listed.end().unwrap();
        let map = search.map(listed, &chunks).unwrap();
        let others = None;
        Searched {
            known: Known {
                map,
                others,
                starts,
            },
            _folder: folder,
            spill,
            places,
        }
    }

    /// The pieces that are found on disk.
    fn pieces(&mut self, texts: &[Vec<u8>], len: usize, asked: Asked) -> Vec<Piece> {
        let least = u32::try_from(asked.min_count).unwrap();
        let is_all = asked.occurrences == Occurrences::All;
        let starts = self.known.starts.clone();
        let others = Others {
            least,
            starts: &starts,
            other_documents: is_all && asked.other,
        };
        let others = (least > 2 || is_all)
            .then(|| others.find(&mut self.known.map, &self.spill, self.places));
        self.known.others = others.transpose().unwrap();
        let rules = Rules {
            window: len,
            stride: 1,
            occurrences: asked.occurrences,
            other_documents: asked.other,
            only_reference: asked.reference.1,
            memory: u64::MAX,
        };
        let mut chooser = Chooser::new(rules, &mut self.known, asked.reference.0);
        let mut all = Vec::new();
        for (document, text) in texts.iter().enumerate().skip(asked.reference.0) {
            chooser.begin_document();
            let start = starts[document];
            let windows: Range<usize> = start..start + (text.len() + 1).saturating_sub(len);
            let from = all.len();
            for piece in chooser.pieces(windows).unwrap() {
                let source_document = chooser.document_of(piece.source);
                all.push(Piece {
                    document,
                    start: piece.from - start,
                    source_document,
                    source_start: piece.source - starts[source_document],
                    len: piece.to - piece.from,
                });
            }
            chooser.end_document(asked.drops && covered(&all[from..]) * 2 > text.len());
        }
        all
    }
}

/// A check has every so many of all conditions: another share with another number of threads.
const SHARES: usize = 3;

fn check(name: &str, texts: &[Vec<u8>], len: usize, how: How) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(how.threads);
    let pool = pool.build().unwrap();
    let mut searched = pool.install(|| Searched::new(texts, len, how));
    let asked = conditions(texts.len()).into_iter();
    for asked in asked.skip(how.threads % SHARES).step_by(SHARES) {
        let expected = pieces_where(texts, len, asked);
        let found = pool.install(|| searched.pieces(texts, len, asked));
        if found != expected {
            let at = found.iter().zip(&expected).position(|(a, b)| a != b);
            let at = at.unwrap_or(found.len().min(expected.len()));
            panic!(
                "{name}: L = {len}, {asked:?}, {how:?}: {:?} instead of {:?}",
                found.get(at),
                expected.get(at)
            );
        }
    }
}

#[test]
fn hostile_texts_have_the_passages_of_the_definition() {
    for (i, (name, texts)) in hostile(2_500).into_iter().enumerate() {
        for (j, len) in [1, 5, 33, 100, 400].into_iter().enumerate() {
            let how = How {
                unit: [PassageUnit::Bytes, PassageUnit::Chars][(i + j) % 2],
                memory: 1 << (10 + 4 * (j % 3)),
                chunk: 1 + 7 * (i % 3),
                threads: 1 + j % 3,
            };
            check(name, &texts, len, how);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn random_texts_have_the_passages_of_the_definition(
        seed: u64,
        documents in 1..40usize,
        alphabet in 1..27usize,
        len in 1..110usize,
        memory in 8..24u32,
        chunk in 1..10usize,
        is_wide: bool,
        threads in 1..6usize,
    ) {
        let texts = patchwork(&mut { seed }, documents, alphabet);
        let unit = if is_wide { PassageUnit::Chars } else { PassageUnit::Bytes };
        let how = How { unit, memory: 1 << memory, chunk, threads };
        check("patchwork", &texts, len, how);
    }
}
