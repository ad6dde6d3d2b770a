//! Pairs from files of signatures: the same as from the documents, and errors for invalid files.

mod tables;

use std::fs;

use serde_json::{Value, json};

use crate::support::{Place, edited, families, json_lines, lines_of, numbered_lines, text};

/// Families of near-duplicates, repeated texts, texts without a shingle, and two texts with the same shingles.
fn texts() -> Vec<String> {
    let mut texts = families(25, 4, 60);
    texts.push(String::new());
    texts.push(text(3, 60));
    texts.push("?!".to_owned());
    texts.push(text(3, 60));
    texts.push("one two three one two three one two three".to_owned());
    texts.push("one two three one two three one two three one two three".to_owned());
    texts.push(String::new());
    texts
}

/// The files that `pairs` writes with these options, from documents or from signatures.
fn pairs_files(place: &Place, from: &str, options: &str) -> [Vec<u8>; 3] {
    ["p.jsonl", "p.csv", "p.parquet"].map(|name| {
        // Signatures cannot be verified exactly.
        let verify = if options.contains("--verify") {
            ""
        } else {
            "--verify signature"
        };
        let command = format!("pairs {from} {options} {verify} -o {name} --overwrite --quiet");
        place.run(&command).succeeded();
        place.read(name)
    })
}

#[test]
fn pairs_of_signatures_match_pairs_of_documents() {
    let place = Place::new();
    let texts = texts();
    // Three files without ids: bad records first and last in one, another one empty.
    let (left, right) = texts.split_at(50);
    let mut broken = json_lines(left);
    broken.splice(0..0, b"not json\n".iter().copied());
    broken.extend_from_slice(b"{\"text\": 1}\n");
    place.write("docs/a.jsonl", broken);
    place.write("docs/b.jsonl", "");
    place.write("docs/c.jsonl.gz", crate::support::gzip(&json_lines(right)));
    for (scheme, num_perm) in [
        ("affine32", 128),
        ("affine64", 64),
        ("mersenne31", 100),
        ("fast", 128),
        ("nemo", 260),
        ("datatrove", 112),
    ] {
        for format in ["npy", "parquet"] {
            let sign = format!("--scheme {scheme} --num-perm {num_perm} --on-bad-record skip");
            place
                .run(&format!("sign docs -o s.{format} --overwrite {sign}"))
                .succeeded();
            for search in ["", "--threshold 0.5", "--bands 20 --rows 3 --threads 1"] {
                let expected = pairs_files(&place, &format!("docs {sign}"), search);
                let actual = pairs_files(&place, &format!("--signatures s.{format}"), search);
                assert!(expected == actual, "{scheme} {format} {search}");
                let lines = crate::support::parse_lines(&expected[0]);
                assert!(lines.len() > 10, "{}", lines.len());
                // Row 0 is a bad record.
                let first = |line: &&Value| line["file_a"] == "a.jsonl" && line["row_a"] == 0;
                assert_eq!(lines.iter().find(first), None);
            }
        }
    }
}

#[test]
fn ids_survive_signing() {
    let place = Place::new();
    place.write("numbers.jsonl", numbered_lines(texts(), 7));
    let names = ["a\"b", "c,d", "é\n", "12"];
    let near = |name| json!({"id": name, "text": text(1, 30)});
    place.write("names.jsonl", lines_of(names.map(near)));
    for input in ["numbers.jsonl", "names.jsonl"] {
        place
            .run(&format!("sign {input} -o s.parquet --overwrite"))
            .succeeded();
        let expected = pairs_files(&place, input, "");
        let actual = pairs_files(&place, "--signatures s.parquet", "");
        assert!(expected == actual, "{input}");
    }
    // A matrix has no ids; a message says so.
    place.run("sign names.jsonl -o s.npy").succeeded();
    let run = place.run("pairs --signatures s.npy -o -").succeeded();
    assert!(run.stderr.contains("holds no ids"), "{}", run.stderr);
    let lines = crate::support::parse_lines(&run.stdout);
    assert_eq!(lines[0]["id_a"], "names.jsonl:0");
    assert_eq!((lines.len(), &lines[5]["row_b"]), (6, &json!(3)));
}

