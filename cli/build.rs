//! Notes of what the program is built, for environment.json: it is measured on machines that have neither a compiler
//! nor the source.

use std::env;
use std::path::Path;
use std::process::Command;

/// What decides the program, beside the compiler, from the root of the repository.
const SOURCES: [&str; 7] = [
    "src",
    "shaders",
    "examples",
    "vectors",
    "cli",
    "Cargo.toml",
    "Cargo.lock",
];

fn main() {
    let variable = |name: &str| env::var(name).unwrap_or_default();
    let root = Path::new(&variable("CARGO_MANIFEST_DIR")).join("..");
    let root = root.to_string_lossy().into_owned();
    let rustc = said(&variable("RUSTC"), &["--version"]).unwrap_or_default();
    let is_release = variable("PROFILE") == "release";
    let notes = [
        ("SIMGPU_RUSTC", rustc),
        ("SIMGPU_TARGET", variable("TARGET")),
        (
            "SIMGPU_FLAGS",
            variable("CARGO_ENCODED_RUSTFLAGS").replace('\x1f', " "),
        ),
        (
            "SIMGPU_TARGET_FEATURES",
            variable("CARGO_CFG_TARGET_FEATURE"),
        ),
        ("SIMGPU_OPTIMIZATION", variable("OPT_LEVEL")),
        (
            "SIMGPU_COMMIT",
            commit(&root).filter(|_| is_release).unwrap_or_default(),
        ),
        (
            "SIMGPU_CHANGES",
            changes(&root).filter(|_| is_release).unwrap_or_default(),
        ),
    ];
    for (name, value) in notes {
        println!("cargo::rustc-env={name}={value}");
    }
    for source in SOURCES {
        watch(&Path::new(&root).join(source));
    }
    // Every commit, and every change to another one, is a line of this file. What is not optimised is not measured,
    // and need not be built again for it.
    if is_release && let Some(log) = git(&root, &["rev-parse", "--git-path", "logs/HEAD"]) {
        watch(&Path::new(&root).join(log));
    }
}

/// Runs this again when a file changes. One that is not there would count as changed each time.
fn watch(path: &Path) {
    if path.exists() {
        println!("cargo::rerun-if-changed={}", path.display());
    }
}

fn commit(root: &str) -> Option<String> {
    git(root, &["rev-parse", "HEAD"])
}

/// `true` or `false`: whether the sources differ from the commit.
fn changes(root: &str) -> Option<String> {
    let status = git(
        root,
        &[&["status", "--porcelain", "--"], &SOURCES[..]].concat(),
    )?;
    Some((!status.is_empty()).to_string())
}

/// What git prints about the repository of this crate. A published crate has none, though one may lie around it.
fn git(root: &str, arguments: &[&str]) -> Option<String> {
    if !Path::new(root).join(".git").exists() {
        return None;
    }
    said("git", &[&["-C", root], arguments].concat())
}

fn said(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
