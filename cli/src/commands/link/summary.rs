//! The lines of the summary.

use simgpu_link::{Estimate, LinkReport};

use crate::terminal::Lines;
use crate::{Usage, terminal};

/// A range in percent, in brackets, after a blank.
fn range(range: Option<[f64; 2]>) -> String {
    let said =
        range.map(|[least, most]| format!(" ({:.1} to {:.1} %)", 100.0 * least, 100.0 * most));
    said.unwrap_or_default()
}

/// The precision that is expected of the pairs, or why it is not known.
pub(super) fn precision(report: &LinkReport, pairs: &str) -> String {
    let estimate = &report.estimate;
    match (&estimate.expected_precision, &estimate.unknown_because) {
        (Some(precision), _) => {
            let range = range(estimate.precision_range);
            format!("{:.1} %{range} expected of the {pairs}", 100.0 * precision)
        }
        // The line of the decision says why.
        (None, Some(_)) if report.has_nothing_to_link() => {
            "cannot tell: no records that differ are linked".to_owned()
        }
        (None, Some(because)) => format!("cannot tell: {because}"),
        (None, None) => "cannot tell".to_owned(),
    }
}

/// The recall that is expected, or why it is not known although the precision is.
pub(super) fn recall(estimate: &Estimate) -> Option<String> {
    match (
        estimate.expected_recall,
        estimate.recall_range,
        &estimate.recall_unknown_because,
    ) {
        (Some(recall), bounds, _) => {
            let range = range(bounds);
            Some(format!("some {:.0} %{range} expected", 100.0 * recall))
        }
        (None, Some([least, most]), because) => {
            let because = because.as_ref().map(|because| format!(": {because}"));
            let [least, most] = [least, most].map(|share| 100.0 * share);
            let because = because.unwrap_or_default();
            Some(format!("{least:.0} to {most:.0} % expected{because}"))
        }
        (None, None, Some(because)) => Some(format!("not known: {because}")),
        (None, None, None) => None,
    }
}

/// Adds lines with what was compared, and what was left out.
pub(super) fn compared(lines: &mut Lines, report: &LinkReport) {
    let counts = &report.counts;
    let candidates = terminal::counted(counts.candidate_pairs, "pair");
    let which = match report.floor {
        Some(floor) => format!("every one from a cosine of {floor:.2} on"),
        None => "which share a value, a word or two values".to_owned(),
    };
    lines.row("candidates", format!("{candidates}, {which}"));
    let evidence = report.evidence.as_ref();
    let evidence = evidence.filter(|_| report.score == "evidence");
    let left_out = evidence.map(|evidence| evidence.left_out);
    if let Some(left_out) = left_out.filter(|left_out| left_out.groups > 0) {
        let share = match left_out.records {
            0 => "all their records share something rarer, too".to_owned(),
            1 => "1 record shares nothing rarer".to_owned(),
            records => format!("{} records share nothing rarer", terminal::grouped(records)),
        };
        lines.row(
            "left out",
            format!(
                "{} in {} that share too common a value: {share}",
                terminal::counted(left_out.pairs, "pair"),
                terminal::counted(left_out.groups, "group")
            ),
        );
    }
    if counts.equal_records > 0 {
        let equal = terminal::grouped(counts.equal_records);
        let chance = match evidence.map_or(0, |evidence| evidence.equal_by_chance) {
            0 => String::new(),
            records => format!("; of {}, by chance", terminal::grouped(records)),
        };
        lines.row(
            "equal",
            format!("{equal}, each compared as the earlier record that it equals{chance}"),
        );
    }
}

/// Adds a line with how the links were decided.
pub(super) fn decision(lines: &mut Lines, report: &LinkReport) {
    if report.score != "evidence" {
        if let Some(decision) = nothing_to_link(report).or_else(|| score_decision(report)) {
            lines.row("decision", decision);
        }
        lines.row("threshold", format!("{:.3}", report.estimate.threshold));
        return;
    }
    let Some(evidence) = &report.evidence else {
        return;
    };
    let names = |used: &str| report.fields_used(used);
    let decision = match (nothing_to_link(report), &names("strong")[..]) {
        (Some(because), _) => because,
        (None, []) => "by evidence".to_owned(),
        (None, strong) => format!("{}, by {}", evidence.verdict, strong.join(", ")),
    };
    lines.row("decision", decision);
    for (used, why) in [
        ("doubted", "differ where all others agree"),
        ("noise", "not used, never agree where others do"),
        ("copy", "not used, their words stand in other fields"),
        ("empty", "not used, hardly any values, or one only"),
        ("too many fields", "not used, there are too many fields"),
    ] {
        let names = names(used);
        if !names.is_empty() {
            lines.row("fields", format!("{}: {why}", names.join(", ")));
        }
    }
}

/// Why there is nothing to link, if so.
fn nothing_to_link(report: &LinkReport) -> Option<String> {
    let because = report.estimate.unknown_because.as_ref()?;
    report.has_nothing_to_link().then(|| because.clone())
}

/// Why the score was chosen, if it was.
fn score_decision(report: &LinkReport) -> Option<String> {
    let because = report.score_because.as_ref()?;
    let score = report.score;
    if report.evidence.is_none() {
        return Some(format!("by {score}: {because}"));
    }
    // The line of the precision says why, unless it knows something else.
    if report.estimate.unknown_because.as_ref() == Some(because) {
        Some(format!("by {score}, not by evidence"))
    } else {
        Some(format!("by {score}, not by evidence: {because}"))
    }
}

/// Says in which file a parameter is wrong.
pub(super) fn at(path: &std::path::Path, error: &simgpu::Error) -> anyhow::Error {
    Usage::error(&format!("{}: {error}", path.display()))
}
