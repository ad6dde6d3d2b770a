//! simgpu compared with other tools: tables.

use std::collections::HashMap;

use super::table::{Table, count, digits, digits_if, percent, pivot, seconds};
use super::{Section, Topic};
use crate::case::Case;
use crate::cases::MeasuredCase;
use crate::statistics::median;
use crate::tables::Tables;
use crate::{PipelineResult, Stage, TimedRun};

/// simgpu compared with another tool on the same work.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PeerComparison {
    /// Case of the other tool.
    pub peer: Case,
    /// Scheme of simgpu.
    pub scheme: String,
    /// Documents per second of simgpu over those of the other tool: median over rounds that measured both.
    pub ratio: f64,
}

impl PeerComparison {
    /// Other tool and what it computes.
    pub(crate) fn peer_name(&self) -> String {
        let Case { tool, scheme, .. } = &self.peer;
        format!("{tool} {scheme}").trim().to_owned()
    }

    /// Whether simgpu is slower.
    pub(crate) fn is_behind(&self) -> bool {
        self.ratio < 1.0
    }
}

/// Compares every case of another tool with two schemes of simgpu at the same input, shingles, slots and threads: the
/// scheme of the same name or checksum, and the fastest one.
pub(crate) fn compare_with_peers(cases: &[MeasuredCase<'_>]) -> Vec<PeerComparison> {
    let mut all = Vec::new();
    for peer in cases.iter().filter(|case| !case.is_ours()) {
        let ours = counterparts(cases, peer);
        let is_same = |ours: &&&MeasuredCase<'_>| {
            let checksum = ours.checksum();
            ours.case.scheme == peer.case.scheme
                || (checksum.is_some() && checksum == peer.checksum())
        };
        let same = ours.iter().find(is_same);
        let speed = |ours: &&&MeasuredCase<'_>| ours.documents_per_s();
        let fastest = ours.iter().max_by(|a, b| speed(a).total_cmp(&speed(b)));
        let fastest = fastest.filter(|fastest| same.is_none_or(|same| same.case != fastest.case));
        all.extend(same.into_iter().chain(fastest).map(|ours| PeerComparison {
            peer: peer.case.clone(),
            scheme: ours.case.scheme.clone(),
            ratio: ratio_by_round(ours, peer),
        }));
    }
    all
}

/// Cases of simgpu on the CPU at the size of `peer`, one per scheme: preferably with as many documents, then with the
/// fastest instructions.
fn counterparts<'a>(
    cases: &'a [MeasuredCase<'a>],
    peer: &MeasuredCase<'_>,
) -> Vec<&'a MeasuredCase<'a>> {
    let size = |case: &Case| (case.stage, case.shingles, case.num_perm, case.threads);
    let is_alike = |case: &&MeasuredCase<'_>| {
        let (ours, theirs) = (&case.case, &peer.case);
        case.is_ours()
            && !ours.is_on_device()
            && size(ours) == size(theirs)
            && ours.input == theirs.input
    };
    let is_nearer = |case: &MeasuredCase<'_>, other: &MeasuredCase<'_>| {
        let rank = |case: &MeasuredCase<'_>| {
            (
                case.case.documents == peer.case.documents,
                case.documents_per_s(),
            )
        };
        rank(case) > rank(other)
    };
    let mut found: Vec<&MeasuredCase<'_>> = Vec::new();
    for case in cases.iter().filter(is_alike) {
        match found
            .iter_mut()
            .find(|other| other.case.scheme == case.case.scheme)
        {
            Some(other) if is_nearer(case, other) => *other = case,
            Some(_) => (),
            None => found.push(case),
        }
    }
    found
}

fn documents_per_s(run: &TimedRun) -> f64 {
    run.documents as f64 / run.pass_s()
}

/// Median ratio within rounds. Tools take turns, so that a slow round slows all of them.
fn ratio_by_round(ours: &MeasuredCase<'_>, peer: &MeasuredCase<'_>) -> f64 {
    let speeds: HashMap<u32, f64> = ours
        .runs
        .iter()
        .map(|run| (run.round, documents_per_s(run)))
        .collect();
    let ratio = |run: &&TimedRun| Some(speeds.get(&run.round)? / documents_per_s(run));
    let ratios: Vec<f64> = peer.runs.iter().filter_map(ratio).collect();
    match ratios.as_slice() {
        [] => ours.documents_per_s() / peer.documents_per_s(),
        ratios => median(ratios),
    }
}

