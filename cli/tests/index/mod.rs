//! `simgpu index` beside `pairs --against` and `dedup --cluster greedy`, and what stops it.

mod places;

mod writers;

mod records;

use serde_json::{Value, json};

use crate::support::{Place, files_in, lines_of, numbered_lines, parse_lines};

use places::{by_pairs, candidates, hits, id, place};

#[test]
fn an_index_finds_the_pairs_of_two_files() {
    for (seed, kind, options) in [
        (1, "lsh", "--verify signature"),
        (2, "lsh", "--verify exact --threshold 0.6"),
        (12, "exact", "--threshold 0.4"),
        (13, "exact", "--unit chars --size 4 --threshold 0.7"),
        (14, "exact", "--measure contained --threshold 0.6"),
        (
            3,
            "lsh",
            "--verify exact --unit chars --size 5 --threshold 0.5 --bands 30 --rows 4",
        ),
        (
            4,
            "lsh",
            "--verify signature --scheme datasketch --num-perm 64 --seed 7 --threshold 0.5",
        ),
    ] {
        let place = place(seed);
        let build = format!("index build old.jsonl --index seen --kind {kind} {options}");
        let built = place.run(&build).succeeded();
        assert!(built.stderr.contains("added"), "{}", built.stderr);
        let query = "index query new.jsonl --index seen --output hits.jsonl";
        place.run(query).succeeded();
        let lines = parse_lines(&place.read("hits.jsonl"));
        let expected = by_pairs(&place, &format!("{} {options}", candidates(kind)));
        assert!(expected.values().filter(|hits| !hits.is_empty()).count() > 5);
        assert_eq!(hits(&lines), expected, "{options}");
        // One line per record, in order.
        let ids = |records: &[Value]| -> Vec<Value> {
            records.iter().map(|record| record["id"].clone()).collect()
        };
        assert_eq!(ids(&lines), ids(&parse_lines(&place.read("new.jsonl"))));
        place.run("index verify --index seen").succeeded();
    }
}

#[test]
fn what_is_new_is_what_dedup_keeps() {
    for (seed, kind, options) in [
        (5, "lsh", "--verify signature --threshold 0.6"),
        (6, "lsh", "--verify exact"),
        (15, "exact", "--threshold 0.5"),
    ] {
        let place = place(seed);
        let all = [place.read("old.jsonl"), place.read("new.jsonl")].concat();
        place.write("all.jsonl", &all);
        place.write("none.jsonl", "");
        let dedup = format!(
            "all.jsonl --cluster greedy --keep first {} {options}",
            match kind {
                "lsh" => "--candidates lsh --max-bucket 1000000",
                _ => candidates(kind),
            }
        );
        let expected = place.dedup(&dedup);
        place
            .run(&format!(
                "index build none.jsonl --index seen --kind {kind} {options}"
            ))
            .succeeded();
        let add = "index add - --index seen --if-new --output - --quiet";
        let added = place.run_with_stdin(add, &all).succeeded();
        let lines = parse_lines(&added.stdout);
        let kept: Vec<Value> = parse_lines(&expected.kept("all.jsonl"))
            .iter()
            .map(|record| record["id"].clone())
            .collect();
        let new = lines.iter().filter(|line| line["verdict"] == "added");
        assert_eq!(new.map(|line| line["id"].clone()).collect::<Vec<_>>(), kept);
        let seen: Vec<(Value, Value, Value)> = lines
            .iter()
            .filter(|line| line["verdict"] == "seen")
            .map(|line| {
                let hit = &line["hits"][0];
                (
                    line["id"].clone(),
                    hit["id"].clone(),
                    hit["found_by"].clone(),
                )
            })
            .collect();
        let mut removed = expected.removals();
        removed.sort_by_key(|(id, ..)| seen.iter().position(|(other, ..)| id == other));
        assert_eq!(seen, removed);
        let counted = place.run("index stats --index seen --json").succeeded();
        let stats: Value = serde_json::from_slice(&counted.stdout).unwrap();
        assert_eq!(stats["documents"], kept.len());
    }
}

