//! Programs that are killed while they write to an index: each batch is whole or absent, and nothing acknowledged is lost.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Answering, Numbers, Place, SIMGPU, families, lines_of, parse_lines};

/// A place with documents in files of some hundred, and an index of the first file.
fn place() -> Place {
    let place = Place::new();
    let texts = families(300, 4, 60);
    for (file, texts) in texts.chunks(200).enumerate() {
        let lines = texts.iter().enumerate();
        let lines = lines.map(|(id, text)| json!({"id": format!("{file}-{id}"), "text": text}));
        place.write(&format!("docs/{file}.jsonl"), lines_of(lines));
    }
    place
        .run("index build docs/0.jsonl --index first --verify exact --quiet")
        .succeeded();
    place
}

/// The ids of an index, which must be whole.
#[track_caller]
fn ids(place: &Place, index: &str) -> Vec<String> {
    let verify = format!("index verify --index {index} --quiet");
    place.run(&verify).succeeded();
    let lines = place
        .run(&format!("index export --index {index}"))
        .succeeded();
    let lines = parse_lines(&lines.stdout);
    let id = |line: &Value| line["id"].as_str().unwrap().to_owned();
    lines.iter().map(id).collect()
}

/// Makes an index anew that has the first file, or nothing at all.
fn renew(place: &Place, index: &str, has_first: bool) {
    let _ = fs::remove_dir_all(place.path(index));
    if has_first {
        place
            .run(&format!("index snapshot first {index} --quiet"))
            .succeeded();
    }
}

fn started(place: &Place, arguments: &str) -> std::process::Child {
    Command::new(SIMGPU)
        .args(arguments.split_whitespace())
        .current_dir(place.path(""))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Kills a command `kills` times, at moments spread over its duration; `check` follows each time.
fn kill(place: &Place, kills: u32, has_first: bool, arguments: &str, check: &dyn Fn(bool)) {
    renew(place, "seen", has_first);
    let start = Instant::now();
    assert!(started(place, arguments).wait().unwrap().success());
    let length = start.elapsed();
    check(true);
    for number in 0..kills {
        renew(place, "seen", has_first);
        let mut child = started(place, arguments);
        std::thread::sleep(length.mul_f64(f64::from(number + 1) / f64::from(kills + 1)));
        let _ = child.kill();
        check(child.wait().unwrap().success());
    }
}

fn kill_all(kills: u32) {
    let place = place();
    let first = ids(&place, "first");
    let all = {
        place
            .run("index build docs --index all --verify exact --quiet")
            .succeeded();
        ids(&place, "all")
    };
    // A batch is a file here.
    kill(
        &place,
        kills,
        true,
        "index add docs --index seen --on-known-id skip",
        &|is_complete| {
            let found = ids(&place, "seen");
            assert!(all.starts_with(&found) && found.starts_with(&first));
            assert!(
                found.len().is_multiple_of(200) || found.len() == all.len(),
                "{}",
                found.len()
            );
            assert!(!is_complete || found == all);
        },
    );
    let gone: String = first
        .iter()
        .step_by(2)
        .map(|id| format!("{id}\n"))
        .collect();
    place.write("gone", gone);
    let left: Vec<String> = first.iter().skip(1).step_by(2).cloned().collect();
    kill(
        &place,
        kills,
        true,
        "index delete --index seen --ids gone",
        &|is_complete| {
            let found = ids(&place, "seen");
            assert!(
                found == left || (!is_complete && found == first),
                "{}",
                found.len()
            );
        },
    );
    place
        .run("index delete --index first --ids gone --quiet")
        .succeeded();
    kill(&place, kills, true, "index compact --index seen", &|_| {
        assert_eq!(ids(&place, "seen"), left);
    });
    kill(
        &place,
        kills,
        false,
        "index build docs --index seen --verify exact --memory 1KB",
        &|is_complete| {
            let header = place.path("seen/simgpu-index.json");
            assert!(!is_complete || header.exists());
            if !header.exists() {
                let again = "index build docs --index seen --verify exact --quiet";
                place.run(again).succeeded();
            }
            assert_eq!(ids(&place, "seen"), all);
        },
    );
}

#[test]
fn what_is_killed_leaves_whole_batches() {
    kill_all(2);
}

#[test]
#[ignore = "takes minutes: 200 programs are killed"]
fn what_is_killed_200_times_leaves_whole_batches() {
    kill_all(50);
}

#[test]
fn what_was_acknowledged_stays() {
    let place = place();
    let mut random = Numbers(3);
    for _ in 0..3 {
        renew(&place, "seen", true);
        let add = "index add - --index seen --if-new -o - --quiet";
        let mut asked = Answering::start(&place, add);
        let mut added = ids(&place, "first");
        for turn in 0..random.below(20) {
            let text: String = (0..30).map(|at| format!("t{turn}x{at} ")).collect();
            let answer = asked.ask(json!({"id": format!("t{turn}"), "text": text}));
            added.push(answer["id"].as_str().unwrap().to_owned());
        }
        // One more, on whose answer nobody waits.
        asked.tell(json!({"id": "last", "text": "some words that come last of all"}));
        std::thread::sleep(Duration::from_millis(random.next() % 4));
        asked.kill();
        let found = ids(&place, "seen");
        assert!(found.starts_with(&added) && found.len() <= added.len() + 1);
    }
}
