//! Matches fingerprints by functions of three grid squares (MMDS 3.8.4), and compares with the book's figures.
//!
//! A print is the set of the squares of a grid that hold a minutia, a place where ridges end or merge. A function names
//! three squares, and prints that have minutiae in all three are candidates.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::ops::ControlFlow;

use simgpu::pipeline::{CandidateSource, similar_pairs};
use simgpu::store::ExactSets;

/// A minutia nearer than this to the border of a square counts in the square beyond, too. The unit is a square.
const MARGIN: f64 = 0.1;

/// The probability that a print shows a minutia of its finger.
const SHOWN: f64 = 0.9;

/// The book's probability that a square has a minutia.
const FILLED: f64 = 0.2;

/// The book's probability that a square with a minutia has one in another print of the same finger.
const FILLED_AGAIN: f64 = 0.8;

const FUNCTIONS: usize = 1024;

const FINGERS: usize = 1000;

/// Random numbers from a formula (splitmix64), the same on every machine.
struct Numbers(u64);

impl Numbers {
    /// A number from 0 to 1.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ mixed >> 31) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A whole number below `bound`.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "from 0 to less than the bound"
    )]
    fn place(&mut self, bound: usize) -> usize {
        (self.next() * bound as f64) as usize
    }

    fn coin(&mut self) -> i32 {
        i32::from(self.next() < 0.5)
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.next()
    }
}

/// A finger: the places of its minutiae.
struct Finger(Vec<[f64; 2]>);

/// A grid of `side` times `side` squares.
#[derive(Clone, Copy)]
struct Grid {
    side: i32,
}

impl Grid {
    /// A finger whose minutiae are independent of each other (a Poisson process), beyond the edge of the grid, too.
    fn finger(self, numbers: &mut Numbers) -> Finger {
        // A square has a minutia if one lies in it or within the margin around it.
        let reach = 1.0 + 2.0 * MARGIN;
        let per_square = -(1.0 - FILLED).ln() / (SHOWN * reach * reach);
        let mut minutiae = Vec::new();
        let none = (-per_square).exp();
        for x in -1..=self.side {
            for y in -1..=self.side {
                // The method of Knuth.
                let mut product = numbers.next();
                while product > none {
                    minutiae.push([f64::from(x) + numbers.next(), f64::from(y) + numbers.next()]);
                    product *= numbers.next();
                }
            }
        }
        Finger(minutiae)
    }

    /// A print of a finger: the numbers of the squares with minutiae, ascending. Skin stretches, so that each minutia
    /// moves by up to `shift`.
    fn print(self, finger: &Finger, shift: f64, numbers: &mut Numbers) -> Vec<u64> {
        let mut squares = Vec::new();
        for place in &finger.0 {
            if numbers.next() >= SHOWN {
                continue;
            }
            let [x, y] = place.map(|at| at + numbers.between(-shift, shift));
            for column in columns(x) {
                for row in columns(y) {
                    if self.holds(column) && self.holds(row) {
                        squares.push(self.number(column, row));
                    }
                }
            }
        }
        squares.sort_unstable();
        squares.dedup();
        squares
    }

    fn number(self, column: i32, row: i32) -> u64 {
        u64::from((column * self.side + row).unsigned_abs())
    }

    fn holds(self, column: i32) -> bool {
        (0..self.side).contains(&column)
    }

    /// Functions of three random squares, as many as `count`. At least one other square lies between any two squares of a
    /// function, so that no minutia fills both; and no square is in two functions until all such squares are used.
    fn functions(self, count: usize, numbers: &mut Numbers) -> Vec<[u64; 3]> {
        let mut functions = Vec::new();
        while functions.len() < count {
            let [left, top] = [numbers.coin(), numbers.coin()];
            let columns = (left..self.side).step_by(2);
            let rows = || (top..self.side).step_by(2);
            let squares =
                columns.flat_map(|column| rows().map(move |row| self.number(column, row)));
            let mut squares: Vec<u64> = squares.collect();
            // The shuffle of Fisher and Yates.
            for last in (1..squares.len()).rev() {
                squares.swap(last, numbers.place(last + 1));
            }
            functions.extend(
                squares
                    .chunks_exact(3)
                    .map(|three| [three[0], three[1], three[2]]),
            );
        }
        functions.truncate(count);
        functions
    }
}

/// The columns in which a minutia at `x` counts.
#[allow(
    clippy::cast_possible_truncation,
    reason = "places lie near a grid of a few hundred squares"
)]
fn columns(x: f64) -> std::ops::RangeInclusive<i32> {
    (x - MARGIN).floor() as i32..=(x + MARGIN).floor() as i32
}

