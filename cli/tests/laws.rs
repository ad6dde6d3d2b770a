//! Laws that hold for every set, every corpus and every way to run.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use proptest::prelude::*;
use serde_json::Value;
use simgpu::backend::Backend;
use simgpu::pipeline::{ShingleSets, Signatures};
use simgpu::scheme::{Hashes, Slots};
use simgpu::scheme::{Scheme, Width};
use unicode_segmentation::UnicodeSegmentation;

use crate::support::{
    Place, Results, edited, families, gzip, lasting_files_in, number_in, numbered_lines, parquet,
    parse_lines, strings, text, zstd,
};

// Signatures of sets

/// Signs sets of shingle hashes, cut to the scheme's width, and returns their slots as u64.
fn sign(scheme: &str, backend: Backend, num_perm: u32, sets: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let scheme = Scheme::named(scheme)
        .unwrap()
        .with_num_perm(num_perm)
        .unwrap();
    let signer = backend.signer(&scheme).unwrap();
    let flat = sets.concat();
    let high_halves: Vec<u32> = flat.iter().map(|hash| high_half(*hash)).collect();
    let hashes = match scheme.family().hash_width() {
        Width::U32 => Hashes::U32(&high_halves),
        Width::U64 => Hashes::U64(&flat),
    };
    let ends = sets.iter().scan(0, |end, set| {
        *end += set.len() as i64;
        Some(*end)
    });
    let offsets: Vec<i64> = [0].into_iter().chain(ends).collect();
    let sets = ShingleSets::new(hashes, &offsets).unwrap();
    let mut signatures = Signatures::new(scheme.num_perm(), signer.slot_width());
    signatures.sign(&*signer, &sets).unwrap();
    let row = |i| match signatures.row(i) {
        Slots::U32(slots) => slots.iter().copied().map(u64::from).collect(),
        Slots::U64(slots) => slots.to_vec(),
    };
    (0..signatures.len()).map(row).collect()
}

fn high_half(hash: u64) -> u32 {
    u32::try_from(hash >> 32).unwrap()
}

fn any_scheme() -> impl Strategy<Value = &'static str> {
    prop::sample::select(Scheme::names().collect::<Vec<_>>())
}

fn any_cpu_backend() -> impl Strategy<Value = Backend> {
    prop::sample::select(vec![Backend::Scalar, Backend::Simd])
}

/// Hashes over the whole range, and at its ends, where arithmetic overflows.
fn any_set() -> impl Strategy<Value = Vec<u64>> {
    let hash = prop_oneof![
        4 => any::<u64>(),
        1 => prop::sample::select(vec![0, 1, u64::MAX, u64::MAX << 32, (1 << 61) - 1, 1 << 63]),
    ];
    prop::collection::vec(hash, 0..70)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn order_and_repeats_do_not_matter(
        scheme in any_scheme(),
        backend in any_cpu_backend(),
        num_perm in 1..70u32,
        orders in any_set().prop_flat_map(|set| (Just(set.clone()), Just(set).prop_shuffle())),
        repeats in 0..4usize,
    ) {
        let (set, shuffled) = orders;
        let repeated = shuffled.repeat(1 + repeats);
        let reversed: Vec<u64> = set.iter().rev().copied().collect();
        let rows = sign(scheme, backend, num_perm, &[set, shuffled, repeated, reversed]);
        prop_assert!(rows.iter().all(|row| *row == rows[0]));
    }

    #[test]
    fn a_union_signs_as_the_slotwise_minimum(
        scheme in any_scheme(),
        backend in any_cpu_backend(),
        num_perm in 1..70u32,
        a in any_set(),
        b in any_set(),
    ) {
        let sets = [a.clone(), b.clone(), [a, b].concat()];
        let rows = sign(scheme, backend, num_perm, &sets);
        // The empty set adds nothing, whatever its slots: cuDF's are zeros, less than any other.
        let minimum: Vec<u64> = match (sets[0].is_empty(), sets[1].is_empty()) {
            (true, _) => rows[1].clone(),
            (_, true) => rows[0].clone(),
            _ => rows[0].iter().zip(&rows[1]).map(|(a, b)| *a.min(b)).collect(),
        };
        prop_assert_eq!(&rows[2], &minimum);
    }

    #[test]
    fn equal_sets_have_equal_rows(
        scheme in any_scheme(),
        num_perm in 1..70u32,
        set in any_set(),
        before in prop::collection::vec(any_set(), 0..5),
        after in prop::collection::vec(any_set(), 0..5),
    ) {
        let alone = sign(scheme, Backend::Scalar, num_perm, std::slice::from_ref(&set));
        let at = before.len();
        let surrounded = [before, vec![set], after].concat();
        let by_simd = sign(scheme, Backend::Simd, num_perm, &surrounded);
        prop_assert_eq!(&by_simd[at], &alone[0]);
        prop_assert_eq!(sign(scheme, Backend::Scalar, num_perm, &surrounded), by_simd);
    }
}

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

// Large buckets

/// Fifty texts of 400 words, each with one edit.
fn near_identical() -> Vec<String> {
    let one = text(1, 400);
    (0..50).map(|seed| edited(&one, seed, 1)).collect()
}

