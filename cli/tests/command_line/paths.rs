//! Paths of inputs and outputs: stdin, the current folder, links, and names that collide.

use super::outputs::parse_npy;
use crate::support::{Place, Results, SIMGPU, files_in, json_lines, parse_lines, text};

#[test]
fn every_command_reads_stdin() {
    let place = Place::new();
    let lines = json_lines([text(1, 20), text(1, 20)]);
    let run = place
        .run_with_stdin("pairs - -o - --quiet", &lines)
        .succeeded();
    assert_eq!(parse_lines(&run.stdout).len(), 1);
    place.run_with_stdin("sign - -o m.npy", &lines).succeeded();
    assert_eq!(parse_npy(&place.read("m.npy")).1, [2, 128]);
    place
        .run_with_stdin("dedup - -o deep/er/out", &lines)
        .succeeded();
    assert_eq!(Results::of(&place.path("deep/er/out")).count("removed"), 1);
    // No copy of stdin remains.
    let names: Vec<String> = files_in(&place.path("")).into_keys().collect();
    assert_eq!(names.len(), 9, "{names:?}");
}

#[test]
fn the_output_may_be_the_current_folder() {
    let place = Place::with_texts(["a", "b", "a"]);
    std::fs::create_dir_all(place.path("empty/deep")).unwrap();
    for (folder, output) in [("empty/deep", "."), ("empty/deep", "./"), ("empty", "deep")] {
        let input = if folder == "empty" {
            "../in.jsonl"
        } else {
            "../../in.jsonl"
        };
        let arguments = format!("dedup {input} --overwrite -o {output}");
        let run = assert_cmd::Command::new(SIMGPU)
            .args(arguments.split(' '))
            .current_dir(place.path(folder))
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success(), "{arguments}: {stderr}");
        assert_eq!(Results::of(&place.path("empty/deep")).count("removed"), 1);
    }
}

#[test]
fn a_foreign_kept_folder_is_refused() {
    let place = Place::with_texts(["a", "b"]);
    place.write("out/kept/precious", "mine");
    place
        .run("dedup in.jsonl -o out")
        .refused(1, &["out", "not empty"]);
    assert_eq!(place.read("out/kept/precious"), b"mine");
}

#[test]
fn side_files_never_overwrite_an_input() {
    let place = Place::new();
    let lines = json_lines(["a", "b"]);
    for (input, command) in [
        (
            "x.jsonl.partial",
            "pairs x.jsonl.partial --format jsonl -o x.jsonl",
        ),
        (
            "m.npy.json",
            "sign m.npy.json --format jsonl -o m.npy --overwrite",
        ),
    ] {
        place.write(input, &lines);
        place
            .run(command)
            .refused(1, &[input, "choose another output"]);
        assert_eq!(place.read(input), lines);
    }
}

#[cfg(unix)]
#[test]
fn dot_dot_follows_links() {
    let place = Place::new();
    place.write("a/b/inside", "");
    place.write("a/y.jsonl", json_lines(["one", "two"]));
    place.write("y.jsonl", json_lines(["another"]));
    std::os::unix::fs::symlink("a/b", place.path("link")).unwrap();
    place.run("dedup link/../y.jsonl -o out").succeeded();
    let results = Results::of(&place.path("out"));
    assert_eq!(results.count("documents"), 2);
}
