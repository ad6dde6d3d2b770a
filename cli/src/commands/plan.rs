//! What `simgpu tune --bytes` shows: the memory, disk space and time that a deduplication will take.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::num::NonZeroU64;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::{DecimalBytes, HumanCount};
use serde_json::json;
use simgpu::Error;
use simgpu::engine::Engine;
use simgpu::machine::{free_bytes, usable_memory_bytes};
use simgpu::progress::{Progress, advance};
use simgpu::scheme::Scheme;
use simgpu::search::{Dedup, Search};
use simgpu_files::{Outcome, Run, RunOptions};
use simgpu_io::Inputs;
use tempfile::TempDir;

use super::sample::{SampledCandidates, about, duration};
use crate::arguments::{memory_size, size};
use crate::{Usage, usage};

/// The run to plan.
#[derive(Args, Debug)]
pub struct PlanArguments {
    /// Plan a deduplication of --documents documents with this much text in all, such as 3TB: shows the memory, disk
    /// space and time that it will take, from a small run on this machine
    #[arg(long, value_name = "SIZE", value_parser = size, requires = "documents", help_heading = "Plan")]
    pub bytes: Option<u64>,

    /// Memory of the planned run, as for `simgpu dedup` [default: 60 % of the memory that this process may use]
    #[arg(long, value_name = "SIZE", value_parser = memory_size, help_heading = "Plan")]
    pub memory: Option<u64>,

    /// Folder for the files of the small run [default: the system's]
    #[arg(long, value_name = "DIR", help_heading = "Plan")]
    pub temp_dir: Option<PathBuf>,
}

/// Most documents that a deduplication takes: the limit of [`Error::TooManyDocuments`].
const MOST_DOCUMENTS: u64 = u32::MAX as u64 - 1;

/// Most bytes that the small run writes: documents, results and temporary files.
const MOST_WRITTEN: u64 = 64_000_000;

/// Most documents of the small run.
const MOST_MEASURED: u64 = 400_000;

/// Least documents of the small run, if the plan has as many: some of them are copies.
const LEAST_MEASURED: u64 = 10;

/// Most bytes of a line beside the text of `length` bytes: its id, and the end of the last word.
const LINE: u64 = 64;

/// Most bytes of the line of a removed document.
const REMOVED: u64 = 160;

/// Most bytes of the reports of the small run.
const REPORTS: u64 = 40_000;

/// Of ten made-up documents, those that are edited copies of others.
const COPIES: u64 = 3;

/// Bytes of memory of a run beside what grows with the documents: input being read and written.
const FIXED_MEMORY: u64 = 150_000_000;

/// Bytes of an id, about.
const ID: u64 = 12;

/// A planned run, and the small run that it is planned from.
#[derive(Debug)]
pub struct Plan {
    documents: u64,
    bytes: u64,
    memory: Option<u64>,
    in_memory: u64,
    bands: u64,
    measured: Measured,
    outcome: Outcome,
    sampled: Option<SampledCandidates>,
}

/// The run to plan.
#[derive(Debug)]
pub struct PlannedRun<'a> {
    /// The number of documents to deduplicate, if known.
    pub documents: Option<NonZeroU64>,
    /// What similar documents are, and how they are found.
    pub search: Search,
    /// The scheme of the signatures.
    pub scheme: &'a Scheme,
    /// What a sample of the documents leads to expect, if there is one.
    pub sampled: Option<SampledCandidates>,
}

/// The documents of the small run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Measured {
    documents: u64,
    /// Bytes of text of each, about.
    length: u64,
    /// The same in the planned run.
    planned_length: u64,
}

impl Measured {
    /// As many documents as the small run may write, of the planned length if that leaves [`LEAST_MEASURED`]; `None` if even
    /// the shortest documents are too many bytes. `on_disk` is the bytes of temporary files per document.
    fn within(bytes: u64, documents: u64, on_disk: u64) -> Option<Self> {
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
    fn scale(&self, documents: u64) -> f64 {
        let longer = self.planned_length as f64 / self.length as f64;
        documents as f64 / self.documents as f64 * longer
    }
}

impl PlanArguments {
    /// Refuses what no run takes, and a plan for less than a small run writes.
    ///
    /// # Errors
    /// A usage error.
    pub fn check(&self, documents: Option<u64>) -> anyhow::Result<()> {
        match (self.bytes, documents) {
            (Some(_), Some(0)) => Err(Usage::error(
                "`documents` is 0, and a plan needs some; give the number of documents to deduplicate",
            )),
            (Some(_), Some(documents)) if documents > MOST_DOCUMENTS => {
                Err(usage(Error::TooManyDocuments))
            }
            _ => Ok(()),
        }
    }

