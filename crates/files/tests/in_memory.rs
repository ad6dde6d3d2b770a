//! Documents in memory and the same documents in files: one result.

use std::fs;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use simgpu::documents::{DocumentBatch, Documents, TokenBatch};
use simgpu::engine::Engine;
use simgpu::pipeline::{Clustering, KeepPolicy, Removal, Shingling, Unit};
use simgpu::progress::{Progress, Silent};
use simgpu::scheme::fmix64;
use simgpu::search::{
    CandidateMethod, Dedup, DocumentPair, Identical, Pairs, Search, ShortDocuments,
    SignaturesInMemory, Verification, dedup, dedup_by_class, pairs,
};
use simgpu_files::{PairsOutput, Run, RunOptions};
use simgpu_io::Inputs;

/// Families of near-duplicates, with repeats, empty texts and short ones among them.
fn texts() -> Vec<String> {
    let word = |seed: u64, at: u64| format!("w{}", fmix64(seed << 20 | at) % 5_000);
    let mut texts = vec![
        String::new(),
        "one".to_owned(),
        "one".to_owned(),
        String::new(),
    ];
    for family in 0..120 {
        let words: Vec<String> = (0..40).map(|at| word(family, at)).collect();
        for member in 0..1 + family % 5 {
            let mut copy = words.clone();
            for edit in 0..member % 3 {
                let at = usize::try_from(fmix64(family << 8 | member << 4 | edit) % 40).unwrap();
                copy[at] = format!("e{family}_{member}");
            }
            // Members of unequal length, so that the longest is not always the first.
            copy.extend((0..member % 2).map(|at| word(family, 90 + at)));
            texts.push(copy.join(" "));
        }
    }
    texts
}

/// A search for each verification, with a bound on buckets.
fn searches(engine: &Engine) -> Vec<(Search, usize)> {
    let of = |(verification, max_bucket)| {
        let search = Search {
            verification,
            ..Search::new(0.6, engine.scheme()).unwrap()
        };
        (search, max_bucket)
    };
    let searches = [
        (Verification::None, usize::MAX),
        (Verification::Signature, usize::MAX),
        (Verification::Exact, usize::MAX),
        (Verification::Signature, 2),
    ];
    searches.into_iter().map(of).collect()
}

/// A line of `removed.jsonl` as the library gives it in memory.
fn line_of(removed: &Removal, verification: Verification) -> Value {
    let mut line = json!({
        "row": removed.document,
        "kept_row": removed.kept,
        "similarity": removed.similarity,
        "lost": removed.lost(),
        "found_by": removed.found_by(verification.name()),
    });
    if let Some((via, similarity)) = removed.via {
        line["via_id"] = json!(format!("in.jsonl:{via}"));
        line["via_similarity"] = json!(similarity);
    }
    line
}

/// Both sides are read from JSON, since reading a fraction may round it.
fn read_back(lines: impl Iterator<Item = Value>) -> Vec<Value> {
    let read = |line: Value| serde_json::from_str(&line.to_string()).unwrap();
    lines.map(read).collect()
}

/// Fails on the first line that differs.
fn assert_same(in_memory: &[Value], in_files: &[Value], what: &dyn std::fmt::Debug) {
    for (memory, file) in in_memory.iter().zip(in_files) {
        assert_eq!(memory, file, "{what:?}");
    }
    assert_eq!(in_memory.len(), in_files.len(), "{what:?}");
}

fn lines_of(path: &std::path::Path, fields: &[&str]) -> Vec<Value> {
    let parse = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        let fields = fields
            .iter()
            .filter_map(|field| Some((*field, line.get(*field)?.clone())));
        fields
            .map(|(field, value)| (field.to_owned(), value))
            .collect()
    };
    fs::read_to_string(path)
        .unwrap()
        .lines()
        .map(parse)
        .collect()
}

