use super::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::folder::PARTIAL;
use simgpu::error::Error;
use simgpu::progress::Silent;
use simgpu::store::disk::{Disk, OnDisk};

/// Records what a commit does, and fails at one call.
#[derive(Default)]
struct Recorded {
    calls: Mutex<Vec<String>>,
    root: PathBuf,
    fails_at: Option<&'static str>,
}

impl Recorded {
    fn note(&self, call: &str, path: &Path) -> io::Result<()> {
        let path = path.strip_prefix(&self.root).unwrap().display();
        let call = format!("{call} {path}");
        let mut calls = self.calls.lock().unwrap();
        // Once: undoing a rename may be the same call.
        let fails = self.fails_at == Some(&call) && !calls.contains(&call);
        calls.push(call);
        if fails {
            Err(ErrorKind::StorageFull.into())
        } else {
            Ok(())
        }
    }
}

impl Disk for Recorded {
    fn sync(&self, path: &Path, is_folder: bool) -> io::Result<()> {
        OnDisk.sync(path, is_folder)?;
        self.note("sync", path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.note("rename to", to)?;
        fs::rename(from, to)
    }
}

/// A folder whose files hold `contents`.
fn filled(root: &Path, contents: &str) -> OutputFolder {
    let output = OutputFolder::open(&root.join("out"), true, Leftovers::Remove).unwrap();
    output.take_over(&BTreeSet::new()).unwrap();
    let names = [
        "kept/a/b.jsonl",
        "kept/c.jsonl",
        "removed.jsonl",
        REPORT,
        RUN_RECORD,
    ];
    for name in names {
        let contents = match name {
            REPORT => "{\"simgpu_report\": 1}".to_owned(),
            RUN_RECORD => format!("{{\"simgpu\": \"0\", \"files\": {names:?}}}"),
            _ => contents.to_owned(),
        };
        let (mut file, _) = output.create(name).unwrap();
        file.write_all(contents.as_bytes()).unwrap();
    }
    output
}

fn recorder(root: &Path, fails_at: Option<&'static str>) -> Recorded {
    Recorded {
        root: root.to_owned(),
        fails_at,
        ..Recorded::default()
    }
}

#[test]
fn files_reach_the_disk_before_the_report() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap();
    let disk = recorder(&root, None);
    drop(filled(&root, "one").publish_with(&disk).unwrap());
    let mut calls = disk.calls.into_inner().unwrap();
    // Threads sync the files and folders of `.partial` in any order.
    let renames = calls
        .iter()
        .position(|call| call.starts_with("rename"))
        .unwrap();
    // The parent folder comes last of them.
    calls[..renames - 1].sort_unstable();
    let expected = [
        "sync out/.partial",
        "sync out/.partial/kept",
        "sync out/.partial/kept/a",
        "sync out/.partial/kept/a/b.jsonl",
        "sync out/.partial/kept/c.jsonl",
        "sync out/.partial/removed.jsonl",
        "sync out/.partial/report.json",
        "sync out/.partial/run.json",
        "sync ",
        "rename to out/run.json",
        "rename to out/kept",
        "rename to out/removed.jsonl",
        "sync out",
        "rename to out/report.json",
        "sync out",
    ];
    assert_eq!(calls, expected);
}

#[test]
fn a_commit_that_fails_keeps_the_earlier_results() {
    let failures = [
        "sync out/.partial/kept/c.jsonl",
        "sync ",
        "rename to out/kept",
        "rename to out/report.json",
    ];
    for fails_at in failures {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        filled(&root, "one").commit(&Silent).unwrap();
        let disk = recorder(&root, Some(fails_at));
        let failed = filled(&root, "two").publish_with(&disk);
        assert!(matches!(failed, Err(Error::Io { .. })), "{fails_at}");
        let read = |name: &str| fs::read_to_string(root.join("out").join(name)).unwrap();
        for name in ["kept/a/b.jsonl", "kept/c.jsonl", "removed.jsonl"] {
            assert_eq!(read(name), "one", "{fails_at}");
        }
        assert!(read(REPORT).contains("simgpu_report"));
        assert!(!root.join("out").join(PARTIAL).exists());
    }
}