    /// Makes the small run, and plans the large one from it. `None` if the number of documents or bytes is unknown.
    ///
    /// # Errors
    /// A usage error for too few bytes; those of writing and reading temporary files; [`Error::Stopped`].
    pub fn plan(
        &self,
        planned: PlannedRun<'_>,
        progress: &dyn Progress,
    ) -> anyhow::Result<Option<Plan>> {
        let PlannedRun { search, scheme, .. } = planned;
        let (Some(bytes), Some(documents)) = (self.bytes, planned.documents) else {
            return Ok(None);
        };
        let documents = documents.get();
        let memory = self.memory.or_else(usable_memory_bytes);
        let engine = Engine::builder().scheme(scheme.clone()).build()?;
        let bands = search.banding.bands() as u64;
        let per_document = search.bytes_per_document(scheme.num_perm()) as u64 + ID + 8;
        let in_memory = documents * per_document;
        let is_on_disk = memory.is_some_and(|memory| in_memory > memory / 2);
        let on_disk = if is_on_disk { spilled_bytes(bands) } else { 0 };
        let Some(measured) = Measured::within(bytes, documents, on_disk) else {
            return Err(Usage::error(
                "`bytes` is so small that the run takes less than a second; run `simgpu dedup` itself, or give the size of all documents",
            ));
        };
        let folder = self.folder()?;
        check_space(folder.path(), bytes.min(MOST_WRITTEN))?;
        let input = folder.path().join("documents.jsonl");
        write_documents(&input, measured, progress)?;
        let inputs = Inputs::find(&[input], None)?;
        let drawn = Drawn(progress);
        let run = Run::new(&engine, &inputs).options(RunOptions {
            progress: &drawn,
            ..RunOptions::default()
        });
        let run = run.memory(if is_on_disk {
            // Too little for its documents.
            measured.documents * per_document
        } else {
            u64::MAX
        });
        let outcome = run.dedup(&Dedup::new(search), &folder.path().join("results"));
        Ok(Some(Plan {
            documents,
            bytes,
            memory: memory.filter(|_| is_on_disk),
            in_memory,
            bands,
            measured,
            // Nothing goes on in a folder that is removed.
            outcome: outcome.map_err(|error| match error {
                Error::Resumable { error, .. } => *error,
                error => error,
            })?,
            sampled: planned.sampled,
        }))
    }

    /// A folder for the small run, removed on drop.
    fn folder(&self) -> simgpu::Result<TempDir> {
        match &self.temp_dir {
            Some(folder) => {
                tempfile::tempdir_in(folder).map_err(Error::io("create a folder in", folder))
            }
            None => {
                tempfile::tempdir().map_err(Error::io("create a folder in", std::env::temp_dir()))
            }
        }
    }
}

/// Draws the stages of the small run, and keeps its messages back: they are about made-up documents.
struct Drawn<'a>(&'a dyn Progress);

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
fn spilled_bytes(bands: u64) -> u64 {
    12 * bands + 2 * 20 + 4 + ID
}

