//! What the command prints after measuring: the answers on one screen. The tables are in summary.md.

use std::path::Path;

use super::errors::{distinct, error_of};
use super::peers::{PeerComparison, compare_with_peers};
use super::table::{count, digits, percent};
use super::throughput::{Signed, documents};
use super::warnings;
use crate::cases::{MeasuredCase, cases};
use crate::error;
use crate::record::once;
use crate::statistics::mean;
use crate::tables::Tables;
use crate::{Absence, PipelineResult, Stage};

/// Most columns of a line.
const COLUMNS: usize = 100;

/// Most rows of a list.
const LISTED: usize = 8;

/// What is fastest here, against what, which errors were found, and where the page is.
pub(crate) fn screen(tables: &Tables, folder: &Path) -> String {
    let cases = cases(&tables.runs);
    let parts = [
        backends(&cases, tables),
        left_out(tables),
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

/// How fast each backend signs each scheme, and how far its estimates are off.
fn backends(cases: &[MeasuredCase<'_>], tables: &Tables) -> Vec<String> {
    let Some(signed) = Signed::of(cases) else {
        return Vec::new();
    };
    let (base, at_base) = (&signed.base, signed.at_base());
    let way = |case: &&MeasuredCase<'_>| (case.computer(), case.case.threads);
    let ways = distinct(at_base.iter().map(way));
    let first_case = |(computer, threads): &(String, u32)| {
        let is_it = |case: &&&MeasuredCase<'_>| way(case) == (computer.clone(), *threads);
        at_base.iter().find(is_it).copied()
    };
    let header = |of: &dyn Fn(&MeasuredCase<'_>) -> String| -> String {
        let cells = ways
            .iter()
            .filter_map(first_case)
            .map(|case| column(&of(case)));
        cells.collect()
    };
    let mut lines = vec![
        format!(
            "Signing {} of {} shingles, K = {}: M shingles/s (medians), and the error of estimates",
            documents(base.documents),
            count(base.shingles),
            count(base.num_perm.into())
        ),
        format!("  {:<16}{}", "", header(&|case| short_name(case))),
        format!(
            "  {:<16}{}{}",
            "threads",
            header(&|case| case.case.threads.to_string()),
            column("error")
        ),
    ];
    let row = |scheme: &str| {
        let scheme_cases = || at_base.iter().filter(|case| case.case.scheme == scheme);
        let speed = |wanted: &(String, u32)| {
            let mut cases = scheme_cases().filter(|case| way(case) == *wanted);
            let speed = cases.next().map(|case| case.shingles_per_s() / 1e6);
            column(&speed.map_or_else(|| "-".to_owned(), |speed| digits(speed, 3)))
        };
        let errors = scheme_cases().filter_map(|case| error_of(tables, case));
        let errors = distinct(errors.map(|error| digits(error, 3)));
        let speeds: String = ways.iter().map(speed).collect();
        format!("  {scheme:<16}{speeds}{}", column(&errors.join(" ")))
    };
    let schemes = distinct(at_base.iter().map(|case| case.case.scheme.as_str()));
    lines.extend(listed(schemes.into_iter().map(row).collect()));
    lines.extend(fastest(&at_base));
    lines.extend(fastest_dedup(cases));
    lines
}

/// The fastest way from files to files.
fn fastest_dedup(cases: &[MeasuredCase<'_>]) -> Option<String> {
    let (case, bytes_per_s) = cases
        .iter()
        .filter(|case| case.is_own() && case.case.stage == Stage::Dedup)
        .filter_map(|case| Some((case, case.text_bytes_per_s()?)))
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(format!(
        "  files to files: dedup by {} on {} reads {} MB/s of text, {}",
        case.case.scheme,
        case.computer(),
        digits(bytes_per_s / 1e6, 3),
        case.case.threads()
    ))
}

/// A cell of a column of the screen.
fn column(text: &str) -> String {
    format!("{text:>9}")
}

/// The backend, or its instruction set, in one word.
fn short_name(case: &MeasuredCase<'_>) -> String {
    match case.case.backend.as_str() {
        // The screen is narrow, and AVX-512 stands beside it.
        "simd" if case.case.hardware == "avx512vnni" => "vnni".to_owned(),
        "simd" => case.case.hardware.clone(),
        backend => backend.to_owned(),
    }
}

/// The fastest way to sign the first scheme, which device there is, and whether all ways computed the same.
fn fastest(at_base: &[&MeasuredCase<'_>]) -> Vec<String> {
    let mut lines = Vec::new();
    let speed = |case: &MeasuredCase<'_>| case.shingles_per_s();
    let first_scheme = || {
        let scheme = at_base.first().map(|case| &case.case.scheme);
        at_base
            .iter()
            .filter(move |case| Some(&case.case.scheme) == scheme)
    };
    if let Some(best) = first_scheme().max_by(|a, b| speed(a).total_cmp(&speed(b))) {
        let scalar = first_scheme().find(|case| case.case.backend == "scalar");
        let against = match scalar {
            Some(scalar) if best.case.backend != "scalar" => {
                let ratio = speed(best) / speed(scalar);
                format!(", {} times as fast as scalar", digits(ratio, 3))
            }
            _ => String::new(),
        };
        lines.push(format!(
            "  Fastest here: {} by {}, {}{against}",
            best.case.scheme,
            best.computer(),
            best.case.threads()
        ));
    }
    if let Some(device) = at_base.iter().find(|case| case.case.is_on_device()) {
        lines.push(format!(
            "  device of gpu and hybrid: {}",
            device.case.hardware
        ));
    }
    lines
}

/// The speed over that of each other tool: where simgpu does worst.
fn peers(cases: &[MeasuredCase<'_>]) -> Vec<String> {
    let mut all = compare_with_peers(cases);
    if all.is_empty() {
        return match Signed::of(cases) {
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

/// Why no device was measured, and how to ask for it.
fn left_out(tables: &Tables) -> Vec<String> {
    let mut absent = tables.absent.iter();
    let device = absent.find(|absence| absence.what == Absence::DEVICE);
    let line = device.map(|absence| format!("GPU left out: {}", absence.why));
    line.into_iter().collect()
}

/// The worst bias, and the schemes that deviate from what theory expects.
fn errors(tables: &Tables) -> Vec<String> {
    if tables.errors.is_empty() {
        return Vec::new();
    }
    let (cells, findings) = (once(&tables.errors), error::findings(&tables.errors));
    let unexpected = findings.iter().filter(|finding| !finding.is_known);
    let unexpected_count = unexpected.clone().count();
    let mut lines = vec![format!(
        "Estimation errors found: {} unexpected, {} expected of schemes that do not mix, in {} cells",
        count(unexpected_count as u64),
        count((findings.len() - unexpected_count) as u64),
        count(cells.len() as u64)
    )];
    // A scheme that does not mix is biased on some inputs by its nature.
    let mixed = cells.iter().filter(|cell| cell.is_whole() && cell.is_mixed);
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
        let is_flagged =
            |row: &&crate::CandidateCount| !(row.low_share..=row.high_share).contains(&row.share());
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
