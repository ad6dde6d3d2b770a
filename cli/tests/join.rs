//! The exact join against comparisons of all pairs, and against numbers of pairs that others counted.

use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{Numbers, Place, lines_of};

/// Baskets of tokens: some from few items, some near-copies of others.
fn baskets(seed: u64, count: usize, items: usize) -> Vec<BTreeSet<usize>> {
    let mut numbers = Numbers(seed);
    let mut baskets: Vec<BTreeSet<usize>> = Vec::new();
    for _ in 0..count {
        let mut basket: BTreeSet<usize> = match numbers.below(3) {
            0 if !baskets.is_empty() => baskets[numbers.below(baskets.len())].clone(),
            _ => {
                let len = 1 + numbers.below(24);
                (0..len).map(|_| numbers.below(items)).collect()
            }
        };
        for _ in 0..numbers.below(3) {
            basket.insert(numbers.below(items));
        }
        baskets.push(basket);
    }
    baskets
}

fn jaccard(a: &BTreeSet<usize>, b: &BTreeSet<usize>) -> f64 {
    let shared = a.intersection(b).count();
    shared as f64 / (a.len() + b.len() - shared) as f64
}

fn records(baskets: &[BTreeSet<usize>]) -> Vec<u8> {
    let records = baskets.iter().enumerate().map(|(id, basket)| {
        let tokens: Vec<String> = basket.iter().map(|item| format!("item {item}")).collect();
        json!({"id": id, "tokens": tokens})
    });
    lines_of(records)
}

/// Pairs of ids, with the similarity in units of 10^-9: JSON's reader rounds.
type Found = BTreeMap<(u64, u64), i64>;

#[allow(clippy::cast_possible_truncation, reason = "a similarity is at most 1")]
fn rounded(similarity: f64) -> i64 {
    (similarity * 1e9).round() as i64
}

fn by_brute_force(baskets: &[BTreeSet<usize>], threshold: f64) -> Found {
    let ids = || (0u64..).zip(baskets);
    let pairs = ids().flat_map(|a| ids().map(move |b| (a, b)));
    pairs
        .filter(|((a, _), (b, _))| a < b)
        .map(|((a, of_a), (b, of_b))| ((a, b), jaccard(of_a, of_b)))
        .filter(|(_, similarity)| *similarity >= threshold)
        .map(|(pair, similarity)| (pair, rounded(similarity)))
        .collect()
}

fn found(pairs: &[Value]) -> Found {
    let id = |pair: &Value, name: &str| pair[name].as_u64().unwrap();
    let pair = |pair: &Value| {
        let similarity = pair["similarity"].as_f64().unwrap();
        ((id(pair, "id_a"), id(pair, "id_b")), rounded(similarity))
    };
    pairs.iter().map(pair).collect()
}

#[test]
fn a_join_finds_all_pairs_of_baskets() {
    for (seed, count, items) in [(1, 300, 12), (2, 300, 60), (3, 250, 4000)] {
        let baskets = baskets(seed, count, items);
        let place = Place::new();
        place.write("in.jsonl", records(&baskets));
        for threshold in [0.3, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 0.95, 1.0] {
            let expected = by_brute_force(&baskets, threshold);
            let options = format!("in.jsonl --unit tokens --threshold {threshold}");
            let joined = place.pairs(&format!("{options} --candidates join --threads 1"));
            assert!(found(&joined) == expected, "{options}");
            // The default for tokens.
            for same in [
                "",
                "--candidates auto --threads 4 --batch-mib 1",
                "--hold-mib 0",
            ] {
                assert!(
                    place.pairs(&format!("{options} {same}")) == joined,
                    "{same}"
                );
            }
        }
    }
}