#[test]
fn stars_of_signatures_are_those_of_documents() {
    let mut texts = vec![text(1, 40); 30];
    texts.push(edited(&text(1, 40), 1, 1));
    let place = Place::with_texts(texts);
    place.run("sign in.jsonl -o s.npy").succeeded();
    for (options, pairs) in [
        ("--threshold 0.5", 30 * 29 / 2 + 30),
        ("--threshold 0.5 --identical star", 30),
    ] {
        let expected = pairs_files(&place, "in.jsonl", &format!("{options} --verify signature"));
        assert!(expected == pairs_files(&place, "--signatures s.npy", options));
        assert_eq!(crate::support::parse_lines(&expected[0]).len(), pairs);
    }
}

#[test]
fn no_signatures_make_no_pairs() {
    let place = Place::new();
    place.write("in.jsonl", "");
    for name in ["s.npy", "s.parquet"] {
        place.run(&format!("sign in.jsonl -o {name}")).succeeded();
        let run = place.run(&format!("pairs --signatures {name} -o -"));
        assert_eq!(run.succeeded().stdout, b"");
    }
}

#[test]
fn signatures_refuse_the_options_of_documents() {
    let place = Place::with_texts(["a", "a"]);
    place.run("sign in.jsonl -o s.npy").succeeded();
    place
        .run("pairs --signatures s.npy -o - in.jsonl")
        .refused(2, &["--signatures", "cannot be used with"]);
    for options in [
        "--unit bytes",
        "--scheme affine32",
        "--num-perm 128",
        "--id-field id",
        "--lowercase",
        "--backend simd",
    ] {
        place
            .run(&format!("pairs --signatures s.npy -o - {options}"))
            .refused(2, &["--signatures are read in place of documents; omit --"]);
    }
    place
        .run("pairs --signatures s.npy -o - --verify exact")
        .refused(2, &["--verify exact", "INPUT"]);
    place
        .run("pairs --signatures s.npy -o - --bands 16 --rows 9")
        .refused(2, &["16 x 9", "128"]);
    place
        .run("pairs -o -")
        .refused(2, &["INPUT, or --signatures FILE"]);
    let one = Place::with_texts(["a"]);
    one.run("sign in.jsonl -o s.npy").succeeded();
    let run = one.run("pairs --signatures s.npy -o -").succeeded();
    assert!(run.stderr.starts_with("1 signature of "), "{}", run.stderr);
    place.run("sign in.jsonl -o s.parquet").succeeded();
    for (signatures, output) in [("s.npy", "./s.npy.json"), ("s.parquet", "s.parquet")] {
        place
            .run(&format!(
                "pairs --signatures {signatures} -o {output} --overwrite"
            ))
            .refused(1, &["choose another output"]);
    }
    // `pairs` writes no file that ends like a matrix.
    place
        .run("pairs --signatures s.npy -o s.npy --overwrite")
        .refused(2, &["choose a name that ends in .jsonl"]);
    // Even without verification, equal signatures have similarity 1.
    let run = place.run("pairs --signatures s.npy -o - --verify none");
    let lines = crate::support::parse_lines(&run.succeeded().stdout);
    assert_eq!(lines[0]["similarity"], 1.0);
}

/// A place with `s.npy` and `s.npy.json`, the matrix, and its description.
fn signed() -> (Place, Vec<u8>, Value) {
    let place = Place::with_texts([text(1, 20), text(2, 20), text(1, 20)]);
    place.run("sign in.jsonl -o s.npy").succeeded();
    let description = serde_json::from_slice(&place.read("s.npy.json")).unwrap();
    let matrix = place.read("s.npy");
    (place, matrix, description)
}

