//! Tests of runs against a reference.

mod rules;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{LITTLE, Place, engine, engine_of_bytes, overwriting, place, search, task};
use crate::run::{Against, Run};
use simgpu::engine::Engine;
use simgpu::pipeline::Clustering;
use simgpu::search::{CandidateMethod, Dedup, Search, Verification};
use simgpu_io::{FieldPath, Fields, Inputs, KeepBy, OnBadRecord};

/// The fields of a reference.
fn fields(text: &str, id: &str) -> Fields {
    Fields {
        content: vec![FieldPath::new(text)],
        id: FieldPath::new(id),
        ..Fields::for_form(false)
    }
}

/// The inputs of [`place`], and a reference: every third good record of them, with other fields and ids, and bad records.
/// Its files have names that inputs have, too.
fn with_reference() -> (Place, Inputs, Inputs) {
    let place = place();
    let mut files: [String; 2] = Default::default();
    for (at, line) in (0..).zip(
        place
            .text("in/a.jsonl")
            .lines()
            .chain(place.text("in/d.jsonl").lines()),
    ) {
        let record: Value = serde_json::from_str(line).unwrap();
        if record.get("text").is_none() || at % 3 > 0 {
            continue;
        }
        let old = json!({"key": format!("old{at}"), "body": record["text"]});
        files[at % 2] += &format!("{old}\n");
        if at % 60 == 0 {
            files[0] += "{\"key\": \"bad\"}\n";
        }
    }
    let [first, second] = files;
    place.write("old/a.jsonl", first);
    place.write("old/b/c.jsonl", "");
    place.write("old/z.jsonl", second);
    let [inputs, old] = ["in", "old"].map(|name| Inputs::find(&[place.path(name)], None).unwrap());
    (place, inputs, old)
}

fn against<'a>(engine: &'a Engine, inputs: &'a Inputs, old: &'a Inputs) -> Run<'a> {
    Run {
        on_bad_record: OnBadRecord::Skip,
        against: Some(Against {
            inputs: old,
            fields: fields("body", "key"),
        }),
        ..Run::new(engine, inputs)
    }
}

/// The file and row of a record.
type RecordPlace = (String, u64);

/// The ids and texts of records.
type Records = BTreeMap<RecordPlace, (Value, String)>;

/// The good records of a folder.
fn records(place: &Place, folder: &str, fields: [&str; 2]) -> Records {
    let mut records = BTreeMap::new();
    for name in ["a.jsonl", "b/c.jsonl", "d.jsonl", "z.jsonl"] {
        let path = place.path(&format!("{folder}/{name}"));
        let text = std::fs::read_to_string(path).unwrap_or_default();
        for (row, line) in (0..).zip(text.lines()) {
            let record: Value = serde_json::from_str(line).unwrap();
            if let Some(text) = record[fields[1]].as_str() {
                let entry = (record[fields[0]].clone(), text.to_owned());
                records.insert((name.to_owned(), row), entry);
            }
        }
    }
    records
}

/// Checks that the kept records are the good ones that were not removed, byte for byte. Returns their number.
#[track_caller]
fn assert_kept(place: &Place, folder: &str, new: &Records, gone: &BTreeSet<RecordPlace>) -> usize {
    let mut kept = 0;
    for file in ["a.jsonl", "b/c.jsonl", "d.jsonl"] {
        let written = place.path(&format!("{folder}/kept/{file}"));
        let written = std::fs::read_to_string(written).unwrap_or_default();
        let text = place.text(&format!("in/{file}"));
        let stays = |(row, _): &(u64, &str)| {
            let place = (file.to_owned(), *row);
            new.contains_key(&place) && !gone.contains(&place)
        };
        let lines = (0..).zip(text.lines()).filter(stays);
        let expected: String = lines.map(|(_, line)| format!("{line}\n")).collect();
        kept += expected.lines().count();
        assert_eq!(written, expected, "{file}");
    }
    kept
}

