//! `dedup --from-pairs`: what goes by the pairs that an earlier run has found.

use serde_json::Value;

use crate::support::{Place, edited, lines_of, text};
use serde_json::json;

/// Families of documents in two files, one of them compressed by nothing.
fn place() -> Place {
    let place = Place::new();
    let texts = (0..60u64).map(|i| edited(&text(i / 4, 80), i % 4, 1));
    let records: Vec<Value> = (0..)
        .zip(texts)
        .map(|(id, text): (u32, String)| json!({"key": id, "body": text}))
        .collect();
    let (first, second) = records.split_at(31);
    place.write("in/a.jsonl", lines_of(first.to_vec()));
    place.write("in/b.jsonl", lines_of(second.to_vec()));
    place
}

const FIELDS: &str = "--text-field body --id-field key";

#[test]
fn a_result_from_pairs_is_that_of_a_search() {
    let place = place();
    let search = format!("in {FIELDS} --threshold 0.7");
    place
        .run(&format!("pairs {search} -o p.csv.gz --identical star"))
        .succeeded();
    for cluster in ["greedy", "connected"] {
        let found = place.run(&format!(
            "dedup {search} --cluster {cluster} -o found --overwrite"
        ));
        found.succeeded();
        let from =
            format!("dedup in --from-pairs p.csv.gz --cluster {cluster} -o from --overwrite");
        let run = place.run(&from).succeeded();
        assert!(
            run.stderr.contains("found by an earlier run"),
            "{}",
            run.stderr
        );
        // A list of pairs does not tell how similar the ends of a chain are.
        let of_greedy: &[&str] = if cluster == "greedy" {
            &["clusters.parquet"]
        } else {
            &[]
        };
        for name in ["kept/a.jsonl", "kept/b.jsonl"].iter().chain(of_greedy) {
            let [found, from] =
                ["found", "from"].map(|folder| place.read(&format!("{folder}/{name}")));
            assert!(found == from, "{cluster} {name}");
        }
        let report: Value = serde_json::from_slice(&place.read("from/report.json")).unwrap();
        assert_eq!(report["from_pairs"], "p.csv.gz");
        let removed = &report["counts"]["removed"];
        assert!(removed.as_u64().unwrap() > 20, "{removed}");
        let page = String::from_utf8(place.read("from/report.html")).unwrap();
        assert!(page.contains("--from-pairs p.csv.gz --cluster"), "{page}");
        assert!(page.contains("which an earlier run had found"));
        let record: Value = serde_json::from_slice(&place.read("from/run.json")).unwrap();
        assert_eq!(record["backend"], Value::Null);
    }
}

#[test]
fn what_pairs_do_not_serve_is_refused() {
    let place = place();
    place
        .run(&format!("pairs in {FIELDS} -o p.jsonl --max-pairs 3"))
        .refused(3, &["incomplete"]);
    let dedup = "dedup in --from-pairs p.jsonl -o out";
    place
        .run(dedup)
        .refused(1, &["p.jsonl", "ended early", "--from-pairs"]);
    place
        .run(&format!("pairs in {FIELDS} -o p.jsonl --overwrite"))
        .succeeded();
    place
        .run(&format!("{dedup} --threshold 0.9"))
        .refused(2, &["--threshold", "--from-pairs"]);
    place
        .run(&format!("{dedup} --unit chars --against x"))
        .refused(2, &["--unit", "--against"]);
    place.write("in/b.jsonl", lines_of([json!({"key": 1, "body": "new"})]));
    place.run(dedup).refused(
        1,
        &["in/b.jsonl has changed"].map(|says| says.trim_start_matches("in/")),
    );
    place
        .run("dedup in --from-pairs q.jsonl -o out")
        .refused(1, &["q.jsonl"]);
    assert!(!place.holds("out/report.json"));
}
