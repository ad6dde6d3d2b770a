use std::path::Path;

use serde_json::Value;

use super::*;
use crate::tests::{
    Place, assert_complete, change_unseen, engine, engine_of_bytes, overwriting, place, search,
    skipping, task,
};
use crate::{Against, PairsOutput, RunOptions};
use simgpu::engine::Engine;
use simgpu::pipeline::{Clustering, KeepPolicy};
use simgpu::search::{CandidateMethod, Identical, Pairs, Search, ShortDocuments, Verification};
use simgpu_io::{Globs, KeepBy};

/// Writes the pairs of all inputs.
fn write_pairs(place: &Place, name: &str, engine: &Engine, task: &Pairs) -> PairsFile {
    let inputs = place.inputs();
    let path = place.path(name);
    let run = Run {
        options: overwriting(true),
        ..skipping(engine, &inputs)
    };
    run.pairs(task, PairsOutput::File(&path)).unwrap();
    PairsFile::open(&path).unwrap()
}

/// The removed documents as far as a list of pairs tells: without the chain, and of removals along a chain without the
/// similarity.
fn removed(place: &Place, folder: &str, clustering: Clustering) -> Vec<Value> {
    let mut lines = place.lines(&format!("{folder}/removed.jsonl"));
    for line in &mut lines {
        let line = line.as_object_mut().unwrap();
        line.remove("lost");
        line.remove("via_id");
        line.remove("via_similarity");
        if clustering == Clustering::Connected {
            line.remove("similarity");
        }
    }
    lines
}

/// The cluster of each document, and whether it is kept.
fn clusters(place: &Place, folder: &str) -> Vec<(u64, bool)> {
    use arrow_array::cast::AsArray;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    let file = std::fs::File::open(place.path(&format!("{folder}/clusters.parquet")));
    let reader = ParquetRecordBatchReaderBuilder::try_new(file.unwrap()).unwrap();
    let mut clusters = Vec::new();
    for batch in reader.build().unwrap() {
        let batch = batch.unwrap();
        let column = |name: &str| batch.column_by_name(name).unwrap();
        let numbers = column("cluster").as_primitive::<arrow_array::types::UInt64Type>();
        let kept = column("kept").as_boolean();
        let rows = 0..batch.num_rows();
        clusters.extend(rows.map(|row| (numbers.value(row), kept.value(row))));
    }
    clusters
}

