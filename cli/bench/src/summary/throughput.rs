//! How fast the stages are: tables.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::errors::{compared_cell, error_of};
use super::table::{
    PivotCell, Table, count, digits, digits_if, percent, pivot_of_several, seconds,
};
use super::{Section, Topic};
use crate::Stage;
use crate::case::Case;
use crate::cases::MeasuredCase;
use crate::tables::Tables;
use simgpu::scheme::DEFAULT_NUM_PERM;

/// Approximate shingles of a page of text.
const PAGE: u64 = 1000;

/// Documents to sign: those of equal sizes are the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SignedSize {
    /// Input.
    pub input: String,
    /// Shingles per document.
    pub shingles: u64,
    /// Slots per signature.
    pub num_perm: u32,
    /// Documents.
    pub documents: u64,
}

impl SignedSize {
    fn of(case: &Case) -> Self {
        SignedSize {
            input: case.input.clone(),
            shingles: case.shingles,
            num_perm: case.num_perm,
            documents: case.documents,
        }
    }
}

/// What simgpu signed from hashes, on the same documents whatever signed them: each input, length and number of slots with
/// the documents that most ways signed, the CPU among them. Tables, charts and the first screen compare these.
#[derive(Debug)]
pub(crate) struct Signed<'a> {
    /// The size that most ways signed.
    pub(crate) base: SignedSize,
    cases: Vec<&'a MeasuredCase<'a>>,
}

impl<'a> Signed<'a> {
    /// `None` if simgpu signed nothing.
    pub(crate) fn of(cases: &'a [MeasuredCase<'a>]) -> Option<Self> {
        let is_sign = |case: &&MeasuredCase<'_>| case.is_own() && case.case.stage == Stage::Sign;
        let signed = || cases.iter().filter(is_sign);
        // Whether the CPU signed a size, and in how many ways it was signed.
        let mut ways: BTreeMap<SignedSize, (bool, usize)> = BTreeMap::new();
        for case in signed() {
            let (is_on_cpu, count) = ways.entry(SignedSize::of(&case.case)).or_default();
            *is_on_cpu |= !case.case.is_on_device();
            *count += 1;
        }
        let sizes = ways.keys().cloned();
        let without_documents = |size: SignedSize| SignedSize {
            documents: 0,
            ..size
        };
        let mut compared: BTreeMap<SignedSize, SignedSize> = BTreeMap::new();
        for size in sizes {
            let best = compared
                .entry(without_documents(size.clone()))
                .or_insert_with(|| size.clone());
            if ways.get(&size) > ways.get(best) {
                *best = size;
            }
        }
        // Break ties by the distance to a page of text and to the default number of slots.
        let distance = |size: &SignedSize| {
            let slots = size.num_perm.abs_diff(DEFAULT_NUM_PERM);
            (size.shingles.abs_diff(PAGE), slots)
        };
        let most = compared
            .values()
            .max_by_key(|size| (ways.get(size), Reverse(distance(size))));
        let is_compared = |case: &&MeasuredCase<'_>| {
            let size = SignedSize::of(&case.case);
            compared.get(&without_documents(size.clone())) == Some(&size)
        };
        Some(Signed {
            base: most.cloned()?,
            cases: signed().filter(is_compared).collect(),
        })
    }

    /// At the base size: one case per scheme, backend and number of threads.
    pub(crate) fn at_base(&self) -> Vec<&'a MeasuredCase<'a>> {
        self.at(|of_case| of_case == self.base)
    }

    /// At all lengths, with the slots of the base size.
    pub(crate) fn by_length(&self) -> Vec<&'a MeasuredCase<'a>> {
        self.at(|of_case| {
            (&of_case.input, of_case.num_perm) == (&self.base.input, self.base.num_perm)
        })
    }

    /// With all numbers of slots, at the length of the base size.
    pub(crate) fn by_slots(&self) -> Vec<&'a MeasuredCase<'a>> {
        self.at(|of_case| {
            (&of_case.input, of_case.shingles) == (&self.base.input, self.base.shingles)
        })
    }

    fn at(&self, is_there: impl Fn(SignedSize) -> bool) -> Vec<&'a MeasuredCase<'a>> {
        let cases = self.cases.iter().copied();
        cases
            .filter(|case| is_there(SignedSize::of(&case.case)))
            .collect()
    }
}

