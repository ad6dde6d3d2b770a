//! `simgpu ratings`: neighbours, recommendations and hold-outs from files.

mod refusals;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{ArrayRef, Float64Array, Int64Array};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Value, json};

use crate::support::{Numbers, Place, gzip, lines_of, parquet, parse_lines, zstd};

/// Two users like A and B, one of them C; a third likes B and C, and hates A.
const SMALL: &str = "user,item,rating,timestamp
ann,A,5,1
ann,B,4,2
bob,A,4.5,3
bob,B,5,4
bob,C,4,5
eve,B,4,6
eve,C,5,7
eve,A,1,8
";

fn small() -> Place {
    let place = Place::new();
    place.write("r.csv", SMALL);
    place.write(
        "names.csv",
        "id,name\nA,\"Alien, the first\"\nB,Aliens\nX,unknown\n",
    );
    place
}

impl Place {
    /// Runs `ratings` to stdout, which must succeed, and returns the lines.
    #[track_caller]
    fn ratings(&self, arguments: &str) -> Vec<Value> {
        let run = self.run(&format!("ratings {arguments} -o - --quiet"));
        parse_lines(&run.succeeded().stdout)
    }
}

#[test]
fn neighbours_have_similarity_and_support() {
    let found = small().ratings("r.csv --min-support 2");
    // B is liked by all three, A and C by two of them; A and C share bob alone.
    let of = |row: &Value| {
        let ids = (row["id"].clone(), row["neighbour_id"].clone());
        (
            ids,
            row["rank"].clone(),
            row["similarity"].as_f64(),
            row["support"].clone(),
        )
    };
    let two_thirds = Some(2.0 / 3.0);
    let expected = [("A", "B", 1), ("B", "A", 1), ("B", "C", 2), ("C", "B", 1)]
        .map(|(a, b, rank)| ((json!(a), json!(b)), json!(rank), two_thirds, json!(2)));
    assert_eq!(found.iter().map(of).collect::<Vec<_>>(), expected);
    // Two of three, by the tables of Clopper and Pearson.
    let (low, high) = (found[0]["low"].as_f64(), found[0]["high"].as_f64());
    assert!((low.unwrap() - 0.0943).abs() < 1e-4 && (high.unwrap() - 0.9916).abs() < 1e-4);
    assert!(found[0].get("name").is_none());
}

#[test]
fn either_dual_and_every_reading_is_compared() {
    let place = small();
    let similarity = |options: &str, a: &str, b: &str| {
        let found = place.ratings(&format!("r.csv --min-support 1 {options}"));
        let mut found = found.iter();
        let found = found.find(|row| row["id"] == a && row["neighbour_id"] == b);
        found.map(|row| row["similarity"].as_f64().unwrap())
    };
    assert_eq!(similarity("--as seen", "A", "B"), Some(1.0));
    assert_eq!(similarity("--as liked", "A", "C"), Some(1.0 / 3.0));
    // Liked by ann, bob; by bob, eve; hated by eve: one of four.
    assert_eq!(similarity("--as liked-hated", "A", "C"), Some(0.25));
    // 0 4 1 of 5 4.5 5.
    assert_eq!(similarity("--as stars", "A", "C"), Some(5.0 / 14.5));
    assert_eq!(similarity("--by user", "ann", "bob"), Some(2.0 / 3.0));
    assert_eq!(similarity("--by user", "ann", "eve"), Some(1.0 / 3.0));
    assert_eq!(similarity("--liked-from 4.5", "A", "C"), None);
}

#[test]
fn items_are_recommended_with_their_reason() {
    let place = small();
    let found = place.ratings("r.csv --min-support 1 --recommend ann --names names.csv");
    assert_eq!(found.len(), 1);
    let score = found[0]["score"].as_f64().unwrap();
    assert!((score - (1.0 / 3.0 + 2.0 / 3.0)).abs() < 1e-12);
    assert_eq!(found[0]["user"], "ann");
    assert_eq!(
        (&found[0]["item"], &found[0]["name"]),
        (&json!("C"), &Value::Null)
    );
    let because = (&found[0]["because"], &found[0]["because_name"]);
    assert_eq!(because, (&json!("B"), &json!("Aliens")));

    let found = place.ratings("r.csv --min-support 1 --recommend all --by user");
    assert_eq!(found.len(), 1);
    assert_eq!(
        (&found[0]["item"], &found[0]["because"]),
        (&json!("C"), &json!("bob"))
    );
    // One vote of what is hated outweighs none.
    let against = "user,item,rating\n1,A,1\n1,B,5\n2,A,4\n2,C,5\n3,A,5\n3,C,5\n4,B,5\n4,D,5\n";
    place.write("against.csv", against);
    let items = |reading: &str| -> Vec<Value> {
        let found = place.ratings(&format!(
            "against.csv --min-support 1 --recommend 1 --as {reading}"
        ));
        found.iter().map(|row| row["item"].clone()).collect()
    };
    assert_eq!(items("seen"), [json!("C"), json!("D")]);
    assert_eq!(items("liked-hated"), [json!("D")]);
}

