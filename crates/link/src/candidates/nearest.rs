//! The most similar record of each of some records.

use std::ops::Range;

use rayon::prelude::*;

use super::limits::{BLOCK, Limits};
use super::pair::RecordPair;
use super::search::{Lent, NeighbourSearch};
use crate::symbols::WeightedLists;
use simgpu::error::Result;
use simgpu::progress::{Progress, advance};

/// Finds the most similar one of some records.
pub(crate) struct Nearest<'a>(NeighbourSearch<'a>);

impl<'a> Nearest<'a> {
    /// Searches `among` these records; `is_within` says whether it is asked for records of them.
    pub(crate) fn new(
        among: Range<usize>,
        is_within: bool,
        records: WeightedLists<'a>,
        limits: Limits,
    ) -> Self {
        let limits = Limits {
            candidates: 1,
            ..limits
        };
        Nearest(NeighbourSearch::new(among, is_within, records, limits))
    }

    /// The most similar record to each of these, and its cosine; `None` if none has the least cosine of a candidate.
    pub(crate) fn find(
        &self,
        records: &[usize],
        progress: &dyn Progress,
    ) -> Result<Vec<Option<(f64, usize)>>> {
        progress.begin("compare", records.len() as u64);
        let mut best = Vec::with_capacity(records.len());
        for block in records.chunks(BLOCK) {
            let nearest = |lent: &mut Lent<'_>, row: &usize| {
                if progress.is_stopped() {
                    None
                } else {
                    let found = self.0.neighbours(*row, &mut lent.sums).pairs;
                    let best = found.into_iter().min_by(RecordPair::before)?;
                    let other = best.rows.map(|row| row as usize);
                    Some((best.score, other[usize::from(other[0] == *row)]))
                }
            };
            best.par_extend(
                block
                    .par_iter()
                    .with_min_len(8)
                    .map_init(|| self.0.sums(), nearest),
            );
            advance(progress, best.len() as u64, best.len() as u64, 0)?;
        }
        Ok(best)
    }
}
