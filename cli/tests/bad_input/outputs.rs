//! Bad output paths: occupied, unwritable, inside an input, or an input itself.

use super::refusals::{every_command_refuses, leaves_no_output};
use crate::support::{Place, SIMGPU, files_in, json_lines, parquet, strings, text};

#[test]
fn a_folder_with_foreign_files_is_refused() {
    let place = Place::with_texts(["a", "b"]);
    place.write("out/thesis.tex", "years of work");
    let phrases = [
        "out: the output folder is not empty",
        "thesis.tex",
        "choose an empty folder",
    ];
    for command in ["dedup in.jsonl -o out", "dedup in.jsonl -o out --overwrite"] {
        place.run(command).refused(1, &phrases);
        leaves_no_output(&place);
        assert_eq!(place.read("out/thesis.tex"), b"years of work");
    }
}

#[test]
fn overwrite_spares_files_added_to_results() {
    for added in [
        "kept/mine.jsonl",
        "kept/deep/mine.jsonl",
        "notes.txt",
        "notes/a.txt",
    ] {
        let place = Place::with_texts(["a", "b"]);
        place.run("dedup in.jsonl -o out").succeeded();
        place.write(&format!("out/{added}"), "mine");
        let before = files_in(&place.path("out"));
        let top = added.split('/').next().unwrap();
        let named = if top == "kept" { added } else { top };
        let run = place.run("dedup in.jsonl -o out --overwrite");
        run.refused(1, &["simgpu did not write", named, "move that file"]);
        assert_eq!(files_in(&place.path("out")), before, "{added}");
    }
}

#[test]
fn overwrite_spares_results_of_other_programs() {
    for (name, contents) in [
        ("report.json", "{}"),
        ("run.json", "{\"files\": [\"run.json\"]}"),
        ("removed.jsonl", "mine"),
        ("kept/a.jsonl", "mine"),
    ] {
        let place = Place::with_texts(["a", "b"]);
        place.write(&format!("out/{name}"), contents);
        let run = place.run("dedup in.jsonl -o out --overwrite");
        run.refused(1, &["simgpu did not write", name]);
        assert_eq!(place.read(&format!("out/{name}")), contents.as_bytes());
        assert!(!place.holds("out/.partial"), "{name}");
    }
}

#[test]
fn overwrite_drops_files_of_fewer_inputs() {
    let place = Place::new();
    place.write("docs/a.jsonl", json_lines(["one"]));
    place.write("docs/sub/b.jsonl", json_lines(["two"]));
    place.run("dedup docs -o out").succeeded();
    std::fs::remove_dir_all(place.path("docs/sub")).unwrap();
    place.run("dedup docs -o out --overwrite").succeeded();
    let names: Vec<String> = files_in(&place.path("out")).into_keys().collect();
    let expected = [
        "clusters.parquet",
        "kept/a.jsonl",
        "removed.jsonl",
        "report.html",
        "report.json",
        "run.json",
        "samples.jsonl",
    ];
    assert_eq!(names, expected);
}

#[cfg(unix)]
#[test]
fn links_and_special_files_are_never_replaced() {
    use std::os::unix::fs::symlink;
    let place = Place::with_texts(["a", "b"]);
    let fifo = place.path("fifo.jsonl");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made.unwrap().success());
    symlink("missing.csv", place.path("link.csv")).unwrap();
    place.write("other.txt", "mine");
    symlink("other.txt", place.path("s.npy.partial")).unwrap();
    for (output, problem) in [
        ("pairs in.jsonl -o fifo.jsonl", "not a regular file"),
        ("pairs in.jsonl -o link.csv", "a link"),
        ("sign in.jsonl -o s.npy", "not a regular file"),
    ] {
        for command in [output.to_owned(), format!("{output} --overwrite")] {
            place.run(&command).refused(1, &[problem, "; "]);
        }
    }
    assert!(fifo.exists() && place.path("link.csv").is_symlink());
    assert_eq!(place.read("other.txt"), b"mine");
}

