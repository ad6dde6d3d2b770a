//! Tests of the library, in one program: each further one would be linked and loaded with all of the library.

use std::fs;
use std::path::Path;

mod bags;
mod dependencies;
mod distances;
mod divided;
mod floors;
mod golden;
#[cfg(feature = "io")]
mod in_memory;
#[cfg(feature = "io")]
mod rarity;
mod ratings;
mod tree;
mod weights;

/// Targets of their own: this one; tests of facts about the whole process; the API, whose test calls cargo; and those
/// that `scripts/gpu-report.sh` packs.
const TARGETS: [&str; 6] = [
    "all",
    "allocations",
    "gpu",
    "gpu_failures",
    "one_set",
    "public_api",
];

/// A file without a line above would not be compiled.
#[test]
fn every_file_is_compiled() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let is_module =
            path.extension().is_some_and(|ending| ending == "rs") || path.join("mod.rs").exists();
        let line = format!("mod {name};");
        assert!(
            !is_module
                || TARGETS.contains(&name)
                || include_str!("all.rs").lines().any(|of| of == line),
            "{} is part of no test target",
            path.display()
        );
    }
}
