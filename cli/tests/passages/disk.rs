//! Runs on disk.

use serde_json::{Value, json};

use super::passages;
use crate::support::Place;

/// Documents of sentences that repeat, some of them whole, with short periods, and letters of several bytes.
fn patchwork(documents: usize) -> Vec<String> {
    let mut state = 11_u64;
    let mut random = |end: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % end
    };
    let mut texts: Vec<String> = Vec::new();
    for _ in 0..documents {
        let mut text = String::new();
        for _ in 0..random(9) {
            match random(8) {
                0 if !texts.is_empty() => text += &texts[random(texts.len())].clone(),
                1 => text += &"na ".repeat(random(90)),
                kind => {
                    let first = if kind < 6 {
                        random(40)
                    } else {
                        random(100_000)
                    };
                    for word in 0..6 + first % 9 {
                        let ending = ["", "é", ","][(first + word) % 3];
                        text += &format!("w{}{ending} ", first * (word + 1) % 997);
                    }
                    text += ["\n", ". ", "\n\n"][first % 3];
                }
            }
        }
        texts.push(text.chars().take(3_000).collect());
    }
    texts
}

/// All files of a folder but `run.json`, and the stages of the run that were on disk.
fn outputs(folder: &std::path::Path) -> (Vec<(String, Vec<u8>)>, usize) {
    let mut files = Vec::new();
    let kept = folder.join("kept");
    for folder in [folder, &*kept] {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            if entry.file_type().unwrap().is_file() && name != "run.json" {
                files.push((name, std::fs::read(entry.path()).unwrap()));
            }
        }
    }
    files.sort();
    let run = std::fs::read(folder.join("run.json")).unwrap();
    let run: Value = serde_json::from_slice(&run).unwrap();
    let stages = run["stages"].as_array().unwrap();
    let on_disk = stages.iter().filter(|stage| stage["on_disk"].is_object());
    (files, on_disk.count())
}

/// Checks that a command writes the same on disk as in memory.
fn compare_on_disk(place: &Place, command: &str, trial: usize) {
    passages(place, command);
    let (expected, on_disk) = outputs(&place.path("out"));
    assert_eq!(on_disk, 0, "{command}");
    let memory = ["1KB", "100KB"][trial % 2];
    let limits = format!("--memory {memory} --threads {}", 1 + trial % 3);
    passages(place, &format!("{command} {limits}"));
    let (found, on_disk) = outputs(&place.path("out"));
    assert!(on_disk > 0, "{command}");
    let names = |files: &[(String, Vec<u8>)]| -> Vec<String> {
        files.iter().map(|(name, _)| name.clone()).collect()
    };
    assert_eq!(names(&found), names(&expected), "{command}");
    for (found, expected) in found.iter().zip(&expected) {
        assert!(found == expected, "{command} {limits}: {}", found.0);
    }
}

#[test]
fn conditions_on_disk_choose_the_same() {
    let place = Place::new();
    let (mut texts, mut tokens) = ([String::new(), String::new()], String::new());
    for (i, text) in patchwork(200).iter().enumerate() {
        texts[i / 120] += &format!("{}\n", json!({"id": i, "text": text}));
        let words: Vec<&str> = text.split(' ').collect();
        tokens += &format!("{}\n", json!({"id": i, "tokens": words}));
    }
    place.write("in.jsonl", &texts[0]);
    place.write("old.jsonl", texts[1].clone() + "{\"id\": 1}\n");
    place.write("lists.jsonl", &tokens);
    let against = "in.jsonl --against old.jsonl --on-bad-record skip";
    let both = "in.jsonl old.jsonl --on-bad-record skip";
    let tokens = "lists.jsonl --unit tokens --min-length 9";
    for (trial, command) in [
        format!("{against} --min-length 9 --action cut"),
        format!("{against} --unit bytes --min-length 40 --only-against --action drop"),
        format!("{against} --unit lines --same-document keep --action mark"),
        format!("{against} --min-length 9 --min-left 20 --action cut --min-count 4"),
        format!("{against} --min-length 9 --occurrences all --action cut"),
        format!("{both} --min-length 9 --occurrences all --action cut"),
        format!("{both} --unit chars --min-length 50 --occurrences all --same-document keep"),
        format!("{both} --unit paragraphs --occurrences all --min-count 3 --action mark"),
        format!("{both} --unit code --min-length 20 --min-count 3 --action cut"),
        format!("{both} --unit bytes --min-length 50 --min-count 5 --action drop"),
        format!("{both} --min-length 9 --bytes-equal --min-count 3 --same-document keep"),
        format!("{tokens} --action mark"),
        format!("{tokens} --occurrences all --action mark --mark-field other"),
        format!("{tokens} --action drop --max-covered 0.5"),
        format!("{tokens} --min-count 3"),
    ]
    .iter()
    .enumerate()
    {
        compare_on_disk(&place, command, trial);
    }
}

#[test]
fn a_run_on_disk_writes_the_same() {
    let place = Place::new();
    let mut lines = [String::new(), String::new()];
    for (i, text) in patchwork(300).iter().enumerate() {
        let lines = &mut lines[i / 160];
        *lines += &format!("{}\n", json!({"id": i, "text": text, "n": [1, {"a": 2}]}));
        if i % 70 == 9 {
            *lines += "{\"id\": 1}\n";
        }
    }
    place.write("in/a.jsonl", &lines[0]);
    place.write("in/b.jsonl", &lines[1]);
    let units = [
        "--min-length 12",
        "--unit code --min-length 20",
        "--unit bytes --min-length 40",
        "--unit chars --min-length 60",
        "--unit lines",
        "--unit paragraphs",
        "--min-length 8 --bytes-equal",
        "--min-length 12 --lowercase --prefer-source b*",
        "--unit lines --lowercase --strip-punctuation --merge-whitespace --mask-digits",
    ];
    let actions = [
        "--action report",
        "--action cut",
        "--action cut --min-left 30 --snap lines",
        "--action drop --max-covered 0.6",
        "--action drop --max-covered 0.3 --same-document keep",
        "--action cut --same-document keep --snap none",
    ];
    for (i, unit) in units.into_iter().enumerate() {
        for (j, action) in actions.into_iter().enumerate() {
            let command = format!("in --on-bad-record skip {unit} {action}");
            compare_on_disk(&place, &command, i + j);
        }
    }
    let left = std::fs::read_dir(place.path("out")).unwrap();
    let left = left.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(!left.into_iter().any(|name| name.contains("spill")));
}