#[test]
fn memory_and_files_give_one_result() {
    let texts = texts();
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in.jsonl");
    let lines = texts
        .iter()
        .map(|text| format!("{}\n", json!({ "text": text })));
    fs::write(&input, lines.collect::<String>()).unwrap();
    let engine = Engine::builder().build().unwrap();
    let inputs = Inputs::find(&[input], None).unwrap();
    let mut removed_at_all = 0;
    for (search, max_bucket) in searches(&engine) {
        for clustering in [Clustering::Greedy, Clustering::Connected] {
            for keep in [KeepPolicy::First, KeepPolicy::Longest] {
                let task = Dedup {
                    short: ShortDocuments::default(),
                    search: search.clone(),
                    clustering,
                    keep,
                    max_bucket,
                };
                let found = dedup(&texts, &engine, &task, &Silent).unwrap();
                let out = folder.path().join("out");
                let run = Run {
                    options: RunOptions {
                        overwrite: true,
                        ..RunOptions::default()
                    },
                    ..Run::new(&engine, &inputs)
                };
                let outcome = run.dedup(&task, &out).unwrap();
                let in_memory = read_back(
                    found
                        .removed
                        .iter()
                        .map(|removed| line_of(removed, found.verification)),
                );
                let fields = [
                    "row",
                    "kept_row",
                    "similarity",
                    "lost",
                    "found_by",
                    "via_id",
                    "via_similarity",
                ];
                let in_files = lines_of(&out.join("removed.jsonl"), &fields);
                assert_same(&in_memory, &in_files, &task);
                assert_eq!(found.counts.removed, outcome.report.counts.removed);
                assert_eq!(found.counts.kept, outcome.report.counts.kept);
                let kept: Vec<u32> = found.kept().collect();
                assert_eq!(kept.len() as u64, found.counts.kept);
                assert_eq!(kept.len() + found.removed.len(), texts.len());
                removed_at_all += in_files.len();
            }
        }
        let mut pairs_of_texts = Vec::new();
        let task = Pairs {
            identical: match max_bucket {
                2 => Identical::Star,
                _ => Identical::All,
            },
            ..Pairs::new(search)
        };
        let mut each = |pair| {
            pairs_of_texts.push(pair);
            Ok(())
        };
        let found = pairs(&texts, &engine, &task, &Silent, &mut each).unwrap();
        let output = folder.path().join("pairs.jsonl");
        let run = Run {
            options: RunOptions {
                overwrite: true,
                ..RunOptions::default()
            },
            ..Run::new(&engine, &inputs)
        };
        let outcome = run.pairs(&task, PairsOutput::File(&output)).unwrap();
        let of = |pair: &DocumentPair| json!({"row_a": pair.a, "row_b": pair.b, "similarity": pair.similarity});
        let in_memory = read_back(pairs_of_texts.iter().map(of));
        let in_files = lines_of(&output, &["row_a", "row_b", "similarity"]);
        assert_same(&in_memory, &in_files, &task);
        assert_eq!(in_files.len() as u64, found.counts.similar_pairs);
        assert_eq!(
            found.counts.similar_pairs,
            outcome.report.counts.similar_pairs
        );
        assert_eq!(
            found.counts.omitted_pairs,
            outcome.report.counts.omitted_pairs
        );
    }
    assert!(removed_at_all > 1_000, "{removed_at_all}");
}

#[test]
fn batches_of_tokens_are_documents() {
    let mut tokens = TokenBatch::default();
    for document in [&["a", "b", "c"][..], &["c", "b", "a"], &["d"], &[]] {
        document
            .iter()
            .for_each(|token| tokens.push_token(token.as_bytes()));
        tokens.finish_document();
    }
    let engine = Engine::builder()
        .shingling(Shingling::of(Unit::Tokens))
        .build()
        .unwrap();
    let mut search = Search::new(0.8, engine.scheme()).unwrap();
    search.verification = Verification::Exact;
    let found = dedup(&tokens, &engine, &Dedup::new(search.clone()), &Silent).unwrap();
    assert_eq!(found.kept().collect::<Vec<_>>(), [0, 2, 3]);
    let either = DocumentBatch::Tokens(tokens.clone());
    let deduped = dedup(&either, &engine, &Dedup::new(search.clone()), &Silent).unwrap();
    assert_eq!(found.removed, deduped.removed);
    assert_eq!(engine.sign(&tokens).unwrap(), engine.sign(&either).unwrap());
    assert_eq!(Documents::len(&tokens), 4);
    // Texts have no tokens.
    assert!(dedup(&["a"], &engine, &Dedup::new(search), &Silent).is_err());
}

