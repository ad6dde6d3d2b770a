//! `dedup --against` an index beside the same run against the documents that the index was built of.

mod refusals;

mod places;

use serde_json::{Value, json};

use crate::support::{Place, families, lines_of, parse_lines};

use places::{kept_in, place, removed, report};

#[test]
fn an_index_is_a_reference() {
    for (seed, of_index, of_dedup) in [
        (1, "--verify exact", ""),
        (2, "--verify signature --threshold 0.7", "--memory 1KB"),
        (
            3,
            "--verify exact --threshold 0.6 --bands 30 --rows 4",
            "--cluster connected",
        ),
        (
            4,
            "--verify signature --unit chars --threshold 0.7",
            "--cluster connected --keep longest --memory 1KB",
        ),
        (
            5,
            "--verify exact --count --threshold 0.7",
            "--keep-by score --memory 1KB --hold-mib 0",
        ),
        (6, "--verify exact", "--drop-empty --hold-mib 0"),
    ] {
        let place = place(seed);
        let run = |arguments: String| place.run(&arguments).succeeded();
        run(format!("index build old --index all {of_index} --quiet"));
        run(format!(
            "index build old/a.jsonl --index a {of_index} --quiet"
        ));
        run(format!(
            "index build old/b.jsonl --index b {of_index} --quiet"
        ));
        let dedup = |against: &str, output: &str| {
            let options = format!("--candidates lsh {of_index} {of_dedup} --quiet");
            run(format!(
                "dedup new.jsonl {against} --output {output} {options}"
            ));
        };
        dedup("--against old", "files");
        let of_files = report(&place, "files")["counts"].clone();
        let removed_for = &of_files["removed_for_reference"];
        assert!(removed_for.as_u64().unwrap() > 20, "{of_files}");
        for (against, index, reference) in [
            ("--against all", of_files["reference"].as_u64(), None),
            (
                "--against a --against b",
                of_files["reference"].as_u64(),
                None,
            ),
            ("--against a --against old/b.jsonl", Some(0), Some(0)),
        ] {
            let output = format!("out{}", against.replace([' ', '/'], ""));
            dedup(against, &output);
            let what = format!("{seed} {against}");
            // The order of documents is that of the files.
            assert_eq!(removed(&place, &output), removed(&place, "files"), "{what}");
            let kept = |folder: &str| place.read(&format!("{folder}/kept/new.jsonl"));
            assert_eq!(kept(&output), kept("files"), "{what}");
            let counts = report(&place, &output)["counts"].clone();
            assert_eq!(counts["kept"], of_files["kept"], "{what}");
            let of = |name: &str| counts[name].as_u64();
            let both = of("index").unwrap() + of("reference").unwrap_or(0);
            assert_eq!(of_files["reference"], both, "{what}");
            if index != Some(0) {
                assert_eq!((of("index"), of("reference")), (index, reference), "{what}");
            }
            let for_index = kept_in(&place, &output, "index");
            assert_eq!(of("removed_for_index"), Some(for_index), "{what}");
            let for_files = of("removed_for_reference").unwrap_or(0);
            assert_eq!(for_files, kept_in(&place, &output, "reference"), "{what}");
            assert_eq!(*removed_for, for_index + for_files, "{what}");
        }
    }
}

#[test]
fn the_report_names_documents_of_the_index() {
    let place = place(8);
    let run = |arguments: &str| place.run(arguments).succeeded();
    run("index build old --index seen --verify exact --quiet");
    run("dedup new.jsonl --against seen -o out --quiet");
    let exported = parse_lines(&run("index export --index seen").stdout);
    for line in parse_lines(&place.read("out/removed.jsonl")) {
        if line["kept_in"] == "index" {
            assert_eq!(line["kept_file"], "seen");
            let number = usize::try_from(line["kept_row"].as_u64().unwrap()).unwrap();
            assert_eq!(exported[number]["id"], line["kept_id"]);
        }
    }
    let page = String::from_utf8(place.read("out/report.html")).unwrap();
    assert!(
        page.contains("of the index"),
        "the page says nothing of the index"
    );
    let id = parse_lines(&place.read("out/removed.jsonl"))[0]["id"].clone();
    run(&format!("show out {}", id.as_str().unwrap()));
    // Without ids of their own, documents of the input have made ones, and those of the index keep theirs.
    place.write("bare.jsonl", {
        let lines = parse_lines(&place.read("new.jsonl"));
        lines_of(lines.iter().map(|line| json!({"text": line["text"]})))
    });
    run("dedup bare.jsonl --against seen -o bare --quiet");
    let named = parse_lines(&place.read("bare/removed.jsonl"));
    let of_index = named.iter().filter(|line| line["kept_in"] == "index");
    let ids: Vec<&str> = of_index
        .map(|line| line["kept_id"].as_str().unwrap())
        .collect();
    assert!(
        ids.len() > 20 && ids.iter().all(|id| id.starts_with('d')),
        "{ids:?}"
    );
    assert!(report(&place, "bare").get("missing_ids").is_none());
}

