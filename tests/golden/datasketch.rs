//! datasketch's coefficients, signatures and bands.

use simgpu::pipeline::{Banding, ErrorWeights};
use simgpu::scheme::{Scheme, sha1_32};

use super::published::{golden, list, machines, number, numbers, scheme_of, signature};

#[test]
fn coefficients_match_numpy() {
    for case in list(&golden("draws.json")) {
        let permutations = scheme_of(case, case["family"].as_str().unwrap()).permutations();
        let pair = |k: usize| vec![permutations.a()[k], permutations.b()[k]];
        for (k, expected) in list(&case["first"]).iter().enumerate() {
            assert_eq!(pair(k), numbers::<u64>(expected), "{case}");
        }
        let last = permutations.a().len() - 1;
        assert_eq!(pair(last), numbers::<u64>(&case["last"]), "{case}");
    }
}

#[test]
fn first_draws_match_the_peers() {
    let legacy = Scheme::named("datasketch-legacy").unwrap().permutations();
    assert_eq!(
        legacy.a()[..2],
        [775_169_054_918_279_404, 2_109_959_069_025_162]
    );
    assert_eq!(
        legacy.b()[..2],
        [1_758_426_461_858_698_312, 965_365_488_286_768_773]
    );
    let datatrove = Scheme::named("datatrove").unwrap().permutations();
    assert_eq!(
        [
            datatrove.a()[0],
            datatrove.a()[111],
            datatrove.b()[0],
            datatrove.b()[111]
        ],
        [
            775_169_054_918_279_404,
            223_865_076_026_037_746,
            1_062_448_801_025_099_917,
            1_097_409_548_522_419_201
        ]
    );
    let affine32 = Scheme::default().permutations();
    assert_eq!(
        affine32.a()[..3],
        [3_582_191_691, 4_270_784_983, 1_892_572_953]
    );
    assert_eq!(
        affine32.b()[..3],
        [214_548_472, 3_287_733_501, 2_301_657_549]
    );
}

#[test]
fn datasketch_signs_the_quick_brown_fox() {
    let tokens = ["the", "quick", "brown", "fox"];
    let set: Vec<u64> = tokens
        .iter()
        .map(|t| sha1_32(t.as_bytes()).into())
        .collect();
    for (name, expected) in [
        (
            "datasketch-legacy",
            [
                407_326_892,
                34_383_241,
                44_059_036,
                1_893_391_287,
                136_245_013,
                1_552_394_070,
                196_634_065,
                2_069_430_456,
            ],
        ),
        (
            "datasketch",
            [
                113_674_572,
                659_818_257,
                333_462_271,
                1_849_789_506,
                1_985_821_490,
                254_610_897,
                372_274_154,
                1_963_928_926,
            ],
        ),
    ] {
        let scheme = Scheme::named(name).unwrap();
        for backend in machines() {
            assert_eq!(
                signature(&scheme, backend, &set)[..8],
                expected,
                "{name} on {backend}"
            );
        }
    }
}

/// datasketch's unit test: one token, four permutations.
#[test]
fn datasketch_signs_one_token() {
    let case = &golden("datasketch.json")["datasketch_minhash"];
    let scheme = scheme_of(case, "datasketch-legacy");
    let permutations = scheme.permutations();
    for (k, pair) in list(&case["perm_a_b_seed1"]).iter().enumerate() {
        let drawn = vec![permutations.a()[k], permutations.b()[k]];
        assert_eq!(drawn, numbers::<u64>(pair));
    }
    let set = [sha1_32(case["update"].as_str().unwrap().as_bytes()).into()];
    for backend in machines() {
        let actual = signature(&scheme, backend, &set);
        assert_eq!(actual, numbers::<u64>(&case["hashvalues"]));
    }
}

/// Bands and rows match datasketch's choice for equal and for other weights.
#[test]
fn bands_for_a_threshold_match_datasketch() {
    for case in list(&golden("bands_for_threshold.json")["cases"]) {
        let threshold = case["threshold"].as_f64().unwrap();
        let weights = ErrorWeights {
            false_positive: case["false_positive_weight"].as_f64().unwrap(),
            false_negative: case["false_negative_weight"].as_f64().unwrap(),
        };
        let banding =
            Banding::for_threshold(threshold, number(&case["num_perm"]), weights).unwrap();
        let shape = (banding.bands(), banding.rows());
        assert_eq!(
            shape,
            (number(&case["bands"]), number(&case["rows"])),
            "{case}"
        );
        let (below, above) = banding.error_areas(threshold);
        let expected = |name: &str| case[name].as_f64().unwrap();
        assert!(
            (below - expected("false_positive_area")).abs() < 1e-9,
            "{case}"
        );
        assert!(
            (above - expected("false_negative_area")).abs() < 1e-9,
            "{case}"
        );
    }
}
