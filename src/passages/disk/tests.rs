//! The search on disk against the definition.

use std::num::NonZeroUsize;
use std::ops::Range;

use proptest::prelude::*;

use super::super::brute_force::{Asked, covered, hostile, patchwork, pieces_where};
use super::super::lengths::Lengths;
use super::super::units::{PassageUnit, PassageUnits, UnitTexts};
use super::super::{Occurrences, Piece};
use super::choose::{Chooser, Rules};
use super::regions::{places, regions};
use super::search::{Listed, Reading, Search};
use crate::error::Result;
use crate::pipeline::UnitPlaces;
use crate::progress::Silent;
use crate::store::spill::{Budget, Spill};

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

/// The pieces that are found on disk.
fn found(texts: &[Vec<u8>], len: usize, asked: Asked, how: How) -> Vec<Piece> {
    let folder = tempfile::tempdir().unwrap();
    let spill = Spill::new(&Budget::new(folder.path(), how.memory)).unwrap();
    let min_length = NonZeroUsize::new(len).unwrap();
    let units = PassageUnits {
        min_length,
        ..PassageUnits::of(how.unit)
    };
    let chunks = Chunks::new(texts, units, how.chunk);
    let lengths = Lengths::new(min_length);
    let mut listed = Listed::new(&spill);
    for chunk in &chunks.0 {
        let of_chunk = regions(chunk, &lengths);
        listed.add(places(chunk), &of_chunk).unwrap();
    }
    let search = Search {
        lengths: &lengths,
        spill: &spill,
        progress: &Silent,
    };
    let mut map = search.map(listed, &chunks).unwrap();
    let rules = Rules {
        window: len,
        stride: 1,
        other_documents: asked.other,
        memory: u64::MAX,
    };
    let mut chooser = Chooser::new(rules, &mut map);
    let (mut all, mut start) = (Vec::new(), 0);
    for (document, text) in texts.iter().enumerate() {
        chooser.begin_document(start);
        let windows: Range<usize> = start..start + (text.len() + 1).saturating_sub(len);
        let from = all.len();
        for piece in chooser.pieces(windows).unwrap() {
            let source_document = chooser.document_of(piece.source);
            let source_start: usize = texts[..source_document]
                .iter()
                .map(|text| text.len() + 1)
                .sum();
            all.push(Piece {
                document,
                start: piece.from - start,
                source_document,
                source_start: piece.source - source_start,
                len: piece.to - piece.from,
            });
        }
        chooser.end_document(asked.drops && covered(&all[from..]) * 2 > text.len());
        start += text.len() + 1;
    }
    all
}

fn check(name: &str, texts: &[Vec<u8>], len: usize, how: How) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(how.threads);
    let pool = pool.build().unwrap();
    for (other, drops) in [(false, false), (true, false), (false, true), (true, true)] {
        let asked = Asked {
            occurrences: Occurrences::Later,
            min_count: 2,
            other,
            drops,
            reference: (0, false),
        };
        let expected = pieces_where(texts, len, asked);
        let found = pool.install(|| found(texts, len, asked, how));
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
