//! JSON Lines: kept lines are copied byte for byte.

use super::samples::records;
use crate::support::{Place, json_lines, text};

#[test]
fn lines_are_kept_byte_for_byte() {
    let (one, two, three) = (text(1, 20), text(2, 20), text(3, 20));
    let kept = [
        format!("{{\"text\": \"{one}\", \"n\": 1.50, \"u\": \"\\u00e9\\/\"}}\r\n"),
        format!("  {{ \"text\" :\t\"{two}\" }}\t \n"),
        format!("{{\"text\":\"{three}\",\"text\":\"{three}\"}}\r\n"),
    ];
    let removed = format!("{{\"id\": 1, \"text\": \"{one}\"}}\n");
    let place = Place::new();
    place.write(
        "in.jsonl",
        [&kept[0], &removed, &kept[1], &kept[2]]
            .map(String::as_str)
            .concat(),
    );
    let results = place.dedup("in.jsonl");
    assert_eq!(results.kept("in.jsonl"), kept.concat().into_bytes());
}

#[test]
fn byte_order_marks_and_blank_lines_are_dropped() {
    let records = records();
    let mut file = b"\xEF\xBB\xBF".to_vec();
    for (record, end) in records.iter().zip(["\r\n\r\n", "\n \t\r\n\n", "\n", ""]) {
        file.extend_from_slice(record);
        file.extend_from_slice(end.as_bytes());
    }
    let place = Place::new();
    place.write("in.jsonl", file);
    let results = place.dedup("in.jsonl");
    let kept = [
        &records[0][..],
        b"\r\n",
        &records[1],
        b"\n",
        &records[3],
        b"\n",
    ];
    assert_eq!(results.kept("in.jsonl"), kept.concat());
    assert_eq!(results.count("documents"), 4);
}

#[test]
fn a_lone_byte_order_mark_is_blank() {
    for start in ["\u{FEFF}\n", "\u{FEFF}\r\n", "\u{FEFF} \n\n"] {
        let place = Place::new();
        place.write(
            "in.jsonl",
            [start.as_bytes(), &json_lines(["a", "b", "a"])].concat(),
        );
        for verify in ["signature", "exact"] {
            let results = place.dedup(&format!("in.jsonl --verify {verify}"));
            assert_eq!(
                results.kept("in.jsonl"),
                json_lines(["a", "b"]),
                "{start:?}"
            );
            assert_eq!(results.count("documents"), 3);
        }
    }
}

#[test]
fn lines_across_chunks_stay_whole() {
    // Lines of many lengths up to more than a chunk, so that chunks end anywhere in a line.
    let mut file = Vec::new();
    let mut kept = Vec::new();
    for i in 0..40 {
        let filler = "x".repeat((i * 37_987) % 150_000 + if i % 9 == 0 { 1 << 20 } else { 0 });
        let line = format!("{{\"text\": \"document {i}\", \"filler\": \"{filler}\"}}\r\n");
        file.extend_from_slice(line.as_bytes());
        kept.extend_from_slice(line.as_bytes());
        if i % 3 == 0 {
            file.extend_from_slice(b"\r\n{\"text\": \"document 0\"}\n");
        }
    }
    let place = Place::new();
    place.write("in.jsonl", file);
    for options in [
        "--batch-mib 1",
        "--batch-mib 64 --verify exact",
        "--batch-mib 1 --verify exact --hold-mib 0",
        "--batch-mib 64 --hold-mib 0",
    ] {
        let results = place.dedup(&format!("in.jsonl {options}"));
        assert!(results.kept("in.jsonl") == kept);
        assert_eq!(results.count("removed"), 14);
    }
}
