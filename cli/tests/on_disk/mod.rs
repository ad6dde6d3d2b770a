//! Runs that go on on disk, compared with the same runs in memory: all results are the same bytes.

mod joins;

mod places;

use serde_json::{Value, json};

use crate::support::{Numbers, Place, lines_of, parquet, strings};

use places::{ON_DISK, assert_same, place, texts};

const INPUT: &str = "in --size 2 --on-bad-record skip";

#[test]
fn clusters_are_the_same() {
    let place = place();
    for cluster in ["greedy", "connected"] {
        for keep in ["first", "longest"] {
            for verify in ["exact", "signature", "none"] {
                let options = format!("--cluster {cluster} --keep {keep} --verify {verify}");
                assert_same(&place, &format!("{INPUT} {options}"));
            }
        }
    }
}

#[test]
fn preferences_are_the_same() {
    let place = place();
    for cluster in ["greedy", "connected"] {
        for keep in [
            "--keep-by score",
            "--keep-by score:asc --prefer-source d*,b/*",
            "--keep-by id --prefer-source b/*",
            "--prefer-source d*",
            "--keep longest --prefer-source d*,b/*",
        ] {
            assert_same(&place, &format!("{INPUT} --cluster {cluster} {keep}"));
        }
    }
}

#[test]
fn large_buckets_are_the_same() {
    let place = place();
    for cluster in ["greedy", "connected"] {
        for options in [
            "--max-bucket 3",
            "--max-bucket 3 --threshold 0.95 --bands 32 --rows 4",
        ] {
            assert_same(&place, &format!("{INPUT} --cluster {cluster} {options}"));
        }
    }
}

#[test]
fn bags_and_weights_are_the_same() {
    let place = place();
    let tokens = "in --unit tokens --on-bad-record skip --candidates lsh";
    for options in [
        format!("{INPUT} --count"),
        format!("{tokens} --count"),
        format!("{tokens} --weights-field weights"),
        format!("{tokens} --weights-field weights --verify signature"),
        format!("{INPUT} --weights rarity --candidates lsh"),
        "in --unit chars --size 9 --on-bad-record skip".to_owned(),
    ] {
        assert_same(&place, &options);
    }
}

#[test]
fn other_ids_outputs_and_threads_are_the_same() {
    let place = place();
    for options in [
        "--removed-format parquet",
        "--removed-format parquet --cluster connected",
        "--threads 1",
        "--threads 5 --batch-mib 1",
        "--hold-mib 0 --limit 1500",
    ] {
        assert_same(&place, &format!("{INPUT} {options}"));
    }
    let rows = texts(4, 900);
    place.write("none/plain.jsonl", crate::support::json_lines(&rows));
    assert_same(&place, "none --size 2");
    assert_same(
        &place,
        "none --size 2 --cluster connected --removed-format parquet",
    );
    place.write("ids/numbers.parquet", parquet([("text", strings(&rows))]));
    assert_same(&place, "ids --size 2");
}

#[test]
fn pairs_are_the_same() {
    let place = place();
    for verify in ["exact", "signature", "none"] {
        for options in [
            "--identical all",
            "--identical star",
            "--identical all --max-pairs 40",
            "--identical star --max-pairs 400",
            "--threads 1",
        ] {
            // Writing the formats does not depend on what was searched for.
            let formats = match (verify, options) {
                ("exact", "--identical all") => &["jsonl", "csv", "parquet"][..],
                _ => &["jsonl"],
            };
            for format in formats {
                let run = |memory: &str, name: &str| {
                    let file = format!("{name}.{format}");
                    let options = format!("{INPUT} {options} --verify {verify} {memory}");
                    let command = format!("pairs {options} --output {file} --overwrite --quiet");
                    let run = place.run(&command);
                    let report = place.read(&format!("{file}.report.json"));
                    (run.code, place.read(&file), report)
                };
                let in_memory = run("--memory 1GiB", "memory");
                assert!(in_memory.1.len() > 1_000);
                let on_disk = run(ON_DISK, "disk");
                let shown = String::from_utf8_lossy(&on_disk.2).into_owned();
                assert!(on_disk == in_memory, "{options} {verify} {format}: {shown}");
            }
        }
    }
}

#[test]
fn repeated_ids_are_found_on_disk() {
    let place = place();
    let command = format!("dedup {INPUT} --unique-ids --output out");
    let of = |memory: &str| {
        place
            .run(&format!("{command} {memory}"))
            .refused(1, &["unique"])
    };
    let on_disk = of(ON_DISK);
    let anew = of("--memory 1GiB --restart");
    let error = anew.error().trim_end();
    assert!(!place.holds("out/.partial"));
    assert!(on_disk.error().starts_with(error), "{}", on_disk.error());
}

