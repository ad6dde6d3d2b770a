//! Corpora with hostile texts, and their pages.

use serde_json::{Value, json};

use crate::support::{Place, families, lines_of, text};

/// A value that would become part of the page if it were not escaped.
pub(crate) const HOSTILE: &str = "</bdi></td></style><script>alert('x')</script>&amp;\"'<img src=x onerror=alert(1)>\u{202e}\u{0}";

/// Texts that are hard to show, each with a near copy: the shingles of most are those of a common text.
fn hostile_texts() -> Vec<String> {
    let common = text(1, 200);
    let long = "x".repeat(1 << 20);
    let parts = [
        HOSTILE.to_owned(),
        "\u{202e}\u{2066}\u{200f}turned\u{202d}".to_owned(),
        long,
        "\u{0}\u{1}\u{7f}\u{85}".to_owned(),
        "\u{4e2d}\u{6587}".repeat(300),
        "]]><!-- --!>{{}}<textarea><plaintext>".to_owned(),
    ];
    let both = |part: &String| {
        [
            format!("{common} {part}"),
            format!("{common} {part} {HOSTILE}"),
        ]
    };
    parts.iter().flat_map(both).collect()
}

/// Hostile ids, sources, texts and names of files.
pub(crate) fn hostile() -> Place {
    let place = Place::new();
    let records = hostile_texts().into_iter().enumerate().map(|(i, text)| {
        json!({"id": format!("{i}{HOSTILE}"), "text": text, "from": format!("{}{HOSTILE}", i % 2)})
    });
    place.write("in/a<i>&\"'.jsonl", lines_of(records));
    place
}

pub(super) const HOSTILE_RUN: &str =
    "dedup in -o out --overwrite -q --threshold 0.5 --source-field from";

/// Pages of hostile texts and of usual ones, for a browser.
pub(crate) fn pages() -> Vec<(&'static str, String)> {
    let usual = Place::with_texts(families(30, 5, 120));
    usual.run("dedup in.jsonl -o out -q").succeeded();
    let place = hostile();
    place.run(HOSTILE_RUN).succeeded();
    vec![
        ("removed", page(&usual)),
        ("removed, hostile", page(&place)),
    ]
}

pub(super) fn page(place: &Place) -> String {
    String::from_utf8(place.read("out/report.html")).unwrap()
}

pub(super) fn report(place: &Place) -> Value {
    serde_json::from_slice(&place.read("out/report.json")).unwrap()
}

/// The tags of a page, and its text with blanks between words.
pub(crate) fn parts(page: &str) -> (Vec<String>, String) {
    let body = page.split_once("</style>").unwrap().1;
    let (mut tags, mut text) = (Vec::new(), String::new());
    for (i, part) in body.split('<').enumerate() {
        let rest = if i == 0 {
            part
        } else {
            let (tag, rest) = part.split_once('>').unwrap();
            tags.push(tag.to_owned());
            text.push(' ');
            rest
        };
        text += rest;
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    (tags, words.join(" "))
}
