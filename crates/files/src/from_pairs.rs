//! Deduplicates by a file of similar pairs that an earlier run has found, without another search.
//!
//! **Documents are read for their ids and digests.** The pairs name documents by file and row, but say neither which
//! documents exist nor which are identical, and identical ones count as one: a copy goes where the first of its kind goes.
//! Up to [`Run::held_bytes`] stay in memory, so that a small corpus is read once; a larger one is read again, to copy what is
//! kept.
//!
//! **The inputs are the same** if files, records, sizes, checksums, bad records and the number of identical documents are
//! those that the report beside the pairs states, and if every pair has the ids of its documents.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroU64;

use super::pairs_file::PairsFile;
use super::run::Run;
use super::source::FileSource;
use simgpu::error::{Error, Result};
use simgpu::pipeline::ListedPairs;
use simgpu::progress::Timings;
use simgpu::search::{
    Corpus, Dedup, FoundRemovals, ListedSearch, Source, find_listed_removals, read_digests,
};
use simgpu_io::{
    InputReport, Inputs, ListedPair, OnBadRecord, SkippedRecord, for_each_listed_pair, id_text,
    odd_pair,
};

impl PairsFile {
    /// A run over the same inputs, whose documents are removed by these pairs. It has the fields and the limit of the search,
    /// skips the same bad records, and no reference. Only [`Run::dedup`] serves. Everything is in memory.
    pub fn run<'a>(&'a self, inputs: &'a Inputs) -> Run<'a> {
        Run {
            fields: self.fields(),
            on_bad_record: OnBadRecord::Skip,
            limit: self.report.parameters.limit.and_then(NonZeroU64::new),
            from_pairs: Some(self),
            ..Run::new(&self.engine, inputs)
        }
    }

    /// Reads the documents of a source, and finds those to remove by the pairs.
    #[doc(hidden)]
    pub fn find_removals(
        &self,
        source: &mut FileSource<'_>,
        task: &Dedup,
    ) -> Result<FoundRemovals> {
        self.check_task(task, source)?;
        let progress = source.run.options.progress;
        if !self.is_sealed {
            progress.warn(&format!(
                "the report of {} states no digest, so that damage to either may not show; search for pairs again to have one",
                self.path.display()
            ));
        }
        let mut timings = Timings::default();
        let mut corpus = read_digests(source, &self.engine, progress, &mut timings)?;
        let counts = &self.report.counts;
        corpus.without_shingles = counts.without_shingles;
        corpus.few_shingles = counts.few_shingles;
        self.check_inputs(source, &corpus)?;
        let bytes = std::fs::metadata(&self.path).map_or(0, |file| file.len());
        let pairs = timings.time("read pairs", bytes, || self.distinct_pairs(source, &corpus))?;
        let listed = ListedSearch {
            corpus,
            pairs,
            num_perm: self.num_perm,
            classes: source.classes(),
            timings,
        };
        let mut found = find_listed_removals(listed, task, progress)?;
        found.expected_precision = self.report.expected_precision;
        Ok(found)
    }

    /// Refuses a task that needs more than similar pairs, or other ones.
    fn check_task(&self, task: &Dedup, source: &FileSource<'_>) -> Result<()> {
        let has_reference = source.reference_files > 0 || source.run.against.is_some();
        let is_other = task.search.threshold.to_bits() != self.search.threshold.to_bits()
            || task.search.verification != self.search.verification
            || task.search.measure != self.search.measure
            || task.search.within.is_some();
        let problem = if has_reference {
            "its pairs are not those of a search with `against`"
        } else if task.short.min_shingles > 0 || task.short.drops() {
            "it does not say how many shingles a document has, which `min_shingles`, `drop_short` and `drop_empty` need"
        } else if is_other {
            "its pairs are those of another search than the deduplication asks for"
        } else {
            return Ok(());
        };
        Err(self.refused(problem.to_owned()))
    }