#[test]
fn one_group_leaves_nothing_out() {
    let texts = near_identical();
    let place = Place::with_texts(&texts);
    for keep in POLICIES {
        for cluster in CLUSTERINGS {
            for verify in ["signature", "exact"] {
                let options = format!("--keep {keep} --cluster {cluster} --verify {verify}");
                let results = place.dedup(&format!("in.jsonl --max-bucket 4 {options}"));
                let counts = ["kept", "removed", "omitted_pairs"].map(|name| results.count(name));
                assert_eq!(counts, [1, 49, 0], "{options}");
                // One comparison per removed document.
                assert_eq!(results.count("candidate_pairs"), 49, "{options}");
            }
        }
    }
}

/// More documents than the default of `--max-bucket`.
const MANY: u64 = 4_200;

#[test]
fn a_large_group_takes_little_memory() {
    let one = text(1, 100);
    let place = Place::with_texts((0..MANY).map(|seed| edited(&one, seed, 1)));
    let results = place.dedup("in.jsonl --threshold 0.7");
    let counts = ["kept", "omitted_pairs"].map(|name| results.count(name));
    assert_eq!(counts, [1, 0]);
    assert!(results.count("candidate_pairs") < MANY);
    let run: Value = serde_json::from_slice(&place.read("out/run.json")).unwrap();
    let peak_bytes = run["peak_memory_bytes"].as_u64().unwrap();
    assert!(peak_bytes < 100_000_000, "{peak_bytes}");
}

#[test]
fn pairs_of_large_groups_are_all_found() {
    let one = text(1, 20);
    let near = Place::with_texts((0..MANY).map(|i| format!("{one} own{i}")));
    let same = Place::with_texts((0..MANY).map(|_| &one));
    let pairs = |place: &Place, options: &str| {
        let run = place.run(&format!(
            "pairs in.jsonl {options} --dry-run --report json --quiet"
        ));
        let report: Value = serde_json::from_slice(&run.succeeded().stdout).unwrap();
        report["counts"]["similar_pairs"].as_u64().unwrap()
    };
    let all = MANY * (MANY - 1) / 2;
    // Any two share 16 of 18 shingles, and so one of the bands.
    assert_eq!(pairs(&near, "--bands 64 --rows 2"), all);
    assert_eq!(pairs(&same, ""), all);
    assert_eq!(pairs(&same, "--identical star"), MANY - 1);
}

#[test]
fn dedup_reports_how_many_pairs_it_omits() {
    let texts = near_identical();
    let place = Place::with_texts(&texts);
    // Above the similarity of the texts, all are kept, and share their buckets.
    let options = "in.jsonl --threshold 0.999 --bands 16 --rows 8";
    let all_pairs = 50 * 49 / 2;
    for cluster in CLUSTERINGS {
        let options = format!("{options} --cluster {cluster}");
        let unbounded = place.dedup(&options);
        let counts = ["kept", "candidate_pairs", "omitted_pairs", "large_buckets"];
        assert_eq!(
            counts.map(|name| unbounded.count(name)),
            [50, all_pairs, 0, 0]
        );
        let run = place
            .run(&format!(
                "dedup {options} -o bounded --overwrite --max-bucket 4 --quiet"
            ))
            .succeeded();
        // A warning of what a result lacks is printed with --quiet, too.
        assert!(run.stderr.starts_with("warning: up to "), "{}", run.stderr);
        assert!(run.stderr.contains("--max-bucket"), "{}", run.stderr);
        let bounded = Results::of(&place.path("bounded"));
        let (compared, omitted) = (
            bounded.count("candidate_pairs"),
            bounded.count("omitted_pairs"),
        );
        assert!(compared < all_pairs, "{compared}");
        assert!(compared + omitted >= all_pairs, "{compared} {omitted}");
        let stated = format!("up to {omitted} pairs");
        assert!(
            run.stderr.replace(',', "").contains(&stated),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn identical_documents_form_stars_on_request() {
    let mut texts = vec![text(1, 50); 10];
    texts.push(edited(&texts[0], 1, 1));
    let place = Place::with_texts(texts);
    let all = place.pairs("in.jsonl --threshold 0.5");
    assert_eq!(all.len(), 10 * 9 / 2 + 10);
    let star = place.pairs("in.jsonl --threshold 0.5 --identical star");
    assert_eq!(star.len(), 10);
    assert!(star.iter().all(|pair| id_in(pair, "row_a") == 0));
}

#[test]
fn too_many_pairs_end_with_exit_code_3() {
    let place = Place::with_texts(vec![text(1, 50); 10]);
    for quiet in ["", "--quiet"] {
        for output in ["p.jsonl", "p.csv", "p.parquet", "-"] {
            let overwrite = if output == "-" { "" } else { "--overwrite" };
            let run = place.run(&format!(
                "pairs in.jsonl -o {output} {overwrite} --max-pairs 7 {quiet}"
            ));
            assert_eq!(run.code, Some(3), "{output}: {}", run.stderr);
            assert!(run.stderr.contains("--max-pairs"), "{}", run.stderr);
        }
    }
    assert_eq!(parse_lines(&place.read("p.jsonl")).len(), 7);
    // As many as there are is not too many.
    place
        .run("pairs in.jsonl -o p.jsonl --overwrite --max-pairs 45")
        .succeeded();
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
