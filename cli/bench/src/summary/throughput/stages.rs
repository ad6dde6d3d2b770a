//! The stages around signing, whole runs, and steps of devices.

use super::speeds::{checksum, growing, mb_per_s, ours, plus_minus};
use crate::Stage;
use crate::case::Case;
use crate::cases::MeasuredCase;
use crate::summary::table::{Table, count, digits, digits_if, pivot_of_several, seconds};
use crate::summary::{Section, Topic};

pub(super) fn stages(cases: &[MeasuredCase<'_>]) -> Section {
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

pub(super) fn growth(cases: &[MeasuredCase<'_>]) -> Section {
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

pub(super) fn dedup(cases: &[MeasuredCase<'_>]) -> Section {
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

pub(super) fn device(cases: &[MeasuredCase<'_>]) -> Section {
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
