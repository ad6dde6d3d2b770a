//! Stops a run over files half way: it leaves no results. The same run without a stop completes.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use simgpu::engine::Engine;
use simgpu::progress::Progress;
use simgpu::search::{Dedup, Search};
use simgpu_files::{Run, RunOptions};
use simgpu_io::Inputs;

const DOCUMENTS: u64 = 4000;

/// Stops a run once half of the documents are read, and keeps their number.
#[derive(Default)]
struct StopHalfWay {
    read: AtomicU64,
}

impl Progress for StopHalfWay {
    fn advance(&self, _done: u64, documents: u64, _bytes: u64) -> ControlFlow<()> {
        self.read.store(documents, Ordering::Relaxed);
        if documents < DOCUMENTS / 2 {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }
}

/// Writes made-up documents as JSON Lines. Every fourth is the one before it with a word more.
fn write_documents(path: &Path) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    for id in 0..DOCUMENTS {
        let (number, end) = if id % 4 == 3 {
            (id - 1, " Copied.")
        } else {
            (id, "")
        };
        let text: Vec<String> = (0..40)
            .map(|line| format!("Line {line} of document {number} says {}.", number * line))
            .collect();
        writeln!(
            file,
            r#"{{"id": "{id}", "text": "{}{end}"}}"#,
            text.join(" ")
        )?;
    }
    file.flush()
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("simgpu-stop-half-way-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let documents = folder.join("documents.jsonl");
    write_documents(&documents)?;

    let engine = Engine::builder().build()?;
    let inputs = Inputs::find(&[documents], None)?;
    let task = Dedup::new(Search::new(0.8, engine.scheme())?);
    let out = folder.join("out");

    // With small batches the count of documents grows in small steps, and the run can stop half way.
    let progress = StopHalfWay::default();
    let stopped = Run {
        batch_bytes: 64 << 10,
        options: RunOptions {
            progress: &progress,
            ..RunOptions::default()
        },
        ..Run::new(&engine, &inputs)
    }
    .dedup(&task, &out);
    let read = progress.read.into_inner();
    match &stopped {
        Err(error) => println!("after {read} of {DOCUMENTS} documents: {error}"),
        Ok(_) => println!("the run was not stopped"),
    }
    assert!(matches!(stopped, Err(simgpu::Error::Stopped)));
    assert!((DOCUMENTS / 2..DOCUMENTS).contains(&read));

    // Only the input is in the folder: there is neither an output folder nor a temporary file.
    let left: Vec<_> = fs::read_dir(&folder)?
        .map(|entry| Ok(entry?.file_name()))
        .collect::<io::Result<_>>()?;
    println!("files left: {left:?}");
    assert_eq!(left, ["documents.jsonl"]);

    let counts = Run::new(&engine, &inputs).dedup(&task, &out)?.report.counts;
    println!(
        "read {} documents, kept {}, removed {}",
        counts.documents, counts.kept, counts.removed
    );
    assert_eq!(
        (counts.documents, counts.kept, counts.removed),
        (DOCUMENTS, DOCUMENTS * 3 / 4, DOCUMENTS / 4)
    );
    assert!(out.join("report.json").is_file());

    fs::remove_dir_all(&folder)?;
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
