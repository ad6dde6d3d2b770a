//! What a report says of the removed documents: how similar they are, and which of them to look at.
//!
//! One pass over the removed documents, by ascending row. The examples follow from rows and similarities alone, so that
//! they are the same in every run.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::value::RawValue;

use super::lowest::{Lowest, at_random};
use super::sources::{SourceCounts, Sources, removes_many, unusual};
use simgpu::error::{Error, Result};
use simgpu::pipeline::{Removal, VerificationNames};
use simgpu::progress::Counts;
use simgpu::search::{FoundRemovals, Removals};
use simgpu_io::{
    Example, ExampleDocument, Places, Report, SimilarityBin, SourceReport, Unusual, id_text,
};

/// Examples of a kind, at most.
pub(super) const SHOWN: usize = 8;

/// Examples of each of the largest clusters, at most.
const SHOWN_OF_CLUSTER: usize = 2;

/// What one pass over the removed documents finds.
pub(super) struct Overview {
    /// Whether a document is kept, by row.
    pub(super) is_kept: Vec<bool>,
    /// The number of removed documents by similarity, in hundredths.
    histogram: BTreeMap<u8, u64>,
    examples: Vec<(&'static str, Removal)>,
    sources: Vec<SourceReport>,
    /// The kept documents of the largest clusters.
    largest: Vec<u32>,
    /// [`ClusterSizes::most_for_reference`](simgpu::search::ClusterSizes::most_for_reference).
    most_for_reference: Option<(u64, u32)>,
    /// The number of documents that are removed for one of an index.
    for_indexes: u64,
}

impl Overview {
    pub(super) fn new(
        found: &FoundRemovals,
        sources: Sources<'_>,
        places: &Places,
    ) -> Result<Self> {
        let mut passing = Passing::new(found, sources, places);
        match &found.removals {
            Removals::Held(removals) => removals.iter().for_each(|removal| passing.add(removal)),
            Removals::Spilled(removals) => {
                for removal in removals.rows() {
                    passing.add(&removal?);
                }
            }
        }
        for (row, _) in found.dropped.iter() {
            passing.is_kept[row as usize] = false;
            passing.sources.drop(row);
        }
        Ok(passing.end())
    }

    /// Counts the documents that are removed for one of an index apart from those that are removed for a reference.
    pub(super) fn count_for_indexes(&self, counts: &mut Counts, places: &Places) {
        if places.indexes.is_empty() {
            return;
        }
        counts.removed_for_index = Some(self.for_indexes);
        let reference = counts.removed_for_reference.take();
        let has_files = places.reference_files > places.indexes.len();
        counts.removed_for_reference = reference
            .filter(|_| has_files)
            .map(|removed| removed - self.for_indexes);
    }

    /// The documents whose texts are shown.
    pub(super) fn shown(&self) -> Vec<u32> {
        let examples = self.examples.iter();
        let pairs = examples.flat_map(|(_, removal)| [removal.document, *removal.next()]);
        pairs.chain(self.largest.iter().copied()).collect()
    }

    /// Adds what was found to a report.
    pub(super) fn describe(
        &self,
        report: &mut Report,
        places: &Places,
        verification: VerificationNames,
    ) -> Result<()> {
        let via = |removal: &Removal| removal.via.map(|(via, _)| via);
        let examples = self.examples.iter();
        let rows: BTreeSet<u32> = examples
            .flat_map(|(_, removal)| [Some(removal.document), Some(removal.kept), via(removal)])
            .flatten()
            .collect();
        let ids = places.ids_of(&rows)?;
        let examples = self.examples.iter().map(|(why, removal)| {
            Ok(Example {
                why,
                removed: placed(removal.document, &ids, places)?,
                kept: placed(removal.kept, &ids, places)?,
                similarity: removal.similarity,
                lost: removal.lost(),
                found_by: removal
                    .found_by(verification.with_document(places.is_in_index(*removal.next()))),
                via: via(removal)
                    .map(|via| placed(via, &ids, places))
                    .transpose()?,
                via_similarity: removal.via.and_then(|(_, similarity)| similarity),
            })
        });
        report.examples = examples.collect::<Result<_>>()?;
        report.histogram = SimilarityBin::from_hundredths(&self.histogram);
        report.sources.clone_from(&self.sources);
        report.warnings = unusual(&report.counts, &self.sources);
        let of = report.counts.documents;
        if let Some((removed, row)) = self.most_for_reference
            && removes_many(removed, of)
        {
            let (file, record) = places.place(row);
            report.warnings.push(Unusual::ReferenceDocument {
                id: id_text(&places.raw_id(row)?),
                file: file.to_owned(),
                row: record,
                removed,
                of,
            });
        }
        Ok(())
    }
}

#[doc(hidden)]
pub fn placed(
    row: u32,
    ids: &BTreeMap<u32, Box<RawValue>>,
    places: &Places,
) -> Result<ExampleDocument> {
    let id = ids.get(&row).cloned();
    let reference = row < places.first_input();
    let index = row < places.first_of_files();
    let (file, row) = places.place(row);
    Ok(ExampleDocument {
        id: id.ok_or_else(|| Error::Defect(format!("no id was read of row {row} of {file}")))?,
        file: file.to_owned(),
        row,
        reference,
        index,
    })
}

/// The pass over the removed documents.
struct Passing<'a> {
    is_kept: Vec<bool>,
    histogram: BTreeMap<u8, u64>,
    /// Those with the lowest similarities.
    nearest: Lowest<Removal>,
    random: Lowest<Removal>,
    /// Those whose removal loses the most.
    lost: Lowest<Removal>,
    /// Those of the largest clusters, by the row of the kept document.
    clusters: BTreeMap<u32, Lowest<Removal>>,
    /// The kept documents of the largest clusters, largest first.
    largest: Vec<u32>,
    sources: SourceCounts<'a>,
    most_for_reference: Option<(u64, u32)>,
    /// The row of the first document that is not of an index.
    first_of_files: u32,
    for_indexes: u64,
}

