//! An index, and results against it.

use serde_json::{Value, json};

use crate::support::{Numbers, Place, families, lines_of, parse_lines};

/// A place with documents in families, which have members in a reference of two files and in the input: copies, and documents
/// without words, too.
pub(super) fn place(seed: u64) -> Place {
    let place = Place::new();
    let mut random = Numbers(seed);
    let mut files = [Vec::new(), Vec::new(), Vec::new()];
    let mut texts = families(50, 5, 40);
    texts.extend(texts.iter().step_by(7).cloned().collect::<Vec<_>>());
    texts.extend(["", "...", "...", "?!", "?!"].map(str::to_owned));
    for (id, text) in texts.iter().enumerate() {
        let file = &mut files[usize::try_from(random.next() % 3).unwrap()];
        file.push(json!({"id": format!("d{id}"), "text": text, "score": random.next() % 50}));
    }
    for (name, lines) in ["old/a.jsonl", "old/b.jsonl", "new.jsonl"]
        .into_iter()
        .zip(files)
    {
        place.write(name, lines_of(lines));
    }
    place
}

/// The removed documents, without where the kept ones are.
pub(super) fn removed(place: &Place, folder: &str) -> Vec<Value> {
    let mut lines = parse_lines(&place.read(&format!("{folder}/removed.jsonl")));
    for line in &mut lines {
        let line = line.as_object_mut().unwrap();
        line.remove("kept_in");
        line.remove("kept_file");
        line.remove("kept_row");
    }
    lines
}

pub(super) fn report(place: &Place, folder: &str) -> Value {
    serde_json::from_slice(&place.read(&format!("{folder}/report.json"))).unwrap()
}

/// The number of the documents that were removed for one that is there.
pub(super) fn kept_in(place: &Place, folder: &str, there: &str) -> u64 {
    let lines = parse_lines(&place.read(&format!("{folder}/removed.jsonl")));
    let of = lines.iter().filter(|line| line["kept_in"] == there);
    of.count() as u64
}