/// With whole weights, similarities are divisions of two whole numbers.
#[test]
fn a_join_finds_all_pairs_of_weighted_tokens() {
    let mut numbers = Numbers(9);
    for seed in 0..3 {
        let sets: Vec<BTreeMap<usize, u64>> = baskets(20 + seed, 200, 40)
            .into_iter()
            .map(|basket| {
                let weight = |numbers: &mut Numbers| 1 + (numbers.below(9) as u64).pow(2);
                basket
                    .into_iter()
                    .map(|item| (item, weight(&mut numbers)))
                    .collect()
            })
            .collect();
        let records = sets.iter().enumerate().map(|(id, set)| {
            let tokens: Vec<String> = set.keys().map(|item| format!("item {item}")).collect();
            json!({"id": id, "tokens": tokens, "w": set.values().collect::<Vec<_>>()})
        });
        let place = Place::new();
        place.write("in.jsonl", lines_of(records));
        let similarity = |a: &BTreeMap<usize, u64>, b: &BTreeMap<usize, u64>| {
            let items: BTreeSet<&usize> = a.keys().chain(b.keys()).collect();
            let weights = items.iter().map(|item| {
                let weight = |set: &BTreeMap<usize, u64>| set.get(*item).copied().unwrap_or(0);
                (weight(a), weight(b))
            });
            let (mut lesser, mut greater) = (0, 0);
            for (a, b) in weights {
                lesser += a.min(b);
                greater += a.max(b);
            }
            lesser as f64 / greater as f64
        };
        for threshold in [0.3, 0.5, 0.7, 0.9] {
            let ids = || (0u64..).zip(&sets);
            let pairs = ids().flat_map(|a| ids().map(move |b| (a, b)));
            let expected: Found = pairs
                .filter(|((a, _), (b, _))| a < b)
                .map(|((a, of_a), (b, of_b))| ((a, b), similarity(of_a, of_b)))
                .filter(|(_, similarity)| *similarity >= threshold)
                .map(|(pair, similarity)| (pair, rounded(similarity)))
                .collect();
            let options = format!(
                "in.jsonl --unit tokens --weights-field w --candidates join --threshold {threshold}"
            );
            assert!(found(&place.pairs(&options)) == expected, "{options}");
        }
    }
}

#[test]
fn a_join_of_texts_finds_all_pairs_of_words() {
    let mut numbers = Numbers(7);
    let mut texts: Vec<Vec<String>> = Vec::new();
    for i in 0..120 {
        let mut words: Vec<String> = match texts.last() {
            Some(last) if i % 3 > 0 => last.clone(),
            _ => (0..80)
                .map(|_| format!("w{}", numbers.below(500)))
                .collect(),
        };
        for _ in 0..numbers.below(5) {
            let at = numbers.below(words.len());
            words[at] = format!("x{}", numbers.below(500));
        }
        texts.push(words);
    }
    // Sets of shingles as numbers, in a way that has nothing to do with hashes.
    let mut known: BTreeMap<&[String], usize> = BTreeMap::new();
    let sets: Vec<BTreeSet<usize>> = texts
        .iter()
        .map(|words| {
            let shingles = words.windows(5).map(|shingle| {
                let next = known.len();
                *known.entry(shingle).or_insert(next)
            });
            shingles.collect()
        })
        .collect();
    let place = Place::new();
    let record = |(id, words): (usize, &Vec<String>)| json!({"id": id, "text": words.join(" ")});
    place.write("in.jsonl", lines_of(texts.iter().enumerate().map(record)));
    for threshold in [0.5, 0.8, 0.9] {
        let expected = by_brute_force(&sets, threshold);
        assert!(expected.len() > 20);
        let options = format!("in.jsonl --threshold {threshold} --candidates join");
        assert!(found(&place.pairs(&options)) == expected, "{options}");
    }
}

#[test]
fn summary_and_report_say_that_nothing_is_missed() {
    let place = Place::new();
    place.write("in.jsonl", records(&baskets(4, 200, 40)));
    let options = "in.jsonl --unit tokens --output";
    let run = place.run(&format!("dedup {options} out")).succeeded();
    for phrase in [
        "100 %: an exact join misses no similar pair",
        "candidates: exact join",
    ] {
        assert!(run.stderr.contains(phrase), "{}", run.stderr);
    }
    let report: Value = serde_json::from_slice(&place.read("out/report.json")).unwrap();
    let parameters = &report["parameters"];
    assert_eq!(parameters["candidates"], "join");
    assert_eq!(parameters["recall_at_threshold"], 1.0);
    assert!(parameters["bands"].is_null() && parameters["rows"].is_null());
    assert!(report["max_bucket"].is_null());

    let run = place
        .run(&format!("dedup {options} lsh --candidates lsh"))
        .succeeded();
    assert!(
        run.stderr.contains("% expected for pairs"),
        "{}",
        run.stderr
    );
    let report: Value = serde_json::from_slice(&place.read("lsh/report.json")).unwrap();
    assert_eq!(report["parameters"]["candidates"], "lsh");
    assert!(report["parameters"]["bands"].is_u64());
}

#[test]
fn auto_leaves_common_tokens_to_lsh() {
    let place = Place::new();
    // Rare and common items: a join meets few pairs of equal tokens, or hundreds for each token.
    for (items, expected) in [(100_000, "join"), (60, "lsh")] {
        place.write("in.jsonl", records(&baskets(7, 5000, items)));
        let options = "pairs in.jsonl --unit tokens --threshold 0.5 --dry-run --report json";
        for memory in ["", " --memory 1MiB"] {
            let run = place.run(&format!("{options}{memory}")).succeeded();
            let report: Value = serde_json::from_slice(&run.stdout).unwrap();
            assert_eq!(
                report["parameters"]["candidates"], expected,
                "{items} items{memory}"
            );
        }
    }
}

