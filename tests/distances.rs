//! Searches by distance in memory, against comparisons of all pairs.

use std::collections::BTreeMap;

use proptest::prelude::*;
use simgpu::Error;
use simgpu::documents::TokenBatch;
use simgpu::engine::Engine;
use simgpu::error::Conflict;
use simgpu::pipeline::{Distance, Shingling, Unit, Weighting, Within};
use simgpu::progress::Silent;
use simgpu::scheme::{BaseHash, Scheme};
use simgpu::search::{
    CandidateMethod, Dedup, DocumentPair, Pairs, Search, Verification, dedup, pairs,
};

type List = Vec<u8>;

fn batch(lists: &[List]) -> TokenBatch {
    let mut batch = TokenBatch::default();
    for list in lists {
        list.iter().for_each(|token| batch.push_token(&[*token]));
        batch.finish_document();
    }
    batch
}

fn engine(weighting: Weighting, scheme: &str, hash: Option<BaseHash>) -> Engine {
    let builder = Engine::builder()
        .scheme(Scheme::named(scheme).unwrap())
        .shingling(Shingling {
            weighting,
            ..Shingling::of(Unit::Tokens)
        });
    match hash {
        Some(hash) => builder.hash(hash).build().unwrap(),
        None => builder.build().unwrap(),
    }
}

fn task(engine: &Engine, distance: Distance, most: u64) -> Pairs {
    let mut search = Search::new(0.8, engine.scheme()).unwrap();
    search.within = Some(Within { distance, most });
    Pairs::new(search)
}

fn between(distance: Distance, a: &List, b: &List) -> Option<u64> {
    match distance {
        Distance::Hamming => {
            let differing = a.iter().zip(b).filter(|(a, b)| a != b).count();
            (a.len() == b.len()).then_some(differing as u64)
        }
        Distance::L1 => {
            let mut counts: BTreeMap<u8, i64> = BTreeMap::new();
            a.iter()
                .for_each(|token| *counts.entry(*token).or_default() += 1);
            b.iter()
                .for_each(|token| *counts.entry(*token).or_default() -= 1);
            Some(counts.values().map(|count| count.unsigned_abs()).sum())
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn all_pairs_within_a_distance_are_found(
        lists in prop::collection::vec(prop::collection::vec(0u8..9, 0..12), 0..25),
        distance in prop::sample::select(vec![Distance::Hamming, Distance::L1]),
        most in prop_oneof![0u64..15, Just(u64::MAX)],
        scheme in prop::sample::select(vec!["affine32", "affine64", "datasketch"]),
        hash in prop::sample::select(vec![None, Some(BaseHash::WordsV1)]),
    ) {
        let engine = engine(distance.weighting(), scheme, hash);
        let task = task(&engine, distance, most);
        let mut found = Vec::new();
        let mut keep = |pair: DocumentPair| {
            assert_eq!(pair.similarity, None);
            found.push((pair.a, pair.b, pair.distance.unwrap()));
            Ok(())
        };
        let of_run = pairs(&batch(&lists), &engine, &task, &Silent, &mut keep).unwrap();
        found.sort_unstable();
        let mut expected = Vec::new();
        for (a, of_a) in (0u32..).zip(&lists) {
            for (b, of_b) in (0u32..).zip(&lists).filter(|(b, _)| *b > a) {
                let distance = between(distance, of_a, of_b);
                let near = distance.filter(|distance| *distance <= most);
                expected.extend(near.map(|distance| (a, b, distance)));
            }
        }
        prop_assert_eq!(found, expected);
        prop_assert_eq!(of_run.candidates, CandidateMethod::Join);
        prop_assert_eq!(of_run.recall_at_threshold, 1.0);
        prop_assert_eq!(of_run.counts.without_shingles, 0);
    }
}

/// Tokens of many lengths, in lists that are hashed in several pieces.
#[test]
fn long_lists_keep_their_places() {
    let token = |i: usize| "x".repeat(i * i % 70) + &i.to_string();
    let list: Vec<String> = (0..5000).map(token).collect();
    let mut other = list.clone();
    for at in [0, 1023, 1024, 2048, 4999] {
        other[at] = "another".to_owned();
    }
    let swapped: Vec<String> = list.iter().rev().cloned().collect();
    let mut documents = TokenBatch::default();
    for tokens in [&list, &other, &swapped] {
        tokens
            .iter()
            .for_each(|token| documents.push_token(token.as_bytes()));
        documents.finish_document();
    }
    for (distance, expected) in [
        (Distance::Hamming, [5, 5000, 5000]),
        (Distance::L1, [10, 0, 10]),
    ] {
        for scheme in ["affine32", "datasketch"] {
            let engine = engine(distance.weighting(), scheme, None);
            let task = task(&engine, distance, 10_000);
            let mut found = Vec::new();
            let mut keep = |pair: DocumentPair| {
                found.push(pair.distance.unwrap());
                Ok(())
            };
            pairs(&documents, &engine, &task, &Silent, &mut keep).unwrap();
            assert_eq!(found, expected, "{distance:?}");
        }
    }
}

#[test]
fn searches_by_distance_refuse_other_parameters() {
    let lists = batch(&[vec![1, 2], vec![1, 3]]);
    let counted = engine(Weighting::Counts, "affine32", None);
    let refused = |task: &Pairs| match pairs(&lists, &counted, task, &Silent, &mut |_| Ok(())) {
        Err(Error::Conflict(conflict)) => Some(conflict),
        _ => None,
    };
    let l1 = task(&counted, Distance::L1, 2);
    assert_eq!(refused(&l1), None);
    let hamming = task(&counted, Distance::Hamming, 2);
    assert_eq!(refused(&hamming), Some(Conflict::DistanceWeighting));
    let mut estimated = l1.clone();
    estimated.search.verification = Verification::Signature;
    assert_eq!(refused(&estimated), Some(Conflict::DistanceNotJoined));
    let mut through_lsh = l1.clone();
    through_lsh.search.candidates = CandidateMethod::Lsh;
    assert_eq!(refused(&through_lsh), Some(Conflict::DistanceNotJoined));
    let removed = dedup(&lists, &counted, &Dedup::new(l1.search.clone()), &Silent);
    let conflict = removed.map(|_| ()).unwrap_err();
    assert!(matches!(
        conflict,
        Error::Conflict(Conflict::DistanceOfPairs)
    ));
    let words = Engine::builder().build().unwrap();
    let found = pairs(&["a b"], &words, &l1, &Silent, &mut |_| Ok(()));
    let conflict = found.map(|_| ()).unwrap_err();
    assert!(matches!(
        conflict,
        Error::Conflict(Conflict::DistanceOfShingles { size: 5, .. })
    ));
}
