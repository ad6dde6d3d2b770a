//! `simgpu evaluate`: results of real runs, compared with counts by enumeration.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::support::{Place, gzip, parse_lines};

type Pairs = BTreeSet<(String, String)>;

/// People, some of them twice or three times with a letter changed, and some that share a name.
fn people() -> Place {
    let place = Place::new();
    let mut csv = "id,key,person,name,street,town\n".to_owned();
    let mut texts = String::new();
    for person in 0..60 {
        for copy in 0..=person % 3 {
            let id = 3 * person + copy;
            let (first, last) = (person % 7, person * 37 % 29);
            let typo = ["", "x", "yz"][copy];
            let name = format!("Name{first} Last{last}{typo}");
            let street = format!("{person} Road {}{typo}", person * 13 % 41);
            let town = format!("Town{}", person % 5);
            writeln!(csv, "{id},k{id},p{person},{name},{street},{town}").unwrap();
            let text = format!("{name} {street} {town} and what was written of it by {last}");
            writeln!(texts, "{}", json!({"id": id, "text": text})).unwrap();
        }
    }
    place.write("people.csv", csv);
    place.write("texts.jsonl", texts);
    place
}

/// The person of each id.
fn persons() -> BTreeMap<String, String> {
    let ids = (0..60).flat_map(|person| (0..=person % 3).map(move |copy| (person, copy)));
    ids.map(|(person, copy)| ((3 * person + copy).to_string(), format!("p{person}")))
        .collect()
}

/// All pairs of ids of one entity.
fn within(entities: &BTreeMap<String, String>) -> Pairs {
    let pairs = entities
        .keys()
        .flat_map(|a| entities.keys().map(move |b| (a, b)));
    pairs
        .filter(|(a, b)| a < b && entities[*a] == entities[*b])
        .map(|(a, b)| (a.clone(), b.clone()))
        .collect()
}

fn text(id: &Value) -> String {
    id.to_string().replace('"', "")
}

fn ordered(a: String, b: String) -> (String, String) {
    if a < b { (a, b) } else { (b, a) }
}

/// The pairs in these fields of lines of JSON.
fn listed(lines: &[Value], fields: [&str; 2]) -> Pairs {
    let pair = |line: &Value| ordered(text(&line[fields[0]]), text(&line[fields[1]]));
    lines.iter().map(pair).collect()
}

impl Place {
    /// The report of an evaluation, which must succeed.
    #[track_caller]
    fn evaluate(&self, arguments: &str) -> Value {
        let run = self.run(&format!("evaluate {arguments} --report json"));
        serde_json::from_slice(&run.succeeded().stdout).unwrap()
    }
}

/// Found, true and right.
fn counts(report: &Value, of: &str) -> [u64; 3] {
    ["found", "true", "right"].map(|name| report[of][name].as_u64().unwrap())
}

fn expected(found: &Pairs, truth: &Pairs) -> [u64; 3] {
    [found.len(), truth.len(), found.intersection(truth).count()].map(|count| count as u64)
}

const LINK: &str = "--fields name,street,town --threshold 0.45 --quiet";

