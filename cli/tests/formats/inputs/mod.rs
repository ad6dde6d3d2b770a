//! Inputs: folders, globs, several paths, stdin.

mod links;

mod stdin;

use serde_json::json;

use crate::support::{Place, Results, gzip, json_lines, parquet, strings, text};

/// Two records: the first has a text of its own, the second the text that all these files share.
fn own_and_shared(seed: u64) -> Vec<u8> {
    json_lines([text(seed, 20), text(0, 20)])
}

#[test]
fn a_folder_keeps_its_shape() {
    let place = Place::new();
    place.write("docs/b.jsonl", own_and_shared(1));
    place.write("docs/a/z.jsonl.gz", gzip(&own_and_shared(2)));
    place.write(
        "docs/a/deep/er.parquet",
        parquet([("text", strings([text(3, 20), text(0, 20)]))]),
    );
    place.write("docs/c/gone.jsonl", json_lines([text(0, 20)]));
    let results = place.dedup("docs");
    // Files are read in the order of their names, so the first one keeps the shared text.
    let kept = ["a/deep/er.parquet", "a/z.jsonl.gz", "b.jsonl"];
    assert_eq!(results.kept_names(), kept);
    assert_eq!(results.kept("a/z.jsonl.gz"), json_lines([text(2, 20)]));
    assert_eq!(results.kept("b.jsonl"), json_lines([text(1, 20)]));
    let removed: Vec<_> = results
        .removed
        .iter()
        .map(|line| line["file"].clone())
        .collect();
    assert_eq!(removed, ["a/z.jsonl.gz", "b.jsonl", "c/gone.jsonl"]);
}

#[test]
fn a_glob_finds_files() {
    let place = Place::new();
    place.write("docs/x1.jsonl", own_and_shared(1));
    place.write("docs/x2.jsonl", own_and_shared(2));
    place.write("docs/y.jsonl", "not JSON");
    place.write("docs/sub/x3.jsonl", own_and_shared(3));
    let results = place.dedup("docs/x*.jsonl");
    assert_eq!(results.kept_names(), ["x1.jsonl", "x2.jsonl"]);
    let results = place.dedup("docs/**/x?.jsonl");
    assert_eq!(
        results.kept_names(),
        ["sub/x3.jsonl", "x1.jsonl", "x2.jsonl"]
    );
}

#[test]
fn paths_are_kept_below_the_common_parent() {
    let place = Place::new();
    place.write("data/one/in.jsonl", own_and_shared(1));
    place.write("data/two/deep/in.jsonl", own_and_shared(2));
    place.write("data/two/other.txt", text(0, 20));
    let results = place.dedup("data/two data/one/in.jsonl");
    let kept = ["one/in.jsonl", "two/deep/in.jsonl"];
    assert_eq!(results.kept_names(), kept);
    // Inputs are read in the order of the arguments.
    assert_eq!(results.kept("two/deep/in.jsonl"), own_and_shared(2));
    assert_eq!(results.kept("one/in.jsonl"), json_lines([text(1, 20)]));
}

#[test]
fn a_file_named_twice_is_read_once() {
    let place = Place::new();
    place.write("docs/in.jsonl", own_and_shared(1));
    let run = place
        .run("dedup docs ./docs/in.jsonl docs/../docs -o out")
        .succeeded();
    assert!(
        run.stderr.contains("given more than once"),
        "{}",
        run.stderr
    );
    assert_eq!(Results::of(&place.path("out")).count("documents"), 2);
}

#[test]
fn files_named_twice_are_one_warning() {
    let place = Place::new();
    for i in 0..40 {
        place.write(&format!("docs/{i:02}.jsonl"), json_lines([text(i, 20)]));
    }
    let run = place.run("dedup docs docs docs/0*.jsonl docs/07.jsonl -o out");
    let run = run.succeeded();
    let warnings: Vec<&str> = run.stderr.matches("given more than once").collect();
    assert_eq!(warnings.len(), 1, "{}", run.stderr);
    let says = "40 files were given more than once and are read only once, first docs/00.jsonl";
    assert!(run.stderr.contains(says), "{}", run.stderr);
    let results = Results::of(&place.path("out"));
    assert_eq!(results.count("documents"), 40);
    let repeated = json!({"count": 40, "first": "00.jsonl"});
    assert_eq!(
        results.report["not_read"],
        json!({"repeated_files": repeated})
    );
}

#[test]
fn globs_match_part_by_part() {
    let place = Place::new();
    for name in [
        "a/x.jsonl",
        "a/b/x.jsonl",
        "a/b/c/x.jsonl",
        "d/b/y.jsonl",
        "[1]/z.jsonl",
    ] {
        place.write(&format!("docs/{name}"), own_and_shared(1));
    }
    for (glob, files) in [
        ("docs/*/x.jsonl", 1),
        ("docs/*/b/*.jsonl", 2),
        ("docs/a/**/x.jsonl", 3),
        ("docs/**/b/**/*.jsonl", 3),
        ("./docs/[ad]/b/?.jsonl", 2),
        ("docs//a/*.jsonl", 1),
        ("**/y.jsonl", 1),
        ("docs/[[]1]/*", 1),
    ] {
        let results = place.dedup(glob);
        assert_eq!(results.count("documents"), 2 * files, "{glob}");
    }
    for glob in [
        "docs/*/none.jsonl",
        "none/*.jsonl",
        "docs/*/",
        "docs/a/x.jsonl/*",
    ] {
        place
            .run(&format!("dedup {glob} -o new"))
            .refused(1, &["no file matches"]);
    }
    place
        .run("dedup docs/a** -o new")
        .refused(1, &["invalid glob"]);
}

