//! What the command prints after measuring: the answers on one screen. The tables are in summary.md.

use std::path::Path;

use super::peers::{PeerComparison, compare_with_peers};
use super::table::{count, digits, percent};
use super::throughput::{base_size, signed_at};
use super::warnings;
use crate::bench::cases::{MeasuredCase, cases};
use crate::bench::error;
use crate::bench::statistics::mean;
use crate::bench::tables::Tables;
use crate::bench::{PipelineResult, Stage};

/// Most columns of a line.
const COLUMNS: usize = 100;

/// Most rows of a list.
const LISTED: usize = 8;

/// What is fastest here, against what, which errors were found, and where the page is.
pub(in crate::bench) fn screen(tables: &Tables, folder: &Path) -> String {
    let cases = cases(&tables.runs);
    let parts = [
        fastest(&cases),
        peers(&cases),
        errors(tables),
        lsh(tables),
        doubts(&cases, tables),
        vec![
            format!("charts       {}", folder.join("report.html").display()),
            format!("all tables   {}", folder.join("summary.md").display()),
        ],
    ];
    let mut text = String::new();
    for part in parts.iter().filter(|part| !part.is_empty()) {
        if !text.is_empty() {
            text.push('\n');
        }
        for line in part {
            // A path is useful only as a whole.
            let is_path = std::ptr::eq(part, &parts[parts.len() - 1]);
            text.push_str(&if is_path { line.clone() } else { cut(line) });
            text.push('\n');
        }
    }
    text
}

/// A line of at most [`COLUMNS`] characters.
fn cut(line: &str) -> String {
    match line.char_indices().nth(COLUMNS) {
        None => line.to_owned(),
        Some(_) => {
            let start: String = line.chars().take(COLUMNS - 3).collect();
            format!("{}...", start.trim_end())
        }
    }
}

/// The first lines of a list, and how many more there are.
fn listed(lines: Vec<String>) -> Vec<String> {
    let more = lines.len().saturating_sub(LISTED);
    let mut lines: Vec<String> = lines.into_iter().take(LISTED).collect();
    if more > 0 {
        lines.push(format!("  and {} more in summary.md", count(more as u64)));
    }
    lines
}

/// The fastest way to sign of each scheme, fastest scheme first.
fn fastest(cases: &[MeasuredCase<'_>]) -> Vec<String> {
    let Some(base) = base_size(cases) else {
        return Vec::new();
    };
    let at_base = signed_at(cases, &base);
    let speed = |case: &MeasuredCase<'_>| case.shingles_per_s();
    let mut best: Vec<&MeasuredCase<'_>> = Vec::new();
    for case in &at_base {
        match best
            .iter_mut()
            .find(|other| other.case.scheme == case.case.scheme)
        {
            Some(other) if speed(case) > speed(other) => *other = case,
            Some(_) => {}
            None => best.push(case),
        }
    }
    best.sort_by(|a, b| speed(b).total_cmp(&speed(a)));
    let scalar_of = |scheme: &str| {
        let is_scalar =
            |case: &&&MeasuredCase<'_>| case.case.scheme == scheme && case.case.backend == "scalar";
        at_base.iter().find(is_scalar)
    };
    let row = |case: &&MeasuredCase<'_>| {
        let against = match scalar_of(&case.case.scheme) {
            Some(scalar) if case.case.backend != "scalar" => {
                let ratio = speed(case) / speed(scalar);
                format!(", {} times as fast as scalar", digits(ratio, 3))
            }
            _ => String::new(),
        };
        format!(
            "  {:<16} {:<20} {:>7} M shingles/s{against}",
            case.case.scheme,
            case.computer(),
            digits(speed(case) / 1e6, 3)
        )
    };
    let mut lines = vec![format!(
        "Fastest here: signing sets of {} shingles, K = {}, {} (medians)",
        count(base.shingles),
        count(base.num_perm.into()),
        match base.threads {
            1 => "1 thread".to_owned(),
            threads => format!("{threads} threads"),
        }
    )];
    lines.extend(listed(best.iter().map(row).collect()));
    let whole = cases
        .iter()
        .filter(|case| case.is_own() && case.case.stage == Stage::Dedup)
        .filter_map(|case| Some((case, case.text_bytes_per_s()?)))
        .max_by(|a, b| a.1.total_cmp(&b.1));
    if let Some((case, bytes_per_s)) = whole {
        lines.push(format!(
            "  files to files: dedup by {} reads {} MB/s of text, {}",
            case.case.scheme,
            digits(bytes_per_s / 1e6, 3),
            case.case.threads()
        ));
    }
    lines
}

