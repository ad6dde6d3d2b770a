//! Which ids, files and records a run with a reference refuses, resumes and names.

use serde_json::Value;

use super::{against, fields, records, run, with_reference};
use crate::PairsOutput;
use crate::run::{Against, Run, RunOptions};
use crate::tests::{
    LITTLE, Place, Watched, engine, engine_of_bytes, overwriting, place, search, task, watched_by,
};
use simgpu::error::Error;
use simgpu::search::{Pairs, Verification};
use simgpu_io::{Inputs, RemovedFormat};

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
    let run = Run {
        removed_format: RemovedFormat::Parquet,
        ..against(&engine, &inputs, &old)
    };
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
        let run = Run {
            against: Some(Against {
                inputs: &old,
                fields: fields("text", "id"),
            }),
            unique_ids: true,
            memory: Some(memory),
            options: overwriting(true),
            ..Run::new(&engine, &inputs)
        };
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
        let run = Run {
            against: Some(Against {
                inputs: &old,
                fields: fields("text", "id"),
            }),
            limit: Some(std::num::NonZeroU64::MIN),
            memory: Some(memory),
            options: overwriting(true),
            ..Run::new(&engine, &inputs)
        };
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
        let run = Run {
            memory: Some(LITTLE),
            ..against(&engine, &inputs, &old)
        };
        let options = RunOptions {
            overwrite: true,
            ..watched_by(progress)
        };
        Run { options, ..run }
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
    let (new, old_records) = (
        records(&place, "in", ["id", "text"]),
        records(&place, "old", ["key", "body"]),
    );
    let task = Pairs::new(search(&engine, Verification::Exact));
    let mut all = Vec::new();
    for memory in [LITTLE, u64::MAX] {
        let output = place.path("pairs.jsonl");
        let run = Run {
            memory: Some(memory),
            options: overwriting(true),
            ..against(&engine, &inputs, &old)
        };
        let report = run.pairs(&task, PairsOutput::File(&output)).unwrap().report;
        let lines = place.lines("pairs.jsonl");
        assert_eq!(report.counts.similar_pairs, lines.len() as u64);
        assert_eq!(report.counts.reference, Some(old_records.len() as u64));
        for line in &lines {
            let record = |side: char| {
                let file = line[format!("file_{side}")].as_str().unwrap().to_owned();
                (file, line[format!("row_{side}")].as_u64().unwrap())
            };
            assert_eq!(old_records[&record('a')].0, line["id_a"]);
            assert_eq!(new[&record('b')].0, line["id_b"]);
        }
        all.push(lines);
    }
    assert_eq!(all[0], all[1]);
    let equal = |(_, text): &(Value, String)| {
        old_records
            .values()
            .filter(|(_, other)| other == text)
            .count()
    };
    let identical: usize = new.values().map(equal).sum();
    let alike = all[0]
        .iter()
        .filter(|line| line["similarity"] == 1.0)
        .count();
    assert!(alike >= identical && identical > 50);
}
