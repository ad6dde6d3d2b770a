//! Whether two files share records at all: a contest of partners across the files with neighbours inside of one.
//!
//! Of two files that share no record, too, each record has a most similar one in the other file, and some of these are alike:
//! titles of one series, people of one name. Where few records have a partner, runners-up do not show whether any has. But
//! where both files are of one source, the larger one shows it, since its own records describe different things: if nothing is
//! shared, a record finds the more similar one in the other file at odds of r = n / (m - 1), of n records of the smaller file
//! and m of the larger one.
//!
//! Down from the highest score, let C records have found it in the other file, and W in their own (or as similar a one). By
//! chance, C - r W has a mean of 0. Records that found each other are no independent draws, nor are those of one series of titles:
//! so the variance is the sum of the squares of C - r W over *blocks*, records that are joined by what they found down to this
//! score (the cluster-robust variance). If the difference is within [`MOST_ERRORS`] standard errors at every score, there is
//! nothing to link.
//!
//! Whether both files are of one source, their symbols show: each occurs in both as often as their numbers of records let
//! expect, or else the mean of chi-squared is greater than 1 ([`MOST_DISPERSION`]). Two sources write differently, and then
//! more similar records in the same file say nothing: of Abt-Buy, in which all records have a partner, two thirds of the records find a more similar
//! one in their own file. There, the runners-up decide.
//!
//! This is the decoy database of mass spectrometry (Elias and Gygi 2007): what is found where nothing can be found tells what
//! chance finds. Up to 16 partners, far more similar than all neighbours, are within the errors; a known `share` or a
//! `threshold` links them.

use std::collections::HashMap;
use std::ops::Range;

use crate::candidates::{Limits, Nearest};
use crate::symbols::WeightedLists;
use crate::symbols::{Lists, Symbols};
use crate::tables::RecordTables;
use simgpu::error::Result;
use simgpu::progress::Progress;

/// The most records of the larger file that take part.
const MOST_RECORDS: usize = 1 << 16;

/// Records that take part at first, where there are many: where half of the records have a partner, these show it.
const FIRST_RECORDS: usize = 1 << 12;

/// How far the first records must go: twice as far, since they are looked at beside all.
const FIRST_ERRORS: f64 = 2.0 * MOST_ERRORS;

/// The fewest records with a neighbour that show anything.
const LEAST_RECORDS: u64 = 100;

/// How far chance moves the difference of wins at some score, in standard errors: one of 300 runs of coin tosses goes further on
/// one side.
const MOST_ERRORS: f64 = 4.0;

/// The greatest mean of chi-squared of the symbols of files of one source. Random halves of five files had 0.8 to 1.2, people and the
/// same people with errors 1.4, and two sources of products or papers 5 to 24.
const MOST_DISPERSION: f64 = 2.0;

/// Records that a symbol must have to count.
const LEAST_WITH: u32 = 20;

/// Of the records of the larger file that have a neighbour, where they found the more similar one.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Contest {
    /// Whether the larger file is the second one.
    pub of_second: bool,
    /// Records that found it in the other file.
    pub across: u64,
    /// Records that found it in their own file, or as similar a one.
    pub inside: u64,
    /// How differently both files use words, windows of three characters and values: the mean of chi-squared of those of 20
    /// records or more. Random parts of one file have 1; 0 if there are none.
    pub dispersion: f64,
    /// Whether chance explains all differences, so that nothing shows that the files share a record.
    pub is_chance: bool,
}

