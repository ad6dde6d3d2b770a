//! Documents of all sizes and scripts, and text files as documents.

use serde_json::json;

use super::samples::in_pieces;
use crate::support::{Place, gzip, json_lines, numbered_lines, parquet, strings, text, zstd};

#[test]
fn text_files_are_documents() {
    let place = Place::new();
    let (one, two) = (text(1, 30), text(2, 30));
    let with_mark = format!("\u{FEFF}{two}\r\n\r\n");
    place.write("docs/a.txt", &one);
    place.write("docs/b.txt.gz", in_pieces(gzip, with_mark.as_bytes()));
    place.write("docs/sub/c.txt.zst", in_pieces(zstd, one.as_bytes()));
    place.write("docs/sub/README.md", text(3, 30));
    let results = place.dedup("docs");
    assert_eq!(results.kept_names(), ["a.txt", "b.txt.gz", "sub/README.md"]);
    assert_eq!(results.kept("a.txt"), one.as_bytes());
    assert!(results.stored("b.txt.gz").starts_with(b"\x1F\x8B"));
    assert_eq!(results.kept("b.txt.gz"), with_mark.as_bytes());
    let removal = (
        json!("sub/c.txt.zst:0"),
        json!("a.txt:0"),
        json!("identical"),
    );
    assert_eq!(results.removals(), [removal]);
}

#[test]
fn empty_text_files_are_empty_documents() {
    let place = Place::new();
    place.write("docs/a.txt", "");
    place.write("docs/b.txt", "");
    place.write("docs/c.txt.gz", gzip(b""));
    let results = place.dedup("docs");
    assert_eq!(results.kept_names(), ["a.txt", "b.txt", "c.txt.gz"]);
    assert_eq!(results.kept("c.txt.gz"), b"");
    assert_eq!(results.count("without_shingles"), 3);
}

#[test]
fn documents_without_a_shingle_are_always_kept() {
    let place = Place::new();
    let texts = ["", " ", "", "?!", "\t\n", "\u{200B}", ""];
    place.write("in.jsonl", json_lines(texts));
    for options in [
        "",
        "--verify exact",
        "--verify none",
        "--cluster connected --keep longest",
    ] {
        let results = place.dedup(&format!("in.jsonl {options}"));
        assert_eq!(results.kept("in.jsonl"), json_lines(texts), "{options}");
        assert_eq!(results.count("without_shingles"), 7);
    }
    assert!(place.pairs("in.jsonl").is_empty());
    // In bytes, a blank is a shingle.
    place.write("in.jsonl", json_lines(["", " ", "", " ", "x"]));
    let results = place.dedup("in.jsonl --unit bytes");
    assert_eq!(results.kept("in.jsonl"), json_lines(["", " ", "", "x"]));
    assert_eq!(results.count("without_shingles"), 2);
}

#[test]
fn a_short_text_is_one_shingle() {
    let place = Place::new();
    let texts = ["x", "y", "x", "x y", "x  y", "y x", "7"];
    place.write("in.jsonl", json_lines(texts));
    for unit in ["bytes", "chars", "words"] {
        let results = place.dedup(&format!("in.jsonl --unit {unit}"));
        let kept = json_lines(["x", "y", "x y", "y x", "7"]);
        assert_eq!(results.kept("in.jsonl"), kept, "{unit}");
    }
}

#[test]
fn every_script_is_processed() {
    let hebrew = "בראשית ברא אלהים את השמים ואת הארץ והארץ היתה תהו ובהו וחשך על פני תהום";
    let arabic = "قفا نبك من ذكرى حبيب ومنزل بسقط اللوى بين الدخول فحومل فتوضح فالمقراة";
    let japanese = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。";
    let chinese = "學而時習之，不亦說乎？有朋自遠方來，不亦樂乎？人不知而不慍，不亦君子乎？";
    let thai = "คนทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ";
    let emoji = "👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪 family, flag and country 👍🏽 one two three four";
    let texts = [hebrew, arabic, japanese, chinese, thai, emoji];
    let twice = || texts.into_iter().chain(texts);
    let place = Place::new();
    place.write("in.jsonl", json_lines(twice()));
    place.write("in.parquet", parquet([("text", strings(twice()))]));
    for unit in ["words", "chars", "bytes", "stopwords"] {
        for options in [
            "",
            "--lowercase --strip-punctuation",
            "--keep-whitespace --verify exact",
        ] {
            let options = match unit {
                // Shingles of words hold no white space of the text.
                "words" | "stopwords" => options.trim_start_matches("--keep-whitespace "),
                _ => options,
            };
            let results = place.dedup(&format!("in.jsonl --unit {unit} {options}"));
            let without = results.count("without_shingles");
            // Only the last text holds an English stop word.
            assert_eq!(without, if unit == "stopwords" { 10 } else { 0 }, "{unit}");
            assert_eq!(results.count("kept") + results.count("removed"), 12);
            if unit != "stopwords" {
                assert_eq!(
                    results.kept("in.jsonl"),
                    json_lines(texts),
                    "{unit} {options}"
                );
            }
        }
    }
    assert_eq!(place.dedup("in.parquet").count("kept"), 6);
}

#[test]
fn nul_bytes_are_ordinary_characters() {
    let place = Place::new();
    let with_nul = format!("{}\0{}", text(1, 20), text(2, 20));
    let only_nul = "\0".repeat(100);
    let texts = [&with_nul, &only_nul, &with_nul];
    place.write("in.jsonl", json_lines(texts));
    place.write("docs/a.txt", &with_nul);
    place.write("docs/b.txt", &only_nul);
    place.write("docs/c.txt", &with_nul);
    for unit in ["words", "chars", "bytes"] {
        let results = place.dedup(&format!("in.jsonl --unit {unit}"));
        assert_eq!(results.kept("in.jsonl"), json_lines([&with_nul, &only_nul]));
        let results = place.dedup(&format!("docs --unit {unit}"));
        assert_eq!(results.kept_names(), ["a.txt", "b.txt"]);
        assert_eq!(results.kept("b.txt"), only_nul.as_bytes());
    }
}

#[test]
fn a_document_may_have_50_mb() {
    // Between two small documents, and a second time with another end.
    let mut long = String::new();
    for number in 0.. {
        if long.len() >= 50_000_000 {
            break;
        }
        long.push_str(&format!("word{number} "));
    }
    let nearly = format!("{long} and an end");
    let place = Place::new();
    place.write(
        "in.jsonl.zst",
        zstd(&numbered_lines(["small", &long, "other", &nearly], 0)),
    );
    let results = place.dedup("in.jsonl.zst --verify exact --keep first");
    let kept = numbered_lines(["small", &long, "other"], 0);
    assert!(results.kept("in.jsonl.zst") == kept);
    let [removed] = &results.removed[..] else {
        panic!("{} removed", results.removed.len());
    };
    assert_eq!(
        (&removed["id"], &removed["kept_id"]),
        (&json!(3), &json!(1))
    );
    assert!(results.count("bytes") > 100_000_000);
}
