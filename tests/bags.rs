//! Bags: shingles that are counted, against counts made by hand.

use std::collections::BTreeMap;

use proptest::prelude::*;
use simgpu::backend::{Backend, Hardware};
use simgpu::documents::{Document, TextBatch};
use simgpu::engine::Engine;
use simgpu::pipeline::{
    Banding, Scratch, ShingleBatch, Shingler, Shingling, Signatures, Similarity, Unit, Weighting,
    compare,
};
use simgpu::progress::Silent;
use simgpu::scheme::{Hashes, Scheme, Width};
use simgpu::search::{DocumentPair, Identical, Pairs, Search, pairs};
use simgpu::simd::Isa;
use simgpu::store::ExactSets;

fn counted(unit: Unit, size: usize) -> Shingling {
    Shingling {
        size: size.try_into().unwrap(),
        weighting: Weighting::Counts,
        ..Shingling::of(unit)
    }
}

/// The sum of the lesser counts and that of the greater ones, of runs of `size` words.
fn overlap(a: &str, b: &str, size: usize) -> (usize, usize) {
    let mut counts: BTreeMap<Vec<&str>, [usize; 2]> = BTreeMap::new();
    for (side, text) in [a, b].into_iter().enumerate() {
        let words: Vec<&str> = text.split_whitespace().collect();
        let runs = match words.len() {
            0 => Vec::new(),
            few if few < size => vec![words.clone()],
            _ => words.windows(size).map(<[&str]>::to_vec).collect(),
        };
        for run in runs {
            counts.entry(run).or_default()[side] += 1;
        }
    }
    let sum = |of: fn(&[usize; 2]) -> usize| counts.values().map(of).sum();
    (sum(|[a, b]| *a.min(b)), sum(|[a, b]| *a.max(b)))
}

/// A text of few different words.
fn any_text() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec!["a", "b", "c", "d"]);
    prop::collection::vec(word, 0..40).prop_map(|words| words.join(" "))
}

proptest! {
    #[test]
    fn exact_similarities_are_those_of_bags(a in any_text(), b in any_text(), size in 1usize..4) {
        let scheme = Scheme::default();
        let (shared, union) = overlap(&a, &b, size);
        let shingler = Shingler::new(counted(Unit::Words, size), &scheme, None).unwrap();
        let signer = Backend::Simd.signer(&scheme).unwrap();
        let compared = compare([&a, &b], &shingler, &*signer).unwrap();
        prop_assert_eq!((compared.shared, compared.union()), (shared, union));

        let mut sets = ExactSets::default();
        let (mut scratch, mut hashes) = (Scratch::default(), Vec::new());
        for (position, text) in (0..).zip([&a, &b]) {
            shingler.exact_hashes(Document::Text(text), &mut scratch, &mut hashes);
            sets.insert(position, &hashes).unwrap();
        }
        let expected = if union == 0 { 0.0 } else { shared as f64 / union as f64 };
        prop_assert_eq!(sets.of_pairs(&[(0, 1)]).unwrap(), [Some(expected)]);
    }
}

/// MurmurHash3's finaliser, written anew.
fn fmix(hash: u64) -> u64 {
    let step = |hash: u64, factor: u64| (hash ^ hash >> 33).wrapping_mul(factor);
    let mixed = step(step(hash, 0xFF51_AFD7_ED55_8CCD), 0xC4CE_B9FE_1A85_EC53);
    mixed ^ mixed >> 33
}

fn copy_of_64(hash: u64, i: u64) -> u64 {
    match i {
        0 => hash,
        _ => fmix(hash.wrapping_add(i.wrapping_mul(0x9E37_79B9_7F4A_7C15))),
    }
}

fn copy_of_32(hash: u64, i: u64) -> u64 {
    match i {
        0 => hash,
        _ => fmix(i << 32 | hash) & 0xFFFF_FFFF,
    }
}

