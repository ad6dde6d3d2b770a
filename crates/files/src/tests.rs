//! What the unit tests of this room share: inputs in a folder, what results say of them, and runs that are stopped.

mod against;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::run::{Run, RunOptions};
use simgpu::engine::Engine;
use simgpu::pipeline::{Shingling, Unit};
use simgpu::progress::Progress;
use simgpu::scheme::fmix64;
use simgpu::search::{Dedup, Search, Verification};
use simgpu_io::{Inputs, OnBadRecord};

/// So little memory that every stage is on disk.
pub(super) const LITTLE: u64 = 16 << 10;

/// A folder of inputs and results.
pub(super) struct Place(tempfile::TempDir);

impl Place {
    pub(super) fn new() -> Self {
        Place(tempfile::tempdir().unwrap())
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(super) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(super) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// The values of the lines of a file.
    pub(super) fn lines(&self, name: &str) -> Vec<Value> {
        let text = self.text(name);
        let parse = |line: &str| serde_json::from_str(line).unwrap();
        text.lines().map(parse).collect()
    }

    /// The inputs, all files in the folder `in`.
    pub(super) fn inputs(&self) -> Inputs {
        Inputs::find(&[self.path("in")], None).unwrap()
    }

    /// All files of results that do not depend on time and memory, by name.
    pub(super) fn results(&self, name: &str) -> BTreeMap<String, Vec<u8>> {
        let mut results = BTreeMap::new();
        let mut folders = vec![self.path(name)];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if !path.ends_with("run.json") {
                    let below = path.strip_prefix(self.path(name)).unwrap();
                    results.insert(below.display().to_string(), fs::read(&path).unwrap());
                }
            }
        }
        results
    }
}

/// The text of a document of a family.
fn text(family: u64, member: u64) -> String {
    let word = |at: u64| format!("w{}", fmix64(family << 16 | at) % 3_000);
    let mut words: Vec<String> = (0..16).map(word).collect();
    for edit in 0..member % 3 {
        let at = fmix64(family << 20 | member << 8 | edit);
        words[usize::try_from(at % 16).unwrap()] = format!("e{at}");
    }
    words.extend((0..member % 2).map(|at| word(90 + at)));
    words.join(" ")
}

/// Documents in families of edited copies, in three files, one of them empty. Some records are bad.
pub(crate) fn place() -> Place {
    let place = Place::new();
    let mut files: [String; 2] = Default::default();
    for at in 0..360u64 {
        // Families of one to five, whose members are far from each other.
        let (family, member) = (at % 120, at / 120);
        let copies = if family % 4 == 0 { 2 } else { 1 };
        for copy in 0..copies {
            let file = usize::from(at % 3 == 0);
            let id = match at % 5 {
                0 => json!(at * 10 + copy),
                _ => json!(format!("d{at}-{copy}")),
            };
            let text = text(family, member * (1 + family % 2));
            let record = json!({"id": id, "text": text, "score": fmix64(at) % 7});
            files[file] += &format!("{record}\n");
            if at % 71 == 3 {
                files[file] += "{\"id\": 3}\n";
            }
        }
    }
    let [first, second] = files;
    place.write("in/a.jsonl", first);
    place.write("in/b/c.jsonl", "");
    place.write("in/d.jsonl", second);
    place
}

pub(super) fn engine() -> Engine {
    let shingling = Shingling {
        size: std::num::NonZeroUsize::new(2).unwrap(),
        ..Shingling::of(Unit::Words)
    };
    let builder = Engine::builder().shingling(shingling);
    builder.work_bytes(1).build().unwrap()
}

/// An engine whose exact sets need a second reading of the documents.
pub(super) fn engine_of_bytes() -> Engine {
    let builder = Engine::builder().shingling(Shingling::of(Unit::Bytes));
    builder.work_bytes(1).build().unwrap()
}

pub(super) fn search(engine: &Engine, verification: Verification) -> Search {
    Search {
        verification,
        ..Search::new(0.5, engine.scheme()).unwrap()
    }
}

pub(super) fn task(engine: &Engine) -> Dedup {
    Dedup::new(search(engine, Verification::Exact))
}

/// A run that skips bad records.
pub(super) fn skipping<'a>(engine: &'a Engine, inputs: &'a Inputs) -> Run<'a> {
    Run {
        on_bad_record: OnBadRecord::Skip,
        ..Run::new(engine, inputs)
    }
}

/// The options of a run that this receives the progress of.
pub(super) fn watched_by(progress: &dyn Progress) -> RunOptions<'_> {
    RunOptions {
        progress,
        ..RunOptions::default()
    }
}

/// The options of a run that may replace results.
pub(super) fn overwriting(overwrite: bool) -> RunOptions<'static> {
    RunOptions {
        overwrite,
        ..RunOptions::default()
    }
}

/// A record of an input: its line, and its id if it is good.
pub(super) type Line = (String, Option<Value>);

/// The records of a file.
pub(super) fn records(place: &Place, name: &str) -> Vec<Line> {
    let text = place.text(&format!("in/{name}"));
    let record = |line: &str| {
        let value: Value = serde_json::from_str(line).unwrap();
        let id = value.get("text").map(|_| value["id"].clone());
        (line.to_owned(), id)
    };
    text.lines().map(record).collect()
}