#[test]
fn names_stand_beside_ids() {
    let place = small();
    let run = place.run("ratings r.csv --names names.csv --min-support 2 -o n.csv");
    let run = run.succeeded();
    assert!(
        run.stderr.contains("1 of 3 items have no name"),
        "{}",
        run.stderr
    );
    let written = String::from_utf8(place.read("n.csv")).unwrap();
    let mut lines = written.lines();
    let header = "id,name,neighbour_id,neighbour_name,rank,similarity,support,low,high";
    assert_eq!(lines.next(), Some(header));
    let first = lines.next().unwrap();
    assert!(
        first.starts_with("A,\"Alien, the first\",B,Aliens,1,0.666"),
        "{first}"
    );
    assert!(written.contains("\nC,,B,Aliens,1,"), "{written}");
}

/// Ratings from a formula, as records; some are repeated. Users and items are integers.
fn many(users: usize, items: usize) -> Vec<Value> {
    let mut numbers = Numbers(7);
    let mut records = Vec::new();
    for user in 0..users {
        for _ in 0..10 + numbers.below(40) {
            let item = numbers.below(items) * numbers.below(items) / items;
            let rating = (1 + numbers.below(10)) as f64 / 2.0;
            let time = numbers.below(1000);
            records.push(json!({"user": user, "item": item, "rating": rating, "timestamp": time}));
        }
    }
    records
}

fn as_csv(records: &[Value]) -> String {
    let mut csv = "user,item,rating,timestamp\n".to_owned();
    for record in records {
        let fields = ["user", "item", "rating", "timestamp"].map(|name| record[name].to_string());
        csv += &(fields.join(",") + "\n");
    }
    csv
}

fn as_parquet(records: &[Value]) -> Vec<u8> {
    let integers = |name: &str| -> ArrayRef {
        let values = records.iter().map(|record| record[name].as_i64().unwrap());
        Arc::new(Int64Array::from_iter_values(values))
    };
    let stars = records
        .iter()
        .map(|record| record["rating"].as_f64().unwrap());
    parquet([
        ("user", integers("user")),
        ("item", integers("item")),
        ("rating", Arc::new(Float64Array::from_iter_values(stars))),
        ("timestamp", integers("timestamp")),
    ])
}

#[test]
fn every_input_format_has_the_same_result() {
    let place = Place::new();
    let records = many(200, 80);
    place.write("r.jsonl", lines_of(records.clone()));
    place.write("r.jsonl.zst", zstd(&lines_of(records.clone())));
    place.write("r.json", Value::from(records.clone()).to_string());
    place.write("r.csv", as_csv(&records));
    place.write("r.csv.gz", gzip(as_csv(&records).as_bytes()));
    place.write("r.tsv", as_csv(&records).replace(',', "\t"));
    place.write("r.parquet", as_parquet(&records));
    for options in ["", "--recommend all --as liked-hated", "--hold-out last"] {
        let run = |input: &str| {
            let command = format!("ratings {input} {options} -o - -q");
            place.run(&command).succeeded().stdout
        };
        let expected = run("r.jsonl");
        assert!(expected.len() > 300, "{options}");
        let others = [
            "r.jsonl.zst",
            "r.json",
            "r.csv",
            "r.csv.gz",
            "r.tsv",
            "r.parquet",
        ];
        for input in others {
            assert_eq!(run(input), expected, "{input} {options}");
        }
        let command = format!("ratings - --format csv {options} -o - -q");
        let stdin = place.run_with_stdin(&command, as_csv(&records).as_bytes());
        assert_eq!(stdin.succeeded().stdout, expected, "stdin {options}");
    }
}