/// Replaces each occurrence of a hash but the first by a copy.
fn numbered(hashes: &[u64], copy: fn(u64, u64) -> u64) -> Vec<u64> {
    let mut seen = BTreeMap::new();
    let number = |hash: &u64| {
        let next: &mut u64 = seen.entry(*hash).or_default();
        *next += 1;
        copy(*hash, *next - 1)
    };
    hashes.iter().map(number).collect()
}

fn widened(hashes: Hashes<'_>) -> Vec<u64> {
    match hashes {
        Hashes::U32(hashes) => hashes.iter().copied().map(u64::from).collect(),
        Hashes::U64(hashes) => hashes.to_vec(),
    }
}

fn repetitive() -> String {
    let verse = "row, row, row your boat gently down the stream; merrily, merrily, merrily ";
    format!("{}life is but a naïve “dream” 東京 東京", verse.repeat(40))
}

#[test]
fn every_scheme_counts_every_unit() {
    let text = repetitive();
    let units = [
        (Unit::Words, 1),
        (Unit::Words, 2),
        (Unit::StopWords(["the", "row"].into_iter().collect()), 3),
        (Unit::Bytes, 4),
        (Unit::Chars, 4),
        (Unit::Pieces, 2),
    ];
    for scheme in Scheme::names().map(|name| Scheme::named(name).unwrap()) {
        for (unit, size) in units.clone() {
            let shingling = counted(unit.clone(), size);
            let shingler = Shingler::new(shingling.clone(), &scheme, None).unwrap();
            let plain = Shingling {
                weighting: Weighting::Equal,
                ..shingling
            };
            let plain = Shingler::new(plain, &scheme, None).unwrap();
            let mut exact = Vec::new();
            let mut scratch = Scratch::default();
            plain.exact_hashes(Document::Text(&text), &mut scratch, &mut exact);
            let hashes = widened(plain.shingle(&[&text]).sets().hashes());
            let is_narrow = shingler.width() == Width::U32;
            let expected = if shingler.hash().to_string() == "words-v1" {
                let copies = numbered(&exact, copy_of_64);
                let cut = copies
                    .iter()
                    .map(|copy| copy >> if is_narrow { 32 } else { 0 });
                cut.collect()
            } else if is_narrow {
                numbered(&hashes, copy_of_32)
            } else {
                numbered(&hashes, copy_of_64)
            };
            let what = format!("{scheme}, {size} {unit}");
            assert!(expected.len() > 30 && expected != hashes, "{what}");
            for isa in Isa::available() {
                let shingler = shingler.clone().with_isa(*isa);
                let mut digested = ShingleBatch::new(shingler.width());
                shingler.shingle_with_digests(&[&text], &mut scratch, &mut digested);
                for batch in [&shingler.shingle(&[&text]), &digested] {
                    assert_eq!(widened(batch.sets().hashes()), expected, "{what}, {isa}");
                }
                let mut pieces = Vec::new();
                shingler.for_each_piece(Document::Text(&text), 50, &mut scratch, |piece| {
                    pieces.extend(widened(piece.hashes()));
                });
                assert_eq!(pieces, expected, "{what}, {isa}, in pieces");
            }
            let mut copies = Vec::new();
            shingler.exact_hashes(Document::Text(&text), &mut scratch, &mut copies);
            assert_eq!(copies, numbered(&exact, copy_of_64), "{what}");
        }
    }
}

#[test]
fn bags_without_repeats_sign_as_sets() {
    let texts = ["no word of this text occurs twice", "nor in that one"];
    for scheme in Scheme::names().map(|name| Scheme::named(name).unwrap()) {
        let sign = |weighting| {
            let shingling = Shingling {
                weighting,
                ..Shingling::default()
            };
            let engine = Engine::builder()
                .scheme(scheme.clone())
                .shingling(shingling);
            engine.build().unwrap().sign(&texts).unwrap()
        };
        assert!(
            sign(Weighting::Counts) == sign(Weighting::Equal),
            "{scheme}"
        );
    }
}