/// How far minutiae move, so that a square that has a minutia has one in another print with probability
/// [`FILLED_AGAIN`].
///
/// Two prints have both no minutia in a square with probability exp(-d (2 - s o^2)): d = -ln(1 - [`FILLED`]), s is
/// [`SHOWN`], and o, the expected overlap along an axis, 1 - 2 shift / (3 (1 + 2 [`MARGIN`])).
fn shift() -> f64 {
    let neither = 1.0 - 2.0 * FILLED + FILLED * FILLED_AGAIN;
    let common = 2.0 - neither.ln() / (1.0 - FILLED).ln();
    1.5 * (1.0 + 2.0 * MARGIN) * (1.0 - (common / SHOWN).sqrt())
}

/// The functions as a source of candidates: each is a bucket of the prints that have minutiae in its squares.
struct Functions {
    positions: Vec<u32>,
    /// The functions of each print, ascending.
    of_print: Vec<Vec<u32>>,
    /// The prints of each function, ascending.
    buckets: Vec<Vec<u32>>,
}

impl Functions {
    fn of(functions: &[[u64; 3]], prints: &[&[u64]]) -> Self {
        let mut buckets = vec![Vec::new(); functions.len()];
        let mut of_print = Vec::with_capacity(prints.len());
        for (print, squares) in (0..).zip(prints) {
            let has = |function: &u32| has_all(squares, &functions[*function as usize]);
            let of: Vec<u32> = (0..).take(functions.len()).filter(has).collect();
            of.iter()
                .for_each(|function| buckets[*function as usize].push(print));
            of_print.push(of);
        }
        Functions {
            positions: (0..).take(prints.len()).collect(),
            of_print,
            buckets,
        }
    }
}

impl CandidateSource for Functions {
    fn positions(&self) -> &[u32] {
        &self.positions
    }

    fn partners(&self, index: u32, from: u32, partners: &mut Vec<u32>) {
        for function in &self.of_print[index as usize] {
            let bucket = self.buckets[*function as usize].iter();
            partners.extend(bucket.filter(|print| **print >= from && **print != index));
        }
        partners.sort_unstable();
        partners.dedup();
    }

    fn most_partners(&self, index: u32) -> usize {
        let functions = self.of_print[index as usize].iter();
        functions
            .map(|function| self.buckets[*function as usize].len())
            .sum()
    }
}

fn has_all(squares: &[u64], function: &[u64; 3]) -> bool {
    function
        .iter()
        .all(|square| squares.binary_search(square).is_ok())
}

/// A share, measured on independent cases.
#[derive(Clone, Copy, Debug)]
struct Measured {
    mean: f64,
    standard_error: f64,
}

impl Measured {
    fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares = values.iter().map(|value| (value - mean).powi(2));
        Measured {
            mean,
            standard_error: (squares.sum::<f64>() / (count - 1.0) / count).sqrt(),
        }
    }

    #[cfg(test)]
    fn is_near(self, value: f64) -> bool {
        (self.mean - value).abs() < 3.0 * self.standard_error
    }
}

/// What the book computes.
const BOOK: [(&str, f64); 8] = [
    ("squares with a minutia", FILLED),
    ("of these, in another print of the finger", FILLED_AGAIN),
    ("one function, same finger", 0.004_096),
    ("one function, strangers", 0.000_064),
    ("any of 1,024 functions, same finger", 0.985_1),
    ("any of 1,024 functions, strangers", 0.063_4),
    ("any of 1,024 and of 1,024 others, same finger", 0.970_4),
    ("any of 1,024 and of 1,024 others, strangers", 0.004_0),
];

/// The same, measured on two prints each of [`FINGERS`] fingers; strangers are prints of neighbouring fingers.
fn many_one(grid: Grid) -> [Measured; 8] {
    let numbers = &mut Numbers(1);
    let functions = grid.functions(2 * FUNCTIONS, numbers);
    let (some, others) = functions.split_at(FUNCTIONS);
    let shift = shift();
    let prints: Vec<[Vec<u64>; 2]> = (0..FINGERS)
        .map(|_| {
            let finger = grid.finger(numbers);
            [(); 2].map(|()| grid.print(&finger, shift, numbers))
        })
        .collect();
    let mut values: [Vec<f64>; 8] = Default::default();
    for [one, other] in &prints {
        let again = one
            .iter()
            .filter(|square| other.binary_search(square).is_ok());
        values[0].push(one.len() as f64 / f64::from(grid.side * grid.side));
        values[1].push(again.count() as f64 / one.len() as f64);
    }
    let same = prints.iter().map(|[one, other]| [one, other]);
    let strangers = prints
        .chunks(2)
        .map(|fingers| [&fingers[0][0], &fingers[1][1]]);
    for (pairs, place) in [(same.collect::<Vec<_>>(), 2), (strangers.collect(), 3)] {
        for pair in pairs {
            let matches = [some, others].map(|functions| {
                let is_match =
                    |function: &&[u64; 3]| pair.iter().all(|print| has_all(print, function));
                functions.iter().filter(is_match).count()
            });
            let is_found = matches.map(|matches| f64::from(u8::from(matches > 0)));
            values[place].push(matches[0] as f64 / FUNCTIONS as f64);
            values[place + 2].push(is_found[0]);
            values[place + 4].push(is_found[0] * is_found[1]);
        }
    }
    values.each_ref().map(|values| Measured::of(values))
}