#[test]
fn what_is_kept_is_added() {
    let place = place(9);
    let run = |arguments: &str| place.run(arguments).succeeded();
    run("index build old --index seen --quiet");
    run("index build old --index copy --quiet");
    let dedup = "dedup new.jsonl --verify signature --quiet";
    run(&format!("{dedup} --against seen -o out --add"));
    let ids = |index: &str| -> Vec<Value> {
        let lines = parse_lines(&run(&format!("index export --index {index}")).stdout);
        lines.into_iter().map(|line| line["id"].clone()).collect()
    };
    let kept = parse_lines(&place.read("out/kept/new.jsonl"));
    let added: Vec<Value> = kept.iter().map(|line| line["id"].clone()).collect();
    assert_eq!(ids("seen"), [ids("copy"), added].concat());
    run("index verify --index seen --quiet");
    // A run that ends before it has added all of them: the missing ones are added by id.
    place.write("some.jsonl", lines_of(kept.iter().take(9).cloned()));
    run("index add some.jsonl --index copy --quiet");
    run("index add out/kept --index copy --on-known-id skip --quiet");
    assert_eq!(ids("copy"), ids("seen"));
    // Beyond memory, ids are in temporary files, which stay until they are added.
    run("index build old --index beyond --quiet");
    let on_disk = "-o on_disk --memory 48KiB --add";
    run(&format!("{dedup} --against beyond {on_disk}"));
    assert_eq!(ids("beyond"), ids("seen"));
    assert_eq!(removed(&place, "on_disk"), removed(&place, "out"));
    assert!(!place.path("on_disk/.partial").exists());
    // Again: what was kept is known.
    run(&format!("{dedup} --against seen -o again --add"));
    let again = report(&place, "again")["counts"].clone();
    assert_eq!(
        again["kept"].as_u64().unwrap(),
        kept.iter().filter(|line| line["text"] == "").count() as u64
    );
}

/// Of documents that an index knows by their signatures alone, those of two indexes are not taken for each other.
#[test]
fn two_indexes_of_signatures_are_two_references() {
    let place = Place::new();
    let texts = families(4, 1, 60);
    let lines = |names: [usize; 2]| {
        let line = |at: usize| json!({"id": format!("d{at}"), "text": texts[at]});
        lines_of(names.map(line))
    };
    place.write("a.jsonl", lines([0, 1]));
    place.write("b.jsonl", lines([2, 3]));
    place.write("new.jsonl", lines([1, 3]));
    for name in ["a", "b"] {
        for arguments in [
            format!("sign {name}.jsonl -o {name}.parquet --quiet"),
            format!("index build --signatures {name}.parquet --index {name} --quiet"),
        ] {
            place.run(&arguments).succeeded();
        }
    }
    place
        .run("dedup new.jsonl --against a --against b --verify signature -o out --quiet")
        .succeeded();
    let lines = removed(&place, "out");
    let kept: Vec<&Value> = lines.iter().map(|line| &line["kept_id"]).collect();
    assert_eq!(kept, [&json!("d1"), &json!("d3")]);
}

/// FILE:ROW of the inputs would be another record of the kept file.
#[test]
fn documents_without_an_id_are_not_added() {
    let place = Place::new();
    place.write(
        "old.jsonl",
        lines_of([json!({"id": 1, "text": "some words of an index that nobody else has"})]),
    );
    place.write(
        "new.jsonl",
        lines_of([json!({"text": "other words of a record that has no id"})]),
    );
    place
        .run("index build old.jsonl --index seen --quiet")
        .succeeded();
    let run = place.run("dedup new.jsonl --against seen --verify signature -o out --add");
    assert!(
        run.stderr.contains("an id in each record"),
        "{}",
        run.stderr
    );
    assert!(!place.path("out/report.json").exists());
}

/// What is found of the index has no signature then.
#[test]
fn an_index_may_share_only_documents_without_words() {
    let place = Place::new();
    let line = |id: &str, text: &str| json!({"id": id, "text": text});
    let words = "one two three four five six seven eight nine ten";
    let others = "other words that nothing here is like, and a few more of them";
    place.write("old.jsonl", lines_of([line("a", "..."), line("b", words)]));
    place.write("new.jsonl", lines_of([line("c", "..."), line("d", others)]));
    place
        .run("index build old.jsonl --index seen --verify exact --quiet")
        .succeeded();
    for (memory, output) in [("", "held"), ("--memory 1KB", "disk")] {
        let run = format!("dedup new.jsonl --against seen -o {output} --quiet {memory}");
        place.run(&run).succeeded();
        let removed = parse_lines(&place.read(&format!("{output}/removed.jsonl")));
        assert_eq!(removed.len(), 1, "{removed:?}");
        let of = |name: &str| removed[0][name].as_str();
        assert_eq!((of("id"), of("kept_id")), (Some("c"), Some("a")));
    }
}