#[test]
fn backends_agree_on_bags() {
    let long = repetitive().repeat(40);
    let texts: TextBatch = ["", "a a a", &repetitive(), &long, "a"]
        .into_iter()
        .collect();
    for scheme in Scheme::names().map(|name| Scheme::named(name).unwrap()) {
        for unit in [Unit::Words, Unit::Bytes] {
            let size = unit.default_size().get();
            let shingler = Shingler::new(counted(unit, size), &scheme, None).unwrap();
            let scalar = Backend::Scalar.signer(&scheme).unwrap();
            let expected = Signatures::of_documents(&*scalar, &texts, &shingler).unwrap();
            for isa in Isa::available() {
                let hardware = Hardware {
                    isa: *isa,
                    ..Hardware::default()
                };
                let engine = Engine::builder()
                    .scheme(scheme.clone())
                    .shingling(shingler.shingling().clone())
                    .backend(Backend::Simd)
                    .hardware(hardware)
                    .build()
                    .unwrap();
                assert!(engine.sign(&texts).unwrap() == expected, "{scheme} {isa}");
            }
        }
    }
}

/// Texts of random words, of which some occur in both, more or less often.
fn pair_of_texts(seed: u64) -> [String; 2] {
    let mut texts = [String::new(), String::new()];
    for word in 0..60 {
        let random = fmix(seed << 8 | word);
        let counts = [random % 4, random >> 8 & 3];
        for (text, count) in texts.iter_mut().zip(counts) {
            for _ in 0..count {
                *text += &format!("w{word} ");
            }
        }
    }
    texts
}

#[test]
fn estimates_of_bags_have_no_bias() {
    for scheme in ["affine32", "affine64", "mersenne31", "mersenne61", "fast"] {
        let scheme = Scheme::named(scheme).unwrap();
        let shingler = Shingler::new(counted(Unit::Words, 1), &scheme, None).unwrap();
        let (mut errors, mut variance) = (0.0, 0.0);
        for seed in 0..400u32 {
            let [a, b] = pair_of_texts(u64::from(seed));
            let (shared, union) = overlap(&a, &b, 1);
            let jaccard = shared as f64 / union as f64;
            let signer = Backend::Simd
                .signer(&scheme.clone().with_seed(seed))
                .unwrap();
            let signed = Signatures::of_documents(&*signer, &[a, b], &shingler).unwrap();
            errors += signed.estimate(0, 1) - jaccard;
            variance += jaccard * (1.0 - jaccard) / 128.0;
        }
        let deviation = errors / f64::sqrt(variance);
        assert!(
            deviation.abs() < 4.0,
            "{scheme}: {deviation} standard errors"
        );
    }
}

#[test]
fn pairs_of_bags_have_their_similarity() {
    let texts: Vec<String> = (0..40).flat_map(pair_of_texts).collect();
    for (scheme, unit) in [
        ("affine32", Unit::Words),
        ("affine64", Unit::Words),
        ("affine32", Unit::Pieces),
        ("datasketch", Unit::Words),
    ] {
        let engine = Engine::builder()
            .scheme(Scheme::named(scheme).unwrap())
            .shingling(counted(unit.clone(), 1))
            .build()
            .unwrap();
        let mut search = Search::new(0.2, engine.scheme()).unwrap();
        search.banding = Banding::new(128, 1, 128).unwrap();
        let task = Pairs {
            identical: Identical::All,
            ..Pairs::new(search)
        };
        let mut found = Vec::new();
        let mut keep = |pair: DocumentPair| {
            found.push(pair);
            Ok(())
        };
        pairs(&texts, &engine, &task, &Silent, &mut keep).unwrap();
        assert!(found.len() > 40, "{scheme} {unit}");
        for pair in found {
            let (a, b) = (&texts[pair.a as usize], &texts[pair.b as usize]);
            let (shared, union) = overlap(&format!("{a} "), b, 1);
            // Pieces include an empty one at the end of each text.
            let end = usize::from(unit == Unit::Pieces);
            let expected = (shared + end) as f64 / (union + end) as f64;
            assert_eq!(pair.similarity, Some(expected), "{scheme} {unit}");
        }
    }
}
