//! `--count`: every command compares bags of shingles.

use serde_json::{Value, json};

use crate::support::{Place, lines_of};

/// As sets of words, 0 and 1 are equal and 2 shares two words of three with them. As bags they differ.
const VERSES: [&str; 4] = [
    "row row row your boat",
    "row your boat",
    "row row row your ship",
    "row row row your boat",
];

/// Rows and similarity of all pairs, in order.
fn pairs_of(place: &Place, options: &str) -> Vec<(u64, u64, f64)> {
    let pairs = place.pairs(&format!("{options} --threshold 0.1 --bands 128 --rows 1"));
    let number = |pair: &Value, name: &str| pair[name].as_u64().unwrap();
    let of = |pair: &Value| {
        let similarity = pair["similarity"].as_f64().unwrap();
        (number(pair, "row_a"), number(pair, "row_b"), similarity)
    };
    let mut pairs: Vec<_> = pairs.iter().map(of).collect();
    pairs.sort_by_key(|(a, b, _)| (*a, *b));
    pairs
}

#[test]
fn bags_have_other_similarities_than_sets() {
    let place = Place::with_texts(VERSES);
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let records = VERSES.map(|text| json!({ "tokens": words(text) }));
    place.write("tokens.jsonl", lines_of(records));
    for scheme in ["affine32", "affine64", "fast", "text-dedup"] {
        for input in ["in.jsonl --unit words", "tokens.jsonl --unit tokens"] {
            let options = format!("{input} --size 1 --scheme {scheme}");
            let sets = pairs_of(&place, &options);
            let (same, other) = (1.0, 0.5);
            let expected = [
                (0, 1, same),
                (0, 2, other),
                (0, 3, same),
                (1, 2, other),
                (1, 3, same),
                (2, 3, other),
            ];
            assert_eq!(sets, expected, "{options}");
            let by_lsh = pairs_of(&place, &format!("{options} --count"));
            let expected = [
                (0, 1, 3.0 / 5.0),
                (0, 2, 4.0 / 6.0),
                (0, 3, 1.0),
                (1, 2, 2.0 / 6.0),
                (1, 3, 3.0 / 5.0),
                (2, 3, 4.0 / 6.0),
            ];
            assert_eq!(by_lsh, expected, "{options} --count");
            let by_join = place.pairs(&format!(
                "{input} --size 1 --count --threshold 0.1 --candidates join"
            ));
            assert_eq!(by_join.len(), expected.len(), "{input}");
        }
    }
}

#[test]
fn counts_decide_what_is_removed() {
    let place = Place::with_texts(VERSES);
    for (options, removed) in [("", 2), ("--count", 1)] {
        let results = place.dedup(&format!("in.jsonl --size 1 --threshold 0.9 {options}"));
        assert_eq!(results.count("removed"), removed, "{options}");
        assert_eq!(
            results.report["parameters"]["count"],
            json!(!options.is_empty())
        );
    }
}

/// The first pass makes the hashes of 32 bits of exact sets; signing alone does not.
#[test]
fn stored_signatures_of_bags_find_the_same_pairs() {
    let place = Place::with_texts(VERSES);
    let search = "--threshold 0.3 --bands 128 --rows 1";
    for verify in ["none", "signature"] {
        let direct = format!("in.jsonl --size 1 --count --verify {verify} {search}");
        let direct = place.pairs(&direct);
        place
            .run("sign in.jsonl -o s.parquet --overwrite --size 1 --count")
            .succeeded();
        let stored = place.pairs(&format!(
            "--signatures s.parquet --verify {verify} {search}"
        ));
        assert_eq!(direct, stored, "{verify}");
        assert!(direct.len() > 3);
    }
    let run = place
        .run(&format!("pairs --signatures s.parquet -o p.jsonl {search}"))
        .succeeded();
    assert!(
        run.stderr.contains("1 words (words-v1), counted"),
        "{}",
        run.stderr
    );
    let run = place.run("pairs --signatures s.parquet -o q.jsonl --count");
    run.refused(2, &["--count"]);
}

#[test]
fn comparisons_count_shingles() {
    let place = Place::new();
    place.write("a.txt", VERSES[0]);
    place.write("b.txt", VERSES[2]);
    let run = place
        .run("compare a.txt b.txt --size 1 --count --json")
        .succeeded();
    let found: Value = serde_json::from_slice(&run.stdout).unwrap();
    for (name, expected) in [
        ("shingles_a", json!(5)),
        ("shared", json!(4)),
        ("union", json!(6)),
        ("jaccard", json!(4.0 / 6.0)),
        ("count", json!(true)),
    ] {
        assert_eq!(found[name], expected, "{name}");
    }
    let page = place
        .run("compare a.txt b.txt --size 1 --count")
        .succeeded()
        .stdout;
    let page = String::from_utf8(page).unwrap();
    assert!(
        page.contains("5 counted shingles of 1 word, a.txt"),
        "{page}"
    );
}

#[test]
fn a_preset_says_that_counts_are_not_its_tools() {
    let place = Place::with_texts(VERSES);
    let run = place
        .run("sign in.jsonl -o s.npy --scheme datasketch --count")
        .succeeded();
    assert!(
        run.stderr
            .contains("signatures differ from those of datasketch"),
        "{}",
        run.stderr
    );
}
