//! How fast the stages are, as tables.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::table::{Cell, Table, count, digits, digits_if, percent, pivot_of_several, seconds};
use super::{Section, Topic};
use crate::bench::Stage;
use crate::bench::cases::Measured;
use crate::bench::record::Case;
use simgpu::scheme::DEFAULT_NUM_PERM;

/// Shingles of a page of text, about.
const PAGE: u64 = 1000;

/// The size at which backends and schemes are compared: that at which most of them signed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Base {
    /// What went in.
    pub input: String,
    /// Shingles of a document.
    pub shingles: u64,
    /// Slots of a signature.
    pub num_perm: u32,
    /// Threads.
    pub threads: u32,
}

impl Base {
    fn of(case: &Case) -> Self {
        Base {
            input: case.input.clone(),
            shingles: case.shingles,
            num_perm: case.num_perm,
            threads: case.threads,
        }
    }
}

/// The size at which simgpu signed in most ways; none where nothing was signed.
pub fn base(cases: &[Measured<'_>]) -> Option<Base> {
    let is_sign = |case: &&Measured<'_>| case.is_own() && case.case.stage == Stage::Sign;
    let signed: Vec<Base> = cases
        .iter()
        .filter(is_sign)
        .map(|case| Base::of(&case.case))
        .collect();
    let ways = |base: &Base| signed.iter().filter(|other| *other == base).count();
    let bases: BTreeSet<&Base> = signed.iter().collect();
    // Of several the nearest to a page of text, in signatures of the usual length.
    let distance = |base: &Base| {
        let slots = base.num_perm.abs_diff(DEFAULT_NUM_PERM);
        (base.shingles.abs_diff(PAGE), slots)
    };
    let most = bases
        .into_iter()
        .max_by_key(|base| (ways(base), Reverse(distance(base))));
    most.cloned()
}

/// Whether simgpu signed at that size, but for the dimensions that `varies` sets to those of the case.
pub fn is_sign_at(case: &Measured<'_>, base: &Base, varies: impl Fn(&mut Base, &Case)) -> bool {
    let mut base = base.clone();
    varies(&mut base, &case.case);
    case.is_own() && case.case.stage == Stage::Sign && Base::of(&case.case) == base
}

/// What simgpu signed at that size, each scheme once by whatever computed it.
pub fn signed_at<'a>(cases: &'a [Measured<'a>], base: &Base) -> Vec<&'a Measured<'a>> {
    let mut seen = BTreeSet::new();
    let at_base = cases
        .iter()
        .filter(|case| is_sign_at(case, base, |_, _| ()));
    at_base
        .filter(|case| seen.insert((&case.case.scheme, case.computer())))
        .collect()
}

pub(super) fn sections(cases: &[Measured<'_>]) -> Vec<Section> {
    let mut sections = Vec::new();
    if let Some(base) = base(cases) {
        sections.push(backends(cases, &base));
        sections.push(lengths(cases, &base));
        sections.push(slots(cases, &base));
    }
    sections.extend([threads(cases), texts(cases), stages(cases), growth(cases)]);
    sections.extend([dedup(cases), device(cases)]);
    sections
}

fn plus_minus(case: &Measured<'_>) -> String {
    percent(case.deviation())
}

fn checksum(case: &Measured<'_>) -> String {
    case.checksum().unwrap_or_default().to_owned()
}

fn mb_per_s(case: &Measured<'_>) -> String {
    digits_if(case.text_bytes_per_s().map(|bytes| bytes / 1e6), 3)
}

fn backends(cases: &[Measured<'_>], base: &Base) -> Section {
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
        let is_scalar =
            |other: &&&Measured<'_>| other.case.scheme == *scheme && other.case.backend == "scalar";
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
            "{}, {} to a document, K = {} slots, threads: {}. Medians over runs; ± is the median absolute deviation. \
             An update is one shingle in one slot. The ceiling is what the vector units of this core allow the loop over \
             shingles; mersenne61 of long sets has that of affine32, and then has to find the shingles of the least values. Backends with one \
             checksum computed the same signatures.",
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

/// M shingles/s of a scheme, at a size.
fn speed(case: &Measured<'_>, size: u64) -> Cell {
    let speed = digits(case.shingles_per_s() / 1e6, 3);
    (vec![case.case.scheme.clone(), case.computer()], size, speed)
}

fn lengths(cases: &[Measured<'_>], base: &Base) -> Section {
    let varies = |base: &mut Base, case: &Case| base.shingles = case.shingles;
    let cases = cases.iter().filter(|case| is_sign_at(case, base, varies));
    let names = ["scheme", "computed by"];
    Section {
        topic: Topic::Lengths,
        note: format!(
            "M shingles/s by shingles of a document, K = {}, threads: {}. Medians.",
            base.num_perm, base.threads
        ),
        table: pivot_of_several(&names, cases.map(|case| speed(case, case.case.shingles)), 2),
    }
}

fn slots(cases: &[Measured<'_>], base: &Base) -> Section {
    let varies = |base: &mut Base, case: &Case| base.num_perm = case.num_perm;
    let cases = cases.iter().filter(|case| is_sign_at(case, base, varies));
    let names = ["scheme", "computed by"];
    Section {
        topic: Topic::Slots,
        note: format!(
            "M shingles/s by slots of a signature, {} shingles to a document, threads: {}. Medians.",
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

fn threads(cases: &[Measured<'_>]) -> Section {
    let names = ["stage", "scheme", "computed by", "input", "documents", "K"];
    let cell = |case: &Measured<'_>| {
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
        note: "Thousand documents/s by threads. Medians.".to_owned(),
        table: pivot_of_several(&names, own.map(cell), 2),
    }
}

fn texts(cases: &[Measured<'_>]) -> Section {
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
        note: "From texts in memory to signatures: shingling, hashing and signing. Medians."
            .to_owned(),
        table,
    }
}

/// Stages that are measured with several numbers of documents.
const GROWING: [Stage; 4] = [Stage::Band, Stage::Bucket, Stage::Verify, Stage::Dedup];

/// What is measured of simgpu by numbers of documents.
pub fn growing<'a>(cases: &'a [Measured<'a>]) -> impl Iterator<Item = &'a Measured<'a>> {
    ours(cases, &GROWING)
}

/// The cases of some stages, of simgpu.
fn ours<'a>(
    cases: &'a [Measured<'a>],
    stages: &'static [Stage],
) -> impl Iterator<Item = &'a Measured<'a>> {
    let is_one = |case: &&Measured<'_>| case.is_own() && stages.contains(&case.case.stage);
    cases.iter().filter(is_one)
}

fn stages(cases: &[Measured<'_>]) -> Section {
    let header = [
        "stage",
        "computed by",
        "input",
        "K",
        "documents",
        "threads",
        "a pass",
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
        note: "The stages around signing, each by itself, in memory. Of verify, documents are pairs. Medians.".to_owned(),
        table,
    }
}

fn growth(cases: &[Measured<'_>]) -> Section {
    let names = ["stage", "scheme", "input", "threads"];
    let cell = |case: &Measured<'_>| {
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
        note: "Nanoseconds a document, by documents. Medians.".to_owned(),
        table: pivot_of_several(&names, grown.map(cell), 2),
    }
}

fn dedup(cases: &[Measured<'_>]) -> Section {
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
        note: "From files to files without near-duplicates; MB of text as it is decompressed. Medians.".to_owned(),
        table,
    }
}

fn device(cases: &[Measured<'_>]) -> Section {
    let header = [
        "stage",
        "device",
        "scheme",
        "input",
        "K",
        "documents",
        "a pass",
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
        note: "What a GPU does, part by part: what it is given, its kernel, and what comes back. Medians.".to_owned(),
        table,
    }
}
