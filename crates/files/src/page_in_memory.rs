//! The page of a deduplication in memory: that of the command, without files.

use std::collections::BTreeMap;

use super::dedup::{histogram, largest};
use super::overview::Overview;
use super::page::report_page_in_memory;
use super::samples::{Sample, Sampler};
use super::sources::Sources;
use simgpu::documents::Documents;
use simgpu::error::{Error, Result, row_number};
use simgpu::search::{Deduplication, FoundRemovals};
use simgpu_io::{
    DedupParameters, DocumentIds, Parameters, Places, Report, SourceFile, json_string,
};

/// The names of the documents, and of those of a reference, where a page names files.
const NAMES: [&str; 2] = ["data", "against"];

/// A deduplication in memory, to show as a page.
#[derive(Debug)]
pub struct DeduplicationToShow<'a> {
    /// What was found.
    pub found: &'a Deduplication,
    /// The parameters of the search.
    pub parameters: Parameters,
    /// Those of the deduplication.
    pub dedup: DedupParameters,
    /// The ids of the documents as JSON, by row, without those of a reference; `None` names documents by their rows.
    pub ids: Option<Vec<String>>,
}

impl DeduplicationToShow<'_> {
    /// The page, as [`Run::dedup`](super::Run::dedup) writes it, but for sources. Shows the texts of these documents, which
    /// were deduplicated, against this reference.
    ///
    /// # Errors
    /// [`Error::Parameter`] if there are more or fewer documents or ids than were deduplicated.
    pub fn page<D: Documents + ?Sized>(
        &self,
        documents: &D,
        reference: Option<&D>,
    ) -> Result<String> {
        let found = self.found;
        let reference_rows = reference.map_or(0, D::len);
        let ids = self.ids.as_ref().map_or(documents.len(), Vec::len);
        for (name, given, expected) in [
            ("`data`", documents.len() as u64, found.counts.documents),
            ("`id`", ids as u64, found.counts.documents),
            ("`against`", reference_rows as u64, found.reference.into()),
        ] {
            if given != expected {
                return Err(Error::Parameter {
                    name,
                    value: format!("of {given} rows"),
                    expected: format!("the {expected} that were deduplicated"),
                });
            }
        }
        let places = self.places()?;
        let rows = row_number(documents.len() + reference_rows)?;
        let removals = FoundRemovals::of(found, rows);
        let overview = Overview::new(&removals, Sources::Files(&places), &places)?;
        let mut report = Report::new("dedup", found.counts.clone(), self.parameters.clone());
        report.dedup = Some(self.dedup.clone());
        report.expected_precision = found.expected_precision;
        report.cluster_sizes = histogram(&removals.sizes, found.counts.kept);
        report.largest_clusters = largest(&places, &removals.sizes)?;
        overview.describe(&mut report, &places, removals.verification_names())?;
        let shown = overview.shown();
        let mut samples = BTreeMap::new();
        for row in &shown {
            let sample = match (row.checked_sub(found.reference), reference) {
                (Some(row), _) => Sample::new(documents.get(row as usize)),
                (None, Some(reference)) => Sample::new(reference.get(*row as usize)),
                (None, None) => continue,
            };
            samples.insert(*row, sample);
        }
        let (samples, _) = Sampler::new(shown, samples).into_samples(&places)?;
        Ok(report_page_in_memory(&report, &samples))
    }

    /// Where the documents are, as if each side were a file.
    fn places(&self) -> Result<Places> {
        let found = self.found;
        let file = |name: &str, first_row: u32, records: u64| SourceFile {
            relative: name.to_owned(),
            first_row,
            records,
            fingerprint: None,
        };
        let reference_files = usize::from(found.counts.reference.is_some());
        let [data, against] = NAMES;
        let mut files = vec![file(data, found.reference, found.counts.documents)];
        if reference_files > 0 {
            files.insert(0, file(against, 0, found.reference.into()));
        }
        let mut ids = DocumentIds::default();
        for row in 0..found.reference {
            ids.push(&json_string(&format!("{against}:{row}")))?;
        }
        match &self.ids {
            Some(own) => own.iter().try_for_each(|id| ids.push(id))?,
            None => {
                let mut rows = 0..found.counts.documents;
                rows.try_for_each(|row| ids.push(&row.to_string()))?;
            }
        }
        Ok(Places {
            files,
            reference_files,
            ids: Some(ids),
            ..Places::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simgpu::engine::Engine;
    use simgpu::progress::Silent;
    use simgpu::search::{Dedup, Search, dedup, dedup_against};

    fn texts(of: &str) -> Vec<String> {
        let words =
            |from: u32| -> Vec<String> { (from..from + 60).map(|i| format!("w{i}")).collect() };
        let text = |i: u32| {
            let mut words = words(100 * (i / 3));
            if of == "old" || !i.is_multiple_of(3) {
                words[20 + i as usize % 3] = format!("{of}{i}");
            }
            words.join(" ")
        };
        (0..30).map(text).collect()
    }

    fn parameters() -> Parameters {
        serde_json::from_str(
            r#"{"scheme": "affine32", "hash": "words-v1", "seed": 1, "num_perm": 128, "unit": "words", "size": 5,
            "threshold": 0.8, "candidates": "lsh", "bands": 16, "rows": 8, "verify": "exact", "recall_at_threshold": 0.9}"#,
        )
        .unwrap()
    }

    #[test]
    fn a_page_shows_what_was_found_in_memory() {
        let engine = Engine::builder().build().unwrap();
        let task = Dedup::new(Search::new(0.7, engine.scheme()).unwrap());
        let (old, new) = (texts("old"), texts("new"));
        for reference in [None, Some(&old[..])] {
            let found = match reference {
                None => dedup(&new[..], &engine, &task, &Silent),
                Some(old) => dedup_against(&new[..], old, None, &engine, &task, &Silent),
            };
            let found = found.unwrap();
            assert!(found.removed.len() > 10, "{}", found.removed.len());
            let shown = DeduplicationToShow {
                found: &found,
                parameters: parameters(),
                dedup: DedupParameters::new(&task, found.candidates),
                ids: Some((0..30).map(|i| format!("\"name {i}\"")).collect()),
            };
            let page = shown.page(&new[..], reference).unwrap();
            let title = format!("{} of 30 documents removed", found.removed.len());
            assert!(page.contains(&title), "{title}");
            assert!(
                page.contains("<mark>new") && page.contains("name 4"),
                "{page}"
            );
            assert_eq!(page.contains("<mark>old"), reference.is_some());
            assert!(!page.contains("run.json") && !page.contains("simgpu show"));
            let refused = shown.page(&new[..29], reference).unwrap_err().to_string();
            assert!(
                refused.contains("`data`") && refused.contains("30"),
                "{refused}"
            );
        }
    }
}
