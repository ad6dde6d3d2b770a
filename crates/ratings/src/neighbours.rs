//! Finds for each item, or each user, the most similar others.
//!
//! **Neighbours are counted, not joined or hashed.** A row visits the lists of all its elements and counts what it
//! shares with each other row, so that intersections of sets and of bags are exact. Similarities of ratings are low by
//! nature (the sequel of a film has 0.5), so a search needs the best of each row, not all pairs above a threshold. At
//! the threshold of 0.05 that the weakest useful neighbours have, an exact join or LSH would make most pairs
//! candidates, in order to compute the same intersections.

use rayon::prelude::*;

use super::opinions::{RatedAs, Scale};
use super::rating::Ratings;
use super::sets::{Bags, By};
use simgpu::error::{Error, Result, row_number};
use simgpu::pipeline::binomial_interval;
use simgpu::progress::{Progress, advance};

/// Which neighbours to find. Change fields of the default as needed.
#[derive(Clone, Debug, PartialEq)]
pub struct NeighbourTask {
    /// What is compared; default items.
    pub by: By,
    /// What is in a set; default what was liked.
    pub rated_as: RatedAs,
    /// The stars that mean liked and hated.
    pub scale: Scale,
    /// The most neighbours of each; default 10.
    pub top: usize,
    /// The fewest elements in common; default 5. Two films with one viewer each, the same one, have similarity 1, and
    /// say nothing.
    pub min_support: u32,
}

impl Default for NeighbourTask {
    fn default() -> Self {
        NeighbourTask {
            by: By::default(),
            rated_as: RatedAs::default(),
            scale: Scale::default(),
            top: 10,
            min_support: 5,
        }
    }
}

/// A neighbour of an item or a user.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbour {
    /// The number of the item or user.
    pub row: u32,
    /// The Jaccard similarity of both sets. For bags: the sum of the smaller numbers of copies of each element, divided by
    /// the sum of the larger ones.
    pub similarity: f64,
    /// The number of elements in common: of items, the users who rated both.
    pub support: u32,
    /// The number of elements of either.
    pub union: u32,
}

impl Neighbour {
    /// The confidence interval of the similarity (Clopper and Pearson 1934), lower and upper end.
    ///
    /// It treats the [`Neighbour::union`] as a random sample of all who could have rated either: in those, the share of
    /// common ones lies in the interval with probability `confidence` or more. For bags, it is the interval of a sample of
    /// as many with the share [`Neighbour::similarity`], which is an approximation. It says nothing of how the best of many
    /// was chosen.
    ///
    /// # Errors
    /// [`Error::Parameter`](simgpu::Error::Parameter) unless `confidence` is above 0 and below 1.
    pub fn interval(&self, confidence: f64) -> Result<(f64, f64)> {
        let union = f64::from(self.union);
        binomial_interval(self.similarity * union, union, confidence)
    }
}

/// The neighbours of all items, or of all users.
#[derive(Clone, Debug)]
pub struct Neighbours {
    rows: u32,
    /// The number of the first neighbour of each row, and of all.
    starts: Vec<usize>,
    all: Vec<Neighbour>,
    unsupported: u64,
}

impl Neighbours {
    /// The number of items or users.
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// The neighbours of a row, the most similar first; of equally similar ones the one with more support, then the one
    /// with the smaller number.
    ///
    /// # Panics
    /// If `row` is not below the number of rows.
    pub fn of(&self, row: u32) -> &[Neighbour] {
        let row = row as usize;
        &self.all[self.starts[row]..self.starts[row + 1]]
    }

    /// The number of neighbours of all rows.
    pub fn total(&self) -> u64 {
        self.all.len() as u64
    }

    /// The number of pairs, each counted once, that have elements in common, but fewer than the minimum support.
    pub fn unsupported_pairs(&self) -> u64 {
        self.unsupported
    }
}

/// Rows between two calls of [`Progress::advance`].
const BLOCK: u32 = 1024;

