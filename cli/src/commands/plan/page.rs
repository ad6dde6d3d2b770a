//! What a plan shows: memory, disk space, time and candidates.

use std::fmt::Write as _;

use indicatif::{DecimalBytes, HumanCount};
use simgpu_files::Outcome;

use super::small_run::{COPIES, Measured, spilled_bytes};
use crate::commands::sample::{SampledCandidates, about, duration};

/// Bytes of memory of a run beside what grows with the documents: input being read and written.
const FIXED_MEMORY: u64 = 150_000_000;

/// A planned run, and the small run that it is planned from.
#[derive(Debug)]
pub struct Plan {
    pub(super) documents: u64,
    pub(super) bytes: u64,
    pub(super) memory: Option<u64>,
    pub(super) in_memory: u64,
    pub(super) bands: u64,
    pub(super) measured: Measured,
    pub(super) outcome: Outcome,
    pub(super) sampled: Option<SampledCandidates>,
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
        let compare_share =
            per_made_up * scale * self.measured.documents as f64 / self.documents as f64;
        let stages = self.outcome.timings.0.iter().filter(|time| !time.is_part);
        let times = stages.map(|time| match (time.stage, self.sampled) {
            ("compare", Some(_)) => (time.stage, time.elapsed_s * compare_share),
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
