//! `simgpu compare`.

use serde_json::Value;

use crate::support::{Place, edited, gzip, text};

// compare

/// Two texts of 96 shingles that share 91: the second has another word in the middle.
fn two_texts() -> Place {
    let place = Place::new();
    let one = text(1, 100);
    let mut words: Vec<&str> = one.split(' ').collect();
    words[50] = "another";
    place.write("one.txt", &one);
    place.write("two.txt", words.join(" "));
    place
}

#[test]
fn compare_prints_exact_and_estimated_similarity() {
    let place = two_texts();
    let json = |command: &str| -> Value {
        let run = place.run(&format!("compare {command} --json")).succeeded();
        assert_eq!(run.stderr, "");
        serde_json::from_slice(&run.stdout).unwrap()
    };
    let report = json("one.txt two.txt");
    for (name, expected) in [
        ("shingles_a", 96.0),
        ("shingles_b", 96.0),
        ("shared", 91.0),
        ("union", 101.0),
        ("jaccard", 91.0 / 101.0),
        ("num_perm", 128.0),
        (
            "candidate_probability",
            1.0 - (1.0 - (91.0f64 / 101.0).powi(8)).powi(16),
        ),
    ] {
        let number = report[name].as_f64().unwrap();
        assert!((number - expected).abs() < 1e-9, "{name}: {number}");
    }
    let of = |name: &str| report[name].as_f64().unwrap();
    assert_eq!(of("estimate"), of("matches") / 128.0);
    assert!((of("estimate") - of("jaccard")).abs() < 4.0 * 0.027);
    let bound = |i: usize| report["interval"][i].as_f64().unwrap();
    assert!(bound(0) < of("estimate") && of("estimate") < bound(1));
    let (estimate, slots) = (of("estimate"), 128.0);
    let standard_error = (estimate * (1.0 - estimate) / slots).sqrt();
    assert!((of("standard_error") - standard_error).abs() < 1e-12);
    // Shingles and signatures have the options of the other commands.
    let other = json("one.txt two.txt --unit chars --size 3 --scheme affine64 --num-perm 64");
    assert_eq!(
        (&other["num_perm"], &other["size"]),
        (&64.into(), &3.into())
    );
    assert_eq!(json("one.txt one.txt")["estimate"], 1.0);
    let page = place.run("compare one.txt two.txt").succeeded().stdout;
    let page = String::from_utf8(page).unwrap();
    for part in [
        "Jaccard  0.9010",
        "91 of 101",
        "95 % confidence",
        "16 bands of 8 (threshold 0.8)",
    ] {
        assert!(page.contains(part), "{page}");
    }
    let chosen = json("one.txt two.txt --threshold 0.5 --bands 20 --rows 4");
    let shape = ["threshold", "bands", "rows"].map(|name| chosen[name].as_f64().unwrap());
    assert_eq!(shape, [0.5, 20.0, 4.0]);
    assert!(json("one.txt two.txt -t 0.5")["rows"].as_u64().unwrap() < 8);
    // Options of runs over files are refused.
    for option in ["--threads 2", "--batch-mib 1", "--quiet"] {
        place
            .run(&format!("compare one.txt two.txt {option}"))
            .refused(2, &["unexpected argument"]);
    }
}

#[test]
fn compare_prints_every_distance() {
    let place = Place::new();
    place.write("a.txt", "a b a b a c");
    place.write("b.txt", "a b a d");
    let command = "compare a.txt b.txt --size 1";
    let run = place.run(&format!("{command} --json")).succeeded();
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    // Words with counts: a 3 and 2, b 2 and 1, c 1 and 0, d 0 and 1. All of b but its "d" is in a, in order.
    for (name, expected) in [
        ("occurrences_a", 6.0),
        ("occurrences_b", 4.0),
        ("containment_a", 2.0 / 3.0),
        ("containment_b", 2.0 / 3.0),
        ("bag_jaccard", 3.0 / 7.0),
        ("bag_similarity", 3.0 / 10.0),
        ("cosine", 8.0 / 84f64.sqrt()),
        ("angle_degrees", (8.0 / 84f64.sqrt()).acos().to_degrees()),
        ("l1", 4.0),
        ("l2", 2.0),
        ("linf", 1.0),
        ("length_a", 11.0),
        ("length_b", 7.0),
        ("lcs", 6.0),
        ("edit_distance", 6.0),
    ] {
        let number = report[name].as_f64().unwrap();
        assert!((number - expected).abs() < 1e-9, "{name}: {number}");
    }
    assert_eq!(report["sequence_unit"], "chars");
    assert_eq!(report["hamming"], Value::Null);
    let page = place.run(command).succeeded().stdout;
    let page = String::from_utf8(page).unwrap();
    let expected = "
contained  0.6667 of A in B, 0.6667 of B in A
      bag  0.4286 of the greater counts, 0.3000 of all counts: 6 shingles in A, 4 in B
   cosine  0.8729, an angle of 29.21 degrees
       L1  4
       L2  2.0000
     Linf  1
     edit  6 characters inserted or deleted
      LCS  6 characters, of 11 in A and 7 in B
  Hamming  undefined: A has 11 characters, B has 7
";
    assert!(page.ends_with(expected), "{page}");
    // Normalisation counts: these texts differ in white space and case alone.
    place.write("c.txt", "A  B\n\nA D");
    let run = place
        .run("compare b.txt c.txt --lowercase --json")
        .succeeded();
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(
        (&report["edit_distance"], &report["hamming"]),
        (&0.into(), &0.into())
    );
}

