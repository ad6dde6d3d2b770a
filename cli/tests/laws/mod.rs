//! Laws that hold for every set, every corpus and every way to run.

mod signatures;

mod groups;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde_json::Value;
use unicode_segmentation::UnicodeSegmentation;

use crate::support::{
    Place, Results, families, gzip, lasting_files_in, number_in, numbered_lines, parquet,
    parse_lines, strings, text, zstd,
};

// Corpora

/// The name of a file, and a function that writes it from texts and their first id.
type Form = (&'static str, fn(&[String], usize) -> Vec<u8>);

/// The files of a corpus, which share its texts equally.
const FORMS: [Form; 4] = [
    ("a.jsonl", |texts, first_id| numbered_lines(texts, first_id)),
    ("b.jsonl.gz", |texts, first_id| {
        gzip(&numbered_lines(texts, first_id))
    }),
    ("c/d.jsonl.zst", |texts, first_id| {
        zstd(&numbered_lines(texts, first_id))
    }),
    ("e.parquet", |texts, first_id| {
        let ids = arrow_array::UInt32Array::from_iter_values(
            (first_id..)
                .zip(texts)
                .map(|(id, _)| u32::try_from(id).unwrap()),
        );
        parquet([
            ("id", std::sync::Arc::new(ids) as arrow_array::ArrayRef),
            ("text", strings(texts)),
        ])
    }),
];

/// A place with the texts in `docs/`, a quarter per form, their indices as ids.
fn corpus_of(texts: &[String]) -> Place {
    let place = Place::new();
    let quarter = texts.len().div_ceil(FORMS.len());
    for (i, (texts, (name, form))) in texts.chunks(quarter).zip(FORMS).enumerate() {
        place.write(&format!("docs/{name}"), form(texts, i * quarter));
    }
    place
}

/// Ids and texts of the documents in kept/, by file and row.
fn kept_documents(results: &Results) -> Vec<(usize, String)> {
    let mut documents = Vec::new();
    for name in results.kept_names() {
        let bytes = results.kept(&name);
        if name.ends_with(".parquet") {
            documents.extend(rows_of(bytes));
        } else {
            let document = |record: Value| {
                let text = record["text"].as_str().unwrap().to_owned();
                (id_in(&record, "id"), text)
            };
            documents.extend(parse_lines(&bytes).into_iter().map(document));
        }
    }
    documents
}

/// The document's index among the texts.
#[track_caller]
fn id_in(line: &Value, field: &str) -> usize {
    usize::try_from(line[field].as_u64().unwrap()).unwrap()
}

fn rows_of(parquet: Vec<u8>) -> Vec<(usize, String)> {
    use arrow_array::cast::AsArray;
    use std::io::Write;
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&parquet).unwrap();
    let reader =
        parquet::arrow::arrow_reader::ParquetRecordBatchReader::try_new(file, 1024).unwrap();
    let mut rows = Vec::new();
    for batch in reader {
        let batch = batch.unwrap();
        let ids = batch["id"]
            .as_primitive::<arrow_array::types::UInt32Type>()
            .values()
            .iter();
        let texts = batch["text"].as_string::<i32>().iter().flatten();
        rows.extend(ids.map(|id| *id as usize).zip(texts.map(str::to_owned)));
    }
    rows
}

/// The set of a text's shingles of five words, straight from the definition.
fn shingles(text: &str) -> HashSet<String> {
    let words: Vec<&str> = text.unicode_words().collect();
    match words.len() {
        0 => HashSet::new(),
        1..5 => HashSet::from([words.join(" ")]),
        _ => words.windows(5).map(|shingle| shingle.join(" ")).collect(),
    }
}

fn jaccard(a: &str, b: &str) -> f64 {
    let (a, b) = (shingles(a), shingles(b));
    let shared = a.intersection(&b).count();
    shared as f64 / (a.len() + b.len() - shared) as f64
}

/// The share of the shingles of `a` that `b` lacks.
fn lost(a: &str, b: &str) -> f64 {
    let (a, b) = (shingles(a), shingles(b));
    a.difference(&b).count() as f64 / a.len() as f64
}

const CLUSTERINGS: [&str; 2] = ["greedy", "connected"];

const POLICIES: [&str; 2] = ["first", "longest"];

#[test]
fn every_removed_document_names_a_kept_one() {
    let texts = families(60, 8, 80);
    let place = corpus_of(&texts);
    for verify in ["signature", "exact"] {
        for keep in POLICIES {
            for cluster in CLUSTERINGS {
                let options = format!("docs --verify {verify} --keep {keep} --cluster {cluster}");
                let results = place.dedup(&options);
                everything_is_accounted_for(&texts, &results, &options);
            }
        }
    }
}