/// The speed over that of each other tool: where simgpu does worst.
fn peers(cases: &[MeasuredCase<'_>]) -> Vec<String> {
    let mut all = compare_with_peers(cases);
    if all.is_empty() {
        return match base_size(cases) {
            Some(_) => {
                vec!["Other tools: not measured; benches/peers measures them here".to_owned()]
            }
            None => Vec::new(),
        };
    }
    all.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
    let behind = all.iter().filter(|comparison| comparison.is_behind());
    let mut lines = vec![format!(
        "Against other tools: {} comparisons, simgpu behind in {}; the least favourable of each tool:",
        count(all.len() as u64),
        count(behind.count() as u64)
    )];
    let mut least: Vec<&PeerComparison> = Vec::new();
    for comparison in &all {
        let name = comparison.peer_name();
        if least.iter().all(|other| other.peer_name() != name) {
            least.push(comparison);
        }
    }
    let row = |comparison: &&PeerComparison| {
        format!(
            "  {:<28} {:>7} times as fast: {} with {}, K = {}",
            comparison.peer_name(),
            digits(comparison.ratio, 3),
            comparison.peer.stage.name(),
            comparison.scheme,
            comparison.peer.num_perm
        )
    };
    lines.extend(listed(least.iter().map(row).collect()));
    lines
}

/// The worst bias, and the schemes that deviate from what theory expects.
fn errors(tables: &Tables) -> Vec<String> {
    if tables.errors.is_empty() {
        return Vec::new();
    }
    let findings = error::findings(&tables.errors);
    let unexpected = findings.iter().filter(|finding| !finding.is_known);
    let unexpected_count = unexpected.clone().count();
    let mut lines = vec![format!(
        "Estimation errors found: {} unexpected, {} expected of schemes that do not mix, in {} cells",
        count(unexpected_count as u64),
        count((findings.len() - unexpected_count) as u64),
        count(tables.errors.len() as u64)
    )];
    // A scheme that does not mix is biased on some inputs by its nature.
    let mixed = tables
        .errors
        .iter()
        .filter(|cell| cell.is_whole() && cell.is_mixed);
    if let Some(worst) = mixed.max_by(|a, b| a.bias.abs().total_cmp(&b.bias.abs())) {
        lines.push(format!(
            "  greatest bias of a scheme that mixes: {:+.4}, {} at J = {:.2} on {}, {} elements, K = {}",
            worst.bias,
            worst.name(),
            worst.similarity,
            worst.input,
            count(worst.set_size),
            worst.num_perm
        ));
    }
    let shown = unexpected.map(|finding| format!("  {finding}"));
    lines.extend(listed(shown.collect()));
    lines
}

/// How many similarities miss the S-curve, and how well whole pipelines find pairs.
fn lsh(tables: &Tables) -> Vec<String> {
    let mut lines = Vec::new();
    let rows = &tables.candidates;
    if !rows.is_empty() {
        let is_flagged = |row: &&crate::bench::CandidateCount| {
            !(row.low_share..=row.high_share).contains(&row.share())
        };
        let flagged = rows.iter().filter(is_flagged);
        lines.push(format!(
            "  S-curve: {} of {} similarities outside their 95 % range (chance alone: about {})",
            count(flagged.count() as u64),
            count(rows.len() as u64),
            digits(rows.len() as f64 / 20.0, 2)
        ));
    }
    let (joins, exact): (Vec<&PipelineResult>, Vec<_>) = tables
        .found
        .iter()
        .filter(|row| row.tool == "simgpu" && row.verification == "exact" && row.true_pairs > 0)
        .partition(|row| row.bands == 0);
    if !exact.is_empty() {
        let recall = |row: &&&PipelineResult| row.true_found as f64 / row.true_pairs as f64;
        let recalls: Vec<f64> = exact.iter().map(|row| recall(&row)).collect();
        let expected: Vec<f64> = exact.iter().map(|row| row.expected_recall).collect();
        let false_found: u64 = exact.iter().map(|row| row.false_found).sum();
        lines.push(format!(
            "  recall with exact verification: {} (expected {}) in {}, {} false pairs",
            percent(mean(&recalls)),
            percent(mean(&expected)),
            match exact.len() {
                1 => "1 run".to_owned(),
                runs => format!("{runs} runs"),
            },
            count(false_found)
        ));
    }
    for join in joins {
        let is_beside =
            |row: &&&PipelineResult| (row.threshold, &row.corpus) == (join.threshold, &join.corpus);
        let through_lsh = exact
            .iter()
            .filter(is_beside)
            .filter_map(|row| row.elapsed_s);
        lines.push(format!(
            "  exact join at {}: recall {}, {} false pairs, {} s (through LSH {} s)",
            join.threshold,
            percent(join.true_found as f64 / join.true_pairs as f64),
            count(join.false_found),
            digits(join.elapsed_s.unwrap_or(f64::NAN), 2),
            digits(through_lsh.fold(f64::NAN, f64::min), 2),
        ));
    }
    if !lines.is_empty() {
        lines.insert(0, "Pairs found:".to_owned());
    }
    lines
}

/// What makes figures doubtful, and what is missing.
fn doubts(cases: &[MeasuredCase<'_>], tables: &Tables) -> Vec<String> {
    let warnings = warnings::section(cases).table.rows;
    let mut lines: Vec<String> = warnings
        .iter()
        .filter_map(|row| row.first())
        .map(|symptom| format!("  {}", symptom.split(" (").next().unwrap_or(symptom)))
        .collect();
    if !tables.absent.is_empty() {
        lines.push(format!(
            "  not measured: {}",
            count(tables.absent.len() as u64)
        ));
    }
    if !lines.is_empty() {
        lines.insert(0, "Doubts, explained in summary.md:".to_owned());
    }
    lines
}
