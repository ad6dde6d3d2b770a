//! Randomly damaged files are read or refused, and never cause a panic.

use crate::support::{Numbers, Place, gzip, json_lines, parquet, strings, text, zstd};

/// Damages one to three bytes of the file, once per seed below `ways`: `dedup` reads the result or refuses it.
#[track_caller]
fn check_that_damage_never_panics(name: &str, whole: &[u8], ways: u64) {
    let place = Place::new();
    let mut panics = Vec::new();
    for seed in 0..ways {
        let mut numbers = Numbers(seed);
        let mut damaged = whole.to_vec();
        for _ in 0..1 + numbers.below(3) {
            let at = numbers.below(damaged.len());
            damaged[at] = numbers.next().to_le_bytes()[0];
        }
        place.write(name, &damaged);
        let run = place.run(&format!(
            "dedup {name} -o out --overwrite --quiet --threads 1"
        ));
        if !matches!(run.code, Some(0 | 1)) || run.stderr.contains("panicked") {
            panics.push(format!(
                "seed {seed}, exit code {:?}: {}",
                run.code, run.stderr
            ));
        }
    }
    assert!(
        panics.is_empty(),
        "{} of {ways}: {}",
        panics.len(),
        panics.concat()
    );
}

#[test]
fn damaged_lines_never_panic() {
    let lines = json_lines([text(1, 10), text(2, 10)]);
    check_that_damage_never_panics("in.jsonl", &lines, 30);
    check_that_damage_never_panics("in.jsonl.gz", &gzip(&lines), 30);
    check_that_damage_never_panics("in.jsonl.zst", &zstd(&lines), 30);
}

#[test]
fn damaged_tables_never_panic() {
    let texts = strings([text(1, 10), text(2, 10)]);
    let table = parquet([("id", strings(["a", "b"])), ("text", texts)]);
    check_that_damage_never_panics("in.parquet", &table, 150);
}
