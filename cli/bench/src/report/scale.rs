//! Where numbers are on an axis, and which are labelled.

use crate::summary::table::{count, digits};

/// Maps numbers to positions on a line.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    is_log: bool,
    /// Positions of `low` and `high`.
    ends: [f64; 2],
    ticks: Vec<f64>,
}

impl Scale {
    /// Linear from 0, or the least negative number, to the greatest number.
    pub(super) fn linear(values: impl Iterator<Item = f64>) -> Self {
        let finite = values.filter(|value| value.is_finite());
        let (low, high) = finite.fold((0.0_f64, 0.0_f64), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        let high = if high > low { high } else { low + 1.0 };
        let step = nice_step((high - low) / 5.0);
        let (first, last) = ((low / step).floor(), (high / step).ceil());
        let ticks: Vec<f64> = (0..=32_u8).map(|i| (first + f64::from(i)) * step).collect();
        let high = last * step;
        Scale {
            low: first * step,
            high,
            is_log: false,
            ends: [0.0, 1.0],
            ticks: ticks
                .into_iter()
                .filter(|tick| *tick <= high + step / 2.0)
                .collect(),
        }
    }

    /// Logarithmic over all numbers above 0.
    pub(super) fn log(values: impl Iterator<Item = f64>) -> Self {
        let positive = values.filter(|value| value.is_finite() && *value > 0.0);
        let ends = positive.fold(None, |ends: Option<(f64, f64)>, value| {
            let (low, high) = ends.unwrap_or((value, value));
            Some((low.min(value), high.max(value)))
        });
        let (low, high) = ends.unwrap_or((1.0, 10.0));
        // A single number stands in the middle.
        let (low, high) = if low < high {
            (low, high)
        } else {
            (low / 2.0, high * 2.0)
        };
        Scale {
            low,
            high,
            is_log: true,
            ends: [0.0, 1.0],
            ticks: log_ticks(low, high),
        }
    }

    /// With additional room at both ends, as a share of the length. Logarithmic scales only.
    pub(super) fn wider(mut self, share: f64) -> Self {
        if self.is_log {
            let factor = (self.high / self.low).powf(share);
            (self.low, self.high) = (self.low / factor, self.high * factor);
            self.ticks = log_ticks(self.low, self.high);
        }
        self
    }

    /// With ticks at the given numbers.
    pub(super) fn with_ticks(mut self, ticks: impl Iterator<Item = f64>) -> Self {
        self.ticks = ticks.collect();
        self.ticks.sort_by(f64::total_cmp);
        self.ticks.dedup();
        self
    }

    /// With the given positions of its ends.
    pub(super) fn on(mut self, from: f64, to: f64) -> Self {
        self.ends = [from, to];
        self
    }

    /// Position of a number, clamped to the ends.
    pub(super) fn at(&self, value: f64) -> f64 {
        let [from, to] = self.ends;
        let share = if self.is_log {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        let share = if share.is_finite() {
            share.clamp(0.0, 1.0)
        } else {
            0.0
        };
        from + share * (to - from)
    }

    /// Positions and labels of ticks whose labels, of the given widths, do not touch.
    pub(super) fn labels(&self, width: impl Fn(&str) -> f64) -> Vec<(f64, String)> {
        let mut labels: Vec<(f64, String)> = Vec::new();
        for tick in self
            .ticks
            .iter()
            .filter(|tick| (self.low * 0.999..=self.high * 1.001).contains(*tick))
        {
            let (place, label) = (self.at(*tick), tick_label(*tick));
            let has_room = labels.last().is_none_or(|(last, text)| {
                (place - last).abs() >= f64::midpoint(width(text), width(&label)) + 6.0
            });
            if has_room {
                labels.push((place, label));
            }
        }
        labels
    }
}

/// The least of 1, 2 or 5 times a power of ten that is at least `width`.
fn nice_step(width: f64) -> f64 {
    let power = 10_f64.powf(width.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    steps
        .into_iter()
        .find(|step| *step >= width * 0.999)
        .unwrap_or(power)
}

/// Powers of ten, with multiples between them on short scales.
fn log_ticks(low: f64, high: f64) -> Vec<f64> {
    let decades = (high / low).log10();
    let factors: &[f64] = match decades {
        decades if decades <= 0.7 => &[1.0, 1.2, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0],
        decades if decades <= 2.5 => &[1.0, 2.0, 5.0],
        _ => &[1.0],
    };
    let first = low.log10().floor();
    let powers = (0..=40_u8).map(|i| 10_f64.powf(first + f64::from(i)));
    let ticks = powers.flat_map(|power| factors.iter().map(move |factor| factor * power));
    ticks
        .filter(|tick| (low * 0.999..=high * 1.001).contains(tick))
        .collect()
}

/// Label of a number on an axis: 2.5k, 10M, 0.05.
pub(super) fn tick_label(value: f64) -> String {
    let (scaled, unit) = match value.abs() {
        size if size >= 1e9 => (value / 1e9, "G"),
        size if size >= 1e6 => (value / 1e6, "M"),
        size if size >= 1e4 => (value / 1e3, "k"),
        _ => (value, ""),
    };
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole and below 10,000"
    )]
    let text = match scaled {
        scaled if (0.0..1e4).contains(&scaled) && scaled.fract() == 0.0 => count(scaled as u64),
        scaled => {
            let text = digits(scaled, 2);
            if text.contains('.') {
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            } else {
                text
            }
        }
    };
    text + unit
}

#[cfg(test)]
mod tests {
    use super::*;

    const LETTER: f64 = 7.0;

    fn labels(scale: Scale) -> Vec<String> {
        let labels = scale
            .on(0.0, 300.0)
            .labels(|label| label.len() as f64 * LETTER);
        labels.into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn linear_ticks_are_round_and_span_all_numbers() {
        assert_eq!(
            labels(Scale::linear([0.3, 17.0].into_iter())),
            ["0", "5", "10", "15", "20"]
        );
        assert_eq!(
            labels(Scale::linear([0.07].into_iter())),
            ["0", "0.02", "0.04", "0.06", "0.08"]
        );
        assert_eq!(
            labels(Scale::linear([].into_iter())),
            ["0", "0.2", "0.4", "0.6", "0.8", "1"]
        );
        assert_eq!(
            labels(Scale::linear([f64::NAN, f64::INFINITY].into_iter())),
            ["0", "0.2", "0.4", "0.6", "0.8", "1"]
        );
    }

    #[test]
    fn logarithmic_ticks_do_not_touch() {
        let wide = Scale::log([30.0, 50_000.0].into_iter());
        assert_eq!(labels(wide.clone()), ["100", "1,000", "10k"]);
        let near = wide.with_ticks([30.0, 31.0, 300.0, 50_000.0].into_iter());
        assert_eq!(labels(near), ["30", "300", "50k"]);
        assert_eq!(
            labels(Scale::log([0.0, -1.0].into_iter())),
            ["1", "2", "5", "10"]
        );
    }

    #[test]
    fn positions_stay_within_the_ends() {
        let scale = Scale::log([1.0, 100.0].into_iter()).on(0.0, 200.0);
        let places = [10.0, 0.0, -5.0, 1e9, f64::NAN].map(|value| scale.at(value));
        assert_eq!(places, [100.0, 0.0, 0.0, 200.0, 0.0]);
    }
}