#[track_caller]
fn everything_is_accounted_for(texts: &[String], results: &Results, options: &str) {
    let kept = kept_documents(results);
    let kept_ids: BTreeSet<usize> = kept.iter().map(|(id, _)| *id).collect();
    assert_eq!(
        kept_ids.len(),
        kept.len(),
        "{options}: a document is kept twice"
    );
    for (id, text) in &kept {
        assert_eq!(*text, texts[*id], "{options}");
    }
    let quarter = texts.len().div_ceil(FORMS.len());
    let removed_ids: BTreeSet<usize> = results
        .removed
        .iter()
        .map(|line| id_in(line, "id"))
        .collect();
    assert_eq!(
        removed_ids.len(),
        results.removed.len(),
        "{options}: a document is removed twice"
    );
    assert!(removed_ids.is_disjoint(&kept_ids), "{options}");
    assert_eq!(removed_ids.len() + kept_ids.len(), texts.len(), "{options}");
    assert!(
        removed_ids.len() > 50,
        "{options}: {} removed",
        removed_ids.len()
    );
    for line in &results.removed {
        let kept_id = id_in(line, "kept_id");
        assert!(kept_ids.contains(&kept_id), "{options}: {line}");
        for (id, file, row) in [("id", "file", "row"), ("kept_id", "kept_file", "kept_row")] {
            let id = id_in(line, id);
            assert_eq!(line[file], FORMS[id / quarter].0, "{options}: {line}");
            assert_eq!(line[row], id % quarter, "{options}: {line}");
        }
    }
    assert_eq!(results.count("omitted_pairs"), 0);
}

#[test]
fn exact_similarities_match_an_independent_count() {
    let texts = families(60, 8, 80);
    let place = corpus_of(&texts);
    let of = |line: &Value, field: &str| &*texts[id_in(line, field)];
    for threshold in [0.5, 0.8, 0.9] {
        for options in [
            "--cluster greedy",
            "--cluster greedy --keep longest",
            "--cluster connected",
        ] {
            let results = place.dedup(&format!(
                "docs --verify exact --threshold {threshold} {options}"
            ));
            assert!(results.removed.len() > 20);
            for (line, written) in results.removed.iter().zip(&results.removed_lines) {
                let counted = jaccard(of(line, "id"), of(line, "kept_id"));
                assert_eq!(number_in(written, "similarity"), counted, "{written}");
                let counted_lost = lost(of(line, "id"), of(line, "kept_id"));
                assert_eq!(number_in(written, "lost"), counted_lost, "{written}");
                if options.contains("greedy") {
                    assert!(counted >= threshold, "{written}");
                } else if line.get("via_id").is_some() {
                    let link = jaccard(of(line, "id"), of(line, "via_id"));
                    assert_eq!(number_in(written, "via_similarity"), link, "{written}");
                    assert!(link >= threshold, "{written}");
                }
            }
        }
    }
}

#[test]
fn exact_pairs_match_an_independent_count() {
    const FAMILIES: usize = 60;
    let texts = families(FAMILIES, 8, 80);
    let place = corpus_of(&texts);
    for threshold in [0.5, 0.8, 1.0] {
        // Families share no shingle, and bands of one slot miss no pair within them.
        let mut expected = Vec::new();
        for a in 0..texts.len() {
            for b in (a + FAMILIES..texts.len()).step_by(FAMILIES) {
                let similarity = jaccard(&texts[a], &texts[b]);
                if similarity >= threshold {
                    expected.push((a, b, similarity));
                }
            }
        }
        let options = format!("--verify exact --threshold {threshold} --bands 128 --rows 1");
        let run = place.run(&format!("pairs docs --output - --quiet {options}"));
        let found = String::from_utf8(run.succeeded().stdout).unwrap();
        let pair = |written: &str| {
            let line: Value = serde_json::from_str(written).unwrap();
            let similarity = number_in(written, "similarity");
            (id_in(&line, "id_a"), id_in(&line, "id_b"), similarity)
        };
        let mut found: Vec<_> = found.lines().map(pair).collect();
        assert!(found.len() > 20, "{options}");
        // Identical documents take the place of the first of them.
        found.sort_by_key(|(a, b, _)| (*a, *b));
        assert!(found == expected, "{options}");
    }
}

#[test]
fn deduplicating_the_output_removes_nothing() {
    let texts = families(80, 8, 80);
    let place = corpus_of(&texts);
    for verify in ["signature", "exact"] {
        for keep in POLICIES {
            for threshold in [0.6, 0.8] {
                let options = format!("--verify {verify} --keep {keep} --threshold {threshold}");
                let first = place.dedup(&format!("docs {options}"));
                assert!(first.count("removed") > 100, "{options}");
                assert_eq!(first.count("omitted_pairs"), 0);
                let rerun = format!("dedup out/kept --output second --overwrite {options}");
                place.run(&rerun).succeeded();
                let second = Results::of(&place.path("second"));
                assert_eq!(second.count("removed"), 0, "{options}");
                assert_eq!(kept_documents(&second), kept_documents(&first), "{options}");
            }
        }
    }
}

