//! What a run writes, to be compared.

use std::collections::BTreeMap;

use serde_json::Value;
use simgpu_cli::options::{Effect, Row};

use super::inputs::copy;
use crate::support::{Place, files_in};

/// What a run left behind.
pub(super) struct Outcome {
    pub(super) code: Option<i32>,
    files: BTreeMap<String, Vec<u8>>,
    stdout: Vec<u8>,
    pub(super) stderr: String,
}

impl Outcome {
    /// Runs a command line, and removes what it wrote.
    pub(super) fn of(place: &Place, command: &str) -> Self {
        if command.starts_with("index ") && !command.starts_with("index build") {
            for (index, name) in [("seen", "out"), ("tokens", "other")] {
                copy(&place.path(index), &place.path(name));
            }
        }
        let run = place.run(command);
        let mut files = BTreeMap::new();
        for name in ["out", "other"] {
            if place.holds(&format!("{name}/simgpu-index.json")) {
                // The files of the store tell when they were written.
                let header = std::fs::read(place.path(&format!("{name}/simgpu-index.json")));
                files.insert(format!("{name}/header"), header.unwrap());
                let export = place
                    .run(&format!("index export --index {name}"))
                    .succeeded();
                files.insert(format!("{name}/export"), export.stdout);
                std::fs::remove_dir_all(place.path(name)).unwrap();
            } else if place.path(name).is_dir() {
                files.extend(files_in(&place.path(name)));
                std::fs::remove_dir_all(place.path(name)).unwrap();
            }
        }
        for entry in std::fs::read_dir(place.path(".")).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            if ["p.", "r.", "s.npy", "signed.", "other"]
                .iter()
                .any(|start| name.starts_with(start))
            {
                files.insert(name, std::fs::read(entry.path()).unwrap());
                std::fs::remove_file(entry.path()).unwrap();
            }
        }
        files.remove("run.json");
        // A page repeats the options, too. But for these, whether it shows texts follows from an option alone.
        if let Some(page) = files.remove("report.html") {
            let page = String::from_utf8_lossy(&page);
            let shows_texts = page.contains("<p class=\"words\">");
            files.insert("texts".to_owned(), vec![u8::from(shows_texts)]);
        }
        for (name, bytes) in &mut files {
            if name.ends_with(".json") {
                *bytes = without_parameters(bytes);
            }
        }
        Outcome {
            code: run.code,
            files,
            stdout: run.stdout,
            stderr: run.stderr,
        }
    }

    /// The line of the error, after what was told before.
    pub(super) fn error(&self) -> &str {
        let mut lines = self.stderr.lines();
        let is_error = |line: &&str| line.starts_with("simgpu: ") || line.starts_with("error: ");
        lines.find(is_error).unwrap_or_default()
    }

    fn has_equal_results(&self, other: &Outcome) -> bool {
        (self.code, &self.files, &self.stdout) == (other.code, &other.files, &other.stdout)
    }

    /// What is wrong, if the option did not change what its row says. `before` is the run without it.
    pub(super) fn objection(&self, row: &Row, before: &Outcome) -> Option<&'static str> {
        if self.code == Some(2) {
            let error = self.error();
            return (!error.contains("--")).then_some("is refused without the name of an option");
        }
        let is_equal = self.has_equal_results(before);
        match row.effect {
            Effect::Results if is_equal => Some("changes no result"),
            Effect::Speed | Effect::Memory if !is_equal => Some("changes a result"),
            Effect::Checks if !is_equal && self.code != Some(1) => Some("changes a result"),
            Effect::Messages if self.files != before.files => Some("changes a result"),
            Effect::Messages if is_equal && self.stderr == before.stderr => {
                Some("changes no message")
            }
            _ => None,
        }
    }
}

/// A report without the options that it repeats.
fn without_parameters(report: &[u8]) -> Vec<u8> {
    let Ok(Value::Object(mut report)) = serde_json::from_slice(report) else {
        return report.to_vec();
    };
    report.remove("parameters");
    Value::Object(report).to_string().into_bytes()
}