#[test]
fn entities_of_one_input_are_compared_pair_by_pair() {
    let place = people();
    place
        .run(&format!("link people.csv {LINK} -o out"))
        .succeeded();
    let lines = parse_lines(&place.read("out/entities.jsonl"));
    let of = |line: &Value| (text(&line["id"]), text(&line["entity"]));
    let found = within(&lines.iter().map(of).collect());
    let truth = within(&persons());
    let right = expected(&found, &truth);
    assert!(
        right[2] > 10 && right[2] < right[0] && right[2] < right[1],
        "{right:?}"
    );
    let by_field = place.evaluate("out --truth people.csv --entity-field person");
    assert_eq!(counts(&by_field, "pairs"), right);
    assert_eq!(by_field["result"]["pairs"], "pairs within entities");
    // The same by pairs, of which some follow from others, and by the file alone.
    let pairs: String = truth.iter().map(|(a, b)| format!("{b},{a}\n")).collect();
    place.write("pairs.csv.gz", gzip(format!("x,y\n{pairs}").as_bytes()));
    for result in ["out", "out/entities.jsonl"] {
        let by_pairs = place.evaluate(&format!("{result} --truth pairs.csv.gz"));
        for of in ["pairs", "entities", "b_cubed"] {
            assert_eq!(by_pairs[of], by_field[of], "{of}");
        }
        assert_eq!(by_pairs["counts"]["not_in_truth"], 20);
    }
    let f1 = by_field["pairs"]["f1"]["share"].as_f64().unwrap();
    let harmonic = 2.0 * right[2] as f64 / (right[0] + right[1]) as f64;
    assert!((f1 - harmonic).abs() < 1e-12);
    for (name, wrong) in [("wrong", true), ("missed", false)] {
        let examples = by_field[name].as_array().unwrap();
        assert_eq!(examples.len(), 5.min(examples.len()));
        for pair in listed(examples, ["id_a", "id_b"]) {
            assert_eq!(
                (found.contains(&pair), truth.contains(&pair)),
                (wrong, !wrong)
            );
        }
    }
    // Links alone are fewer than the pairs within entities.
    let links = listed(
        &parse_lines(&place.read("out/links.jsonl")),
        ["id_a", "id_b"],
    );
    let report = place.evaluate("out/links.jsonl --truth people.csv --entity-field person");
    assert_eq!(counts(&report, "pairs"), expected(&links, &truth));
    assert!(report.get("entities").is_none());
}

#[test]
fn links_of_two_inputs_are_pairs_of_both() {
    let place = people();
    let csv = String::from_utf8(place.read("people.csv")).unwrap();
    let mut parts = [csv.lines().next().unwrap().to_owned() + "\n", String::new()];
    parts[1] = parts[0].clone();
    // The ids of B are those of other records of A, too.
    for (row, line) in csv.lines().skip(1).enumerate() {
        let (_, rest) = line.split_once(',').unwrap();
        writeln!(parts[row % 2], "{},{rest}", row / 2).unwrap();
    }
    place.write("a.csv", &parts[0]);
    place.write("b.csv", &parts[1]);
    place
        .run(&format!("link a.csv b.csv {LINK} -o out"))
        .succeeded();
    let person = |part: &str| -> Vec<String> {
        let lines = part.lines().skip(1);
        lines
            .map(|line| line.split(',').nth(2).unwrap().to_owned())
            .collect()
    };
    let (of_a, of_b) = (person(&parts[0]), person(&parts[1]));
    let all = (0..of_a.len()).flat_map(|a| (0..of_b.len()).map(move |b| (a, b)));
    let truth: Pairs = all
        .filter(|(a, b)| of_a[*a] == of_b[*b])
        .map(|(a, b)| (a.to_string(), b.to_string()))
        .collect();
    let links = parse_lines(&place.read("out/links.jsonl"));
    let found: Pairs = links
        .iter()
        .map(|link| (text(&link["id_a"]), text(&link["id_b"])))
        .collect();
    let pairs: String = truth.iter().map(|(a, b)| format!("{a},{b}\n")).collect();
    place.write("pairs.csv", format!("of_a,of_b\n{pairs}"));
    place.write("alone.jsonl", place.read("out/links.jsonl"));
    for command in [
        "out --truth a.csv --truth b.csv --entity-field person",
        "out --truth pairs.csv",
        "out/links.jsonl --truth pairs.csv",
        "alone.jsonl --truth pairs.csv",
    ] {
        let report = place.evaluate(command);
        assert_eq!(
            counts(&report, "pairs"),
            expected(&found, &truth),
            "{command}"
        );
        assert_eq!(report["result"]["inputs"], 2);
        assert!(report.get("b_cubed").is_none());
    }
    place
        .run("evaluate out --truth a.csv --entity-field person")
        .refused(2, &["--truth is 1", "the entities of A and those of B"]);
}

