//! The search on disk against the definition.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;

use proptest::prelude::*;

use super::super::choice::PassageChoice;
use super::super::lengths::Lengths;
use super::super::tests::definition::{ConditionCase, condition_cases, covered, pieces_where};
use super::super::tests::hostile::{hostile, patchwork};
use super::super::units::{PassageUnit, PassageUnits, UnitTexts};
use super::super::{Occurrences, Piece};
use super::first_places::{MappedPlaces, WindowMaps};
use super::listed::ListedRegions;
use super::others::NextPlaces;
use super::regions::regions;
use super::search::DiskSearch;
use super::text_reader::TextReader;
use simgpu::error::Result;
use simgpu::pipeline::UnitPlaces;
use simgpu::progress::Silent;
use simgpu::store::spill::{Budget, Spill};

/// Documents in chunks.
struct TextChunks(Vec<UnitTexts>);

impl TextChunks {
    fn new(texts: &[Vec<u8>], units: PassageUnits, chunk: usize) -> Self {
        let mut finder = UnitPlaces::default();
        let chunk_of = |texts: &[Vec<u8>]| {
            let mut chunk = UnitTexts::default();
            for text in texts {
                let text = std::str::from_utf8(text).unwrap();
                chunk.push(text, units, &mut finder).unwrap();
            }
            chunk
        };
        TextChunks(texts.chunks(chunk).map(chunk_of).collect())
    }
}

impl TextReader for TextChunks {
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
struct SearchSetting {
    unit: PassageUnit,
    memory: usize,
    chunk: usize,
    threads: usize,
}

/// Texts that were searched on disk.
struct SearchedOnDisk {
    _folder: tempfile::TempDir,
    spill: Arc<Spill>,
    maps: WindowMaps,
}

impl SearchedOnDisk {
    fn new(texts: &[Vec<u8>], len: usize, setting: SearchSetting) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let spill = Spill::new(&Budget::new(folder.path(), setting.memory)).unwrap();
        let min_length = NonZeroUsize::new(len).unwrap();
        let units = PassageUnits {
            min_length,
            ..PassageUnits::of(setting.unit)
        };
        let chunks = TextChunks::new(texts, units, setting.chunk);
        let lengths = Lengths::new(min_length);
        let mut listed = ListedRegions::new(&spill, 0);
        for chunk in &chunks.0 {
            listed.add(&regions(chunk, &lengths)).unwrap();
        }
        let places = listed.places;
        let search = DiskSearch {
            lengths: &lengths,
            spill: &spill,
            progress: &Silent,
        };
        let starts = listed.end().unwrap();
        let firsts = search.map(listed, &chunks).unwrap();
        SearchedOnDisk {
            maps: WindowMaps {
                firsts,
                others: None,
                starts,
                places,
            },
            _folder: folder,
            spill,
        }
    }

    /// The pieces that are found on disk.
    fn pieces(&mut self, texts: &[Vec<u8>], len: usize, case: ConditionCase) -> Vec<Piece> {
        let conditions = case.conditions;
        let WindowMaps {
            firsts,
            others,
            starts,
            places,
        } = &mut self.maps;
        let next_places = NextPlaces {
            least: conditions.min_count,
            starts: &*starts,
            other_documents: conditions.other_documents
                && conditions.occurrences == Occurrences::All,
        };
        let found = conditions
            .needs_counts()
            .then(|| next_places.find(firsts, &self.spill, *places));
        *others = found.transpose().unwrap();
        let mapped = MappedPlaces::new(firsts, others.as_mut());
        let mut choice = PassageChoice::new(mapped, len, conditions, starts);
        let mut all = Vec::new();
        for (document, text) in texts.iter().enumerate().skip(conditions.reference) {
            choice.begin_document();
            let start = starts[document];
            let windows: Range<usize> = start..start + (text.len() + 1).saturating_sub(len);
            let from = all.len();
            for piece in choice.pieces(windows).unwrap() {
                let source_document = choice.document_of(piece.source);
                all.push(Piece {
                    document,
                    start: piece.from - start,
                    source_document,
                    source_start: piece.source - starts[source_document],
                    len: piece.to - piece.from,
                });
            }
            choice.end_document(case.drops && covered(&all[from..]) * 2 > text.len());
        }
        all
    }
}

/// A check has every so many of all conditions: another share with another number of threads.
const SHARES: usize = 3;

fn check(name: &str, texts: &[Vec<u8>], len: usize, setting: SearchSetting) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(setting.threads);
    let pool = pool.build().unwrap();
    let mut searched = pool.install(|| SearchedOnDisk::new(texts, len, setting));
    let cases = condition_cases(texts.len()).into_iter();
    for case in cases.skip(setting.threads % SHARES).step_by(SHARES) {
        let expected = pieces_where(texts, len, case);
        let found = pool.install(|| searched.pieces(texts, len, case));
        if found != expected {
            let at = found.iter().zip(&expected).position(|(a, b)| a != b);
            let at = at.unwrap_or(found.len().min(expected.len()));
            panic!(
                "{name}: L = {len}, {case:?}, {setting:?}: {:?} instead of {:?}",
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
            let setting = SearchSetting {
                unit: [PassageUnit::Bytes, PassageUnit::Chars][(i + j) % 2],
                memory: 1 << (10 + 4 * (j % 3)),
                chunk: 1 + 7 * (i % 3),
                threads: 1 + j % 3,
            };
            check(name, &texts, len, setting);
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
        let setting = SearchSetting { unit, memory: 1 << memory, chunk, threads };
        check("patchwork", &texts, len, setting);
    }
}
