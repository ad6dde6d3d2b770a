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
    of_rows: Vec<u16>,
}

impl FieldSources {
    pub(crate) fn new(field: &FieldPath) -> Self {
        FieldSources {
            field: field.to_string(),
            names: Vec::new(),
            numbers: HashMap::new(),
            of_rows: Vec::new(),
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
        self.of_rows.push(number);
        Ok(())
    }

    /// Whether no document has a value.
    pub(crate) fn is_empty(&self) -> bool {
        self.names.iter().all(String::is_empty)
    }

    /// The values of all documents, by row.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        let numbers = self.of_rows.iter();
        numbers.map(|number| &*self.names[usize::from(*number)])
    }

    /// Bytes of memory used.
    pub(crate) fn held_bytes(&self) -> u64 {
        let names: usize = self.names.iter().map(String::len).sum();
        (2 * self.of_rows.len() + 2 * names + 64 * self.names.len()) as u64
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
            Sources::Values(values) => values.of_rows[row as usize].into(),
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
                documents[..places.of_reference].fill(0);
                documents
            }
            Sources::Values(values) => {
                let mut documents = vec![0; values.names.len()];
                for number in &values.of_rows[first_input as usize..] {
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
        for (source, of_source) in documents.into_iter().enumerate() {
            let count = &mut counts[places[source]];
            count.documents += of_source;
            count.sources += u64::from(of_source > 0);
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
    let of_cluster = is_large.then_some(Unusual::LargeCluster {
        documents: largest,
        of: documents,
    });
    let of_all = counts.removed as f64 / documents.max(1) as f64;
    let large = || {
        sources
            .iter()
            .filter(|source| source.documents >= MANY && source.others.is_none())
    };
    let share = |source: &SourceReport| source.removed as f64 / source.documents as f64;
    let is_lost = |source: &&SourceReport| share(source) > 0.5 && share(source) > 2.0 * of_all;
    let lost = large().filter(|_| large().count() > 1).filter(is_lost);
    let of_sources = lost.map(|source| Unusual::SourceLoss {
        source: source.source.clone(),
        removed: source.removed,
        of: source.documents,
        of_all,
    });
    of_cluster.into_iter().chain(of_sources).collect()
}

/// Whether so many of all documents are unusually many to be removed for one document of a reference: more than 1,000, and
/// more than 0.1 %.
pub(super) fn removes_many(removed: u64, of: u64) -> bool {
    removed > MANY && removed > of / 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    fn removal(document: u32, kept: u32) -> Removal {
        Removal {
            document,
            kept,
            is_identical: true,
            similarity: Some(1.0),
            overlap: None,
            via: None,
        }
    }

    fn values(of_rows: &[&str]) -> FieldSources {
        let mut sources = FieldSources::new(&FieldPath::new("from"));
        of_rows
            .iter()
            .for_each(|value| sources.push(value).unwrap());
        sources
    }

    /// The reports of sources, by counting documents one by one.
    #[test]
    fn removed_documents_are_counted_by_source() {
        let of_rows = ["b", "", "a", "b", "", "b", "a"];
        let values = values(&of_rows);
        let mut counts = SourceCounts::new(Sources::Values(&values), 0, 0);
        let removed = [removal(3, 0), removal(4, 2), removal(5, 0), removal(6, 0)];
        removed.iter().for_each(|removal| counts.add(removal));
        let reports = counts.end();
        let names: Vec<Option<&str>> = reports
            .iter()
            .map(|report| report.source.as_deref())
            .collect();
        assert_eq!(names, [Some("b"), None, Some("a")]);
        for report in &reports {
            let name = report.source.as_deref().unwrap_or_default();
            let is_of = |row: u32| of_rows[row as usize] == name;
            let documents = (0..7).filter(|row| is_of(*row)).count() as u64;
            let gone = removed
                .iter()
                .filter(|removal| is_of(removal.document))
                .count() as u64;
            assert_eq!(
                (report.documents, report.removed, report.kept),
                (documents, gone, documents - gone)
            );
            for removed_for in &report.removed_for {
                let kept = removed_for.source.as_deref().unwrap_or_default();
                let both = removed.iter().filter(|removal| {
                    is_of(removal.document) && of_rows[removal.kept as usize] == kept
                });
                assert_eq!(removed_for.removed, both.count() as u64);
            }
            assert_eq!(
                report.removed_for.iter().map(|of| of.removed).sum::<u64>(),
                gone
            );
        }
        // Written and read again, they are the same.
        assert!(values.iter().eq(of_rows));
    }

    #[test]
    fn further_sources_are_one() {
        let of_rows: Vec<String> = (0..2200).map(|row| (row % 1100).to_string()).collect();
        let of_rows: Vec<&str> = of_rows.iter().map(String::as_str).collect();
        let values = values(&of_rows);
        let mut counts = SourceCounts::new(Sources::Values(&values), 0, 0);
        for row in 1..2200 {
            counts.add(&removal(row, row % 50));
        }
        let reports = counts.end();
        assert_eq!(reports.len(), LISTED + 1);
        assert_eq!(
            (reports[LISTED].others, reports[LISTED].documents),
            (Some(100), 200)
        );
        assert_eq!(
            reports.iter().map(|report| report.removed).sum::<u64>(),
            2199
        );
        for report in &reports {
            assert_eq!(
                report.removed_for.iter().map(|of| of.removed).sum::<u64>(),
                report.removed
            );
        }
    }

    #[test]
    fn too_many_values_are_an_error() {
        let mut sources = FieldSources::new(&FieldPath::new("url"));
        for value in 0..=u16::MAX {
            sources.push(&value.to_string()).unwrap();
        }
        sources.push("7").unwrap();
        let refused = sources.push("one more").unwrap_err().to_string();
        assert!(
            refused.contains("\"url\"") && refused.contains("65,536"),
            "{refused}"
        );
    }

    #[test]
    fn many_documents_may_go_for_one_of_a_reference() {
        for (removed, of, expected) in [
            (1000, 1000, false),
            (1001, 1001, true),
            (1001, 1_000_999, true),
            (1001, 1_001_000, false),
            (u64::MAX, u64::MAX, true),
        ] {
            assert_eq!(removes_many(removed, of), expected, "{removed} {of}");
        }
    }

    #[test]
    fn only_unusual_results_are_warned_of() {
        let source = |documents: u64, removed: u64| SourceReport {
            source: Some(documents.to_string()),
            others: None,
            documents,
            kept: documents - removed,
            removed,
            removed_for: Vec::new(),
            lost: None,
        };
        let warned = |largest_cluster, sources: &[SourceReport]| {
            let counts = Counts {
                documents: sources.iter().map(|source| source.documents).sum(),
                removed: sources.iter().map(|source| source.removed).sum(),
                largest_cluster,
                ..Counts::default()
            };
            let warned = unusual(&counts, sources)
                .into_iter()
                .map(|unusual| match unusual {
                    Unusual::LargeCluster { .. } => 'c',
                    Unusual::SourceLoss { .. } => 's',
                    Unusual::ReferenceDocument { .. } => 'r',
                });
            warned.collect::<String>()
        };
        assert_eq!(warned(50, &[source(100, 50)]), "");
        assert_eq!(warned(10, &[source(999, 9)]), "");
        assert_eq!(warned(10, &[source(1000, 9)]), "");
        assert_eq!(warned(11, &[source(1000, 10)]), "c");
        // All of one source, beside another that is large enough.
        assert_eq!(warned(2, &[source(5000, 0), source(1000, 1000)]), "s");
        assert_eq!(warned(2, &[source(5000, 0), source(1001, 500)]), "");
        assert_eq!(warned(2, &[source(999, 0), source(1000, 1000)]), "");
        // No more than twice the share of all.
        assert_eq!(warned(2, &[source(1000, 0), source(1000, 1000)]), "");
        assert_eq!(warned(61, &[source(5000, 100), source(1000, 900)]), "cs");
    }
}