#[test]
fn invalid_matrices_are_refused() {
    let (place, matrix, description) = signed();
    let refused = |name: &str, phrases: &[&str]| {
        place
            .run(&format!("pairs --signatures {name} -o -"))
            .refused(1, phrases);
    };
    let header = |from: &str, to: &str| {
        let text = String::from_utf8_lossy(&matrix[10..128]).into_owned();
        assert!(text.contains(from), "{text}");
        let text = text.replacen(from, to, 1);
        let mut changed = matrix.clone();
        changed.splice(10..128, text.bytes().chain([b' '; 118]).take(118));
        changed
    };
    for (changed, problem) in [
        (matrix[..matrix.len() - 1].to_vec(), "cut off"),
        (matrix[..100].to_vec(), "cut off in its header"),
        (Vec::new(), "cut off in its header"),
        ([&matrix[..], b"\0"].concat(), "1 extra bytes follow"),
        (b"PAR1PAR1PAR1".to_vec(), "not a NumPy file"),
        (header("<u4", "<f4"), "'<f4'"),
        (header("<u4", ">u4"), "'>u4'"),
        (header("<u4", "<u8"), "cut off"),
        (header("False", "True"), "column by column"),
        (header("(3, 128)", "(384,)"), "(384,)"),
        (header("(3, 128)", "(6, 64)"), "64 slots"),
        (header("(3, 128)", "(384, 1)"), "1 slots"),
        (header("(3, 128)", "(0, 0)"), "follow"),
        (header("(3, 128)", "(18446744073709551615, 128)"), "cut off"),
    ] {
        place.write("s.npy", changed);
        refused("s.npy", &["s.npy", problem, "sign the documents again"]);
    }
    place.write("s.npy", &matrix);
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut changed = description.clone();
        change(&mut changed);
        changed.to_string()
    };
    for (changed, problem) in [
        (String::new(), "does not describe how"),
        ("{}".to_owned(), "does not describe how"),
        (
            changed(&|d| d["simgpu_report"] = json!(2)),
            "its layout is version 2",
        ),
        (
            changed(&|d| d["parameters"]["scheme"] = json!("md5")),
            "unknown scheme",
        ),
        (
            changed(&|d| d["parameters"]["scheme"] = json!("affine64")),
            "slots of 64 bits",
        ),
        (
            changed(&|d| d["parameters"]["num_perm"] = json!(64)),
            "states 64 permutations",
        ),
        (
            changed(&|d| d["parameters"]["num_perm"] = json!(0)),
            "num-perm is 0",
        ),
        (
            changed(&|d| d["counts"]["documents"] = json!(4)),
            "4 documents",
        ),
        (changed(&|d| d["files"] = json!([])), "lists no signed file"),
        (
            changed(&|d| d["files"][0]["first_row"] = json!(1)),
            "do not ascend",
        ),
        (
            changed(&|d| {
                d["counts"]["documents"] = json!(5);
                let bad = json!({"file": "in.jsonl", "row": 1});
                d["skipped"] = json!([bad, bad]);
            }),
            "out of order",
        ),
    ] {
        place.write("s.npy.json", changed);
        let names_both = "s.npy.json: it does not describe s.npy: ";
        refused(
            "s.npy",
            &[names_both, problem, "restore the file that sign wrote"],
        );
    }
    std::fs::remove_file(place.path("s.npy.json")).unwrap();
    refused("s.npy", &["s.npy.json", "beside the matrix"]);
    refused("none.npy", &["none.npy", "check the name"]);
    refused("in.jsonl", &["in.jsonl", ".parquet or .npy"]);
    refused("-", &["-", ".parquet or .npy"]);
    refused(".", &["folder"]);
    assert!(!place.holds("p.jsonl"));
}

#[test]
fn the_digest_detects_a_foreign_description() {
    let (place, matrix, description) = signed();
    let expected = pairs_files(&place, "--signatures s.npy", "");
    let refused = || {
        let names_both = "s.npy.json: it does not describe s.npy: ";
        let remedy = "restore the file that sign wrote beside the matrix";
        place.run("pairs --signatures s.npy -o q.jsonl").refused(
            1,
            &[
                names_both,
                "its digest does not match the signatures",
                remedy,
            ],
        );
        assert!(!place.holds("q.jsonl"));
    };
    // The other matrix has the same shape and parameters.
    place.write(
        "other.jsonl",
        json_lines([text(4, 20), text(2, 20), text(1, 20)]),
    );
    place.run("sign other.jsonl -o other.npy").succeeded();
    place.write("s.npy.json", place.read("other.npy.json"));
    refused();
    place.write("s.npy.json", description.to_string());
    let mut damaged = matrix.clone();
    damaged[matrix.len() / 2] ^= 1;
    place.write("s.npy", damaged);
    refused();
    // Older descriptions lack the digest.
    place.write("s.npy", &matrix);
    let mut older = description.clone();
    let stated = older.as_object_mut().unwrap().remove("matrix_blake3_128");
    assert!(stated.is_some());
    place.write("s.npy.json", older.to_string());
    assert!(expected == pairs_files(&place, "--signatures s.npy", ""));
}

#[test]
fn a_description_is_limited_to_1_gib() {
    let (place, _, _) = signed();
    // A sparse file occupies no disk space.
    let file = fs::File::create(place.path("s.npy.json")).unwrap();
    file.set_len((1 << 30) + 1).unwrap();
    place.run("pairs --signatures s.npy -o -").refused(
        1,
        &[
            "s.npy.json",
            "larger than 1 GiB",
            "sign the documents again",
        ],
    );
}
