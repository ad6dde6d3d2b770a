//! Runs the commands of the guides one after the other, as a reader does: in memory, and with so little memory that they spill to disk.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::support::{Place, SIMGPU, families, lasting_files_in, lines_of, text, zstd};

/// The commands of a page, without the comments after them.
fn commands_of(page: &str) -> Vec<String> {
    let lines = page.lines().filter_map(|line| line.strip_prefix("    "));
    let commands = lines.filter(|line| line.starts_with("simgpu "));
    let bare = commands.map(|line| line.split("   ").next().unwrap_or_default().trim_end());
    bare.flat_map(alternatives).collect()
}

/// The commands that a line stands for: `a|b` within a word is one or the other.
fn alternatives(line: &str) -> Vec<String> {
    let word = line
        .split(' ')
        .find(|word| word.len() > 1 && word.contains('|'));
    match word {
        Some(word) => word.split('|').map(|one| line.replace(word, one)).collect(),
        None => vec![line.to_owned()],
    }
}

/// Documents with near-duplicates, and some with an item.
fn documents(first: usize, families_of: usize) -> Vec<u8> {
    let item = text(7_000, 40);
    let texts = families(families_of, 3, 60);
    lines_of((first..).zip(texts).map(|(id, text)| {
        let asks = id % 50 == 0;
        let text = if asks {
            format!("{text}\n\n{item}\n\n{text}")
        } else {
            text
        };
        json!({"id": format!("d{id}"), "text": text})
    }))
}

fn place_for(page: &str) -> Place {
    let place = Place::new();
    let items = lines_of([json!({"id": "q", "question": text(7_000, 40)})]);
    match page {
        "contain" => {
            place.write("docs.jsonl", documents(0, 200));
            place.write("docs/a.jsonl", documents(0, 200));
            place.write("docs/b.jsonl", documents(10_000, 100));
            place.write("mmlu.jsonl", &items);
            place.write("evals/mmlu.jsonl", &items);
        }
        "index" => {
            for (number, first) in (0..6).zip((0..).step_by(1_000)) {
                place.write(&format!("in{number}.jsonl"), documents(first, 200));
            }
            place.run("sign in0.jsonl -o s.parquet -q").succeeded();
            place.write("ids", "d0\nd3\n");
            place.write("memories.jsonl", documents(0, 100));
            place.write("month/1.jsonl.zst", zstd(&documents(0, 400)));
            place.write("month/2.jsonl.zst", zstd(&documents(10_000, 400)));
            place.write("tonight.jsonl.zst", zstd(&documents(20_000, 500)));
            place.write("forget.txt", "d0\nd20001\n");
        }
        _ => {
            place.write("docs.jsonl", documents(0, 900));
            place.write("docs/a.jsonl", documents(0, 900));
            place.write("docs/b.jsonl", documents(10_000, 100));
        }
    }
    place
}

/// The command with names in the place of those of the synopsis.
fn named(command: &str, number: usize) -> String {
    [
        ("INPUT...", &*format!("in{number}.jsonl")),
        (
            "--signatures FILE --index DIR",
            "--signatures s.parquet --index signed",
        ),
        ("--ids FILE", "--ids ids"),
        ("snapshot DIR COPY", "snapshot ix copy"),
        ("DIR", "ix"),
        ("OUT", "out"),
    ]
    .iter()
    .fold(command.to_owned(), |command, (from, to)| {
        command.replace(from, to)
    })
}

/// Whether the help of a command has an option.
fn takes(command: &str, option: &str) -> bool {
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    let name = if words[0] == "index" {
        &words[..2]
    } else {
        &words[..1]
    };
    let help = Command::new(SIMGPU)
        .args(name)
        .arg("--help")
        .output()
        .unwrap();
    String::from_utf8_lossy(&help.stdout).contains(&format!("{option} "))
}

/// The file or folder that a command writes; of a pipe, the last one does.
fn output_of(command: &str) -> Option<&str> {
    let given = [" -o ", " --output "].map(|option| command.rsplit_once(option));
    let (_, name) = given.into_iter().flatten().next()?;
    name.split(' ').next().filter(|name| *name != "-")
}

/// Runs the commands of a page in order. Returns what they printed, and all files that they left but those of indexes.
fn run_all(page: &str, commands: &[String], memory: Option<&str>) -> BTreeMap<String, Vec<u8>> {
    let place = place_for(page);
    let mut results = BTreeMap::new();
    let mut number = 0;
    for command in commands {
        let mut whole = Vec::new();
        for part in command.split(" | ") {
            let mut part = named(part, number);
            if let (Some(memory), true) = (memory, takes(&part, "--memory")) {
                part = format!("{part} --memory {memory}");
                if takes(&part, "--hold-mib") {
                    part = format!("{part} --hold-mib 0");
                }
            }
            if output_of(&part).is_some_and(|name| place.holds(name)) {
                part = format!("{part} --overwrite");
            }
            whole.push(part.replacen("simgpu", SIMGPU, 1));
        }
        number += usize::from(command.contains("INPUT..."));
        let whole = whole.join(" | ");
        let mut shell = Command::new("sh");
        let run = shell
            .args(["-c", &whole])
            .current_dir(place.path(""))
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success(), "{whole}: {told}");
        assert!(!told.contains("panicked"), "{whole}: {told}");
        if !command.contains("stats") {
            results.insert(format!("stdout of {command}"), run.stdout);
        }
        if let Some(name) = output_of(&whole) {
            let path = place.path(name);
            if path.is_dir() {
                let files = lasting_files_in(&path).into_iter();
                results.extend(files.map(|(file, bytes)| (format!("{command}: {file}"), bytes)));
            }
        }
    }
    results
}

#[cfg(unix)]
#[test]
fn the_commands_of_the_guides_run_in_order_in_memory_and_on_disk() {
    for page in ["contain", "index", "passages"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../docs/{page}.md"));
        let commands = commands_of(&std::fs::read_to_string(path).unwrap());
        assert!(commands.len() >= 4, "{commands:?}");
        let in_memory = run_all(page, &commands, None);
        let on_disk = run_all(page, &commands, Some("1MiB"));
        assert!(in_memory.len() > commands.len());
        for (name, bytes) in &in_memory {
            assert!(
                on_disk.get(name) == Some(bytes),
                "{page}: {name} differs on disk"
            );
        }
        assert_eq!(in_memory.len(), on_disk.len());
    }
}
