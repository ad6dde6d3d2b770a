//! A record that takes more than its share of `--memory` is refused while it is read; the number that the error gives is enough.

use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryArray};
use serde_json::json;

use super::refusals::leaves_no_output;
use crate::support::{Place, Run, lines_of, parquet, strings, text, zstd};

/// Bytes of the long text. With the least memory, a record may have 4 MiB.
const LONG: usize = 9 << 20;

/// Texts of which the third is long.
fn texts() -> Vec<String> {
    let mut texts: Vec<String> = (0..5).map(|seed| text(seed, 20)).collect();
    texts[2] = "ab cd ".repeat(LONG / 6);
    texts
}

/// The texts in every format that a command reads, with the place of the long one.
fn inputs(place: &Place) -> Vec<(&'static str, &'static str)> {
    let texts = texts();
    let records: Vec<_> = (0..)
        .zip(&texts)
        .map(|(id, text)| json!({"id": id, "text": text}))
        .collect();
    let lines = lines_of(records.clone());
    place.write("in.jsonl", &lines);
    place.write("in.jsonl.zst", zstd(&lines));
    place.write("in.json", serde_json::to_vec_pretty(&records).unwrap());
    let rows = (0..)
        .zip(&texts)
        .map(|(id, text)| format!("{id},\"{text}\n\"\n"));
    place.write("in.csv", format!("id,text\n{}", rows.collect::<String>()));
    let ids = strings((0..5).map(|id: i32| id.to_string()));
    let bytes: ArrayRef = Arc::new(BinaryArray::from_iter_values(&texts));
    place.write(
        "in.parquet",
        parquet([("id", ids.clone()), ("text", strings(&texts))]),
    );
    place.write("bytes.parquet", parquet([("id", ids), ("text", bytes)]));
    vec![
        ("in.jsonl", "the record that starts on line 3"),
        ("in.jsonl.zst", "the record that starts on line 3"),
        ("in.json", "the record that starts on line 10"),
        ("in.csv", "the record that starts on line 6"),
        ("in.parquet", "a page of column \"text\" in row group 0"),
        ("bytes.parquet", "a page of column \"text\" in row group 0"),
    ]
}

/// The memory that an error tells to give.
#[track_caller]
fn asked_for(refused: &Run) -> String {
    let error = refused.error();
    let (_, after) = error
        .split_once("raise --memory to ")
        .unwrap_or_else(|| panic!("{error}"));
    format!("{}MiB", after.split(' ').next().unwrap())
}

#[test]
fn every_command_that_reads_documents_refuses_a_long_record_and_says_what_is_enough() {
    let place = Place::new();
    let mut inputs = inputs(&place);
    place.write("long/in.txt", &texts()[2]);
    place.write(
        "few.jsonl",
        lines_of((0..3).map(|seed| json!({"id": seed + 10, "text": text(seed, 20)}))),
    );
    place.write("items.jsonl", lines_of([json!({"question": text(50, 40)})]));
    place.run("index build few.jsonl --index ix").succeeded();
    for command in [
        "dedup {} -o out --memory 1MiB",
        "dedup few.jsonl --against {} -o out --memory 1MiB",
        "pairs {} -o pairs.jsonl --memory 1MiB",
        "sign {} -o signatures.parquet --memory 1MiB",
        "passages {} -o out --memory 1MiB",
        "contain {} --against items.jsonl -o out --memory 1MiB",
        "link {} --fields text -o out --memory 1MiB",
        "link few.jsonl {} --fields text -o out --memory 1MiB",
        "index build {} --index new --memory 1MiB",
        "index build {} --index new --kind exact --memory 1MiB",
        // Records before the long one are added.
        "index add {} --index ix --on-known-id skip --memory 1MiB",
        "index query {} --index ix -o hits.jsonl --memory 1MiB",
    ] {
        for (input, record) in &inputs {
            let refused = place
                .run(&command.replace("{}", input))
                .refused(1, &[input, record]);
            leaves_no_output(&place);
            // It belongs to a build that can be resumed.
            let _ = std::fs::remove_dir_all(place.path("new"));
            let is_cheap = command.starts_with("sign") || command.starts_with("dedup few");
            if is_cheap {
                let command = command
                    .replace("{}", input)
                    .replace("1MiB", &asked_for(&refused));
                place.run(&format!("{command} --overwrite")).succeeded();
                for name in ["out", "signatures.parquet"] {
                    let path = place.path(name);
                    let _ = if path.is_dir() {
                        std::fs::remove_dir_all(path)
                    } else {
                        std::fs::remove_file(path)
                    };
                }
            }
        }
        let is_text = !command.starts_with("link") && !command.starts_with("index add");
        if is_text {
            let refused = place.run(&command.replace("{}", "long/in.txt"));
            refused.refused(1, &["in.txt", "the text takes 9 MiB", "raise --memory to "]);
        }
        let _ = std::fs::remove_dir_all(place.path("new"));
        if command.starts_with("passages") {
            inputs.truncate(2);
        }
    }
    let lines = place.read("in.jsonl");
    for command in [
        "index query - --index ix -o hits.jsonl --memory 1MiB",
        "sign - -o signatures.npy --memory 1MiB",
    ] {
        let refused = place.run_with_stdin(command, &lines);
        refused.refused(1, &["stdin", "the record that starts on line 3"]);
    }
}

#[test]
fn a_record_is_measured_up_to_its_end() {
    let place = Place::new();
    // Compressed, the zeros take next to nothing.
    let mut zeros = vec![b'x'; 3];
    zeros.push(b'\n');
    zeros.resize(zeros.len() + (70 << 20), 0);
    place.write("zeros.jsonl.zst", zstd(&zeros));
    let run = place.run("dedup zeros.jsonl.zst -o out --memory 1MiB --on-bad-record skip");
    run.refused(
        1,
        &[
            "zeros.jsonl.zst",
            "starts on line 2",
            "takes 70 MiB",
            "raise --memory to 280 MiB",
        ],
    );
    // It is the quote that makes a record of the rest.
    let rows = "a,b\n".repeat(LONG / 4);
    place.write("quote.csv", format!("id,text\n1,\"a\n{rows}"));
    let run = place.run("dedup quote.csv -o out --memory 1MiB");
    run.refused(
        1,
        &["quote.csv", "line 2 opens a quote that is never closed"],
    );
    place.write("cut.json", format!("[{{\"text\": \"{}", "a".repeat(LONG)));
    let run = place.run("dedup cut.json -o out --memory 1MiB");
    run.refused(1, &["cut.json", "the JSON array is cut off"]);
    leaves_no_output(&place);
}

#[test]
fn commands_without_that_option_have_a_limit() {
    let place = Place::new();
    let long = "a".repeat((64 << 20) + 1);
    place.write("few.jsonl", lines_of([json!({"id": 1, "text": "a b"})]));
    place.run("dedup few.jsonl -o out").succeeded();
    place.write(
        "long.jsonl",
        format!("{{\"user\": 1, \"item\": \"{long}\"}}\n"),
    );
    place.write("long.txt", &long);
    let limit = "longer than the 64 MiB that this command reads at once";
    for command in [
        "evaluate out --truth long.jsonl --truth-fields user,item",
        "ratings long.jsonl -o hits.jsonl",
        "compare long.txt few.jsonl",
        "tune --sample long.jsonl --text-field item",
    ] {
        place.run(command).refused(1, &["long.", limit]);
    }
}
