//! `--limit`, `--include` and `--exclude`: reading a part of the inputs.

use crate::support::{Place, Results, families, json_lines, parquet, strings, zstd};

#[test]
fn a_limit_equals_shorter_inputs() {
    let texts = families(20, 4, 60);
    let place = Place::new();
    place.write("all/a.jsonl", json_lines(&texts[..30]));
    place.write("all/b.jsonl.zst", zstd(&json_lines(&texts[30..50])));
    place.write("all/c.parquet", parquet([("text", strings(&texts[50..]))]));
    for limit in [1, 29, 30, 31, 49, 50, 51, 79, 80, 200] {
        let taken = limit.min(texts.len());
        let _ = std::fs::remove_dir_all(place.path("part"));
        for (name, range) in [
            ("a.jsonl", 0..30),
            ("b.jsonl.zst", 30..50),
            ("c.parquet", 50..80),
        ] {
            let some = &texts[range.start.min(taken)..range.end.min(taken)];
            let bytes = match name {
                "a.jsonl" => json_lines(some),
                "b.jsonl.zst" => zstd(&json_lines(some)),
                _ => parquet([("text", strings(some))]),
            };
            if !some.is_empty() {
                place.write(&format!("part/{name}"), bytes);
            }
        }
        for options in [
            "--verify exact",
            "--verify exact --hold-mib 0 --batch-mib 1",
        ] {
            let whole = place.dedup(&format!("part {options}"));
            let part = place.dedup(&format!("all {options} --limit {limit}"));
            assert_eq!(part.removed_lines.len(), whole.removed_lines.len());
            assert_eq!(part.count("documents"), taken as u64);
            assert_eq!(part.report["parameters"]["limit"], limit);
            assert_eq!(
                part.report["counts"]["kept"],
                whole.report["counts"]["kept"]
            );
            assert_eq!(part.kept_names(), whole_names(&place, options));
        }
    }
}

/// The names of the kept files of the folder `part`.
fn whole_names(place: &Place, options: &str) -> Vec<String> {
    let command = format!("dedup part {options} -o whole --overwrite -q");
    place.run(&command).succeeded();
    Results::of(&place.path("whole")).kept_names()
}

#[test]
fn a_limit_counts_bad_records() {
    let place = Place::new();
    place.write(
        "in.jsonl",
        "{}\n{\"text\": \"a\"}\n\n{\"text\": \"b\"}\nnot read\n",
    );
    let results = place.dedup("in.jsonl --on-bad-record skip --limit 3");
    assert_eq!((results.count("documents"), results.count("kept")), (3, 2));
    assert_eq!(results.count("skipped"), 1);
    let run = place.run("dedup in.jsonl --on-bad-record skip --dry-run --limit 3");
    let run = run.succeeded();
    assert!(
        run.stderr.contains("limit  the first 3 records only"),
        "{}",
        run.stderr
    );
    place
        .run("dedup in.jsonl -o o --limit 0")
        .refused(2, &["--limit"]);
    place
        .run("pairs in.jsonl -o p.csv --on-bad-record skip --limit 3")
        .succeeded();
    place
        .run("sign in.jsonl -o s.npy --on-bad-record skip --limit 3")
        .succeeded();
    let description: serde_json::Value = serde_json::from_slice(&place.read("s.npy.json")).unwrap();
    assert_eq!(description["parameters"]["limit"], 3);
    assert_eq!(description["counts"]["documents"], 3);
}

#[test]
fn patterns_choose_files_of_folders_and_globs() {
    let place = Place::new();
    for name in [
        "docs/a.jsonl",
        "docs/sub/b.jsonl",
        "docs/sub/c.txt",
        "docs/old/d.jsonl",
    ] {
        place.write(name, json_lines([name]));
    }
    let kept = |arguments: &str| place.dedup(arguments).kept_names();
    let all = ["a.jsonl", "old/d.jsonl", "sub/b.jsonl", "sub/c.txt"];
    assert_eq!(kept("docs"), all);
    assert_eq!(kept("docs --include *.jsonl"), [all[0], all[1], all[2]]);
    assert_eq!(
        kept("docs --include *.jsonl --exclude old/*"),
        [all[0], all[2]]
    );
    assert_eq!(
        kept("docs --include *.txt --include old/*"),
        [all[1], all[3]]
    );
    assert_eq!(
        kept("docs --exclude b.jsonl --exclude *.txt"),
        [all[0], all[1]]
    );
    assert_eq!(
        kept("docs/*/* --exclude *.txt"),
        ["old/d.jsonl", "sub/b.jsonl"]
    );
    // A file that is named is read.
    assert_eq!(
        kept("docs/a.jsonl docs/sub --exclude *.jsonl"),
        ["a.jsonl", "sub/c.txt"]
    );
    for input in ["docs", "docs/*/*"] {
        let run = place.run(&format!("dedup {input} -o o2 --include *.gz"));
        run.refused(1, &[input, "--include and --exclude leave out all"]);
    }
}
