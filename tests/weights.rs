//! Weighted tokens, against sums made by hand.

use std::collections::BTreeMap;

use proptest::prelude::*;
use simgpu::Error;
use simgpu::backend::{Backend, Hardware};
use simgpu::documents::{Documents, TokenBatch, WeightedBatch};
use simgpu::engine::{Engine, EngineBuilder};
use simgpu::error::Conflict;
use simgpu::pipeline::{Banding, Shingler, Shingling, Signatures, Unit, Weighting};
use simgpu::progress::Silent;
use simgpu::scheme::{BaseHash, Hashes, Scheme, ShingleHash, WeightScale, Width};
use simgpu::search::{Dedup, Search, dedup};
use simgpu::simd::Isa;

/// Tokens, which are numbers, with their weights.
type Document = Vec<(u32, f64)>;

fn batch(documents: &[Document]) -> WeightedBatch {
    let mut batch = WeightedBatch::default();
    for document in documents {
        for (token, weight) in document {
            batch.push_token(token.to_string().as_bytes(), *weight);
        }
        batch.finish_document();
    }
    batch
}

fn shingling(scale: f64) -> Shingling {
    Shingling {
        weighting: Weighting::Given(WeightScale::new(scale).unwrap()),
        ..Shingling::of(Unit::Tokens)
    }
}

fn engine(scheme: &Scheme, scale: f64) -> EngineBuilder {
    Engine::builder()
        .scheme(scheme.clone())
        .shingling(shingling(scale))
}

/// The sum of the lesser weights divided by the sum of the greater ones.
fn weighted_jaccard(a: &Document, b: &Document) -> f64 {
    let mut weights: BTreeMap<u32, [f64; 2]> = BTreeMap::new();
    for (side, document) in [a, b].into_iter().enumerate() {
        for (token, weight) in document {
            weights.entry(*token).or_default()[side] += weight;
        }
    }
    let lesser: f64 = weights.values().map(|[a, b]| a.min(*b)).sum();
    let greater: f64 = weights.values().map(|[a, b]| a.max(*b)).sum();
    if greater == 0.0 {
        0.0
    } else {
        lesser / greater
    }
}

/// Weights that are multiples of 1/8, so that their sums are exact; some tokens occur several times.
fn any_document() -> impl Strategy<Value = Document> {
    let element = (
        0u32..30,
        (0u32..80).prop_map(|eighths| f64::from(eighths) / 8.0),
    );
    prop::collection::vec(element, 0..40)
}

/// The similarities of all pairs that share a band, of one slot each.
fn similarities(documents: &[Document], engine: &Engine) -> BTreeMap<(u32, u32), f64> {
    let mut search = Search::new(1e-6, engine.scheme()).unwrap();
    search.banding = Banding::new(128, 1, 128).unwrap();
    let task = simgpu::search::Pairs::new(search);
    let mut found = BTreeMap::new();
    let mut keep = |pair: simgpu::search::DocumentPair| {
        found.insert((pair.a, pair.b), pair.similarity.unwrap());
        Ok(())
    };
    simgpu::search::pairs(&batch(documents), engine, &task, &Silent, &mut keep).unwrap();
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn exact_similarities_are_those_of_weights(
        documents in prop::collection::vec(any_document(), 2..6),
        scale in prop::sample::select(vec![1.0, 16.0]),
        scheme in prop::sample::select(vec!["affine32", "affine64", "datasketch"]),
    ) {
        let scheme = Scheme::named(scheme).unwrap();
        let engine = engine(&scheme, scale).build().unwrap();
        for ((a, b), similarity) in similarities(&documents, &engine) {
            let expected = weighted_jaccard(&documents[a as usize], &documents[b as usize]);
            prop_assert_eq!(similarity, expected);
        }
    }

    #[test]
    fn any_weights_are_compared_to_nine_digits(
        a in prop::collection::vec((0u32..9, 0.01f64..50.0), 1..20),
        b in prop::collection::vec((0u32..9, 0.01f64..50.0), 1..20),
    ) {
        let documents = [a, b];
        let engine = engine(&Scheme::default(), 16.0).build().unwrap();
        for similarity in similarities(&documents, &engine).into_values() {
            let expected = weighted_jaccard(&documents[0], &documents[1]);
            prop_assert!((similarity - expected).abs() < 1e-9, "{similarity} {expected}");
        }
    }

    #[test]
    fn order_and_parts_of_a_weight_do_not_matter(document in any_document(), seed in any::<u64>()) {
        let mut other = document.clone();
        other.sort_by_key(|(token, _)| fmix(u64::from(*token) ^ seed));
        // Every other weight in two parts.
        let halves = other.iter().enumerate().flat_map(|(i, (token, weight))| match i % 2 {
            0 => vec![(*token, *weight)],
            _ => vec![(*token, weight * 0.25), (*token, weight * 0.75)],
        });
        let documents = batch(&[document.clone(), halves.collect()]);
        let signatures = engine(&Scheme::default(), 16.0).build().unwrap().sign(&documents).unwrap();
        prop_assert_eq!(signatures.estimate(0, 1), 1.0);
    }
}

