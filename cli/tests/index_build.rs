//! `index build`: the index holds what `index add` of the same documents stores, and a build that is stopped goes on.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::{Value, json};

use crate::support::{Numbers, Place, families, gzip, lines_of, parse_lines};

/// A place with documents in several files, and others to look up. Some have equal texts, no words, or nothing.
fn place(seed: u64) -> Place {
    let place = Place::new();
    let mut random = Numbers(seed);
    let mut files = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
    let mut texts = families(60, 4, 40);
    texts.extend(["", "...", "...", "?!", "?!", "one word"].map(str::to_owned));
    for (id, text) in texts.iter().enumerate() {
        let file = &mut files[usize::try_from(random.next() % 4).unwrap()];
        file.push(json!({"id": format!("d{id}"), "text": text}));
    }
    let [a, b, c, new] = files.map(lines_of);
    place.write("old/a.jsonl", a);
    place.write("old/b.jsonl.gz", gzip(&b));
    place.write("old/c.jsonl", [c, b"{\"id\": \"bad\"}\n".to_vec()].concat());
    place.write("new.jsonl", new);
    place.write("none.jsonl", "");
    place
}

#[test]
fn an_index_that_is_built_is_one_that_is_added_to() {
    for (seed, options, of_build) in [
        (1, "", ""),
        (2, "--verify exact", "--memory 1KB"),
        (3, "--verify exact --unit chars --threshold 0.6 --count", ""),
        (4, "--scheme datasketch --num-perm 64", "--memory 1KB"),
    ] {
        let place = place(seed);
        let run = |arguments: &str| place.run(&format!("{arguments} --quiet")).succeeded();
        let skip = "--on-bad-record skip";
        run(&format!(
            "index build old --index built {skip} {options} {of_build}"
        ));
        run(&format!("index build none.jsonl --index added {options}"));
        run(&format!("index add old --index added {skip}"));
        for index in ["built", "added"] {
            run(&format!("index verify --index {index}"));
            run(&format!("index export --index {index}"));
            run(&format!(
                "index query new.jsonl --index {index} -o {index}.jsonl"
            ));
            let left: Vec<String> = fs::read_dir(place.path(index))
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            assert_eq!(left.len(), 4, "{left:?}");
        }
        let exported = |index| run(&format!("index export --index {index}")).stdout;
        assert_eq!(exported("built"), exported("added"), "{options}");
        assert_eq!(
            place.read("built.jsonl"),
            place.read("added.jsonl"),
            "{options}"
        );
        let hits = parse_lines(&place.read("built.jsonl"));
        let with_hits = hits.iter().filter(|line| line["hits"] != json!([]));
        assert!(with_hits.count() > 3, "{options}");
        // It grows as others do.
        for index in ["built", "added"] {
            run(&format!(
                "index add new.jsonl --index {index} --if-new -o {index}.new"
            ));
            run(&format!("index verify --index {index}"));
        }
        assert_eq!(exported("built"), exported("added"), "{options}");
    }
}

/// Long lists are kept in pieces.
#[test]
fn documents_that_are_equal_are_all_found() {
    let place = Place::new();
    let documents =
        (0..2_500).map(|id| json!({"id": id, "text": "the same few words in all of them"}));
    place.write("old.jsonl", lines_of(documents));
    place.write(
        "new.jsonl",
        "{\"id\": 1, \"text\": \"the same few words in all of them\"}\n",
    );
    let run = |arguments: &str| place.run(&format!("{arguments} --quiet")).succeeded();
    run("index build old.jsonl --index built");
    run("index verify --index built");
    run("index query new.jsonl --index built -o hits.jsonl");
    let hits = parse_lines(&place.read("hits.jsonl"));
    assert_eq!(hits[0]["hits"].as_array().unwrap().len(), 2_500);
}

#[test]
fn an_id_that_occurs_twice_is_named() {
    let place = Place::new();
    let ids = ["a", "b", "c", "b"];
    place.write(
        "old.jsonl",
        lines_of(ids.map(|id| json!({"id": id, "text": "some words"}))),
    );
    for kind in ["lsh", "exact"] {
        let build = format!("index build old.jsonl --index {kind} --kind {kind} --quiet");
        let says = ["\"b\" is the id of two records", "--on-known-id skip"];
        place.run(&build).refused(1, &says);
    }
    // The folder is no index yet, and may be built again.
    place.write(
        "old.jsonl",
        lines_of(["a", "b"].map(|id| json!({"id": id, "text": "some words"}))),
    );
    let _ = place
        .run("index build old.jsonl --index lsh --restart --quiet")
        .succeeded();
    place.run("index verify --index lsh --quiet").succeeded();
}