/// Finds the neighbours of every item or user, exactly, on the current rayon pool. Progress shows the stage `compare`.
///
/// Each row counts what it shares with every row that has one of its elements, so the time grows with the sum of the
/// squares of the lengths of all lists of rows: by item, with the squares of the numbers of ratings of each user.
///
/// # Errors
/// [`Error::Parameter`] if a number of the task is out of range or stars cannot be counted; [`Error::Stopped`] if the
/// progress stops the search.
pub fn neighbours(
    ratings: &Ratings,
    task: &NeighbourTask,
    progress: &dyn Progress,
) -> Result<Neighbours> {
    for (name, value) in [
        ("`top`", task.top as u64),
        ("`min_support`", u64::from(task.min_support)),
    ] {
        if value == 0 {
            return Err(Error::Parameter {
                name,
                value: "0".to_owned(),
                expected: "at least 1".to_owned(),
            });
        }
    }
    let bags = &Bags::new(ratings, task.by, task.rated_as, &task.scale)?;
    let copies = |row: u32| bags.elements.get(row).iter().map(|e| u64::from(e.copies));
    let rows = match task.by {
        By::Item => ratings.items(),
        By::User => ratings.users(),
    };
    let sizes: &Vec<u64> = &(0..rows)
        .into_par_iter()
        .map(|row| copies(row).sum())
        .collect();
    let mut found = Neighbours {
        rows,
        starts: Vec::with_capacity(rows as usize + 1),
        all: Vec::new(),
        unsupported: 0,
    };
    found.starts.push(0);
    progress.begin("compare", u64::from(rows));
    for first in (0..rows).step_by(BLOCK as usize) {
        let block = first..rows.min(first.saturating_add(BLOCK));
        let found_in_block = block.clone().into_par_iter().map_init(
            || Counting::new(rows as usize),
            |counting, row| counting.neighbours(bags, sizes, row, task),
        );
        for (neighbours, unsupported) in found_in_block.collect::<Result<Vec<_>>>()? {
            found.all.extend(neighbours);
            found.starts.push(found.all.len());
            found.unsupported += unsupported;
        }
        advance(progress, u64::from(block.end), 0, 0)?;
    }
    // Both rows of a pair counted it.
    found.unsupported /= 2;
    Ok(found)
}

/// What one row shares with each other row.
struct Counting {
    /// The elements in common, by row; 0 but for `touched` rows.
    common: Vec<u32>,
    /// The copies in common.
    shared: Vec<u64>,
    touched: Vec<u32>,
}

impl Counting {
    fn new(rows: usize) -> Self {
        Counting {
            common: vec![0; rows],
            shared: vec![0; rows],
            touched: Vec::new(),
        }
    }

    /// The neighbours of a row, and how many others lack support.
    fn neighbours(
        &mut self,
        bags: &Bags,
        sizes: &[u64],
        row: u32,
        task: &NeighbourTask,
    ) -> Result<(Vec<Neighbour>, u64)> {
        let elements = bags.elements.get(row);
        for element in elements {
            for other in bags.rows.get(element.of) {
                let place = other.of as usize;
                if self.common[place] == 0 {
                    self.touched.push(other.of);
                }
                self.common[place] += 1;
                self.shared[place] += u64::from(element.copies.min(other.copies));
            }
        }
        let mut found = Vec::new();
        let mut unsupported = 0;
        for other in self.touched.drain(..) {
            let support = std::mem::take(&mut self.common[other as usize]);
            let shared = std::mem::take(&mut self.shared[other as usize]);
            if other == row {
                continue;
            }
            if support < task.min_support {
                unsupported += 1;
                continue;
            }
            let in_either = elements.len() + bags.elements.get(other).len() - support as usize;
            let union = sizes[row as usize] + sizes[other as usize] - shared;
            found.push(Neighbour {
                row: other,
                similarity: shared as f64 / union as f64,
                support,
                union: row_number(in_either)?,
            });
        }
        let order = |a: &Neighbour, b: &Neighbour| {
            let similarity = b.similarity.total_cmp(&a.similarity);
            let support = similarity.then(b.support.cmp(&a.support));
            support.then(a.row.cmp(&b.row))
        };
        if found.len() > task.top {
            found.select_nth_unstable_by(task.top - 1, order);
            found.truncate(task.top);
        }
        found.sort_unstable_by(order);
        Ok((found, unsupported))
    }
}
