//! `--measure contained`: what is removed is contained in what is kept, and the join misses nothing.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use crate::support::truth::Sets;
use crate::support::{Numbers, Place, json_lines, lasting_files_in, number_in, text};
use serde_json::Value;

/// Texts of 40 to 300 words, excerpts of them, some with words of their own, and copies.
fn made() -> Vec<String> {
    let mut random = Numbers(7);
    let mut texts: Vec<String> = Vec::new();
    for whole in 0..40 {
        let words = 40 + random.below(260);
        let long = text(1000 + whole, words);
        let words: Vec<&str> = long.split(' ').collect();
        for excerpt in 0..4 {
            let start = random.below(words.len() - 8);
            let len = 6 + random.below(words.len() - start - 6);
            let mut part = words[start..start + len].join(" ");
            if excerpt == 3 {
                part.push_str(&format!(" own{whole} words{whole}"));
            }
            texts.push(part);
        }
        texts.push(long.clone());
        if whole % 8 == 0 {
            texts.push(long);
        }
    }
    texts
}

fn shingles(text: &str) -> BTreeSet<String> {
    let words: Vec<&str> = text.split(' ').collect();
    match words.len() {
        0..5 => BTreeSet::from([words.join(" ")]),
        _ => words.windows(5).map(|run| run.join(" ")).collect(),
    }
}

