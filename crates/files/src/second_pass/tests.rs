use std::path::PathBuf;

use super::parts::RowNumbers;
use super::*;
use crate::Run;
use crate::tests::{
    Watched, change_unseen, engine, engine_of_bytes, place, skipping, task, watched_by,
};
use simgpu::error::BadRecord;
use simgpu_io::Skipped;
use simgpu_io::SourceFile;

#[test]
fn bad_records_have_no_row() {
    let bad = |file, row| Skipped {
        file,
        record: BadRecord {
            file: PathBuf::new(),
            row,
            line: None,
            problem: String::new(),
        },
    };
    let file = |first_row, records| SourceFile {
        relative: String::new(),
        first_row,
        records,
        fingerprint: None,
    };
    let places = Places {
        files: vec![file(0, 2), file(2, 7)],
        skipped: vec![bad(1, 0), bad(1, 3), bad(1, 4)],
        ..Places::default()
    };
    let mut rows = RowNumbers::new(&places, 0);
    assert_eq!(rows.next(2), Some(vec![Some(0), Some(1)]));
    assert!(rows.is_at_end() && rows.next(1).is_none());
    let mut rows = RowNumbers::new(&places, 1);
    assert_eq!(rows.next(4), Some(vec![None, Some(2), Some(3), None]));
    assert!(!rows.is_at_end());
    // More records than the first pass found.
    assert_eq!(rows.next(4), None);
    assert_eq!(rows.next(3), Some(vec![None, Some(4), Some(5)]));
    assert!(rows.is_at_end());
}

#[test]
fn a_file_that_changes_between_the_passes_is_an_error() {
    for (stage, engine) in [("read again", engine_of_bytes()), ("write", engine())] {
        let place = place();
        let inputs = place.inputs();
        let path = place.path("in/d.jsonl");
        let change = || change_unseen(&path);
        let told = Watched::at(stage, 0, &change);
        let run = Run {
            held_bytes: 0,
            options: watched_by(&told),
            ..skipping(&engine, &inputs)
        };
        let failed = run.dedup(&task(&engine), &place.path("out")).unwrap_err();
        assert!(
            matches!(failed, Error::InputChanged { path: of } if of == path),
            "{stage}"
        );
        assert!(!place.path("out/report.json").exists());
    }
}

#[test]
fn held_files_are_not_read_again() {
    let (place, engine) = (place(), engine());
    let inputs = place.inputs();
    let path = place.path("in/d.jsonl");
    let change = || change_unseen(&path);
    let told = Watched::at("write", 0, &change);
    let run = Run {
        options: watched_by(&told),
        ..skipping(&engine, &inputs)
    };
    run.dedup(&task(&engine), &place.path("held")).unwrap();
    change_unseen_back(&path);
    let run = Run {
        held_bytes: 0,
        ..skipping(&engine, &inputs)
    };
    run.dedup(&task(&engine), &place.path("read")).unwrap();
    assert!(place.results("held") == place.results("read"));
}

/// Undoes [`change_unseen`].
fn change_unseen_back(path: &std::path::Path) {
    let text = std::fs::read_to_string(path).unwrap();
    let text = text.replacen("\"text\":\"v", "\"text\":\"w", 1);
    std::fs::write(path, text).unwrap();
}