#[test]
fn existing_results_need_overwrite() {
    let place = Place::with_texts(["a", "b"]);
    place.run("dedup in.jsonl -o out").succeeded();
    place.write("in.jsonl", json_lines(["c"]));
    let before = files_in(&place.path("out"));
    let phrases = ["out: the output folder is not empty", "--overwrite"];
    place.run("dedup in.jsonl -o out").refused(1, &phrases);
    assert_eq!(files_in(&place.path("out")), before);
    place.run("dedup in.jsonl -o out --overwrite").succeeded();
    assert_eq!(place.read("out/kept/in.jsonl"), json_lines(["c"]));
}

#[test]
fn a_failed_overwrite_keeps_the_earlier_results() {
    let place = Place::with_texts(["a", "b"]);
    place.run("dedup in.jsonl -o out").succeeded();
    place.run("pairs in.jsonl -o pairs.csv").succeeded();
    let before = files_in(&place.path("out"));
    let pairs_before = place.read("pairs.csv");
    place.write("in.jsonl", "{}\n");
    place
        .run("dedup in.jsonl -o out --overwrite")
        .refused(1, &["line 1"]);
    place
        .run("pairs in.jsonl -o pairs.csv --overwrite")
        .refused(1, &["line 1"]);
    let mut after = files_in(&place.path("out"));
    after.retain(|name, _| !name.starts_with(".partial"));
    assert_eq!(after, before);
    assert_eq!(place.read("pairs.csv"), pairs_before);
}

#[test]
fn an_existing_output_file_needs_overwrite() {
    let place = Place::with_texts(["a", "b"]);
    for command in [
        "pairs in.jsonl -o out.jsonl",
        "pairs in.jsonl -o out.csv",
        "sign in.jsonl -o out.parquet",
        "sign in.jsonl -o out.npy",
    ] {
        place.run(command).succeeded();
        let name = command.rsplit(' ').next().unwrap();
        place.write(name, "mine");
        place
            .run(command)
            .refused(1, &[name, "the file exists", "--overwrite"]);
        assert_eq!(place.read(name), b"mine");
        place.run(&format!("{command} --overwrite")).succeeded();
        assert_ne!(place.read(name), b"mine");
    }
}

#[test]
fn an_unwritable_output_path_is_refused() {
    let place = Place::with_texts(["a", "b"]);
    place.write("file", "");
    for (command, path) in [
        ("dedup in.jsonl -o file/out", "file/out"),
        ("dedup in.jsonl -o file", "file"),
        ("pairs in.jsonl -o file/pairs.jsonl", "file/pairs.jsonl"),
        (
            "pairs in.jsonl -o missing/pairs.jsonl",
            "missing/pairs.jsonl",
        ),
        (
            "sign in.jsonl -o file/signatures.npy",
            "file/signatures.npy",
        ),
        (
            "sign in.jsonl -o missing/signatures.npy",
            "missing/signatures.npy",
        ),
    ] {
        // Every message ends with a semicolon and a remedy.
        let run = place.run(command).refused(1, &[path, "; "]);
        let causes = run.error().matches("os error").count();
        assert!(
            causes <= 1,
            "the error repeats its cause {causes} times: {}",
            run.error()
        );
    }
    assert_eq!(place.read("file"), b"");
}

#[test]
fn an_output_folder_inside_an_input_is_refused() {
    let place = Place::new();
    place.write("docs/in.jsonl", json_lines(["a"]));
    let run = place.run("dedup docs -o docs/out");
    run.refused(
        1,
        &["docs/out", "inside the input folder", "outside the inputs"],
    );
    assert!(!place.holds("docs/out/report.json"));
}

#[cfg(unix)]
#[test]
fn an_output_folder_linked_into_inputs_is_refused() {
    let place = Place::new();
    place.write("docs/in.jsonl", json_lines(["a"]));
    std::os::unix::fs::symlink("docs", place.path("link")).unwrap();
    for command in ["dedup link -o docs/out", "dedup docs -o link/out"] {
        let run = place.run(command);
        run.refused(1, &["out", "inside the input folder", "outside the inputs"]);
        assert!(!place.holds("docs/out/report.json"), "{command}");
    }
}

