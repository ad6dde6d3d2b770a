//! Programs that write to an index while others read it, or that are killed.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::places::place;
use crate::support::{Answering, Numbers, Place, SIMGPU, families, numbered_lines, parse_lines};

#[test]
fn a_line_is_answered_before_the_next_one_comes() {
    let place = place(9);
    place.run("index build old.jsonl --index seen").succeeded();
    let mut asked = Answering::start(&place, "index query - --index seen --output - --quiet");
    for record in parse_lines(&place.read("old.jsonl")).iter().take(20) {
        let answer = asked.ask(record);
        assert_eq!(answer["id"], record["id"]);
        let is_blank = record["text"] == "";
        assert_eq!(answer["hits"].as_array().unwrap().is_empty(), is_blank);
        // Meanwhile, nobody else has the index.
        if answer.to_string().contains("d1") {
            let process = format!("process {} has the index open", asked.id());
            place
                .run("index stats --index seen")
                .refused(1, &[&process]);
        }
    }
    assert!(asked.end().success());
}

/// A program that is killed: batches are there as a whole or not at all, and what was acknowledged is there.
#[cfg(unix)]
#[test]
fn a_killed_program_leaves_whole_batches() {
    for kind in ["lsh", "exact"] {
        kill_additions(kind);
    }
}

#[cfg(unix)]
fn kill_additions(kind: &str) {
    let place = Place::new();
    place.write("none.jsonl", "");
    place
        .run(&format!(
            "index build none.jsonl --index seen --kind {kind}"
        ))
        .succeeded();
    let mut random = Numbers(10);
    let (mut next, mut acknowledged) = (0, Vec::new());
    for turn in 0..4 {
        let texts: Vec<String> = families(300, 1, 30);
        let lines = numbered_lines(&texts, next);
        let add = "index add - --index seen --if-new --output - --quiet";
        let mut asked = Answering::start(&place, add);
        let stop = 1 + usize::try_from(random.next() % 30).unwrap();
        let mut answered = Vec::new();
        for line in parse_lines(&lines).iter().take(stop + 5) {
            asked.tell(line);
            if answered.len() < stop {
                answered.push(asked.answer());
            }
        }
        asked.kill();
        let added = answered
            .iter()
            .filter(|answer| answer["verdict"] == "added");
        acknowledged.extend(added.map(|answer| answer["id"].clone()));
        place.run("index verify --index seen").succeeded();
        let exported = place.run("index export --index seen").succeeded();
        let there: Vec<Value> = parse_lines(&exported.stdout)
            .into_iter()
            .map(|it| it["id"].clone())
            .collect();
        for id in &acknowledged {
            assert!(there.contains(id), "{turn}: {id} was lost");
        }
        next += texts.len();
    }
    kill_compaction_and_build(&place, kind);
}

#[cfg(unix)]
fn kill_compaction_and_build(place: &Place, kind: &str) {
    for command in [
        "index compact --index seen".to_owned(),
        format!("index build many.jsonl --index new --kind {kind}"),
    ] {
        place.write("many.jsonl", numbered_lines(families(2_000, 1, 30), 0));
        for wait in [20, 60] {
            let mut child = Command::new(SIMGPU)
                .args(command.split(' '))
                .current_dir(place.path(""))
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            std::thread::sleep(std::time::Duration::from_millis(wait));
            child.kill().unwrap();
            child.wait().unwrap();
            place.run("index verify --index seen").succeeded();
        }
    }
    if !place.holds("new/simgpu-index.json") {
        place.run("index build many.jsonl --index new").succeeded();
    }
    place.run("index verify --index new").succeeded();
}

/// The folder cannot be written: the file that is locked is none.
#[test]
fn an_index_that_cannot_be_locked_is_an_error() {
    let place = place(11);
    place.run("index build old.jsonl --index seen").succeeded();
    fs::remove_file(place.path("seen/lock")).unwrap();
    fs::create_dir(place.path("seen/lock")).unwrap();
    let query = "index query new.jsonl --index seen -o -";
    place.run(query).refused(1, &["cannot open", "seen/lock"]);
}

#[test]
fn a_copy_of_an_index_that_is_written_to_is_whole() {
    let place = place(5);
    let run = |arguments: &str| place.run(&format!("{arguments} --quiet")).succeeded();
    run("index build old.jsonl --index seen");
    let exported = |index: &str| run(&format!("index export --index {index}")).stdout;
    let before = parse_lines(&exported("seen"));
    let add = "index add - --index seen --if-new -o - --quiet";
    let mut holder = Answering::start(&place, add);
    let mut added = Vec::new();
    for turn in 0..30 {
        let text: String = (0..30).map(|at| format!("t{turn}x{at} ")).collect();
        let answer = holder.ask(json!({"id": format!("t{turn}"), "text": text}));
        assert_eq!(answer["verdict"], "added");
        added.push(answer["id"].clone());
        if turn % 6 > 0 {
            continue;
        }
        let refused = place.run("index stats --index seen");
        refused.refused(
            1,
            &["has the index open", &holder.id().to_string(), "snapshot"],
        );
        let copy = format!("copy{turn}");
        run(&format!("index snapshot seen {copy}"));
        run(&format!("index verify --index {copy}"));
        let lines = parse_lines(&exported(&copy));
        let ids = |lines: &[Value]| {
            lines
                .iter()
                .map(|line| line["id"].clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(ids(&lines), [ids(&before), added.clone()].concat());
    }
    assert!(holder.end().success());
    // Each goes its own way.
    place.write("ids", "t0\n");
    run("index delete --index copy0 --ids ids");
    run("index compact --index copy0");
    run("index verify --index seen");
    place
        .run("index snapshot seen copy0")
        .refused(1, &["it exists"]);
    place.run("index snapshot old.jsonl copy").refused(1, &[]);
}

/// What was added before a run ended early is told.
#[test]
fn verdicts_of_a_run_that_ends_early_are_written() {
    let place = Place::new();
    place.write(
        "old.jsonl",
        "{\"id\": 1, \"text\": \"one two three four five six\"}\n",
    );
    place
        .run("index build old.jsonl --index seen --quiet")
        .succeeded();
    let text = |i: u64| format!("w{i} x{i} y{i} z{i} a{i} b{i} {}", "long ".repeat(40));
    let lines = (10..20_000).map(|i| json!({"id": i, "text": text(i)}).to_string());
    let lines: Vec<String> = lines.chain(["{broken".to_owned()]).collect();
    place.write("new.jsonl", lines.join("\n"));
    let run = place.run("index add new.jsonl --index seen --if-new -o verdicts.jsonl --quiet");
    assert!(run.stderr.contains("new.jsonl"), "{}", run.stderr);
    let told = parse_lines(&place.read("verdicts.jsonl"));
    let added = told
        .iter()
        .filter(|line| line["verdict"] == "added")
        .count();
    let export = place.run("index export --index seen --quiet").succeeded();
    let documents = String::from_utf8(export.stdout).unwrap().lines().count();
    assert!(added > 0);
    assert_eq!(documents, added + 1);
}
