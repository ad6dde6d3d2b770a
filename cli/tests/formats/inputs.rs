//! Inputs: folders, globs, several paths, stdin.

use crate::samples::{in_pieces, read_table};
use crate::support::{Place, Results, gzip, json_lines, parquet, strings, text, zstd};

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
fn stdin_is_read_in_every_format() {
    let lines = json_lines([text(1, 20), text(2, 20), text(1, 20)]);
    let kept_lines = json_lines([text(1, 20), text(2, 20)]);
    let table = parquet([("text", strings([text(1, 20), text(2, 20), text(1, 20)]))]);
    let place = Place::new();
    for (stdin, options, name) in [
        (lines.clone(), "", "stdin.jsonl"),
        (gzip(&lines), "", "stdin.jsonl.gz"),
        (in_pieces(gzip, &lines), "", "stdin.jsonl.gz"),
        (zstd(&lines), "", "stdin.jsonl.zst"),
        (
            lines.clone(),
            "--format jsonl --verify exact",
            "stdin.jsonl",
        ),
        (table.clone(), "", "stdin.parquet"),
        (
            table.clone(),
            "--format parquet --verify exact",
            "stdin.parquet",
        ),
        (gzip(&table), "--format parquet", "stdin.parquet.gz"),
    ] {
        let results = place.dedup_with_stdin(&format!("- {options}"), &stdin);
        assert_eq!(results.kept_names(), [name]);
        // Input and output start with the same magic bytes.
        assert_eq!(results.stored(name)[..2], stdin[..2], "{name}");
        if name.contains("jsonl") {
            assert_eq!(results.kept(name), kept_lines);
        } else {
            assert_eq!(read_table(results.kept(name)).0.num_rows(), 2);
        }
        assert_eq!(results.removed[0]["id"], format!("{name}:2"));
    }
}

#[test]
fn stdin_keeps_its_place_among_files() {
    let place = Place::new();
    place.write("a.jsonl", own_and_shared(1));
    place.write("b.txt", text(0, 20));
    let results = place.dedup_with_stdin("b.txt - a.jsonl", &own_and_shared(2));
    assert_eq!(results.kept_names(), ["a.jsonl", "b.txt", "stdin.jsonl"]);
    let removed: Vec<_> = results
        .removed
        .iter()
        .map(|line| line["id"].clone())
        .collect();
    assert_eq!(removed, ["stdin.jsonl:1", "a.jsonl:1"]);
    let results = place.dedup_with_stdin("- --format text", text(5, 20).as_bytes());
    assert_eq!(results.kept("stdin.txt"), text(5, 20).as_bytes());
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

#[test]
fn text_on_stdin_needs_its_format() {
    let csv = format!("id,text\n1,{}\n2,{}\n", text(1, 20), text(1, 20));
    let place = Place::new();
    for stdin in [
        csv.clone().into_bytes(),
        gzip(csv.as_bytes()),
        b" 7\n".to_vec(),
    ] {
        for options in ["", "--on-bad-record skip"] {
            let run = place.run_with_stdin(&format!("dedup - -o out {options}"), &stdin);
            run.refused(
                1,
                &[
                    "stdin: neither JSON, Parquet nor Arrow",
                    "pass --format csv",
                ],
            );
        }
    }
    for stdin in [csv.clone().into_bytes(), gzip(csv.as_bytes())] {
        let results = place.dedup_with_stdin("- --format csv", &stdin);
        assert_eq!((results.count("kept"), results.count("removed")), (1, 1));
    }
    let mixed = [b"oops\n".to_vec(), own_and_shared(1)].concat();
    let results = place.dedup_with_stdin("- --format jsonl --on-bad-record skip", &mixed);
    assert_eq!(results.count("skipped"), 1);
    // The reader names another encoding.
    let utf_16: Vec<u8> = "\u{FEFF}{}"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let run = place.run_with_stdin("dedup - -o other", &utf_16);
    run.refused(1, &["stdin: the file is UTF-16"]);
}