#[test]
fn every_output_format_has_the_same_rows() {
    let place = Place::new();
    place.write("r.csv", as_csv(&many(60, 80)));
    for name in ["n.jsonl", "n.csv", "n.parquet", "n.csv.gz"] {
        place
            .run(&format!("ratings r.csv -o {name} -q"))
            .succeeded();
    }
    let rows = parse_lines(&place.read("n.jsonl"));
    let csv = String::from_utf8(place.read("n.csv")).unwrap();
    assert_eq!(
        crate::support::decompressed(&place.read("n.csv.gz")),
        csv.as_bytes()
    );
    assert_eq!(csv.lines().count(), rows.len() + 1);
    for (line, row) in csv.lines().skip(1).zip(&rows) {
        let fields: Vec<f64> = line
            .split(',')
            .map(|field| field.parse().unwrap())
            .collect();
        let names = [
            "id",
            "neighbour_id",
            "rank",
            "similarity",
            "support",
            "low",
            "high",
        ];
        for (name, field) in names.iter().zip(fields) {
            assert!(
                (row[name].as_f64().unwrap() - field).abs() < 1e-15,
                "{row} {line}"
            );
        }
    }
    let file = std::fs::File::open(place.path("n.parquet")).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let mut read = 0;
    for batch in reader.build().unwrap() {
        let batch = batch.unwrap();
        let column = |name: &str| batch.column_by_name(name).unwrap();
        for place in 0..batch.num_rows() {
            let row = &rows[read + place];
            let id = column("neighbour_id")
                .as_primitive::<Int64Type>()
                .value(place);
            let rank = column("rank").as_primitive::<UInt64Type>().value(place);
            let high = column("high").as_primitive::<Float64Type>().value(place);
            assert_eq!(
                (row["neighbour_id"].as_i64(), row["rank"].as_u64()),
                (Some(id), Some(rank))
            );
            assert!((row["high"].as_f64().unwrap() - high).abs() < 1e-15);
        }
        read += batch.num_rows();
    }
    assert_eq!(read, rows.len());
}

#[test]
fn results_of_ratings_ignore_threads() {
    let place = Place::new();
    let records = many(300, 200);
    for (i, part) in records.chunks(records.len() / 5 + 1).enumerate() {
        place.write(&format!("in/{i}.csv"), as_csv(part));
    }
    let readings = [
        "",
        "--by user --as seen",
        "--recommend all --as stars",
        "--hold-out last",
    ];
    for options in readings {
        let run = |threads: usize| {
            let command = format!("ratings in {options} -o out.jsonl --overwrite -q");
            place
                .run(&format!("{command} --threads {threads}"))
                .succeeded();
            (place.read("out.jsonl"), place.read("out.jsonl.report.json"))
        };
        let one = run(1);
        assert!(one.0.len() > 1000);
        for threads in [2, 3, 7] {
            assert!(run(threads) == one, "{threads} threads, {options}");
        }
    }
}

/// The ratings of films, with the names of its columns.
const FILMS: &str = "ratings.csv.zst --user-field userid --item-field movieid";

#[test]
#[allow(clippy::print_stdout, reason = "a skipped test prints why")]
fn films_have_their_sequels_as_neighbours() {
    let data =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/sets/movie-ratings");
    if !data.join("ratings.csv.zst").exists() {
        println!("skipped: ../shared/data/sets/movie-ratings is not there");
        return;
    }
    let place = Place::new();
    for name in ["ratings.csv.zst", "movies.csv.zst"] {
        place.write(name, std::fs::read(data.join(name)).unwrap());
    }
    let names = "--names movies.csv.zst --name-id-field movieId --name-field title";
    for reading in ["seen", "liked", "liked-hated", "stars"] {
        let found = place.ratings(&format!("{FILMS} {names} --as {reading} --top 3"));
        let mut near: BTreeMap<&str, String> = BTreeMap::new();
        for row in &found {
            let name = row["name"].as_str().unwrap();
            *near.entry(name).or_default() += row["neighbour_name"].as_str().unwrap();
        }
        for (film, sequel) in [
            ("Alien (1979)", "Aliens (1986)"),
            (
                "Lord of the Rings: The Fellowship of the Ring, The (2001)",
                "Lord of the Rings: The Return of the King, The (2003)",
            ),
            ("Godfather, The (1972)", "Godfather: Part II, The (1974)"),
        ] {
            assert!(
                near[film].contains(sequel),
                "{reading}: {film}: {}",
                near[film]
            );
        }
        let held_out =
            format!("ratings {FILMS} --as {reading} --hold-out last --dry-run --report json");
        let report = place.run(&held_out).succeeded().stdout;
        let report: Value = serde_json::from_slice(&report).unwrap();
        let rates = &report["hit_rates"];
        assert_eq!(rates["users"], 570);
        let rate = |name: &str| rates[name].as_f64().unwrap();
        let ratio = rate("hit_rate") / rate("popularity_hit_rate");
        let least = if reading == "liked" || reading == "liked-hated" {
            1.5
        } else {
            1.0
        };
        assert!(ratio >= least, "{reading}: {rates}");
    }
}
