//! JSON arrays: elements are cut out of the array wherever its white space is.

use crate::support::{Place, text};

#[test]
fn elements_keep_their_bytes() {
    let (one, two) = (text(1, 20), text(2, 20));
    let kept = [
        format!("{{\"text\":\"{one} ]}}[{{,\\\"\\\\\", \"n\": [1, {{\"a\": []}}], \"x\": 1.50}}"),
        format!("{{\r\n  \"text\" :\t\"{two}\"\n}}"),
    ];
    let repeat = format!("{{\"text\":\"{one} ]}}[{{,\\\"\\\\\"}}");
    let place = Place::new();
    for (before, between, after) in [
        ("[", ",", "]"),
        ("\u{FEFF} \n[\n", " \n,\t", "\n]\n\n "),
        (&" ".repeat(1000), ",", "]"),
    ] {
        let before = if before.trim().is_empty() {
            format!("{before}[")
        } else {
            before.to_owned()
        };
        let whole = format!(
            "{before}{}{between}{repeat}{between}{}{after}",
            kept[0], kept[1]
        );
        place.write("in.json", whole);
        for verify in ["signature", "exact", "exact --hold-mib 0"] {
            let results = place.dedup(&format!("in.json --verify {verify}"));
            let expected = format!("[\n{},\n{}\n]\n", kept[0], kept[1]);
            assert_eq!(
                String::from_utf8(results.kept("in.json")).unwrap(),
                expected
            );
            assert_eq!(results.count("removed"), 1);
        }
    }
}

#[test]
fn json_files_may_hold_lines() {
    let place = Place::new();
    let lines = "\n {\"text\": \"a\"}\n{\"text\": \"b\"}\n{\"text\": \"a\"}\n";
    place.write("in.json", lines);
    let kept = b" {\"text\": \"a\"}\n{\"text\": \"b\"}\n";
    assert_eq!(place.dedup("in.json").kept("in.json"), kept);
}

#[test]
fn elements_across_chunks_stay_whole() {
    let mut elements = Vec::new();
    let mut kept = Vec::new();
    for i in 0..40 {
        let filler =
            "],[{\\\"}\\\\ ".repeat((i * 3_987) % 15_000 + if i % 9 == 0 { 1 << 17 } else { 0 });
        let element = format!("{{\"text\": \"document {i}\", \"filler\": [\"{filler}\", [[]]]}}");
        elements.push(element.clone());
        kept.push(element);
        if i % 3 == 0 {
            elements.push("{\"text\": \"document 0\"}".to_owned());
        }
    }
    let place = Place::new();
    place.write("in.json", format!("[{}]", elements.join(" , ")));
    let expected = format!("[\n{}\n]\n", kept.join(",\n"));
    for options in ["--batch-mib 1", "--verify exact --hold-mib 0"] {
        let results = place.dedup(&format!("in.json {options}"));
        assert!(results.kept("in.json") == expected.as_bytes());
        assert_eq!(results.count("removed"), 14);
    }
}

#[test]
fn skipped_elements_are_left_out() {
    let place = Place::new();
    place.write(
        "in.json",
        "[1, {\"text\": \"a\"}, {\"text\"}, [\"b\"], null, {\"text\": \"b\"}]",
    );
    let results = place.dedup("in.json --on-bad-record skip");
    assert_eq!(results.count("skipped"), 4);
    let expected = b"[\n{\"text\": \"a\"},\n{\"text\": \"b\"}\n]\n";
    assert_eq!(results.kept("in.json"), expected);
}
