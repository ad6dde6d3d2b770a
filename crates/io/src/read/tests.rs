use std::io::Write;
use std::path::PathBuf;

use super::*;
use std::num::NonZeroU64;

use crate::chunk::{Chunk, Contents};
use crate::fields::Fields;
use crate::input::Inputs;
use simgpu::documents::DocumentBatch;
use simgpu::error::{Error, Result};

#[test]
fn a_position_is_after_what_was_read() {
    let position = Position {
        file: 1,
        chunk: 3,
        records: 0,
    };
    for (file, number, is_before) in [
        (0, 9, true),
        (1, 2, true),
        (1, 3, false),
        (1, 4, false),
        (2, 0, false),
    ] {
        let chunk = Chunk {
            file,
            number,
            contents: Contents::Text(Vec::new()),
        };
        assert_eq!(position.is_after(&chunk), is_before, "{file} {number}");
    }
}

/// The documents of a file of these bytes.
fn read(name: &str, bytes: &[u8], limit: Option<u64>) -> Result<DocumentBatch> {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let inputs = Inputs::find(&[path], None)?;
    read_documents(&inputs, &Fields::default(), limit.and_then(NonZeroU64::new))
}

/// Lines of more than two chunks.
fn lines() -> String {
    let line = |i: u64| format!("{{\"text\": \"{i} {}\"}}\n", "x".repeat(1_000));
    (0..2_500).map(line).collect()
}

#[test]
fn documents_come_in_order_from_all_chunks() {
    let lines = lines();
    for limit in [None, Some(1), Some(1_500), Some(2_499), Some(9_999)] {
        let all = read("in.jsonl", lines.as_bytes(), limit).unwrap();
        let DocumentBatch::Texts(texts) = all else {
            panic!("no texts");
        };
        assert_eq!(texts.len() as u64, limit.unwrap_or(2_500).min(2_500));
        let is_text = |(i, text): (usize, &str)| text.starts_with(&format!("{i} xxx"));
        assert!(texts.iter().enumerate().all(is_text));
    }
}

#[test]
fn the_first_bad_record_is_named_by_row_and_line() {
    let text = format!("{}\n{{}}\n", lines());
    let Err(Error::BadRecord(bad)) = read("in.jsonl", text.as_bytes(), None) else {
        panic!("no bad record");
    };
    assert_eq!((bad.row, bad.line), (2_500, Some(2_502)));
    assert!(read("in.jsonl", text.as_bytes(), Some(2_500)).is_ok());
}

#[test]
fn damage_is_told_rather_than_a_bad_record() {
    // Stored blocks of gzip: damage of the text leaves them readable up to their checksum.
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    encoder.write_all(b"{\"text\": \"a\"}\n").unwrap();
    let mut bytes = encoder.finish().unwrap();
    assert!(read("in.jsonl.gz", &bytes, None).is_ok());
    let at = bytes.iter().position(|byte| *byte == b'{').unwrap();
    bytes[at] = b'(';
    let damaged = read("in.jsonl.gz", &bytes, None).unwrap_err();
    assert!(
        damaged.to_string().contains("the gzip stream is damaged"),
        "{damaged}"
    );
}
