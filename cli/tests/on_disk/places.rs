//! A corpus, and results in memory and on disk.

use serde_json::{Value, json};

use crate::support::{Numbers, Place, lasting_files_in, lines_of};

/// So little memory that every stage is on disk.
pub(super) const ON_DISK: &str = "--memory 48KiB";

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
pub(super) fn texts(seed: u64, count: usize) -> Vec<String> {
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
pub(super) fn place() -> Place {
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
pub(super) fn assert_same(place: &Place, options: &str) {
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