#[test]
fn no_output_overwrites_an_input() {
    let place = Place::with_texts(["a", "b"]);
    let before = place.read("in.jsonl");
    place.write("in.parquet", parquet([("text", strings(["a", "b"]))]));
    place.run("dedup in.jsonl -o out").succeeded();
    for (command, path) in [
        ("pairs in.jsonl -o in.jsonl --overwrite", "in.jsonl"),
        (
            "pairs ./in.jsonl -o out/../in.jsonl --overwrite",
            "in.jsonl",
        ),
        ("sign in.parquet -o in.parquet --overwrite", "in.parquet"),
        ("dedup out/kept -o out --overwrite", "out"),
        ("dedup out/kept/in.jsonl -o out --overwrite", "out"),
    ] {
        let run = place.run(command);
        assert_eq!(run.code, Some(1), "{command} was not refused");
        run.refused(1, &[path, "; "]);
    }
    assert_eq!(place.read("in.jsonl"), before);
    assert_eq!(place.read("out/kept/in.jsonl"), before);
}

#[test]
fn an_unknown_output_format_is_refused() {
    let place = Place::with_texts(["a"]);
    let phrases = [
        "pairs.txt",
        "choose a name that ends in .jsonl, .csv or .parquet",
    ];
    place
        .run("pairs in.jsonl -o pairs.txt")
        .refused(2, &phrases);
    let phrases = [
        "signatures.csv",
        "choose a name that ends in .parquet or .npy",
    ];
    place
        .run("sign in.jsonl -o signatures.csv")
        .refused(2, &phrases);
    // The error is the only message.
    let run = place.run("sign in.jsonl -o signatures.csv");
    assert!(run.stderr.starts_with("simgpu: "), "{}", run.stderr);
}

#[test]
fn lists_of_hits_are_written_as_json_lines_alone() {
    let place = Place::with_texts(["one two three four five six", "seven"]);
    place
        .run("index build in.jsonl --index seen -q")
        .succeeded();
    for command in ["query", "add --if-new"] {
        for (name, kind) in [
            ("h.csv", "CSV"),
            ("h.TSV", "TSV"),
            ("h.parquet", "Parquet"),
            ("h.arrow", "Arrow"),
            ("h.csv.zst", "CSV"),
            ("h.jsonl.gz", "gzip"),
        ] {
            let run = place.run(&format!("index {command} in.jsonl --index seen -o {name}"));
            let says =
                format!("plain JSON Lines, not as {kind}; choose a name that ends in .jsonl");
            run.refused(1, &[name, &says]);
            assert!(!place.holds(name));
        }
    }
    // Other names say no format.
    for name in ["h.jsonl", "h.ndjson", "h.json", "h.hits", "h"] {
        let run = place.run(&format!("index query in.jsonl --index seen -o {name} -q"));
        run.succeeded();
        assert_eq!(place.read(name), place.read("h.jsonl"));
    }
}

