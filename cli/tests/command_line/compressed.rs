//! Compressed outputs and their level.

use crate::support::{Place, decompressed, edited, families, gzip, parquet, strings, text, zstd};

#[test]
fn the_ending_compresses_pairs() {
    let place = Place::with_texts(families(20, 4, 60));
    for (name, start) in [
        ("pairs.jsonl", &b"{"[..]),
        ("pairs.jsonl.gz", &[0x1F, 0x8B]),
        ("pairs.jsonl.zst", &[0x28, 0xB5, 0x2F, 0xFD]),
        ("pairs.csv", b"id_a"),
        ("pairs.csv.gz", &[0x1F, 0x8B]),
        ("pairs.CSV.ZST", &[0x28, 0xB5, 0x2F, 0xFD]),
    ] {
        place
            .run(&format!("pairs in.jsonl -o {name} --verify signature"))
            .succeeded();
        let bytes = place.read(name);
        assert!(bytes.starts_with(start), "{name}");
        let plain = if name.to_lowercase().contains("csv") {
            "pairs.csv"
        } else {
            "pairs.jsonl"
        };
        assert_eq!(decompressed(&bytes), place.read(plain), "{name}");
    }
    place.run("sign in.jsonl -o s.parquet").succeeded();
    let run = "pairs --signatures s.parquet -o again.jsonl.zst --compression-level 9";
    place.run(run).succeeded();
    assert_eq!(
        decompressed(&place.read("again.jsonl.zst")),
        place.read("pairs.jsonl")
    );
}

#[test]
fn an_unknown_compression_of_pairs_is_refused() {
    let place = Place::with_texts(["a"]);
    for (name, phrase) in [
        ("pairs.parquet.zst", "choose a name that ends in .parquet"),
        ("pairs.jsonl.lz4", "unknown file extension"),
        ("pairs.zst", "unknown file extension"),
    ] {
        place
            .run(&format!("pairs in.jsonl -o {name}"))
            .refused(2, &[name, phrase]);
    }
}

#[test]
fn the_level_changes_the_size_alone() {
    let place = Place::new();
    let one = text(1, 3000);
    let texts: Vec<String> = (0..40).map(|i| edited(&one, i, 1500)).collect();
    let lines = crate::support::json_lines(&texts);
    for (name, bytes, levels) in [
        ("in.jsonl.zst", zstd(&lines), ["1", "19"]),
        ("in.jsonl.gz", gzip(&lines), ["0", "9"]),
    ] {
        place.write(name, bytes);
        let stored = levels.map(|level| {
            let results = place.dedup(&format!("{name} --compression-level {level}"));
            assert_eq!(results.kept(name), lines);
            results.stored(name).len()
        });
        assert!(stored[0] > stored[1], "{name}: {stored:?}");
    }
}

#[test]
fn a_level_that_fits_no_output_is_refused() {
    let place = Place::with_texts(["a"]);
    place.write("z.jsonl.zst", zstd(&place.read("in.jsonl")));
    place.write("g.jsonl.gz", gzip(&place.read("in.jsonl")));
    place.write("t.parquet", parquet([("text", strings(["x"]))]));
    for (arguments, phrase) in [
        (
            "dedup z.jsonl.zst -o out --compression-level 23",
            "1 to 22 for zstd",
        ),
        (
            "dedup z.jsonl.zst -o out --compression-level 0",
            "1 to 22 for zstd",
        ),
        (
            "dedup g.jsonl.gz -o out --compression-level 10",
            "0 to 9 for gzip",
        ),
        (
            "dedup z.jsonl.zst g.jsonl.gz -o out --compression-level 19",
            "0 to 9 for gzip",
        ),
        (
            "dedup in.jsonl -o out --compression-level 3",
            "no output is compressed",
        ),
        (
            "dedup t.parquet -o out --compression-level 3",
            "no output is compressed",
        ),
        (
            "pairs in.jsonl -o p.jsonl.gz --compression-level 12",
            "0 to 9 for gzip",
        ),
        (
            "pairs in.jsonl -o p.parquet --compression-level 3",
            "no output is compressed",
        ),
    ] {
        let run = place.run(arguments);
        run.refused(2, &["--compression-level is", phrase]);
        assert!(!place.holds("out/report.json") && !place.holds("p.jsonl.gz"));
    }
}
