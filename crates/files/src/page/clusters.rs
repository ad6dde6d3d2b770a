//! The sizes of clusters, and the largest ones.

use maud::{Markup, html};

use super::ShownReport;
use super::pairs::place;
use simgpu::progress::{counted, grouped};
use simgpu_base::encoding::quoted;
use simgpu_io::{ExampleDocument, LargeCluster, id_text};
use simgpu_page::{Bar, Bars, Piece, Room, percent, visible, words};

/// How much is shown of the beginning of a text.
const BEGINNING: Room = Room {
    bytes: 600,
    lines: 8,
};

/// The width of all bars of the chart, in pixels, and that of a letter of their labels.
const WIDTHS: [usize; 2] = [300, 7];

impl ShownReport<'_> {
    /// How large the clusters are, and the largest ones.
    pub(super) fn clusters(&self) -> Markup {
        let largest = &self.report.largest_clusters;
        html! {
            @if !largest.is_empty() {
                section id="clusters" {
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
        let labels = ranges.iter().map(|[least, last]| {
            if least == last {
                short_size(*least)
            } else {
                format!("{}–{}", short_size(*least), short_size(*last))
            }
        });
        let labels: Vec<String> = labels.collect();
        // As many labels as there is room for.
        let longest = labels.iter().map(|label| label.chars().count()).max();
        let [width, letter] = WIDTHS;
        let step = (letter * (longest.unwrap_or(0) + 1) * labels.len()).div_ceil(width);
        let bars: Vec<Bar> = ranges
            .iter()
            .zip(labels)
            .enumerate()
            .map(|(at, ([least, last], label))| {
                let sizes = self.report.cluster_sizes.range(least..=last);
                let count = sizes.map(|(_, clusters)| clusters).sum();
                let range = if least == last {
                    grouped(*least)
                } else {
                    format!("{} to {}", grouped(*least), grouped(*last))
                };
                Bar {
                    label: (at % step == 0).then_some(label),
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
        let kept = ExampleDocument::from_cluster(cluster);
        let removed: Vec<_> = self
            .examples("cluster")
            .filter(|example| example.kept.place() == kept.place())
            .collect();
        let more = (cluster.documents - 1).saturating_sub(removed.len() as u64);
        let share = cluster.documents as f64 / self.report.counts.documents.max(1) as f64;
        html! {
            article {
                p.score { strong { (grouped(cluster.documents)) } " documents, " (percent(share)) " of all" }
                p.who { b { "kept" } " " (place(&kept)) }
                (self.beginning(&kept))
                @for example in &removed {
                    p.who {
                        b { "removed" } " " (place(&example.removed))
                        @if let Some(similarity) = example.similarity { ", similarity " (format!("{similarity:.3}")) }
                    }
                    (self.beginning(&example.removed))
                }
                @if more > 0 {
                    p.note {
                        "Removed for the same document, and not shown here: " (grouped(more)) "."
                        @if !self.is_in_memory { " To list them: " code.long { "simgpu show DIR " (visible(&quoted(&id_text(&kept.id)))) } }
                    }
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
