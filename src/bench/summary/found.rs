//! Which pairs are found, as tables.

use super::errors::distinct;
use super::table::{Table, count, percent};
use super::{Section, Topic};
use crate::bench::folder::Tables;
use crate::bench::{Candidates, Found};

pub(super) fn sections(tables: &Tables) -> Vec<Section> {
    vec![curve(&tables.candidates), found(&tables.found)]
}

fn curve(rows: &[Candidates]) -> Section {
    let header = [
        "scheme",
        "bands x rows",
        "similarity",
        "pairs",
        "candidates",
        "expected",
        "from",
        "to",
        "within",
    ];
    let mut table = Table::new(header);
    for row in rows {
        let share = row.share();
        let is_within = (row.low_share..=row.high_share).contains(&share);
        table.push([
            row.scheme.clone(),
            format!("{} x {}", row.bands, row.rows),
            format!("{:.2}", row.similarity),
            count(row.pairs),
            percent(share),
            percent(row.expected_share),
            percent(row.low_share),
            percent(row.high_share),
            if is_within { "yes" } else { "no" }.to_owned(),
        ]);
    }
    Section {
        topic: Topic::Curve,
        note: "Pairs that become candidates, beside 1 - (1 - s^rows)^bands and the range that has 95 % of the binomial.".to_owned(),
        table,
    }
}

impl Candidates {
    /// The share of pairs that became candidates; NaN of none.
    pub fn share(&self) -> f64 {
        self.candidates as f64 / self.pairs as f64
    }
}

fn found(rows: &[Found]) -> Section {
    let header = [
        "tool",
        "corpus",
        "scheme",
        "bands x rows",
        "verification",
        "threshold",
        "seeds",
        "recall",
        "expected",
        "precision",
        "kept",
        "kept by truth",
    ];
    let mut table = Table::new(header);
    let key = |row: &Found| Found {
        seed: 0,
        true_found: 0,
        false_found: 0,
        expected_recall: 0.0,
        kept: None,
        ..row.clone()
    };
    for group in distinct(rows.iter().map(key)) {
        let rows: Vec<&Found> = rows.iter().filter(|row| key(row) == group).collect();
        let mean = |share: &dyn Fn(&Found) -> f64| {
            rows.iter().map(|row| share(row)).sum::<f64>() / rows.len() as f64
        };
        let with_pairs = |share: &dyn Fn(&Found) -> f64| match group.true_pairs {
            0 => String::new(),
            _ => percent(mean(share)),
        };
        let kept: Vec<u64> = rows.iter().filter_map(|row| row.kept).collect();
        table.push([
            group.tool.clone(),
            group.corpus.clone(),
            group.scheme.clone(),
            format!("{} x {}", group.bands, group.rows),
            group.verification.clone(),
            group.threshold.to_string(),
            rows.len().to_string(),
            with_pairs(&|row| row.true_found as f64 / row.true_pairs as f64),
            with_pairs(&|row| row.expected_recall),
            with_pairs(&|row| {
                row.true_found as f64 / (row.true_found + row.false_found).max(1) as f64
            }),
            range(&kept),
            group.kept_by_truth.map(count).unwrap_or_default(),
        ]);
    }
    Section {
        topic: Topic::Found,
        note: "Whole pipelines on a corpus, beside all pairs that there are. Recall and precision are means over seeds; expected is the mean of \
               1 - (1 - s^rows)^bands over true pairs."
            .to_owned(),
        table,
    }
}

/// The least and the greatest of some counts.
fn range(counts: &[u64]) -> String {
    match (counts.iter().min(), counts.iter().max()) {
        (Some(least), Some(most)) if least == most => count(*least),
        (Some(least), Some(most)) => format!("{} to {}", count(*least), count(*most)),
        _ => String::new(),
    }
}
