use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::tests::{Place, Watched, engine, place, skipping, task, watched_by};
use simgpu::progress::{Progress, Silent};
use simgpu_index::{DocumentId, Durability, IndexedDocument, OnKnownId};
use simgpu_io::Inputs;

fn ids(index: &Index) -> BTreeSet<String> {
    let mut ids = BTreeSet::new();
    let mut take = |document: IndexedDocument| {
        ids.insert(document.id.as_json().to_owned());
        Ok(())
    };
    index.for_each(&mut take).unwrap();
    ids
}

/// An index of some of the documents.
fn build(place: &Place, name: &str, task: &Dedup) -> Index {
    let (engine, old) = (
        engine(),
        Inputs::find(&[place.path("old.jsonl")], None).unwrap(),
    );
    let folder = place.path(name);
    let run = Run::new(&engine, &old);
    run.build_index(&folder, &task.search).unwrap();
    Index::open(&folder).unwrap().durability(Durability::OnSync)
}

fn dedup(
    index: &Index,
    inputs: &Inputs,
    task: &Dedup,
    folder: &Path,
    progress: &dyn Progress,
) -> Result<()> {
    let engine = engine();
    let mut run = Run {
        adds_kept: true,
        options: watched_by(progress),
        ..skipping(&engine, inputs)
    };
    run.against_index(index);
    run.dedup(task, folder).map(|_| ())
}

/// Stops a run that adds to an index once it has read this many documents for that.
struct StopWhileAdding {
    is_adding: AtomicBool,
    documents: u64,
}

impl StopWhileAdding {
    fn at(documents: u64) -> Self {
        StopWhileAdding {
            is_adding: AtomicBool::new(false),
            documents,
        }
    }
}

impl Progress for StopWhileAdding {
    fn begin(&self, stage: &'static str, _: u64) {
        self.is_adding.store(stage == "add", Ordering::Relaxed);
    }

    fn advance(&self, _: u64, documents: u64, _: u64) -> ControlFlow<()> {
        if self.is_adding.load(Ordering::Relaxed) && documents >= self.documents {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// A task, and inputs of which an index has some copies under other ids.
fn prepared() -> (Place, Dedup, Inputs) {
    let place = place();
    let mut task = task(&engine());
    task.search.candidates = CandidateMethod::Lsh;
    let records = place.text("in/a.jsonl");
    let records = records
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let texts = records.filter_map(|record| record["text"].as_str().map(str::to_owned));
    let old = (0..).zip(texts.step_by(4)).map(|(number, text)| {
        let id = format!("old-{number}");
        format!("{}\n", serde_json::json!({"id": id, "text": text}))
    });
    place.write("old.jsonl", old.collect::<String>());
    let inputs = place.inputs();
    (place, task, inputs)
}

#[test]
fn a_run_that_was_interrupted_while_it_added_is_repeated() {
    let (place, task, inputs) = prepared();
    // Folders above it do not exist before.
    let out = place.path("new/folder/out");
    let index = build(&place, "index", &task);
    let before = ids(&index).len();
    dedup(&index, &inputs, &task, &out, &Silent).unwrap();
    let (expected, all) = (place.results("new/folder/out"), ids(&index));
    drop(index);
    // Before the first file is added, after it, and after the second one.
    let first_documents = place.text("in/a.jsonl").lines().count() as u64;
    for documents in [0, 1, first_documents + 1] {
        // Results name the index.
        for folder in ["new", "index"] {
            std::fs::remove_dir_all(place.path(folder)).unwrap();
        }
        let index = build(&place, "index", &task);
        let stop = StopWhileAdding::at(documents);
        let stopped = dedup(&index, &inputs, &task, &out, &stop);
        assert!(matches!(stopped, Err(Error::Stopped)), "{documents}");
        assert!(out.join("report.json").is_file(), "{documents}");
        let added = ids(&index).len();
        if documents == 1 {
            assert!(added > before && added < all.len(), "{added}");
        }
        // A document that comes in between changes nothing.
        let (text, id) = (
            ["a text that nothing else has"],
            [DocumentId::from("between")],
        );
        index.add(&text, &id, OnKnownId::Fail).unwrap();
        drop(index);
        let index = Index::open(&place.path("index")).unwrap();
        let told = Watched::stop_at(usize::MAX);
        dedup(&index, &inputs, &task, &out, &told).unwrap();
        assert!(told.has("resuming: the index"), "{documents}");
        let mut left = ids(&index);
        assert!(left.remove("\"between\""));
        assert_eq!(left, all, "{documents}");
        assert!(place.results("new/folder/out") == expected, "{documents}");
        let files = std::fs::read_dir(place.path("index")).unwrap();
        let mut files = files.map(|entry| entry.unwrap().file_name());
        assert!(!files.any(|name| name.to_string_lossy().starts_with("adding")));
    }
}

#[test]
fn another_run_does_not_replace_what_an_interrupted_one_kept() {
    let (place, task, inputs) = prepared();
    let out = place.path("out");
    let index = build(&place, "index", &task);
    let stop = StopWhileAdding::at(1);
    assert!(dedup(&index, &inputs, &task, &out, &stop).is_err());
    let mut other = task.clone();
    other.max_bucket += 1;
    let refused = dedup(&index, &inputs, &other, &out, &Silent);
    let refused = refused.unwrap_err().to_string();
    assert!(
        refused.contains("interrupted") && refused.contains("simgpu index add"),
        "{refused}"
    );
    // Meanwhile, another document has the id of one that is missing.
    let whole = build(&place, "whole", &task);
    dedup(&whole, &inputs, &task, &place.path("other"), &Silent).unwrap();
    let missing = ids(&whole).difference(&ids(&index)).next().cloned();
    let missing = DocumentId::from_json(&missing.unwrap()).unwrap();
    let text = ["a text that nothing else has"];
    index
        .add(&text, std::slice::from_ref(&missing), OnKnownId::Fail)
        .unwrap();
    drop(index);
    let index = Index::open(&place.path("index")).unwrap();
    let refused = dedup(&index, &inputs, &task, &out, &Silent).unwrap_err();
    assert!(
        refused.to_string().contains("another document of the id"),
        "{refused}"
    );
    index.delete(&[missing]).unwrap();
    drop(index);
    let index = Index::open(&place.path("index")).unwrap();
    dedup(&index, &inputs, &task, &out, &Silent).unwrap();
    assert_eq!(ids(&index), ids(&whole));
}
