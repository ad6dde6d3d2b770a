//! The sizes of clusters, and the largest ones.

use maud::{Markup, html};

use super::Shown;
use super::pairs::{place, words};
use crate::io::{ExampleDocument, LargeCluster};
use crate::page::{Bar, Bars, Piece, percent};
use crate::progress::{counted, grouped};

/// Bytes of HTML for the beginning of a text, at most.
const BEGINNING: usize = 600;

impl Shown<'_> {
    /// How large the clusters are, and the largest ones.
    pub(super) fn clusters(&self) -> Markup {
        let largest = &self.report.largest_clusters;
        html! {
            @if !largest.is_empty() {
                section {
                    h2 { "Clusters" }
                    p.note {
                        "A cluster is a kept document and those removed for it. A large one of texts that have little to do with each other "
                        "is a sign of boilerplate, or of too low a threshold."
                    }
                    div.beside {
                        (self.sizes())
                        ul.sentences {
                            li { (counted(self.report.counts.clusters, "cluster")) " of two or more documents." }
                            li { (counted(self.alone(), "document")) " without a near-duplicate." }
                            li { "The largest clusters are shown below, each by the beginnings of its texts." }
                        }
                    }
                    h3 { "The largest clusters" }
                    @for cluster in largest { (self.cluster(cluster)) }
                }
            }
        }
    }

    /// The documents that are in no cluster.
    fn alone(&self) -> u64 {
        self.report
            .cluster_sizes
            .get(&1)
            .copied()
            .unwrap_or_default()
    }

    /// The chart of sizes: each of 2 to 5, then ranges that double.
    fn sizes(&self) -> Markup {
        let most = self.report.counts.largest_cluster;
        let mut ranges: Vec<[u64; 2]> = (2..=5).map(|size| [size, size]).collect();
        while let Some([_, last]) = ranges.last().copied().filter(|[_, last]| *last < most) {
            ranges.push([last + 1, last.saturating_mul(2)]);
        }
        let bars: Vec<Bar> = ranges
            .iter()
            .enumerate()
            .map(|(at, [least, last])| {
                let sizes = self.report.cluster_sizes.range(least..=last);
                let count = sizes.map(|(_, clusters)| clusters).sum();
                let range = match least == last {
                    true => grouped(*least),
                    false => format!("{} to {}", grouped(*least), grouped(*last)),
                };
                Bar {
                    // Many labels need more room than there is.
                    label: (ranges.len() <= 8 || at % 2 == 0)
                        .then(|| short_size(*least) + if least == last { "" } else { "+" }),
                    title: format!("{range} documents: {}", counted(count, "cluster")),
                    count,
                }
            })
            .collect();
        let chart = Bars {
            title: "Clusters by size",
            bars: &bars,
            counts: "Clusters of each size",
            unit: "documents in the cluster",
            labels_edges: false,
            line: None,
        };
        chart.draw()
    }

    fn cluster(&self, cluster: &LargeCluster) -> Markup {
        let kept = ExampleDocument::of_cluster(cluster);
        let removed = self
            .examples("cluster")
            .filter(|example| example.kept.place() == kept.place());
        let share = cluster.documents as f64 / self.report.counts.documents.max(1) as f64;
        html! {
            article {
                p.score { strong { (grouped(cluster.documents)) } " documents, " (percent(share)) " of all" }
                p.who { b { "kept" } " " (place(&kept)) }
                (self.beginning(&kept))
                @for example in removed {
                    p.who {
                        b { "removed" } " " (place(&example.removed))
                        @if let Some(similarity) = example.similarity { ", similarity " (format!("{similarity:.3}")) }
                    }
                    (self.beginning(&example.removed))
                }
            }
        }
    }

    /// The beginning of a text.
    fn beginning(&self, document: &ExampleDocument) -> Markup {
        let sample = self.samples.get(document);
        html! {
            @if let Some(sample) = sample {
                p.words { bdi { (words(&[Piece::Same(&sample.text)], BEGINNING)) } }
            }
        }
    }
}

/// A number that needs little room: 10k.
fn short_size(size: u64) -> String {
    match size {
        0..10_000 => size.to_string(),
        10_000..10_000_000 => format!("{}k", size / 1000),
        _ => format!("{}M", size / 1_000_000),
    }
}