/// Refuses a folder without room for what the small run writes.
fn check_space(folder: &Path, needed: u64) -> simgpu::Result<()> {
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
fn write_documents(path: &Path, measured: Measured, progress: &dyn Progress) -> simgpu::Result<()> {
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

impl Plan {
    /// Memory, disk space, time and candidates.
    ///
    /// # Errors
    /// None that can occur.
    pub fn write(&self, page: &mut String) -> std::fmt::Result {
        writeln!(page)?;
        writeln!(
            page,
            "plan to deduplicate {} documents with {} of text, {} threads",
            HumanCount(self.documents),
            DecimalBytes(self.bytes),
            rayon::current_num_threads()
        )?;
        writeln!(page)?;
        self.write_space(page)?;
        self.write_times(page)?;
        self.write_candidates(page)?;
        writeln!(page)?;
        self.write_basis(page)
    }

    /// Memory, and disk space if a run goes on on disk.
    fn write_space(&self, page: &mut String) -> std::fmt::Result {
        let documents = self.documents;
        let Some(memory) = self.memory else {
            return writeln!(
                page,
                "      memory  {}, without going on on disk",
                DecimalBytes(self.in_memory + FIXED_MEMORY)
            );
        };
        // Components: four bytes each, and three bits.
        let components = 4 * documents + documents / 8 * 3;
        writeln!(
            page,
            "      memory  {}: --memory {}, and 4.4 bytes per document; in memory alone, {}",
            DecimalBytes(memory + components + FIXED_MEMORY),
            DecimalBytes(memory),
            DecimalBytes(self.in_memory)
        )?;
        let per_document = spilled_bytes(self.bands);
        writeln!(
            page,
            "  disk space  {} for temporary files, {per_document} bytes per document",
            DecimalBytes(documents * per_document)
        )
    }

    /// Time in all, and that of each stage that takes a hundredth of it.
    fn write_times(&self, page: &mut String) -> std::fmt::Result {
        let times = self.times(self.measured.scale(self.documents));
        let total: f64 = times.iter().map(|(_, expected_s)| expected_s).sum();
        writeln!(page, "        time  {}", duration(total))?;
        for (stage, expected_s) in times {
            if expected_s >= 0.01 * total {
                writeln!(page, "              {:<11} {}", stage, duration(expected_s))?;
            }
        }
        Ok(())
    }

    fn write_candidates(&self, page: &mut String) -> std::fmt::Result {
        let candidates = about(self.candidates(self.documents));
        match self.sampled {
            Some(SampledCandidates { size, .. }) => writeln!(
                page,
                "  candidates  {candidates} pairs to compare at --size {size}, as in the sample"
            ),
            None => writeln!(
                page,
                "  candidates  {candidates} pairs to compare, if {COPIES} of 10 documents are edited copies and the others share no\n\
                 \u{20}             shingle; --sample estimates them from documents like those to search"
            ),
        }
    }

    /// What was measured for it.
    fn write_basis(&self, page: &mut String) -> std::fmt::Result {
        let length = match self.measured {
            Measured {
                length,
                planned_length,
                ..
            } if length < planned_length => {
                format!("{}, shorter than those planned", DecimalBytes(length))
            }
            _ => "that length".to_owned(),
        };
        writeln!(
            page,
            "Measured here on {} made-up documents of {length}, {COPIES} of 10 of them edited copies, in {:.1} s. The\n\
             system kept their files in memory: if its disk reads or writes less than {}/s, expect more.",
            HumanCount(self.measured.documents),
            self.outcome.elapsed_s,
            DecimalBytes(self.disk_rate())
        )
    }

    /// Pairs to compare: those that the sample leads to expect, or those of the small run for each of its documents.
    fn candidates(&self, documents: u64) -> f64 {
        let made_up = self.outcome.report.counts.candidate_pairs as f64;
        let scaled = made_up * documents as f64 / self.measured.documents as f64;
        self.sampled.map_or(scaled, |sampled| sampled.pairs)
    }

    /// The time of each stage. Comparisons take as long as in the small run, pair by pair and byte by byte.
    fn times(&self, scale: f64) -> Vec<(&'static str, f64)> {
        let made_up = self.outcome.report.counts.candidate_pairs as f64;
        let per_made_up = if made_up > 0.0 {
            self.candidates(self.documents) / made_up
        } else {
            0.0
        };
        let of_compare =
            per_made_up * scale * self.measured.documents as f64 / self.documents as f64;
        let stages = self.outcome.timings.0.iter().filter(|time| !time.is_part);
        let times = stages.map(|time| match (time.stage, self.sampled) {
            ("compare", Some(_)) => (time.stage, time.elapsed_s * of_compare),
            _ => (time.stage, time.elapsed_s * scale),
        });
        times.collect()
    }

    /// Bytes per second that the planned run reads and writes, input and results included.
    fn disk_rate(&self) -> u64 {
        let stages = self.outcome.timings.0.iter();
        let on_disk = stages.filter_map(|time| time.on_disk);
        let temporary: u64 = on_disk
            .map(|on_disk| on_disk.read_bytes + on_disk.written_bytes)
            .sum();
        // The input is read for signing, for verification and for writing, and most of it is kept.
        let bytes = temporary + 4 * self.outcome.report.counts.bytes;
        let rate = bytes as f64 / self.outcome.elapsed_s.max(1e-3);
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a thousand times the bytes of the small run, at most"
        )]
        let rate = rate.round() as u64;
        rate
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
                let of_document = 2 * (measured.length + LINE) + REMOVED + on_disk;
                let written = measured.documents * of_document + REPORTS;
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