#[test]
fn duplicates_and_pairs_are_evaluated_in_every_format() {
    let place = people();
    let truth = within(&persons());
    let options = "texts.jsonl --unit chars --size 3 --quiet --overwrite";
    let options = |threshold: f64| format!("{options} --threshold {threshold}");
    let mut by_format = Vec::new();
    for format in ["jsonl", "jsonl.zst", "parquet"] {
        let command = format!("dedup {} -o out --removed-format {format}", options(0.6));
        place.run(&command).succeeded();
        for result in ["out".to_owned(), format!("out/removed.{format}")] {
            let report = place.evaluate(&format!(
                "{result} --truth people.csv --entity-field person"
            ));
            assert_eq!(report["result"]["command"], "dedup");
            by_format.push((report["pairs"].clone(), report["b_cubed"].clone()));
        }
    }
    assert!(by_format.iter().all(|report| *report == by_format[0]));
    // Documents that are removed for no other are alone.
    let short = "-o short --min-shingles 60 --drop-short";
    place
        .run(&format!("dedup {} {short}", options(0.6)))
        .succeeded();
    let removed = parse_lines(&place.read("short/removed.jsonl"));
    assert!(removed.iter().any(|line| line["kept_id"].is_null()));
    let evaluate = |result: &str| {
        place.evaluate(&format!(
            "{result} --truth people.csv --entity-field person"
        ))["pairs"]
            .clone()
    };
    let found = evaluate("short");
    assert_eq!(found["found"], evaluate("short/removed.jsonl")["found"]);
    assert!(found["found"].as_u64() < by_format[0].0["found"].as_u64());
    assert!(by_format[0].0["right"].as_u64().unwrap() > 5);
    for name in ["p.jsonl", "p.csv", "p.parquet", "p.csv.gz", "p.jsonl.zst"] {
        place
            .run(&format!("pairs {} -o {name}", options(0.6)))
            .succeeded();
        let found = listed(&parse_lines(&place.read("p.jsonl")), ["id_a", "id_b"]);
        let report = place.evaluate(&format!("{name} --truth people.csv --entity-field person"));
        assert_eq!(counts(&report, "pairs"), expected(&found, &truth), "{name}");
        assert_eq!(report["result"]["pairs"], "listed pairs");
    }
    // A result may be the truth of another one.
    let report = place.evaluate("p.csv --truth p.parquet");
    assert_eq!(report["pairs"]["precision"]["share"], 1.0);
    // No pair was found, and the report beside the file says of what.
    place
        .run(&format!("pairs {} -o none.jsonl", options(1.0)))
        .succeeded();
    let run = place.run("evaluate none.jsonl --truth people.csv --entity-field person");
    let told = run.succeeded().stderr;
    assert!(told.contains("cannot tell: no pair was found"), "{told}");
}

#[test]
fn every_record_is_accounted_for() {
    let place = Place::new();
    place.write(
        "entities.jsonl",
        "{\"id\":1,\"entity\":0}\n{\"id\":2,\"entity\":0}\n{\"id\":2,\"entity\":0}\n{\"id\":3,\"entity\":0}\n{\"id\":4,\"entity\":4}\n{\"id\":5,\"entity\":4}\n",
    );
    // 3 has no entity, 5 is not there, 9 was not in the input.
    place.write("t.csv", "id,who\n1,a\n2,a\n2,a\n3,\n4,b\n9,b\n");
    let report = place.evaluate("entities.jsonl --truth t.csv --entity-field who");
    assert_eq!(counts(&report, "pairs"), [1, 1, 1]);
    let expected = json!({
        "result_rows": 6, "truth_rows": 6, "result_ids": 5, "truth_ids": 5, "evaluated": 3,
        "repeated_result": 1, "repeated_truth": 1, "same_id_result": 0, "same_id_truth": 0,
        "unlabelled": 1, "not_in_truth": 1, "not_in_result": 1, "left_out_pairs": 0,
    });
    assert_eq!(report["counts"], expected);
    let told = place
        .run("evaluate entities.jsonl --truth t.csv --entity-field who")
        .succeeded()
        .stderr;
    for part in [
        "1 id of t.csv, first 9, left out: not in entities.jsonl",
        "1 id of the result, first 5, left out: not in t.csv",
        "1 record of the truth without an entity, left out",
        "2 records with an id or a pair of an earlier one, counted once",
    ] {
        assert!(told.contains(part), "no {part:?} in {told}");
    }
    // A truth by pairs knows all others as entities of their own, and closes its pairs.
    place.write("p.csv", "a,b\n1,2\n2,3\n3,1\n4,4\n");
    let report = place.evaluate("entities.jsonl --truth p.csv");
    assert_eq!(counts(&report, "pairs"), [4, 3, 3]);
    assert_eq!(counts(&report, "entities"), [2, 1, 1]);
    assert_eq!(report["counts"]["same_id_truth"], 1);
    assert_eq!(report["wrong"], json!([{"id_a": 4, "id_b": 5}]));
    assert_eq!(report["missed"], json!([]));
}

