//! Speeds and what they belong to, as tables show them.

use super::signed::Signed;
use crate::Stage;
use crate::case::Case;
use crate::cases::MeasuredCase;
use crate::summary::Topic;
use crate::summary::errors::compared_cell;
use crate::summary::table::{
    PivotCell, Table, count, digits, digits_if, percent, pivot_of_several,
};
use crate::tables::Tables;

pub(super) fn plus_minus(case: &MeasuredCase<'_>) -> String {
    percent(case.deviation())
}

pub(super) fn checksum(case: &MeasuredCase<'_>) -> String {
    case.checksum().unwrap_or_default().to_owned()
}

pub(super) fn mb_per_s(case: &MeasuredCase<'_>) -> String {
    digits_if(case.text_bytes_per_s().map(|bytes| bytes / 1e6), 3)
}

pub(super) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters
        .next()
        .map(|letter| letter.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// A number of documents, in words.
pub(crate) fn documents(number: u64) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} document{plural}", count(number))
}

/// What a device that is emulated by the CPU tells, if there is one.
pub(super) fn software(cases: &[&MeasuredCase<'_>]) -> &'static str {
    if cases.iter().any(|case| case.case.is_on_software()) {
        " A device marked (software) is a program on the CPU; its speed says nothing of GPUs."
    } else {
        ""
    }
}

/// The pairs whose error is shown next to speeds, in words.
pub(super) fn shown_error(tables: &Tables) -> String {
    compared_cell(&tables.errors).map_or_else(String::new, |cell| {
        format!(
            " at J = {:.2} (see {})",
            cell.similarity,
            Topic::ErrorBackends.title()
        )
    })
}

/// M shingles/s by size: one row per scheme, backend and number of threads.
pub(super) fn speeds(cases: Vec<&MeasuredCase<'_>>, size: impl Fn(&Case) -> u64) -> Table {
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

/// Stages measured with several numbers of documents.
const GROWING: [Stage; 4] = [Stage::Band, Stage::Bucket, Stage::Verify, Stage::Dedup];

/// Cases of simgpu measured with several numbers of documents.
pub(crate) fn growing<'a>(
    cases: &'a [MeasuredCase<'a>],
) -> impl Iterator<Item = &'a MeasuredCase<'a>> {
    ours(cases, &GROWING)
}

/// The cases of simgpu in some stages.
pub(super) fn ours<'a>(
    cases: &'a [MeasuredCase<'a>],
    stages: &'static [Stage],
) -> impl Iterator<Item = &'a MeasuredCase<'a>> {
    let is_one = |case: &&MeasuredCase<'_>| case.is_own() && stages.contains(&case.case.stage);
    cases.iter().filter(is_one)
}