/// Compares partners across two files with neighbours inside of the larger one.
pub(crate) fn contest(
    tables: &RecordTables<'_>,
    lists: &Lists,
    symbols: &Symbols,
    progress: &dyn Progress,
) -> Result<Contest> {
    let [first, second] = [false, true].map(|is_second| tables.rows_of(is_second));
    let of_second = second.len() >= first.len();
    let dispersion = symbols.dispersion(first.len(), LEAST_WITH);
    let (own, other) = if of_second {
        (second, first)
    } else {
        (first, second)
    };
    let nearest = |among: &Range<usize>, is_within: bool| {
        let records = WeightedLists::new(lists, symbols);
        let limits = Limits::new(tables.rows());
        Nearest::new(among.clone(), is_within, records, limits)
    };
    let nearest = [nearest(&other, false), nearest(&own, true)];
    let odds = other.len() as f64 / own.len().saturating_sub(1).max(1) as f64;
    let is_one_source = dispersion.is_some_and(|it| it <= MOST_DISPERSION);
    let outcomes_of_most = |most: usize| {
        // Evenly spread.
        let step = own.len().div_ceil(most).max(1);
        let records: Vec<usize> = own.clone().step_by(step).collect();
        outcomes(tables, &records, &nearest, progress)
    };
    let mut found = outcomes_of_most(FIRST_RECORDS)?;
    let is_open = is_one_source && is_within(&found, odds, FIRST_ERRORS);
    if is_open && own.len() > FIRST_RECORDS {
        found = outcomes_of_most(MOST_RECORDS)?;
    }
    let is_chance = found.len() as u64 >= LEAST_RECORDS && is_within(&found, odds, MOST_ERRORS);
    let across = found.iter().filter(|outcome| outcome.is_across).count() as u64;
    Ok(Contest {
        of_second,
        across,
        inside: found.len() as u64 - across,
        dispersion: dispersion.unwrap_or(0.0),
        is_chance: is_one_source && is_chance,
    })
}