/// The share of the shingles of the smaller one that the larger has.
fn contained(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f64 {
    a.intersection(b).count() as f64 / a.len().min(b.len()) as f64
}

fn row(line: &Value, field: &str) -> usize {
    usize::try_from(line[field].as_u64().unwrap()).unwrap()
}

/// Greedy clustering by its definition: the removed documents that are not identical to a kept one, with their kept ones.
fn greedy(sets: &[BTreeSet<String>], texts: &[String], threshold: f64) -> BTreeMap<usize, usize> {
    let mut order: Vec<usize> = (0..sets.len()).collect();
    order.sort_by_key(|row| (usize::MAX - sets[*row].len(), *row));
    let mut kept: Vec<usize> = Vec::new();
    let mut removed = BTreeMap::new();
    for row in order {
        let similar = kept.iter().map(|other| {
            let is_copy = texts[*other] == texts[row];
            (is_copy, contained(&sets[row], &sets[*other]), *other)
        });
        // The first of the most similar ones; a copy goes to its own text.
        let best = similar
            .filter(|(_, share, _)| *share >= threshold)
            .reduce(|best, next| {
                if (next.0, next.1) > (best.0, best.1) {
                    next
                } else {
                    best
                }
            });
        match best {
            Some((_, _, other)) => {
                removed.insert(row, other);
            }
            None => kept.push(row),
        }
    }
    removed
}

#[test]
fn the_join_removes_what_is_contained() {
    let texts = made();
    let sets: Vec<BTreeSet<String>> = texts.iter().map(|text| shingles(text)).collect();
    let place = Place::new();
    place.write("in.jsonl", json_lines(&texts));
    for threshold in [0.6, 1.0] {
        let options =
            format!("in.jsonl --measure contained --threshold {threshold} --candidates join");
        let results = place.dedup(&options);
        let found: BTreeMap<usize, usize> = results
            .removed
            .iter()
            .map(|line| (row(line, "row"), row(line, "kept_row")))
            .collect();
        assert_eq!(found, greedy(&sets, &texts, threshold), "{threshold}");
        assert!(found.len() > 100);
        assert_eq!(results.report["keep"], "largest");
        assert_eq!(results.report["parameters"]["measure"], "contained");
        assert_eq!(results.report["parameters"]["recall_at_threshold"], 1.0);
        let mut expected = BTreeSet::new();
        for b in 0..texts.len() {
            expected
                .extend((0..b).filter_map(|a| {
                    (contained(&sets[a], &sets[b]) >= threshold).then_some((a, b))
                }));
        }
        let pairs = place.pairs(&format!("{options} --memory 1KB"));
        let pairs: BTreeSet<(usize, usize)> = pairs
            .iter()
            .map(|line| (row(line, "row_a"), row(line, "row_b")))
            .collect();
        assert!(pairs == expected, "{threshold}");
    }
}

#[test]
fn nothing_is_lost_at_a_threshold_of_one() {
    let texts = made();
    let sets: Vec<BTreeSet<String>> = texts.iter().map(|text| shingles(text)).collect();
    let place = Place::new();
    place.write("in.jsonl", json_lines(&texts));
    for candidates in ["lsh", "join"] {
        let options =
            format!("in.jsonl --measure contained --threshold 1 --candidates {candidates}");
        let results = place.dedup(&options);
        assert!(results.removed.len() > 50, "{options}");
        for (line, written) in results.removed.iter().zip(&results.removed_lines) {
            let (removed, kept) = (row(line, "row"), row(line, "kept_row"));
            assert!(sets[removed].is_subset(&sets[kept]), "{written}");
            assert_eq!(number_in(written, "lost"), 0.0, "{written}");
        }
        assert_eq!(results.count("lost_shingles"), 0);
        assert!(results.count("removed_shingles") > 1000);
        let files = lasting_files_in(&place.path("out"));
        for machine in ["--threads 1", "--threads 2", "--threads 5", "--memory 1KB"] {
            place.dedup(&format!("{options} {machine}"));
            assert!(
                lasting_files_in(&place.path("out")) == files,
                "{options} {machine}"
            );
        }
    }
}

#[test]
fn summaries_say_what_is_lost() {
    let words = |range: std::ops::Range<usize>| {
        let words: Vec<String> = range.map(|at| format!("w{at}")).collect();
        words.join(" ")
    };
    // 46 shingles, of which the second text has 44; and a copy.
    let place = Place::with_texts([
        words(0..50),
        words(2..50),
        words(0..48) + " x y",
        words(0..50),
    ]);
    let summary = |options: &str| {
        let run = place.run(&format!("dedup in.jsonl -o out --overwrite {options}"));
        run.succeeded().stderr
    };
    let exact = summary("--threshold 0.8");
    // The second text loses none of its 44 shingles, the third 2 of 46.
    assert!(
        exact.contains("2.2 % of the shingles of removed documents that are not identical"),
        "{exact}"
    );
    let estimated = summary("--threshold 0.8 --verify signature");
    assert!(
        estimated.contains("cannot tell for 2 removed documents not compared exactly"),
        "{estimated}"
    );
    let contained = summary("--threshold 1 --measure contained");
    assert!(
        contained.contains("in one 10 times as large"),
        "{contained}"
    );
    for (options, remedy) in [
        ("--cluster connected", "pass --cluster greedy"),
        ("--keep longest", "leave out --keep longest"),
        ("--keep-by n", "leave out --keep-by"),
        ("--against in.jsonl", "leave out --against"),
        ("--verify none", "pass --verify exact"),
        ("--weights rarity", "leave out the weights"),
    ] {
        let command = format!("dedup in.jsonl -o refused --measure contained {options}");
        let run = place.run(&command);
        assert!(run.stderr.contains(remedy), "{options}: {}", run.stderr);
        assert!(!place.holds("refused"), "{options}");
    }
}

/// The pairs of documents of which one contains the other whole: each has the rarest element of the smaller one.
fn contained_whole(sets: &Sets) -> BTreeSet<(usize, usize)> {
    let mut holders: HashMap<u32, Vec<usize>> = HashMap::new();
    for document in 0..sets.len() {
        for element in sets.get(document) {
            holders.entry(*element).or_default().push(document);
        }
    }
    let mut pairs = BTreeSet::new();
    for document in 0..sets.len() {
        let set = sets.get(document);
        let Some(rarest) = set.iter().min_by_key(|element| holders[element].len()) else {
            continue;
        };
        for other in &holders[rarest] {
            if *other != document && is_subset(set, sets.get(*other)) {
                pairs.insert((document.min(*other), document.max(*other)));
            }
        }
    }
    pairs
}

fn is_subset(a: &[u32], b: &[u32]) -> bool {
    let mut rest = b.iter();
    a.iter()
        .all(|element| rest.by_ref().any(|other| other == element))
}

/// Checks a corpus that lies beside the repository, if it is there.
#[allow(
    clippy::print_stdout,
    reason = "a skipped test prints why, and recall is for results/"
)]
fn check(name: &str) {
    let corpus: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../shared/data")
        .join(name);
    if !corpus.exists() {
        println!("skipped: ../shared/data is not there");
        return;
    }
    let sets = Sets::read(&corpus).unwrap();
    let expected = contained_whole(&sets);
    let jaccard = |(a, b): &(usize, usize)| {
        let [a, b] = [a, b].map(|row| sets.get(*row).len());
        a.min(b) as f64 / a.max(b) as f64
    };
    let place = Place::new();
    for candidates in ["lsh", "join"] {
        let options = format!(
            "{} --measure contained --threshold 1 --candidates {candidates}",
            corpus.display()
        );
        let results = place.dedup(&options);
        for line in &results.removed {
            let [removed, kept] = ["row", "kept_row"].map(|field| sets.get(row(line, field)));
            assert!(is_subset(removed, kept), "{line}");
        }
        let pairs = place.pairs(&format!("{options} --max-pairs 100000000"));
        let found: BTreeSet<(usize, usize)> = pairs
            .iter()
            .map(|line| (row(line, "row_a"), row(line, "row_b")))
            .collect();
        if candidates == "join" {
            assert!(found == expected, "{} of {}", found.len(), expected.len());
            continue;
        }
        assert!(found.is_subset(&expected));
        let parameter = |name: &str| results.report["parameters"][name].as_u64().unwrap();
        let (bands, rows) = (parameter("bands") as f64, parameter("rows") as f64);
        let stated: f64 = expected
            .iter()
            .map(|pair| 1.0 - (1.0 - jaccard(pair).powf(rows)).powf(bands))
            .sum();
        println!(
            "| {name} | {} contained pairs | {} removed | LSH finds {} | by their sizes {stated:.1} |",
            expected.len(),
            results.removed.len(),
            found.len()
        );
        let error = (found.len() as f64 - stated).abs() / stated.max(1.0);
        assert!(error < 0.05, "{error}");
    }
}

#[test]
fn licenses_lose_nothing_contained() {
    check("licenses.jsonl.zst");
}

#[test]
#[ignore = "takes minutes"]
fn other_corpora_lose_nothing_contained() {
    for name in ["driver-docs", "terms-of-service", "arxiv-abstracts"] {
        check(&format!("{name}.jsonl.zst"));
    }
}
