//! Files that options name: each accepts what editors and other systems write.

use serde_json::Value;

use crate::support::{Place, gzip, lines_of, zstd};

/// The bytes of a text in the forms in which programs write it.
fn forms(text: &str) -> Vec<Vec<u8>> {
    let lines = text.replace('\n', "\r\n");
    let unended = text.trim_end();
    vec![
        text.into(),
        format!("\u{FEFF}{text}").into(),
        lines.clone().into(),
        format!("\u{FEFF}{lines}").into(),
        unended.into(),
        format!("\u{FEFF}{}", unended.replace('\n', "\r\n")).into(),
        gzip(format!("\u{FEFF}{lines}").as_bytes()),
        zstd(unended.as_bytes()),
    ]
}

/// Runs `command` with each form of the file `name`: the file `output`, or stdout, is the same.
#[track_caller]
fn accepts_all_forms(place: &Place, name: &str, text: &str, command: &str, output: Option<&str>) {
    let results = forms(text).into_iter().map(|bytes| {
        place.write(name, bytes);
        let run = place.run(command).succeeded();
        output.map_or(run.stdout, |output| place.read(output))
    });
    let results: Vec<Vec<u8>> = results.collect();
    assert!(!results[0].is_empty(), "{command}");
    for (i, result) in results.iter().enumerate() {
        assert!(result == &results[0], "{command}: form {i}");
    }
}

#[test]
fn stop_words_are_read_in_all_forms() {
    let place = Place::new();
    place.write(
        "a.txt",
        "The quick brown fox near the river bank and THE end now",
    );
    let options = "--unit stopwords --stop-words words.txt";
    let compare = format!("compare a.txt a.txt {options} --json");
    accepts_all_forms(&place, "words.txt", "the\nnear\n", &compare, None);
    let shingles: Value = serde_json::from_slice(&place.run(&compare).stdout).unwrap();
    assert_eq!(shingles["shingles_a"], 4);
    let sign = format!("sign a.txt -o s.npy --overwrite --quiet {options}");
    accepts_all_forms(&place, "words.txt", "the\nnear\n", &sign, Some("s.npy"));
}

#[test]
fn equal_names_are_read_in_all_forms() {
    let place = Place::new();
    let people = "id,name,city\n1,Bill Clark,Rome\n2,Bob Jones,Oslo\n3,Ann Howard,Bern\n";
    place.write("a.csv", people);
    place.write(
        "b.csv",
        people.replace("Bill", "William").replace("Bob", "Robert"),
    );
    let link = "link a.csv b.csv --fields name,city --equivalents names.txt -t 0.3 -o out --overwrite --quiet";
    let names = "# names\nWilliam,Bill\nRobert,Bob\n";
    accepts_all_forms(&place, "names.txt", names, link, Some("out/links.jsonl"));
    let first = "William,Bill\nRobert,Bob\n";
    accepts_all_forms(&place, "names.txt", first, link, Some("out/links.jsonl"));
}

#[test]
fn names_of_items_are_read_in_all_forms() {
    let place = Place::new();
    let rating =
        |user: u32, item: u32| serde_json::json!({"user": user, "item": item, "rating": 5});
    let ratings = (1..5).flat_map(|user| (1..4).map(move |item| rating(user, item)));
    place.write("in.jsonl", lines_of(ratings));
    let command = "ratings in.jsonl --by item --min-support 1 --names names.csv -o - --quiet";
    let names = "id,name\n1,Heat\n2,Ran\n3,Alien\n";
    accepts_all_forms(&place, "names.csv", names, command, None);
    assert!(
        place
            .run(command)
            .stdout
            .windows(5)
            .any(|word| word == b"Alien")
    );
}

#[test]
fn a_byte_order_mark_is_no_text() {
    let place = Place::new();
    place.write("b.txt", "one two three\nfour five six\n");
    for options in ["--unit words --size 2", "--unit bytes --keep-whitespace"] {
        let compared = ["", "\u{FEFF}"].map(|mark| {
            place.write("a.txt", format!("{mark}one two three\nfour five seven\n"));
            let run = place.run(&format!("compare a.txt b.txt {options} --json"));
            run.succeeded().stdout
        });
        assert!(compared[0] == compared[1], "{options}");
        place.write("docs/a.txt", "one two");
        place.write("docs/b.txt", "\u{FEFF}one two");
        let results = place.dedup(&format!("docs {options}"));
        assert_eq!(results.count("removed"), 1, "{options}");
    }
}
