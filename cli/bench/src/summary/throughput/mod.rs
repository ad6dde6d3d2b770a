//! How fast the stages are: tables.

mod signed;

mod speeds;

mod stages;

use super::errors::error_of;
use super::table::{Table, count, digits, digits_if, percent, pivot_of_several};
use super::{Section, Topic};
use crate::Stage;
use crate::case::Case;
use crate::cases::MeasuredCase;
use crate::tables::Tables;

pub(crate) use signed::Signed;
pub(super) use speeds::documents;
pub(crate) use speeds::{growing, on_threads};

use speeds::{capital, checksum, mb_per_s, ours, plus_minus, shown_error, software, speeds};
use stages::{dedup, device, growth, stages};

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

fn lengths(signed: &Signed<'_>) -> Section {
    let cases = signed.all_lengths();
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
    let cases = signed.all_slots();
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
