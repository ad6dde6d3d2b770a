//! Integrals over an interval.

/// Nodes and weights of an integral over an interval, cut into panels with eight Gauss-Legendre nodes each.
pub(super) fn gauss_legendre(from: f64, to: f64, panels: u32) -> impl Iterator<Item = (f64, f64)> {
    let width = (to - from) / f64::from(panels);
    (0..panels).flat_map(move |panel| {
        let middle = from + width * (f64::from(panel) + 0.5);
        GAUSS_LEGENDRE_8.iter().flat_map(move |(node, weight)| {
            let (offset, weight) = (node * width / 2.0, weight * width / 2.0);
            [(middle - offset, weight), (middle + offset, weight)]
        })
    })
}

/// Positive nodes and weights of the Gauss-Legendre rule of eight points (Abramowitz and Stegun,
/// table 25.4).
const GAUSS_LEGENDRE_8: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_3),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_48),
    (0.960_289_856_497_536_3, 0.101_228_536_290_376_26),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// A panel is exact for polynomials of degree 15: the integral of x^15 over 0 to 2 is 2^16 / 16.
    #[test]
    fn a_panel_is_exact() {
        for panels in [1, 3] {
            let sum: f64 = gauss_legendre(0.0, 2.0, panels)
                .map(|(x, weight)| weight * x.powi(15))
                .sum();
            assert!((sum - 4096.0).abs() < 1e-9, "{sum}");
        }
    }
}
