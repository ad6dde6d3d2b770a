//! Section 3.5: distance measures.

use simgpu::pipeline::{
    VectorComparison, edit_distance, hamming_distance, longest_common_subsequence,
};

fn vectors(a: &[i64], b: &[i64]) -> VectorComparison {
    a.iter().copied().zip(b.iter().copied()).collect()
}

#[test]
fn example_3_12_euclidean_distances() {
    let points = vectors(&[2, 7], &[6, 4]);
    assert_eq!((points.l2(), points.l1(), points.linf()), (5.0, 7, 4));
}

#[test]
fn example_3_13_cosine_distance() {
    let angle = vectors(&[1, 2, -1], &[2, 1, 1]);
    assert!((angle.cosine().unwrap() - 0.5).abs() < 1e-12);
    assert!((angle.angle_degrees().unwrap() - 60.0).abs() < 1e-12);
}

/// Vectors are compared as directions.
#[test]
fn section_3_5_4_a_multiple_has_angle_0() {
    assert_eq!(vectors(&[1, 2, -1], &[3, 6, -3]).angle_degrees(), Some(0.0));
    assert_eq!(
        vectors(&[1, 2, -1], &[-1, -2, 1]).angle_degrees(),
        Some(180.0)
    );
}

/// Delete b, insert f after c, insert g after e. The longest common subsequence is acde.
#[test]
fn example_3_14_edit_distance() {
    assert_eq!(edit_distance(b"abcde", b"acfdeg"), 3);
    assert_eq!(longest_common_subsequence(b"abcde", b"acfdeg"), 4);
}

/// Both ab and ba are longest common subsequences.
#[test]
fn example_3_15_two_longest_subsequences() {
    assert_eq!(edit_distance(b"aba", b"bab"), 2);
    assert_eq!(longest_common_subsequence(b"aba", b"bab"), 2);
    for common in [b"ab", b"ba"] {
        for text in [b"aba", b"bab"] {
            assert_eq!(longest_common_subsequence(common, text), 2);
        }
    }
}

#[test]
fn example_3_16_hamming_distance() {
    assert_eq!(hamming_distance(b"10101", b"11110"), Some(3));
    assert_eq!(hamming_distance(b"10101", b"1010"), None);
}
