//! Distances of two vectors, from one pass over their components.

/// Two vectors, compared component by component. Collect one from an iterator over pairs of components.
///
/// All sums are integers. They are exact as long as they stay below 2^127; the greatest value stands for larger ones.
///
/// ```
/// use simgpu::pipeline::VectorComparison;
///
/// let vectors: VectorComparison = [(1, 2), (2, 1), (-1, 1)].into_iter().collect();
/// assert_eq!(vectors.l1(), 4);
/// assert_eq!(vectors.angle_degrees().unwrap().round(), 60.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VectorComparison {
    squares: [i128; 2],
    product: i128,
    l1: u128,
    squared_l2: u128,
    linf: u64,
}

impl FromIterator<(i64, i64)> for VectorComparison {
    fn from_iter<I: IntoIterator<Item = (i64, i64)>>(components: I) -> Self {
        let mut all = VectorComparison::default();
        for (a, b) in components {
            let difference = a.abs_diff(b);
            let (a, b) = (i128::from(a), i128::from(b));
            all.squares[0] = all.squares[0].saturating_add(a * a);
            all.squares[1] = all.squares[1].saturating_add(b * b);
            all.product = all.product.saturating_add(a * b);
            all.l1 = all.l1.saturating_add(difference.into());
            all.squared_l2 = all.squared_l2.saturating_add(u128::from(difference).pow(2));
            all.linf = all.linf.max(difference);
        }
        all
    }
}

impl VectorComparison {
    /// The sum of the absolute differences of the components (L1, the Manhattan distance).
    pub fn l1(&self) -> u128 {
        self.l1
    }

    /// The root of the sum of the squared differences of the components (L2, the Euclidean distance).
    pub fn l2(&self) -> f64 {
        (self.squared_l2 as f64).sqrt()
    }

    /// The greatest absolute difference of two components (L∞).
    pub fn linf(&self) -> u64 {
        self.linf
    }

    /// The cosine of the angle between the vectors: their scalar product divided by the product of their lengths.
    /// `None` if a vector is zero.
    pub fn cosine(&self) -> Option<f64> {
        let [a, b] = self.squares.map(|square| (square as f64).sqrt());
        (a > 0.0 && b > 0.0).then(|| (self.product as f64 / (a * b)).clamp(-1.0, 1.0))
    }

    /// The angle between the vectors, the cosine distance of MMDS 3.5.4: 0 to 180 degrees. `None` if a vector is
    /// zero.
    ///
    /// An arc cosine is inexact for small angles, so the sine is computed, too: its square is that of the lengths
    /// less that of the scalar product. The angle of a vector and its multiple is 0.
    pub fn angle_degrees(&self) -> Option<f64> {
        let cosine = self.cosine()?;
        let [a, b] = self.squares;
        let lengths = a.checked_mul(b);
        let sine = lengths.zip(self.product.checked_mul(self.product));
        let radians = match sine.and_then(|(lengths, product)| lengths.checked_sub(product)) {
            Some(square) => (square as f64).sqrt().atan2(self.product as f64),
            None => cosine.acos(),
        };
        Some(radians.to_degrees())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn compared(a: &[i64], b: &[i64]) -> VectorComparison {
        a.iter().copied().zip(b.iter().copied()).collect()
    }

    #[test]
    fn extreme_components_cause_no_panic() {
        let far = compared(&[i64::MIN; 5], &[i64::MAX; 5]);
        assert_eq!(far.linf(), u64::MAX);
        assert_eq!(far.l1(), 5 * u128::from(u64::MAX));
        assert!(far.angle_degrees() > Some(179.99));
        assert_eq!(compared(&[], &[]).cosine(), None);
    }

    #[test]
    fn small_angles_are_exact() {
        let angle = compared(&[1 << 30, 1], &[1 << 30, 0])
            .angle_degrees()
            .unwrap();
        let expected = (1.0 / f64::from(1 << 30)).atan().to_degrees();
        assert!((angle / expected - 1.0).abs() < 1e-12, "{angle:e}");
        let angle = compared(&[3, 7, -9], &[6, 14, -18]).angle_degrees();
        assert_eq!(angle, Some(0.0));
    }

    fn triple() -> impl Strategy<Value = [Vec<i64>; 3]> {
        let component = -9i64..10;
        prop::collection::vec([component.clone(), component.clone(), component], 1..6).prop_map(
            |rows| {
                let column = |of: usize| rows.iter().map(|row| row[of]).collect();
                [column(0), column(1), column(2)]
            },
        )
    }

    proptest! {
        #[test]
        fn norms_are_metrics([a, b, c] in triple()) {
            for distance in [
                |v: VectorComparison| v.l1() as f64,
                |v: VectorComparison| v.l2(),
                |v: VectorComparison| v.linf() as f64,
            ] {
                let d = |a: &[i64], b: &[i64]| distance(compared(a, b));
                prop_assert_eq!(d(&a, &a), 0.0);
                prop_assert_eq!(d(&a, &b) == 0.0, a == b);
                prop_assert_eq!(d(&a, &b), d(&b, &a));
                prop_assert!(d(&a, &c) <= d(&a, &b) + d(&b, &c) + 1e-12);
            }
        }

        #[test]
        fn norms_match_their_definitions([a, b, _] in triple()) {
            let vectors = compared(&a, &b);
            let differences: Vec<f64> = a.iter().zip(&b).map(|(a, b)| (a - b).abs() as f64).collect();
            let power = |r: i32| differences.iter().map(|d| d.powi(r)).sum::<f64>();
            prop_assert_eq!(vectors.l1() as f64, power(1));
            prop_assert_eq!(vectors.l2(), power(2).sqrt());
            prop_assert_eq!(vectors.linf() as f64, differences.iter().copied().fold(0.0, f64::max));
        }

        /// The angle is a metric on directions: it is 0 for a positive multiple, and only for such.
        #[test]
        fn angles_are_a_metric([a, b, c] in triple(), factor in 1i64..9) {
            let angle = |a: &[i64], b: &[i64]| compared(a, b).angle_degrees();
            let zero = vec![0; a.len()];
            prop_assert_eq!(angle(&a, &zero), None);
            let (Some(ab), Some(bc), Some(ac)) = (angle(&a, &b), angle(&b, &c), angle(&a, &c)) else {
                return Ok(());
            };
            let multiple: Vec<i64> = a.iter().map(|component| factor * component).collect();
            prop_assert_eq!(angle(&a, &multiple), Some(0.0));
            let is_parallel = a.iter().zip(&b).all(|(ai, bi)| {
                a.iter().zip(&b).all(|(aj, bj)| ai * bj == aj * bi)
            }) && compared(&a, &b).cosine() > Some(0.0);
            prop_assert_eq!(ab == 0.0, is_parallel);
            prop_assert_eq!(Some(ab), angle(&b, &a));
            prop_assert!((0.0..=180.0).contains(&ab));
            prop_assert!(ac <= ab + bc + 1e-9);
            let cosine = compared(&a, &b).cosine().unwrap();
            prop_assert!((ab.to_radians().cos() - cosine).abs() < 1e-12);
        }
    }
}