/// Checks that the results in a folder account for every record of the inputs.
#[track_caller]
pub(super) fn assert_complete(place: &Place, folder: &str) {
    let files = ["a.jsonl", "b/c.jsonl", "d.jsonl"];
    let inputs = files.map(|file| (file, records(place, file)));
    let inputs = BTreeMap::from(inputs);
    let removed = place.lines(&format!("{folder}/removed.jsonl"));
    let row = |line: &Value, name: &str| usize::try_from(line[name].as_u64().unwrap()).unwrap();
    let mut gone = BTreeSet::new();
    for line in &removed {
        for [id, file, row_name] in [["id", "file", "row"], ["kept_id", "kept_file", "kept_row"]] {
            let (_, known) = &inputs[line[file].as_str().unwrap()][row(line, row_name)];
            assert_eq!(known.as_ref(), Some(&line[id]), "{line}");
        }
        gone.insert((line["file"].as_str().unwrap(), row(line, "row")));
    }
    assert_eq!(gone.len(), removed.len());
    let kept_row = |line: &Value| {
        (
            line["kept_file"].as_str().unwrap().to_owned(),
            row(line, "kept_row"),
        )
    };
    for line in &removed {
        let (file, row) = kept_row(line);
        assert!(!gone.contains(&(&*file, row)), "{line}");
    }
    let (mut documents, mut kept, mut bad) = (0, 0, Vec::new());
    for (file, records) in &inputs {
        let mut expected = String::new();
        for (row, (line, id)) in records.iter().enumerate() {
            documents += 1;
            if id.is_none() {
                bad.push((json!(file), json!(row)));
            } else if !gone.contains(&(*file, row)) {
                kept += 1;
                expected += &format!("{line}\n");
            }
        }
        let written = place.path(&format!("{folder}/kept/{file}"));
        let written = fs::read_to_string(written).unwrap_or_default();
        assert_eq!(written, expected, "{file}");
    }
    let report: Value =
        serde_json::from_str(&place.text(&format!("{folder}/report.json"))).unwrap();
    let counts = &report["counts"];
    for (name, count) in [
        ("documents", documents),
        ("kept", kept),
        ("removed", removed.len()),
        ("skipped", bad.len()),
    ] {
        assert_eq!(counts[name], json!(count), "{name}");
    }
    let skipped = report["skipped"].as_array().unwrap();
    let skipped: Vec<_> = skipped
        .iter()
        .map(|skipped| (skipped["file"].clone(), skipped["row"].clone()))
        .collect();
    assert_eq!(skipped, bad);
    assert_eq!(report["empty_files"], json!(["b/c.jsonl"]));
    let clusters = report["cluster_sizes"].as_object().unwrap();
    let sizes = clusters.iter().map(|(size, clusters)| {
        let (size, clusters) = (size.parse::<u64>().unwrap(), clusters.as_u64().unwrap());
        (clusters, size * clusters)
    });
    let (clusters, members) = sizes.fold((0, 0), |sum, next| (sum.0 + next.0, sum.1 + next.1));
    assert_eq!(
        (clusters, members),
        (kept as u64, (kept + removed.len()) as u64)
    );
}

/// Stops a run at one of all calls, acts when a stage begins, and notes all warnings.
pub(super) struct Watched<'a> {
    last: usize,
    pub(super) calls: AtomicUsize,
    at: (&'static str, usize, &'a (dyn Fn() + Sync)),
    begun: AtomicUsize,
    pub(super) told: Mutex<Vec<String>>,
}

impl<'a> Watched<'a> {
    pub(super) fn stop_at(last: usize) -> Self {
        Watched {
            last,
            calls: AtomicUsize::new(0),
            at: ("", 0, &|| ()),
            begun: AtomicUsize::new(0),
            told: Mutex::default(),
        }
    }

    /// Acts when a stage begins for the time `nth`, from 0.
    pub(super) fn at(stage: &'static str, nth: usize, act: &'a (dyn Fn() + Sync)) -> Self {
        Watched {
            at: (stage, nth, act),
            ..Watched::stop_at(usize::MAX)
        }
    }

    pub(super) fn has(&self, words: &str) -> bool {
        let told = self.told.lock().unwrap();
        told.iter().any(|message| message.contains(words))
    }
}

impl Progress for Watched<'_> {
    fn begin(&self, stage: &'static str, _: u64) {
        let (at, nth, act) = self.at;
        if stage == at && self.begun.fetch_add(1, Ordering::Relaxed) == nth {
            act();
        }
    }

    fn advance(&self, _: u64, _: u64, _: u64) -> ControlFlow<()> {
        if self.calls.fetch_add(1, Ordering::Relaxed) >= self.last {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn tell(&self, message: &str) {
        self.told.lock().unwrap().push(message.to_owned());
    }

    fn warn(&self, message: &str) {
        self.tell(message);
    }
}

/// Changes a file of the same length and time: one letter of its first text.
pub(super) fn change_unseen(path: &Path) {
    let modified = fs::metadata(path).unwrap().modified().unwrap();
    let text = fs::read_to_string(path).unwrap();
    let changed = text.replacen("\"text\":\"w", "\"text\":\"v", 1);
    assert_ne!(text, changed);
    fs::write(path, changed).unwrap();
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(modified).unwrap();
}
