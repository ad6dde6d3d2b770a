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

use std::ops::Range;
use std::sync::Mutex;

use rayon::prelude::*;

use crate::symbols::{Lists, WeightedLists, quotient};
use crate::tables::RecordTables;
use simgpu::error::{Error, Result};
use simgpu::progress::{Progress, advance};

/// The least cosine of a candidate, unless that makes too many.
pub(crate) const LEAST_COSINE: f64 = 0.1;

/// A pair of records, the lower row first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RecordPair {
    pub(crate) rows: [u32; 2],
    pub(crate) score: f64,
    /// The cosine of the weights of both records: the score of texts, which decides between equal scores of other kinds.
    pub(crate) similarity: f64,
}

impl RecordPair {
    /// The order of acceptance: by descending score, then by descending similarity, then by rows.
    pub(crate) fn before(&self, other: &RecordPair) -> std::cmp::Ordering {
        other
            .score
            .total_cmp(&self.score)
            .then_with(|| other.similarity.total_cmp(&self.similarity))
            .then_with(|| self.rows.cmp(&other.rows))
    }
}

/// How far the search goes. Depends on the number of records alone, so that results do not depend on the machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The least cosine of a candidate.
    pub(crate) floor: f64,
    /// The most entries of lists that are looked up for a record.
    pub(crate) entries: usize,
    /// The most candidates of a record whose common symbols were left out.
    pub(crate) compared: usize,
    /// The most candidates of any other record.
    pub(crate) candidates: usize,
    /// The number of pairs above which the floor rises.
    pub(crate) pairs: usize,
}

impl Limits {
    /// Looks up 2^31 entries in all: a minute on two cores.
    pub(crate) fn new(records: usize) -> Self {
        Limits {
            floor: LEAST_COSINE,
            entries: (1 << 31) / records.max(1),
            compared: 64,
            candidates: 1024,
            pairs: (16 * records).max(1 << 20),
        }
    }
}

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

/// Records searched between two calls of [`Progress::advance`].
const BLOCK: usize = 1 << 13;

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

/// The records of the searched file that have each symbol.
struct SymbolIndex {
    /// Where the list of each symbol ends.
    ends: Vec<usize>,
    rows_with: Vec<u32>,
    first: usize,
    rows: usize,
}

impl SymbolIndex {
    #[allow(
        clippy::cast_possible_truncation,
        reason = "rows are numbered by 32 bits"
    )]
    fn new(rows: Range<usize>, lists: &Lists, symbols: usize) -> Self {
        let mut ends = vec![0; symbols];
        for row in rows.clone() {
            for number in lists.numbers(row) {
                ends[*number as usize] += 1;
            }
        }
        let mut total = 0;
        for end in &mut ends {
            // Where the list begins, for now.
            total += std::mem::replace(end, total);
        }
        let mut rows_with = vec![0; total];
        for row in rows.clone() {
            for number in lists.numbers(row) {
                let end = &mut ends[*number as usize];
                rows_with[*end] = (row - rows.start) as u32;
                *end += 1;
            }
        }
        SymbolIndex {
            ends,
            rows_with,
            first: rows.start,
            rows: rows.len(),
        }
    }

    fn rows_with(&self, number: u32) -> &[u32] {
        let number = number as usize;
        let start = if number == 0 {
            0
        } else {
            self.ends[number - 1]
        };
        &self.rows_with[start..self.ends[number]]
    }
}

/// Sums of squares by record of the searched file.
#[derive(Default)]
struct CosineSums {
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
struct Lent<'a> {
    sums: CosineSums,
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
struct FoundNeighbours {
    pairs: Vec<RecordPair>,
    is_cut: bool,
    is_crowded: bool,
    /// The pairs that only the raised floor leaves out; in one file, those with later records.
    below: u64,
}

struct NeighbourSearch<'a> {
    /// Whether records are searched among themselves, not among those of another file.
    is_within: bool,
    records: WeightedLists<'a>,
    index: SymbolIndex,
    limits: Limits,
    spare: Mutex<Vec<CosineSums>>,
}

