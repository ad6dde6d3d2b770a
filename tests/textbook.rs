//! Worked examples from *Mining of Massive Datasets*, chapter 3 (Leskovec, Rajaraman, Ullman), named by section.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use simgpu::backend::Backend;
use simgpu::documents::TextBatch;
use simgpu::pipeline::{
    BandKeys, Banding, Buckets, ErrorWeights, ShingleSets, Shingler, Shingling, Signatures,
    StopWords, Unit, jaccard, similar_pairs,
};
use simgpu::scheme::Hashes;
use simgpu::scheme::{BaseHash, Scheme, ShingleHash, Width};

fn shingles_of(unit: Unit, size: Option<usize>, text: &str) -> BTreeSet<u32> {
    let mut shingling = Shingling::of(unit);
    if let Some(size) = size {
        shingling.size = size.try_into().unwrap();
    }
    // A hash of bytes, which `hashed` below can compute for the book's shingles.
    let hash = Some(BaseHash::Murmur3_32);
    let shingler = Shingler::new(shingling, &Scheme::default(), hash).unwrap();
    let batch = shingler.shingle(&[text]);
    let Hashes::U32(hashes) = batch.sets().hashes() else {
        panic!("affine32 hashes have 32 bits");
    };
    hashes.iter().copied().collect()
}

fn hashed<'a>(shingles: impl IntoIterator<Item = &'a str>) -> BTreeSet<u32> {
    let hash = |shingle: &str| u32::of_bytes(BaseHash::Murmur3_32, shingle.as_bytes());
    shingles.into_iter().map(hash).collect()
}

fn letters(k: usize, text: &str) -> BTreeSet<u32> {
    shingles_of(Unit::Chars, Some(k), text)
}

#[test]
fn section_3_1_jaccard_similarity() {
    // Three of eight elements are shared.
    assert_eq!(jaccard(&[1, 2, 3, 4, 5], &[3, 4, 5, 6, 7, 8]), 3.0 / 8.0);
    // Exercise 3.1.1.
    let sets: [&[u32]; 3] = [&[1, 2, 3, 4], &[2, 3, 5, 7], &[2, 4, 6]];
    assert_eq!(jaccard(sets[0], sets[1]), 2.0 / 6.0);
    assert_eq!(jaccard(sets[0], sets[2]), 2.0 / 5.0);
    assert_eq!(jaccard(sets[1], sets[2]), 1.0 / 6.0);
}

#[test]
fn example_3_3_k_shingles() {
    for unit in [Unit::Bytes, Unit::Chars] {
        let shingles = shingles_of(unit, Some(2), "abcdabd");
        assert_eq!(shingles, hashed(["ab", "bc", "cd", "da", "bd"]));
    }
    assert_eq!(letters(2, "abcab"), hashed(["ab", "bc", "ca"]));
}

#[test]
fn example_3_4_white_space() {
    let plane = "The plane was ready for touch down";
    let quarterback = "The quarterback scored a touchdown";
    let (of_plane, of_quarterback) = (letters(9, plane), letters(9, quarterback));
    assert!(of_plane.is_superset(&hashed(["touch dow", "ouch down"])));
    assert!(of_quarterback.is_superset(&hashed(["touchdown"])));
    assert!(of_plane.is_disjoint(&hashed(["touchdown"])));
    assert_eq!(letters(9, &plane.replace(' ', " \n\t ")), of_plane);
    let without_blanks = plane.replace(' ', "");
    assert!(letters(9, &without_blanks).is_superset(&hashed(["touchdown"])));
}

#[test]
fn section_3_2_2_bounds_the_number_of_shingles() {
    let text = "A rose is a rose is a rose, and so on.";
    for k in 1..=text.len() {
        let shingles = shingles_of(Unit::Bytes, Some(k), text);
        assert!(shingles.len() <= text.len() - k + 1, "k = {k}");
    }
    let distinct = "abcdefghijklmnopqrstuvwxyz";
    assert_eq!(
        shingles_of(Unit::Bytes, Some(5), distinct).len(),
        26 - 5 + 1
    );
}

