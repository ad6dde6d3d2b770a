//! Files without records: each is a warning, and the others are read.

use serde_json::json;

use super::samples::read_table;
use crate::support::{Place, Results, bzip2, gzip, json_lines, parquet, strings, text, xz, zstd};

fn empty_files() -> Vec<(&'static str, Vec<u8>)> {
    let table = parquet([("text", strings::<&str>([]))]);
    vec![
        ("b.jsonl", Vec::new()),
        ("blank.jsonl", b"\n \r\n\n".to_vec()),
        ("c.jsonl.gz", gzip(b"")),
        ("d.jsonl.zst", zstd(b"")),
        ("e.jsonl.xz", xz(b"")),
        ("f.jsonl.bz2", bzip2(b"")),
        ("g.json", b" [ \n] ".to_vec()),
        ("h.json", Vec::new()),
        ("i.csv", Vec::new()),
        ("j.csv", b"id,text".to_vec()),
        ("k.tsv", b"id\ttext\r\n\r\n".to_vec()),
        ("l.parquet", table),
    ]
}

#[test]
fn an_empty_file_is_a_warning() {
    for (name, bytes) in empty_files() {
        for options in ["", "--verify exact --hold-mib 0", "--on-bad-record skip"] {
            let place = Place::new();
            let (one, two) = (text(1, 20), text(2, 20));
            place.write("a.jsonl", json_lines([&one, &two]));
            place.write(name, &bytes);
            place.write("z.jsonl", json_lines([&text(3, 20), &two]));
            let run = place.run(&format!("dedup a.jsonl {name} z.jsonl -o out {options}"));
            let run = run.succeeded();
            let warning = format!("{name} holds no records");
            assert!(run.stderr.contains(&warning), "{}", run.stderr);
            let results = Results::of(&place.path("out"));
            assert_eq!(results.report["empty_files"], json!([name]));
            assert_eq!(
                (results.count("documents"), results.count("skipped")),
                (4, 0)
            );
            let removal = (json!("z.jsonl:1"), json!("a.jsonl:1"), json!("identical"));
            assert_eq!(results.removals(), [removal]);
            assert_eq!(results.kept_names(), ["a.jsonl", "z.jsonl"]);
        }
    }
}

#[test]
fn empty_inputs_make_an_empty_result() {
    for (name, bytes) in empty_files() {
        let place = Place::new();
        place.write(name, &bytes);
        let run = place.run(&format!("dedup {name} -o out")).succeeded();
        assert!(
            run.stderr.contains("the inputs hold no records"),
            "{}",
            run.stderr
        );
        let results = Results::of(&place.path("out"));
        assert_eq!((results.count("documents"), results.count("kept")), (0, 0));
        assert_eq!(results.kept_names(), [""; 0]);
        assert!(place.pairs(name).is_empty());
    }
}

#[test]
fn every_command_accepts_empty_inputs() {
    let place = Place::new();
    place.write("in.jsonl", "");
    place.run("pairs in.jsonl -o pairs.parquet").succeeded();
    assert_eq!(read_table(place.read("pairs.parquet")).0.num_rows(), 0);
    place.run("sign in.jsonl -o in.npy").succeeded();
    place.run("sign in.jsonl -o signed.parquet").succeeded();
    assert_eq!(read_table(place.read("signed.parquet")).0.num_rows(), 0);
    place
        .run("dedup in.jsonl -o out --verify exact --keep longest")
        .succeeded();
    let run = place.run("dedup - -o from-stdin").succeeded();
    assert!(
        run.stderr.contains("the inputs hold no records"),
        "{}",
        run.stderr
    );
}

#[test]
fn several_empty_files_are_counted() {
    let place = Place::new();
    for name in ["docs/a.jsonl", "docs/b.csv"] {
        place.write(name, "");
    }
    place.write("docs/c.jsonl", json_lines(["a"]));
    let run = place.run("dedup docs -o out").succeeded();
    let warning = "2 files hold no records, first docs/a.jsonl";
    assert!(run.stderr.contains(warning), "{}", run.stderr);
}
