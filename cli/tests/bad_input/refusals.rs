//! Checks that commands fail and leave no output.

use crate::support::Place;

/// Every command that reads `inputs` exits with code 1 and an error that contains `phrases`, and leaves no
/// output.
#[track_caller]
pub(crate) fn every_command_refuses(place: &Place, inputs: &str, phrases: &[&str]) {
    for command in [
        "dedup --output out",
        "dedup --verify exact --output out",
        "pairs --output pairs.jsonl",
        "pairs --output pairs.parquet",
        "sign --output signatures.npy",
        "sign --output signatures.parquet",
    ] {
        place
            .run(&format!("{command} {inputs}"))
            .refused(1, phrases);
    }
    leaves_no_output(place);
}

#[track_caller]
pub(crate) fn leaves_no_output(place: &Place) {
    for name in [
        "out/kept",
        "out/removed.jsonl",
        "out/clusters.parquet",
        "out/report.html",
        "out/report.json",
        "out/samples.jsonl",
        "out/run.json",
        "pairs.jsonl",
        "pairs.jsonl.report.json",
        "pairs.parquet",
        "pairs.parquet.report.json",
        "signatures.npy",
        "signatures.npy.json",
        "signatures.parquet",
    ] {
        assert!(!place.holds(name), "{name} exists after a failure");
    }
}
