//! How fast the stages are: tables.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::table::{
    PivotCell, Table, count, digits, digits_if, percent, pivot_of_several, seconds,
};
use super::{Section, Topic};
use crate::bench::Stage;
use crate::bench::case::Case;
use crate::bench::cases::MeasuredCase;
use simgpu::scheme::DEFAULT_NUM_PERM;

/// Approximate shingles of a page of text.
const PAGE: u64 = 1000;

/// The size at which backends and schemes are compared: the size most of them signed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BaseSize {
    /// Input.
    pub input: String,
    /// Shingles per document.
    pub shingles: u64,
    /// Slots per signature.
    pub num_perm: u32,
    /// Threads.
    pub threads: u32,
}

impl BaseSize {
    fn of(case: &Case) -> Self {
        BaseSize {
            input: case.input.clone(),
            shingles: case.shingles,
            num_perm: case.num_perm,
            threads: case.threads,
        }
    }
}

/// The size that most schemes and backends of simgpu signed; `None` if none did.
pub(in crate::bench) fn base_size(cases: &[MeasuredCase<'_>]) -> Option<BaseSize> {
    let is_sign = |case: &&MeasuredCase<'_>| case.is_own() && case.case.stage == Stage::Sign;
    let signed: Vec<BaseSize> = cases
        .iter()
        .filter(is_sign)
        .map(|case| BaseSize::of(&case.case))
        .collect();
    let ways = |base: &BaseSize| signed.iter().filter(|other| *other == base).count();
    let bases: BTreeSet<&BaseSize> = signed.iter().collect();
    // Break ties by the distance to a page of text and to the default number of slots.
    let distance = |base: &BaseSize| {
        let slots = base.num_perm.abs_diff(DEFAULT_NUM_PERM);
        (base.shingles.abs_diff(PAGE), slots)
    };
    let most = bases
        .into_iter()
        .max_by_key(|base| (ways(base), Reverse(distance(base))));
    most.cloned()
}

/// Whether simgpu signed at a size, except for the dimensions that `varies` copies from the case.
pub(in crate::bench) fn is_sign_at(
    case: &MeasuredCase<'_>,
    base: &BaseSize,
    varies: impl Fn(&mut BaseSize, &Case),
) -> bool {
    let mut base = base.clone();
    varies(&mut base, &case.case);
    case.is_own() && case.case.stage == Stage::Sign && BaseSize::of(&case.case) == base
}

/// Cases of simgpu at a size: one per scheme and backend.
pub(in crate::bench) fn signed_at<'a>(
    cases: &'a [MeasuredCase<'a>],
    base: &BaseSize,
) -> Vec<&'a MeasuredCase<'a>> {
    let mut seen = BTreeSet::new();
    let at_base = cases
        .iter()
        .filter(|case| is_sign_at(case, base, |_, _| ()));
    at_base
        .filter(|case| seen.insert((&case.case.scheme, case.computer())))
        .collect()
}

