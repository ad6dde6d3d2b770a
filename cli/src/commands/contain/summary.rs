//! The lines of the summary.

use simgpu_contain::{ByClass, ContainCounts, ContainReport};

use crate::terminal;

/// The items, and those that no document can be found to ask.
pub(super) fn items(counts: &ContainCounts) -> String {
    let mut line = terminal::grouped(counts.items);
    if counts.undecidable_items > 0 {
        let undecidable = terminal::grouped(counts.undecidable_items);
        line += &format!("; {undecidable} cannot be recognised: too short, or shared with others");
    }
    if counts.merged_items > 0 {
        let merged = terminal::grouped(counts.merged_items);
        line += &format!("; {merged} stand for several records with the same words");
    }
    line
}

/// The items that documents ask, and where.
pub(super) fn asked(report: &ContainReport) -> String {
    let counts = &report.counts;
    let items = terminal::counted(counts.found_items.contaminated, "item");
    let documents = terminal::counted(counts.documents.contaminated, "document");
    let files = terminal::counted(counts.leaking_files, "file");
    match counts.documents.contaminated {
        0 => items,
        _ => format!("{items} by {documents} in {files}"),
    }
}

/// Hits that lack one condition, and the most frequent conditions.
pub(super) fn near_misses(report: &ContainReport) -> String {
    const LISTED: usize = 3;
    let near = report.near_misses.iter().take(LISTED);
    let near = near.map(|near| format!("{} {}", terminal::grouped(near.hits), near.lacks));
    let near: Vec<String> = near.collect();
    let near = near.join(", ");
    match report.counts.near_misses {
        0 => "none".to_owned(),
        1 => format!("1 hit lacks one condition: {near}"),
        all => format!("{} hits lack one condition: {near}", terminal::grouped(all)),
    }
}

/// What is found and not asked, by class.
pub(super) fn not_asked(counts: &ByClass) -> String {
    let all = [
        (counts.passage, "passage"),
        (counts.short, "short"),
        (counts.template, "template"),
    ];
    let all = all.map(|(count, name)| format!("{} {name}", terminal::grouped(count)));
    all.join(", ")
}
