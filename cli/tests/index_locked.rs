//! Indexes in folders that may not be written, and on file systems without locks.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "says that a test was skipped")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output};

use crate::support::{Place, SIMGPU};

fn index() -> Place {
    let place = Place::new();
    place.write("old.jsonl", "{\"id\": 1, \"text\": \"some words\"}\n");
    place
        .run("index build old.jsonl --index seen --quiet")
        .succeeded();
    place
}

fn command(place: &Place, arguments: &str) -> Command {
    let mut command = Command::new(SIMGPU);
    command
        .args(arguments.split(' '))
        .current_dir(place.path(""));
    command
}

#[track_caller]
fn refused(output: &Output, phrases: &[&str]) {
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{told}");
    for phrase in phrases {
        assert!(told.contains(phrase), "{told}");
    }
}

/// A call that locks a file fails as on a network mount without locks.
#[test]
fn a_file_system_without_locks_is_named() {
    let place = index();
    place.write(
        "nolock.c",
        "#include <errno.h>\nint flock(int file, int how) { errno = ENOLCK; return -1; }\n",
    );
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-o", "nolock.so", "nolock.c"])
        .current_dir(place.path(""))
        .status();
    if !compiled.is_ok_and(|status| status.success()) {
        eprintln!("skipped: there is no compiler of C");
        return;
    }
    for arguments in [
        "index stats --index seen",
        "index add old.jsonl --index seen --on-known-id skip",
        "index build old.jsonl --index other",
    ] {
        let mut command = command(&place, arguments);
        let output = command.env("LD_PRELOAD", place.path("nolock.so")).output();
        let phrases = [
            "cannot be locked",
            "No locks available",
            "a file system that has locks",
        ];
        refused(&output.unwrap(), &phrases);
    }
    place.run("index verify --index seen --quiet").succeeded();
}

#[test]
fn a_folder_of_another_user_is_named() {
    let place = index();
    let permit = |name: &str, mode| {
        fs::set_permissions(place.path(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    permit("", 0o755);
    permit("seen", 0o555);
    permit("seen/lock", 0o444);
    permit("seen/simgpu-index.json", 0o444);
    let run = |arguments: &str| {
        let mut command = command(&place, arguments);
        if is_root() {
            // To root, everything is permitted.
            command.uid(65_534).gid(65_534);
        }
        command.output()
    };
    let Ok(output) = run("index stats --index seen") else {
        eprintln!("skipped: another user cannot run the program");
        return;
    };
    refused(
        &output,
        &[
            "may not be written",
            "Permission denied",
            "simgpu index snapshot",
        ],
    );
    permit("seen", 0o755);
    permit("seen/lock", 0o644);
    place.run("index verify --index seen --quiet").succeeded();
}

/// Whether this process may do everything.
fn is_root() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let uid = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    uid.and_then(|ids| ids.split_whitespace().nth(1)) == Some("0")
}
