//! What `simgpu tune --bytes` shows: the memory, disk space and time that a deduplication will take.

use std::fmt::Write as _;
use std::io::{BufWriter, Write as _};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::{DecimalBytes, HumanCount};
use serde_json::json;
use simgpu::Error;
use simgpu::engine::Engine;
use simgpu::internals::usable_memory_bytes;
use simgpu::io::Inputs;
use simgpu::jobs::{Dedup, Outcome, Run, Search};
use simgpu::pipeline::Banding;
use simgpu::scheme::Scheme;

use super::sample::duration;
use crate::arguments::size;

/// The run to plan.
#[derive(Args, Debug)]
pub struct PlanArguments {
    /// Plan a deduplication of --documents documents with this much text in all, such as 3TB: shows the memory, disk
    /// space and time that it will take, from a small run on this machine
    #[arg(long, value_name = "SIZE", value_parser = size, requires = "documents", help_heading = "Plan")]
    pub bytes: Option<u64>,

    /// Memory of the planned run, as for `simgpu dedup` [default: 60 % of the memory that this process may use]
    #[arg(long, value_name = "SIZE", value_parser = size, help_heading = "Plan")]
    pub memory: Option<u64>,

    /// Folder for the files of the small run [default: the system's]
    #[arg(long, value_name = "DIR", help_heading = "Plan")]
    pub temp_dir: Option<PathBuf>,
}

/// Bytes of text of the small run.
const MEASURED_BYTES: u64 = 64 << 20;

/// Documents of the small run, at most and at least.
const MEASURED_DOCUMENTS: [u64; 2] = [400_000, 1_000];

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
    measured: u64,
    outcome: Outcome,
}

impl PlanArguments {
    /// Makes the small run.
    ///
    /// # Errors
    /// Those of writing and reading temporary files.
    pub fn plan(
        &self,
        documents: Option<NonZeroU64>,
        threshold: f64,
        scheme: &Scheme,
        banding: Banding,
    ) -> anyhow::Result<Option<Plan>> {
        let (Some(bytes), Some(documents)) = (self.bytes, documents) else {
            return Ok(None);
        };
        let documents = documents.get();
        let memory = self.memory.or_else(usable_memory_bytes);
        let engine = Engine::builder().scheme(scheme.clone()).build()?;
        let search = Search {
            banding,
            ..Search::new(threshold, scheme)?
        };
        let per_document = search.bytes_per_document(scheme.num_perm()) as u64 + ID + 8;
        let in_memory = documents.saturating_mul(per_document);
        let folder = match &self.temp_dir {
            Some(folder) => {
                tempfile::tempdir_in(folder).map_err(Error::io("create a folder in", folder))
            }
            None => {
                tempfile::tempdir().map_err(Error::io("create a folder in", std::env::temp_dir()))
            }
        }?;
        let length = (bytes / documents).max(1);
        let [most, least] = MEASURED_DOCUMENTS;
        let measured = (MEASURED_BYTES / length).clamp(least, most);
        let input = folder.path().join("documents.jsonl");
        write_documents(&input, measured, length).map_err(Error::io("write", &input))?;
        let inputs = Inputs::find(&[input], None)?;
        let is_on_disk = memory.is_some_and(|memory| in_memory > memory / 2);
        let run = Run::new(&engine, &inputs).memory(match is_on_disk {
            // Too little for its documents.
            true => measured * per_document,
            false => u64::MAX,
        });
        let outcome = run.dedup(&Dedup::new(search), &folder.path().join("results"))?;
        Ok(Some(Plan {
            documents,
            bytes,
            memory: memory.filter(|_| is_on_disk),
            in_memory,
            bands: banding.bands() as u64,
            measured,
            outcome,
        }))
    }
}

/// Writes documents of words, of about `length` bytes each.
fn write_documents(path: &Path, documents: u64, length: u64) -> std::io::Result<()> {
    let mut file = BufWriter::new(std::fs::File::create(path)?);
    let (mut random, mut words) = (Random(1), Vec::new());
    for id in 0..documents {
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
        writeln!(file, "{}", json!({"id": id, "text": words.join(" ")}))?;
    }
    file.flush()
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
        let documents = self.documents;
        writeln!(page)?;
        writeln!(
            page,
            "plan to deduplicate {} documents with {} of text, {} threads",
            HumanCount(documents),
            DecimalBytes(self.bytes),
            rayon::current_num_threads()
        )?;
        writeln!(page)?;
        match self.memory {
            None => writeln!(
                page,
                "      memory  {}, without going on on disk",
                DecimalBytes(self.in_memory + FIXED_MEMORY)
            )?,
            Some(memory) => {
                // Components: four bytes each, and three bits.
                let components = 4 * documents + documents / 8 * 3;
                writeln!(
                    page,
                    "      memory  {}: --memory {}, and 4.4 bytes per document; in memory alone, {}",
                    DecimalBytes(memory + components + FIXED_MEMORY),
                    DecimalBytes(memory),
                    DecimalBytes(self.in_memory)
                )?;
                // Keys with rows, two digests with rows, the length, and the id.
                let per_document = 12 * self.bands + 2 * 20 + 4 + ID;
                writeln!(
                    page,
                    "  disk space  {} for temporary files, {per_document} bytes per document",
                    DecimalBytes(documents.saturating_mul(per_document))
                )?;
            }
        }
        let scale = documents as f64 / self.measured as f64;
        writeln!(
            page,
            "        time  {}",
            duration(self.outcome.elapsed_s * scale)
        )?;
        for time in self.outcome.timings.0.iter().filter(|time| !time.is_part) {
            let expected_s = time.elapsed_s * scale;
            if expected_s >= 0.01 * self.outcome.elapsed_s * scale {
                writeln!(
                    page,
                    "              {:<11} {}",
                    time.stage,
                    duration(expected_s)
                )?;
            }
        }
        let counts = &self.outcome.report.counts;
        writeln!(
            page,
            "  candidates  {} pairs to compare, if {COPIES} of 10 documents are edited copies",
            HumanCount(whole(counts.candidate_pairs as f64 * scale))
        )?;
        writeln!(page)?;
        writeln!(
            page,
            "Measured here on {} made-up documents of that length, {COPIES} of 10 of them edited copies, in {:.1} s. The\n\
             system kept their files in memory: if its disk reads or writes less than {}/s, expect more.",
            HumanCount(self.measured),
            self.outcome.elapsed_s,
            DecimalBytes(self.disk_rate())
        )
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
        whole(bytes as f64 / self.outcome.elapsed_s.max(1e-3))
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates, and no number here is negative"
)]
fn whole(number: f64) -> u64 {
    number.round() as u64
}
