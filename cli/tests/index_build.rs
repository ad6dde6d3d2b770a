//! `index build`: the index holds what `index add` of the same documents stores, and a build that is stopped goes on.

use std::fs;

use serde_json::json;

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
    let refused = place.run("index build old.jsonl --index seen --quiet");
    refused.refused(1, &["\"b\" is the id of a document in the index"]);
    // The folder is no index yet, and may be built again.
    place.write(
        "old.jsonl",
        lines_of(["a", "b"].map(|id| json!({"id": id, "text": "some words"}))),
    );
    let _ = place
        .run("index build old.jsonl --index seen --restart --quiet")
        .succeeded();
    place.run("index verify --index seen --quiet").succeeded();
}
