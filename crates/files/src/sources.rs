//! The sources of documents, files or values of a field: what is kept and removed of each, and what is unusual.

use std::cmp::Reverse;
use std::collections::HashMap;

use simgpu::error::{Error, Result};
use simgpu::pipeline::Removal;
use simgpu::progress::Counts;
use simgpu_io::{FieldPath, Places, RemovedFor, SourceReport, Unusual};

/// Sources that are listed, at most; the others are one.
const LISTED: usize = 1000;

/// Sources that are listed of those in whose favour documents were removed.
const LISTED_FOR: usize = 10;

/// In a smaller input or source, a few duplicates are a large share.
const MANY: u64 = 1_000;

/// The sources of documents by the value of a field.
#[derive(Debug)]
pub(crate) struct FieldSources {
    field: String,
    /// The values, in the order in which they appear.
    names: Vec<String>,
    numbers: HashMap<String, u16>,
    /// The number of the value of each document, by row.
    rows: Vec<u16>,
}

impl FieldSources {
    pub(crate) fn new(field: &FieldPath) -> Self {
        FieldSources {
            field: field.to_string(),
            names: Vec::new(),
            numbers: HashMap::new(),
            rows: Vec::new(),
        }
    }

    /// Adds the value of the next document.
    ///
    /// # Errors
    /// [`Error::Parameter`] for too many values.
    pub(crate) fn push(&mut self, value: &str) -> Result<()> {
        let number = match self.numbers.get(value) {
            Some(number) => *number,
            None => {
                let number = u16::try_from(self.names.len()).map_err(|_| Error::Parameter {
                    name: "`source_field`",
                    value: format!("{:?}", self.field),
                    expected: "a field with at most 65,536 different values".to_owned(),
                })?;
                self.names.push(value.to_owned());
                self.numbers.insert(value.to_owned(), number);
                number
            }
        };
        self.rows.push(number);
        Ok(())
    }

    /// Whether no document has a value.
    pub(crate) fn is_empty(&self) -> bool {
        self.names.iter().all(String::is_empty)
    }

    /// The values of all documents, by row.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        let numbers = self.rows.iter();
        numbers.map(|number| &*self.names[usize::from(*number)])
    }

    /// Bytes of memory used.
    pub(crate) fn held_bytes(&self) -> u64 {
        let names: usize = self.names.iter().map(String::len).sum();
        (2 * self.rows.len() + 2 * names + 64 * self.names.len()) as u64
    }
}

/// The source of each document.
#[derive(Clone, Copy)]
pub(super) enum Sources<'a> {
    Files(&'a Places),
    Values(&'a FieldSources),
}

impl Sources<'_> {
    /// The number of the source of a document.
    fn source_of(&self, row: u32) -> usize {
        match self {
            Sources::Files(places) => places.file_of(row),
            Sources::Values(values) => values.rows[row as usize].into(),
        }
    }

    /// The name of a source; `None` for documents without a value.
    fn name(&self, source: usize) -> Option<String> {
        match self {
            Sources::Files(places) => Some(places.files[source].relative.clone()),
            Sources::Values(values) => {
                Some(values.names[source].clone()).filter(|name| !name.is_empty())
            }
        }
    }

    /// The number of documents of each source, from the row of the first input on.
    fn documents(&self, first_input: u32) -> Vec<u64> {
        match self {
            Sources::Files(places) => {
                let mut documents = places.documents_of_files();
                documents[..places.reference_files].fill(0);
                documents
            }
            Sources::Values(values) => {
                let mut documents = vec![0; values.names.len()];
                for number in &values.rows[first_input as usize..] {
                    documents[usize::from(*number)] += 1;
                }
                documents
            }
        }
    }
}

/// The sources that are listed, which have the most documents, by number.
#[doc(hidden)]
pub fn with_most_documents(documents: &[u64]) -> Vec<usize> {
    let mut listed: Vec<usize> = (0..documents.len())
        .filter(|of| documents[*of] > 0)
        .collect();
    listed.sort_by_key(|source| (Reverse(documents[*source]), *source));
    listed.truncate(LISTED);
    listed.sort_unstable();
    listed
}

/// The counts of a listed source, or of all others.
#[derive(Clone, Debug, Default)]
struct Count {
    documents: u64,
    /// The number of sources that it stands for.
    sources: u64,
    removed: u64,
    lost: u64,
    shingles: u64,
}

/// Counts the removed documents of sources.
pub(super) struct SourceCounts<'a> {
    sources: Sources<'a>,
    /// The sources that are listed, by number.
    listed: Vec<usize>,
    /// The place of each source among the listed ones; that after the last is for all others, and the next ones for the
    /// reference and for indexes.
    places: Vec<usize>,
    /// The row of the first document that is not of an index, and that is not of a reference.
    first_of_files: u32,
    first_input: u32,
    counts: Vec<Count>,
    /// The removed documents by their place, and by that of the kept one.
    removed_for: HashMap<[usize; 2], u64>,
}

