//! Inputs that change between the two passes. The library's own job runs here, so that the change comes at a
//! certain moment.

use std::fs::{self, File};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use simgpu::engine::Engine;
use simgpu::pipeline::{Shingling, Unit};
use simgpu::progress::Progress;
use simgpu::search::{Dedup, Search, Verification};
use simgpu_files::{Run, RunOptions};
use simgpu_io::Inputs;

use super::refusals::leaves_no_output;
use crate::support::{Place, gzip, json_lines, parquet, strings, text, zstd};

/// Changes the input at the moment a stage begins.
struct Meddler<'a> {
    stage: &'static str,
    meddle: &'a (dyn Fn() + Sync),
    has_meddled: AtomicBool,
}

impl Progress for Meddler<'_> {
    fn begin(&self, stage: &'static str, _: u64) {
        if stage == self.stage {
            (self.meddle)();
            self.has_meddled.store(true, Ordering::Relaxed);
        }
    }
}

/// Deduplicates `input`, calls `meddle` when `stage` begins, and returns the error.
fn dedup_meddled(
    place: &Place,
    input: &Path,
    stage: &'static str,
    meddle: &(dyn Fn() + Sync),
) -> String {
    // The exact sets of words are held from the first pass; those of bytes are read again.
    let engine = Engine::builder()
        .shingling(Shingling::of(Unit::Bytes))
        .build()
        .unwrap();
    let inputs = Inputs::find(&[input.to_owned()], None).unwrap();
    let progress = Meddler {
        stage,
        meddle,
        has_meddled: AtomicBool::new(false),
    };
    let mut search = Search::new(0.8, engine.scheme()).unwrap();
    search.verification = Verification::Exact;
    let outcome = Run {
        batch_bytes: 1 << 20,
        held_bytes: 0,
        options: RunOptions {
            overwrite: true,
            progress: &progress,
            ..RunOptions::default()
        },
        ..Run::new(&engine, &inputs)
    }
    .dedup(&Dedup::new(search), &place.path("out"));
    assert!(
        progress.has_meddled.load(Ordering::Relaxed),
        "there is no stage {stage}"
    );
    leaves_no_output(place);
    outcome.expect_err("the change was not noticed").to_string()
}

#[test]
fn a_change_between_the_passes_is_refused() {
    let near_duplicates = [
        text(1, 50),
        crate::support::edited(&text(1, 50), 1, 1),
        text(2, 50),
    ];
    let lines = json_lines(&near_duplicates);
    let longer = [lines.clone(), json_lines(["one more"])].concat();
    let shorter = json_lines(&near_duplicates[..2]);
    let mut one_letter_differs = lines.clone();
    let at = lines.len() - 5;
    one_letter_differs[at] ^= 1;
    let mut one_line_more = lines.clone();
    one_line_more[20] = b'\n';
    let place = Place::new();
    for stage in ["read again", "write"] {
        for (name, before, after) in [
            ("longer.jsonl", lines.clone(), longer.clone()),
            ("shorter.jsonl", lines.clone(), shorter.clone()),
            ("differs.jsonl", lines.clone(), one_letter_differs.clone()),
            ("breaks.jsonl", lines.clone(), one_line_more.clone()),
            ("longer.jsonl.gz", gzip(&lines), gzip(&longer)),
            ("differs.jsonl.zst", zstd(&lines), zstd(&one_letter_differs)),
            (
                "table.parquet",
                parquet([("text", strings(&near_duplicates))]),
                parquet([("text", strings(&near_duplicates[..2]))]),
            ),
        ] {
            place.write(name, before);
            let path = place.path(name);
            let modified = path.metadata().unwrap().modified().unwrap();
            // Restore the modification time, so that only the contents differ.
            let meddle = || {
                fs::write(&path, &after).unwrap();
                File::options()
                    .write(true)
                    .open(&path)
                    .unwrap()
                    .set_modified(modified)
                    .unwrap();
            };
            let error = dedup_meddled(&place, &path, stage, &meddle);
            assert!(error.contains(name), "{stage}: {error}");
            let says = "changed while it was being read; run again when nothing is writing to it";
            assert!(error.contains(says), "{stage} of {name}: {error}");
        }
    }
}

#[test]
fn an_input_lost_between_passes_is_refused() {
    let lines = json_lines([text(1, 50), crate::support::edited(&text(1, 50), 1, 1)]);
    let place = Place::new();
    for stage in ["read again", "write"] {
        place.write("in.jsonl.gz", gzip(&lines));
        let path = place.path("in.jsonl.gz");
        let whole = gzip(&lines);
        let says = "in.jsonl.gz changed while it was being read; run again when nothing";
        let cut = || fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        let error = dedup_meddled(&place, &path, stage, &cut);
        // Not that the file is damaged, which would be advice to get it again.
        assert!(error.contains(says), "{error}");
        place.write("in.jsonl.gz", gzip(&lines));
        let delete = || fs::remove_file(&path).unwrap();
        let error = dedup_meddled(&place, &path, stage, &delete);
        assert!(error.contains(says), "{error}");
    }
}
