//! Sketches against the library's own signatures and against definitions.

use simgpu::pipeline::{Scratch, Shingling};
use simgpu::progress::Silent;
use simgpu::scheme::{Hashes, SlotVec, Values};

use super::floats::pairwise_sum;
use super::*;

const SCHEMES: [PermutationScheme; 3] = [
    PermutationScheme::Legacy,
    PermutationScheme::Affine32,
    PermutationScheme::Affine64,
];

/// The sketch of some tokens, by the default hash function.
fn sketch(permutations: &Permutations, tokens: &[&str]) -> SlotVec {
    let scheme = permutations.scheme();
    let hash = NativeHash::default_of(scheme);
    let bytes = || tokens.iter().map(|token| token.as_bytes());
    let hashes = if hash.is_narrow() {
        let mut hashes = Vec::new();
        hash.append_narrow(bytes(), &mut hashes);
        Values::U32(hashes)
    } else {
        let mut hashes = Vec::new();
        hash.append_wide(bytes(), &mut hashes);
        Values::U64(hashes)
    };
    let mut slots = empty_slots(scheme, permutations.num_perm());
    let hashes = fit_width(scheme, hashes).unwrap();
    permutations.sign(hashes.view(), &mut slots).unwrap();
    slots
}

#[test]
fn schemes_have_one_name_and_code() {
    for scheme in SCHEMES {
        assert_eq!(PermutationScheme::from_name(scheme.name()), Some(scheme));
    }
    assert_eq!(PermutationScheme::from_name("sha1"), None);
    for scheme in &SCHEMES[1..] {
        assert_eq!(PermutationScheme::from_code(scheme.code()), Ok(*scheme));
    }
    assert_eq!(PermutationScheme::from_code(0), Err(UnknownCode(0)));
}

#[test]
fn given_coefficients_sign_as_drawn_ones() {
    let tokens = ["a", "b", "c"];
    for scheme in SCHEMES {
        for num_perm in [1, 128, 300] {
            let drawn = Permutations::drawn(scheme, 5, num_perm).unwrap();
            let given = Permutations::given(scheme, drawn.a().to_vec(), drawn.b().to_vec());
            assert_eq!((drawn.seed(), given.seed()), (Some(5), None));
            assert_eq!(sketch(&drawn, &tokens), sketch(&given, &tokens));
        }
    }
}

/// An even multiplier is no permutation, so the library has no signer for it.
#[test]
fn odd_coefficients_and_others_follow_the_definition() {
    let permutations = Permutations::given(PermutationScheme::Affine32, vec![2], vec![3]);
    let mut slots = empty_slots(PermutationScheme::Affine32, 1);
    permutations.sign(Hashes::U32(&[9]), &mut slots).unwrap();
    let expected = simgpu::scheme::fmix32(9).wrapping_mul(2).wrapping_add(3);
    assert_eq!(slots, Values::U32(vec![expected]));
}

#[test]
fn unions_are_slotwise_minima() {
    for scheme in SCHEMES {
        let permutations = Permutations::drawn(scheme, 1, 64).unwrap();
        let mut union = sketch(&permutations, &["a", "b"]);
        lower_slots(&mut union, &sketch(&permutations, &["b", "c"]));
        assert_eq!(union, sketch(&permutations, &["a", "b", "c"]));
        let empty = sketch(&permutations, &[]);
        assert!(is_of_empty_set(scheme, &empty) && !is_of_empty_set(scheme, &union));
    }
}

#[test]
fn cardinalities_are_estimated() {
    let tokens: Vec<String> = (0..1000).map(|number| format!("token {number}")).collect();
    let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
    for scheme in SCHEMES {
        let permutations = Permutations::drawn(scheme, 1, 1024).unwrap();
        let estimate = estimate_cardinality(scheme, &sketch(&permutations, &tokens));
        // Four standard errors of 1 / sqrt(1024).
        assert!((estimate - 1000.0).abs() < 125.0, "{scheme:?} {estimate}");
    }
}

#[test]
fn wide_hashes_need_affine64() {
    let wide = || Values::U64(vec![7, 1 << 32]);
    let refused = fit_width(PermutationScheme::Affine32, wide());
    assert_eq!(refused, Err(WideHash(1 << 32)));
    for scheme in [PermutationScheme::Legacy, PermutationScheme::Affine64] {
        assert_eq!(fit_width(scheme, wide()), Ok(wide()));
    }
    // Vector instructions sign hashes of 32 bits for the legacy scheme.
    let narrow = fit_width(PermutationScheme::Legacy, Values::U64(vec![7]));
    assert_eq!(narrow, Ok(Values::U32(vec![7])));
}

#[test]
fn texts_are_sets_of_their_shingles() {
    let texts = ["a b c d e f", "", "a b c d e"];
    let shingles: [&[&str]; 3] = [&["a b c d e", "b c d e f"], &[], &["a b c d e"]];
    for scheme in SCHEMES {
        let permutations = Permutations::drawn(scheme, 1, 64).unwrap();
        let shingling = Shingling::of_scheme(&scheme.preset().unwrap());
        let hash = NativeHash::default_of(scheme);
        let signer = TextSigner::new(&permutations, hash, shingling).unwrap();
        let empty = empty_slots(scheme, 64);
        let signed = signer.sign_all(&texts, &empty, &Silent).unwrap();
        for ((text, shingles), signed) in texts.iter().zip(shingles).zip(signed) {
            let mut slots = empty.clone();
            let mut scratch = Scratch::default();
            signer.sign(text, &mut scratch, &mut slots).unwrap();
            assert_eq!(slots, signed);
            assert_eq!(slots, sketch(&permutations, shingles), "{scheme:?} {text}");
        }
    }
}

#[test]
fn sums_are_pairwise() {
    for len in [0, 7, 8, 128, 129, 1000] {
        let ones = vec![1.0; len];
        assert_eq!(pairwise_sum(&ones), len as f64);
    }
    // One after the other, each 1 would be lost to rounding.
    let mut values = vec![1.0; 256];
    values[0] = 2f64.powi(53);
    assert_eq!(pairwise_sum(&values), 2f64.powi(53) + 240.0);
}

#[test]
fn an_empty_whole_divides_by_zero() {
    assert_eq!(ratio(0, 0), Err(FloatError::DivisionByZero));
    assert_eq!(ratio(1, 4), Ok(0.25));
}
