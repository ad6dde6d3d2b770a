//! Indexes in folders that may not be written, and on file systems without locks.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "says that a test was skipped")]

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::json;

use crate::support::{Answering, Place, SIMGPU, families, lines_of};

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

/// Compiles a library that replaces functions of the C library. False without a compiler.
fn preloaded(place: &Place, name: &str, source: &str) -> bool {
    place.write(&format!("{name}.c"), source);
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([format!("{name}.so"), format!("{name}.c")])
        .current_dir(place.path(""))
        .status();
    let is_compiled = compiled.is_ok_and(|status| status.success());
    if !is_compiled {
        eprintln!("skipped: there is no compiler of C");
    }
    is_compiled
}

/// A call that locks a file fails as on a network mount without locks.
#[test]
fn a_file_system_without_locks_is_named() {
    let place = index();
    let flock = "#include <errno.h>\nint flock(int file, int how) { errno = ENOLCK; return -1; }\n";
    if !preloaded(&place, "nolock", flock) {
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

/// Takes the right to write from all files and folders of an index, or gives it back.
fn permit(folder: &Path, may_write: bool) {
    let mode = |folder_or_file: [u32; 2]| folder_or_file[usize::from(may_write)];
    let set = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    set(folder, 0o755);
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            permit(&path, may_write);
        } else {
            set(&path, mode([0o444, 0o644]));
        }
    }
    set(folder, mode([0o555, 0o755]));
}

/// The command as another user, if this one may do everything.
fn reading(place: &Place, arguments: &str) -> Command {
    let mut command = command(place, arguments);
    if is_root() {
        command.uid(65_534).gid(65_534);
    }
    command
}

/// Whether a user to whom nothing is permitted can run the program.
fn can_read_only(place: &Place) -> bool {
    fs::set_permissions(place.path(""), Permissions::from_mode(0o755)).unwrap();
    let ran = reading(place, "--version").output();
    let can = ran.is_ok_and(|output| output.status.success());
    if !can {
        eprintln!("skipped: another user cannot run the program");
    }
    can
}

/// An index of which a part is in a journal alone, and its documents.
fn unflushed(kind: &str) -> Place {
    let place = Place::new();
    let texts = families(40, 3, 30);
    let line = |id: usize| json!({"id": id, "text": texts[id]});
    place.write("old.jsonl", lines_of((0..60).map(line)));
    place.write("new.jsonl", lines_of((60..120).map(line)));
    place
        .run(&format!(
            "index build old.jsonl --index seen --kind {kind} --quiet"
        ))
        .succeeded();
    let mut running = Answering::start(
        &place,
        "index add - --index seen --if-new --output - --quiet",
    );
    for id in 60..70 {
        running.ask(line(id));
    }
    running.kill();
    place
}

#[test]
fn an_index_that_may_not_be_written_is_read() {
    for kind in ["lsh", "exact"] {
        let place = unflushed(kind);
        if !can_read_only(&place) {
            return;
        }
        fs::create_dir(place.path("own")).unwrap();
        fs::set_permissions(place.path("own"), Permissions::from_mode(0o777)).unwrap();
        let reads = [
            "index query new.jsonl --index seen -o - --quiet",
            "index export --index seen",
            "index stats --index seen --json",
            "index verify --index seen",
        ];
        place.run("index snapshot seen copy --quiet").succeeded();
        // Of the copy, nothing is in a journal.
        let expected = reads.map(|read| {
            let read = read.replace("seen", "copy");
            place.run(&read).succeeded().stdout
        });
        permit(&place.path("seen"), false);
        let files = contents(&place.path("seen"));
        let read = |arguments: &str| reading(&place, arguments).output().unwrap();
        let same = |outcome: Output, expected: &[u8], what: &str| {
            let told = String::from_utf8_lossy(&outcome.stderr);
            assert!(outcome.status.success(), "{kind}: {what}: {told}");
            assert!(outcome.stdout == expected, "{kind}: {what}");
        };
        for (arguments, expected) in reads.iter().zip(&expected) {
            let outcome = read(arguments);
            if arguments.contains("stats") {
                // The journal takes no space in tables.
                assert_eq!(documents_of(&outcome.stdout), documents_of(expected));
            } else {
                same(outcome, expected, arguments);
            }
        }
        // Several processes at once.
        let several: Vec<Child> = (0..6)
            .map(|_| {
                let mut command = reading(&place, reads[0]);
                command.stdout(Stdio::piped()).stderr(Stdio::piped());
                command.spawn().unwrap()
            })
            .collect();
        for child in several {
            same(child.wait_with_output().unwrap(), &expected[0], "at once");
        }
        let may_not = [
            "may be read, but not changed",
            "Permission denied",
            "simgpu index snapshot",
        ];
        for arguments in [
            "index add new.jsonl --index seen --on-known-id skip",
            "index add new.jsonl --index seen --if-new",
            "index compact --index seen",
            "index delete --index seen --ids new.jsonl",
        ] {
            refused(&read(arguments), &may_not);
        }
        if kind == "lsh" {
            let dedup = |output: &str, more: &str| {
                read(&format!(
                    "dedup new.jsonl --against seen -o own/{output} --quiet{more}"
                ))
            };
            let outcome = dedup("out", "");
            assert!(
                outcome.status.success(),
                "{}",
                String::from_utf8_lossy(&outcome.stderr)
            );
            place
                .run("dedup new.jsonl --against copy -o expected --quiet")
                .succeeded();
            assert!(place.read("own/out/kept/new.jsonl") == place.read("expected/kept/new.jsonl"));
            refused(&dedup("added", " --add"), &may_not);
            assert!(!place.path("own/added").exists());
        }
        // Nothing was changed, and nothing is left.
        assert!(files == contents(&place.path("seen")));
        // A copy is another user's own.
        same(
            read("index snapshot seen own/copy --quiet"),
            b"",
            "snapshot",
        );
        same(
            read("index add new.jsonl --index own/copy --on-known-id skip --quiet"),
            b"",
            "add",
        );
        same(read("index verify --index own/copy --quiet"), b"", "verify");
        permit(&place.path("seen"), true);
        place.run("index verify --index seen --quiet").succeeded();
    }
}

