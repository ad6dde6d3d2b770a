//! Indexes and what queries find in them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::{Numbers, Place, families, lines_of, parse_lines};

/// A place with two files of documents in families, which have members in both.
pub(super) fn place(seed: u64) -> Place {
    let place = Place::new();
    let mut random = Numbers(seed);
    let texts = families(60, 4, 40);
    let (mut old, mut new) = (Vec::new(), Vec::new());
    for (id, text) in texts.iter().enumerate() {
        let side = if random.next().is_multiple_of(2) {
            &mut old
        } else {
            &mut new
        };
        side.push(json!({"id": format!("d{id}"), "text": text}));
    }
    for (id, text) in ["", "...", "...", "?!"].into_iter().enumerate() {
        old.push(json!({"id": format!("o{id}"), "text": text}));
        new.push(json!({"id": format!("n{id}"), "text": text}));
    }
    place.write("old.jsonl", lines_of(old));
    place.write("new.jsonl", lines_of(new));
    place
}

/// The id and the similarity of each hit, by the id of the document.
type Hits = BTreeMap<String, BTreeMap<String, String>>;

pub(super) fn id(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

pub(super) fn hits(lines: &[Value]) -> Hits {
    let hits = |line: &Value| {
        let hits = line["hits"].as_array().unwrap().iter();
        let hits = hits.map(|hit| (id(&hit["id"]), hit["similarity"].to_string()));
        (id(&line["id"]), hits.collect())
    };
    lines.iter().map(hits).collect()
}

/// What `pairs` finds, with options of its own.
pub(super) fn by_pairs(place: &Place, options: &str) -> Hits {
    let mut hits: Hits = parse_lines(&place.read("new.jsonl"))
        .iter()
        .map(|record| (id(&record["id"]), BTreeMap::new()))
        .collect();
    let command = format!("new.jsonl --against old.jsonl {options}");
    for pair in place.pairs(&command) {
        let of = hits.get_mut(&id(&pair["id_b"])).unwrap();
        of.insert(id(&pair["id_a"]), pair["similarity"].to_string());
    }
    hits
}

/// How `pairs` and `dedup` find what an index of a kind finds.
pub(super) fn candidates(kind: &str) -> &'static str {
    match kind {
        "lsh" => "--candidates lsh",
        _ => "--candidates join --verify exact",
    }
}
