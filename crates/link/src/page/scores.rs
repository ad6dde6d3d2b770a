//! The histogram of scores: accepted pairs above, and below them what wrong pairs score.

use std::collections::BTreeMap;

use maud::{Markup, html};

use crate::report::LinkReport;
use simgpu::progress::grouped;
use simgpu_page::{px, scored, short_number, step, ticks_of_counts};

/// The width of the drawing. A unit is a CSS pixel on the narrowest screen.
const WIDTH: f64 = 360.0;

/// Where the bars are from left to right.
const SIDES: [f64; 2] = [48.0, WIDTH - 8.0];

/// The height of the bars of each kind.
const HEIGHT: f64 = 88.0;

/// The lower ends of the bars of both kinds.
const BASES: [f64; 2] = [128.0, 256.0];

/// The bars of each kind, at most.
const BARS: f64 = 60.0;

impl LinkReport {
    /// The histogram, with the threshold.
    pub(super) fn scores(&self) -> Markup {
        let [accepted, others] = if self.has_two() {
            ["Best pairs", "Runners-up"]
        } else {
            ["Pairs within an entity", "Pairs of two entities"]
        };
        html! {
            section {
                h2 { "Scores" }
                @match Chart::new(self) {
                    Some(chart) => {
                        div.beside {
                            (chart.draw(accepted, others))
                            div { (self.how_to_read()) }
                        }
                    }
                    None => p { (self.no_pairs()) },
                }
            }
        }
    }

    /// What the bars mean.
    fn how_to_read(&self) -> Markup {
        html! {
            ul.sentences {
                @if self.has_two() {
                    li { b { "Blue: " } "the pairs that are links if they reach the threshold, each record with its best partner." }
                    li { b { "Orange: " } "runners-up, which would take their place if all of these were struck out. They show how high wrong pairs score." }
                } @else {
                    li { b { "Blue: " } "candidate pairs within an entity." }
                    li { b { "Orange: " } "candidate pairs of two entities. They show how high pairs of different things score." }
                }
                @if self.score == "evidence" {
                    li { b { "Shaded: " } "more likely the same thing than not, each pair by itself. No pair decides alone: two groups of records join if the pairs between them say so on average." }
                    li { "Pairs with odds below one to a thousand are not shown." }
                } @else {
                    li { b { "Shaded: " } "scores from the threshold on." }
                    li { "The fewer pairs are near the threshold, the less depends on it." }
                }
                li { "The height of a bar is the square root of its number, so that few can be seen beside many." }
            }
        }
    }

    /// Why there is no chart.
    fn no_pairs(&self) -> &'static str {
        match self.score {
            "evidence" if self.counts.candidate_pairs > 0 => {
                "No two records are anywhere near the same thing: the odds of all candidate pairs are below one to a thousand."
            }
            _ => "No two records have a word in common.",
        }
    }

    /// What a score is.
    fn unit(&self) -> &'static str {
        match self.score {
            "evidence" => "score in bits, each of which doubles the odds",
            "points" => "score in points, each of which doubles the odds",
            "textbook" => "score in points, at most 100 for each field",
            _ => "score: cosine of the weighted words, from 0 to 1",
        }
    }
}

/// Numbers of pairs by score, between two axes.
struct Chart<'a> {
    report: &'a LinkReport,
    /// The width of a bar, as a difference between scores.
    bin: f64,
    /// The least and the greatest score.
    ends: [f64; 2],
    /// Pairs accepted, and runners-up, by the number of the bar.
    bars: BTreeMap<i64, [u64; 2]>,
}

