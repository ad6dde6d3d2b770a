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
fn library_alone_compiles_at_most_fifty_four_foreign_crates() {
    let bare = ["--no-default-features", "--edges", "normal,build"];
    let tree = tree("simgpu", &[&bare[..], &["--prefix", "none"]].concat());
    // A crate that appears again is marked so.
    let crates: BTreeSet<&str> = tree
        .lines()
        .map(|line| line.trim_end_matches(" (*)"))
        .filter(|line| !line.starts_with("simgpu"))
        .collect();
    assert!(
        (1..=54).contains(&crates.len()),
        "{} crates:\n{}",
        crates.len(),
        Vec::from_iter(crates).join("\n")
    );
}

#[test]
fn only_the_benchmark_needs_internals() {
    let features = ["--edges", "normal,build,features", "--invert", "simgpu"];
    let needs = |package, of_package: &[&str]| {
        let tree = tree(package, &[&features[..], of_package].concat());
        tree.contains("simgpu feature \"internals\"")
    };
    assert!(needs("simgpu-bench", &[]));
    for package in ["simgpu-cli", "simgpu-python"] {
        assert!(needs(package, &["--features", "bench"]), "{package}");
        let without = ["--no-default-features", "--features", "gpu"];
        assert!(!needs(package, &without), "{package}");
    }
}