#[test]
fn a_file_that_appears_during_a_run_stays() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path();
    filled(root, "one").commit(&Silent).unwrap();
    let second = filled(root, "two");
    fs::write(root.join("out/kept/mine"), "mine").unwrap();
    let refused = second.commit(&Silent).unwrap_err().to_string();
    assert!(refused.contains("did not write kept/mine"), "{refused}");
    assert_eq!(fs::read(root.join("out/kept/mine")).unwrap(), b"mine");
    assert_eq!(fs::read(root.join("out/kept/c.jsonl")).unwrap(), b"one");
}

/// Files of these names, whose text is `contents`.
fn files(root: &Path, names: &[&str], contents: &str) -> Vec<OutputFile> {
    let write = |name: &&str| {
        let (output, mut file) = OutputFile::create(&root.join(name), true).unwrap();
        file.write_all(contents.as_bytes()).unwrap();
        output
    };
    names.iter().map(write).collect()
}

/// The names of a folder, and what each file holds.
fn contents(root: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(root).unwrap().map(|entry| entry.unwrap());
    let read = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().unwrap();
        (name, fs::read_to_string(entry.path()).unwrap())
    };
    entries.map(read).collect()
}

const NAMES: [&str; 2] = ["p.csv", "p.csv.report.json"];

#[test]
fn files_reach_the_disk_before_their_names_and_the_last_one_after_all_others() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path();
    for (stale, calls) in [
        (
            &[][..],
            &[
                "sync p.csv.partial",
                "sync p.csv.report.json.partial",
                "rename to p.csv",
                "sync ",
                "rename to p.csv.report.json",
                "sync ",
            ][..],
        ),
        (
            &[root.join("p.csv.html")],
            &[
                "sync p.csv.partial",
                "sync p.csv.report.json.partial",
                "rename to p.csv.html.earlier.partial",
                "rename to p.csv.report.json.earlier.partial",
                "rename to p.csv.earlier.partial",
                "rename to p.csv",
                "sync ",
                "rename to p.csv.report.json",
                "sync ",
            ],
        ),
    ] {
        let disk = recorder(root, None);
        let new = files(root, &NAMES, "text");
        OutputFile::commit_all_with(&disk, new, stale, &Silent).unwrap();
        assert_eq!(disk.calls.into_inner().unwrap(), calls);
        assert_eq!(Vec::from_iter(contents(root).keys()), NAMES);
        fs::write(root.join("p.csv.html"), "page").unwrap();
    }
}

#[test]
fn files_that_fail_leave_those_before() {
    let page = "p.csv.html";
    let named = [NAMES[0], NAMES[1], page].map(|name| (name.to_owned(), "old".to_owned()));
    let earlier = BTreeMap::from(named);
    for is_first in [true, false] {
        for fails_at in [
            "sync p.csv.partial",
            "sync p.csv.report.json.partial",
            "rename to p.csv.html.earlier.partial",
            "rename to p.csv.earlier.partial",
            "rename to p.csv",
            "sync ",
            "rename to p.csv.report.json",
        ] {
            if is_first && fails_at.contains("earlier") {
                continue;
            }
            let place = tempfile::tempdir().unwrap();
            let root = place.path();
            let stale = [root.join(page)];
            if !is_first {
                let old = files(root, &[NAMES[0], NAMES[1], page], "old");
                OutputFile::commit_all(old, &[], &Silent).unwrap();
            }
            let disk = recorder(root, Some(fails_at));
            let new = files(root, &NAMES, "new");
            let done = OutputFile::commit_all_with(&disk, new, &stale, &Silent);
            assert!(done.is_err(), "{fails_at}");
            let expected = if is_first {
                BTreeMap::new()
            } else {
                earlier.clone()
            };
            assert_eq!(contents(root), expected, "{fails_at}");
        }
    }
}