impl<'a> Passing<'a> {
    fn new(found: &FoundRemovals, sources: Sources<'a>, places: &Places) -> Self {
        let largest: Vec<u32> = found.sizes.listed.iter().map(|(_, row)| *row).collect();
        let lowest = |row: &u32| (*row, Lowest::new(SHOWN_OF_CLUSTER, SHOWN_OF_CLUSTER));
        Passing {
            is_kept: vec![true; found.rows as usize],
            histogram: BTreeMap::new(),
            nearest: Lowest::new(SHOWN, SHOWN_OF_CLUSTER),
            // As many as may be among the nearest, too.
            random: Lowest::new(3 * SHOWN, 3 * SHOWN),
            lost: Lowest::new(2 * SHOWN, SHOWN_OF_CLUSTER),
            clusters: largest.iter().map(lowest).collect(),
            largest,
            most_for_reference: found.sizes.most_for_reference,
            sources: SourceCounts::new(sources, places.first_of_files(), places.first_input()),
            first_of_files: places.first_of_files(),
            for_indexes: 0,
        }
    }

    fn add(&mut self, removal: &Removal) {
        self.is_kept[removal.document as usize] = false;
        self.sources.add(removal);
        self.for_indexes += u64::from(removal.kept < self.first_of_files);
        let similarity = removal
            .via
            .map_or(removal.similarity, |(_, similarity)| similarity);
        if let Some(similarity) = similarity {
            *self.histogram.entry(hundredths(similarity)).or_insert(0) += 1;
        }
        if let Some(cluster) = self.clusters.get_mut(&removal.kept) {
            let similarity = removal.similarity.unwrap_or_default();
            cluster.offer(similarity.to_bits(), removal.kept, *removal);
        }
        if removal.is_identical {
            return;
        }
        if let Some(similarity) = similarity {
            self.nearest
                .offer(similarity.to_bits(), removal.kept, *removal);
        }
        if let Some(lost) = removal.lost().filter(|lost| *lost > 0.0) {
            // The more is lost, the lower the key.
            self.lost
                .offer(u64::MAX - lost.to_bits(), removal.kept, *removal);
        }
        self.random
            .offer(at_random(removal.document), removal.kept, *removal);
    }

    fn end(self) -> Overview {
        // Nobody wants to look at a pair twice.
        let mut shown: BTreeSet<u32> = self.nearest.items().map(|of| of.document).collect();
        let mut not_shown = |lowest: &Lowest<Removal>| -> Vec<Removal> {
            let new = lowest
                .items()
                .filter(|removal| !shown.contains(&removal.document));
            let new: Vec<Removal> = new.take(SHOWN).copied().collect();
            shown.extend(new.iter().map(|removal| removal.document));
            new
        };
        let (lost, random) = (not_shown(&self.lost), not_shown(&self.random));
        let clusters = self.largest.iter().filter_map(|row| self.clusters.get(row));
        let clusters = clusters.flat_map(Lowest::items);
        let examples = [
            self.nearest.items().map(|of| ("threshold", *of)).collect(),
            lost.into_iter().map(|of| ("lost", of)).collect(),
            random.into_iter().map(|of| ("random", of)).collect(),
            clusters.map(|of| ("cluster", *of)).collect::<Vec<_>>(),
        ];
        Overview {
            examples: examples.concat(),
            sources: self.sources.end(),
            is_kept: self.is_kept,
            histogram: self.histogram,
            largest: self.largest,
            most_for_reference: self.most_for_reference,
            for_indexes: self.for_indexes,
        }
    }
}

/// A similarity in hundredths, rounded down.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a similarity is from 0 to 1"
)]
pub(super) fn hundredths(similarity: f64) -> u8 {
    // 0.29 is a little less in binary.
    (similarity * 100.0 + 1e-9).floor().clamp(0.0, 100.0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hundredths_are_rounded_down() {
        for (similarity, expected) in [(0.0, 0), (0.29, 29), (0.2999, 29), (0.999, 99), (1.0, 100)]
        {
            assert_eq!(hundredths(similarity), expected, "{similarity}");
        }
        for hundredth in 0..=100u8 {
            assert_eq!(hundredths(f64::from(hundredth) / 100.0), hundredth);
        }
    }
}