#[test]
fn an_id_of_two_records_is_refused_with_their_places() {
    let place = Place::new();
    let line =
        |id: usize| json!({"id": format!("n{id}"), "text": format!("some words of text {id}")});
    place.write("in/a.jsonl", lines_of([1, 2, 3].map(line)));
    place.write("in/b.jsonl", lines_of([4, 2, 5, 2].map(line)));
    for kind in ["lsh", "exact"] {
        let index = format!("index-{kind}");
        let refused = place.run(&format!(
            "index build in --index {index} --kind {kind} --quiet"
        ));
        refused.refused(
            1,
            &[
                "\"n2\" is the id of two records",
                "a.jsonl, row 1;",
                "b.jsonl, row 1)",
                "--on-known-id skip",
            ],
        );
    }
    let piped = place.run_with_stdin(
        "index build - --index piped --quiet",
        &place.read("in/b.jsonl"),
    );
    piped.refused(1, &["row 1;", "row 3)"]);
}

/// The index has what `add` to an empty one stores.
#[test]
fn of_documents_with_one_id_one_is_kept() {
    let place = Place::new();
    let texts = families(40, 3, 30);
    let line = |(id, text): (usize, &String)| json!({"id": id % 100, "text": text});
    place.write("old.jsonl", lines_of(texts.iter().enumerate().map(line)));
    place.write("none.jsonl", "");
    let run = |arguments: &str| place.run(arguments).succeeded();
    // Signatures are those of the same documents.
    run("sign old.jsonl -o old.parquet --quiet");
    for action in ["skip", "replace"] {
        for (kind, options) in [
            ("lsh", "old.jsonl --verify exact"),
            ("exact", "old.jsonl --kind exact"),
            ("signed", "--signatures old.parquet"),
        ] {
            let (built, added) = (
                format!("built-{kind}-{action}"),
                format!("added-{kind}-{action}"),
            );
            let build = format!(
                "index build {options} --index {built} --on-known-id {action} --report json --quiet"
            );
            let counts: Value = serde_json::from_slice(&run(&build).stdout).unwrap();
            assert_eq!(
                (&counts["documents"], &counts["added"], &counts["known_ids"]),
                (&json!(120), &json!(100), &json!(20)),
                "{built}"
            );
            run(&format!("index verify --index {built} --quiet"));
            let options = options
                .replace("old.jsonl", "none.jsonl")
                .replace("--signatures old.parquet", "none.jsonl");
            run(&format!("index build {options} --index {added} --quiet"));
            run(&format!(
                "index add old.jsonl --index {added} --on-known-id {action} --quiet"
            ));
            let export = |index: &str| {
                let mut lines = parse_lines(&run(&format!("index export --index {index}")).stdout);
                for line in &mut lines {
                    // Signatures alone have none.
                    line["digest"] = Value::Null;
                }
                lines
            };
            assert_eq!(export(&built), export(&added), "{built}");
            let query = |index: &str| {
                let query = format!("index query old.jsonl --index {index} -o - --quiet");
                let mut lines = parse_lines(&run(&query).stdout);
                let hits = lines
                    .iter_mut()
                    .flat_map(|line| line["hits"].as_array_mut().unwrap());
                for hit in hits.filter(|_| kind == "signed") {
                    hit["found_by"] = Value::Null;
                }
                lines
            };
            assert_eq!(query(&built), query(&added), "{built}");
        }
    }
}

/// The build that an id refused is not lost.
#[test]
fn a_build_goes_on_after_an_id_that_occurs_twice() {
    let place = Place::new();
    let ids = ["a", "b", "c", "b"];
    place.write(
        "old.jsonl",
        lines_of(ids.map(|id| json!({"id": id, "text": "some words"}))),
    );
    let build = "index build old.jsonl --index seen";
    let says = [
        "is the id of two records",
        "if you changed an input, pass --restart, too: it discards the checkpoint in seen",
    ];
    place.run(build).refused(1, &says);
    let built = place
        .run(&format!("{build} --on-known-id replace"))
        .succeeded();
    assert!(built.stderr.contains("going on"), "{}", built.stderr);
    let stats = place
        .run("index stats --index seen --report json")
        .succeeded();
    let stats: Value = serde_json::from_slice(&stats.stdout).unwrap();
    assert_eq!(stats["documents"], 3);
    let same = place.run("index stats --index seen --json").succeeded();
    assert_eq!(
        stats,
        serde_json::from_slice::<Value>(&same.stdout).unwrap()
    );
}

#[test]
#[cfg(unix)]
fn an_index_may_begin_empty() {
    let place = Place::new();
    place.write("empty.jsonl", "");
    place.write(
        "old.jsonl",
        lines_of([json!({"id": 1, "text": "some words of a text"})]),
    );
    for (number, kind) in ["lsh", "exact"].into_iter().enumerate() {
        for (input, stdin) in [("/dev/null", ""), ("empty.jsonl", ""), ("-", "")] {
            let index = format!("seen{number}{}", input.replace('/', ""));
            let run = |arguments: &str| {
                place
                    .run_with_stdin(arguments, stdin.as_bytes())
                    .succeeded()
            };
            run(&format!(
                "index build {input} --index {index} --kind {kind}"
            ));
            run(&format!("index verify --index {index}"));
            run(&format!("index add old.jsonl --index {index}"));
            let found = run(&format!(
                "index query old.jsonl --index {index} -o - --quiet"
            ));
            assert_eq!(parse_lines(&found.stdout)[0]["hits"][0]["id"], 1, "{index}");
        }
    }
    // Elsewhere, it is no input.
    let refusal = ["/dev/null", "not a regular file"];
    place.run("dedup /dev/null -o out").refused(1, &refusal);
    place
        .run("index build /dev/null old.jsonl --index other")
        .refused(1, &refusal);
}