    /// Refuses inputs that are not those of the search.
    fn check_inputs(&self, source: &FileSource<'_>, corpus: &Corpus) -> Result<()> {
        let found = source.places.input_reports();
        let stated = &self.report.inputs;
        let reports: BTreeMap<&str, &InputReport> =
            stated.iter().map(|input| (&*input.file, input)).collect();
        let refused = |problem: String| {
            Err(self.refused(format!("its pairs are those of other inputs: {problem}")))
        };
        for input in &found {
            match reports.get(&*input.file) {
                None => return refused(format!("{} was not among them", input.file)),
                Some(before) if *before != input => {
                    return refused(format!("{} has changed", input.file));
                }
                Some(_) => {}
            }
        }
        if let Some(missing) = stated
            .iter()
            .find(|input| found.iter().all(|it| it.file != input.file))
        {
            return refused(format!("{} was among them", missing.file));
        }
        if found != *stated {
            return refused("the files came in another order".to_owned());
        }
        let skipped = source.places.skipped_records();
        let places = |records: &[SkippedRecord]| -> Vec<(String, u64)> {
            let places = records.iter().map(|bad| (bad.file.clone(), bad.row));
            places.collect()
        };
        if places(&skipped) != places(&self.report.skipped) {
            return refused("other records are bad".to_owned());
        }
        let counts = corpus.counts();
        if counts.identical != self.report.counts.identical {
            return refused(format!(
                "{} documents repeat earlier ones, and {} did",
                counts.identical, self.report.counts.identical
            ));
        }
        Ok(())
    }

    /// The pairs of distinct documents, by position.
    fn distinct_pairs(&self, source: &FileSource<'_>, corpus: &Corpus) -> Result<ListedPairs> {
        let places = &source.places;
        let names = places.files.iter().zip(0..);
        let numbers: HashMap<&str, usize> = names.map(|(file, at)| (&*file.relative, at)).collect();
        let positions = corpus.positions();
        let mut left = self.memory_left(source, corpus)?;
        let mut pairs = ListedPairs::default();
        let mut add = |record: u64, pair: ListedPair| {
            let mut pair_positions = [u32::MAX; 2];
            for (side, position) in pair_positions.iter_mut().enumerate() {
                let (file, row) = (&pair.files[side], pair.rows[side]);
                let odd = |problem: &str| {
                    odd_pair(&self.path, record, &format!("{file}, row {row}: {problem}"))
                };
                let file = numbers.get(&**file);
                let row = file.and_then(|file| places.row_of(*file, row));
                let row = row.ok_or_else(|| odd("there is no such document"))?;
                if id_text(&places.raw_id(row)?) != pair.ids[side] {
                    return Err(odd("the document has another id"));
                }
                *position = positions[row as usize];
            }
            // Pairs of copies say nothing new.
            if pair_positions.contains(&u32::MAX) {
                return Ok(());
            }
            left = left
                .checked_sub(ListedPairs::BYTES)
                .ok_or_else(|| self.too_large(source))?;
            pairs.push(pair_positions, pair.similarity);
            Ok(())
        };
        let progress = source.run.options.progress;
        let listed = for_each_listed_pair(&self.path, &source.temporary, progress, &mut add)?;
        if listed == self.report.counts.similar_pairs {
            Ok(pairs)
        } else {
            Err(self.refused(format!(
                "it has {listed} pairs, and its report states {}",
                self.report.counts.similar_pairs
            )))
        }
    }

    /// Bytes of memory that the pairs may take.
    fn memory_left(&self, source: &FileSource<'_>, corpus: &Corpus) -> Result<u64> {
        /// Of a document: its row, length and position, its rank and class, and the digest, which is gone by now.
        const DOCUMENT: u64 = 64;
        let Some(memory) = source.run.memory_bytes() else {
            return Ok(u64::MAX);
        };
        let held = source.held_bytes() + DOCUMENT * corpus.documents();
        memory
            .checked_sub(held)
            .ok_or_else(|| self.too_large(source))
    }

    fn too_large(&self, source: &FileSource<'_>) -> Error {
        let bytes = source.run.memory_bytes().unwrap_or_default();
        let problem = "its documents and pairs need more memory than this run may take";
        self.refused(format!(
            "{problem}, {bytes} bytes, and only a search goes on on disk"
        ))
    }
}

#[cfg(test)]
mod tests;
