use super::*;
use crate::ids::Repeated;
use crate::json::json_string;

/// Files of good and bad records, and two without records.
const FILES: [(&str, &[bool]); 5] = [
    ("empty", &[]),
    ("a", &[false, true, true, false, false, true]),
    ("none", &[]),
    ("b", &[true, false]),
    ("c", &[true]),
];

/// The places of all records, whose ids are `file-record`. Those of `without` have none.
fn places(without: &[&str]) -> Places {
    let files = FILES.map(|(name, _)| SourceFile {
        relative: name.to_owned(),
        first_row: 0,
        records: 0,
        fingerprint: None,
    });
    let mut places = Places {
        files: files.into(),
        ids: Some(DocumentIds::default()),
        ..Places::default()
    };
    let mut row = 0;
    for (file, (name, records)) in FILES.iter().enumerate() {
        if !records.is_empty() {
            places.files[file].first_row = row;
        }
        for (number, is_good) in records.iter().enumerate() {
            let id = format!("{name}-{number}");
            let record = if !is_good {
                Record::Bad {
                    line: Some(number as u64 + 1),
                    problem: "wrong".to_owned(),
                }
            } else if without.contains(&&*id) {
                Record::Document(Id::None)
            } else {
                Record::Document(Id::Json(json_string(&id)))
            };
            let named = Path::new(name);
            let bad = places.note(file, named, record, row, OnBadRecord::Skip);
            assert_eq!(bad.unwrap().is_some(), !is_good);
            row += u32::from(*is_good);
        }
    }
    places.fill_first_rows(row);
    places
}

/// The file and record of each row.
fn expected() -> Vec<(&'static str, u64)> {
    let places = |(name, records): &(&'static str, &[bool])| {
        let name = *name;
        let good = (0..).zip(*records).filter(|(_, is_good)| **is_good);
        good.map(|(record, _)| (name, record)).collect::<Vec<_>>()
    };
    FILES.iter().flat_map(places).collect()
}

#[test]
fn a_row_is_the_record_that_it_was() {
    let places = places(&[]);
    let mut id_of = places.ids_by_row().unwrap();
    for (row, (file, record)) in (0..).zip(expected()) {
        assert_eq!(places.place(row), (file, record));
        let id = format!("\"{file}-{record}\"");
        assert_eq!(
            (places.id(row).unwrap(), id_of(row).unwrap()),
            ((&*id).into(), (&*id).into())
        );
    }
    assert_eq!(places.records(), 9);
    let first_rows = places.first_rows();
    let first_rows = first_rows.iter().map(|file| (&*file.file, file.first_row));
    let known = [("empty", 0), ("a", 0), ("none", 3), ("b", 3), ("c", 4)];
    assert!(first_rows.eq(known));
    assert_eq!(places.missing_ids(5).map(|missing| missing.documents), None);
    let skipped = places.skipped_records();
    let skipped = skipped.iter().map(|skipped| (&*skipped.file, skipped.row));
    assert!(skipped.eq([("a", 0), ("a", 3), ("a", 4), ("b", 1)]));
    assert_eq!(places.skipped_in(1).len(), 3);
    let start = places.start_of_file(3);
    assert_eq!((start.file, start.chunk, start.records), (3, 0, 6));
}

#[test]
fn one_document_without_an_id_leaves_all_without() {
    let places = places(&["b-0", "c-0"]);
    for (row, (file, record)) in (0..).zip(expected()) {
        assert_eq!(places.id(row).unwrap(), format!("\"{file}:{record}\""));
    }
    let missing = places.missing_ids(5).unwrap();
    assert_eq!(
        (missing.documents, &*missing.file, missing.row),
        (2, "b", 0)
    );
    // If no document has one, none is missing.
    assert!(places.missing_ids(2).is_none());
}

#[test]
fn repeated_ids_are_counted_or_refused() {
    let mut places = places(&[]);
    let repeated = Repeated {
        documents: 2,
        first: Some((1, 3)),
    };
    places.count_repeated_ids(repeated, false).unwrap();
    assert_eq!(places.repeated_ids, 2);
    let refused = places.count_repeated_ids(repeated, true).unwrap_err();
    assert!(matches!(
        refused,
        Error::RepeatedId { id, first, second }
            if id == "\"a-2\"" && first == "a, row 2" && second == "b, row 0"
    ));
}