/// Notes each call, and stops after some.
#[derive(Default)]
struct Noted {
    begun: Mutex<Vec<(&'static str, u64)>>,
    advanced: Mutex<Vec<[u64; 3]>>,
    stop_after: Option<usize>,
}

impl Progress for Noted {
    fn begin(&self, stage: &'static str, total: u64) {
        self.begun.lock().unwrap().push((stage, total));
    }

    fn advance(&self, done: u64, documents: u64, bytes: u64) -> ControlFlow<()> {
        let mut advanced = self.advanced.lock().unwrap();
        advanced.push([done, documents, bytes]);
        if self.stop_after == Some(advanced.len()) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// Large documents are signed a few at a time, so that progress is seen and a stop is soon.
#[test]
fn work_in_memory_advances_and_stops() {
    let texts: Vec<String> = (0..64)
        .map(|i| format!("document {i} has words of its own, as {i} ").repeat(10_000))
        .collect();
    let bytes: usize = texts.iter().map(String::len).sum();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1);
    pool.build().unwrap().install(|| {
        let engine = Engine::builder().build().unwrap();
        let noted = Noted::default();
        let signatures = engine.sign_with(&texts, &noted).unwrap();
        assert_eq!(signatures, engine.sign(&texts).unwrap());
        assert_eq!(*noted.begun.lock().unwrap(), [("sign", 64)]);
        let advanced = noted.advanced.into_inner().unwrap();
        assert!(advanced.len() > 5 && advanced.is_sorted());
        assert_eq!(advanced.last(), Some(&[64, 64, bytes as u64]));

        let stop = Noted {
            stop_after: Some(2),
            ..Noted::default()
        };
        let stopped = engine.sign_with(&texts, &stop);
        assert!(matches!(stopped, Err(simgpu::Error::Stopped)));
        assert_eq!(stop.advanced.lock().unwrap().len(), 2);

        let noted = Noted::default();
        let mut search = Search::new(0.8, engine.scheme()).unwrap();
        search.verification = Verification::Exact;
        dedup(&texts, &engine, &Dedup::new(search), &noted).unwrap();
        assert_eq!(noted.begun.lock().unwrap()[0], ("read", 64));
        let advanced = noted.advanced.into_inner().unwrap();
        let read = advanced.iter().take_while(|[done, ..]| *done < 64).count();
        assert!(read > 5, "{read}");
    });
}

/// Is stopped from the third question on, and never by [`Progress::advance`].
#[derive(Default)]
struct StoppedAtPiece {
    questions: AtomicUsize,
}

impl Progress for StoppedAtPiece {
    fn is_stopped(&self) -> bool {
        self.questions.fetch_add(1, Ordering::Relaxed) >= 2
    }
}

#[test]
fn a_run_stops_before_any_piece() {
    // Each document is a piece of its own.
    let text = "a document of many words ".repeat(20_000);
    let texts: Vec<String> = (0..64).map(|i| format!("{text} {i}")).collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1);
    pool.build().unwrap().install(|| {
        let engine = Engine::builder().build().unwrap();
        let search = Search::new(0.8, engine.scheme()).unwrap();
        let progress = StoppedAtPiece::default();
        let stopped = dedup(&texts, &engine, &Dedup::new(search), &progress);
        assert!(matches!(stopped, Err(simgpu::Error::Stopped)));
        // The third question comes before the third document, and stops all others.
        assert_eq!(progress.questions.into_inner(), 3);
    });
}

#[test]
fn signatures_ignore_how_documents_lie_in_memory() {
    let texts = texts();
    let engine = Engine::builder().build().unwrap();
    let all = engine.sign(&texts).unwrap();
    let borrowed: Vec<&str> = texts.iter().map(String::as_str).collect();
    assert_eq!(engine.sign(&borrowed).unwrap(), all);
    assert_eq!(engine.sign(borrowed.as_slice()).unwrap(), all);
    for (row, text) in texts.iter().enumerate().step_by(37) {
        assert_eq!(engine.sign(&[text]).unwrap().row(0), all.row(row));
    }
}

#[test]
fn signatures_have_the_pairs_of_their_documents() {
    let texts = texts();
    let engine = Engine::builder().build().unwrap();
    let signed = engine.sign(&texts).unwrap();
    let signatures = SignaturesInMemory {
        slots: signed.slots(),
        scheme: engine.scheme(),
    };
    let search = Search {
        verification: Verification::Signature,
        candidates: CandidateMethod::Lsh,
        ..Search::new(0.6, engine.scheme()).unwrap()
    };
    let task = Pairs::new(search.clone());
    let (mut expected, mut found): (Vec<DocumentPair>, Vec<DocumentPair>) = Default::default();
    pairs(&texts, &engine, &task, &Silent, &mut |pair| {
        expected.push(pair);
        Ok(())
    })
    .unwrap();
    let streamed = signatures.pairs(&task, &Silent, &mut |pair| {
        found.push(pair);
        Ok(())
    });
    assert!(streamed.unwrap().is_complete && !expected.is_empty());
    assert_eq!(found, expected);
    let task = Dedup::new(search);
    let expected = dedup(&texts, &engine, &task, &Silent).unwrap();
    let found = signatures.dedup(&task, None, &Silent).unwrap();
    assert_eq!(found.removed, expected.removed);
    assert_eq!(
        found.counts.without_shingles,
        expected.counts.without_shingles
    );
}

#[test]
fn signatures_refuse_what_needs_documents() {
    let engine = Engine::builder().build().unwrap();
    let signed = engine.sign(&texts()).unwrap();
    let signatures = SignaturesInMemory {
        slots: signed.slots(),
        scheme: engine.scheme(),
    };
    let search = |verification, candidates| Search {
        verification,
        candidates,
        ..Search::new(0.6, engine.scheme()).unwrap()
    };
    let refused = |task: &Dedup| {
        signatures
            .dedup(task, None, &Silent)
            .unwrap_err()
            .to_string()
    };
    let exact = Dedup::new(search(Verification::Exact, CandidateMethod::Lsh));
    assert!(refused(&exact).contains("`verify=signature`"));
    let joined = Dedup::new(search(Verification::Signature, CandidateMethod::Join));
    assert!(refused(&joined).contains("`candidates=lsh`"));
    let mut longest = Dedup::new(search(Verification::None, CandidateMethod::Lsh));
    longest.keep = KeepPolicy::Longest;
    assert!(refused(&longest).contains("`keep=first`"));
}

#[test]
fn documents_of_a_lower_class_are_kept() {
    let texts = vec!["a rose is a rose is a rose"; 4];
    let engine = Engine::builder().build().unwrap();
    let task = Dedup::new(Search::new(0.8, engine.scheme()).unwrap());
    let classes = [3, 1, 2, 1];
    let found = dedup_by_class(&texts, Some(&classes), &engine, &task, &Silent).unwrap();
    assert_eq!(found.kept().collect::<Vec<_>>(), [1]);
    let signed = engine.sign(&texts).unwrap();
    let signatures = SignaturesInMemory {
        slots: signed.slots(),
        scheme: engine.scheme(),
    };
    let mut task = task;
    task.search.verification = Verification::Signature;
    let found = signatures.dedup(&task, Some(&classes), &Silent).unwrap();
    assert_eq!(found.kept().collect::<Vec<_>>(), [1]);
    let error = dedup_by_class(&texts, Some(&[0]), &engine, &task, &Silent).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the number of classes is 1; give one class for each of 4 documents"
    );
}
