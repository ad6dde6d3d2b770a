//! Records how the program is built, for environment.json: machines that run `simgpu bench` may have neither a
//! compiler nor the source.

use std::env;
use std::path::Path;
use std::process::Command;

/// Sources of the program, relative to the root of the repository.
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
    let root = Path::new(&variable("CARGO_MANIFEST_DIR")).join("../..");
    let root = root.to_string_lossy().into_owned();
    let rustc = output_of(&variable("RUSTC"), &["--version"]).unwrap_or_default();
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
        (
            "SIMGPU_COMMIT",
            is_release
                .then(|| commit(&root))
                .flatten()
                .unwrap_or_default(),
        ),
        (
            "SIMGPU_CHANGES",
            is_release
                .then(|| changes(&root))
                .flatten()
                .unwrap_or_default(),
        ),
    ];
    for (name, value) in notes {
        println!("cargo::rustc-env={name}={value}");
    }
    watch(Path::new("build.rs"));
    // Debug builds record no commit, so a change of the sources runs this again in releases alone.
    if is_release {
        for source in SOURCES {
            watch(&Path::new(&root).join(source));
        }
        // Git appends a line to this log per commit and checkout.
        if let Some(log) = git(&root, &["rev-parse", "--git-path", "logs/HEAD"]) {
            watch(&Path::new(&root).join(log));
        }
    }
}

/// Reruns this script when a file changes. Cargo would count a missing file as changed each time.
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

/// Output of git for this repository. A published crate has none, but may lie inside another one.
fn git(root: &str, arguments: &[&str]) -> Option<String> {
    if !Path::new(root).join(".git").exists() {
        return None;
    }
    output_of("git", &[&["-C", root], arguments].concat())
}

/// Output of a program, trimmed; `None` if it fails.
fn output_of(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
