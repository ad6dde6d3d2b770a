//! The public API of each promised crate, one line per item, against a file of `tests/public_api/`: no change of it passes unseen.
//! What a crate hides is for its siblings, and is not listed.
//!
//! To accept a change: `SIMGPU_ACCEPT_API=1 cargo test --all-features --test public_api`.
//!
//! The lists are made from rustdoc's JSON for all features but `internals`. How cargo builds that JSON:
//!
//! - In the target folder of this test. Cargo releases its lock before it runs tests. In a folder of its own, cargo would
//!   compile every dependency once more.
//! - With a stable toolchain, by `RUSTC_BOOTSTRAP=1`, which `tests/support/rustdoc.sh` sets for rustdoc alone. Build
//!   scripts watch that variable: set for cargo, it has dependencies compiled again, there and back.
//! - On x86-64 Linux only. The API is the same elsewhere, and the shell script is not.
//!
//! The format of the JSON changes with the compiler. Where rustdoc is missing, or writes a format that the crate
//! `public-api` does not read, the test prints `skipped: ...`; with `SIMGPU_REQUIRE_API=1` it fails. No script sets
//! that variable, because a new stable compiler may be ahead of `public-api`.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::io::Write;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const SNAPSHOTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/public_api");
const RUSTDOC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/rustdoc.sh");
const AS_JSON: [&str; 4] = ["-Z", "unstable-options", "--output-format", "json"];

/// The crates that programs may name. `simgpu` hands on the first two.
const PROMISED: [&str; 10] = [
    "simgpu-base",
    "simgpu-kernels",
    "simgpu",
    "simgpu-io",
    "simgpu-index",
    "simgpu-files",
    "simgpu-link",
    "simgpu-passages",
    "simgpu-contain",
    "simgpu-ratings",
];

/// Formats of the JSON that `public-api` 0.52 reads. Rust 1.95 writes 57.
const FORMATS: RangeInclusive<u64> = 57..=59;

#[test]
fn public_api_is_the_accepted_one() {
    match json_format() {
        Ok(format) if FORMATS.contains(&format) => {}
        Ok(format) => return skip(&format!("rustdoc writes format {format}, not {FORMATS:?}")),
        Err(reason) => return skip(&reason),
    }
    let documented = build_json();
    let is_accepted = env::var_os("SIMGPU_ACCEPT_API").is_some_and(|value| value == "1");
    let mut changes = String::new();
    for package in PROMISED {
        let json = documented.join(package.replace('-', "_"));
        let items = items(&json.with_extension("json"));
        let snapshot = Path::new(SNAPSHOTS).join(package).with_extension("txt");
        if is_accepted {
            fs::write(snapshot, items).unwrap();
            continue;
        }
        let accepted = fs::read_to_string(snapshot).unwrap_or_default();
        changes.push_str(&differences(&accepted, &items));
    }
    assert!(
        changes.is_empty(),
        "the public API has changed:\n{changes}\n\
         to accept it: SIMGPU_ACCEPT_API=1 cargo test --all-features --test public_api"
    );
}

#[allow(
    clippy::explicit_write,
    reason = "the test harness hides what a passing test prints by macros"
)]
fn skip(reason: &str) {
    assert!(
        env::var_os("SIMGPU_REQUIRE_API").is_none_or(|value| value != "1"),
        "{reason}"
    );
    writeln!(std::io::stderr(), "skipped: {reason}").unwrap();
}

/// The format of the toolchain's JSON, from the documentation of an empty crate.
fn json_format() -> Result<u64, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("public_api");
    let output = Command::new(RUSTDOC)
        .args(["-", "--crate-name", "empty", "--output"])
        .arg(&folder)
        .args(AS_JSON)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{RUSTDOC}: {error}"))?;
    if !output.status.success() {
        return Err(format!("rustdoc writes no JSON: {}", stderr(&output)));
    }
    let json = fs::read_to_string(folder.join("empty.json")).map_err(|error| error.to_string())?;
    let json: serde_json::Value = serde_json::from_str(&json).map_err(|error| error.to_string())?;
    json["format_version"]
        .as_u64()
        .ok_or_else(|| "rustdoc's JSON has no number of its format".to_owned())
}

/// Documents the promised crates, and returns the folder.
fn build_json() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["doc", "--frozen", "--no-deps", "--lib"]);
    cargo.args(["--features", "simgpu/gpu,simgpu/selftest"]);
    for package in PROMISED {
        cargo.args(["--package", package]);
    }
    let output = cargo
        .arg("--target-dir")
        .arg(target)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("RUSTDOC", RUSTDOC)
        .env("RUSTDOCFLAGS", AS_JSON.join(" "))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    target.join("doc")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).trim().to_owned()
}

/// One line per item. An implementation of a trait is one line, since the trait tells its methods. Of the traits that
/// the compiler implements by itself, only `Send` and `Sync` are listed.
fn items(json: &Path) -> String {
    const UNLISTED: [&str; 6] = [
        "core::marker::Freeze",
        "core::marker::StructuralPartialEq",
        "core::marker::Unpin",
        "core::marker::UnsafeUnpin",
        "core::panic::unwind_safe::RefUnwindSafe",
        "core::panic::unwind_safe::UnwindSafe",
    ];
    let api = public_api::Builder::from_rustdoc_json(json)
        .omit_blanket_impls(true)
        .build()
        .unwrap();
    let mut lines = String::new();
    // Set below the line of an implementation: what its methods' lines contain.
    let mut method = None;
    for item in api.items() {
        let item = item.to_string();
        if item.starts_with("impl") {
            let (implemented, of) = item.rsplit_once(" for ").unzip();
            method = of.map(|of| format!(" fn {}::", of.split(" where ").next().unwrap()));
            if implemented.is_some_and(|head| UNLISTED.iter().any(|name| head.ends_with(name))) {
                continue;
            }
        } else if method.as_ref().is_some_and(|method| item.contains(method)) {
            continue;
        }
        lines.push_str(&item);
        lines.push('\n');
    }
    lines
}

/// Lines of `before` alone with a minus, then lines of `after` alone with a plus.
fn differences(before: &str, after: &str) -> String {
    let minus = only(before, after).into_iter().map(|line| ("-", line));
    let plus = only(after, before).into_iter().map(|line| ("+", line));
    minus
        .chain(plus)
        .map(|(sign, line)| format!("{sign} {line}\n"))
        .collect()
}

fn only<'a>(these: &'a str, others: &str) -> Vec<&'a str> {
    let others: BTreeSet<&str> = others.lines().collect();
    these
        .lines()
        .filter(|line| !others.contains(line))
        .collect()
}
