//! Folders that are no index, or a damaged one.

use std::fs;
use std::path::Path;

use super::{EXACT, Found, SIGNED, VERIFIED, engine, found, half_built, index_of, texts};
use crate::*;
use simgpu::error::Result;
use simgpu::pipeline::{Measure, Unit};
use simgpu::scheme::fmix64;
use simgpu::search::{CandidateMethod, Search, Verification};

/// The message of an error.
fn message<T: std::fmt::Debug>(result: Result<T>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn folders_that_are_no_index_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("index");
    assert!(message(Index::open(&place)).contains("simgpu index build"));
    let texts = texts(9, 3);
    let index = index_of(&place, &texts, Unit::Words, 0.8, VERIFIED);
    let pid = std::process::id().to_string();
    assert!(message(Index::open(&place)).contains(&format!("process {pid} has")));
    let (engine, search) = (engine(Unit::Words), index.search().clone());
    let other = Search {
        threshold: 0.7,
        ..search.clone()
    };
    let refused = message(index.check_fits(&engine, &other));
    assert!(
        refused.contains("0.8") && refused.contains("0.7"),
        "{refused}"
    );
    index.check_fits(&engine, &search).unwrap();
    drop(index);
    assert!(message(Index::create(&place, self::engine(Unit::Words), &search)).contains("already"));
    fs::write(folder.path().join("notes.txt"), "mine").unwrap();
    assert!(message(Index::create(folder.path(), engine, &search)).contains("notes.txt"));
    // An index that was not completed is begun anew.
    fs::remove_file(place.join("simgpu-index.json")).unwrap();
    let index = index_of(&place, &texts[..1], Unit::Words, 0.8, VERIFIED);
    assert_eq!(index.verify().unwrap().documents, 1);
    let contained = Search {
        measure: Measure::Contained,
        ..search.clone()
    };
    let of = |(candidates, verification)| Search {
        candidates,
        verification,
        ..search.clone()
    };
    let unverified = of((CandidateMethod::Lsh, Verification::None));
    let estimated = of((CandidateMethod::Join, Verification::Signature));
    for (refused, says) in [
        (contained, "kind exact"),
        (unverified, "none"),
        (estimated, "exact"),
    ] {
        let folder = folder.path().join("b");
        let error = message(Index::create(&folder, self::engine(Unit::Words), &refused));
        assert!(error.contains(says), "{error}");
    }
}

/// The files of a folder, with those in folders below.
fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path))
        } else {
            found.push(path)
        }
    }
    found.sort();
    found
}

pub(super) fn copy(from: &Path, to: &Path) {
    for file in files(from) {
        let target = to.join(file.strip_prefix(from).unwrap());
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(file, target).unwrap();
    }
}

/// Opens an index and asks it.
pub(super) fn ask(folder: &Path, texts: &[String]) -> Result<Found> {
    let index = Index::open(folder)?;
    index.query(texts)?;
    Ok(found(&index, texts))
}

/// Damages an index here and there: the answer is right, or an error names its folder.
fn assert_damage_is_found(good: &Path, texts: &[String], flips: u64) {
    let expected = ask(good, texts).unwrap();
    let all = files(good);
    for flip in 0..flips {
        let damaged = tempfile::tempdir().unwrap();
        copy(good, damaged.path());
        let random = fmix64(flip);
        let file = &all[usize::try_from(random % all.len() as u64).unwrap()];
        let file = damaged.path().join(file.strip_prefix(good).unwrap());
        let mut bytes = fs::read(&file).unwrap();
        if file.ends_with("lock") || bytes.is_empty() {
            continue;
        }
        let at = usize::try_from(fmix64(random) % bytes.len() as u64).unwrap();
        bytes[at] ^= 1 << (random >> 40 & 7);
        fs::write(&file, bytes).unwrap();
        match ask(damaged.path(), texts) {
            Ok(found) => assert_eq!(found, expected, "{flip}: {} {at}", file.display()),
            Err(error) => {
                let error = error.to_string();
                assert!(
                    error.contains(&damaged.path().display().to_string()),
                    "{error}"
                );
            }
        }
    }
}