/// MurmurHash3's finaliser, written anew.
fn fmix(hash: u64) -> u64 {
    let step = |hash: u64, factor: u64| (hash ^ hash >> 33).wrapping_mul(factor);
    let mixed = step(step(hash, 0xFF51_AFD7_ED55_8CCD), 0xC4CE_B9FE_1A85_EC53);
    mixed ^ mixed >> 33
}

/// The copies of an element, by the formulas; of a 32-bit hash before they are cut.
#[allow(
    clippy::cast_possible_truncation,
    reason = "the number is small and whole"
)]
fn copies(hash: u64, weight: f64, scale: f64, is_narrow: bool) -> Vec<u64> {
    let copy = |i: u64| match (i, is_narrow) {
        (0, _) => hash,
        (_, false) => fmix(hash.wrapping_add(i.wrapping_mul(0x9E37_79B9_7F4A_7C15))),
        (_, true) => fmix(i << 32 | hash),
    };
    let whole = (weight * scale).floor();
    let fraction = ((weight * scale - whole) * 4_294_967_296.0).floor();
    let whole = whole as u64;
    let mut copies: Vec<u64> = (0..whole).map(copy).collect();
    if ((fmix(copy(whole) ^ 0xA5A5_A5A5_A5A5_A5A5) >> 32) as f64) < fraction {
        copies.push(copy(whole));
    }
    copies
}

#[test]
fn every_scheme_has_the_copies_of_the_formulas() {
    let document: Document = (0..60)
        .map(|token| (token, f64::from(token % 17) * 0.3))
        .collect();
    for scheme in Scheme::names().map(|name| Scheme::named(name).unwrap()) {
        for hash in [None, Some(BaseHash::WordsV1)] {
            let shingler = Shingler::new(shingling(4.0), &scheme, hash).unwrap();
            let batch = shingler.shingle(&batch(std::slice::from_ref(&document)));
            let mut found: Vec<u64> = match batch.sets().hashes() {
                Hashes::U32(hashes) => hashes.iter().copied().map(u64::from).collect(),
                Hashes::U64(hashes) => hashes.to_vec(),
            };
            let is_narrow = shingler.width() == Width::U32;
            let mut expected = Vec::new();
            for (token, weight) in &document {
                let token = token.to_string();
                let bytes = token.as_bytes();
                expected.extend(match (hash, is_narrow) {
                    // The high halves of 64-bit copies.
                    (Some(hash), true) => {
                        let copies = copies(u64::of_bytes(hash, bytes), *weight, 4.0, false);
                        copies.into_iter().map(|copy| copy >> 32).collect()
                    }
                    (None, true) => {
                        let hash = u32::of_bytes(shingler.hash(), bytes);
                        let copies = copies(hash.into(), *weight, 4.0, true);
                        copies.into_iter().map(|copy| copy & 0xFFFF_FFFF).collect()
                    }
                    (_, false) => {
                        copies(u64::of_bytes(shingler.hash(), bytes), *weight, 4.0, false)
                    }
                });
            }
            found.sort_unstable();
            expected.sort_unstable();
            assert_eq!(found, expected, "{scheme}");
        }
    }
}

/// Documents of random weights, in pairs that share half of them.
fn random_documents(pairs: u64) -> Vec<Document> {
    let uniform = |random: u64| (random >> 11) as f64 / (1u64 << 53) as f64;
    let exponential = |random: u64| -uniform(random).max(1e-9).ln();
    let mut documents = Vec::new();
    for pair in 0..pairs {
        let mut both = [Vec::new(), Vec::new()];
        for token in 0..80u32 {
            let random = fmix(pair << 16 | u64::from(token));
            let weight = exponential(random);
            let share = uniform(fmix(random));
            both[0].push((token, weight));
            both[1].push((
                token,
                weight * if share < 0.7 { 1.0 } else { 5.0 * share - 3.5 },
            ));
        }
        documents.extend(both);
    }
    documents
}

#[test]
fn estimates_of_weights_have_no_bias() {
    let pairs = 500;
    let documents = random_documents(pairs);
    for scheme in ["affine32", "affine64", "mersenne31", "mersenne61", "fast"] {
        let scheme = Scheme::named(scheme).unwrap();
        let engine = engine(&scheme, 16.0).build().unwrap();
        let signatures = engine.sign(&batch(&documents)).unwrap();
        let (mut errors, mut squares, mut variance) = (0.0, 0.0, 0.0);
        for (pair, both) in documents.chunks(2).enumerate() {
            let jaccard = weighted_jaccard(&both[0], &both[1]);
            let error = signatures.estimate(2 * pair, 2 * pair + 1) - jaccard;
            errors += error;
            squares += error * error;
            variance += jaccard * (1.0 - jaccard) / 128.0;
        }
        let deviation = errors / f64::sqrt(variance);
        assert!(
            deviation.abs() < 4.0,
            "{scheme}: {deviation} standard errors"
        );
        let ratio = squares / variance;
        assert!(
            ratio < 1.25 && ratio > 0.5,
            "{scheme}: {ratio} of the ideal"
        );
    }
}