/// A run with the preferences of one kind.
fn preferring(run: Run<'_>, kind: usize) -> Run<'_> {
    match kind {
        2 => Run {
            keep_by: Some(KeepBy::new("score")),
            ..run
        },
        3 => Run {
            prefer_source: Globs::new(&["d.jsonl"]).unwrap(),
            ..run
        },
        _ => run,
    }
}

#[test]
fn removed_documents_are_those_of_a_search() {
    let place = place();
    let mut known = Vec::new();
    for (number, (engine, verification, candidates, identical)) in [
        (
            engine(),
            Verification::Exact,
            CandidateMethod::Lsh,
            Identical::All,
        ),
        (
            engine(),
            Verification::Exact,
            CandidateMethod::Join,
            Identical::Star,
        ),
        (
            engine(),
            Verification::Signature,
            CandidateMethod::Lsh,
            Identical::Star,
        ),
        (
            engine_of_bytes(),
            Verification::None,
            CandidateMethod::Lsh,
            Identical::All,
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let inputs = place.inputs();
        let search = Search {
            candidates,
            ..search(&engine, verification)
        };
        let name = ["p.jsonl", "p.csv", "p.parquet", "p.jsonl.zst"][number];
        let listed = Pairs {
            identical,
            ..Pairs::new(search.clone())
        };
        let pairs = write_pairs(&place, name, &engine, &listed);
        assert_eq!(pairs.search().threshold.to_bits(), 0.5f64.to_bits());
        for clustering in [Clustering::Greedy, Clustering::Connected] {
            for kind in 0..4 {
                let asked = |search: Search| Dedup {
                    clustering,
                    keep: [KeepPolicy::First, KeepPolicy::Longest][usize::from(kind == 1)],
                    ..Dedup::new(search)
                };
                let run = Run {
                    options: overwriting(true),
                    ..skipping(&engine, &inputs)
                };
                let run = preferring(run, kind);
                let expected = run.dedup(&asked(search.clone()), &place.path("out"));
                let expected = expected.unwrap().report;
                let run = Run {
                    options: overwriting(true),
                    ..pairs.run(&inputs)
                };
                // Once from memory, and once again from the files.
                let run = Run {
                    held_bytes: (kind as u64 % 2) << 20,
                    ..preferring(run, kind)
                };
                let found = run.dedup(&asked(pairs.search().clone()), &place.path("from"));
                let found = found.unwrap().report;
                assert_complete(&place, "from");
                let what = format!("{name} {clustering:?} {kind}");
                assert_eq!(
                    removed(&place, "from", clustering),
                    removed(&place, "out", clustering),
                    "{what}"
                );
                let same = |place: &Place, folder: &str| {
                    let results = place.results(folder).into_iter();
                    let is_same = |name: &str| name.starts_with("kept/");
                    results
                        .filter(|(name, _)| is_same(name))
                        .collect::<Vec<_>>()
                };
                assert!(same(&place, "from") == same(&place, "out"), "{what}");
                assert_eq!(clusters(&place, "from"), clusters(&place, "out"), "{what}");
                known.push(same(&place, "from"));
                assert_eq!(found.cluster_sizes, expected.cluster_sizes);
                assert_eq!(found.sources.len(), expected.sources.len());
                let counts = |report: &simgpu_io::Report| {
                    let counts = &report.counts;
                    (
                        (
                            counts.documents,
                            counts.kept,
                            counts.removed,
                            counts.skipped,
                        ),
                        (counts.identical, counts.equal_shingles, counts.clusters),
                        (
                            counts.without_shingles,
                            counts.few_shingles,
                            counts.repeated_ids,
                        ),
                    )
                };
                assert_eq!(counts(&found), counts(&expected), "{what}");
                let parameters =
                    |report: &simgpu_io::Report| serde_json::to_value(&report.parameters).unwrap();
                assert_eq!(parameters(&found), parameters(&expected));
                assert_eq!(found.dedup.unwrap().from_pairs.as_deref(), Some(name));
            }
        }
    }
    known.dedup();
    assert!(known.len() > 8);
}

/// The error of a deduplication by `p.jsonl`.
fn refusal(place: &Place, asked: impl FnOnce(&mut Dedup)) -> String {
    let refused = PairsFile::open(&place.path("p.jsonl")).and_then(|pairs| {
        let inputs = place.inputs();
        let mut task = Dedup::new(pairs.search().clone());
        asked(&mut task);
        let run = Run {
            options: overwriting(true),
            ..pairs.run(&inputs)
        };
        run.dedup(&task, &place.path("out")).map(|_| ())
    });
    let refused = refused.unwrap_err().to_string();
    assert!(!place.path("out/report.json").exists(), "{refused}");
    refused
}

#[test]
fn other_inputs_are_refused() {
    let place = place();
    let engine = engine();
    let listed = Pairs::new(search(&engine, Verification::Exact));
    write_pairs(&place, "p.jsonl", &engine, &listed);
    let original = place.text("in/d.jsonl");
    change_unseen(&place.path("in/d.jsonl"));
    assert!(refusal(&place, |_| ()).contains("d.jsonl has changed"));
    place.write("in/d.jsonl", &original);
    place.write("in/e.jsonl", "{\"text\": \"one\"}\n");
    assert!(refusal(&place, |_| ()).contains("e.jsonl was not among them"));
    std::fs::remove_file(place.path("in/e.jsonl")).unwrap();
    std::fs::rename(place.path("in/d.jsonl"), place.path("d.jsonl")).unwrap();
    assert!(refusal(&place, |_| ()).contains("d.jsonl was among them"));
    std::fs::rename(place.path("d.jsonl"), place.path("in/d.jsonl")).unwrap();
    // A file that was touched is the same.
    place.write("in/d.jsonl", &original);
    let pairs = PairsFile::open(&place.path("p.jsonl")).unwrap();
    let inputs = place.inputs();
    let nothing = Dedup::new(pairs.search().clone());
    let run = pairs.run(&inputs);
    assert!(run.dedup(&nothing, &place.path("touched")).is_ok());
}

#[test]
fn damaged_pairs_are_refused() {
    let place = place();
    let engine = engine();
    let listed = Pairs::new(search(&engine, Verification::Exact));
    write_pairs(&place, "p.jsonl", &engine, &listed);
    let whole = place.text("p.jsonl");
    let (first, rest) = whole.split_once('\n').unwrap();
    let sealed = place.text("p.jsonl.report.json");
    let digest = "the digest in the report is another";
    for (name, text) in [
        ("p.jsonl", rest.to_owned()),
        ("p.jsonl.report.json", sealed.replacen("0.5", "0.6", 1)),
    ] {
        let intact = place.text(name);
        place.write(name, text);
        let refused = refusal(&place, |_| ());
        assert!(refused.contains(digest), "{refused}");
        place.write(name, intact);
    }
    // Without digests, what the file says is checked.
    let mut report: Value = serde_json::from_str(&sealed).unwrap();
    for name in ["digest", "output_blake3_128"] {
        assert!(report.as_object_mut().unwrap().remove(name).is_some());
    }
    place.write(
        "p.jsonl.report.json",
        serde_json::to_string_pretty(&report).unwrap(),
    );
    let changed = |key: &str, value: Value| {
        let mut line: Value = serde_json::from_str(first).unwrap();
        line[key] = value;
        format!("{line}\n{rest}")
    };
    for (text, expected) in [
        (rest.to_owned(), "its report states"),
        (
            changed("row_a", 999_999.into()),
            "there is no such document",
        ),
        (
            changed("file_b", "x.jsonl".into()),
            "there is no such document",
        ),
        (
            changed("id_a", "another".into()),
            "the document has another id",
        ),
        (
            changed("similarity", 1.5.into()),
            "not a number from 0 to 1",
        ),
        (changed("row_b", (-1).into()), "not a whole number"),
        (format!("{{\n{rest}"), "row 0"),
    ] {
        place.write("p.jsonl", text);
        let refused = refusal(&place, |_| ());
        assert!(
            refused.contains(expected) && refused.contains("p.jsonl"),
            "{refused}"
        );
    }
    place.write("p.jsonl", &whole);
    let report = place.text("p.jsonl.report.json");
    for (from, to, expected) in [
        (
            "\"command\": \"pairs\"",
            "\"command\": \"sign\"",
            "no result of simgpu pairs",
        ),
        ("\"complete\": true", "\"complete\": false", "ended early"),
        ("\"simgpu_report\": 1", "\"simgpu_report\": 2", "version 2"),
        (
            "\"threshold\": 0.5",
            "\"measure\": \"contained\", \"threshold\": 0.5",
            "contained",
        ),
        ("\"inputs\"", "\"outputs\"", "does not name the inputs"),
        ("{", "[", "report beside it"),
    ] {
        assert!(report.contains(from), "{from}");
        place.write("p.jsonl.report.json", report.replacen(from, to, 1));
        let refused = refusal(&place, |_| ());
        assert!(refused.contains(expected), "{refused}");
    }
    std::fs::remove_file(place.path("p.jsonl.report.json")).unwrap();
    assert!(refusal(&place, |_| ()).contains("p.jsonl.report.json"));
}

#[test]
fn tasks_that_pairs_do_not_serve_are_refused() {
    let place = place();
    let engine = engine();
    let listed = Pairs::new(search(&engine, Verification::Exact));
    let pairs = write_pairs(&place, "p.jsonl", &engine, &listed);
    let short = |drop_empty, min_shingles| ShortDocuments {
        drop_empty,
        min_shingles,
        ..ShortDocuments::default()
    };
    assert!(refusal(&place, |task| task.short = short(true, 0)).contains("`drop_empty`"));
    assert!(refusal(&place, |task| task.short = short(false, 3)).contains("`min_shingles`"));
    assert!(refusal(&place, |task| task.search.threshold = 0.6).contains("another search"));
    let inputs = place.inputs();
    place.write("old.jsonl", "{\"text\": \"one\"}\n");
    let old = Inputs::find(&[place.path("old.jsonl")], None).unwrap();
    let task = Dedup::new(pairs.search().clone());
    let against = || {
        Some(Against {
            inputs: &old,
            fields: pairs.fields(),
        })
    };
    let run = Run {
        against: against(),
        ..pairs.run(&inputs)
    };
    let refused = run
        .dedup(&task, &place.path("out"))
        .unwrap_err()
        .to_string();
    assert!(refused.contains("`against`"), "{refused}");
    let run = Run {
        memory: Some(1000),
        ..pairs.run(&inputs)
    };
    let refused = run
        .dedup(&task, &place.path("out"))
        .unwrap_err()
        .to_string();
    assert!(refused.contains("1000 bytes"), "{refused}");
    let run = Run {
        against: against(),
        ..skipping(&engine, &inputs)
    };
    let across = place.path("across.jsonl");
    run.pairs(&listed, PairsOutput::File(&across)).unwrap();
    let refused = PairsFile::open(&across).unwrap_err().to_string();
    assert!(refused.contains("no pairs within the inputs"), "{refused}");
}

#[test]
fn limits_and_streams_are_those_of_the_search() {
    let place = place();
    let engine = engine();
    let inputs = place.inputs();
    let path = place.path("some.jsonl");
    let limit = NonZeroU64::new(99).unwrap();
    let some = |run: Run<'_>| {
        let options = RunOptions {
            overwrite: true,
            ..RunOptions::default()
        };
        let run = Run { options, ..run };
        run.dedup(&task(&engine), Path::new(&place.path("out")))
            .unwrap()
            .report
    };
    let listed = Pairs::new(search(&engine, Verification::Exact));
    let run = Run {
        limit: Some(limit),
        ..skipping(&engine, &inputs)
    };
    run.pairs(&listed, PairsOutput::File(&path)).unwrap();
    let pairs = PairsFile::open(&path).unwrap();
    let found = some(pairs.run(&inputs));
    let expected = some(Run {
        limit: Some(limit),
        ..skipping(&engine, &inputs)
    });
    assert_eq!(found.counts.documents, 99);
    assert_eq!(found.counts.kept, expected.counts.kept);
    let mut streamed = Vec::new();
    let temporary = &place.path("in");
    let target = &mut streamed;
    let stream = crate::DedupOutput::Stream { target, temporary };
    pairs.run(&inputs).dedup(&task(&engine), stream).unwrap();
    let files = ["a.jsonl", "d.jsonl"].map(|file| place.path(&format!("out/kept/{file}")));
    let files = files.map(|file| std::fs::read(file).unwrap_or_default());
    assert_eq!(streamed, files.concat());
}
