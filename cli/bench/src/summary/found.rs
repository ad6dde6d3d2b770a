//! Which pairs are found: tables.

use super::errors::{distinct, hundredths, name_similarities};
use super::table::{Table, count, percent, pivot};
use super::{Section, Topic};
use crate::tables::Tables;
use crate::{CandidateCount, PipelineResult};

pub(super) fn sections(tables: &Tables) -> Vec<Section> {
    vec![curve(&tables.candidates), found(&tables.found)]
}

/// Similarities in the table; the chart of the report has all.
const SHOWN: std::ops::Range<f64> = 0.45..0.95;

fn curve(rows: &[CandidateCount]) -> Section {
    let kind = |row: &CandidateCount| (row.scheme.clone(), row.num_perm, row.bands, row.rows);
    let names = ["scheme", "K", "bands x rows", "pairs", "within range"];
    let rows_of =
        |of: &(String, u32, u32, u32)| rows.iter().filter(|row| kind(row) == *of).collect();
    let mut cells = Vec::new();
    for of in distinct(rows.iter().map(kind)) {
        let rows: Vec<&CandidateCount> = rows_of(&of);
        let is_within =
            |row: &&&CandidateCount| (row.low_share..=row.high_share).contains(&row.share());
        let within = format!(
            "{} of {}",
            rows.iter().filter(is_within).count(),
            rows.len()
        );
        let (scheme, num_perm, bands, slots) = of;
        let pairs = count(rows.first().map_or(0, |row| row.pairs));
        let bands = format!("{bands} x {slots}");
        let name = vec![scheme, num_perm.to_string(), bands, pairs, within];
        for row in rows.iter().filter(|row| SHOWN.contains(&row.similarity)) {
            let shares = format!("{} ({})", percent(row.share()), percent(row.expected_share));
            cells.push((name.clone(), hundredths(row.similarity), shares));
        }
    }
    let mut table = pivot(&names, cells.into_iter());
    name_similarities(&mut table, names.len());
    Section {
        topic: Topic::Curve,
        note: "Share of pairs of random sets that become candidates, by similarity J, with 1 - (1 - J^rows)^bands in parentheses. Within range counts the \
               similarities, out of all from 0.05 to 0.96, whose share is within the range that contains 95 % of the binomial."
            .to_owned(),
        table,
    }
}

impl CandidateCount {
    /// Share of pairs that became candidates; NaN without pairs.
    pub(crate) fn share(&self) -> f64 {
        self.candidates as f64 / self.pairs as f64
    }
}

fn found(rows: &[PipelineResult]) -> Section {
    let header = [
        "tool",
        "corpus",
        "scheme",
        "bands x rows",
        "verification",
        "threshold",
        "seeds",
        "recall",
        "expected recall",
        "precision",
        "kept",
        "kept by truth",
        "seconds",
    ];
    let mut table = Table::new(header);
    let key = |row: &PipelineResult| PipelineResult {
        seed: 0,
        true_found: 0,
        false_found: 0,
        expected_recall: 0.0,
        kept: None,
        kept_by_truth: None,
        elapsed_s: None,
        ..row.clone()
    };
    for group in distinct(rows.iter().map(key)) {
        let rows: Vec<&PipelineResult> = rows.iter().filter(|row| key(row) == group).collect();
        table.push(pipeline(&group, &rows));
    }
    Section {
        topic: Topic::Found,
        note: "Whole pipelines on a corpus, compared with exact search. Recall and precision are means over seeds. Expected recall, with exact \
               verification, is the mean of 1 - (1 - s^rows)^bands over true pairs. Verification by signature outputs pairs whose estimate reaches the threshold, \
               so it loses some pairs near the threshold and outputs some below it. An exact join needs no signatures. Seconds are those of the \
               search for pairs with its files, the least over seeds."
            .to_owned(),
        table,
    }
}

/// The cells of a pipeline: what all its rows have in common, then means and ranges over the seeds.
fn pipeline(group: &PipelineResult, rows: &[&PipelineResult]) -> [String; 13] {
    let mean = |share: &dyn Fn(&PipelineResult) -> f64| {
        rows.iter().map(|row| share(row)).sum::<f64>() / rows.len() as f64
    };
    let with_pairs = |share: &dyn Fn(&PipelineResult) -> f64| match group.true_pairs {
        0 => String::new(),
        _ => percent(mean(share)),
    };
    let kept: Vec<u64> = rows.iter().filter_map(|row| row.kept).collect();
    let seconds = rows.iter().filter_map(|row| row.elapsed_s);
    let least_s = seconds.reduce(f64::min);
    let kept_by_truth: Vec<u64> = rows.iter().filter_map(|row| row.kept_by_truth).collect();
    [
        group.tool.clone(),
        group.corpus.clone(),
        group.scheme.clone(),
        match group.bands {
            0 => String::new(),
            bands => format!("{bands} x {}", group.rows),
        },
        group.verification.clone(),
        group.threshold.to_string(),
        rows.len().to_string(),
        with_pairs(&|row| row.true_found as f64 / row.true_pairs as f64),
        with_pairs(&|row| row.expected_recall),
        with_pairs(&|row| row.true_found as f64 / (row.true_found + row.false_found).max(1) as f64),
        range(&kept),
        range(&kept_by_truth),
        least_s.map_or(String::new(), |seconds| format!("{seconds:.2}")),
    ]
}

/// Least and greatest of some counts.
fn range(counts: &[u64]) -> String {
    match (counts.iter().min(), counts.iter().max()) {
        (Some(least), Some(most)) if least == most => count(*least),
        (Some(least), Some(most)) => format!("{} to {}", count(*least), count(*most)),
        _ => String::new(),
    }
}
