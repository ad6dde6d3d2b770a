//! Tests of runs against a reference.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::PairsOutput;
use super::run::{Run, RunOptions};
use super::tests::{
    LITTLE, Place, Watched, engine, engine_of_bytes, overwriting, place, search, task, watched_by,
};
use simgpu::engine::Engine;
use simgpu::error::Error;
use simgpu::pipeline::Clustering;
use simgpu::search::{CandidateMethod, Dedup, Pairs, Search, Verification};
use simgpu_io::{FieldPath, Fields, Inputs, KeepBy, OnBadRecord, RemovedFormat};

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
    let run = Run::new(engine, inputs).on_bad_record(OnBadRecord::Skip);
    run.against(old, fields("body", "key"))
}

/// The good records of a folder, by file and row: the id, and the text.
fn records(
    place: &Place,
    folder: &str,
    fields: [&str; 2],
) -> BTreeMap<(String, u64), (Value, String)> {
    let mut records = BTreeMap::new();
    for name in ["a.jsonl", "b/c.jsonl", "d.jsonl", "z.jsonl"] {
        let path = place.path(&format!("{folder}/{name}"));
        let text = std::fs::read_to_string(path).unwrap_or_default();
        for (row, line) in (0..).zip(text.lines()) {
            let record: Value = serde_json::from_str(line).unwrap();
            if let Some(text) = record[fields[1]].as_str() {
                let of_record = (record[fields[0]].clone(), text.to_owned());
                records.insert((name.to_owned(), row), of_record);
            }
        }
    }
    records
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
    let of_reference = report["reference_skipped"].as_array().unwrap();
    assert!(
        of_reference.len() > 1
            && of_reference
                .iter()
                .all(|skipped| skipped["file"] == "a.jsonl")
    );
    assert_eq!(report["parameters"]["against_id_field"], "key");
}

/// What a folder of results holds.
type Results = BTreeMap<String, Vec<u8>>;