#[test]
fn deleted_documents_are_found_no_more() {
    let place = place(7);
    place
        .run("index build old.jsonl --index seen --verify exact")
        .succeeded();
    let old = parse_lines(&place.read("old.jsonl"));
    let (gone, stay) = old.split_at(old.len() / 2);
    let ids: String = gone
        .iter()
        .map(|record| format!("{}\n", record["id"].as_str().unwrap()))
        .collect();
    place.write("ids.txt", format!("{ids}\"nowhere\"\n"));
    let deleted = place
        .run("index delete --index seen --ids ids.txt")
        .succeeded();
    let missing = "warning: 1 id not in the index, the first of them \"nowhere\"";
    assert!(deleted.stderr.contains(missing), "{}", deleted.stderr);
    place.write("old.jsonl", lines_of(stay.to_vec()));
    let expected = by_pairs(&place, "--candidates lsh --verify exact");
    for compacts in [false, true] {
        if compacts {
            place.run("index compact --index seen").succeeded();
        }
        let found = place
            .run("index query new.jsonl --index seen -o - --quiet")
            .succeeded();
        assert_eq!(hits(&parse_lines(&found.stdout)), expected);
        place.run("index verify --index seen").succeeded();
    }
    let exported = place.run("index export --index seen").succeeded();
    let exported = parse_lines(&exported.stdout);
    let ids = |records: &[Value]| records.iter().map(|it| id(&it["id"])).collect::<Vec<_>>();
    assert_eq!(ids(&exported), ids(stay));
}

/// So that another user can ask a snapshot, as the umask and the folder say.
#[cfg(unix)]
#[test]
fn all_files_of_an_index_have_the_same_readers() {
    use std::os::unix::fs::PermissionsExt;

    let place = place(12);
    for command in [
        "index build old.jsonl --index seen",
        "index add new.jsonl --index seen",
        "index compact --index seen",
        "index snapshot seen copy",
    ] {
        place.run(command).succeeded();
        let folder = command.split(' ').next_back().unwrap();
        let mode = |name: &str| {
            let path = place.path(folder).join(name);
            path.metadata().unwrap().permissions().mode() & 0o777
        };
        let expected = mode("simgpu-index.json");
        for name in files_in(&place.path(folder)).into_keys() {
            assert_eq!(mode(&name), expected, "{command}: {name}");
        }
    }
}

#[test]
fn hits_of_contained_documents_have_the_shares_of_both() {
    let place = Place::new();
    let whole = "one two three four five six seven eight nine ten";
    let part = "three four five six seven eight";
    place.write("whole.jsonl", numbered_lines([whole], 0));
    place.write("part.jsonl", numbered_lines([part], 1));
    let build = "index build whole.jsonl --index seen --kind exact --measure contained --size 3";
    place.run(build).succeeded();
    let query = "index query part.jsonl whole.jsonl --index seen -o - --quiet";
    let lines = parse_lines(&place.run(query).succeeded().stdout);
    let hit = |line: &Value| line["hits"][0].clone();
    assert_eq!(
        hit(&lines[0]),
        json!({"id": 0, "similarity": 1.0, "query_share": 1.0, "document_share": 0.5, "found_by": "exact"})
    );
    assert_eq!(hit(&lines[1])["found_by"], "identical");
    assert_eq!(hit(&lines[1])["document_share"], 1.0);
    let stats = place.run("index stats --index seen --json").succeeded();
    let stats: Value = serde_json::from_slice(&stats.stdout).unwrap();
    assert_eq!(
        (
            &stats["kind"],
            &stats["measure"],
            &stats["recall_at_threshold"]
        ),
        (&json!("exact"), &json!("contained"), &json!(1.0))
    );
    assert_eq!(stats["read_by_query_p99"], 2);
    for (option, kind) in [
        ("--bands 4 --rows 4", "exact"),
        ("--seed 3", "exact"),
        ("--measure contained", "lsh"),
    ] {
        let flag = option.split(' ').next().unwrap();
        place
            .run(&format!(
                "index build whole.jsonl --index other --kind {kind} {option}"
            ))
            .refused(2, &[flag, "--kind"]);
    }
}
