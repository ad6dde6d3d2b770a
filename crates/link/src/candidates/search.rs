//! The search for the candidates of one record: sums of shared weights, by record.

use std::ops::Range;
use std::sync::Mutex;

use super::index::SymbolIndex;
use super::limits::{LEAST_COSINE, Limits};
use super::pair::RecordPair;
use crate::symbols::{WeightedLists, quotient};

/// Sums of squares by record of the searched file.
#[derive(Default)]
pub(super) struct CosineSums {
    /// All 0 between two searches.
    sums: Vec<f64>,
    /// The records whose sums are not 0.
    touched: Vec<u32>,
    /// A bit for each symbol, if the record that is compared has it. All 0 between two searches.
    marks: Vec<u64>,
}

impl CosineSums {
    /// The word and the bit of a symbol.
    fn mark_of(number: u32) -> (usize, u64) {
        (number as usize / 64, 1 << (number % 64))
    }

    fn mark(&mut self, numbers: &[u32]) {
        for (word, bit) in numbers.iter().map(|number| CosineSums::mark_of(*number)) {
            self.marks[word] |= bit;
        }
    }

    fn unmark(&mut self, numbers: &[u32]) {
        for (word, _) in numbers.iter().map(|number| CosineSums::mark_of(*number)) {
            self.marks[word] = 0;
        }
    }

    fn is_marked(&self, number: u32) -> bool {
        let (word, bit) = CosineSums::mark_of(number);
        self.marks[word] & bit != 0
    }
}

/// Sums that a thread works with. They are as large as the searched file, so the next one takes them when they are dropped.
pub(super) struct Lent<'a> {
    pub(super) sums: CosineSums,
    spare: &'a Mutex<Vec<CosineSums>>,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        if let Ok(mut spare) = self.spare.lock() {
            spare.push(std::mem::take(&mut self.sums));
        }
    }
}

/// The candidates of a record.
#[derive(Default)]
pub(super) struct FoundNeighbours {
    pub(super) pairs: Vec<RecordPair>,
    /// Whether common symbols were left out.
    pub(super) is_cut: bool,
    /// Whether there were more candidates than are kept.
    pub(super) is_crowded: bool,
    /// The pairs that only the raised floor leaves out; in one file, those with later records.
    pub(super) below: u64,
}

/// A search among the records of one file.
pub(super) struct NeighbourSearch<'a> {
    /// Whether records are searched among themselves, not among those of another file.
    is_within: bool,
    records: WeightedLists<'a>,
    index: SymbolIndex,
    pub(super) limits: Limits,
    spare: Mutex<Vec<CosineSums>>,
}

impl<'a> NeighbourSearch<'a> {
    pub(super) fn new(
        among: Range<usize>,
        is_within: bool,
        records: WeightedLists<'a>,
        limits: Limits,
    ) -> Self {
        NeighbourSearch {
            is_within,
            records,
            index: SymbolIndex::new(among, records.lists, records.squares.len()),
            limits,
            spare: Mutex::default(),
        }
    }

    pub(super) fn sums(&self) -> Lent<'_> {
        let spare = self.spare.lock().ok().and_then(|mut spare| spare.pop());
        Lent {
            sums: spare.unwrap_or_else(|| CosineSums {
                sums: vec![0.0; self.index.rows],
                touched: Vec::new(),
                marks: vec![0; self.records.squares.len().div_ceil(64)],
            }),
            spare: &self.spare,
        }
    }

    /// Finds the candidates of a record.
    pub(super) fn neighbours(&self, row: usize, sums: &mut CosineSums) -> FoundNeighbours {
        let lists = self.records.lists;
        let is_cut = self.add_up(row, sums);
        let norm = lists.norm(row);
        let other = |place: u32| self.index.first + place as usize;
        let cosine = |place: u32, sum: f64| quotient(sum, norm, lists.norm(other(place)));
        let is_within = self.is_within;
        let mut below = 0;
        let mut scored: Vec<(f64, u32)> = Vec::new();
        for place in sums.touched.drain(..) {
            // Taken, so that all sums are 0 for the next record.
            let sum = std::mem::take(&mut sums.sums[place as usize]);
            if is_within && other(place) == row {
                continue;
            }
            let score = cosine(place, sum);
            if is_cut || score >= self.limits.floor {
                scored.push((score, place));
            } else if score >= LEAST_COSINE && (!is_within || other(place) > row) {
                below += 1;
            }
        }
        // Of equal scores the earlier record: the choice must not depend on the order in which sums were touched.
        let best_first = |a: &(f64, u32), b: &(f64, u32)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        let most = if is_cut {
            self.limits.compared
        } else {
            self.limits.candidates
        };
        let is_crowded = scored.len() > most;
        if is_crowded {
            scored.select_nth_unstable_by(most, best_first);
            scored.truncate(most);
        }
        if is_cut {
            self.compare(row, &mut scored, sums);
            scored.retain(|(score, _)| *score >= self.limits.floor);
        }
        FoundNeighbours {
            pairs: scored
                .into_iter()
                .map(|(score, place)| pair(row, other(place), score))
                .collect(),
            is_cut,
            is_crowded: is_crowded && !is_cut,
            below,
        }
    }

    /// Sets the cosines of a record and others. Many lists are compared with one: so its symbols are marked, and no lists
    /// are merged.
    fn compare(&self, row: usize, others: &mut [(f64, u32)], sums: &mut CosineSums) {
        let WeightedLists { lists, squares } = self.records;
        let numbers = lists.numbers(row);
        sums.mark(numbers);
        for (score, place) in others {
            let other = self.index.first + *place as usize;
            let shared = lists.numbers(other).iter();
            let shared = shared.filter(|number| sums.is_marked(**number));
            let dot = shared.fold(0.0, |dot, number| dot + squares[*number as usize]);
            *score = quotient(dot, lists.norm(row), lists.norm(other));
        }
        sums.unmark(numbers);
    }

    /// Adds up the shared weights. Returns whether common symbols were left out.
    fn add_up(&self, row: usize, sums: &mut CosineSums) -> bool {
        let mut entries = 0;
        for number in self.records.lists.numbers(row) {
            let rows_with = self.index.rows_with(*number);
            entries += rows_with.len();
            if entries > self.limits.entries {
                return true;
            }
            let square = self.records.squares[*number as usize];
            for place in rows_with {
                let sum = &mut sums.sums[*place as usize];
                if *sum == 0.0 {
                    sums.touched.push(*place);
                }
                *sum += square;
            }
        }
        false
    }
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "rows are numbered by 32 bits"
)]
fn pair(row: usize, other: usize, similarity: f64) -> RecordPair {
    RecordPair {
        rows: [row.min(other) as u32, row.max(other) as u32],
        score: similarity,
        similarity,
    }
}
