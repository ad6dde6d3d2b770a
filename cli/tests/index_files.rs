//! The files of an index: each that is missing, cut or changed is found.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::support::{Answering, Place, SIMGPU, families, lines_of};

/// A place with an index `seen` of this kind, of a bulk build and of what was added later.
fn place(kind: &str) -> Place {
    let place = Place::new();
    let texts = families(60, 3, 40);
    for (name, texts) in ["old.jsonl", "new.jsonl"].into_iter().zip(texts.chunks(90)) {
        let lines = texts.iter().enumerate();
        let lines = lines.map(|(id, text)| json!({"id": format!("{name}-{id}"), "text": text}));
        place.write(name, lines_of(lines));
    }
    place
        .run(&format!(
            "index build old.jsonl --index seen --kind {kind} --quiet"
        ))
        .succeeded();
    place
        .run("index add new.jsonl --index seen --quiet")
        .succeeded();
    place
}

/// The files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else {
            files.push(path);
        }
    }
    files
}

/// Copies a folder, byte by byte: a link would change with its copy.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

/// The files of locks hold no data.
fn is_lock(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "lock")
}

/// Whether a later manifest of the table has taken the place of this one.
fn is_obsolete(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_str().unwrap();
    let number = name
        .strip_prefix('v')
        .and_then(|number| number.parse().ok());
    number.is_some_and(|number: u64| {
        let current = fs::read(path.with_file_name("current")).unwrap();
        current[..8] != number.to_le_bytes()
    })
}

#[test]
fn every_missing_or_cut_file_is_found() {
    for kind in ["lsh", "exact"] {
        let place = place(kind);
        let whole = place.path("seen");
        let names = files(&whole);
        let is_there = |name: &str| names.iter().any(|path| path.ends_with(name));
        assert!(is_there("store/version") && is_there("acknowledged") && is_there("tables/0"));
        assert_eq!(is_there("store/filter"), kind == "lsh");
        for path in names.iter().filter(|path| !is_obsolete(path)) {
            let name = path.strip_prefix(&whole).unwrap();
            let bytes = fs::read(path).unwrap();
            // An empty journal holds nothing that could be cut off.
            for left in [None, Some(0), Some(bytes.len() / 2)] {
                if left.is_some_and(|left| left == bytes.len()) {
                    continue;
                }
                let damaged = place.path("damaged");
                let _ = fs::remove_dir_all(&damaged);
                copy(&whole, &damaged);
                match left {
                    None => fs::remove_file(damaged.join(name)).unwrap(),
                    Some(left) => fs::write(damaged.join(name), &bytes[..left]).unwrap(),
                }
                let checked = place.run("index verify --index damaged");
                let what = format!(
                    "{kind}: {} of {}: {}",
                    left.map_or("none".to_owned(), |left| left.to_string()),
                    name.display(),
                    checked.stderr
                );
                assert!(!checked.stderr.contains("panicked"), "{what}");
                if is_lock(path) {
                    // They are made again.
                    assert_eq!(checked.code, Some(0), "{what}");
                } else {
                    assert_eq!(checked.code, Some(1), "{what}");
                }
                let is_whole = checked.stderr.contains("whole");
                assert_eq!(is_whole, is_lock(path), "{what}");
            }
        }
    }
}

/// A journal with batches that are in no table yet.
fn journal_of(place: &Place, index: &str) -> PathBuf {
    let journals = files(&place.path(index))
        .into_iter()
        .filter(|path| path.extension().is_some_and(|ending| ending == "jnl"));
    let journals: Vec<PathBuf> = journals.collect();
    assert_eq!(journals.len(), 1);
    journals[0].clone()
}

#[test]
#[cfg(target_os = "linux")]
#[allow(clippy::print_stderr, reason = "says that a test was skipped")]
fn a_damaged_journal_takes_no_memory() {
    let place = place("lsh");
    let mut running = Answering::start(
        &place,
        "index add - --index seen --if-new --output - --quiet",
    );
    for id in 0..3 {
        let line = json!({"id": id, "text": format!("a text of words {id} that none other has")});
        assert_eq!(running.ask(line)["verdict"], "added");
    }
    running.kill();
    let journal = journal_of(&place, "seen");
    let good = fs::read(&journal).unwrap();
    let used = good.iter().rposition(|byte| *byte != 0).unwrap() + 1;
    assert!(used > 1_000, "{used}");
    let verify = || {
        Command::new("prlimit")
            .args([
                "--as=3000000000",
                SIMGPU,
                "index",
                "verify",
                "--index",
                "damaged",
            ])
            .current_dir(place.path(""))
            .output()
    };
    let mut refused = 0;
    // The lengths of the first changes are among these bytes.
    for at in (0..130).chain((130..used).step_by(29)) {
        let mut bytes = good.clone();
        bytes[at] = 0xFF;
        let damaged = place.path("damaged");
        let _ = fs::remove_dir_all(&damaged);
        copy(&place.path("seen"), &damaged);
        fs::write(journal_of(&place, "damaged"), bytes).unwrap();
        let Ok(output) = verify() else {
            eprintln!("skipped: there is no prlimit");
            return;
        };
        let told = String::from_utf8_lossy(&output.stderr);
        let phrases = ["out of memory", "memory allocation", "panicked"];
        let is_told = |phrase: &&str| told.contains(*phrase);
        assert!(!phrases.iter().any(is_told), "{at}: {told}");
        if output.status.code() != Some(0) {
            assert_eq!(output.status.code(), Some(1), "{at}: {told}");
            assert!(told.contains("damaged"), "{at}: {told}");
            refused += 1;
        }
    }
    assert!(refused > 100, "{refused}");
    // A batch that a crash cut off was promised to nobody.
    let mut cut = good[..used].to_vec();
    cut.extend([
        1, 9, 0, 0, 0, 99, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 4, 0,
    ]);
    cut.extend([0xF0; 8]);
    fs::write(&journal, cut).unwrap();
    let checked = place.run("index verify --index seen").succeeded();
    assert!(checked.stderr.contains("183"), "{}", checked.stderr);
}
