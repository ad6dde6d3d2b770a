//! How similar the removed documents are, or the pairs.

use maud::{Markup, html};

use super::ShownReport;
use simgpu::progress::{counted, grouped};
use simgpu_io::PairsBin;
use simgpu_page::{Bar, Bars, percent, short_number, square_root};

/// Bars for similarities, from 0 to 1, without the last one.
const HUNDREDTHS: u32 = 100;

/// How much higher a threshold might be, in hundredths.
const HIGHER: [u32; 2] = [2, 5];

impl ShownReport<'_> {
    /// The histogram, with the threshold.
    pub(super) fn similarities(&self) -> Markup {
        let bars = self.bars();
        html! {
            section {
                h2 { "Is the threshold right?" }
                @if !bars.is_empty() {
                    div.beside {
                        (self.chart(&bars))
                        div { @if self.pairs_bins().is_some() { (self.how_to_read_pairs()) } @else { (self.how_to_read()) } }
                    }
                } @else if self.pairs_bins().is_some() && self.report.counts.similar_pairs == 0 {
                    p { "No pair was found." }
                } @else if self.pairs_bins().is_none() && self.report.counts.removed == 0 {
                    p { "No document was removed." }
                } @else {
                    p { "Similarities are unknown: the run did not verify pairs." }
                }
            }
        }
    }

    /// The pairs by similarity; `None` if documents were removed.
    fn pairs_bins(&self) -> Option<&[PairsBin]> {
        let overview = self.report.overview.as_ref();
        overview.map(|overview| &overview.histogram[..])
    }

    /// The number of removed documents or of pairs, by their similarity.
    fn bins(&self) -> Vec<(f64, u64)> {
        match self.pairs_bins() {
            Some(bins) => {
                let bins = bins.iter();
                bins.filter_map(|bin| Some((bin.similarity?, bin.pairs)))
                    .collect()
            }
            None => {
                let bins = self.report.histogram.iter();
                bins.map(|bin| (bin.similarity, bin.removed)).collect()
            }
        }
    }

    /// The threshold of similarity.
    pub(super) fn threshold(&self) -> Option<f64> {
        let search = self.report.parameters.search.as_ref()?;
        search.threshold
    }

    /// Whether the similarity is the share of the removed document's shingles.
    pub(super) fn is_contained(&self) -> bool {
        let search = self.report.parameters.search.as_ref();
        search.is_some_and(|search| search.measure.is_some())
    }

    /// What has a similarity from this one on, in hundredths, and below that one.
    fn between(&self, least: u32, below: u32) -> u64 {
        let bins = self.bins().into_iter();
        let within =
            bins.filter(|(similarity, _)| (least..below).contains(&hundredths(*similarity)));
        within.map(|(_, count)| count).sum()
    }

    /// A bar for each hundredth, from a little below the least similarity or the threshold.
    fn bars(&self) -> Vec<Bar> {
        let bins = self.bins();
        let Some((least, _)) = bins.first() else {
            return Vec::new();
        };
        let least = hundredths(least.min(self.threshold().unwrap_or(1.0)));
        let first = (least / 5 * 5).saturating_sub(5).min(HUNDREDTHS - 20);
        // Labels need some room.
        let step = if HUNDREDTHS - first > 40 { 10 } else { 5 };
        let bars = (first..=HUNDREDTHS).map(|hundredth| {
            let similarity = f64::from(hundredth) / 100.0;
            let range = match hundredth {
                HUNDREDTHS => "1".to_owned(),
                _ => format!(
                    "{} to {}",
                    short_number(similarity),
                    short_number(similarity + 0.01)
                ),
            };
            let count = self.between(hundredth, hundredth + 1);
            Bar {
                label: (hundredth % step == 0).then(|| short_number(similarity)),
                title: format!("{range}: {}", grouped(count)),
                count,
            }
        });
        bars.collect()
    }

    fn chart(&self, bars: &[Bar]) -> Markup {
        let first = f64::from(HUNDREDTHS + 1) - bars.len() as f64;
        let line = self.threshold().map(|threshold| {
            let name = format!("threshold {}", short_number(threshold));
            (100.0 * threshold - first, name)
        });
        let [title, counts] = match self.pairs_bins() {
            Some(_) => ["Pairs by similarity", "Pairs per 0.01 of similarity"],
            None => [
                "Removed documents by similarity",
                "Removed documents per 0.01 of similarity",
            ],
        };
        let chart = Bars {
            title,
            bars,
            counts,
            unit: match (self.is_contained(), self.pairs_bins()) {
                (false, _) => "similarity: share of common shingles",
                (true, None) => "similarity: share of its shingles in the kept one",
                (true, Some(_)) => {
                    "similarity: share of the smaller one's shingles in the larger one"
                }
            },
            labels_edges: true,
            line,
        };
        chart.draw()
    }

    /// What the bars mean, and what another threshold would do.
    fn how_to_read(&self) -> Markup {
        let threshold = self.threshold().unwrap_or_default();
        let least = hundredths(threshold);
        let removed = self.report.counts.removed.max(1);
        html! {
            ul.sentences {
                li { "Each removed document counts once, with its similarity to the one that it was removed for. Documents that are less similar than the threshold stay, and are not in the chart." }
                li {
                    b { "Last bar: " } (grouped(self.between(HUNDREDTHS, HUNDREDTHS + 1)))
                    @if self.is_contained() { " with a similarity of 1, which lose no shingle." }
                    @else { " with a similarity of 1, which have all shingles in common." }
                }
                @for higher in HIGHER {
                    @if least + higher <= HUNDREDTHS {
                        @let fewer = self.between(least, least + higher);
                        li {
                            "With a threshold of " (short_number(threshold + f64::from(higher) / 100.0)) ", about "
                            b { (counted(fewer, "document")) } " fewer would go (" (percent(fewer as f64 / removed as f64)) " of the removed): " (grouped(self.report.counts.kept + fewer)) " would be kept, not " (grouped(self.report.counts.kept)) "."
                        }
                    }
                }
                li {
                    "Look at the " a href="#threshold" { "doubtful pairs" } ": if they are not duplicates, raise " code { "--threshold" } ". If all of them are, "
                    "try a lower one: " code { "simgpu pairs" } " lists what it would add."
                }
                (square_root())
            }
        }
    }

    /// The same for pairs.
    fn how_to_read_pairs(&self) -> Markup {
        let threshold = self.threshold().unwrap_or_default();
        let least = hundredths(threshold);
        let pairs = self.report.counts.similar_pairs.max(1);
        html! {
            ul.sentences {
                li { "Each pair counts once." }
                li { b { "Last bar: " } (grouped(self.between(HUNDREDTHS, HUNDREDTHS + 1))) " with a similarity of 1: " (self.equality()) "." }
                @for higher in HIGHER {
                    @if least + higher <= HUNDREDTHS {
                        @let fewer = self.between(least, least + higher);
                        li {
                            "With a threshold of " (short_number(threshold + f64::from(higher) / 100.0)) ", about "
                            b { (counted(fewer, "pair")) } " fewer would be found (" (percent(fewer as f64 / pairs as f64)) ")."
                        }
                    }
                }
                li {
                    "Look at the " a href="#threshold" { "doubtful pairs" } ": if they are not duplicates, raise " code { "--threshold" }
                    ". If all of them are, try a lower one."
                }
                (square_root())
            }
        }
    }
}

/// A similarity in hundredths.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a similarity is from 0 to 1"
)]
fn hundredths(similarity: f64) -> u32 {
    (100.0 * similarity + 1e-9).floor().clamp(0.0, 100.0) as u32
}