#[test]
fn a_search_without_output_goes_on_on_disk() {
    let place = place();
    let run = |options: &str| {
        let command = format!("dedup {INPUT} --dry-run --report json {options}");
        place.run(&command).succeeded()
    };
    let on_disk = run(ON_DISK);
    assert!(
        on_disk.stderr.contains("goes on on disk"),
        "{}",
        on_disk.stderr
    );
    assert!(on_disk.stdout == run("").stdout);
    // Elsewhere, if the user says so.
    place.write("elsewhere/none", "");
    run(&format!("{ON_DISK} --temp-dir elsewhere"));
    assert_eq!(place.path("elsewhere").read_dir().unwrap().count(), 1);
    let command = format!("dedup {INPUT} --dry-run {ON_DISK} --temp-dir missing");
    place.run(&command).refused(1, &["missing"]);
}

#[test]
fn sizes_of_memory_are_checked() {
    let place = place();
    for size in ["0", "4apples", "-1GiB", "GiB", "", "1024", "+1024"] {
        let run = place.run(&format!("dedup {INPUT} --dry-run --memory={size}"));
        run.refused(2, &["--memory"]);
    }
    for size in ["1GiB", "1.5GB", "200000000B", "1gib"] {
        place
            .run(&format!("dedup {INPUT} --dry-run --memory {size}"))
            .succeeded();
    }
}

#[test]
fn one_large_component_is_read_once() {
    let place = Place::new();
    let group =
        (0..3_000).map(|i| format!("one two three four five six seven eight nine {}", i % 50));
    place.write("in/group.jsonl", crate::support::numbered_lines(group, 0));
    assert_same(&place, "in --size 2 --cluster connected");
    let record: Value = serde_json::from_slice(&place.read("disk/run.json")).unwrap();
    let stages = record["stages"].as_array().unwrap();
    let bytes = |name: &str, field: &str| {
        let stage = stages.iter().find(|stage| stage["stage"] == name).unwrap();
        stage["on_disk"][field].as_u64().unwrap()
    };
    let written = bytes("distribute", "written_bytes") + bytes("read again", "written_bytes");
    assert!(bytes("compare", "read_bytes") < 3 * written, "{stages:?}");
}

/// One group of documents, of which memory does not hold a tenth, besides other ones.
#[test]
fn a_large_component_is_clustered_in_blocks() {
    let place = Place::new();
    let mut numbers = Numbers(8);
    let records = (0..2_500).map(|i| {
        let mut words: Vec<String> = (0..40).map(|j| format!("word{j}")).collect();
        for _ in 0..numbers.below(14) {
            words[numbers.below(40)] = format!("other{}", numbers.below(60));
        }
        words.truncate(20 + numbers.below(30));
        json!({"id": i, "text": words.join(" "), "score": numbers.below(50)})
    });
    place.write("in/group.jsonl", lines_of(records));
    for options in [
        "--threshold 0.7 --keep first",
        "--threshold 0.7 --keep longest",
        "--threshold 0.7 --keep-by score",
        "--threshold 0.95 --keep longest --max-bucket 2",
        "--threshold 0.7 --verify signature",
        "--threshold 0.7 --verify none --max-bucket 3",
        "--threshold 0.7 --candidates join --keep-by score",
    ] {
        let options = format!("in --size 2 {options}");
        assert_same(&place, &options);
        let run = place.run(&format!("dedup {options} --dry-run {ON_DISK}"));
        let run = run.succeeded();
        assert!(!run.stderr.contains("raise --memory"), "{}", run.stderr);
    }
    // Chains of pairs may lead to any document.
    let connected = "dedup in --size 2 --threshold 0.7 --cluster connected --dry-run";
    let run = place.run(&format!("{connected} {ON_DISK}")).succeeded();
    assert!(run.stderr.contains("raise --memory"), "{}", run.stderr);
}

/// Several of them are in one part, and two are in work at the same time.
#[test]
fn many_large_components_are_clustered_side_by_side() {
    let place = Place::new();
    let mut numbers = Numbers(4);
    let records = (0..12_000).map(|i| {
        let mut words: Vec<String> = (0..40).map(|j| format!("w{}-{j}", i % 150)).collect();
        for _ in 0..numbers.below(9) {
            words[numbers.below(40)] = format!("other{}", numbers.below(50_000));
        }
        json!({"id": i, "text": words.join(" ")})
    });
    place.write("in/groups.jsonl", lines_of(records));
    for options in ["--keep longest", "--candidates join --keep longest"] {
        assert_same(&place, &format!("in --size 2 --threads 2 {options}"));
    }
}

#[test]
fn temporary_files_lie_outside_of_the_results() {
    let place = place();
    place.write("out/sub/none", "");
    for folder in ["out", "out/sub", "./in/../out"] {
        let command = format!("dedup {INPUT} -o out --overwrite {ON_DISK} --temp-dir {folder}");
        place.run(&command).refused(2, &["--temp-dir", "outside"]);
    }
    place.write("elsewhere/simgpu-spill-killed/.lock", "");
    place.write("elsewhere/simgpu-spill-killed/ids-0", "\"3\"");
    let command = format!("dedup {INPUT} -o results {ON_DISK} --temp-dir elsewhere");
    place.run(&command).succeeded();
    let left = place.path("elsewhere").read_dir().unwrap();
    assert_eq!(left.count(), 0, "the files of a run that was killed remain");
}
