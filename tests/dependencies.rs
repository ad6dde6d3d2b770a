//! What `cargo add simgpu` costs the embedder. A fourth of the crates serve the files of a search that exceeds its memory: it is
//! the same code in the library alone, so that no feature changes how a search goes. And who needs its hidden feature.

use std::collections::BTreeSet;
use std::process::Command;

/// What `cargo tree` prints of a package.
fn tree(package: &str, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--frozen", "--package", package])
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn library_alone_compiles_at_most_fifty_five_crates() {
    let bare = ["--no-default-features", "--edges", "normal,build"];
    let tree = tree("simgpu", &[&bare[..], &["--prefix", "none"]].concat());
    // A crate that appears again is marked so.
    let crates: BTreeSet<&str> = tree
        .lines()
        .map(|line| line.trim_end_matches(" (*)"))
        .collect();
    assert!(
        (1..=55).contains(&crates.len()),
        "{} crates:\n{}",
        crates.len(),
        Vec::from_iter(crates).join("\n")
    );
}

#[test]
fn only_the_benchmark_needs_internals() {
    let features = ["--edges", "normal,build,features", "--invert", "simgpu"];
    for (package, needs_internals) in [
        ("simgpu-python", false),
        ("simgpu-cli", true),
        ("simgpu-bench", true),
    ] {
        let tree = tree(package, &features);
        let needs = tree.contains("simgpu feature \"internals\"");
        assert_eq!(needs, needs_internals, "{package}:\n{tree}");
    }
    let bare = [&features[..], &["--no-default-features"]].concat();
    assert!(!tree("simgpu-cli", &bare).contains("internals"));
}