/// Where some records of the larger file found the more similar one. The scores descend.
fn outcomes(
    tables: &RecordTables<'_>,
    records: &[usize],
    [other, own]: &[Nearest<'_>; 2],
    progress: &dyn Progress,
) -> Result<Vec<Outcome>> {
    let (across, inside) = (other.find(records, progress)?, own.find(records, progress)?);
    let found = records.iter().zip(across.into_iter().zip(inside));
    let outcomes = found.filter_map(|(record, (across, inside))| {
        // A copy of the record is the most similar one there can be.
        let copy = Some((1.0, *record)).filter(|_| tables.distinct.copies(*record) > 1);
        let inside = copy.or(inside);
        let is_across = across.map(|best| best.0) > inside.map(|best| best.0);
        let (score, found) = if is_across { across } else { inside }?;
        Some(Outcome {
            score,
            is_across,
            rows: [*record, found],
        })
    });
    let mut outcomes: Vec<Outcome> = outcomes.collect();
    outcomes.sort_by(|a, b| b.score.total_cmp(&a.score));
    Ok(outcomes)
}

/// What a record found.
struct Outcome {
    score: f64,
    is_across: bool,
    /// The record, and what it found.
    rows: [usize; 2],
}

/// Whether the difference of wins is within so many standard errors of chance at every score. The scores descend.
fn is_within(outcomes: &[Outcome], odds: f64, errors: f64) -> bool {
    let mut blocks = NeighbourBlocks::default();
    let mut equal_scores = outcomes.chunk_by(|a, b| a.score == b.score);
    equal_scores.all(|equal| {
        for outcome in equal {
            let difference = if outcome.is_across { 1.0 } else { -odds };
            blocks.add(outcome.rows, difference);
        }
        blocks.sum.abs() <= errors * blocks.squares.sqrt()
    })
}

/// Records that are joined by what they found, with the difference of wins of each block.
#[derive(Default)]
struct NeighbourBlocks {
    /// An earlier member of the block of a record; a record without one leads its block.
    earlier: HashMap<usize, usize>,
    difference: HashMap<usize, f64>,
    /// Of the differences of all blocks.
    sum: f64,
    squares: f64,
}

impl NeighbourBlocks {
    fn leader(&mut self, mut row: usize) -> usize {
        while let Some(next) = self.earlier.get(&row).copied() {
            // Halves the way for the next time.
            if let Some(after) = self.earlier.get(&next).copied() {
                self.earlier.insert(row, after);
            }
            row = next;
        }
        row
    }

    /// Joins the blocks of two records, and adds to their difference.
    fn add(&mut self, rows: [usize; 2], difference: f64) {
        let [a, b] = rows.map(|row| self.leader(row));
        let mut block_difference = difference;
        for leader in [a, b] {
            if let Some(known) = self.difference.remove(&leader) {
                self.squares -= known * known;
                block_difference += known;
            }
        }
        if a != b {
            self.earlier.insert(a.max(b), a.min(b));
        }
        self.difference.insert(a.min(b), block_difference);
        self.sum += difference;
        self.squares += block_difference * block_difference;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distinct::Distinct;
    use crate::records::RecordFiles;
    use crate::tests::table;
    use crate::words::Equivalents;
    use simgpu::progress::Silent;
    use simgpu::scheme::fmix64;

    /// Titles of series: each has some words of its own, and some of its series.
    fn titles(seed: u64, count: u64) -> Vec<[String; 1]> {
        let title = |i: u64| {
            let random = fmix64(seed << 32 | i);
            let series = random % 60;
            [format!(
                "the s{series}a s{series}b s{series}c v{} w{}",
                random >> 8 & 255,
                random >> 16 & 255
            )]
        };
        (0..count).map(title).collect()
    }

    fn outcome(a: &[[String; 1]], b: &[[String; 1]]) -> Contest {
        let (a, b) = (table(a), table(b));
        let equivalents = Equivalents::default();
        let files = RecordFiles {
            first: &a,
            second: Some(&b),
        };
        let distinct = &Distinct::find(&files, &equivalents, &Silent).unwrap();
        let tables = &RecordTables { files, distinct };
        let symbols = &Symbols::count(tables, &equivalents, &Silent).unwrap();
        let lists = &Lists::from_records(tables, symbols, &equivalents, &Silent).unwrap();
        contest(tables, lists, symbols, &Silent).unwrap()
    }

    #[test]
    fn files_of_one_source_differ_by_chance() {
        for (seed, a, b) in [(1, 300, 300), (2, 120, 500), (3, 900, 200), (4, 400, 400)] {
            let found = outcome(&titles(seed, a), &titles(seed + 100, b));
            assert!(found.is_chance, "{seed} {found:?}");
            assert!((0.6..1.6).contains(&found.dispersion), "{found:?}");
            assert_eq!(found.of_second, b >= a);
            assert_eq!(found.across + found.inside, a.max(b));
        }
    }

    #[test]
    fn partners_are_no_chance() {
        let a = titles(5, 400);
        let mut b = titles(6, 400);
        for (from, to) in a.iter().zip(&mut b).take(40) {
            to[0] = format!("{} x", from[0]);
        }
        assert!(!outcome(&a, &b).is_chance);
    }

    #[test]
    fn of_many_records_some_decide_unless_few_have_partners() {
        let a = titles(11, 9_000);
        for (step, took_part) in [(2, 2_900..=3_000), (100, 8_900..=9_000)] {
            let mut b = titles(12, 9_000);
            for (from, to) in a.iter().zip(&mut b).step_by(step) {
                to[0] = format!("{} x", from[0]);
            }
            let found = outcome(&a, &b);
            assert!(!found.is_chance, "{step} {found:?}");
            assert!(
                took_part.contains(&(found.across + found.inside)),
                "{step} {found:?}"
            );
        }
    }

    #[test]
    fn another_way_of_writing_is_no_chance() {
        let a = titles(7, 400);
        let b: Vec<_> = titles(8, 400)
            .iter()
            .map(|[title]| [title.replace('s', "")])
            .collect();
        assert!(!outcome(&a, &b).is_chance);
    }

    #[test]
    fn few_records_show_nothing() {
        assert!(!outcome(&titles(9, 99), &titles(10, 99)).is_chance);
        assert!(!outcome(&[], &titles(10, 99)).is_chance);
        assert_eq!(
            outcome(&[], &[]),
            Contest {
                of_second: true,
                ..Contest::default()
            }
        );
    }
}
