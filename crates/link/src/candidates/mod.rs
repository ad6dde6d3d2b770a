//! Candidate pairs: records that share much weight, found through lists of the records that have each symbol.
//!
//! A record's symbols are looked up from the rarest on, and the squares of the shared weights add up for every record
//! that has them. Once all symbols were looked up, the sum is the cosine, so that every pair above the floor is found.
//! Where that would take too long, common symbols are left out: then the pairs with the largest sums are compared in
//! full. A join by prefixes has no advantage here: at cosines as low as 0.1, a prefix is nearly the whole record.
//!
//! Records are distinct ones: copies of a record would be candidates of each other, and take the place of all others.
//!
//! Symbols that only one record, or one file, has count for the length of a record, and are in no list. For large
//! files, the sum of the lengths of the lists that a record may look up is bounded. The bound depends on the number of
//! records alone, so that results do not depend on the machine. Such a record keeps the 64 candidates with the largest
//! sums, and the report counts it.

mod pair;

mod limits;

mod index;

mod search;

mod nearest;

#[cfg(test)]
mod tests;

use rayon::prelude::*;

use self::limits::BLOCK;
pub(crate) use self::limits::{LEAST_COSINE, Limits};
pub(crate) use self::nearest::Nearest;
pub(crate) use self::pair::RecordPair;
use self::search::{FoundNeighbours, NeighbourSearch};
use crate::symbols::WeightedLists;
use crate::tables::RecordTables;
use simgpu::error::{Error, Result};
use simgpu::progress::{Progress, advance};

/// The candidates of all records.
#[derive(Clone, Debug, Default)]
pub(crate) struct Candidates {
    /// In the order of acceptance.
    pub(crate) pairs: Vec<RecordPair>,
    /// Every pair with at least this cosine was found, but for those of the records counted below.
    pub(crate) floor: f64,
    /// Records whose common symbols were left out.
    pub(crate) cut: u64,
    /// Records with more candidates than were kept.
    pub(crate) crowded: u64,
    /// Pairs that were left out because the floor rose, as far as they were seen.
    pub(crate) below: u64,
}

/// Finds the pairs of records with a cosine of at least the floor; of two files, pairs of one record of each.
pub(crate) fn find(
    tables: &RecordTables<'_>,
    records: WeightedLists<'_>,
    progress: &dyn Progress,
) -> Result<Candidates> {
    let searched = tables.rows_of(false).len();
    find_within(tables, records, Limits::new(searched), progress)
}

fn find_within(
    tables: &RecordTables<'_>,
    records: WeightedLists<'_>,
    limits: Limits,
    progress: &dyn Progress,
) -> Result<Candidates> {
    let among = tables.rows_of(tables.has_two_files());
    let mut search = NeighbourSearch::new(among, !tables.has_two_files(), records, limits);
    let rows = tables.rows_of(false);
    progress.begin("compare", rows.len() as u64);
    let mut found = Candidates::default();
    for block in rows.clone().step_by(BLOCK) {
        let end = (block + BLOCK).min(rows.end);
        let found_in_block: Vec<FoundNeighbours> = (block..end)
            .into_par_iter()
            .with_min_len(8)
            .map_init(
                || search.sums(),
                // A block of long lists takes seconds.
                |lent, row| {
                    if progress.is_stopped() {
                        FoundNeighbours::default()
                    } else {
                        search.neighbours(row, &mut lent.sums)
                    }
                },
            )
            .collect();
        if progress.is_stopped() {
            return Err(Error::Stopped);
        }
        for neighbours in found_in_block {
            found.cut += u64::from(neighbours.is_cut);
            found.crowded += u64::from(neighbours.is_crowded);
            found.below += neighbours.below;
            found.pairs.extend(neighbours.pairs);
        }
        if found.pairs.len() > 2 * limits.pairs {
            search.limits.floor = found.raise_floor(limits.pairs, search.limits.floor);
        }
        advance(progress, end as u64, end as u64, 0)?;
    }
    found.floor = search.limits.floor;
    found.sort();
    Ok(found)
}

impl Candidates {
    /// Brings the pairs into the order of acceptance. In one file, both records may find a pair.
    fn sort(&mut self) {
        self.pairs.par_sort_unstable_by(RecordPair::before);
        self.pairs.dedup_by_key(|pair| pair.rows);
    }

    /// Leaves about `most` pairs: those with the largest scores. Returns the least score of those that may stay.
    fn raise_floor(&mut self, most: usize, floor: f64) -> f64 {
        self.sort();
        let floor = match self.pairs.get(most) {
            Some(pair) => pair.score.max(floor),
            None => floor,
        };
        let kept = self.pairs.partition_point(|pair| pair.score >= floor);
        self.below += (self.pairs.len() - kept) as u64;
        self.pairs.truncate(kept);
        floor
    }
}