pub(super) fn sections(cases: &[MeasuredCase<'_>], tables: &Tables) -> Vec<Section> {
    let mut sections = Vec::new();
    if let Some(signed) = Signed::of(cases) {
        sections.push(backends(&signed, tables));
        sections.push(lengths(&signed));
        sections.push(slots(&signed));
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

fn backends(signed: &Signed<'_>, tables: &Tables) -> Section {
    let header = [
        "scheme",
        "computed by",
        "threads",
        "G updates/s",
        "±",
        "M shingles/s",
        "x scalar",
        "of ceiling",
        "error",
        "checksum",
    ];
    let mut table = Table::new(header);
    let (base, at_base) = (&signed.base, signed.at_base());
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
            case.case.threads.to_string(),
            digits_if(case.updates_per_s().map(|updates| updates / 1e9), 3),
            plus_minus(case),
            digits(case.shingles_per_s() / 1e6, 3),
            digits_if(over_scalar, 3),
            case.share_of_ceiling().map(percent).unwrap_or_default(),
            digits_if(error_of(tables, case), 3),
            checksum(case),
        ]);
    }
    Section {
        topic: Topic::Backends,
        note: format!(
            "{}, {} per document, K = {} slots. All rows sign the same {}; threads are those of the CPU, which also feed a GPU. \
             Medians over runs; ± is the median absolute deviation. \
             One update computes one slot for one shingle. The ceiling is the speed that the vector units of this core allow \
             the loop over shingles. For long sets, mersenne61 has the ceiling of affine32, and then looks up the shingles of \
             the least values. The error is the root mean square error of estimates{}. Equal checksums mean equal signatures.{}",
            capital(&base.input),
            count(base.shingles),
            base.num_perm,
            documents(base.documents),
            shown_error(tables),
            software(&at_base)
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

/// A number of documents, in words.
pub(super) fn documents(number: u64) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} document{plural}", count(number))
}

/// What a device that is emulated by the CPU tells, if there is one.
fn software(cases: &[&MeasuredCase<'_>]) -> &'static str {
    if cases.iter().any(|case| case.case.is_on_software()) {
        " A device marked (software) is a program on the CPU; its speed says nothing of GPUs."
    } else {
        ""
    }
}

/// The pairs of the error beside speeds, in words.
fn shown_error(tables: &Tables) -> String {
    compared_cell(&tables.errors).map_or_else(String::new, |cell| {
        format!(
            " at J = {:.2} (see {})",
            cell.similarity,
            Topic::ErrorBackends.title()
        )
    })
}

/// M shingles/s by size: one row per scheme, backend and number of threads.
fn speeds(cases: Vec<&MeasuredCase<'_>>, size: impl Fn(&Case) -> u64) -> Table {
    let cell = |case: &MeasuredCase<'_>| -> PivotCell {
        let Case {
            scheme, threads, ..
        } = &case.case;
        let names = vec![scheme.clone(), case.computer(), threads.to_string()];
        let speed = digits(case.shingles_per_s() / 1e6, 3);
        (names, size(&case.case), speed)
    };
    let names = ["scheme", "computed by", "threads"];
    pivot_of_several(&names, cases.into_iter().map(cell), 2)
}

fn lengths(signed: &Signed<'_>) -> Section {
    let cases = signed.by_length();
    Section {
        topic: Topic::Lengths,
        note: format!(
            "M shingles/s by shingles per document, K = {}. All rows of a column sign the same documents. Medians.{}",
            signed.base.num_perm,
            software(&cases)
        ),
        table: speeds(cases, |case| case.shingles),
    }
}

fn slots(signed: &Signed<'_>) -> Section {
    let cases = signed.by_slots();
    Section {
        topic: Topic::Slots,
        note: format!(
            "M shingles/s by slots per signature, {} of {} shingles. Medians.{}",
            documents(signed.base.documents),
            count(signed.base.shingles),
            software(&cases)
        ),
        table: speeds(cases, |case| case.num_perm.into()),
    }
}

/// Cases of simgpu whose speed depends on threads. Of those that sign hashes, only those of the base size with the most
/// documents: there is work for every thread.
pub(crate) fn on_threads<'a>(cases: &'a [MeasuredCase<'a>]) -> Vec<&'a MeasuredCase<'a>> {
    let base = Signed::of(cases).map(|signed| signed.base);
    let is_at_base = |case: &Case| {
        let base = base.as_ref();
        base.is_some_and(|base| (case.shingles, case.num_perm) == (base.shingles, base.num_perm))
    };
    let own = || cases.iter().filter(|case| case.is_own());
    let signed = || own().filter(|case| case.case.stage == Stage::Sign && is_at_base(&case.case));
    let most = signed().map(|case| case.case.documents).max();
    let is_shown = |case: &&MeasuredCase<'_>| match case.case.stage {
        Stage::Sign => is_at_base(&case.case) && Some(case.case.documents) == most,
        _ => true,
    };
    own().filter(is_shown).collect()
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
    let own = on_threads(cases).into_iter();
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
pub(crate) fn growing<'a>(
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
    let names = ["stage", "scheme", "computed by", "input", "threads"];
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
            case.computer(),
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
        "computed by",
        "K",
        "documents",
        "threads",
        "in all",
        "±",
        "MB/s",
        "documents/s",
        "checksum",
    ];
    let mut table = Table::new(header);
    for case in ours(cases, &[Stage::Dedup]) {
        table.push([
            case.case.input.clone(),
            case.case.scheme.clone(),
            case.computer(),
            case.case.num_perm.to_string(),
            count(case.case.documents),
            case.case.threads.to_string(),
            seconds(case.median_s()),
            plus_minus(case),
            mb_per_s(case),
            digits(case.documents_per_s(), 3),
            checksum(case),
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
