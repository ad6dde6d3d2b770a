//! Made-up results, in folders.

use simgpu_bench::{ResultsFolder, Row, Tables};
use tempfile::TempDir;

use crate::support::made_up;

/// Creates a folder with the given tables.
pub(super) fn folder(place: &TempDir, name: &str, tables: Tables) -> ResultsFolder {
    let mut folder =
        ResultsFolder::create(&place.path().join(name), made_up::environment()).unwrap();
    for row in rows(tables) {
        folder.add(row).unwrap();
    }
    folder.complete().unwrap();
    folder
}

fn rows(tables: Tables) -> Vec<Row> {
    let Tables {
        runs,
        errors,
        candidates,
        found,
        absent,
    } = tables;
    let rows = runs.into_iter().map(Row::Run);
    let rows = rows.chain(errors.into_iter().map(Row::Error));
    let rows = rows.chain(candidates.into_iter().map(Row::Candidates));
    let rows = rows.chain(found.into_iter().map(Row::Found));
    rows.chain(absent.into_iter().map(Row::Absence)).collect()
}

pub(super) fn place() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// The rows of the table under a heading of summary.md, and its header.
pub(super) fn table_of<'a>(summary: &'a str, heading: &str) -> (Vec<&'a str>, Vec<Vec<&'a str>>) {
    let section = summary.split_once(&format!("## {heading}\n")).unwrap().1;
    let section = section.split("\n## ").next().unwrap();
    let cells = |line: &'a str| -> Vec<&'a str> {
        let line = line.trim_matches('|').split('|');
        line.map(str::trim).collect()
    };
    let mut lines = section.lines().filter(|line| line.starts_with('|'));
    let header = cells(lines.next().unwrap());
    (header, lines.skip(1).map(cells).collect())
}

/// The sections in which a device and the CPU do the same work.
pub(super) const COMPARING: [&str; 6] = [
    "Signing by backend",
    "Signing by length",
    "Signing by slots",
    "Signing from text",
    "Deduplication",
    "Error by backend",
];