/// Checks that the results in a folder account for every record of the inputs, and name documents of both sides.
#[track_caller]
fn assert_complete(place: &Place, folder: &str) {
    let (new, old) = (
        records(place, "in", ["id", "text"]),
        records(place, "old", ["key", "body"]),
    );
    let removed = place.lines(&format!("{folder}/removed.jsonl"));
    let named = |line: &Value, file: &str, row: &str| {
        let (file, row) = (line[file].as_str().unwrap(), line[row].as_u64().unwrap());
        (file.to_owned(), row)
    };
    let mut gone = BTreeSet::new();
    let (mut for_new, mut for_old) = (0, 0);
    for line in &removed {
        let (place, kept) = (
            named(line, "file", "row"),
            named(line, "kept_file", "kept_row"),
        );
        assert_eq!(new[&place].0, line["id"]);
        match line["kept_in"].as_str() {
            Some("input") => {
                assert_eq!(new[&kept].0, line["kept_id"]);
                for_new += 1;
            }
            Some("reference") => {
                assert_eq!(old[&kept].0, line["kept_id"]);
                for_old += 1;
            }
            other => panic!("{other:?}"),
        }
        gone.insert(place);
    }
    assert!(for_new > 5 && for_old > 50, "{for_new} {for_old}");
    // What is the same text is gone.
    let texts: BTreeSet<&str> = old.values().map(|(_, text)| &**text).collect();
    for (place, (_, text)) in &new {
        assert!(
            gone.contains(place) || !texts.contains(&**text),
            "{place:?}"
        );
    }
    let kept = assert_kept(place, folder, &new, &gone);
    assert!(!place.path(&format!("{folder}/kept/z.jsonl")).exists());
    let report: Value =
        serde_json::from_str(&place.text(&format!("{folder}/report.json"))).unwrap();
    let counts = &report["counts"];
    let bad = report["skipped"].as_array().unwrap().len();
    for (name, count) in [
        ("documents", new.len() + bad),
        ("kept", kept),
        ("removed", removed.len()),
        ("skipped", bad),
        ("reference", old.len()),
        ("removed_for_reference", for_old),
    ] {
        assert_eq!(counts[name], json!(count), "{name}");
    }
    assert_eq!(kept + removed.len(), new.len());
    let skipped_files = report["reference_skipped"].as_array().unwrap();
    assert!(
        skipped_files.len() > 1
            && skipped_files
                .iter()
                .all(|skipped| skipped["file"] == "a.jsonl")
    );
    assert_eq!(report["parameters"]["against_id_field"], "key");
}

/// What a folder of results holds.
type Results = BTreeMap<String, Vec<u8>>;

fn run(place: &Place, task: &Dedup, run: Run<'_>) -> Results {
    Run {
        options: overwriting(true),
        ..run
    }
    .dedup(task, &place.path("out"))
    .unwrap();
    assert_complete(place, "out");
    place.results("out")
}

#[test]
fn a_run_accounts_for_both_sides() {
    let (place, inputs, old) = with_reference();
    for (engine, verification) in [
        (engine(), Verification::Exact),
        (engine(), Verification::Signature),
        (engine_of_bytes(), Verification::Exact),
    ] {
        for clustering in [Clustering::Greedy, Clustering::Connected] {
            for candidates in [CandidateMethod::Lsh, CandidateMethod::Join] {
                if candidates == CandidateMethod::Join && verification != Verification::Exact {
                    continue;
                }
                let task = Dedup {
                    clustering,
                    ..Dedup::new(Search {
                        candidates,
                        ..search(&engine, verification)
                    })
                };
                let new = || against(&engine, &inputs, &old);
                let expected = run(&place, &task, new());
                let in_little = || Run {
                    memory: Some(LITTLE),
                    ..new()
                };
                for other in [
                    in_little(),
                    Run {
                        held_bytes: 0,
                        ..in_little()
                    },
                    Run {
                        held_bytes: 0,
                        ..new()
                    },
                ] {
                    assert_eq!(run(&place, &task, other), expected, "{task:?}");
                }
            }
        }
    }
}

#[test]
fn preferences_are_those_of_the_inputs() {
    let (place, inputs, old) = with_reference();
    let engine = engine();
    let task = task(&engine);
    let new = || {
        let run = Run {
            keep_by: Some(KeepBy::new("score")),
            ..against(&engine, &inputs, &old)
        };
        Run {
            prefer_source: simgpu_io::Globs::new(&["d.jsonl"]).unwrap(),
            ..run
        }
    };
    let expected = run(&place, &task, new());
    let in_little = Run {
        memory: Some(LITTLE),
        ..new()
    };
    assert_eq!(run(&place, &task, in_little), expected);
    let plain = run(&place, &task, against(&engine, &inputs, &old));
    assert_ne!(plain["removed.jsonl"], expected["removed.jsonl"]);
}

#[test]
fn an_empty_reference_changes_no_kept_record() {
    let (place, inputs, _) = with_reference();
    place.write("none/old.jsonl", "");
    let none = Inputs::find(&[place.path("none")], None).unwrap();
    let engine = engine();
    let task = task(&engine);
    let plain = Run {
        on_bad_record: OnBadRecord::Skip,
        ..Run::new(&engine, &inputs)
    };
    plain.dedup(&task, &place.path("plain")).unwrap();
    for memory in [LITTLE, u64::MAX] {
        let run = Run {
            memory: Some(memory),
            ..against(&engine, &inputs, &none)
        };
        let report = Run {
            options: overwriting(true),
            ..run
        }
        .dedup(&task, &place.path("out"))
        .unwrap()
        .report;
        assert_eq!(report.counts.reference, Some(0));
        let kept = |name: &str| -> Results {
            let results = place.results(name).into_iter();
            results
                .filter(|(name, _)| name.starts_with("kept/"))
                .collect()
        };
        assert_eq!(kept("out"), kept("plain"));
        let pairs = [
            place.lines("plain/removed.jsonl"),
            place.lines("out/removed.jsonl"),
        ];
        let [plain, found] = pairs;
        for (plain, mut found) in plain.into_iter().zip(found) {
            assert_eq!(
                found.as_object_mut().unwrap().remove("kept_in"),
                Some(json!("input"))
            );
            assert_eq!(found, plain);
        }
    }
}
