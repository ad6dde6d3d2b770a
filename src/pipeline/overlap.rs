//! How many elements two sets must share to reach a similarity.
//!
//! The bounds are exact for [`jaccard`](super::jaccard) as it is computed, a division of two `f64`: rounding decides
//! cases such as 7/10 >= 0.7, and a bound by real numbers would lose such pairs.

/// The least number of common elements with which sets of `a` and `b` elements reach `threshold`. It may exceed the
/// size of a set: then no two such sets reach it.
pub(super) fn least_overlap(a: usize, b: usize, threshold: f64) -> usize {
    let reaches = |shared: usize| shared as f64 / (a + b - shared) as f64 >= threshold;
    let estimate = threshold / (1.0 + threshold) * (a + b) as f64;
    least(estimate, a.min(b) + 1, |shared| {
        shared > a.min(b) || reaches(shared)
    })
}

/// The least size of a subset of a set of `len` elements that reaches `threshold`. No smaller set is similar to the
/// set, and no set that shares fewer of its elements.
pub(super) fn least_subset(len: usize, threshold: f64) -> usize {
    let reaches = |shared: usize| shared as f64 / len as f64 >= threshold;
    least(threshold * len as f64, len, reaches)
}

/// The least number from 1 to `most` with a property that all greater numbers have. `most` has it. The search starts
/// at `estimate`.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, and the result is a first guess"
)]
fn least(estimate: f64, most: usize, has: impl Fn(usize) -> bool) -> usize {
    let mut found = (estimate as usize).clamp(1, most.max(1));
    while found > 1 && has(found - 1) {
        found -= 1;
    }
    while found < most && !has(found) {
        found += 1;
    }
    found
}

/// The number of first elements of a set of `len`, in any fixed order of all elements, of which every similar set has
/// at least one (the prefix of MMDS 3.9.3).
pub(super) fn prefix_len(len: usize, threshold: f64) -> usize {
    match len {
        0 => 0,
        len => len - least_subset(len, threshold) + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THRESHOLDS: [f64; 12] = [
        1e-9, 0.05, 0.1, 0.3, 0.5, 0.7, 0.75, 0.8, 0.9, 0.95, 0.999, 1.0,
    ];

    #[test]
    fn bounds_equal_their_definitions() {
        for threshold in THRESHOLDS {
            for a in 1..=120 {
                let of_subset = |shared: &usize| *shared as f64 / a as f64 >= threshold;
                let subset = (1..=a).find(of_subset).unwrap();
                assert_eq!(least_subset(a, threshold), subset);
                assert_eq!(prefix_len(a, threshold), a - subset + 1);
                for b in 1..=120 {
                    let union = |shared: usize| (a + b - shared) as f64;
                    let reaches = |shared: &usize| *shared as f64 / union(*shared) >= threshold;
                    let expected = (1..=a.min(b)).find(reaches).unwrap_or(a.min(b) + 1);
                    assert_eq!(least_overlap(a, b, threshold), expected);
                }
            }
        }
    }

    /// With real numbers, the prefix of a set of 10 would have (1 - 0.9) * 10 + 1 = 1.99… elements.
    #[test]
    fn rounding_decides_sets_of_ten() {
        for tens in [1, 2, 3, 5, 10, 100, 1000] {
            assert_eq!(prefix_len(10 * tens, 0.9), tens + 1);
            assert_eq!(prefix_len(10 * tens, 0.7), 3 * tens + 1);
        }
    }
}