#[test]
fn keep_longest_keeps_the_longest() {
    // Length is counted in bytes; words beyond ASCII have more bytes than characters.
    let texts = families(60, 8, 80);
    let place = corpus_of(&texts);
    for cluster in CLUSTERINGS {
        let results = place.dedup(&format!(
            "docs --verify exact --keep longest --cluster {cluster}"
        ));
        for line in &results.removed {
            let (id, kept_id) = (id_in(line, "id"), id_in(line, "kept_id"));
            let (removed, kept) = (texts[id].len(), texts[kept_id].len());
            assert!(
                removed < kept || removed == kept && kept_id < id,
                "{cluster}: {line}"
            );
        }
    }
}

#[test]
fn connected_keeps_one_document_per_component() {
    let texts = families(60, 8, 80);
    let place = corpus_of(&texts);
    for verify in ["signature", "exact"] {
        let mut component: Vec<usize> = (0..texts.len()).collect();
        for pair in place.pairs(&format!("docs --verify {verify}")) {
            let (a, b) = (
                component[id_in(&pair, "id_a")],
                component[id_in(&pair, "id_b")],
            );
            let (low, high) = (a.min(b), a.max(b));
            component
                .iter_mut()
                .filter(|of| **of == high)
                .for_each(|of| *of = low);
        }
        let results = place.dedup(&format!("docs --verify {verify} --cluster connected"));
        let ids = |line: &Value| (id_in(line, "id"), id_in(line, "kept_id"));
        let kept: BTreeMap<usize, usize> = results.removed.iter().map(ids).collect();
        let expected: BTreeMap<usize, usize> = (0..)
            .zip(component)
            .filter(|(id, first)| id != first)
            .collect();
        assert_eq!(kept, expected, "{verify}");
    }
}

// Ways to run

/// Some MB of families in files of every form, with empty, short and long documents among them.
fn large_corpus() -> Place {
    let mut texts = families(500, 6, 100);
    for i in 0..texts.len() / 40 {
        texts[40 * i] = ["", "short", "?!", "two words"][i % 4].to_owned();
    }
    // Long documents, so that batches end after uneven numbers of them.
    for i in 0..10 {
        texts[300 * i] = text(1_000 + i as u64 % 4, 30_000);
    }
    corpus_of(&texts)
}

/// The names of the files that differ between two runs.
fn difference(a: &BTreeMap<String, Vec<u8>>, b: &BTreeMap<String, Vec<u8>>) -> Vec<String> {
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let differs = |name: &&String| a.get(*name) != b.get(*name);
    names.into_iter().filter(differs).cloned().collect()
}

#[test]
fn results_ignore_threads_batches_and_backend() {
    let place = large_corpus();
    let mut results: HashMap<String, BTreeMap<String, Vec<u8>>> = HashMap::new();
    for verify in ["signature", "exact"] {
        for keep in POLICIES {
            for cluster in CLUSTERINGS {
                let task = format!("--verify {verify} --keep {keep} --cluster {cluster}");
                let run = |way: &str| {
                    place.dedup(&format!("docs {task} {way}"));
                    lasting_files_in(&place.path("out"))
                };
                let plain = run("--threads 1 --batch-mib 1 --backend scalar");
                assert_eq!(plain.len(), 5 + FORMS.len(), "{:?}", plain.keys());
                let mut ways = vec!["--threads 2 --batch-mib 64 --backend simd"];
                if (keep, cluster) == ("first", "greedy") {
                    // Change one option at a time, so that a difference has one cause.
                    ways.extend([
                        "--threads 2 --batch-mib 1 --backend scalar",
                        "--threads 1 --batch-mib 64 --backend scalar",
                        "--threads 1 --batch-mib 1 --backend simd",
                        "--threads 1 --batch-mib 1 --backend auto",
                        "",
                    ]);
                }
                for way in ways {
                    let differing = difference(&run(way), &plain);
                    assert!(differing.is_empty(), "{differing:?} with {task} {way}");
                }
                results.insert(task, plain);
            }
        }
    }
    // The tasks have different results, or the test would prove nothing.
    let distinct: HashSet<_> = results
        .values()
        .map(|files| &files["removed.jsonl"])
        .collect();
    assert_eq!(distinct.len(), results.len());
}

#[test]
fn pairs_ignore_threads_batches_and_backend() {
    let place = large_corpus();
    for name in ["pairs.jsonl", "pairs.csv", "pairs.parquet"] {
        let run = |way: &str| {
            let command = format!("pairs docs -o {name} --overwrite --verify exact {way}");
            place.run(&command).succeeded();
            place.read(name)
        };
        let plain = run("--threads 1 --batch-mib 1 --backend scalar");
        assert!(
            plain == run("--threads 2 --batch-mib 64 --backend simd"),
            "{name}"
        );
    }
}
