//! Charts as SVG: scales, axes, and what is drawn between them.
//!
//! All are drawn as wide as a narrow screen. A wide one stretches them, and the style sheet takes from the letters
//! what that gives, so that they are as large as the text around them on both.

use maud::{Markup, html};

use super::mark::Mark;
use crate::bench::summary::table::{count, digits};

/// Width of every chart. A unit is a CSS pixel on the narrowest screen.
pub(super) const WIDTH: f64 = 360.0;

/// Height of a plot.
const HEIGHT: f64 = 236.0;

/// What is between the edges of a plot and its axes.
const LEFT: f64 = 52.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = 42.0;

/// About the width of a letter of a label.
const LETTER: f64 = 7.0;

/// Where numbers are on a line.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    is_log: bool,
    /// Where `low` and `high` are.
    ends: [f64; 2],
    ticks: Vec<f64>,
}

impl Scale {
    /// From 0, or less, to the greatest number.
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

    /// The logarithms of all numbers above 0.
    pub(super) fn log(values: impl Iterator<Item = f64>) -> Self {
        let positive = values.filter(|value| value.is_finite() && *value > 0.0);
        let ends = positive.fold(None, |ends: Option<(f64, f64)>, value| {
            let (low, high) = ends.unwrap_or((value, value));
            Some((low.min(value), high.max(value)))
        });
        let (low, high) = ends.unwrap_or((1.0, 10.0));
        // One number alone stands in the middle.
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

    /// With more room at both ends, as a share of the whole.
    pub(super) fn wider(mut self, share: f64) -> Self {
        if self.is_log {
            let factor = (self.high / self.low).powf(share);
            (self.low, self.high) = (self.low / factor, self.high * factor);
            self.ticks = log_ticks(self.low, self.high);
        }
        self
    }

    /// With ticks at these numbers.
    pub(super) fn with_ticks(mut self, ticks: impl Iterator<Item = f64>) -> Self {
        self.ticks = ticks.collect();
        self.ticks.sort_by(f64::total_cmp);
        self.ticks.dedup();
        self
    }

    fn on(mut self, from: f64, to: f64) -> Self {
        self.ends = [from, to];
        self
    }

    /// Where a number is, within the ends.
    pub(super) fn at(&self, value: f64) -> f64 {
        let [from, to] = self.ends;
        let share = match self.is_log {
            true => (value / self.low).ln() / (self.high / self.low).ln(),
            false => (value - self.low) / (self.high - self.low),
        };
        let share = if share.is_finite() {
            share.clamp(0.0, 1.0)
        } else {
            0.0
        };
        from + share * (to - from)
    }

    /// Ticks whose labels, so wide each, do not touch, with their places.
    fn labels(&self, width: impl Fn(&str) -> f64) -> Vec<(f64, String)> {
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

/// 1, 2 or 5 times a power of ten, not below a width.
fn nice_step(width: f64) -> f64 {
    let power = 10_f64.powf(width.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    steps
        .into_iter()
        .find(|step| *step >= width * 0.999)
        .unwrap_or(power)
}

/// Powers of ten, and between few of them their doubles and fives.
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

/// A number on an axis: 2.5k, 10M, 0.05.
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
        reason = "it is whole and below 10,000"
    )]
    let text = match scaled {
        scaled if (0.0..1e4).contains(&scaled) && scaled.fract() == 0.0 => count(scaled as u64),
        scaled => {
            let text = digits(scaled, 2);
            match text.contains('.') {
                true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
                false => text,
            }
        }
    };
    text + unit
}

/// An axis and what it measures.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub(super) label: String,
    pub(super) scale: Scale,
}

impl Axis {
    pub(super) fn new(label: &str, scale: Scale) -> Self {
        Axis {
            label: label.to_owned(),
            scale,
        }
    }
}

/// Marks between two axes.
#[derive(Clone, Debug)]
pub(super) struct Plot {
    /// Its name, above it.
    pub(super) title: String,
    /// What it shows, for those who cannot see it.
    pub(super) description: String,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) marks: Vec<Mark>,
}

impl Plot {
    /// As SVG, with its name above.
    pub(super) fn draw(&self) -> Markup {
        let x = self.x.scale.clone().on(LEFT, WIDTH - RIGHT);
        let y = self.y.scale.clone().on(HEIGHT - BOTTOM, TOP);
        let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
        let content = html! {
            @for (place, label) in y.labels(|_| 8.0) {
                line.grid x1=(px(LEFT)) x2=(px(right)) y1=(px(place)) y2=(px(place)) {}
                text.end x=(px(LEFT - 6.0)) y=(px(place + 4.0)) { (label) }
            }
            // A label in the middle of a tick must not leave the chart.
            @for (place, label) in x.labels(|label| label.chars().count() as f64 * LETTER) {
                line.tick x1=(px(place)) x2=(px(place)) y1=(px(bottom)) y2=(px(bottom + 4.0)) {}
                text.middle x=(px(place)) y=(px(bottom + 17.0)) { (label) }
            }
            line.axis x1=(px(LEFT)) x2=(px(right)) y1=(px(bottom)) y2=(px(bottom)) {}
            text x="2" y="13" { (self.y.label) }
            text.middle x=(px(f64::midpoint(LEFT, right))) y=(px(HEIGHT - 7.0)) { (self.x.label) }
            @for mark in &self.marks { (mark.draw(&x, &y)) }
        };
        figure(&self.title, &self.description, HEIGHT, &content)
    }
}

/// A drawing of full width, with its name above, and for those who cannot see it in words.
pub(super) fn figure(title: &str, description: &str, height: f64, content: &Markup) -> Markup {
    html! {
        figure {
            figcaption { (title) }
            svg viewBox={ "0 0 " (px(WIDTH)) " " (px(height)) } role="img" {
                title { (title) }
                desc { (description) }
                (content)
            }
        }
    }
}

/// A place, to a tenth of a pixel.
pub(super) fn px(place: f64) -> String {
    let text = format!("{place:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale) -> Vec<String> {
        let labels = scale
            .on(0.0, 300.0)
            .labels(|label| label.len() as f64 * LETTER);
        labels.into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn linear_ticks_are_round_and_hold_all_numbers() {
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
    fn numbers_stay_within_their_scale() {
        let scale = Scale::log([1.0, 100.0].into_iter()).on(0.0, 200.0);
        let places = [10.0, 0.0, -5.0, 1e9, f64::NAN].map(|value| scale.at(value));
        assert_eq!(places, [100.0, 0.0, 0.0, 200.0, 0.0]);
    }
}