pub(super) fn sections(cases: &[MeasuredCase<'_>]) -> Vec<Section> {
    let mut sections = Vec::new();
    if let Some(base) = base_size(cases) {
        sections.push(backends(cases, &base));
        sections.push(lengths(cases, &base));
        sections.push(slots(cases, &base));
    }
    sections.extend([threads(cases), texts(cases), stages(cases), growth(cases)]);
    sections.extend([dedup(cases), device(cases)]);
    sections
}

fn plus_minus(case: &MeasuredCase<'_>) -> String {
    percent(case.deviation())
}

fn checksum(case: &MeasuredCase<'_>) -> String {
    case.checksum().unwrap_or_default().to_owned()
}

fn mb_per_s(case: &MeasuredCase<'_>) -> String {
    digits_if(case.text_bytes_per_s().map(|bytes| bytes / 1e6), 3)
}

fn backends(cases: &[MeasuredCase<'_>], base: &BaseSize) -> Section {
    let header = [
        "scheme",
        "computed by",
        "G updates/s",
        "±",
        "M shingles/s",
        "x scalar",
        "of ceiling",
        "checksum",
    ];
    let mut table = Table::new(header);
    let at_base = signed_at(cases, base);
    for case in &at_base {
        let scheme = &case.case.scheme;
        let is_scalar = |other: &&&MeasuredCase<'_>| {
            other.case.scheme == *scheme && other.case.backend == "scalar"
        };
        let scalar = at_base.iter().find(is_scalar);
        let over_scalar = scalar.map(|scalar| case.shingles_per_s() / scalar.shingles_per_s());
        table.push([
            scheme.clone(),
            case.computer(),
            digits_if(case.updates_per_s().map(|updates| updates / 1e9), 3),
            plus_minus(case),
            digits(case.shingles_per_s() / 1e6, 3),
            digits_if(over_scalar, 3),
            case.share_of_ceiling().map(percent).unwrap_or_default(),
            checksum(case),
        ]);
    }
    Section {
        topic: Topic::Backends,
        note: format!(
            "{}, {} per document, K = {} slots, threads: {}. Medians over runs; ± is the median absolute deviation. \
             One update computes one slot for one shingle. The ceiling is the speed that the vector units of this core allow \
             the loop over shingles. For long sets, mersenne61 has the ceiling of affine32, and then looks up the shingles of \
             the least values. Equal checksums mean equal signatures.",
            capital(&base.input),
            count(base.shingles),
            base.num_perm,
            base.threads
        ),
        table,
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters
        .next()
        .map(|letter| letter.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// M shingles/s of a scheme at a size.
fn speed(case: &MeasuredCase<'_>, size: u64) -> PivotCell {
    let speed = digits(case.shingles_per_s() / 1e6, 3);
    (vec![case.case.scheme.clone(), case.computer()], size, speed)
}

fn lengths(cases: &[MeasuredCase<'_>], base: &BaseSize) -> Section {
    let varies = |base: &mut BaseSize, case: &Case| base.shingles = case.shingles;
    let cases = cases.iter().filter(|case| is_sign_at(case, base, varies));
    let names = ["scheme", "computed by"];
    Section {
        topic: Topic::Lengths,
        note: format!(
            "M shingles/s by shingles per document, K = {}, threads: {}. Medians.",
            base.num_perm, base.threads
        ),
        table: pivot_of_several(&names, cases.map(|case| speed(case, case.case.shingles)), 2),
    }
}

fn slots(cases: &[MeasuredCase<'_>], base: &BaseSize) -> Section {
    let varies = |base: &mut BaseSize, case: &Case| base.num_perm = case.num_perm;
    let cases = cases.iter().filter(|case| is_sign_at(case, base, varies));
    let names = ["scheme", "computed by"];
    Section {
        topic: Topic::Slots,
        note: format!(
            "M shingles/s by slots per signature, {} shingles per document, threads: {}. Medians.",
            count(base.shingles),
            base.threads
        ),
        table: pivot_of_several(
            &names,
            cases.map(|case| speed(case, case.case.num_perm.into())),
            2,
        ),
    }
}

fn threads(cases: &[MeasuredCase<'_>]) -> Section {
    let names = ["stage", "scheme", "computed by", "input", "documents", "K"];
    let cell = |case: &MeasuredCase<'_>| {
        let Case {
            stage,
            scheme,
            input,
            documents,
            num_perm,
            ..
        } = &case.case;
        let names = vec![
            stage.name().to_owned(),
            scheme.clone(),
            case.computer(),
            input.clone(),
            count(*documents),
            num_perm.to_string(),
        ];
        let speed = digits(case.documents_per_s() / 1e3, 3);
        (names, case.case.threads.into(), speed)
    };
    let own = cases.iter().filter(|case| case.is_own());
    Section {
        topic: Topic::Threads,
        note: "Thousand documents/s by number of threads. Medians.".to_owned(),
        table: pivot_of_several(&names, own.map(cell), 2),
    }
}

fn texts(cases: &[MeasuredCase<'_>]) -> Section {
    let header = [
        "scheme",
        "computed by",
        "input",
        "K",
        "threads",
        "MB/s",
        "±",
        "documents/s",
        "checksum",
    ];
    let mut table = Table::new(header);
    for case in ours(cases, &[Stage::SignTexts]) {
        table.push([
            case.case.scheme.clone(),
            case.computer(),
            case.case.input.clone(),
            case.case.num_perm.to_string(),
            case.case.threads.to_string(),
            mb_per_s(case),
            plus_minus(case),
            digits(case.documents_per_s(), 3),
            checksum(case),
        ]);
    }
    Section {
        topic: Topic::Texts,
        note: "Texts in memory to signatures: shingling, hashing and signing. Medians.".to_owned(),
        table,
    }
}

/// Stages measured with several numbers of documents.
const GROWING: [Stage; 4] = [Stage::Band, Stage::Bucket, Stage::Verify, Stage::Dedup];

/// Cases of simgpu measured with several numbers of documents.
pub(in crate::bench) fn growing<'a>(
    cases: &'a [MeasuredCase<'a>],
) -> impl Iterator<Item = &'a MeasuredCase<'a>> {
    ours(cases, &GROWING)
}

/// The cases of simgpu in some stages.
fn ours<'a>(
    cases: &'a [MeasuredCase<'a>],
    stages: &'static [Stage],
) -> impl Iterator<Item = &'a MeasuredCase<'a>> {
    let is_one = |case: &&MeasuredCase<'_>| case.is_own() && stages.contains(&case.case.stage);
    cases.iter().filter(is_one)
}

fn stages(cases: &[MeasuredCase<'_>]) -> Section {
    let header = [
        "stage",
        "computed by",
        "input",
        "K",
        "documents",
        "threads",
        "per pass",
        "±",
        "documents/s",
        "MB/s",
    ];
    let mut table = Table::new(header);
    for case in ours(
        cases,
        &[Stage::Shingle, Stage::Band, Stage::Bucket, Stage::Verify],
    ) {
        let num_perm = match case.case.num_perm {
            0 => String::new(),
            num_perm => num_perm.to_string(),
        };
        table.push([
            case.case.stage.name().to_owned(),
            case.computer(),
            case.case.input.clone(),
            num_perm,
            count(case.case.documents),
            case.case.threads.to_string(),
            seconds(case.median_s()),
            plus_minus(case),
            digits(case.documents_per_s(), 3),
            mb_per_s(case),
        ]);
    }
    Section {
        topic: Topic::Stages,
        note: "The stages around signing, each separately, in memory. For verify, documents are pairs. Medians.".to_owned(),
        table,
    }
}

fn growth(cases: &[MeasuredCase<'_>]) -> Section {
    let names = ["stage", "scheme", "input", "threads"];
    let cell = |case: &MeasuredCase<'_>| {
        let Case {
            stage,
            scheme,
            input,
            threads,
            ..
        } = &case.case;
        let names = vec![
            stage.name().to_owned(),
            scheme.clone(),
            input.clone(),
            threads.to_string(),
        ];
        (
            names,
            case.case.documents,
            digits(1e9 / case.documents_per_s(), 3),
        )
    };
    let grown = growing(cases);
    Section {
        topic: Topic::Growth,
        note: "Nanoseconds per document, by number of documents. Medians.".to_owned(),
        table: pivot_of_several(&names, grown.map(cell), 2),
    }
}

fn dedup(cases: &[MeasuredCase<'_>]) -> Section {
    let header = [
        "input",
        "scheme",
        "K",
        "documents",
        "threads",
        "in all",
        "±",
        "MB/s",
        "documents/s",
    ];
    let mut table = Table::new(header);
    for case in ours(cases, &[Stage::Dedup]) {
        table.push([
            case.case.input.clone(),
            case.case.scheme.clone(),
            case.case.num_perm.to_string(),
            count(case.case.documents),
            case.case.threads.to_string(),
            seconds(case.median_s()),
            plus_minus(case),
            mb_per_s(case),
            digits(case.documents_per_s(), 3),
        ]);
    }
    Section {
        topic: Topic::Dedup,
        note: "Files to files without near-duplicates; MB/s of decompressed text. Medians."
            .to_owned(),
        table,
    }
}

fn device(cases: &[MeasuredCase<'_>]) -> Section {
    let header = [
        "stage",
        "device",
        "scheme",
        "input",
        "K",
        "documents",
        "per pass",
        "±",
        "G updates/s",
        "documents/s",
    ];
    let mut table = Table::new(header);
    for case in ours(cases, &[Stage::Upload, Stage::Kernel, Stage::Readback]) {
        table.push([
            case.case.stage.name().to_owned(),
            case.case.hardware.clone(),
            case.case.scheme.clone(),
            case.case.input.clone(),
            case.case.num_perm.to_string(),
            count(case.case.documents),
            seconds(case.median_s()),
            plus_minus(case),
            digits_if(case.updates_per_s().map(|updates| updates / 1e9), 3),
            digits(case.documents_per_s(), 3),
        ]);
    }
    Section {
        topic: Topic::Device,
        note: "The steps of a GPU: upload, kernel, readback. Medians.".to_owned(),
        table,
    }
}