#[test]
fn records_without_ids_are_named_by_place() {
    let place = people();
    let csv = String::from_utf8(place.read("people.csv")).unwrap();
    place.write("nameless.csv", csv.replacen("id,", "number,", 1));
    place
        .run(&format!("link nameless.csv {LINK} -o out"))
        .succeeded();
    let report = place.evaluate("out --truth nameless.csv --entity-field person");
    assert_eq!(report["counts"]["evaluated"], 120);
    assert!(report["pairs"]["right"].as_u64().unwrap() > 10);
}

#[test]
fn what_cannot_be_evaluated_is_refused_by_name() {
    let place = people();
    place
        .run(&format!("link people.csv {LINK} -o out"))
        .succeeded();
    place.write("empty.csv", "a,b\n");
    place.write("same.csv", "a,b\n1,1\n");
    place.write("bare.csv", "3,4\n6,7\n");
    place.write("hole.csv", "a,b\n3,4\n6,\n");
    place.write("foreign.csv", "a,b\nx,y\n");
    place.write("twice.csv", "id,person\n3,a\n4,a\n3,b\n");
    place.write(
        "other/report.json",
        "{\"simgpu_report\": 1, \"command\": \"bench\"}",
    );
    let report = "{\"simgpu_report\": 1, \"command\": \"ratings\"}";
    place.write("bare/report.json", report);
    place.write("nothing.jsonl", "");
    for (arguments, code, says) in [
        ("nowhere --truth empty.csv", 1, "nowhere: no such file"),
        ("out --truth nowhere.csv", 1, "nowhere.csv: no such file"),
        (
            "other --truth same.csv",
            1,
            "other: it holds a result of bench",
        ),
        (
            "bare --truth same.csv",
            1,
            "bare: it holds a result of ratings",
        ),
        (". --truth same.csv", 1, "there is no report.json"),
        (
            "people.csv --truth same.csv",
            1,
            "people.csv: it is no result of link",
        ),
        (
            "nothing.jsonl --truth same.csv",
            1,
            "nothing.jsonl: it has no record",
        ),
        ("out --truth empty.csv", 1, "empty.csv: it has no"),
        (
            "out --truth same.csv",
            1,
            "same.csv: it has no pair of two ids",
        ),
        ("out --truth bare.csv", 1, "\"3\" and \"4\", holds ids"),
        (
            "out --truth hole.csv",
            1,
            "hole.csv: line 3: field \"b\" is missing",
        ),
        (
            "out --truth foreign.csv",
            1,
            "foreign.csv: none of its ids is an id of the result",
        ),
        (
            "out --truth same.csv --truth-fields a,c",
            1,
            "there is no column \"c\"",
        ),
        ("out --truth same.csv --truth-fields a", 2, "names 1 field"),
        (
            "out --truth people.csv --entity-field who",
            1,
            "there is no column \"who\"",
        ),
        (
            "out --truth people.csv --entity-field person --id-field key",
            1,
            "the first is \"k0\"",
        ),
        (
            "out --truth twice.csv --entity-field person",
            1,
            "twice.csv: line 4: the id \"3\" is in entity \"b\"",
        ),
        ("out --truth same.csv --truth same.csv", 2, "--truth is 2"),
        ("out", 2, "--truth"),
        ("- --truth same.csv", 2, "the result cannot be stdin"),
    ] {
        place
            .run(&format!("evaluate {arguments}"))
            .refused(code, &[says]);
    }
}

#[test]
fn the_truth_may_come_from_stdin() {
    let place = people();
    place
        .run(&format!("link people.csv {LINK} -o out"))
        .succeeded();
    let truth = place.read("people.csv");
    let command = "evaluate out --truth - --format csv --entity-field person --report json -q";
    let run = place.run_with_stdin(command, &truth).succeeded();
    let piped: Value = serde_json::from_slice(&run.stdout).unwrap();
    let read = place.evaluate("out --truth people.csv --entity-field person");
    assert_eq!(piped["pairs"], read["pairs"]);
}
