//! What `cargo add simgpu` costs the embedder. A fourth of the crates serve the files of a search that exceeds its memory: it is
//! the same code in the library alone, so that no feature changes how a search goes.

use std::collections::BTreeSet;
use std::process::Command;

#[test]
fn library_alone_compiles_at_most_fifty_five_crates() {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--frozen", "--package", "simgpu"])
        .args(["--no-default-features", "--edges", "normal,build"])
        .args(["--prefix", "none"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let tree = String::from_utf8(output.stdout).unwrap();
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