#[test]
fn an_index_of_signatures_is_one_of_documents() {
    for (seed, options, ending) in [
        (1, "", "parquet"),
        (2, "--unit chars --scheme datasketch --num-perm 64", "npy"),
        (3, "--count --lowercase", "parquet"),
    ] {
        let place = place(seed);
        let run = |arguments: &str| place.run(&format!("{arguments} --quiet")).succeeded();
        let skip = "--on-bad-record skip";
        let signed = format!("signed.{ending}");
        run(&format!("sign old --output {signed} {skip} {options}"));
        let threshold = "--threshold 0.6";
        run(&format!(
            "index build --signatures {signed} --index signed {threshold}"
        ));
        run(&format!(
            "index build old --index read {skip} {options} {threshold}"
        ));
        run("index verify --index signed");
        let ids = |index: &str| -> Vec<Value> {
            let lines = parse_lines(&run(&format!("index export --index {index}")).stdout);
            lines.into_iter().map(|line| line["id"].clone()).collect()
        };
        let is_named = ending == "parquet";
        if is_named {
            assert_eq!(ids("signed"), ids("read"))
        } else {
            assert_eq!(ids("signed")[0], "a.jsonl:0")
        }
        // The same documents are found, but for those without shingles.
        let known: BTreeMap<String, Value> = ids("read")
            .into_iter()
            .zip(ids("signed"))
            .map(|(read, signed)| (read.as_str().unwrap().to_owned(), signed))
            .collect();
        let hits = |index: &str| {
            run(&format!(
                "index query new.jsonl --index {index} -o {index}.hits"
            ));
            parse_lines(&place.read(&format!("{index}.hits")))
        };
        let mut found = 0;
        for (of_read, of_signed) in hits("read").iter().zip(&hits("signed")) {
            let of = |line: &Value| line["hits"].as_array().unwrap().clone();
            let (read, signed) = (of(of_read), of(of_signed));
            let text = parse_lines(&place.read("new.jsonl"));
            let is_bare = text.iter().any(|line| {
                line["id"] == of_read["id"] && line["text"].as_str().unwrap().len() < 9
            });
            if is_bare {
                continue;
            }
            found += read.len();
            let ids = |hits: &[Value], known: &dyn Fn(&Value) -> Value| -> BTreeSet<String> {
                let id =
                    |hit: &Value| known(&hit["id"]).to_string() + &hit["similarity"].to_string();
                hits.iter().map(id).collect()
            };
            let named = |id: &Value| known[id.as_str().unwrap()].clone();
            assert_eq!(ids(&read, &named), ids(&signed, &Value::clone), "{options}");
        }
        assert!(found > 10, "{found}");
        // What it knows is known to a deduplication.
        let dedup = format!("dedup new.jsonl --verify signature {options} {threshold}");
        run(&format!("{dedup} --against signed -o by-signed"));
        run(&format!("{dedup} --against read -o by-read"));
        let kept = |folder: &str| {
            let lines = parse_lines(&place.read(&format!("{folder}/kept/new.jsonl")));
            let with_words = lines
                .into_iter()
                .filter(|line| line["text"].as_str().unwrap().len() > 9);
            with_words.collect::<Vec<_>>()
        };
        assert_eq!(kept("by-signed"), kept("by-read"), "{options}");
    }
}

#[test]
fn signatures_that_do_not_serve_are_refused() {
    let place = place(4);
    let run = |arguments: &str| place.run(&format!("{arguments} --quiet"));
    let skip = "--on-bad-record skip";
    run(&format!("sign old --output s.parquet {skip}")).succeeded();
    run(&format!(
        "sign old --output stop.parquet --unit stopwords {skip}"
    ))
    .succeeded();
    let build = "index build --index seen --signatures";
    for (arguments, phrases) in [
        (
            "s.parquet --verify exact",
            ["--verify exact needs documents", "INPUT"],
        ),
        (
            "s.parquet --unit chars",
            ["--signatures are read in place of documents", "--unit"],
        ),
        (
            "stop.parquet",
            ["shingles of stopwords", "build the index of the documents"],
        ),
        ("old/a.jsonl", ["unknown file extension", "sign"]),
    ] {
        let refused = run(&format!("{build} {arguments}"));
        assert!(refused.code != Some(0), "{arguments}");
        for phrase in phrases {
            assert!(
                refused.stderr.contains(phrase),
                "{arguments}: {}",
                refused.stderr
            );
        }
        assert!(!place.path("seen/simgpu-index.json").exists());
    }
    assert!(run("index build --index seen").stderr.contains("no input"));
}