pub(super) fn sections(cases: &[MeasuredCase<'_>], tables: &Tables) -> Vec<Section> {
    let all = compare_with_peers(cases);
    vec![speeds(&all), end_to_end(cases, &all, &tables.found)]
}

fn shown(ratio: f64) -> String {
    if ratio < 1.0 {
        format!("{} **behind**", digits(ratio, 3))
    } else {
        digits(ratio, 3)
    }
}

fn speeds(all: &[PeerComparison]) -> Section {
    let compared: Vec<&PeerComparison> = all
        .iter()
        .filter(|comparison| comparison.peer.stage != Stage::Dedup)
        .collect();
    let behind = compared
        .iter()
        .filter(|comparison| comparison.is_behind())
        .count();
    // The names of a row, in the order of the rows. Runs are ordered by cell instead.
    let row = |comparison: &&PeerComparison| {
        let peer = &comparison.peer;
        let tools = (comparison.peer_name(), comparison.scheme.clone());
        (peer.stage, peer.input.clone(), tools, peer.shingles)
    };
    let cell = |comparison: &&PeerComparison| {
        let (stage, input, (peer, scheme), shingles) = row(comparison);
        let names = vec![
            stage.name().to_owned(),
            input,
            peer,
            scheme,
            count(shingles),
        ];
        let num_perm = u64::from(comparison.peer.num_perm);
        (names, num_perm, shown(comparison.ratio))
    };
    let mut cells = compared.clone();
    cells.sort_by_cached_key(row);
    let mut table = pivot(
        &["stage", "input", "peer", "scheme of simgpu", "shingles"],
        cells.iter().map(cell),
    );
    for name in table.header.iter_mut().skip(5) {
        *name = format!("K = {name}");
    }
    Section {
        topic: Topic::Peers,
        note: format!(
            "Documents/s of simgpu over those of another tool, measured in turn on the same documents: median over rounds. Compared are the scheme with \
             the same values as the peer, if any, and the fastest scheme. Cells compared: {}; behind: {behind}.",
            compared.len()
        ),
        table,
    }
}

fn end_to_end(
    cases: &[MeasuredCase<'_>],
    all: &[PeerComparison],
    found: &[PipelineResult],
) -> Section {
    let header = [
        "tool",
        "scheme",
        "input",
        "K",
        "documents",
        "threads",
        "in all",
        "±",
        "MB/s",
        "simgpu over it",
        "kept",
        "kept by truth",
    ];
    let mut table = Table::new(header);
    let dedup: Vec<&MeasuredCase<'_>> = cases
        .iter()
        .filter(|case| case.case.stage == Stage::Dedup)
        .collect();
    for case in &dedup {
        let is_alike = |other: &&&MeasuredCase<'_>| {
            !other.is_ours()
                && other.case.input == case.case.input
                && other.case.documents == case.case.documents
        };
        if case.is_ours() && !dedup.iter().any(|other| is_alike(&other)) {
            continue;
        }
        table.push(tool(case, all, found));
    }
    let has_peer = dedup.iter().any(|case| !case.is_ours());
    if !has_peer {
        table.rows.clear();
    }
    Section {
        topic: Topic::PeersDedup,
        note: "Files to files without near-duplicates, each tool as its documentation shows; MB/s of decompressed text. Medians.".to_owned(),
        table,
    }
}

/// The cells of one tool on one input.
fn tool(case: &MeasuredCase<'_>, all: &[PeerComparison], found: &[PipelineResult]) -> [String; 12] {
    let ratio = all
        .iter()
        .find(|comparison| comparison.peer == case.case)
        .map(|comparison| shown(comparison.ratio));
    let kept = found.iter().find(|found| is_result(found, &case.case));
    [
        case.case.tool.clone(),
        case.case.scheme.clone(),
        case.case.input.clone(),
        case.case.num_perm.to_string(),
        count(case.case.documents),
        case.case.threads.to_string(),
        seconds(case.median_s()),
        percent(case.deviation()),
        digits_if(case.text_bytes_per_s().map(|bytes| bytes / 1e6), 3),
        ratio.unwrap_or_default(),
        kept.and_then(|found| found.kept)
            .map(count)
            .unwrap_or_default(),
        kept.and_then(|found| found.kept_by_truth)
            .map(count)
            .unwrap_or_default(),
    ]
}

/// Whether a row holds the number of documents kept by a case. Rows with pairs belong to other runs.
fn is_result(found: &PipelineResult, case: &Case) -> bool {
    found.kept.is_some()
        && found.true_pairs == 0
        && found.tool == case.tool
        && found.scheme == case.scheme
        && found.documents == case.documents
}