/// The pairs of a pile of prints that the functions find, and the share of all pairs that had to be compared for it.
struct ManyMany {
    same_finger: usize,
    strangers: usize,
    compared: f64,
}

/// Finds the prints of the same finger in a pile of two prints each of `fingers` fingers.
fn many_many(grid: Grid, fingers: u32) -> simgpu::Result<ManyMany> {
    let numbers = &mut Numbers(2);
    let functions = grid.functions(FUNCTIONS, numbers);
    let shift = shift();
    let mut prints = Vec::new();
    for _ in 0..fingers {
        let finger = grid.finger(numbers);
        prints.extend([(); 2].map(|()| grid.print(&finger, shift, numbers)));
    }
    let borrowed: Vec<&[u64]> = prints.iter().map(Vec::as_slice).collect();
    let source = Functions::of(&functions, &borrowed);
    let mut sets = ExactSets::default();
    for (position, print) in (0..).zip(&prints) {
        sets.insert(position, print)?;
    }
    let mut found = ManyMany {
        same_finger: 0,
        strangers: 0,
        compared: 0.0,
    };
    // Prints of the same finger have a Jaccard similarity of .16 / .24, and strangers one of .04 / .36.
    similar_pairs(&source, &sets, 0.4, &mut |block| {
        found.compared += block.compared as f64;
        for pair in block.pairs {
            if pair.lo / 2 == pair.hi / 2 {
                found.same_finger += 1
            } else {
                found.strangers += 1
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    let all = f64::from(fingers) * (2.0 * f64::from(fingers) - 1.0);
    found.compared /= all;
    Ok(found)
}

/// The grid of a finger. Its functions share squares, so that two prints with few minutiae in common fail many of them.
const FINGER: Grid = Grid { side: 16 };

/// A grid so large that no square is in two functions: they are independent, as the book assumes.
const SHEET: Grid = Grid { side: 160 };

fn main() -> simgpu::Result<()> {
    let grids = [("16 x 16", FINGER), ("160 x 160", SHEET)];
    let measured = grids.map(|(_, grid)| many_one(grid));
    let [finger, sheet] = grids.map(|(name, _)| format!("{name} squares"));
    println!("{:46}{:>10}{finger:>22}{sheet:>22}", "many-one", "book");
    for (i, (what, book)) in BOOK.into_iter().enumerate() {
        let [finger, sheet] = [measured[0][i], measured[1][i]]
            .map(|it| format!("{:.6} ± {:.6}", it.mean, it.standard_error));
        println!("{what:46}{book:10.6}{finger:>22}{sheet:>22}");
    }
    let found = many_many(FINGER, 500)?;
    println!(
        "\nmany-many: 500 fingers with two prints each, 16 x 16 squares: {} of 500 pairs are found, and {} others; {:.1} % of \
         all pairs of prints were compared",
        found.same_finger,
        found.strangers,
        100.0 * found.compared
    );
    Ok(())
}

#[test]
fn figures_are_those_of_the_book() {
    let sheet = many_one(SHEET);
    for ((what, book), measured) in BOOK.into_iter().zip(sheet) {
        assert!(measured.is_near(book), "{what}: {measured:?}");
    }
}

#[test]
fn a_finger_has_the_rates_of_single_functions() {
    let finger = many_one(FINGER);
    for ((what, book), measured) in BOOK.into_iter().zip(finger).take(4) {
        assert!(measured.is_near(book), "{what}: {measured:?}");
    }
    // Functions that share squares find less than independent ones.
    assert!(finger[4].mean > 0.8 && finger[4].mean < BOOK[4].1);
}

#[test]
fn a_pile_is_matched_with_few_comparisons() {
    let found = many_many(FINGER, 300).unwrap();
    assert!(found.same_finger > 240, "{}", found.same_finger);
    assert_eq!(found.strangers, 0);
    assert!(found.compared < 0.07, "{}", found.compared);
}

#[test]
fn a_minutia_near_a_border_counts_in_several_squares() {
    let finger = |place| Finger(vec![place; 40]);
    let squares = |place| FINGER.print(&finger(place), 0.0, &mut Numbers(3));
    assert_eq!(squares([2.5, 3.5]), [35]);
    assert_eq!(squares([2.95, 3.5]), [35, 51]);
    assert_eq!(squares([2.95, 3.05]), [34, 35, 50, 51]);
    assert_eq!(squares([0.05, 0.05]), [0]);
}