impl<'a> NeighbourSearch<'a> {
    fn new(
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

    fn sums(&self) -> Lent<'_> {
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
    fn neighbours(&self, row: usize, sums: &mut CosineSums) -> FoundNeighbours {
        let lists = self.records.lists;
        let is_cut = self.add_up(row, sums);
        let norm = lists.norm(row);
        let other = |place: u32| self.index.first + place as usize;
        let cosine = |place: u32, sum: f64| quotient(sum, norm, lists.norm(other(place)));
        let is_within = self.is_within;
        let mut below = 0;
        let mut scored: Vec<(f64, u32)> = Vec::new();
        for place in sums.touched.drain(..) {
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

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::distinct::Distinct;
    use crate::records::RecordFiles;
    use crate::symbols::Symbols;
    use crate::tests::table;
    use crate::words::Equivalents;
    use simgpu::documents::TokenBatch;
    use simgpu::progress::Silent;
    use simgpu::scheme::fmix64;

    /// Records of two fields made of few words, some of them with a letter changed, and some empty.
    fn texts(seed: u64, count: u64) -> Vec<[String; 2]> {
        let word = |at: u64| {
            let random = fmix64(seed << 32 | at);
            let word = format!("w{}x", random % 40 * (random >> 8 & 3));
            if random >> 16 & 7 == 0 {
                word.replace('w', "V")
            } else {
                word
            }
        };
        let field = |at: u64| {
            let words: Vec<String> = (0..fmix64(at) % 5).map(|i| word(at * 8 + i)).collect();
            words.join(" ")
        };
        (0..count)
            .map(|i| [field(2 * i), field(2 * i + 1)])
            .collect()
    }

    /// The symbols of a record, as strings.
    fn symbols(record: &[String; 2]) -> BTreeSet<String> {
        let mut symbols = BTreeSet::new();
        for (place, field) in record.iter().enumerate() {
            if !field.is_empty() {
                symbols.insert(format!("value {place} {}", field.to_lowercase()));
            }
        }
        for word in record
            .iter()
            .flat_map(|field| field.split(' '))
            .filter(|word| !word.is_empty())
        {
            let word = word.to_lowercase();
            let letters: Vec<char> = format!(" {word} ").chars().collect();
            symbols.insert(format!("word {word}"));
            symbols.extend(
                letters
                    .windows(3)
                    .map(|window| window.iter().collect::<String>()),
            );
        }
        symbols
    }

    /// All cosines of at least `floor`, by the definition of the score.
    fn cosines(
        a: &[[String; 2]],
        b: Option<&[[String; 2]]>,
        floor: f64,
    ) -> BTreeMap<[u32; 2], f64> {
        let all: Vec<BTreeSet<String>> = a.iter().chain(b.unwrap_or(&[])).map(symbols).collect();
        let records = all.len() as f64;
        let weight = |symbol: &String| {
            let with = all
                .iter()
                .filter(|symbols| symbols.contains(symbol))
                .count();
            ((records + 1.0) / with as f64).ln()
        };
        let share = |symbol: &String| {
            if symbol.starts_with("value ") {
                1.0 / 16.0
            } else {
                1.0
            }
        };
        let square = |symbols: &mut dyn Iterator<Item = &String>| -> f64 {
            symbols
                .map(|symbol| share(symbol) * weight(symbol).powi(2))
                .sum()
        };
        let lengths: Vec<f64> = all
            .iter()
            .map(|symbols| square(&mut symbols.iter()).sqrt())
            .collect();
        let mut cosines = BTreeMap::new();
        let first = if b.is_some() { a.len() } else { all.len() };
        for i in 0..first {
            let start = if b.is_some() { a.len() } else { i + 1 };
            for j in start..all.len() {
                let cosine = square(&mut all[i].intersection(&all[j])) / (lengths[i] * lengths[j]);
                if cosine >= floor {
                    cosines.insert([i, j].map(|row| u32::try_from(row).unwrap()), cosine);
                }
            }
        }
        cosines
    }

    fn search(a: &TokenBatch, b: Option<&TokenBatch>, limits: Limits) -> Candidates {
        let files = RecordFiles {
            first: a,
            second: b,
        };
        let distinct = &Distinct::all(&files);
        let tables = RecordTables { files, distinct };
        let equal = Equivalents::default();
        let symbols = Symbols::count(&tables, &equal, &Silent).unwrap();
        let lists = Lists::from_records(&tables, &symbols, &equal, &Silent).unwrap();
        let records = WeightedLists {
            lists: &lists,
            squares: symbols.squares(),
        };
        find_within(&tables, records, limits, &Silent).unwrap()
    }

    #[test]
    fn every_pair_above_the_floor_is_found() {
        for seed in 0..6 {
            let (a, b) = (texts(seed, 60), texts(seed + 50, 40));
            for b in [None, Some(b)] {
                let truth = cosines(&a, b.as_deref(), 0.1 - 1e-9);
                let second = b.as_deref().map(table);
                let found = search(&table(&a), second.as_ref(), Limits::new(60));
                assert!(truth.len() > 100 && found.cut == 0 && found.crowded == 0);
                assert!(found.pairs.is_sorted_by(|x, y| x.before(y).is_lt()));
                for pair in &found.pairs {
                    assert!((truth[&pair.rows] - pair.score).abs() < 1e-9, "{pair:?}");
                }
                let surely = truth
                    .values()
                    .filter(|cosine| **cosine > 0.1 + 1e-9)
                    .count();
                assert!((surely..=truth.len()).contains(&found.pairs.len()));
            }
        }
    }

    #[test]
    fn limits_leave_out_pairs_and_say_so() {
        let a = texts(3, 80);
        let truth = cosines(&a, None, 0.1 - 1e-9);
        let small = |change: fn(&mut Limits)| {
            let mut limits = Limits::new(80);
            change(&mut limits);
            let found = search(&table(&a), None, limits);
            for pair in &found.pairs {
                assert!((truth[&pair.rows] - pair.score).abs() < 1e-9, "{pair:?}");
            }
            assert!(found.pairs.len() < truth.len());
            found
        };
        assert!(small(|limits| (limits.entries, limits.compared) = (100, 3)).cut > 0);
        assert!(small(|limits| limits.candidates = 3).crowded > 0);
        let raised = small(|limits| limits.pairs = 50);
        assert!(raised.floor > 0.1);
        // No record is cut or crowded, so that each pair is kept or counted.
        let seen = raised.pairs.len() as u64 + raised.below;
        assert!((seen as i64 - truth.len() as i64).abs() <= 2, "{seen}");
        let above = truth
            .values()
            .filter(|cosine| **cosine > raised.floor + 1e-9)
            .count();
        assert!(raised.pairs.len() >= above && above >= 20);
    }
}