#[test]
fn section_3_2_a_word_touches_few_shingles() {
    let which = letters(3, "The dog which chased the cat");
    let that = letters(3, "The dog that chased the cat");
    let removed: BTreeSet<u32> = which.difference(&that).copied().collect();
    assert_eq!(
        removed,
        hashed(["g w", " wh", "whi", "hic", "ich", "ch ", "h c"])
    );
}

#[test]
fn example_3_5_stop_word_shingles() {
    let sentence = "A spokesperson for the Sudzo Corporation revealed today that studies have shown \
                    it is good for people to buy Sudzo products";
    let shingles = shingles_of(Unit::StopWords(StopWords::english()), None, sentence);
    let of_the_book = [
        "A spokesperson for",
        "for the Sudzo",
        "the Sudzo Corporation",
        "that studies have",
        "have shown it",
        "it is good",
        "is good for",
        "for people to",
        "to buy Sudzo",
    ];
    assert_eq!(shingles, hashed(of_the_book));
    let advert = shingles_of(Unit::StopWords(StopWords::english()), None, "Buy Sudzo");
    assert!(advert.is_empty());
}

#[test]
fn exercise_3_2_custom_stop_words() {
    let stop_words = || ["I", "that", "you", "for", "your"].into_iter().collect();
    let text = "I recommend that you buy Sudzo for your laundry.";
    let whole = [
        "I recommend that",
        "that you buy",
        "you buy Sudzo",
        "for your laundry",
    ];
    // "your laundry" lacks a third word, so it is no shingle until one follows.
    assert_eq!(
        shingles_of(Unit::StopWords(stop_words()), None, text),
        hashed(whole)
    );
    let continued = shingles_of(Unit::StopWords(stop_words()), None, &format!("{text} x"));
    assert_eq!(
        continued,
        hashed(whole.into_iter().chain(["your laundry x"]))
    );
}

/// The news application: stop-word shingles make the same article with different adverts more similar than
/// ordinary shingles do.
#[test]
fn section_3_8_3_stop_words_find_the_articles() {
    let article = "the minister said that it is for the people of the country to decide what they want \
                   and how they are to have it";
    let [advert, another] = [
        "Buy Sudzo soap powder today",
        "Drive Blitz cars everywhere today",
    ];
    let similarity = |unit: &dyn Fn() -> Unit, a: &str, b: &str| {
        let sets = [a, b].map(|text| {
            let set = shingles_of(unit(), None, text);
            set.into_iter().collect::<Vec<_>>()
        });
        jaccard(&sets[0], &sets[1])
    };
    let (one, two) = (
        format!("{advert} {article}"),
        format!("{another} {article}"),
    );
    let ordinary = similarity(&|| Unit::Words, &one, &two);
    let stop_words = similarity(&|| Unit::StopWords(StopWords::english()), &one, &two);
    assert!(stop_words > ordinary, "{stop_words} against {ordinary}");
    assert_eq!(stop_words, 1.0);
}

/// The characteristic matrix of figure 3.2: rows a to e, sets S1 to S4.
const FIGURE_3_2: [&[usize]; 4] = [&[0, 3], &[2], &[1, 3, 4], &[0, 2, 3]];

fn minima(sets: &[&[usize]], hashes: &[fn(usize) -> usize]) -> Vec<Vec<usize>> {
    let minimum = |set: &[usize], hash: &fn(usize) -> usize| set.iter().map(|x| hash(*x)).min();
    sets.iter()
        .map(|set| {
            hashes
                .iter()
                .filter_map(|hash| minimum(set, hash))
                .collect()
        })
        .collect()
}

#[test]
fn example_3_7_minhash_by_a_permutation() {
    // The permuted order is b e a d c. `place` is the position of a row in it.
    let place = |row: usize| [2, 0, 4, 3, 1][row];
    let order = ['b', 'e', 'a', 'd', 'c'];
    let values: Vec<char> = minima(&FIGURE_3_2, &[place])
        .iter()
        .map(|m| order[m[0]])
        .collect();
    assert_eq!(values, ['a', 'c', 'b', 'a']);
}