impl<'a> Chart<'a> {
    /// `None` without pairs.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "saturates, and bars are few"
    )]
    fn new(report: &'a LinkReport) -> Option<Self> {
        let bins = &report.histogram;
        let (first, last) = (bins.first()?.score, bins.last()?.score);
        let bin = step((last - first) / BARS).max(report.bin_width);
        let is_cosine = report.score == "text";
        let mut bars: BTreeMap<i64, [u64; 2]> = BTreeMap::new();
        for bin_of_score in bins {
            let mut bar = (bin_of_score.score / bin + 1e-6).floor() as i64;
            if is_cosine {
                // A cosine of 1 is in the last bar below 1.
                bar = bar.min((1.0 / bin).round() as i64 - 1);
            }
            let pairs = bars.entry(bar).or_default();
            pairs[0] += bin_of_score.pairs.accepted;
            pairs[1] += bin_of_score.pairs.runners_up;
        }
        let least = (first / bin + 1e-6).floor() * bin;
        let greatest = (last / bin + 1e-6).floor() * bin + bin;
        let ends = if is_cosine {
            [0.0, 1.0]
        } else {
            [least, greatest]
        };
        Some(Chart {
            report,
            bin,
            ends,
            bars,
        })
    }

    /// Where a score is.
    fn x(&self, score: f64) -> f64 {
        let [least, greatest] = self.ends;
        let share = ((score - least) / (greatest - least)).clamp(0.0, 1.0);
        SIDES[0] + share * (SIDES[1] - SIDES[0])
    }

    fn draw(&self, accepted: &str, others: &str) -> Markup {
        let threshold = self.report.estimate.threshold;
        let label = match self.report.score {
            "evidence" => "even odds".to_owned(),
            _ => format!("threshold {}", scored(threshold)),
        };
        let x = self.x(threshold);
        let anchor = match x {
            x if x < 90.0 => "start",
            x if x > WIDTH - 50.0 => "end",
            _ => "middle",
        };
        let per_bar = match self.report.score {
            "text" => format!("per {} of score", short_number(self.bin)),
            "evidence" if self.bin == 1.0 => "per bit".to_owned(),
            "evidence" => format!("per {} bits", short_number(self.bin)),
            _ if self.bin == 1.0 => "per point".to_owned(),
            _ => format!("per {} points", short_number(self.bin)),
        };
        let bottom = BASES[1];
        html! {
            figure {
                svg viewBox={ "0 0 " (px(WIDTH)) " " (px(bottom + 34.0)) } role="img" {
                    title { "Pairs by score" }
                    desc { (accepted) " above, " (others) " below; the dashed line is: " (label) "." }
                    (self.bars_of(0, accepted, &per_bar))
                    (self.bars_of(1, others, &per_bar))
                    text.strong x=(px(x)) y="15" text-anchor=(anchor) { (label) }
                    @for score in self.ticks() {
                        line.tick x1=(px(self.x(score))) x2=(px(self.x(score))) y1=(px(bottom)) y2=(px(bottom + 3.0)) {}
                        text.middle x=(px(self.x(score))) y=(px(bottom + 14.0)) { (short_number(score)) }
                    }
                    text.middle x=(px(f64::midpoint(SIDES[0], SIDES[1]))) y=(px(bottom + 30.0)) { (self.report.unit()) }
                }
            }
        }
    }

    fn bars_of(&self, kind: usize, name: &str, per_bar: &str) -> Markup {
        let base = BASES[kind];
        let most = self.bars.values().map(|pairs| pairs[kind]).max();
        let most = most.unwrap_or_default().max(1);
        let height = |pairs: f64| HEIGHT * (pairs / most as f64).sqrt();
        let width = self.x(self.ends[0] + self.bin) - self.x(self.ends[0]);
        html! {
            @let threshold = self.x(self.report.estimate.threshold);
            rect.links x=(px(threshold)) y=(px(base - HEIGHT - 4.0)) width=(px(SIDES[1] - threshold)) height=(px(HEIGHT + 4.0)) {}
            text x=(px(SIDES[0])) y=(px(base - HEIGHT - 10.0)) { tspan.strong { (name) } " " (per_bar) }
            @for pairs in ticks_of_counts(most) {
                @let y = base - height(pairs as f64);
                line.grid x1=(px(SIDES[0])) x2=(px(SIDES[1])) y1=(px(y)) y2=(px(y)) {}
                text.end x=(px(SIDES[0] - 4.0)) y=(px(y + 4.0)) { (grouped(pairs)) }
            }
            @for (bar, pairs) in &self.bars {
                @let (score, pairs) = (*bar as f64 * self.bin, pairs[kind]);
                @if pairs > 0 {
                    rect class={ "bar kind" (kind) } x=(px(self.x(score) + 0.2)) y=(px(base - height(pairs as f64)))
                        width=(px(width - 0.4)) height=(px(height(pairs as f64))) {
                        title { (short_number(score)) " to " (short_number(score + self.bin)) ": " (grouped(pairs)) }
                    }
                }
            }
            line.threshold x1=(px(threshold)) x2=(px(threshold)) y1=(px(base - HEIGHT - 4.0)) y2=(px(base)) {}
            line.axis x1=(px(SIDES[0])) x2=(px(SIDES[1])) y1=(px(base)) y2=(px(base)) {}
        }
    }

    /// Scores that are labelled.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "saturates, and labels are few"
    )]
    fn ticks(&self) -> impl Iterator<Item = f64> {
        let [least, greatest] = self.ends;
        let step = step((greatest - least) / 6.0);
        let first = (least / step - 1e-6).ceil() as i64;
        let last = (greatest / step + 1e-6).floor() as i64;
        (first..=last).map(move |number| number as f64 * step)
    }
}