#[test]
fn compare_reads_long_texts_by_words() {
    let place = Place::new();
    let long = "ab ".repeat(40_000);
    place.write("a.txt", &long);
    place.write("b.txt", format!("cd{}", &long[2..]));
    let page = place.run("compare a.txt b.txt").succeeded().stdout;
    let page = String::from_utf8(page).unwrap();
    let expected = "
     edit  2 words inserted or deleted
      LCS  39999 words, of 40000 in A and 40000 in B
  Hamming  1 of 40000 words
";
    assert!(page.ends_with(expected), "{page}");
    place.write("c.txt", "ab ".repeat(300_001));
    let run = place.run("compare a.txt c.txt").succeeded();
    let page = String::from_utf8(run.stdout).unwrap();
    let reason = "not computed: a text has more than 300000 words";
    assert!(
        page.contains(&format!("     edit  {reason}\n      LCS  {reason}\n")),
        "{page}"
    );
    let run = place.run("compare a.txt c.txt --json").succeeded();
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(
        (&report["lcs"], &report["edit_distance"]),
        (&Value::Null, &Value::Null)
    );
}

#[test]
fn compare_reads_stdin_and_compressed_files() {
    let place = two_texts();
    let expected = place.run("compare one.txt two.txt").succeeded().stdout;
    place.write("two.txt", gzip(&place.read("two.txt")));
    assert_eq!(
        place.run("compare one.txt two.txt").succeeded().stdout,
        expected
    );
    let one = place.read("one.txt");
    let run = place.run_with_stdin("compare - two.txt", &one).succeeded();
    let expected = String::from_utf8(expected).unwrap();
    let actual = String::from_utf8(run.stdout).unwrap();
    assert_eq!(actual, expected.replace("one.txt", "stdin"));
}

#[test]
fn the_similarity_of_two_empty_texts_is_undefined() {
    let place = Place::new();
    place.write("a.txt", "");
    place.write("b.txt", " ?\n");
    place.write("c.txt", "a word");
    let page = place.run("compare a.txt b.txt").succeeded().stdout;
    assert!(String::from_utf8(page).unwrap().contains("undefined"));
    let run = place.run("compare a.txt b.txt --json").succeeded();
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    for name in [
        "jaccard",
        "estimate",
        "interval",
        "candidate_probability",
        "containment_a",
        "bag_jaccard",
        "bag_similarity",
        "cosine",
        "angle_degrees",
    ] {
        assert_eq!(report[name], Value::Null, "{name}");
    }
    // " ? " as a text of characters: an inserted blank, question mark and blank.
    assert_eq!(report["edit_distance"], 3);
    let run = place.run("compare a.txt c.txt --json").succeeded();
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(
        (&report["jaccard"], &report["matches"]),
        (&0.0.into(), &0.into())
    );
    assert_eq!(
        (&report["containment_a"], &report["containment_b"]),
        (&Value::Null, &0.0.into())
    );
    let page = place.run("compare a.txt c.txt").succeeded().stdout;
    let page = String::from_utf8(page).unwrap();
    assert!(
        page.contains("\ncontained  undefined of A in B, 0.0000 of B in A\n"),
        "{page}"
    );
    assert!(
        page.contains("\n   cosine  undefined: a text has no shingle\n"),
        "{page}"
    );
}

#[test]
fn texts_that_cannot_be_compared_are_errors() {
    let place = two_texts();
    place.write("latin.txt", b"caf\xE9");
    let mut cut = gzip(&place.read("one.txt"));
    cut.truncate(60);
    place.write("cut.gz", cut);
    for (command, code, phrases) in [
        ("one.txt none.txt", 1, ["none.txt", "check the name"]),
        ("one.txt latin.txt", 1, ["latin.txt", "UTF-8 at byte 3"]),
        ("cut.gz one.txt", 1, ["cut.gz", "stream is cut off"]),
        (". one.txt", 1, [".", "check the path"]),
        ("- -", 2, ["one of the two", "stdin"]),
        ("one.txt", 2, ["<B>", "required"]),
        ("one.txt two.txt --unit tokens", 2, ["tokens", "--unit"]),
        ("one.txt two.txt --scheme md5", 2, ["md5", "affine32"]),
        ("one.txt two.txt -t 1.5", 2, ["threshold", "1.5"]),
    ] {
        place
            .run(&format!("compare {command}"))
            .refused(code, &phrases);
    }
}

#[test]
fn edits_show_in_a_comparison() {
    let place = two_texts();
    place.write("two.txt", edited(&text(1, 100), 3, 40));
    let run = place.run("compare one.txt two.txt --json").succeeded();
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert!(report["jaccard"].as_f64().unwrap() < 0.5);
}
