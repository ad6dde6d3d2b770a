//! Round numbers and coordinates of charts.

/// Numbers of pairs that are labelled: 0, the greatest round number, and round numbers of a fourth of it or less.
#[doc(hidden)]
pub fn ticks_of_counts(most: u64) -> Vec<u64> {
    let round = |most: u64| {
        let unit = 10_u64.pow(most.max(1).ilog10());
        let factor = [5, 2].into_iter().find(|factor| factor * unit <= most);
        factor.unwrap_or(1) * unit
    };
    let mut ticks = vec![round(most)];
    while let Some(last) = ticks.last().filter(|last| **last >= 4 && ticks.len() < 3) {
        ticks.push(round(last / 4));
    }
    ticks.push(0);
    ticks
}

/// The least of 0.02, 0.1, 0.2, 1, 2, 10, 20 ... that is not below a number: each is a multiple of the one before, or of
/// the second before it.
#[doc(hidden)]
pub fn step(least: f64) -> f64 {
    let steps = (-2..18).flat_map(|power| {
        let unit = 10_f64.powi(power);
        [unit, 2.0 * unit].into_iter().filter(|step| *step >= 0.02)
    });
    let mut reaching = steps.filter(|step| *step >= least * (1.0 - 1e-9));
    reaching.next().unwrap_or(1e18)
}

/// A number without digits that say nothing.
#[doc(hidden)]
pub fn short_number(number: f64) -> String {
    let text = format!("{number:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    match text {
        "-0" => "0".to_owned(),
        text => text.to_owned(),
    }
}

/// A coordinate in tenths of a pixel.
#[doc(hidden)]
pub fn px(coordinate: f64) -> String {
    let text = format!("{coordinate:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_round_numbers() {
        assert_eq!(ticks_of_counts(1), [1, 0]);
        assert_eq!(ticks_of_counts(3), [2, 0]);
        assert_eq!(ticks_of_counts(731), [500, 100, 20, 0]);
        assert_eq!(step(0.0), 0.02);
        assert_eq!(step(0.14), 0.2);
        assert_eq!(step(50.0), 100.0);
        assert_eq!(
            [0.1 + 0.2, 5.0, -0.001].map(short_number),
            ["0.3", "5", "0"]
        );
    }
}
