use std::io;

use super::progress::Done;
use super::*;
use crate::run::check_compression_level;
use crate::tests::{Place, Watched, engine, place, skipping, task, watched_by};
use crate::{Run, RunOptions};
use simgpu_io::Compression;

#[test]
fn files_may_be_complete_in_any_order() {
    let mut done = Done {
        written: Written::default(),
        later: BTreeMap::new(),
    };
    let name = |name: &str| Some(name.to_owned());
    done.add(2, 5, name("c"));
    done.add(1, 0, None);
    assert_eq!((done.written.inputs, done.written.records), (0, 0));
    done.add(0, 3, name("a"));
    assert_eq!((done.written.inputs, done.written.records), (3, 8));
    done.add(3, 1, name("d"));
    assert_eq!((done.written.inputs, done.written.records), (4, 9));
    assert!(done.written.names.iter().eq(["a", "c", "d"]) && done.later.is_empty());
}

/// Takes some bytes, and then no more.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.min(bytes.len()) {
            0 => Err(io::ErrorKind::StorageFull.into()),
            taken => {
                self.0 -= taken;
                Ok(taken)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn stream(place: &Place, target: &mut (dyn Write + Send)) -> Result<u64> {
    let engine = engine();
    let temporary = &place.path("in");
    let output = DedupOutput::Stream { target, temporary };
    let inputs = place.inputs();
    let outcome = skipping(&engine, &inputs).dedup(&task(&engine), output)?;
    Ok(outcome.report.counts.kept)
}

#[test]
fn a_stream_gets_the_kept_records_or_an_error() {
    let (place, engine) = (place(), engine());
    let inputs = place.inputs();
    let run = skipping(&engine, &inputs);
    run.dedup(&task(&engine), &place.path("out")).unwrap();
    let files = ["kept/a.jsonl", "kept/d.jsonl"].map(|file| place.text(&format!("out/{file}")));
    let mut streamed = Vec::new();
    let kept = stream(&place, &mut streamed).unwrap();
    assert_eq!(streamed, files.concat().into_bytes());
    assert_eq!(kept, files.concat().lines().count() as u64);
    for room in [0, 100, streamed.len() - 1] {
        let failed = stream(&place, &mut Full(room)).unwrap_err();
        assert!(failed.to_string().contains(STDOUT), "{failed}");
    }
    assert!(stream(&place, &mut Full(streamed.len())).is_ok());
}

#[test]
fn a_stream_takes_json_lines_alone() {
    let place = place();
    place.write("in/e.txt", "a text");
    let refused = stream(&place, &mut Vec::new()).unwrap_err().to_string();
    assert!(refused.contains("e.txt is not JSON Lines"), "{refused}");
}

#[test]
fn a_kept_file_that_cannot_be_written_is_an_error() {
    let (place, engine) = (place(), engine());
    let inputs = place.inputs();
    let blocked = place.path("out/.partial/kept/d.jsonl");
    let block = || std::fs::create_dir_all(&blocked).unwrap();
    let told = Watched::at("write", 0, &block);
    let run = Run {
        options: watched_by(&told),
        ..skipping(&engine, &inputs)
    };
    let failed = run.dedup(&task(&engine), &place.path("out")).unwrap_err();
    assert!(failed.to_string().contains("d.jsonl"), "{failed}");
    assert!(!place.path("out/report.json").exists());
}

#[test]
fn levels_need_a_compressed_output() {
    let (place, engine) = (place(), engine());
    let inputs = place.inputs();
    let run = Run {
        options: RunOptions {
            compression_level: Some(3),
            ..RunOptions::default()
        },
        ..skipping(&engine, &inputs)
    };
    let refused = run.dedup(&task(&engine), &place.path("out")).unwrap_err();
    assert!(
        refused.to_string().contains("`compression_level`"),
        "{refused}"
    );
    let of = |level, outputs: &[Compression]| {
        check_compression_level(level, outputs.iter().copied()).is_ok()
    };
    assert!(of(None, &[]) && of(Some(9), &[Compression::None, Compression::Gzip]));
    assert!(!of(Some(9), &[Compression::None]) && !of(Some(10), &[Compression::Gzip]));
}