#[test]
fn descriptions_of_data_are_no_documents() {
    let place = Place::new();
    place.write("repo/data/train.jsonl", own_and_shared(1));
    place.write("repo/README.md", text(8, 30));
    place.write("repo/LICENSE", text(9, 30));
    place.write("repo/data/README_ja.md", text(10, 30));
    place.write("repo/notes.txt", text(11, 30));
    let run = place.run("dedup repo -o out").succeeded();
    let says = "warning: skipped 3 files that describe the data beside them, first repo/LICENSE; name such a file as an input to read it as a document\n";
    assert!(run.stderr.contains(says), "{}", run.stderr);
    let results = Results::of(&place.path("out"));
    assert_eq!(results.kept_names(), ["data/train.jsonl", "notes.txt"]);
    let descriptions = json!({"count": 3, "first": "LICENSE"});
    assert_eq!(
        results.report["not_read"],
        json!({"descriptions": descriptions})
    );
    // A file that is named is read, and so is one without data beside it.
    for (arguments, documents) in [
        ("repo/README.md repo/data", 3),
        ("repo/*.md", 1),
        ("repo/data/*", 2),
        ("repo --format text", 5),
        ("repo --include *.md", 2),
    ] {
        assert_eq!(
            place.dedup(arguments).count("documents"),
            documents,
            "{arguments}"
        );
    }
}

#[cfg(unix)]
#[test]
fn file_names_outside_utf_8_never_collide() {
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new();
    std::fs::create_dir(place.path("docs")).unwrap();
    // Different names that look the same once invalid bytes are replaced.
    for (i, name) in [&b"a\xFE.jsonl"[..], b"a\xFF.jsonl"]
        .into_iter()
        .enumerate()
    {
        let name = std::ffi::OsStr::from_bytes(name);
        std::fs::write(
            place.path("docs").join(name),
            json_lines([format!("text {i}")]),
        )
        .unwrap();
    }
    let run = place.run("dedup docs -o out");
    if run.code == Some(0) {
        assert_eq!(
            count_files(&place.path("out/kept")),
            2,
            "one kept file overwrote another"
        );
    } else {
        run.refused(1, &["docs", "UTF-8", "; "]);
    }
}

#[cfg(unix)]
fn count_files(folder: &std::path::Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

#[test]
fn hidden_files_and_marks_are_left_out() {
    let place = Place::new();
    let same = || json_lines([text(1, 20)]);
    for name in [
        "docs/a.jsonl",
        "docs/.hidden.jsonl",
        "docs/.git/x.jsonl",
        "docs/_delta_log/0.jsonl",
        "docs/_temporary/0.jsonl",
        "docs/_notes.jsonl",
    ] {
        place.write(name, same());
    }
    for name in [
        "docs/_SUCCESS",
        "docs/_committed_17",
        "docs/.DS_Store",
        "docs/.a.jsonl.crc",
    ] {
        place.write(name, "");
    }
    let count = |arguments: &str| place.dedup(arguments).count("documents");
    assert_eq!(count("docs"), 2);
    assert_eq!(count("docs/*"), 2);
    assert_eq!(count("docs/**/*.jsonl"), 2);
    assert_eq!(count("docs/_delta_log/*"), 1);
    assert_eq!(count("docs/.h*"), 1);
    assert_eq!(count("docs/.hidden.jsonl docs/.git/x.jsonl"), 2);
    assert_eq!(count("docs/**/*.jsonl --hidden"), 4);
    // Other hidden files are of no format.
    let run = place.run("dedup docs -o out --overwrite --hidden");
    run.refused(1, &["docs/.DS_Store: the name has no ending"]);
    std::fs::remove_file(place.path("docs/.DS_Store")).unwrap();
    std::fs::remove_file(place.path("docs/.a.jsonl.crc")).unwrap();
    assert_eq!(count("docs --hidden"), 4);
    place.write("bare/.a.jsonl", same());
    let run = place.run("dedup bare -o out --overwrite");
    run.refused(1, &["bare: the folder holds no file", "--hidden"]);
}

#[test]
fn a_saved_dataset_is_read() {
    let place = Place::new();
    let stream = std::fs::read(
        std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/formats/fixtures/stream.arrows"),
    );
    let stream = stream.unwrap();
    for split in ["train", "test"] {
        place.write(&format!("set/{split}/data-00000-of-00001.arrow"), &stream);
        place.write(
            &format!("set/{split}/dataset_info.json"),
            "{\n  \"features\": {}\n}",
        );
        place.write(
            &format!("set/{split}/state.json"),
            "{\n  \"_split\": null\n}",
        );
    }
    place.write(
        "set/dataset_dict.json",
        "{\"splits\": [\"train\", \"test\"]}",
    );
    place.write("set/train/cache-5f3a.arrow", &stream);
    for inputs in ["set", "set/**/*"] {
        assert_eq!(place.dedup(inputs).count("documents"), 18);
    }
    // A file of records may have such a name.
    place.write("docs/state.json", own_and_shared(1));
    assert_eq!(place.dedup("docs").count("documents"), 2);
    assert_eq!(place.dedup("docs/state.json").count("documents"), 2);
}
