//! Runs that go on on disk, compared with the same runs in memory: all results are the same bytes.

use serde_json::{Value, json};

use crate::support::{Numbers, Place, lasting_files_in, lines_of, parquet, strings};

/// So little memory that every stage is on disk.
const ON_DISK: &str = "--memory 48KiB";

/// Stages that divide the documents into parts.
const STAGES: [&str; 6] = [
    "read",
    "identical",
    "join",
    "bucket",
    "distribute",
    "compare",
];

/// Texts in groups of edited copies, some of them identical, one group large; some texts have no words.
fn texts(seed: u64, count: usize) -> Vec<String> {
    let mut numbers = Numbers(seed);
    let word = |numbers: &mut Numbers| format!("w{}", numbers.below(5_000));
    let mut texts: Vec<Vec<String>> = Vec::new();
    for i in 0..count {
        let earlier = match numbers.below(10) {
            0..5 => None,
            5 => Some(0),
            _ => i.checked_sub(1 + numbers.below(30)),
        };
        let mut words = match earlier.filter(|earlier| *earlier < i) {
            Some(earlier) => texts[earlier].clone(),
            None => (0..20 + numbers.below(30))
                .map(|_| word(&mut numbers))
                .collect(),
        };
        for _ in 0..numbers.below(3) {
            if let Some(at) = words.len().checked_sub(1) {
                words[numbers.below(at + 1)] = word(&mut numbers);
            }
        }
        if numbers.below(97) == 0 {
            words.clear();
        }
        texts.push(words);
    }
    texts.iter().map(|words| words.join(" ")).collect()
}

/// A place with documents in three files: ids are strings and numbers, a field has numbers that some lack, tokens have
/// weights, and a few records are bad.
fn place() -> Place {
    let place = Place::new();
    let mut numbers = Numbers(5);
    for (file, seed) in [("a.jsonl", 1), ("b/c.jsonl", 2), ("d.jsonl", 1)] {
        let records = texts(seed, 700).into_iter().enumerate().map(|(i, text)| {
            let tokens: Vec<&str> = text.split(' ').filter(|token| !token.is_empty()).collect();
            let weights: Vec<usize> = tokens.iter().map(|token| token.len()).collect();
            let id = match numbers.below(3) {
                0 => json!(i),
                _ => json!(format!("{file} \"{}\"", numbers.below(2_000))),
            };
            let mut record = json!({"id": id, "text": text, "tokens": tokens, "weights": weights});
            if numbers.below(4) > 0 {
                record["score"] = json!(numbers.below(9));
            }
            record
        });
        let mut lines = lines_of(records);
        lines.extend_from_slice(b"{\"id\": 3}\n");
        place.write(&format!("in/{file}"), lines);
    }
    place
}

/// Runs `dedup` in memory and on disk, and compares all files.
#[track_caller]
fn assert_same(place: &Place, options: &str) {
    let run = |memory: &str, folder: &str| {
        let command = format!("dedup {options} --output {folder} --overwrite --quiet {memory}");
        place.run(&command).succeeded();
        lasting_files_in(&place.path(folder))
    };
    let in_memory = run("--memory 1GiB", "memory");
    assert_stages(place, "memory/run.json", false);
    assert!(run(ON_DISK, "disk") == in_memory, "{options}");
    assert_stages(place, "disk/run.json", true);
    let names = place.path("disk").read_dir().unwrap();
    let hidden = names.filter(|name| {
        let name = name.as_ref().unwrap().file_name();
        name.to_str().unwrap().starts_with('.')
    });
    assert_eq!(hidden.count(), 0, "{options}: a temporary file remains");
}

/// Whether every stage was on disk in at least four parts, or none was.
#[track_caller]
fn assert_stages(place: &Place, record: &str, is_on_disk: bool) {
    let record: Value = serde_json::from_slice(&place.read(record)).unwrap();
    for stage in record["stages"].as_array().unwrap() {
        let name = stage["stage"].as_str().unwrap();
        if is_on_disk && STAGES.contains(&name) {
            let on_disk = &stage["on_disk"];
            assert!(on_disk["parts"].as_u64() >= Some(4), "{stage}");
            let bytes = [&on_disk["read_bytes"], &on_disk["written_bytes"]];
            let bytes: u64 = bytes.iter().map(|bytes| bytes.as_u64().unwrap()).sum();
            assert!(bytes > 0, "{record}");
        } else if !is_on_disk {
            assert!(stage.get("on_disk").is_none(), "{stage}");
        }
    }
}

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

const TOKENS: &str = "in --unit tokens --on-bad-record skip";

