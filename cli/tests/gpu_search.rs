//! When `auto` searches for a GPU. One test: whether a process has searched is a fact about the whole process.
#![cfg(feature = "gpu")]

mod support;

use clap::CommandFactory;
use simgpu::backend::gpu::has_searched;
use simgpu::engine::Engine;
use support::Place;

#[test]
fn short_runs_search_for_no_gpu() {
    let place = Place::with_texts(["a b c d e f", "a b c d e g"]);
    let path = |name: &str| place.path(name).display().to_string();
    let input = path("in.jsonl");
    for arguments in [
        ["dedup", "--quiet", &input, "--output", &path("out")],
        ["pairs", "--quiet", &input, "--output", &path("pairs.csv")],
        ["sign", "--quiet", &input, "--output", &path("s.npy")],
        ["compare", &input, &input, "--num-perm", "64"],
    ] {
        let command = simgpu_cli::Cli::command();
        let matches = command.get_matches_from([&["simgpu"], &arguments[..]].concat());
        simgpu_cli::run(&matches, &[]).unwrap();
        assert!(!has_searched(), "{arguments:?}");
    }
    let record = String::from_utf8(place.read("out/run.json")).unwrap();
    assert!(record.contains("(input too small for a GPU)"), "{record}");
    // Much work is worth a search, and so is an unknown amount.
    let much = Engine::builder().work_bytes(1 << 40).build().unwrap();
    assert!(has_searched());
    assert!(!much.signer().describe().contains("too small"));
}