#[test]
fn example_3_8_minhash_by_hash_functions() {
    let signatures = minima(&FIGURE_3_2, &[|x| (x + 1) % 5, |x| (3 * x + 1) % 5]);
    assert_eq!(signatures, [[1, 0], [3, 2], [0, 0], [1, 0]]);
    let estimate = |i: usize, j: usize| {
        let agree = signatures[i]
            .iter()
            .zip(&signatures[j])
            .filter(|(a, b)| a == b);
        agree.count() as f64 / 2.0
    };
    assert_eq!(
        [estimate(0, 3), estimate(0, 2), estimate(0, 1)],
        [1.0, 0.5, 0.0]
    );
    let truth = |i: usize, j: usize| jaccard(FIGURE_3_2[i], FIGURE_3_2[j]);
    assert_eq!(
        [truth(0, 3), truth(0, 2), truth(0, 1)],
        [2.0 / 3.0, 0.25, 0.0]
    );
}

#[test]
fn lecture_example_of_minhash() {
    let columns: [&[usize]; 2] = [&[1, 3, 4], &[2, 3, 5]];
    let signatures = minima(&columns, &[|x| x % 5 + 1, |x| (2 * x + 1) % 5 + 1]);
    assert_eq!(signatures, [[2, 3], [1, 1]]);
}

/// Two sets agree in a share of all permutations that equals their similarity.
#[test]
fn section_3_3_3_minhash_and_jaccard() {
    let mut orders = vec![vec![]];
    for row in 0..5usize {
        let insert = |order: &Vec<usize>| {
            (0..=order.len())
                .map(|at| {
                    let mut longer = order.clone();
                    longer.insert(at, row);
                    longer
                })
                .collect::<Vec<_>>()
        };
        orders = orders.iter().flat_map(insert).collect();
    }
    assert_eq!(orders.len(), 120);
    for (i, a) in FIGURE_3_2.iter().enumerate() {
        for b in &FIGURE_3_2[i + 1..] {
            let first = |order: &[usize], set: &[usize]| {
                *order.iter().find(|row| set.contains(row)).unwrap()
            };
            let agree = orders
                .iter()
                .filter(|order| first(order, a) == first(order, b));
            assert_eq!(agree.count() as f64 / 120.0, jaccard(a, b));
        }
    }
}

/// The signature of a set is the slot-wise minimum of its parts' signatures.
#[test]
fn section_3_3_6_parts_merge_to_the_whole() {
    for name in ["affine32", "mersenne31", "mersenne61", "fast"] {
        let scheme = Scheme::named(name).unwrap();
        let signer = Backend::Auto.signer(&scheme).unwrap();
        let set: Vec<u32> = (0..1000u32)
            .map(|x| x.wrapping_mul(2_654_435_761))
            .collect();
        let sign = |offsets: &[i64]| {
            let mut signatures = Signatures::new(128, Width::U32);
            let sets = ShingleSets::new(Hashes::U32(&set), offsets).unwrap();
            signatures.sign(&*signer, &sets).unwrap();
            let simgpu::scheme::Slots::U32(slots) = signatures.slots() else {
                panic!("slots of 32 bits");
            };
            slots.to_vec()
        };
        let whole = sign(&[0, 1000]);
        let parts = sign(&[0, 1, 400, 1000]);
        let merged: Vec<u32> = (0..128)
            .map(|k| parts.iter().skip(k).step_by(128).copied().min().unwrap())
            .collect();
        assert_eq!(whole, merged);
    }
}

#[test]
fn section_3_3_disjoint_sets_are_estimated_as_0() {
    let signer = Backend::Auto.signer(&Scheme::default()).unwrap();
    // affine32 is a bijection, so two shingles never have the same value.
    let set: Vec<u32> = (0..200).collect();
    let sets = ShingleSets::new(Hashes::U32(&set), &[0, 100, 200]).unwrap();
    let mut signatures = Signatures::new(128, Width::U32);
    signatures.sign(&*signer, &sets).unwrap();
    assert_eq!(signatures.estimate(0, 1), 0.0);
}

