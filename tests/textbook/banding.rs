//! Section 3.4: locality-sensitive hashing of documents.

use std::ops::ControlFlow;

use simgpu::backend::Backend;
use simgpu::documents::TextBatch;
use simgpu::pipeline::{
    BandKeys, Banding, Buckets, ErrorWeights, Shingler, Shingling, Signatures, Unit, similar_pairs,
};
use simgpu::scheme::{Scheme, SlotsMut, Width};

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
    let at = |s: f64| banding.candidate_probability(s);
    // 0.5 is (1/b)^(1/r): there, a band agrees with probability 1/b.
    assert!((at(0.5) - (1.0 - (1.0 - 1.0 / 16.0f64).powi(16))).abs() < 1e-12);
    assert!(at(0.5) > 0.4 && at(0.5) < 0.7 && at(0.3) < 0.15 && at(0.7) > 0.95);
}

/// Columns that agree in a band share a bucket. Equal vectors in different bands do not.
#[test]
fn section_3_4_1_bands_share_no_buckets() {
    let banding = Banding::new(2, 3, 6).unwrap();
    let mut keys = BandKeys::new(banding);
    let mut signatures = Signatures::new(6, Width::U32);
    let SlotsMut::U32(slots) = signatures.push_rows(3).into_slots() else {
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

/// A million documents of 250 slots fill a gigabyte.
#[test]
fn section_3_4_signatures_of_a_million_documents() {
    let signatures = Signatures::new(250, Width::U32);
    let bytes = signatures.num_perm() * Width::U32.bytes();
    assert_eq!(1_000_000 * bytes, 1_000_000_000);
}

/// Ten of twelve slots agree: no match of the whole, none in two bands, and one in four.
#[test]
fn lecture_example_of_parts() {
    let first: Vec<u32> = (0..12).collect();
    let mut second = first.clone();
    (second[1], second[7]) = (99, 99);
    for (bands, rows, is_candidate) in [(1, 12, false), (2, 6, false), (4, 3, true)] {
        let mut signatures = Signatures::new(12, Width::U32);
        let SlotsMut::U32(slots) = signatures.push_rows(2).into_slots() else {
            panic!("slots of 32 bits");
        };
        slots.copy_from_slice(&[&first[..], &second].concat());
        let mut keys = BandKeys::new(Banding::new(bands, rows, 12).unwrap());
        keys.push(&signatures);
        let buckets = Buckets::of(keys, &mut |_| Ok(())).unwrap();
        let shared = (0..bands).any(|band| buckets.of_band(band).count() > 0);
        assert_eq!(shared, is_candidate, "{bands} x {rows}");
    }
}

#[test]
fn exercise_3_4_1_s_curves() {
    let of_the_book = [
        (
            3,
            10,
            [
                0.0100, 0.0772, 0.2394, 0.4839, 0.7369, 0.9123, 0.9850, 0.9992, 1.0000,
            ],
        ),
        (
            6,
            20,
            [
                0.0000, 0.0013, 0.0145, 0.0788, 0.2702, 0.6154, 0.9182, 0.9977, 1.0000,
            ],
        ),
        (
            5,
            50,
            [
                0.0005, 0.0159, 0.1145, 0.4023, 0.7956, 0.9825, 0.9999, 1.0000, 1.0000,
            ],
        ),
    ];
    for (rows, bands, probabilities) in of_the_book {
        let banding = Banding::new(bands, rows, bands * rows).unwrap();
        for (tenths, expected) in (1..).zip(probabilities) {
            let probability = banding.candidate_probability(f64::from(tenths) / 10.0);
            assert!(
                (probability - expected).abs() < 5.1e-5,
                "{rows}, {bands}, {tenths}: {probability}"
            );
        }
    }
}
