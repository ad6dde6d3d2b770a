//! The lines of a summary.

use indicatif::HumanCount;
use simgpu::progress::Counts;
use simgpu_files::Outcome;
use simgpu_io::{DedupParameters, Report, SourceReport};

use super::numbers::{counted, share, size};

/// Lines of a summary, each with a name and a value.
#[derive(Clone, Debug, Default)]
pub struct Lines(pub Vec<(&'static str, String)>);

impl Lines {
    pub(crate) fn row(&mut self, name: &'static str, value: impl Into<String>) {
        self.0.push((name, value.into()));
    }
}

/// Adds lines with the numbers of documents: all, those without shingles, the skipped records, and those without
/// an id if that changes the ids of the others.
pub(crate) fn documents(lines: &mut Lines, report: &Report) {
    let counts = &report.counts;
    let documents = HumanCount(counts.documents);
    lines.row(
        "documents",
        format!("{documents} in {}", size(counts.bytes)),
    );
    let has_shortest = counts.short.is_some();
    if let Some(reference) = counts.reference {
        let reference = counted(reference, "document");
        lines.row(
            "reference",
            format!("{reference}, not compared with each other"),
        );
    }
    if counts.without_shingles > 0 {
        let fate = match report.command {
            "dedup" if has_shortest && counts.dropped.is_none() => ", kept",
            "dedup"
                if counts
                    .dropped
                    .is_some_and(|dropped| dropped >= counts.without_shingles) =>
            {
                ", removed"
            }
            "dedup" => ", kept unless identical to another",
            // Of signatures, nothing says which texts were equal.
            "pairs" if counts.few_shingles.is_none() => ", in no pair",
            "pairs" => ", in pairs only if identical",
            _ => "",
        };
        let without = HumanCount(counts.without_shingles);
        lines.row("no shingles", format!("{without}{fate}"));
    }
    if let (Some(short), Some(dedup)) = (counts.short, &report.dedup) {
        let fate = if dedup.drop_short { "removed" } else { "kept" };
        lines.row("short", format!("{}, {fate}", HumanCount(short)));
    }
    if let Some(few @ 1..) = counts.few_shingles {
        let percent = 100.0 * few as f64 / counts.documents.max(1) as f64;
        lines.row(
            "few shingles",
            format!("{} ({percent:.1} %) with at most one", HumanCount(few)),
        );
    }
    lines.row("skipped", HumanCount(counts.skipped).to_string());
    if let Some(missing) = &report.missing_ids {
        let (file, row) = (&missing.file, HumanCount(missing.row));
        let lack = if missing.documents == 1 {
            "lacks"
        } else {
            "lack"
        };
        lines.row(
            "ids",
            format!(
                "FILE:ROW for all, because {} {lack} an id, first {file}, row {row}",
                counted(missing.documents, "document")
            ),
        );
    }
}

/// Adds lines with the numbers of identical documents and of similar and compared pairs, with what the run is
/// expected to find, and with what it left out.
pub(crate) fn comparisons(lines: &mut Lines, outcome: &Outcome) {
    let counts = &outcome.report.counts;
    if let Some(weights) = &outcome.report.parameters.weights {
        lines.row("weights", weights.as_str());
    }
    lines.row("identical", identical(outcome));
    let similar = HumanCount(counts.similar_pairs);
    let compared = HumanCount(counts.candidate_pairs);
    // Identical documents are not compared, but are pairs.
    let pairs = match outcome.report.pairs {
        Some(_) if counts.identical > 0 => {
            format!("{similar} similar, those of identical documents included; {compared} compared")
        }
        _ => format!("{similar} similar of {compared} compared"),
    };
    lines.row("pairs", pairs);
    if let Some(search) = &outcome.report.parameters.search {
        if let (Some(distance), Some(within)) = (&search.distance, search.within) {
            lines.row(
                "distance",
                format!("{distance}, within {}", HumanCount(within)),
            );
        }
        let recall = search.recall_at_threshold;
        let percent = 100.0 * recall;
        let recall = match &*search.candidates {
            "join" => "100 %: an exact join misses no similar pair".to_owned(),
            _ if !search.recall_by_size_ratio.is_empty() => {
                let line = |(ratio, recall): (&u32, &f64)| {
                    format!("{:.1} % in one {ratio} times as large", 100.0 * recall)
                };
                let ratios = search.recall_by_size_ratio.iter().map(line);
                let ratios = ratios.collect::<Vec<_>>().join(", ");
                format!(
                    "expected for a document contained at the threshold: {ratios}; --candidates join misses none"
                )
            }
            _ => match search.input_recall_at_threshold {
                Some(among_inputs) => format!(
                    "{:.1} % expected for pairs at the threshold among the inputs, {percent:.1} % for those with the index",
                    100.0 * among_inputs
                ),
                None => format!("{percent:.1} % expected for pairs at the threshold"),
            },
        };
        lines.row("recall", recall);
        let precision = match outcome.report.expected_precision {
            Some(precision) if search.verify == "signature" => {
                format!("{:.1} % expected of the similar pairs", 100.0 * precision)
            }
            None if search.index_verify.is_some() => {
                "100 % among the inputs, where similarities are exact; with the index, signatures cannot tell"
                    .to_owned()
            }
            Some(_) if search.within.is_some() => "100 %: every distance is exact".to_owned(),
            Some(_) => "100 %: every similarity is exact".to_owned(),
            None if search.verify == "none" => "unknown: pairs were not verified".to_owned(),
            None if counts.index.is_some() => "cannot tell from signatures".to_owned(),
            None if counts.similar_pairs > 0 => {
                "cannot tell from signatures; --verify exact compares the documents".to_owned()
            }
            None => "no pair was found".to_owned(),
        };
        lines.row("precision", precision);
    }
    if counts.omitted_pairs > 0 {
        let omitted = counted(counts.omitted_pairs, "pair");
        lines.row("left out", format!("up to {omitted} not compared"));
    }
}

/// Number of documents with the text of an earlier one, and of those with its shingles alone.
fn identical(outcome: &Outcome) -> String {
    let counts = &outcome.report.counts;
    let identical = HumanCount(counts.identical);
    match (counts.equal_shingles, outcome.report.command) {
        (Some(equal @ 1..), "dedup") => format!(
            "{identical} with equal text; {} removed with equal shingles but different text",
            HumanCount(equal)
        ),
        (Some(equal @ 1..), _) => format!(
            "{identical} with equal text; {} with equal shingles but different text",
            counted(equal, "pair")
        ),
        _ => identical.to_string(),
    }
}

/// What the removals of a deduplication lose; `None` if nothing was removed but identical documents.
pub(crate) fn lost(report: &Report) -> Option<String> {
    let counts = &report.counts;
    let is_listed = |dedup: &DedupParameters| dedup.from_pairs.is_some();
    let remedy = if report.dedup.as_ref().is_some_and(is_listed) {
        "a list of pairs does not say, and a run that searches does"
    } else {
        "--verify exact compares them"
    };
    let unknown = counts.unknown_losses.unwrap_or(0);
    let unknown_note = match unknown {
        0 => String::new(),
        _ => format!(
            "; unknown for {} not compared exactly",
            counted(unknown, "document")
        ),
    };
    match (counts.lost_shingles, counts.removed_shingles) {
        (Some(lost), Some(shingles @ 1..)) => Some(format!(
            "{:.1} % of the shingles of removed documents that are not identical to a kept one{unknown_note}",
            100.0 * lost as f64 / shingles as f64
        )),
        _ if unknown > 0 => Some(format!(
            "cannot tell for {} not compared exactly; {remedy}",
            counted(unknown, "removed document")
        )),
        _ => None,
    }
}

/// The number of sources, and the one that loses most; `None` for one source.
pub(crate) fn sources(sources: &[SourceReport]) -> Option<String> {
    let named = sources.iter().filter(|source| source.others.is_none());
    // Of equal ones, the first.
    let most = named.rev().max_by_key(|source| source.removed)?;
    let others: u64 = sources.iter().filter_map(|source| source.others).sum();
    let listed = sources.len() as u64 - u64::from(others > 0);
    (sources.len() > 1).then(|| {
        format!(
            "{}, most removed from {}: {}",
            HumanCount(listed + others),
            most.source
                .as_deref()
                .unwrap_or("documents without a value"),
            share(most.removed, most.documents)
        )
    })
}

/// Number of clusters, and the size of the largest.
pub(crate) fn clusters(counts: &Counts) -> String {
    format!(
        "{}, the largest with {}",
        HumanCount(counts.clusters),
        counted(counts.largest_cluster, "document")
    )
}