#[cfg(unix)]
#[test]
fn the_limit_of_open_files_is_named() {
    let place = Place::new();
    for i in 0..100 {
        place.write(&format!("in/{i}.jsonl"), json_lines([text(i, 10)]));
    }
    let limited = |limits: &str| {
        let command = format!("{limits}; exec {SIMGPU} dedup in -o out --overwrite -q --threads 8");
        let output = std::process::Command::new("sh")
            .args(["-c", &command])
            .current_dir(place.path(""))
            .env("NODEVICE_SELECT", "1")
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    let says = limited("ulimit -S -n 8");
    assert!(says.contains("Too many open files"), "{says}");
    assert!(
        says.contains("the limit is 8 open files; raise it: `ulimit -n "),
        "{says}"
    );
    let says = limited("ulimit -n 8");
    let remedy = "the limit is 8 open files; raise it as root or in the settings of the container: `ulimit -n ";
    assert!(says.contains(remedy), "{says}");
}

#[cfg(unix)]
#[test]
fn a_file_beyond_the_limit_names_it() {
    let place = Place::with_texts((0..200).map(|seed| format!("{seed} {}", "text ".repeat(200))));
    for (command, limit, remedy) in [
        (
            "dedup in.jsonl -o out",
            "-S -f 64",
            "raise it: `ulimit -f unlimited`",
        ),
        ("sign in.jsonl -o s.npy", "-f 64", "raise it as root"),
    ] {
        let output = std::process::Command::new("sh")
            .args(["-c", &format!("ulimit {limit}; exec {SIMGPU} {command} -q")])
            .current_dir(place.path(""))
            .env("NODEVICE_SELECT", "1")
            .output()
            .unwrap();
        let says = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{says}");
        let phrases = [
            "File too large",
            "larger than the limit of this process",
            remedy,
        ];
        assert!(phrases.iter().all(|phrase| says.contains(phrase)), "{says}");
    }
}

#[test]
fn outputs_on_other_machines_are_refused() {
    let place = Place::with_texts(["a"]);
    let remedy =
        "write to out on this machine, and copy that there: `aws s3 sync out s3://bucket/out`";
    for command in [
        "dedup in.jsonl -o s3://bucket/out",
        "passages in.jsonl --min-length 3 -o s3://bucket/out",
        "index build in.jsonl --index s3://bucket/out",
    ] {
        place
            .run(command)
            .refused(1, &["s3://bucket/out: it is on another machine", remedy]);
    }
    for command in [
        "pairs in.jsonl -o gs://b/p.csv",
        "sign in.jsonl -o gs://b/p.npy",
    ] {
        place
            .run(command)
            .refused(1, &["it is on another machine", "`gcloud storage cp p."]);
    }
    let copy = "copy it to this machine: `aws s3 ";
    for command in [
        "index query in.jsonl --index s3://b/ix -o h.jsonl",
        "pairs --signatures s3://b/s.parquet -o p.jsonl",
        "link in.jsonl --fields text --equivalents s3://b/n.txt -o out",
        "dedup in.jsonl --against s3://b/old.jsonl -o out",
    ] {
        place.run(command).refused(1, &[copy]);
    }
    place
        .run("dedup in.jsonl -o out --temp-dir s3://b/tmp")
        .refused(
            2,
            &["'--temp-dir <DIR>': it is on another machine; name a folder of this machine"],
        );
    let run = place.run("dedup in.jsonl --against s3://b/old.jsonl -o out");
    assert!(!run.error().contains("pipe in"), "{}", run.error());
    place
        .run("index query in.jsonl --index none -o h.jsonl")
        .refused(
            1,
            &["none: no index: there is no such folder; name the folder of an index"],
        );
    assert!(!place.path("s3:").exists() && !place.path("gs:").exists());
}

#[test]
fn the_error_names_a_missing_output_folder() {
    let place = Place::with_texts(["a"]);
    let phrases = ["there is no folder missing/in", "create it"];
    for command in [
        "sign in.jsonl -o missing/in/s.npy",
        "sign - -o missing/in/s.parquet",
        "pairs in.jsonl -o missing/in/p.csv",
    ] {
        place.run(command).refused(1, &phrases);
    }
}

#[test]
fn a_failed_run_does_not_block_the_next() {
    let place = Place::new();
    place.write("in.jsonl", "{}\n");
    every_command_refuses(&place, "in.jsonl", &["line 1"]);
    place.write("in.jsonl", json_lines(["a"]));
    place.run("dedup in.jsonl -o out").succeeded();
    place.run("pairs in.jsonl -o pairs.jsonl").succeeded();
    place.run("sign in.jsonl -o signatures.npy").succeeded();
    let mut names: Vec<String> = files_in(&place.path("")).into_keys().collect();
    names.sort_unstable();
    let expected = [
        "in.jsonl",
        "out/clusters.parquet",
        "out/kept/in.jsonl",
        "out/removed.jsonl",
        "out/report.html",
        "out/report.json",
        "out/run.json",
        "out/samples.jsonl",
        "pairs.jsonl",
        "pairs.jsonl.report.json",
        "signatures.npy",
        "signatures.npy.json",
    ];
    assert_eq!(names, expected);
}
