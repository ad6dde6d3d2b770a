//! Ids and records that an index takes or refuses.

use serde_json::{Value, json};

use super::places::place;
use crate::support::{Place, gzip, lines_of, parse_lines};

#[test]
fn known_ids_and_bad_records_are_told() {
    let place = place(8);
    place.run("index build old.jsonl --index seen").succeeded();
    let add = "index add old.jsonl --index seen";
    place.run(add).refused(
        1,
        &["is the id of a document in the index", "--on-known-id skip"],
    );
    let skipped = place
        .run(&format!("{add} --on-known-id skip --report json"))
        .succeeded();
    let counts: Value = serde_json::from_slice(&skipped.stdout).unwrap();
    assert_eq!(
        (&counts["added"], &counts["known_ids"]),
        (&json!(0), &counts["documents"])
    );
    let replaced = place
        .run(&format!("{add} --on-known-id replace --report json"))
        .succeeded();
    let counts: Value = serde_json::from_slice(&replaced.stdout).unwrap();
    assert_eq!(counts["added"], counts["documents"]);
    place.run("index verify --index seen").succeeded();
    place
        .run(&format!("{add} --if-new --on-known-id replace"))
        .refused(2, &["--if-new"]);
    place
        .run(&format!("{add} --output v.jsonl"))
        .refused(2, &["--output", "--if-new"]);
    place
        .run("index query new.jsonl --index seen -o - --threshold 0.5")
        .refused(2, &["0.8"]);
    place
        .run("index query new.jsonl -o - --index nowhere")
        .refused(1, &["simgpu index build"]);
    place
        .run("index build new.jsonl --index seen")
        .refused(1, &["already"]);
    place
        .run("index build new.jsonl --index other --weights rarity")
        .refused(2, &["--weights"]);
    // Lines in, lines out: also of bad records.
    let lines = "{\"id\": 1, \"text\": \"a b c\"}\nnonsense\n{\"text\": \"d\"}\n{\"id\": 2}\n";
    place.write("bad.jsonl", lines);
    place
        .run("index query bad.jsonl --index seen -o -")
        .refused(1, &["line 2"]);
    let query = "index query bad.jsonl --index seen -o - --on-bad-record skip --quiet";
    let answered = parse_lines(&place.run(query).succeeded().stdout);
    assert_eq!(answered.len(), 4);
    assert!(
        answered[3]["bad_record"]
            .as_str()
            .unwrap()
            .contains("--text-field")
    );
    assert!(
        answered[1]["bad_record"]
            .as_str()
            .unwrap()
            .contains("line 2")
    );
    assert!(
        answered[2]["bad_record"]
            .as_str()
            .unwrap()
            .contains("no id")
    );
    // Without ids, those of places.
    place.write("bare.csv.gz", gzip(b"text\none two three four five six\n"));
    place
        .run("index build bare.csv.gz --index bare")
        .succeeded();
    let found = place
        .run("index query bare.csv.gz --index bare -o - --quiet")
        .succeeded();
    let found = parse_lines(&found.stdout);
    assert_eq!(
        found[0]["hits"][0],
        json!({"id": "bare.csv.gz:0", "similarity": 1.0, "found_by": "identical"})
    );
}

/// Files of two nights have one name, so that their documents would have one id each, if they had to be made up.
#[test]
fn made_up_ids_are_not_compared_across_runs() {
    let nights = [0, 50].map(|first| {
        let texts: Vec<String> = (first..first + 50)
            .map(|i| format!("document {i} of the crawl stands alone with its word w{i} and v{i}"))
            .collect();
        let records = |texts: &[String]| lines_of(texts.iter().map(|text| json!({"text": text})));
        let table = format!("text\n{}\n", texts.join("\n"));
        [
            records(&texts),
            table.into_bytes(),
            texts.join("\n").into_bytes(),
        ]
    });
    for (form, name) in ["in.jsonl", "in.csv", "in.txt"].into_iter().enumerate() {
        let place = Place::new();
        place.write(name, &nights[0][form]);
        place
            .run(&format!("index build {name} --index seen"))
            .succeeded();
        let exported = || place.run("index export --index seen").succeeded().stdout;
        let before = exported();
        // A text file is one document.
        let documents = if form == 2 { 1 } else { 50 };
        assert_eq!(parse_lines(&before).len(), documents);
        place.write(name, &nights[1][form]);
        for option in ["", "--on-known-id skip", "--on-known-id replace"] {
            for new in ["", "--if-new -o verdicts.jsonl"] {
                if option.ends_with("replace") && !new.is_empty() {
                    continue;
                }
                let add = format!("index add {name} --index seen {option} {new}");
                place.run(&add).refused(1, &[name, "id"]);
                let piped = format!("index add - --index seen {option} {new}");
                if form == 0 {
                    let run = place.run_with_stdin(&piped, &nights[1][form]);
                    run.refused(1, &["stdin", "--id-field"]);
                }
                assert!(exported() == before);
            }
        }
        let skip = format!("index add {name} --index seen --on-bad-record skip --report json");
        if form != 1 {
            let counts = place.run(&skip).succeeded().stdout;
            let counts: Value = serde_json::from_slice(&counts).unwrap();
            assert_eq!(
                [&counts["added"], &counts["skipped"]],
                [&json!(0), &json!(documents)]
            );
        }
    }
}

