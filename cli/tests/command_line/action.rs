//! `--action` and the format of the removed documents.

use crate::support::{
    Place, decompressed, families, files_in, lasting_files_in, numbered_lines, zstd,
};

fn corpus() -> Place {
    let place = Place::new();
    let texts = families(20, 4, 60);
    place.write("docs/a.jsonl", numbered_lines(&texts[..30], 0));
    let rest = numbered_lines(&texts[30..], 30);
    place.write("docs/b.jsonl.zst", zstd(&rest));
    place
}

#[test]
fn a_report_differs_by_its_kept_files_alone() {
    let place = corpus();
    for options in [
        "",
        "--verify signature --removed-format parquet",
        "--memory 1KiB --cluster connected",
    ] {
        let run = |output: &str, action: &str| {
            let command = format!(
                "dedup docs {options} -o {output} {action} --no-samples --overwrite --quiet"
            );
            place.run(&command).succeeded();
            lasting_files_in(&place.path(output))
        };
        let (mut dropped, reported) = (run("dropped", ""), run("reported", "--action report"));
        assert_eq!(run("dropped", "--action drop"), dropped);
        let before = dropped.len();
        dropped.retain(|name, _| !name.starts_with("kept/"));
        assert_eq!((dropped.len(), before - dropped.len()), (4, 2), "{options}");
        let differ = |name: &&String| reported.get(*name) != dropped.get(*name);
        let differing: Vec<&String> = dropped.keys().filter(differ).collect();
        assert!(differing.is_empty(), "{differing:?}: {options}");
    }
    // Another run replaces what the first wrote, and the reverse.
    place.run("dedup docs -o out --quiet").succeeded();
    let report = "dedup docs -o out --action report --overwrite --quiet";
    place.run(report).succeeded();
    assert_eq!(files_in(&place.path("out")).len(), 5);
}

#[test]
fn a_report_says_what_would_be_removed() {
    let place = corpus();
    let report = place.run("dedup docs -o out --action report").succeeded();
    assert!(report.stderr.contains("to remove"), "{}", report.stderr);
    let refusals = [
        ("dedup docs/a.jsonl -o - --action report", "--action"),
        (
            "dedup docs -o x --action report --verify none --hold-mib 3",
            "--hold-mib",
        ),
        (
            "dedup docs -o x --action report --compression-level 3",
            "compression",
        ),
    ];
    for (command, named) in refusals {
        place.run(command).refused(2, &[named]);
    }
}

#[test]
fn removed_lines_are_compressed() {
    let place = corpus();
    let run = |options: &str| {
        let command = format!("dedup docs -o out --overwrite --quiet {options}");
        place.run(&command).succeeded();
    };
    run("");
    let plain = place.read("out/removed.jsonl");
    assert!(plain.len() > 1_000);
    let mut sizes = Vec::new();
    for level in [
        "",
        "--compression-level 19",
        "--compression-level 1 --memory 1KiB",
    ] {
        run(&format!("--removed-format jsonl.zst {level}"));
        let compressed = place.read("out/removed.jsonl.zst");
        assert!(compressed.starts_with(&[0x28, 0xB5, 0x2F, 0xFD]));
        assert_eq!(decompressed(&compressed), plain, "{level}");
        assert!(!place.holds("out/removed.jsonl"));
        sizes.push(compressed.len());
    }
    assert!(sizes[1] < sizes[2], "{sizes:?}");
    // The level applies, though nothing else is compressed.
    let report = "--removed-format jsonl.zst --action report --compression-level 19";
    run(report);
    assert_eq!(place.read("out/removed.jsonl.zst").len(), sizes[1]);
}