#[test]
fn backends_agree_on_weights() {
    let documents = batch(&random_documents(20));
    for scheme in Scheme::names().map(|name| Scheme::named(name).unwrap()) {
        let shingler = Shingler::new(shingling(16.0), &scheme, None).unwrap();
        let scalar = Backend::Scalar.signer(&scheme).unwrap();
        let expected = Signatures::of_documents(&*scalar, &documents, &shingler).unwrap();
        for isa in Isa::available() {
            let hardware = Hardware {
                isa: *isa,
                ..Hardware::default()
            };
            let engine = engine(&scheme, 16.0)
                .backend(Backend::Simd)
                .hardware(hardware);
            let signed = engine.build().unwrap().sign(&documents).unwrap();
            assert!(signed == expected, "{scheme} {isa}");
        }
    }
}

#[test]
fn whole_weights_at_scale_one_are_counts() {
    let mut tokens = TokenBatch::default();
    for token in ["a", "b", "a", "a", "b"] {
        tokens.push_token(token.as_bytes());
    }
    tokens.finish_document();
    let mut weighted = WeightedBatch::default();
    weighted.push_token(b"a", 3.0);
    weighted.push_token(b"b", 2.0);
    weighted.push_token(b"c", 0.0);
    weighted.finish_document();
    let counted = Shingling {
        weighting: Weighting::Counts,
        ..Shingling::of(Unit::Tokens)
    };
    let scheme = Scheme::default();
    let counted = Engine::builder().shingling(counted).build().unwrap();
    let weights = engine(&scheme, 1.0).build().unwrap();
    assert!(counted.sign(&tokens).unwrap() == weights.sign(&weighted).unwrap());
}

#[test]
fn only_equal_weights_make_identical_documents() {
    let documents = [
        vec![(1, 1.0), (2, 2.0)],
        vec![(1, 1.0), (2, 2.0)],
        vec![(1, 1.0), (2, 2.5)],
        vec![(3, 0.0)],
    ];
    let engine = engine(&Scheme::default(), 16.0).build().unwrap();
    let task = Dedup::new(Search::new(0.99, engine.scheme()).unwrap());
    let found = dedup(&batch(&documents), &engine, &task, &Silent).unwrap();
    assert_eq!(found.counts.identical, 1);
    assert_eq!(found.counts.without_shingles, 1);
    assert_eq!(found.removed.len(), 1);
}

#[test]
fn wrong_weights_are_errors_that_name_the_document() {
    let engine = engine(&Scheme::default(), 16.0).build().unwrap();
    let long = vec![(1, 1.0); 70_000];
    for wrong in [-1.0, f64::NAN, f64::INFINITY, 1e6 + 48_576.0] {
        // In the second batch of a call.
        let mut documents = vec![long.clone(); 100];
        documents.push(vec![(1, 0.5), (2, wrong)]);
        let documents = batch(&documents);
        for error in [
            engine.sign(&documents).unwrap_err(),
            dedup(
                &documents,
                &engine,
                &Dedup::new(Search::new(0.8, engine.scheme()).unwrap()),
                &Silent,
            )
            .unwrap_err(),
        ] {
            assert!(
                matches!(error, Error::Weights { row: 100, .. }),
                "{wrong}: {error}"
            );
        }
    }
}

#[test]
fn documents_and_shingling_must_both_have_weights() {
    let scheme = Scheme::default();
    let weighted = batch(&[vec![(1, 1.0)]]);
    let mut plain = TokenBatch::default();
    plain.push_token(b"1");
    plain.finish_document();
    let tokens = Engine::builder().shingling(Shingling::of(Unit::Tokens));
    let tokens = tokens.build().unwrap();
    let weights = engine(&scheme, 1.0).build().unwrap();
    let is_refused = |engine: &Engine, documents: &dyn Documents| {
        matches!(
            engine.sign(documents),
            Err(Error::Conflict(Conflict::WeightedForms))
        )
    };
    assert!(is_refused(&tokens, &weighted) && is_refused(&weights, &plain));
    for (unit, size) in [(Unit::Words, 5), (Unit::Tokens, 2)] {
        let shingling = Shingling {
            unit,
            size: size.try_into().unwrap(),
            ..shingling(1.0)
        };
        let refused = Shingler::new(shingling, &scheme, None);
        assert!(matches!(
            refused,
            Err(Error::Conflict(Conflict::WeightedUnit { .. }))
        ));
    }
}
