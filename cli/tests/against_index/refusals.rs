//! Options and references that do not fit an index.

use serde_json::json;

use super::places::{kept_in, place, removed, report};
use crate::support::{Place, lines_of, parse_lines};

#[test]
fn what_is_not_given_is_that_of_the_index() {
    let place = place(11);
    let run = |arguments: &str| place.run(arguments).succeeded();
    let all = [
        "",
        "--threshold 0.6 --verify exact",
        "--unit chars --size 7 --lowercase --verify exact",
        "--scheme affine64 --num-perm 64 --seed 5 --bands 16 --rows 4 --threshold 0.7",
        "--count --verify exact",
    ];
    for (number, options) in all.into_iter().enumerate() {
        let folder = format!("index{number}");
        run(&format!(
            "index build old --index {folder} --quiet {options}"
        ));
        let dedup = format!("dedup new.jsonl --against {folder}");
        let told = run(&format!("{dedup} -o short{number}")).stderr;
        assert!(
            told.starts_with("options that are not given are those of the index"),
            "{told}"
        );
        run(&format!("{dedup} -o long{number} --quiet {options}"));
        let [short, long] = ["short", "long"].map(|it| format!("{it}{number}"));
        assert_eq!(removed(&place, &short), removed(&place, &long), "{options}");
        assert!(kept_in(&place, &short, "index") > 0, "{options}");
        let parameters = |output: &str| report(&place, output)["parameters"].clone();
        assert_eq!(parameters(&short), parameters(&long), "{options}");
    }
    // What is given and equal changes nothing.
    for (number, options) in [
        "--threshold 0.7",
        "--num-perm 64 --scheme affine64 --seed 5",
    ]
    .into_iter()
    .enumerate()
    {
        let dedup = "dedup new.jsonl --against index3 --quiet";
        run(&format!("{dedup} -o equal{number} {options}"));
        let equal = removed(&place, &format!("equal{number}"));
        assert_eq!(equal, removed(&place, "short3"), "{options}");
    }
    let weighted = place.run("dedup new.jsonl --against index0 -o refused --weights rarity");
    assert!(weighted.code != Some(0), "{}", weighted.stderr);
    let exact = "index build old --quiet --kind exact";
    run(&format!("{exact} --index joined"));
    run(&format!("{exact} --index contained --measure contained"));
    let joined = run("dedup new.jsonl --against joined -o joined-out").stderr;
    assert!(joined.contains("exact join"), "{joined}");
    assert!(kept_in(&place, "joined-out", "index") > 0);
    for (arguments, message) in [
        ("joined --candidates lsh", "kind exact"),
        ("index1 --candidates join", "kind lsh"),
        ("contained", "measure contained"),
    ] {
        place
            .run(&format!("dedup new.jsonl -o refused --against {arguments}"))
            .refused(1, &[message]);
    }
    let given = "dedup new.jsonl --against index1 -o refused";
    for (option, message) in [
        ("--threshold 0.9", "threshold"),
        ("--verify signature", "the index has verify \"exact\""),
        ("--unit bytes", "the index has"),
    ] {
        place
            .run(&format!("{given} {option}"))
            .refused(1, &[message, "index1"]);
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let place = place(10);
    place
        .run("index build old --index seen --quiet")
        .succeeded();
    let id = parse_lines(&place.read("old/a.jsonl"))[0]["id"].clone();
    place.write(
        "known.jsonl",
        lines_of([json!({"id": id, "text": "words that nothing in the index has"})]),
    );
    place.write(
        "twice.jsonl",
        lines_of([
            json!({"id": 1, "text": "a b c"}),
            json!({"id": 1, "text": "d e f"}),
        ]),
    );
    let seen = "--verify signature --against seen";
    for (arguments, message) in [
        (
            "new.jsonl --against seen --verify exact -o out".to_owned(),
            "the index has verify \"signature\", not \"exact\"",
        ),
        (
            format!("new.jsonl {seen} -o out --threshold 0.7"),
            "the index has",
        ),
        (
            format!("new.jsonl {seen} -o out --unit chars"),
            "the index has",
        ),
        (
            format!("new.jsonl {seen} -o out --seed 7"),
            "the index has seed",
        ),
        (
            format!("new.jsonl {seen} -o out --min-shingles 3"),
            "does not say how many shingles",
        ),
        (
            format!("new.jsonl {seen} -o seen"),
            "it would overwrite the index",
        ),
        (
            format!("new.jsonl {seen} -o seen/out"),
            "it would overwrite the index",
        ),
        (
            format!("known.jsonl {seen} -o out --add"),
            "it has another document of the id",
        ),
        (
            format!("twice.jsonl {seen} -o out --add"),
            "is the id of two documents",
        ),
        (
            "new.jsonl --against old -o out --add".to_owned(),
            "for an index among --against",
        ),
    ] {
        let refused = place.run(&format!("dedup {arguments} --quiet"));
        let told = refused.stderr;
        assert!(
            refused.code != Some(0) && told.contains(message),
            "{arguments}: {told}"
        );
        assert!(!place.path("out").exists(), "{arguments}");
    }
    for (arguments, message) in [
        (
            "pairs new.jsonl --against seen -o p.csv",
            "simgpu index query",
        ),
        ("passages new.jsonl --against seen -o p", "takes files here"),
    ] {
        let refused = place.run(&format!("{arguments} --quiet"));
        let told = refused.stderr;
        assert!(
            refused.code != Some(0) && told.contains(message),
            "{arguments}: {told}"
        );
    }
}

/// An error of the disk, which a circle of links stands for.
#[cfg(unix)]
#[test]
fn a_reference_that_cannot_be_looked_at_is_an_error() {
    let place = Place::with_texts(["a text", "a text"]);
    place.write("ref/a.jsonl", b"");
    let header = "ref/simgpu-index.json";
    std::os::unix::fs::symlink(place.path(header), place.path(header)).unwrap();
    for command in [
        "dedup in.jsonl -o out",
        "pairs in.jsonl -o out.jsonl",
        "passages in.jsonl -o out",
    ] {
        for against in ["--against ref", "--against in.jsonl --against ref"] {
            let refused = place.run(&format!("{command} {against}"));
            refused.refused(1, &["cannot read", header]);
        }
    }
}
