//! The small run that a plan is made from: its size, its made-up documents, and the room that it needs.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::ops::ControlFlow;
use std::path::Path;

use indicatif::DecimalBytes;
use serde_json::json;
use simgpu::Error;
use simgpu::machine::free_bytes;
use simgpu::progress::{Progress, advance};

/// Most documents that a deduplication takes: the limit of [`Error::TooManyDocuments`].
pub(super) const MOST_DOCUMENTS: u64 = u32::MAX as u64 - 1;

/// Most bytes that the small run writes: documents, results and temporary files.
pub(super) const MOST_WRITTEN: u64 = 64_000_000;

/// Most documents of the small run.
const MOST_MEASURED: u64 = 400_000;

/// Least documents of the small run, if the plan has as many: some of them are copies.
const LEAST_MEASURED: u64 = 10;

/// Most bytes of a line beside the text of `length` bytes: its id, and the end of the last word.
pub(super) const LINE: u64 = 64;

/// Most bytes of the line of a removed document.
pub(super) const REMOVED: u64 = 160;

/// Most bytes of the reports of the small run.
pub(super) const REPORTS: u64 = 40_000;

/// Of ten made-up documents, those that are edited copies of others.
pub(super) const COPIES: u64 = 3;

/// Bytes of an id, about.
pub(super) const ID: u64 = 12;

/// The documents of the small run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Measured {
    pub(super) documents: u64,
    /// Bytes of text of each, about.
    pub(super) length: u64,
    /// The same in the planned run.
    pub(super) planned_length: u64,
}

impl Measured {
    /// As many documents as the small run may write, of the planned length if that leaves [`LEAST_MEASURED`]; `None` if even
    /// the shortest documents are too many bytes. `on_disk` is the bytes of temporary files per document.
    pub(super) fn within(bytes: u64, documents: u64, on_disk: u64) -> Option<Self> {
        let planned_length = (bytes / documents).max(1);
        let room = bytes.min(MOST_WRITTEN).checked_sub(REPORTS)?;
        // Every line is written once as input, and once more if it is kept.
        let beside_text = 2 * LINE + REMOVED + on_disk;
        let least = documents.min(LEAST_MEASURED);
        let longest = (room / least).checked_sub(beside_text)? / 2;
        let length = planned_length.min(longest);
        let most = room / (2 * length + beside_text);
        (length > 0).then_some(Measured {
            documents: most.min(documents).min(MOST_MEASURED),
            length,
            planned_length,
        })
    }

    /// The planned run over the small one: documents, or bytes of text if the small run has shorter documents.
    pub(super) fn scale(&self, documents: u64) -> f64 {
        let longer = self.planned_length as f64 / self.length as f64;
        documents as f64 / self.documents as f64 * longer
    }
}

/// Draws the stages of the small run, and keeps its messages back: they are about made-up documents.
pub(super) struct Drawn<'a>(pub(super) &'a dyn Progress);

impl Progress for Drawn<'_> {
    fn begin(&self, stage: &'static str, total: u64) {
        self.0.begin(stage, total);
    }

    fn advance(&self, done: u64, documents: u64, bytes: u64) -> ControlFlow<()> {
        self.0.advance(done, documents, bytes)
    }

    fn is_stopped(&self) -> bool {
        self.0.is_stopped()
    }
}

/// Bytes of temporary files per document: keys with rows, two digests with rows, the length, and the id.
pub(super) fn spilled_bytes(bands: u64) -> u64 {
    12 * bands + 2 * 20 + 4 + ID
}

/// Refuses a folder without room for what the small run writes.
pub(super) fn check_space(folder: &Path, needed: u64) -> simgpu::Result<()> {
    match free_bytes(folder) {
        Some(free) if free < needed => Err(Error::Output {
            path: folder.parent().unwrap_or(folder).to_owned(),
            problem: format!(
                "the small run of the plan writes up to {}, and there are {} free",
                DecimalBytes(needed),
                DecimalBytes(free)
            ),
            remedy: "free some space, or name another folder by `temp_dir`".to_owned(),
        }),
        _ => Ok(()),
    }
}

/// Documents made between two looks at whether to stop.
const BETWEEN_LOOKS: u64 = 64;

/// Writes documents of words.
pub(super) fn write_documents(
    path: &Path,
    measured: Measured,
    progress: &dyn Progress,
) -> simgpu::Result<()> {
    let io = || Error::io("write", path);
    let mut file = BufWriter::new(File::create(path).map_err(io())?);
    let (mut random, mut words) = (Random(1), Vec::new());
    let Measured {
        documents, length, ..
    } = measured;
    progress.begin("make up", documents);
    for id in 0..documents {
        if id % BETWEEN_LOOKS == 0 {
            advance(progress, id, 0, 0)?;
        }
        if id % 10 < 10 - COPIES {
            words.clear();
            let mut bytes = 0;
            while bytes < length {
                let word = random.word();
                bytes += word.len() as u64 + 1;
                words.push(word);
            }
        } else {
            let at = random.next() % words.len() as u64;
            words[usize::try_from(at).unwrap_or(0)] = random.word();
        }
        writeln!(file, "{}", json!({"id": id, "text": words.join(" ")})).map_err(io())?;
    }
    file.flush().map_err(io())
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    /// A word of 1 to 4 syllables; short words are frequent.
    fn word(&mut self) -> String {
        const SYLLABLES: [&str; 16] = [
            "ka", "to", "mi", "ren", "sol", "da", "ver", "lin", "pa", "tra", "o", "que", "ti",
            "mon", "el", "fu",
        ];
        let drawn = self.next();
        let syllables =
            1 + (drawn >> 60 > 3) as u64 + (drawn >> 60 > 9) as u64 + (drawn >> 60 > 13) as u64;
        let syllable = |i| SYLLABLES[usize::try_from(drawn >> (4 * i) & 15).unwrap_or(0)];
        (0..syllables).map(syllable).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_small_run_stays_within_its_room() {
        for (bytes, documents) in [
            (100_000_000_000, 1_000),
            (3_000_000_000_000, 1_000_000_000),
            (3_000_000_000_000, 3),
            (20_000_000, 20_000),
            (1_000_000, 1),
            (60_000, 50_000),
            (u64::MAX, 1),
            (u64::MAX, MOST_DOCUMENTS),
            (1 << 40, MOST_DOCUMENTS),
        ] {
            for on_disk in [0, 248, 4_000] {
                let Some(measured) = Measured::within(bytes, documents, on_disk) else {
                    assert!(bytes < 100_000, "{bytes} {documents} {on_disk}");
                    continue;
                };
                let document_bytes = 2 * (measured.length + LINE) + REMOVED + on_disk;
                let written = measured.documents * document_bytes + REPORTS;
                assert!(
                    written <= bytes.min(MOST_WRITTEN),
                    "{measured:?}: {written}"
                );
                assert!(
                    (1..=documents).contains(&measured.documents),
                    "{measured:?}"
                );
                assert!(measured.length > 0 && measured.length <= measured.planned_length);
                assert!(measured.scale(documents).is_finite());
            }
        }
        assert_eq!(Measured::within(1_000, 10, 0), None);
    }

    #[test]
    fn shorter_documents_count_by_their_bytes() {
        let measured = Measured::within(100_000_000_000, 1_000, 0).unwrap();
        assert_eq!(
            (measured.documents, measured.planned_length),
            (10, 100_000_000)
        );
        let text = measured.documents as f64 * measured.length as f64;
        assert!((measured.scale(1_000) * text / 1e11 - 1.0).abs() < 1e-9);
    }
}