#[test]
fn a_file_that_is_to_stay_keeps_its_temporary_name() {
    let place = tempfile::tempdir().unwrap();
    let disk = recorder(place.path(), Some("rename to p.csv"));
    let mut new = files(place.path(), &["p.csv"], "new");
    new[0].keep_partial();
    assert!(OutputFile::commit_all_with(&disk, new, &[], &Silent).is_err());
    let left = BTreeMap::from([("p.csv.partial".to_owned(), "new".to_owned())]);
    assert_eq!(contents(place.path()), left);
}

#[test]
fn what_a_killed_run_moved_out_of_the_way_is_removed() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("p.csv.earlier.partial"), "old").unwrap();
    let new = files(place.path(), &["p.csv"], "new");
    OutputFile::commit_all(new, &[], &Silent).unwrap();
    assert_eq!(Vec::from_iter(contents(place.path()).keys()), ["p.csv"]);
}

#[cfg(unix)]
#[test]
fn an_unreadable_report_is_no_foreign_file() {
    use std::os::unix::fs::PermissionsExt;

    let place = tempfile::tempdir().unwrap();
    filled(place.path(), "one").commit(&Silent).unwrap();
    let report = place.path().join("out").join(REPORT);
    fs::set_permissions(&report, fs::Permissions::from_mode(0o0)).unwrap();
    if File::open(&report).is_ok() {
        writeln!(io::stderr(), "skipped: this user may read every file").unwrap();
        return;
    }
    let failed = OutputFolder::open(&place.path().join("out"), true, Leftovers::Remove);
    assert!(matches!(failed, Err(Error::Io { path, .. }) if path == report));
}

#[test]
fn two_runs_never_write_one_file() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("p.csv");
    let (first, mut file) = OutputFile::create(&path, false).unwrap();
    file.write_all(b"first").unwrap();
    let refused = OutputFile::create(&path, false).unwrap_err().to_string();
    assert!(refused.contains("another run is writing"), "{refused}");
    OutputFile::commit_all(vec![first], &[], &Silent).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"first");
    // What an interrupted run left is replaced.
    fs::write(place.path().join("q.csv.partial"), "half").unwrap();
    let (second, _) = OutputFile::create(&place.path().join("q.csv"), false).unwrap();
    OutputFile::commit_all(vec![second], &[], &Silent).unwrap();
    assert_eq!(fs::read(place.path().join("q.csv")).unwrap(), b"");
}

#[test]
fn a_file_is_replaced_only_if_it_may_be() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("out.jsonl");
    let write = |overwrite, text: &str| {
        let (output, mut file) = OutputFile::create(&path, overwrite)?;
        file.write_all(text.as_bytes()).unwrap();
        Ok::<_, Error>(output)
    };
    let commit = |output| OutputFile::commit_all(vec![output], &[], &Silent).unwrap();
    // Without a commit, nothing is left.
    drop(write(false, "a").unwrap());
    assert!(!path.exists() && !with_suffix(&path, PARTIAL).exists());
    commit(write(false, "b").unwrap());
    assert!(matches!(write(false, "c"), Err(Error::Output { .. })));
    assert_eq!(fs::read_to_string(&path).unwrap(), "b");
    commit(write(true, "d").unwrap());
    assert_eq!(fs::read_to_string(&path).unwrap(), "d");
    for other in [place.path().to_owned(), place.path().join("none/out.jsonl")] {
        assert!(OutputFile::create(&other, true).is_err());
    }
    // Two runs do not write the same file.
    let _first = write(true, "e").unwrap();
    let second = write(true, "f").map(|_| ()).unwrap_err().to_string();
    assert!(second.contains("another run is writing it"), "{second}");
}
