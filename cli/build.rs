//! Records the profile with which the program is built, for `--version` and `bench`.

use std::path::{Path, PathBuf};

fn main() {
    let out = std::env::var_os("OUT_DIR").map(PathBuf::from);
    let profile = out.as_deref().and_then(profile).unwrap_or("unknown");
    println!("cargo::rustc-env=SIMGPU_PROFILE={profile}");
    println!("cargo::rerun-if-changed=build.rs");
}

/// The profile of a build whose scripts write to this folder, `.../<profile>/build/...`. Cargo's `PROFILE` tells only whether a
/// profile inherits from `release` or from `dev`.
fn profile(out: &Path) -> Option<&str> {
    let is_build = |folder: &&Path| folder.file_name().is_some_and(|name| name == "build");
    let build = out.ancestors().find(is_build)?;
    let name = build.parent()?.file_name()?.to_str()?;
    Some(if name == "debug" { "dev" } else { name })
}
