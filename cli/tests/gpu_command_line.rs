//! The command line on a GPU: the same files as on the CPU, even if the device is lost. On a machine without an
//! adapter the tests print `skipped: no adapter`; with `SIMGPU_REQUIRE_GPU=1` they fail.

use std::collections::BTreeMap;

use crate::support::gpu::has_adapter;
use crate::support::{Place, files_in};
use simgpu::scheme::fmix64;

/// Every third text nearly repeats the one before; one text is empty, one is long.
fn texts() -> Vec<String> {
    let words = |seed: u64, count: u64| -> String {
        let word = |i: u64| format!("word{} ", fmix64(seed << 32 | i) % 500);
        (0..count).map(word).collect()
    };
    let of_number = |i: u64| match i {
        7 => String::new(),
        8 => words(8, 20_000),
        _ if i % 3 == 2 => words(i - 1, 60 + i % 40) + "and more",
        _ => words(i, 60 + i % 40),
    };
    (0..400).map(of_number).collect()
}

/// The files of a run, without `run.json`, which holds times.
fn written(place: &Place) -> BTreeMap<String, Vec<u8>> {
    let mut files = files_in(&place.path("out"));
    files.remove("run.json").unwrap();
    files
}

/// Every backend, and a GPU that is lost with its first or second load.
const BACKENDS: [&str; 6] = [
    "scalar",
    "simd",
    "gpu",
    "hybrid",
    "gpu --lose-device-after 1",
    "hybrid --lose-device-after 2",
];

#[test]
fn every_backend_writes_the_same_files() {
    if !has_adapter() {
        return;
    }
    let place = Place::with_texts(texts());
    for options in [
        "--unit bytes",
        "--unit words --scheme mersenne61 --verify exact",
        "--unit words --scheme datatrove --verify none",
    ] {
        let mut expected = None;
        for backend in BACKENDS {
            place.dedup(&format!("in.jsonl {options} --backend {backend}"));
            let verified = options.find("--verify").unwrap_or(options.len());
            let signing = format!("sign in.jsonl {} --backend {backend}", &options[..verified]);
            place
                .run(&format!("{signing} --output signatures.npy --overwrite"))
                .succeeded();
            let mut written = written(&place);
            written.insert("signatures.npy".to_owned(), place.read("signatures.npy"));
            match &expected {
                None => expected = Some(written),
                Some(expected) => assert!(*expected == written, "{options} {backend}"),
            }
        }
    }
}

#[test]
fn a_lost_device_causes_one_warning() {
    if !has_adapter() {
        return;
    }
    let place = Place::with_texts(texts());
    let stderr_lines = |options: &str| -> Vec<String> {
        let command = format!("dedup in.jsonl --output out --overwrite --backend gpu {options}");
        let run = place.run(&command).succeeded();
        // Which stages the summary lists depends on their times.
        let before_summary = run
            .stderr
            .lines()
            .take_while(|line| !line.contains("documents  "));
        before_summary.map(str::to_owned).collect()
    };
    let (well, lost) = (stderr_lines(""), stderr_lines("--lose-device-after 1"));
    assert_eq!(lost.len(), well.len() + 1, "{lost:?}");
    let warnings = |lines: &[String]| -> Vec<String> {
        let warnings = lines
            .iter()
            .filter(|line| line.starts_with("warning: the GPU"));
        warnings.cloned().collect()
    };
    assert_eq!(warnings(&well), [""; 0]);
    let new = warnings(&lost);
    assert!(new.len() == 1 && new[0].contains("lost"), "{new:?}");
}

#[test]
fn unsupported_gpu_work_is_refused() {
    let place = Place::with_texts(["a text"]);
    for backend in ["gpu", "hybrid"] {
        for scheme in ["fast", "rensa"] {
            let command =
                format!("sign in.jsonl --output o.npy --backend {backend} --scheme {scheme}");
            place
                .run(&command)
                .refused(1, &["unsupported: ", "--backend simd"]);
        }
    }
    let command = "sign in.jsonl --output o.npy --backend gpu --device 1000";
    place.run(command).refused(1, &["unsupported: "]);
    for backend in ["simd", "auto"] {
        let command = format!("sign in.jsonl --output o.npy --backend {backend} --device 0");
        place
            .run(&command)
            .refused(2, &["--device", "add --backend gpu"]);
    }
    // The default, `auto`, chooses a backend that supports the scheme.
    place
        .run("sign in.jsonl --output o.npy --scheme fast")
        .succeeded();
}

#[test]
fn devices_are_listed_and_pass_the_selftest() {
    if !has_adapter() {
        return;
    }
    let place = Place::new();
    let listed = place.run("devices").succeeded();
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert!(
        listed.starts_with("0  ") && listed.contains("affine32"),
        "{listed}"
    );
    for backend in ["gpu", "hybrid"] {
        let run = place
            .run(&format!("selftest --backend {backend}"))
            .succeeded();
        let page = String::from_utf8(run.stdout).unwrap();
        assert!(page.contains("checks passed on: "), "{page}");
        // The shaders without 64-bit integers support no slots of 64 bits.
        let unsupported =
            |line: &str| line.contains("32-bit integers") && line.contains("affine64");
        let line = page.lines().find(|line| unsupported(line)).unwrap();
        assert!(line.contains("unsupported: "), "{line}");
    }
}