/// The bytes of all files of a folder.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(contents(&path));
        } else {
            files.push((path.clone(), fs::read(&path).unwrap()));
        }
    }
    files.sort();
    files
}

fn documents_of(stats: &[u8]) -> serde_json::Value {
    let stats: serde_json::Value = serde_json::from_slice(stats).unwrap();
    stats["documents"].clone()
}

/// Who may write has an index alone, and who may only read it shares it with others who do.
#[test]
fn readers_and_a_writer_wait_for_each_other() {
    let place = unflushed("lsh");
    if !can_read_only(&place) {
        return;
    }
    let stats = "index stats --index seen";
    // Another user may write nothing there, and this one everything.
    place.run("index verify --index seen --quiet").succeeded();
    let mut reader = reading(&place, "index query - --index seen -o - --quiet");
    let mut reader = reader
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(reader.stdout.take().unwrap());
    let mut answer = String::new();
    let line = lines_of([json!({"id": 1, "text": "some words that nobody wrote"})]);
    reader.stdin.as_mut().unwrap().write_all(&line).unwrap();
    lines.read_line(&mut answer).unwrap();
    assert!(answer.contains("hits"), "{answer}");
    let also = reading(&place, stats).output().unwrap();
    assert!(
        also.status.success(),
        "{}",
        String::from_utf8_lossy(&also.stderr)
    );
    if is_root() {
        let writer = command(
            &place,
            "index add new.jsonl --index seen --on-known-id skip",
        );
        let phrases = [
            "another that only reads it has the index open",
            "wait until it ends",
        ];
        refused(&{ writer }.output().unwrap(), &phrases);
    }
    drop(reader.stdin.take());
    assert!(reader.wait().unwrap().success());
    if is_root() {
        let mut writer = Answering::start(&place, "index add - --index seen --if-new -o - --quiet");
        writer.ask(json!({"id": "w", "text": "a writer has it"}));
        let holder = format!("process {} has the index open", writer.id());
        refused(
            &reading(&place, stats).output().unwrap(),
            &[&holder, "simgpu index snapshot"],
        );
        assert!(writer.end().success());
        assert!(reading(&place, stats).output().unwrap().status.success());
    }
}

/// To root, everything is permitted but what a file system denies.
#[test]
fn an_index_on_a_read_only_file_system_is_read() {
    let place = unflushed("lsh");
    let mount = "mount --bind seen seen && mount -o remount,bind,ro seen seen && ! touch seen/x 2> /dev/null";
    let in_namespace = |command: &str| {
        let script = format!("{mount} && exec {SIMGPU} {command}");
        Command::new("unshare")
            .args(["--mount", "sh", "-c", &script])
            .current_dir(place.path(""))
            .output()
    };
    match in_namespace("--version") {
        Ok(output) if output.status.success() => {}
        _ => {
            eprintln!("skipped: this user may mount nothing");
            return;
        }
    }
    let verified = in_namespace("index verify --index seen").unwrap();
    let told = String::from_utf8_lossy(&verified.stderr).into_owned();
    assert!(
        verified.status.success() && told.contains("whole"),
        "{told}"
    );
    let phrases = ["may be read, but not changed", "Read-only file system"];
    let add = "index add new.jsonl --index seen --on-known-id skip";
    refused(&in_namespace(add).unwrap(), &phrases);
    place.run(&format!("{add} --quiet")).succeeded();
}

/// The store counts the seconds since 1970.
#[test]
fn a_clock_before_1970_is_an_error() {
    let place = index();
    let clock = "#include <time.h>
        #include <unistd.h>
        #include <sys/syscall.h>
        int clock_gettime(clockid_t clock, struct timespec *time) {
            int failed = syscall(SYS_clock_gettime, clock, time);
            if (clock == CLOCK_REALTIME) time->tv_sec = -1000;
            return failed;
        }
";
    if !preloaded(&place, "clock", clock) {
        return;
    }
    for arguments in [
        "index stats --index seen",
        "index add old.jsonl --index seen --on-known-id replace",
        "index build old.jsonl --index other --quiet",
    ] {
        let mut command = command(&place, arguments);
        let output = command
            .env("LD_PRELOAD", place.path("clock.so"))
            .output()
            .unwrap();
        refused(&output, &["before 1970", "set the clock"]);
        assert_eq!(
            output.stderr.iter().filter(|byte| **byte == b'\n').count(),
            1
        );
    }
    place.run("index verify --index seen --quiet").succeeded();
}

/// Whether this process may do everything.
fn is_root() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let uid = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    uid.and_then(|ids| ids.split_whitespace().nth(1)) == Some("0")
}