fn run(place: &Place, task: &Dedup, run: Run<'_>) -> Results {
    run.options(overwriting(true))
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
                for other in [
                    new().memory(LITTLE),
                    new().memory(LITTLE).held_bytes(0),
                    new().held_bytes(0),
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
        let run = against(&engine, &inputs, &old).keep_by(KeepBy::new("score"));
        run.prefer_source(simgpu_io::Globs::new(&["d.jsonl"]).unwrap())
    };
    let expected = run(&place, &task, new());
    assert_eq!(run(&place, &task, new().memory(LITTLE)), expected);
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
    let plain = Run::new(&engine, &inputs).on_bad_record(OnBadRecord::Skip);
    plain.dedup(&task, &place.path("plain")).unwrap();
    for memory in [LITTLE, u64::MAX] {
        let run = against(&engine, &inputs, &none).memory(memory);
        let report = run
            .options(overwriting(true))
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

#[test]
fn a_file_on_both_sides_is_refused() {
    let place = place();
    let engine = engine();
    let inputs = place.inputs();
    let old = Inputs::find(&[place.path("in/d.jsonl")], None).unwrap();
    let refused = against(&engine, &inputs, &old).dedup(&task(&engine), &place.path("out"));
    let refused = refused.unwrap_err().to_string();
    assert!(
        refused.contains("d.jsonl") && refused.contains("also in `against`"),
        "{refused}"
    );
    // Results do not replace a reference.
    place.write("new.jsonl", "{\"text\": \"one two three\"}\n");
    let inputs = Inputs::find(&[place.path("new.jsonl")], None).unwrap();
    let refused = against(&engine, &inputs, &old).dedup(&task(&engine), &place.path("in"));
    assert!(matches!(refused, Err(Error::Output { .. })));
}

#[test]
fn tables_say_where_a_kept_document_is() {
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::UInt64Type;

    let (place, inputs, old) = with_reference();
    let engine = engine();
    let run = against(&engine, &inputs, &old).removed_format(RemovedFormat::Parquet);
    run.dedup(&task(&engine), &place.path("out")).unwrap();
    let table = |name: &str| {
        let file = std::fs::File::open(place.path(name)).unwrap();
        let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file);
        let batches = reader.unwrap().with_batch_size(1 << 20).build().unwrap();
        batches.map(Result::unwrap).next().unwrap()
    };
    let removed = table("out/removed.parquet");
    assert_eq!(removed.schema().field(4).name(), "kept_in");
    let kept_in = removed.column(4).as_string::<i32>();
    let for_old = kept_in
        .iter()
        .filter(|place| *place == Some("reference"))
        .count();
    let clusters = table("out/clusters.parquet");
    let column = |name: &str| clusters.column_by_name(name).unwrap();
    let [cluster, reference] =
        ["cluster", "reference"].map(|name| column(name).as_primitive::<UInt64Type>());
    let kept = column("kept").as_boolean();
    assert_eq!(
        (
            cluster.null_count(),
            clusters.num_rows() - reference.null_count()
        ),
        (for_old, for_old)
    );
    for row in 0..clusters.num_rows() {
        assert_ne!(cluster.is_null(row), reference.is_null(row));
        if kept.value(row) {
            assert_eq!(cluster.value(row), row as u64);
        }
    }
}

#[test]
fn only_ids_of_inputs_must_be_unique() {
    let place = Place::new();
    let line = |id: u32, text: &str| format!("{{\"id\": {id}, \"text\": \"{text}\"}}\n");
    place.write(
        "new.jsonl",
        line(1, "one two three") + &line(2, "four five six"),
    );
    place.write(
        "old.jsonl",
        line(1, "seven eight") + &line(1, "one two three"),
    );
    let [inputs, old] =
        ["new.jsonl", "old.jsonl"].map(|name| Inputs::find(&[place.path(name)], None).unwrap());
    let engine = engine();
    for memory in [1, u64::MAX] {
        let run = Run::new(&engine, &inputs).against(&old, fields("text", "id"));
        let run = run
            .unique_ids(true)
            .memory(memory)
            .options(overwriting(true));
        let counts = run
            .dedup(&task(&engine), &place.path("out"))
            .unwrap()
            .report
            .counts;
        assert_eq!(
            (counts.repeated_ids, counts.removed, counts.kept),
            (0, 1, 1)
        );
        // A limit is one of the inputs, too.
        let run = Run::new(&engine, &inputs).against(&old, fields("text", "id"));
        let run = run
            .limit(std::num::NonZeroU64::MIN)
            .memory(memory)
            .options(overwriting(true));
        let counts = run
            .dedup(&task(&engine), &place.path("out"))
            .unwrap()
            .report
            .counts;
        assert_eq!(
            (counts.documents, counts.reference, counts.removed),
            (1, Some(2), 1)
        );
    }
}

#[test]
fn a_stopped_run_goes_on_with_the_same_files() {
    let (place, inputs, old) = with_reference();
    let engine = engine_of_bytes();
    let task = task(&engine);
    let expected = run(&place, &task, against(&engine, &inputs, &old));
    let begin = |progress: &Watched<'_>, name: &str| {
        let run = against(&engine, &inputs, &old).memory(LITTLE);
        let options = RunOptions {
            overwrite: true,
            ..watched_by(progress)
        };
        run.options(options)
            .dedup(&task, &place.path(name))
            .map(|_| ())
    };
    let all = Watched::stop_at(usize::MAX);
    begin(&all, "whole").unwrap();
    let calls = all.calls.into_inner();
    let mut stopped = 0;
    for last in (0..calls).step_by((calls / 12).max(1)) {
        let name = format!("stopped-{last}");
        // A later run may end with fewer calls than the first: how many there are depends on time.
        if begin(&Watched::stop_at(last), &name).is_err() {
            stopped += 1;
            begin(&Watched::stop_at(usize::MAX), &name).unwrap();
        }
        let results = place.results(&name);
        let differ = |name: &&String| results.get(*name) != expected.get(*name);
        let differing: Vec<&String> = expected
            .keys()
            .chain(results.keys())
            .filter(differ)
            .collect();
        assert!(differing.is_empty(), "{last} of {calls}: {differing:?}");
    }
    assert!(stopped > 3, "{stopped}");
}

#[test]
fn pairs_across_name_both_sides() {
    let (place, inputs, old) = with_reference();
    let engine = engine();
    let (new, of_old) = (
        records(&place, "in", ["id", "text"]),
        records(&place, "old", ["key", "body"]),
    );
    let task = Pairs::new(search(&engine, Verification::Exact));
    let mut all = Vec::new();
    for memory in [LITTLE, u64::MAX] {
        let output = place.path("pairs.jsonl");
        let run = against(&engine, &inputs, &old)
            .memory(memory)
            .options(overwriting(true));
        let report = run.pairs(&task, PairsOutput::File(&output)).unwrap().report;
        let lines = place.lines("pairs.jsonl");
        assert_eq!(report.counts.similar_pairs, lines.len() as u64);
        assert_eq!(report.counts.reference, Some(of_old.len() as u64));
        for line in &lines {
            let record = |side: char| {
                let file = line[format!("file_{side}")].as_str().unwrap().to_owned();
                (file, line[format!("row_{side}")].as_u64().unwrap())
            };
            assert_eq!(of_old[&record('a')].0, line["id_a"]);
            assert_eq!(new[&record('b')].0, line["id_b"]);
        }
        all.push(lines);
    }
    assert_eq!(all[0], all[1]);
    let equal =
        |(_, text): &(Value, String)| of_old.values().filter(|(_, other)| other == text).count();
    let identical: usize = new.values().map(equal).sum();
    let of_one = all[0]
        .iter()
        .filter(|line| line["similarity"] == 1.0)
        .count();
    assert!(of_one >= identical && identical > 50);
}