/// A signature file in NumPy's form has no ids: it makes an index, and adds to none.
#[test]
fn signatures_without_ids_make_an_index() {
    let place = place(8);
    place.run("sign old.jsonl -o old.npy").succeeded();
    let build = "index build --signatures old.npy --index seen --verify signature";
    place.run(build).succeeded();
    place.run(build).refused(1, &["already"]);
    place
        .run("index query old.jsonl --index seen -o hits.jsonl")
        .succeeded();
    let found = parse_lines(&place.read("hits.jsonl"));
    let ids = found.iter().map(|line| line["hits"][0]["id"].to_string());
    assert!(ids.filter(|id| id.starts_with("\"old.jsonl:")).count() > 10);
}

/// A record without an id is parsed, but is no document of an index: the others keep their own texts.
#[test]
fn records_without_an_id_are_skipped_in_every_mode() {
    let text = |number: u64| format!("alpha beta gamma delta epsilon zeta {number}");
    let place = Place::new();
    let lines = format!(
        "{}\n{}\n{}\n",
        json!({"id": "first", "text": text(1)}),
        json!({"text": "none of these words is in any other record here"}),
        json!({"id": "last", "text": "one two three four five six seven eight"}),
    );
    place.write("in.jsonl", &lines);
    place.write(
        "ask.jsonl",
        "{\"id\": \"q\", \"text\": \"one two three four five six seven eight\"}\n",
    );
    place.write("empty.jsonl", "");
    let skip = "--on-bad-record skip --quiet";
    let builds = [
        ("lsh", format!("index build in.jsonl --index lsh {skip}")),
        (
            "exact",
            format!("index build in.jsonl --index exact --kind exact {skip}"),
        ),
    ];
    for (name, build) in &builds {
        place.run(build).succeeded();
        let other = format!("{name}-added");
        place
            .run(&format!(
                "index build empty.jsonl --index {other} --kind {name} --quiet"
            ))
            .succeeded();
        place
            .run(&format!(
                "index add in.jsonl --index {other} --if-new -o {other}.jsonl {skip}"
            ))
            .succeeded();
        for index in [name, &&*other] {
            place
                .run(&format!(
                    "index query ask.jsonl --index {index} -o hits.jsonl --overwrite --quiet"
                ))
                .succeeded();
            let hits = parse_lines(&place.read("hits.jsonl"));
            assert_eq!(hits[0]["hits"][0]["id"], "last", "{index}");
            assert_eq!(hits[0]["hits"].as_array().unwrap().len(), 1, "{index}");
        }
    }
    place
        .run(&format!(
            "index query in.jsonl --index lsh -o hits.jsonl --overwrite {skip}"
        ))
        .succeeded();
    let hits = parse_lines(&place.read("hits.jsonl"));
    let found: Vec<_> = hits.iter().map(|line| &line["hits"][0]["id"]).collect();
    assert_eq!(found, [&json!("first"), &json!(null), &json!("last")]);
}

#[test]
fn a_changed_header_is_refused() {
    let place = Place::new();
    place.write(
        "in.jsonl",
        "{\"id\": 1, \"text\": \"one two three four five six\"}\n",
    );
    place
        .run("index build in.jsonl --index seen --quiet")
        .succeeded();
    let header = String::from_utf8(place.read("seen/simgpu-index.json")).unwrap();
    for (from, to) in [
        ("0.8", "0.9"),
        ("\"size\": 5", "\"size\": 4"),
        ("\"seed\": 1", "\"seed\": 2"),
    ] {
        assert!(header.contains(from), "{header}");
        place.write("seen/simgpu-index.json", header.replace(from, to));
        let run = place.run("index query in.jsonl --index seen -o -");
        assert!(
            run.stderr.contains("other values than were written"),
            "{}",
            run.stderr
        );
    }
}