#[test]
fn joins_refuse_what_they_cannot_do() {
    let place = Place::new();
    place.write("in.jsonl", records(&baskets(5, 4000, 100_000)));
    let run = |options: &str| place.run(&format!("pairs in.jsonl --unit tokens -o - {options}"));
    for (options, phrases) in [
        ("--verify signature", ["exact join", "--verify exact"]),
        ("--verify none", ["exact join", "--candidates lsh"]),
        ("--bands 16 --rows 8", ["--bands", "--candidates lsh"]),
        ("--seed 7", ["--seed", "--candidates lsh"]),
        ("--scheme fast", ["--scheme", "--candidates lsh"]),
        ("--backend scalar", ["--backend", "--candidates lsh"]),
    ] {
        let run = run(&format!("--candidates join {options}"));
        assert_eq!(run.code, Some(2), "{options}");
        for phrase in phrases {
            assert!(run.error().contains(phrase), "{options}: {}", run.error());
        }
    }
    // The default of --seed asks for no signatures.
    let run = run("--seed 1").succeeded();
    assert!(run.stderr.contains("exact join;"), "{}", run.stderr);
}

#[test]
fn sets_beyond_the_memory_limit_go_to_disk_or_through_lsh() {
    let place = Place::new();
    let many = baskets(6, 12_000, 100_000_000);
    place.write("in.jsonl", records(&many));
    let options = "pairs in.jsonl --unit tokens -o pairs.jsonl --overwrite --join-mib 1";
    let run = place.run(&format!("{options} --candidates join"));
    let run = run.succeeded();
    assert!(run.stderr.contains("goes on on disk"), "{}", run.stderr);
    let of_join = place.read("pairs.jsonl");
    place
        .run(&format!("{options}24 --candidates join"))
        .succeeded();
    assert!(place.read("pairs.jsonl") == of_join);
    let run = place.run(&format!("{options} --threads 3")).succeeded();
    assert!(run.stderr.contains("candidates: LSH"), "{}", run.stderr);
    let of_auto = place.read("pairs.jsonl");
    place
        .run("pairs in.jsonl --unit tokens -o pairs.jsonl --overwrite --candidates lsh")
        .succeeded();
    assert_eq!(place.read("pairs.jsonl"), of_auto);
}

/// Numbers of pairs that brute force counted, with exact integers.
#[test]
#[allow(clippy::print_stdout, reason = "a skipped test prints why")]
fn joins_find_the_counted_pairs_of_public_sets() {
    let data = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/sets");
    let Ok(counts) = std::fs::read(data.join("setjoin_counts_dev.json")) else {
        println!("skipped: ../shared/data/sets is not there");
        return;
    };
    let counts: Value = serde_json::from_slice(&counts).unwrap();
    let lines = |name: &str| {
        let file = std::fs::File::open(data.join(name)).unwrap();
        let lines = std::io::BufReader::new(zstd::Decoder::new(file).unwrap()).lines();
        lines.map(Result::unwrap).collect::<Vec<_>>()
    };
    let baskets = lines("groceries.csv.zst");
    let groceries: Vec<Vec<String>> = baskets
        .iter()
        .filter(|line| !line.is_empty())
        .map(|line| line.split(',').map(str::to_owned).collect())
        .collect();
    let mut users: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut movies: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in lines("movie-ratings/ratings.csv.zst").iter().skip(1) {
        let mut fields = line.split(',').map(str::to_owned);
        let (user, movie) = (fields.next().unwrap(), fields.next().unwrap());
        users.entry(user.clone()).or_default().push(movie.clone());
        movies.entry(movie).or_default().push(user);
    }
    let sets = [
        ("groceries", groceries),
        ("ml-small-users", users.into_values().collect()),
        ("ml-small-movies", movies.into_values().collect()),
    ];
    let place = Place::new();
    for (name, sets) in sets {
        let records = sets.iter().map(|tokens| json!({"tokens": tokens}));
        place.write("in.jsonl", lines_of(records));
        let of_set = &counts["sets"][name];
        assert_eq!(of_set["sets"], sets.len(), "{name}");
        for (threshold, expected) in of_set["pairs_jaccard_ge"].as_object().unwrap() {
            // Identical documents are those with the same tokens in the same order; the counted sets have no order.
            let options = format!(
                "pairs in.jsonl --unit tokens --threshold {threshold} --candidates join --dry-run --report json"
            );
            let run = place.run(&options).succeeded();
            let report: Value = serde_json::from_slice(&run.stdout).unwrap();
            assert_eq!(
                report["counts"]["similar_pairs"], *expected,
                "{name}, {threshold}"
            );
        }
    }
}