impl<'a> SourceCounts<'a> {
    pub(super) fn new(sources: Sources<'a>, first_of_files: u32, first_input: u32) -> Self {
        let documents = sources.documents(first_input);
        let listed = with_most_documents(&documents);
        let mut places = vec![listed.len(); documents.len()];
        for (place, source) in listed.iter().enumerate() {
            places[*source] = place;
        }
        let mut counts = vec![Count::default(); listed.len() + 3];
        for (source, source_documents) in documents.into_iter().enumerate() {
            let count = &mut counts[places[source]];
            count.documents += source_documents;
            count.sources += u64::from(source_documents > 0);
        }
        SourceCounts {
            sources,
            listed,
            places,
            first_of_files,
            first_input,
            counts,
            removed_for: HashMap::new(),
        }
    }

    pub(super) fn add(&mut self, removal: &Removal) {
        let place = |row| match row {
            row if row < self.first_of_files => self.listed.len() + 2,
            row if row < self.first_input => self.listed.len() + 1,
            row => self.places[self.sources.source_of(row)],
        };
        let pair = [place(removal.document), place(removal.kept)];
        let count = &mut self.counts[pair[0]];
        count.removed += 1;
        if let Some(loss) = removal.loss() {
            count.lost += u64::from(loss.lost);
            count.shingles += u64::from(loss.shingles);
        }
        *self.removed_for.entry(pair).or_insert(0) += 1;
    }

    /// Adds a document that is removed for no other.
    pub(super) fn drop(&mut self, row: u32) {
        self.counts[self.places[self.sources.source_of(row)]].removed += 1;
    }

    /// The report of each source. Empty if each has one document, as files of texts have.
    pub(super) fn end(self) -> Vec<SourceReport> {
        if self
            .counts
            .iter()
            .all(|count| count.documents <= count.sources)
            && self.listed.len() > 1
        {
            return Vec::new();
        }
        let mut removed_for: Vec<Vec<(usize, u64)>> = vec![Vec::new(); self.counts.len()];
        for ([of, kept], removed) in &self.removed_for {
            removed_for[*of].push((*kept, *removed));
        }
        let counts = self.counts.iter().zip(removed_for).enumerate();
        let reports = counts.filter(|(_, (count, _))| count.documents > 0);
        let reports = reports.map(|(place, (count, removed_for))| {
            let (source, others) = self.named(place);
            SourceReport {
                source,
                others,
                documents: count.documents,
                kept: count.documents - count.removed,
                removed: count.removed,
                removed_for: self.in_favour_of(removed_for),
                lost: (count.shingles > 0).then(|| count.lost as f64 / count.shingles as f64),
            }
        });
        reports.collect()
    }

    /// The name of a listed source, or the number of all others.
    fn named(&self, place: usize) -> (Option<String>, Option<u64>) {
        match self.listed.get(place) {
            Some(source) => (self.sources.name(*source), None),
            None if place == self.listed.len() => (None, Some(self.counts[place].sources)),
            None => (None, None),
        }
    }

    fn in_favour_of(&self, mut kept: Vec<(usize, u64)>) -> Vec<RemovedFor> {
        kept.sort_by_key(|(place, removed)| (Reverse(*removed), *place));
        let rest = kept.split_off(kept.len().min(LISTED_FOR));
        let listed = kept.iter().map(|(place, removed)| {
            let (source, others) = self.named(*place);
            RemovedFor {
                source,
                others,
                kept_in: match place.checked_sub(self.listed.len()) {
                    Some(1) => Some("reference"),
                    Some(2) => Some("index"),
                    _ => None,
                },
                removed: *removed,
            }
        });
        let others = (!rest.is_empty()).then(|| RemovedFor {
            source: None,
            kept_in: None,
            others: Some(
                rest.iter()
                    .map(|(place, _)| self.counts[*place].sources)
                    .sum(),
            ),
            removed: rest.iter().map(|(_, removed)| removed).sum(),
        });
        listed.chain(others).collect()
    }
}

/// What is unusual about the removed documents.
pub(super) fn unusual(counts: &Counts, sources: &[SourceReport]) -> Vec<Unusual> {
    let (documents, largest) = (counts.documents, counts.largest_cluster);
    let is_large = documents >= MANY && largest * 100 > documents;
    let large_cluster = is_large.then_some(Unusual::LargeCluster {
        documents: largest,
        of: documents,
    });
    let total_share = counts.removed as f64 / documents.max(1) as f64;
    let large = || {
        sources
            .iter()
            .filter(|source| source.documents >= MANY && source.others.is_none())
    };
    let share = |source: &SourceReport| source.removed as f64 / source.documents as f64;
    let is_lost = |source: &&SourceReport| share(source) > 0.5 && share(source) > 2.0 * total_share;
    let lost = large().filter(|_| large().count() > 1).filter(is_lost);
    let source_losses = lost.map(|source| Unusual::SourceLoss {
        source: source.source.clone(),
        removed: source.removed,
        of: source.documents,
        of_all: total_share,
    });
    large_cluster.into_iter().chain(source_losses).collect()
}

/// Whether so many of all documents are unusually many to be removed for one document of a reference: more than 1,000, and
/// more than 0.1 %.
pub(super) fn removes_many(removed: u64, of: u64) -> bool {
    removed > MANY && removed > of / 1000
}

#[cfg(test)]
mod tests;
