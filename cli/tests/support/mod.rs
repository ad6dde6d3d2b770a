//! Support for the tests of the command: a folder to run in, the outcome of a run, and texts from a formula.

#![allow(dead_code, unused_imports, reason = "gpu_search uses a part of it")]

#[cfg(feature = "gpu")]
#[path = "../../../tests/support/gpu.rs"]
pub(crate) mod gpu;

pub(crate) mod made_up;

pub(crate) mod recall;

pub(crate) mod truth;

mod compressed;

mod answering;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch};
use parquet::arrow::ArrowWriter;
use serde_json::{Value, json};

pub(crate) use answering::Answering;
pub(crate) use compressed::{bzip2, decompressed, gzip, xz, zstd};

/// The program under test.
pub(crate) const SIMGPU: &str = env!("CARGO_BIN_EXE_simgpu");

/// A temporary folder that holds the files of a test, and in which the program runs.
pub(crate) struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Place { folder }
    }

    /// A place with `in.jsonl`: these texts as JSON Lines, without ids.
    pub(crate) fn with_texts<S: AsRef<str>>(texts: impl IntoIterator<Item = S>) -> Self {
        let place = Place::new();
        place.write("in.jsonl", json_lines(texts));
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file and creates its parent folders.
    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        let path = self.path(name);
        fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    pub(crate) fn holds(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// Runs the program in this folder; the arguments are separated by blanks.
    #[track_caller]
    pub(crate) fn run(&self, arguments: &str) -> Run {
        self.run_with_stdin(arguments, b"")
    }

    #[track_caller]
    pub(crate) fn run_with_stdin(&self, arguments: &str, stdin: &[u8]) -> Run {
        let output = assert_cmd::Command::new(SIMGPU)
            .args(arguments.split_whitespace())
            .current_dir(&self.folder)
            .env("RUST_BACKTRACE", "0")
            // Without a desktop, Mesa's device selection writes to stderr.
            .env("NODEVICE_SELECT", "1")
            .write_stdin(stdin)
            .output()
            .unwrap();
        if output.status.success() {
            note_options(arguments);
        }
        Run {
            command: arguments.to_owned(),
            code: output.status.code(),
            stdout: output.stdout,
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs `dedup` into the folder `out`, which must succeed.
    #[track_caller]
    pub(crate) fn dedup(&self, arguments: &str) -> Results {
        self.dedup_with_stdin(arguments, b"")
    }

    #[track_caller]
    pub(crate) fn dedup_with_stdin(&self, arguments: &str, stdin: &[u8]) -> Results {
        let command = format!("dedup {arguments} --output out --overwrite --quiet");
        self.run_with_stdin(&command, stdin).succeeded();
        Results::of(&self.path("out"))
    }

    /// Runs `pairs` to stdout, which must succeed, and returns the lines.
    #[track_caller]
    pub(crate) fn pairs(&self, arguments: &str) -> Vec<Value> {
        let command = format!("pairs {arguments} --output - --quiet");
        parse_lines(&self.run(&command).succeeded().stdout)
    }
}

/// Adds the arguments of a run that succeeded to the file that `SIMGPU_COMMANDS` names, for `scripts/option-pairs.py`.
fn note_options(arguments: &str) {
    if let Some(path) = std::env::var_os("SIMGPU_COMMANDS") {
        let mut file = fs::File::options()
            .create(true)
            .append(true)
            .open(path)
            .unwrap();
        file.write_all(format!("{arguments}\n").as_bytes()).unwrap();
    }
}

/// The outcome of a run.
pub(crate) struct Run {
    command: String,
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Run {
    #[track_caller]
    pub(crate) fn succeeded(self) -> Self {
        assert_eq!(self.code, Some(0), "{}: {}", self.command, self.stderr);
        self
    }

    /// The run exited with `code`, without a panic, and its error contains every phrase.
    #[track_caller]
    pub(crate) fn refused(self, code: i32, phrases: &[&str]) -> Self {
        assert_eq!(self.code, Some(code), "{}: {}", self.command, self.stderr);
        let error = self.error();
        for phrase in phrases {
            let is_there = error.contains(phrase);
            assert!(is_there, "{}: no {phrase:?} in: {error}", self.command);
        }
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        assert!(self.stdout.is_empty(), "{}", self.command);
        self
    }

    /// Stderr from the error on, whether the program or its argument parser reports it.
    #[track_caller]
    pub(crate) fn error(&self) -> &str {
        let starts = ["simgpu: ", "error: "].into_iter();
        let start = starts.filter_map(|start| self.stderr.find(start)).min();
        let start = start.unwrap_or_else(|| panic!("no error: {}", self.stderr));
        &self.stderr[start..]
    }
}

/// The results of `dedup` in its output folder.
pub(crate) struct Results {
    pub(crate) folder: PathBuf,
    pub(crate) report: Value,
    /// The lines of removed.jsonl, parsed.
    pub(crate) removed: Vec<Value>,
    /// The same lines as text.
    pub(crate) removed_lines: Vec<String>,
}

impl Results {
    #[track_caller]
    pub(crate) fn of(folder: &Path) -> Self {
        let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
        let removed = read("removed.jsonl");
        Results {
            folder: folder.to_owned(),
            report: serde_json::from_str(&read("report.json")).unwrap(),
            removed: parse_lines(removed.as_bytes()),
            removed_lines: removed.lines().map(str::to_owned).collect(),
        }
    }

    #[track_caller]
    pub(crate) fn count(&self, name: &str) -> u64 {
        let count = self.report["counts"][name].as_u64();
        count.unwrap_or_else(|| panic!("no count {name}: {}", self.report["counts"]))
    }

    /// The names of the files in kept/, in order.
    pub(crate) fn kept_names(&self) -> Vec<String> {
        files_in(&self.folder.join("kept")).into_keys().collect()
    }

    /// The bytes of a file in kept/, still compressed.
    #[track_caller]
    pub(crate) fn stored(&self, name: &str) -> Vec<u8> {
        let path = self.folder.join("kept").join(name);
        fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// The contents of a file in kept/, decompressed.
    #[track_caller]
    pub(crate) fn kept(&self, name: &str) -> Vec<u8> {
        decompressed(&self.stored(name))
    }

    /// `id`, `kept_id` and `found_by` of each removed document.
    pub(crate) fn removals(&self) -> Vec<(Value, Value, Value)> {
        let parts = |line: &Value| {
            let of = |name: &str| line[name].clone();
            (of("id"), of("kept_id"), of("found_by"))
        };
        self.removed.iter().map(parts).collect()
    }
}

/// Every file below a folder, by its relative path.
pub(crate) fn files_in(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap();
                files.insert(name.to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    files
}

/// The files that are the same after every run: all but run.json, which holds times.
pub(crate) fn lasting_files_in(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = files_in(folder);
    files.remove("run.json");
    files
}

/// Texts as JSON Lines, without ids.
pub(crate) fn json_lines<S: AsRef<str>>(texts: impl IntoIterator<Item = S>) -> Vec<u8> {
    lines_of(texts.into_iter().map(|text| json!({"text": text.as_ref()})))
}

/// Texts as JSON Lines, with ids from `first_id` on.
pub(crate) fn numbered_lines<S: AsRef<str>>(
    texts: impl IntoIterator<Item = S>,
    first_id: usize,
) -> Vec<u8> {
    let numbered = (first_id..).zip(texts);
    lines_of(numbered.map(|(id, text)| json!({"id": id, "text": text.as_ref()})))
}

/// Records as JSON Lines.
pub(crate) fn lines_of(records: impl IntoIterator<Item = Value>) -> Vec<u8> {
    let lines = records.into_iter().map(|record| format!("{record}\n"));
    lines.collect::<String>().into_bytes()
}

pub(crate) fn parse_lines(bytes: &[u8]) -> Vec<Value> {
    let lines = std::str::from_utf8(bytes).unwrap().lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The number in a field of a line of JSON, exact: `serde_json` may be off by the last bit.
#[track_caller]
pub(crate) fn number_in(line: &str, field: &str) -> f64 {
    let (_, after) = line.split_once(&format!("\"{field}\":")).unwrap();
    let digits = after.split([',', '}']).next().unwrap();
    digits
        .parse()
        .unwrap_or_else(|_| panic!("{field} in {line}"))
}

/// A table of these columns as a Parquet file.
pub(crate) fn parquet(columns: impl IntoIterator<Item = (&'static str, ArrayRef)>) -> Vec<u8> {
    let nullable = columns.into_iter().map(|(name, column)| {
        let has_nulls = column.logical_null_count() > 0;
        (name, column, has_nulls)
    });
    let rows = RecordBatch::try_from_iter_with_nullable(nullable).unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), rows.schema(), None).unwrap();
    writer.write(&rows).unwrap();
    writer.into_inner().unwrap()
}

/// A column of strings.
pub(crate) fn strings<S: AsRef<str>>(values: impl IntoIterator<Item = S>) -> ArrayRef {
    let column = arrow_array::StringArray::from_iter_values(values);
    Arc::new(column)
}

/// Numbers from a formula (splitmix64), so that every machine has the same texts.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap()
    }

    /// A word of two to four syllables, some of them beyond ASCII.
    pub(crate) fn word(&mut self) -> String {
        const SYLLABLES: [&str; 16] = [
            "ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "ná", "pe", "ri", "sö",
            "tu", "ж",
        ];
        let syllables = 2 + self.below(3);
        (0..syllables)
            .map(|_| SYLLABLES[self.below(SYLLABLES.len())])
            .collect()
    }
}

/// A text of `words` words that depends on the seed alone; texts of different seeds are unrelated.
pub(crate) fn text(seed: u64, words: usize) -> String {
    let mut numbers = Numbers(seed);
    let words: Vec<String> = (0..words).map(|_| numbers.word()).collect();
    words.join(" ")
}

/// The text with `edits` words replaced; the seed chooses which.
pub(crate) fn edited(text: &str, seed: u64, edits: usize) -> String {
    let mut numbers = Numbers(!seed);
    let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    for _ in 0..edits {
        let place = numbers.below(words.len());
        words[place] = numbers.word();
    }
    words.join(" ")
}

/// Families of near-duplicates, interleaved: text `i` belongs to family `i % families`. The first text of a
/// family is plain, each other one has 0 to 11 edits.
pub(crate) fn families(families: usize, members: usize, words: usize) -> Vec<String> {
    let text_of = |i: usize| {
        let family = (i % families) as u64;
        let edits = if i < families {
            0
        } else {
            Numbers(i as u64).below(12)
        };
        edited(&text(family, words), i as u64, edits)
    };
    (0..families * members).map(text_of).collect()
}

/// The arguments of the command on a page that repeats the run.
pub(crate) fn command_on(page: &str) -> &str {
    let (_, command) = page
        .split_once("<p class=\"command\"><code>simgpu ")
        .unwrap();
    let (command, _) = command.split_once("</code>").unwrap();
    command
}
