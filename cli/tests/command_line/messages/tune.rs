//! `simgpu tune`: bandings, samples and plans.

use std::process::{Command, Stdio};

use crate::support::{Place, SIMGPU, text};

#[test]
fn tune_prints_bands_rows_and_recall() {
    let run = Place::new()
        .run("tune --threshold 0.8 --num-perm 128")
        .succeeded();
    let table = String::from_utf8(run.stdout).unwrap();
    let line_of = |label: &str| {
        let line = table.lines().find(|line| line.contains(label)).unwrap();
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    // 16 x 8 finds 1 - (1 - 0.8^8)^16 = 94.7 % of the pairs at the threshold.
    let default = line_of("default");
    assert!(
        default.contains("16 x 8") && default.contains("94.7%"),
        "{default}"
    );
    let equal = line_of("equal");
    assert!(equal.contains("9 x 13"), "{equal}");
}

#[test]
fn tune_chooses_a_size_by_a_sample() {
    // Texts of a hundred random words, of which any two share some, and few in a row.
    let place = Place::with_texts((1..=30).map(|i| text(i, 100)));
    let printed = |options: &str| {
        let run = place
            .run(&format!("tune --sample in.jsonl {options}"))
            .succeeded();
        String::from_utf8(run.stdout).unwrap()
    };
    let page = printed("");
    assert!(
        page.contains("sample of 30 documents, 435 random pairs (seed 1)"),
        "{page}"
    );
    let (_, table) = page.split_once("sample of").unwrap();
    let sizes: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|columns| columns.len() == 6 && columns[0].parse::<usize>().is_ok())
        .collect();
    assert_eq!(sizes.len(), 12, "{page}");
    // The choice follows from the printed column.
    let is_little = |columns: &&Vec<&str>| columns[4].parse::<f64>().unwrap() <= 0.05;
    let choice = sizes.iter().find(is_little).unwrap()[0];
    assert!(
        page.contains(&format!("Take --size {choice} or more: ")),
        "{page}"
    );
    // 30 * 29 / 2 pairs.
    assert!(
        page.contains("30 documents have 435 pairs: 0.0 seconds"),
        "{page}"
    );
    let page = printed("--limit 3 --unit chars --documents 1000000 --bands 20 --rows 5");
    assert!(
        page.contains("sample of 3 documents, 3 random pairs"),
        "{page}"
    );
    assert!(page.contains("chars of"), "{page}");
    let cost = "1,000,000 documents have 499,999,500,000 pairs: 5.8 days at a microsecond each.";
    assert!(
        page.contains(cost) && page.contains(", 20 x 5 compares "),
        "{page}"
    );
}

#[test]
fn samples_that_cannot_be_read_are_errors() {
    let place = Place::with_texts([text(1, 20)]);
    for (options, code, phrases) in [
        ("--sample none.jsonl", 1, ["none.jsonl", "check"]),
        ("--sample -", 1, ["stream", "name a file"]),
        (
            "--sample in.jsonl --unit stopwords",
            2,
            ["fixed size", "--unit"],
        ),
        (
            "--sample in.jsonl --tokens-field t",
            2,
            ["--tokens-field", "--unit tokens"],
        ),
        (
            "--sample in.jsonl --text-field body",
            1,
            ["body", "in.jsonl"],
        ),
        ("--sample in.jsonl --unit tokens", 1, ["tokens", "in.jsonl"]),
        ("--unit chars", 2, ["--sample", "needs"]),
        ("--documents 7", 2, ["--sample", "--bytes"]),
        ("--bytes 7GB", 2, ["--documents", "required"]),
        ("--documents 7 --bytes 7apples", 2, ["--bytes", "4GiB"]),
        (
            "--documents 1e30 --bytes 7GB",
            2,
            ["--documents", "too large"],
        ),
    ] {
        place
            .run(&format!("tune {options}"))
            .refused(code, &phrases);
    }
}

#[test]
fn a_sample_needs_two_documents() {
    for (texts, says) in [(0, "has 0 documents"), (1, "has 1 document,")] {
        let place = Place::with_texts((0..texts).map(|seed| text(seed, 20)));
        let run = place.run("tune --sample in.jsonl");
        run.refused(2, &["the sample", says, "--sample"]);
    }
}

#[test]
fn tune_plans_a_deduplication() {
    let place = Place::new();
    let plan = |options: &str| {
        let run = place
            .run(&format!("tune {options} --temp-dir ."))
            .succeeded();
        assert_eq!(place.path(".").read_dir().unwrap().count(), 0);
        let page = String::from_utf8(run.stdout).unwrap();
        page[page.find("plan to").unwrap()..].to_owned()
    };
    let small = plan("--documents 20000 --bytes 20MB --memory 1GiB");
    assert!(small.contains("20,000 documents with 20.00 MB"), "{small}");
    assert!(small.contains("without going on on disk"), "{small}");
    assert!(!small.contains("disk space"), "{small}");
    // 16 bands of a key and a row, two digests with rows, the length and the id.
    let large = plan("--documents 1e9 --bytes 3TB --memory 4GiB");
    assert!(
        large.contains("1,000,000,000 documents with 3.00 TB"),
        "{large}"
    );
    assert!(
        large.contains("248.00 GB for temporary files, 248 bytes per document"),
        "{large}"
    );
    assert!(large.contains("hours") || large.contains("days"), "{large}");
    // The others are short, and may be among "other".
    for stage in ["read", "write", "candidates"] {
        assert!(large.contains(stage), "{stage}: {large}");
    }
}