#[test]
fn joins_are_the_same() {
    let place = place();
    for cluster in ["greedy", "connected"] {
        for options in [
            format!("{INPUT} --candidates join"),
            format!("{INPUT} --candidates join --threshold 0.5 --keep longest"),
            format!("{INPUT} --candidates join --keep-by score --threads 5"),
            format!("{INPUT} --candidates join --count --threads 1"),
            format!("{INPUT} --candidates join --weights rarity"),
            format!("{TOKENS} --candidates join --weights-field weights"),
            format!("{TOKENS} --candidates join --count --threshold 0.9"),
            format!("{TOKENS} --candidates auto --threshold 0.7"),
        ] {
            assert_same(&place, &format!("{options} --cluster {cluster}"));
            let report: Value = serde_json::from_slice(&place.read("disk/report.json")).unwrap();
            assert_eq!(report["parameters"]["candidates"], "join", "{options}");
        }
    }
}

/// Whether the shingles of a join and its index take too much memory does not depend on `memory`.
#[test]
fn joins_that_take_too_much_are_left_out_on_disk_too() {
    let place = place();
    for (documents, kinds, options, candidates, reason) in [
        (8_000, 20_000, "--join-mib 2", "join", "exact join"),
        (
            8_000,
            20_000,
            "--join-mib 1",
            "lsh",
            "the index of an exact join",
        ),
        (
            12_000,
            20_000,
            "--join-mib 1",
            "lsh",
            "the shingles of an exact join",
        ),
    ] {
        let mut numbers = Numbers(9);
        let mut tokens: Vec<String> = Vec::new();
        let records = (0..documents).map(|i| {
            match i % 10 {
                9 => tokens[0] = numbers.below(kinds).to_string(),
                _ => tokens = (0..12).map(|_| numbers.below(kinds).to_string()).collect(),
            }
            json!({"tokens": tokens})
        });
        place.write("many/in.jsonl", lines_of(records));
        let options = format!("many --unit tokens {options}");
        assert_same(&place, &options);
        let report: Value = serde_json::from_slice(&place.read("disk/report.json")).unwrap();
        assert_eq!(report["parameters"]["candidates"], candidates, "{options}");
        for memory in ["--memory 1GiB", ON_DISK] {
            let run = place.run(&format!("dedup {options} --dry-run {memory}"));
            let said = format!(
                "candidates: {}",
                if candidates == "join" {
                    ""
                } else {
                    "LSH, because "
                }
            );
            let said = said + reason;
            assert!(run.stderr.contains(&said), "{}", run.stderr);
        }
    }
}

#[test]
fn pairs_of_joins_are_the_same() {
    let place = place();
    let mut numbers = Numbers(3);
    let short = (0..600).map(|_| {
        let tokens = (0..numbers.below(5)).map(|_| numbers.below(40).to_string());
        json!({"tokens": tokens.collect::<Vec<String>>()})
    });
    place.write("short/in.jsonl", lines_of(short));
    for options in [
        &format!("{INPUT} --candidates join --identical star"),
        &format!("{INPUT} --candidates join --threshold 0.6 --max-pairs 300"),
        &format!("{TOKENS} --candidates join --weights-field weights"),
        &format!("{TOKENS} --candidates join --identical star --max-pairs 90"),
        &format!("{TOKENS} --distance l1 --within 6"),
        &format!("{TOKENS} --distance hamming --within 3 --max-pairs 200"),
        "short --unit tokens --distance l1 --within 2",
        "short --unit tokens --distance l1 --within 3 --max-pairs 5000",
        "short --unit tokens --distance hamming --within 2",
        "short --unit tokens --distance hamming --within 1 --identical star --threads 5",
    ] {
        let run = |memory: &str| {
            let command = format!("pairs {options} --output pairs.jsonl --overwrite {memory}");
            let run = place.run(&command);
            let is_on_disk = run.stderr.contains("goes on on disk");
            let report = place.read("pairs.jsonl.report.json");
            (run.code, place.read("pairs.jsonl"), report, is_on_disk)
        };
        let in_memory = run("--memory 1GiB");
        assert!(in_memory.1.len() > 1_000 && !in_memory.3, "{options}");
        let on_disk = run("--memory 24KiB");
        assert!(on_disk.3, "{options}");
        let shown = String::from_utf8_lossy(&on_disk.2).into_owned();
        assert!(
            on_disk.0 == in_memory.0 && on_disk.1 == in_memory.1,
            "{options}: {shown}"
        );
        assert!(on_disk.2 == in_memory.2, "{options}: {shown}");
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
