//! What queries of an index read.

use super::lists;
use super::persistent::Index;
use super::prefix;
use simgpu::error::Result;
use simgpu::pipeline::Measure;

/// What the queries of the documents of an index read: entries of lists, each of which stands for a document that shares the key of
/// a band, or a shingle. In an index of kind `exact`, most of them are left out by their numbers of shingles; the others are
/// compared. Deleted documents count until the index is compacted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueryCosts {
    /// Entries that half of the queries read at most.
    pub median: u64,
    /// Entries that 99 of 100 queries read at most.
    pub p99: u64,
    /// Entries that the most expensive query reads.
    pub most: u64,
    /// Documents in the lists of the most frequent shingle, or key of a band.
    pub most_frequent: u64,
}

impl Index {
    /// Reads all lists, and says what queries cost. It takes 8 bytes of memory per document that was ever added.
    ///
    /// # Errors
    /// [`Error::Input`](simgpu::Error::Input) for an index that is damaged; [`Error::Io`](simgpu::Error::Io).
    pub fn query_costs(&self) -> Result<QueryCosts> {
        let at = self.store.snapshot();
        let words = self.kind().entry_words();
        let is_two_sided = self.search().measure == Measure::Contained;
        let mut costs = QueryCosts::default();
        let mut read_by = vec![0u64; self.state().next_row as usize];
        lists::for_each(&at, |key, list| {
            let own = list.len() as u64;
            // A document whose prefix has a shingle reads both of its lists, and any other the one of prefixes.
            let other = prefix::other_list(key).filter(|_| is_two_sided);
            let other = match other {
                Some(other) => lists::len(&at, other)?,
                None => 0,
            };
            costs.most_frequent = costs.most_frequent.max((own + other) / words as u64);
            let read = if prefix::leads_from_all(key) || !is_two_sided {
                own + other
            } else {
                other
            };
            for entry in list.chunks_exact(words) {
                let bytes = read_by.get_mut(entry[0] as usize);
                *bytes.ok_or_else(|| self.wrong("a list has a row that no document had"))? +=
                    read / words as u64;
            }
            Ok(())
        })?;
        read_by.retain(|read| *read > 0);
        read_by.sort_unstable();
        let at_share = |percent: usize| {
            let at = (read_by.len() * percent).div_ceil(100).saturating_sub(1);
            read_by.get(at).copied().unwrap_or(0)
        };
        Ok(QueryCosts {
            median: at_share(50),
            p99: at_share(99),
            most: at_share(100),
            ..costs
        })
    }
}