#[test]
fn section_3_3_sizes() {
    // A document of 50,000 bytes: 200,000 bytes of 4-byte shingles, 1,000 bytes of signature.
    let text: String = (0..50_000u32)
        .map(|i| char::from_digit((i * i % 23 + i / 7 % 3) % 26 + 10, 36).unwrap())
        .collect();
    let shingler = Shingler::new(Shingling::of(Unit::Bytes), &Scheme::default(), None).unwrap();
    let batch = shingler.shingle(&[&text]);
    let bytes = 4 * batch.sets().range(0).len();
    assert!((199_000..=200_000).contains(&bytes));
    let signatures = Signatures::new(250, Width::U32);
    assert_eq!(signatures.num_perm() * Width::U32.bytes(), 1000);
}

#[test]
fn section_3_4_2_analysis_of_banding() {
    let banding = Banding::new(20, 5, 100).unwrap();
    for (similarity, probability) in [
        (0.2, 0.006),
        (0.3, 0.047),
        (0.4, 0.186),
        (0.5, 0.470),
        (0.6, 0.802),
        (0.7, 0.975),
    ] {
        let actual = banding.candidate_probability(similarity);
        assert!(
            (actual - probability).abs() < 5e-4,
            "{similarity}: {actual}"
        );
    }
    let at_80 = banding.candidate_probability(0.8);
    assert!((at_80 - 0.9996).abs() < 5e-5);
    // The book says about one in 3,000 such pairs is missed; it is one in 2,809.
    assert_eq!((1.0 / (1.0 - at_80)).round(), 2809.0);
}

#[test]
fn section_3_4_2_the_curve_rises_at_the_threshold() {
    let banding = Banding::new(16, 4, 64).unwrap();
    assert_eq!((1.0 / 16f64).powf(1.0 / 4.0), 0.5);
    let at = |s: f64| banding.candidate_probability(s);
    assert!(at(0.5) > 0.4 && at(0.5) < 0.7 && at(0.3) < 0.15 && at(0.7) > 0.95);
}

/// Columns that agree in a band share a bucket. Equal vectors in different bands do not.
#[test]
fn section_3_4_1_bands_share_no_buckets() {
    let banding = Banding::new(2, 3, 6).unwrap();
    let mut keys = BandKeys::new(banding);
    let mut signatures = Signatures::new(6, Width::U32);
    let simgpu::scheme::SlotsMut::U32(slots) = signatures.push_rows(3).into_slots() else {
        panic!("slots of 32 bits");
    };
    slots.copy_from_slice(&[
        0, 2, 1, 9, 9, 9, // equals the next row in the first band
        0, 2, 1, 7, 8, 7, //
        5, 5, 5, 0, 2, 1, // has the same vector in the second band
    ]);
    keys.push(&signatures);
    let buckets = Buckets::of(keys, &mut |_| Ok(())).unwrap();
    assert_eq!(buckets.of_band(0).collect::<Vec<_>>(), [[0, 1]]);
    assert_eq!(buckets.of_band(1).count(), 0);
}

/// All steps from documents to pairs.
#[test]
fn section_3_4_3_combining_the_techniques() {
    let base = "It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness";
    let texts: TextBatch = [
        base,
        &base.replace("foolishness", "folly"),
        "Call me Ishmael. Some years ago, never mind how long precisely, having little or no money",
    ]
    .into_iter()
    .collect();
    let scheme = Scheme::default();
    let shingler = Shingler::new(Shingling::of(Unit::Chars), &scheme, None).unwrap();
    let signer = Backend::Auto.signer(&scheme).unwrap();
    let signatures = Signatures::of_documents(&*signer, &texts, &shingler).unwrap();
    let banding = Banding::for_threshold(0.7, 128, ErrorWeights::VERIFIED).unwrap();
    let mut keys = BandKeys::new(banding);
    keys.push(&signatures);
    let buckets = Buckets::of(keys, &mut |_| Ok(())).unwrap();
    let mut pairs = Vec::new();
    similar_pairs(&buckets, &signatures, 0.7, &mut |block| {
        pairs.extend(block.pairs.iter().map(|pair| (pair.lo, pair.hi)));
        Ok(ControlFlow::Continue(()))
    })
    .unwrap();
    assert_eq!(pairs, [(0, 1)]);
}
