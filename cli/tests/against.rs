//! `dedup` and `pairs` with a reference: the definition, by the similar pairs that a search without one lists.

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Place, files_in, lines_of, parse_lines};

/// The texts of a reference and of an input, and a folder with both. The id of a document is its number.
struct Sides {
    place: Place,
    texts: Vec<String>,
    /// The number of documents of the reference.
    reference: usize,
}

impl Sides {
    /// Halves of some texts, by a seed. Some documents are on both sides.
    fn of(texts: &[String], seed: u64) -> Self {
        let is_old = |row: u64| {
            let hash = (row + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
                ^ seed.wrapping_mul(0xD6E8_FEB8_6659_FD93);
            (hash ^ hash >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 63 == 0
        };
        let (old, new): (Vec<_>, Vec<_>) = (0..).zip(texts).partition(|(row, _)| is_old(*row));
        let text = |(_, text): (u64, &String)| text.clone();
        let mut old: Vec<String> = old.into_iter().map(text).collect();
        let copies: Vec<String> = old.iter().step_by(19).cloned().collect();
        old.extend(old.iter().step_by(23).cloned().collect::<Vec<_>>());
        let reference = old.len();
        let texts: Vec<String> = old
            .into_iter()
            .chain(new.into_iter().map(text))
            .chain(copies)
            .collect();
        let place = Place::new();
        let lines = |rows: std::ops::Range<usize>| {
            lines_of(rows.map(|row| json!({"id": row, "text": texts[row]})))
        };
        place.write("old/part.jsonl", lines(0..reference));
        place.write("new.jsonl", lines(reference..texts.len()));
        Sides {
            place,
            texts,
            reference,
        }
    }

    /// The similar pairs of all documents, with their similarities.
    fn pairs(&self, options: &str) -> HashMap<(usize, usize), Option<f64>> {
        let pairs = self.place.pairs(&format!("old new.jsonl {options}"));
        let number = |id: &Value| usize::try_from(id.as_u64().unwrap()).unwrap();
        let pair = |line: Value| {
            let (a, b) = (number(&line["id_a"]), number(&line["id_b"]));
            ((a.min(b), a.max(b)), line["similarity"].as_f64())
        };
        pairs.into_iter().map(pair).collect()
    }

    /// The order in which documents are kept.
    fn order(&self, row: usize, is_longest: bool) -> (bool, std::cmp::Reverse<usize>, usize) {
        let is_input = row >= self.reference;
        let length = if is_input && is_longest {
            self.texts[row].len()
        } else {
            0
        };
        (is_input, std::cmp::Reverse(length), row)
    }

    /// The documents of each normalised text, those that are kept first before others.
    fn groups(&self, is_longest: bool) -> Vec<Vec<usize>> {
        let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (row, text) in self.texts.iter().enumerate() {
            let words: Vec<&str> = text.split_whitespace().collect();
            if !words.is_empty() {
                groups.entry(words.join(" ")).or_default().push(row);
            }
        }
        let mut groups: Vec<Vec<usize>> = groups.into_values().collect();
        for group in &mut groups {
            group.sort_by_key(|row| self.order(*row, is_longest));
        }
        groups.sort_by_key(|group| self.order(group[0], is_longest));
        groups
    }

    /// The kept document of each removed one: greedy clustering, by its definition.
    fn greedy(
        &self,
        pairs: &HashMap<(usize, usize), Option<f64>>,
        is_longest: bool,
    ) -> BTreeMap<usize, usize> {
        let (mut kept, mut removed): (Vec<usize>, BTreeMap<usize, usize>) = Default::default();
        for group in self.groups(is_longest) {
            let first = group[0];
            let mut best: Option<(usize, Option<f64>)> = None;
            for other in kept.iter().filter(|_| first >= self.reference) {
                let pair = (first.min(*other), first.max(*other));
                if let Some(similarity) = pairs.get(&pair)
                    && best.is_none_or(|(_, known)| *similarity > known)
                {
                    best = Some((*other, *similarity));
                }
            }
            let keeper = best.map_or(first, |(other, _)| other);
            if keeper == first {
                kept.push(first);
            }
            let inputs = group
                .into_iter()
                .filter(|row| *row >= self.reference && *row != keeper);
            removed.extend(inputs.map(|row| (row, keeper)));
        }
        removed
    }

    /// The same by connected components.
    fn connected(
        &self,
        pairs: &HashMap<(usize, usize), Option<f64>>,
        is_longest: bool,
    ) -> BTreeMap<usize, usize> {
        let mut above: Vec<usize> = (0..self.texts.len()).collect();
        fn root(above: &[usize], mut row: usize) -> usize {
            while above[row] != row {
                row = above[row];
            }
            row
        }
        let groups = self.groups(is_longest);
        let same = groups.iter().flat_map(|group| {
            let pairs = move |at: usize| group[at + 1..].iter().map(move |b| (group[at], *b));
            (0..group.len()).flat_map(pairs)
        });
        for (a, b) in pairs.keys().copied().chain(same) {
            if a.max(b) >= self.reference {
                let (a, b) = (root(&above, a), root(&above, b));
                above[a.max(b)] = a.min(b);
            }
        }
        let mut kept: HashMap<usize, usize> = HashMap::new();
        for group in &groups {
            // Groups come in order, and so do the documents of each.
            for row in group {
                let first = kept.entry(root(&above, *row)).or_insert(*row);
                if self.order(*row, is_longest) < self.order(*first, is_longest) {
                    *first = *row;
                }
            }
        }
        let inputs = groups
            .iter()
            .flatten()
            .filter(|row| **row >= self.reference);
        let named = inputs.map(|row| (*row, kept[&root(&above, *row)]));
        named.filter(|(row, kept)| row != kept).collect()
    }
}

const SEARCHES: [&str; 4] = [
    "--candidates lsh --verify exact",
    "--candidates lsh --verify signature",
    "--candidates lsh --verify none --bands 12 --rows 8",
    "--candidates join",
];

/// Compares results with the definition, of every clustering and keep policy, in memory and on disk.
fn check(sides: &Sides, search: &str) {
    let pairs = sides.pairs(&format!("-t 0.6 {search}"));
    for cluster in ["greedy", "connected"] {
        for keep in ["first", "longest"] {
            let expected = match cluster {
                "greedy" => sides.greedy(&pairs, keep == "longest"),
                _ => sides.connected(&pairs, keep == "longest"),
            };
            let mut results = Vec::new();
            for more in [
                "--threads 2",
                "--memory 1KB --threads 5",
                "--threads 1 --hold-mib 0",
            ] {
                if more.contains("hold") && !search.contains("exact") {
                    continue;
                }
                let options = format!(
                    "-t 0.6 {search} --cluster {cluster} --keep {keep} --max-bucket 1000000 {more}"
                );
                let options = if search.contains("join") {
                    options.replace("--max-bucket 1000000 ", "")
                } else {
                    options
                };
                sides
                    .place
                    .dedup(&format!("new.jsonl --against old {options}"));
                let mut files = files_in(&sides.place.path("out"));
                files.remove("run.json");
                results.push(files);
            }
            assert!(
                results.windows(2).all(|two| two[0] == two[1]),
                "{search} {cluster} {keep}"
            );
            let number = |id: &Value| usize::try_from(id.as_u64().unwrap()).unwrap();
            let removed = parse_lines(&results[0]["removed.jsonl"]);
            let found: BTreeMap<usize, usize> = removed
                .iter()
                .map(|line| (number(&line["id"]), number(&line["kept_id"])))
                .collect();
            assert_eq!(found, expected, "{search} {cluster} {keep}");
            for line in &removed {
                let is_old = number(&line["kept_id"]) < sides.reference;
                let place = if is_old {
                    ("reference", "part.jsonl")
                } else {
                    ("input", "new.jsonl")
                };
                assert_eq!(
                    (&line["kept_in"], &line["kept_file"]),
                    (&json!(place.0), &json!(place.1))
                );
            }
        }
    }
}

#[test]
fn results_are_those_of_the_definition() {
    let texts = crate::support::families(45, 4, 40);
    for (seed, search) in (0..).zip(SEARCHES) {
        check(&Sides::of(&texts, seed), search);
    }
}

#[test]
fn pairs_are_those_across() {
    let texts = crate::support::families(40, 4, 40);
    let sides = Sides::of(&texts, 9);
    for search in SEARCHES {
        let options = format!("-t 0.6 {search}");
        let mut expected = sides.pairs(&options);
        expected.retain(|(a, b), _| *a < sides.reference && *b >= sides.reference);
        for memory in ["", "--memory 1KB"] {
            let found = sides
                .place
                .pairs(&format!("new.jsonl --against old {options} {memory}"));
            let number = |id: &Value| usize::try_from(id.as_u64().unwrap()).unwrap();
            let found: HashMap<_, _> = found
                .iter()
                .map(|line| {
                    (
                        (number(&line["id_a"]), number(&line["id_b"])),
                        line["similarity"].as_f64(),
                    )
                })
                .collect();
            assert_eq!(found, expected, "{search}");
        }
    }
}

#[test]
fn a_copy_of_a_reference_leaves_nothing() {
    let texts = crate::support::families(20, 3, 30);
    let place = Place::new();
    let lines = |name: &str| {
        let documents = texts.iter().map(String::as_str).chain([""]);
        let records = documents.map(|text| json!({"id": name, "text": text}));
        place.write(&format!("{name}.jsonl"), lines_of(records));
    };
    ["a", "a2"].into_iter().for_each(lines);
    for cluster in ["greedy", "connected"] {
        let results = place.dedup(&format!("a2.jsonl --against a.jsonl --cluster {cluster}"));
        assert_eq!(
            parse_lines(&results.kept("a2.jsonl")),
            [json!({"id": "a2", "text": ""})]
        );
        assert_eq!(results.count("removed_for_reference"), texts.len() as u64);
    }
}

#[test]
fn a_reference_may_have_other_fields() {
    let place = Place::new();
    let old = json!({"key": 7, "title": "one two three", "body": "four five six"});
    place.write("old.jsonl", lines_of([old]));
    let new = json!({"id": 1, "text": "one two three\nfour five six"});
    place.write("new.jsonl", lines_of([new]));
    let fields = "--against-text-field title --against-text-field body --against-id-field key";
    let results = place.dedup(&format!("new.jsonl --against old.jsonl {fields}"));
    assert_eq!(
        results.removals(),
        [(json!(1), json!(7), json!("identical"))]
    );
    let run = place
        .run(&format!(
            "dedup new.jsonl --against old.jsonl {fields} -o other"
        ))
        .succeeded();
    assert!(
        run.stderr.contains("reference  1 document"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("for the reference"), "{}", run.stderr);
}

#[test]
fn what_a_reference_cannot_be_is_refused() {
    let place = Place::new();
    place.write(
        "new.jsonl",
        lines_of([json!({"id": 1, "text": "one two three"})]),
    );
    place.write("old.jsonl", lines_of([json!({"text": "one two three"})]));
    let refused = |arguments: &str, code: i32, phrases: &[&str]| {
        place
            .run(&format!("dedup new.jsonl -o out {arguments}"))
            .refused(code, phrases);
    };
    refused(
        "--against new.jsonl",
        1,
        &["new.jsonl", "also in --against"],
    );
    refused("--against -", 1, &["a reference cannot be a stream"]);
    refused("--against nothing.jsonl", 1, &["nothing.jsonl"]);
    refused("--against-id-field key", 2, &["add --against"]);
    refused(
        "--against old.jsonl --against-id-field id",
        1,
        &["old.jsonl"],
    );
}

/// The first texts of a corpus.
fn texts_of(path: &Path, most: usize) -> Vec<String> {
    let stream = zstd::Decoder::new(std::fs::File::open(path).unwrap()).unwrap();
    let lines = BufReader::new(stream).lines().take(most);
    let text = |line: std::io::Result<String>| {
        let record: Value = serde_json::from_str(&line.unwrap()).unwrap();
        record["text"].as_str().unwrap().to_owned()
    };
    lines.map(text).collect()
}

#[test]
#[ignore = "takes minutes"]
#[allow(clippy::print_stdout, reason = "a skipped test prints why")]
fn corpora_lose_what_the_definition_says() {
    let shared = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    for name in [
        "driver-docs",
        "terms-of-service",
        "arxiv-abstracts",
        "licenses",
    ] {
        let path = shared.join(name).with_extension("jsonl.zst");
        if !path.exists() {
            println!("skipped: ../shared/data is not there");
            continue;
        }
        let texts = texts_of(&path, 1_500);
        for seed in 0..5 {
            let sides = Sides::of(&texts, seed);
            SEARCHES.iter().for_each(|search| check(&sides, search));
        }
    }
}