#[test]
fn damage_is_an_error_or_does_not_matter() {
    let texts = texts(10, 12);
    // In the journal, and in tables.
    for (compacts, kind) in [
        (false, SIGNED),
        (true, SIGNED),
        (false, EXACT),
        (true, EXACT),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let index = index_of(folder.path(), &texts, Unit::Words, 0.6, kind);
        if compacts {
            index.compact().unwrap()
        } else {
            index.sync().unwrap()
        }
        drop(index);
        assert_damage_is_found(folder.path(), &texts, 12);
    }
}

/// Whether nothing depends on the bytes of a file: it is a lock, or a list of files that another one replaced.
fn is_unused(file: &Path) -> bool {
    let name = file.file_name().unwrap().to_str().unwrap();
    let number = name
        .strip_prefix('v')
        .and_then(|number| number.parse::<u64>().ok());
    match number {
        Some(number) => {
            let current = fs::read(file.with_file_name("current")).unwrap();
            u64::from_le_bytes(current[..8].try_into().unwrap()) != number
        }
        None => name == "lock",
    }
}

/// The files of a folder on which something depends.
fn used(folder: &Path) -> Vec<std::path::PathBuf> {
    let is_used = |file: &std::path::PathBuf| {
        let is_alone = !file.with_file_name("current").exists();
        is_alone || !is_unused(file)
    };
    files(folder).into_iter().filter(is_used).collect()
}

/// Bits here and there of each file of an index that was closed: verification finds all of them.
#[test]
fn every_file_is_verified() {
    let (texts, good) = (texts(12, 20), tempfile::tempdir().unwrap());
    let index = half_built(good.path(), &texts, 0.6, VERIFIED);
    index.compact().unwrap();
    drop(index);
    for file in files(good.path()) {
        let bytes = fs::read(&file).unwrap();
        if bytes.is_empty() || is_unused(&file) {
            continue;
        }
        let last = bytes.len() - 1;
        for at in [0, last / 5, last / 2, last - last / 9, last] {
            let damaged = tempfile::tempdir().unwrap();
            copy(good.path(), damaged.path());
            let file = damaged.path().join(file.strip_prefix(good.path()).unwrap());
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            fs::write(&file, flipped).unwrap();
            let checked = Index::open(damaged.path()).and_then(|index| index.verify());
            assert!(checked.is_err(), "{at}: {}", file.display());
            let error = message(checked);
            let folder = damaged.path().join("store/keyspaces");
            // A checksum says that it or what it is of has changed.
            let named = if !file.starts_with(folder) {
                damaged.path()
            } else if file.ends_with("current") {
                file.parent().unwrap()
            } else {
                &file
            };
            assert!(
                error.contains(&named.display().to_string()),
                "{at}: {error}"
            );
        }
    }
}

#[test]
fn damage_to_what_was_built_is_an_error_or_does_not_matter() {
    let texts = texts(14, 12);
    for kind in [SIGNED, VERIFIED] {
        let folder = tempfile::tempdir().unwrap();
        drop(half_built(folder.path(), &texts, 0.6, kind));
        assert_damage_is_found(folder.path(), &texts, 24);
    }
}

/// A list of files without its files, and a table without a list.
#[test]
fn missing_files_are_errors() {
    let (texts, good) = (texts(13, 5), tempfile::tempdir().unwrap());
    let index = index_of(good.path(), &texts, Unit::Words, 0.6, SIGNED);
    index.compact().unwrap();
    drop(index);
    for file in files(&good.path().join("store/keyspaces")) {
        if is_unused(&file) {
            continue;
        }
        let damaged = tempfile::tempdir().unwrap();
        copy(good.path(), damaged.path());
        let file = damaged.path().join(file.strip_prefix(good.path()).unwrap());
        fs::remove_file(&file).unwrap();
        let left = used(damaged.path());
        let checked = Index::open(damaged.path()).and_then(|index| index.verify());
        let error = message(checked);
        let folder = file.parent().unwrap().display().to_string();
        assert!(error.contains(&folder), "{error}");
        // A table without a list is not taken for one that was begun.
        assert_eq!(used(damaged.path()), left, "{}", file.display());
    }
}