/// Each plan with the bytes that its small run may write.
#[cfg(target_os = "linux")]
#[test]
fn plans_write_little_and_remove_it() {
    for (options, most) in [
        ("--documents 1000 --bytes 100GB", 64_000_000),
        ("--documents 4e9 --bytes 1TB --memory 1MiB", 64_000_000),
        ("--documents 3 --bytes 3TB", 64_000_000),
        ("--documents 5000 --bytes 1MB", 1_000_000),
        ("--documents 200000 --bytes 300kB", 300_000),
    ] {
        let place = Place::new();
        let mut child = Command::new(SIMGPU)
            .args(format!("tune {options} --temp-dir .").split_whitespace())
            .current_dir(place.path(""))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let io = format!("/proc/{}/io", child.id());
        let mut written = 0;
        while child.try_wait().unwrap().is_none() {
            let counted = std::fs::read_to_string(&io).unwrap_or_default();
            let bytes = counted
                .lines()
                .find_map(|line| line.strip_prefix("wchar: "));
            written = bytes.map_or(written, |bytes| bytes.parse().unwrap());
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert!(child.wait().unwrap().success(), "{options}");
        // The page itself is less than 8,000 bytes.
        assert!(
            written > 0 && written <= most + 8_000,
            "{options}: {written}"
        );
        assert_eq!(place.path(".").read_dir().unwrap().count(), 0, "{options}");
    }
}

#[test]
fn tune_prints_no_saturated_number() {
    let place = Place::with_texts((1..=30).map(|i| text(i, 100)));
    let page = |options: &str| {
        let run = place.run(&format!("tune {options}")).succeeded();
        String::from_utf8(run.stdout).unwrap()
    };
    let saturated = ["18,446,744,073,709,551", "4,294,967,295", "inf", "NaN"];
    let is_sound = |page: &str| {
        for number in saturated {
            assert!(!page.contains(number), "{number}: {page}");
        }
    };
    let huge = page("--sample in.jsonl --documents 1e10");
    is_sound(&huge);
    let cost = "10,000,000,000 documents have 49,999,999,995,000,000,000 pairs: 1,580,000 years";
    assert!(huge.contains(cost), "{huge}");
    is_sound(&page("--sample in.jsonl --documents 1e19"));
    is_sound(&page("--documents 4294967294 --bytes 900PB --temp-dir ."));
    is_sound(&page("--documents 1 --bytes 900PB --temp-dir ."));
}

#[test]
fn a_plan_follows_from_its_sample() {
    // Many texts share passages, so that random pairs become candidates.
    let common = text(7, 60);
    let texts = (1..=40).map(|i| format!("{common} {}", text(i + 100, 6)));
    let place = Place::with_texts(texts);
    for documents in ["40", "1e5", "3e9"] {
        let run = place
            .run(&format!(
                "tune --sample in.jsonl --documents {documents} --bytes 1TB --temp-dir ."
            ))
            .succeeded();
        let page = String::from_utf8(run.stdout).unwrap();
        let number = |line: &str, after: &str| {
            let (_, rest) = line.split_once(after).unwrap();
            rest.trim()
                .split([' ', ':'])
                .next()
                .unwrap()
                .trim_end_matches(',')
                .to_owned()
        };
        let line = |start: &str| {
            let mut lines = page.lines().map(str::trim);
            lines
                .find(|line| line.starts_with(start))
                .unwrap()
                .to_owned()
        };
        let (cost, planned) = (line("At --size"), line("candidates  "));
        assert_eq!(
            number(&cost, "compares"),
            number(&planned, "candidates"),
            "{page}"
        );
        assert_eq!(
            number(&cost, "--size"),
            number(&planned, "--size"),
            "{page}"
        );
        assert!(number(&cost, "compares").len() > 1, "{page}");
    }
    let run = place
        .run("tune --documents 1000 --bytes 1MB --temp-dir .")
        .succeeded();
    let page = String::from_utf8(run.stdout).unwrap();
    assert!(page.contains("--sample estimates them"), "{page}");
}

#[test]
fn plans_for_no_run_are_refused() {
    for (options, phrases) in [
        (
            "--documents 4294967295 --bytes 1TB",
            ["4294967294 documents", "split the input"],
        ),
        (
            "--documents 1e10 --bytes 3TB",
            ["4294967294 documents", "split the input"],
        ),
        (
            "--documents 0 --bytes 3TB",
            ["--documents is 0", "give the number"],
        ),
        (
            "--documents 10 --bytes 100",
            ["--bytes", "run `simgpu dedup` itself"],
        ),
    ] {
        let place = Place::new();
        place
            .run(&format!("tune {options} --temp-dir ."))
            .refused(2, &phrases);
        assert_eq!(place.path(".").read_dir().unwrap().count(), 0, "{options}");
    }
}

#[test]
fn tune_lists_a_banding_once() {
    let run = Place::new().run("tune --num-perm 4").succeeded();
    let page = String::from_utf8(run.stdout).unwrap();
    let bandings: Vec<&str> = page
        .lines()
        .filter(|line| {
            line.contains(" x ") && !line.contains("bands x rows") && !line.starts_with("Of")
        })
        .map(|line| line[8..24].trim())
        .collect();
    assert!(bandings.len() > 1, "{page}");
    let once: std::collections::BTreeSet<&str> = bandings.iter().copied().collect();
    assert_eq!(once.len(), bandings.len(), "{page}");
    assert!(page.contains(" to "), "{page}");
}
