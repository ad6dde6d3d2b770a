//! The true pairs that recall is measured against: all pairs of documents whose Jaccard similarity reaches
//! a threshold, found without simgpu's code and without LSH.
//!
//! A document is the set of its shingles of five words. The words are those of `unicode_segmentation`,
//! after each run of white space has become a blank, and shingles are compared as strings, so that
//! nothing can collide.
//!
//! The join is the prefix filter (Chaudhuri, Ganti, Kaushik 2006; Bayardo, Ma, Srikant 2007), which
//! misses nothing. Let the elements of all sets have one order, rarest first. Sets A and B of similarity
//! t share at least t |A or B| elements, hence at least ceil(t |A|). The first element that they share
//! precedes all the others in A, so it lies among the first |A| - ceil(t |A|) + 1 elements of A, and likewise
//! of B. An index of those prefixes therefore leads to every similar pair. A merge then decides each pair whose
//! sizes and remaining elements allow for the similarity.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use rayon::prelude::*;
use serde::Deserialize;
use unicode_segmentation::UnicodeSegmentation;

const SHINGLE_WORDS: usize = 5;

/// Two documents by their rows, `lo < hi`, and |A and B| / |A or B|.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TruePair {
    pub(crate) lo: u32,
    pub(crate) hi: u32,
    pub(crate) similarity: f64,
}

/// Sets of numbers, one per document: all elements, back to back, and the end of each set.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sets {
    elements: Vec<u32>,
    ends: Vec<usize>,
}

impl Sets {
    /// The shingle sets of a file of JSON Lines, plain or compressed by zstd, with the text in `text`.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        #[derive(Deserialize)]
        struct Record {
            text: String,
        }
        let file = File::open(path)?;
        let is_compressed = path.extension().is_some_and(|ending| ending == "zst");
        let bytes: Box<dyn Read> = if is_compressed {
            Box::new(zstd::Decoder::new(file)?)
        } else {
            Box::new(file)
        };
        let mut sets = Sets::default();
        let mut numbers = ShingleNumbers::default();
        for line in BufReader::new(bytes).lines() {
            let record: Record = serde_json::from_str(&line?)?;
            sets.push(numbers.of_text(&record.text));
        }
        Ok(sets)
    }

    /// Appends a set; `elements` may repeat and come in any order.
    pub(crate) fn push(&mut self, mut elements: Vec<u32>) {
        elements.sort_unstable();
        elements.dedup();
        self.elements.extend(elements);
        self.ends.push(self.elements.len());
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn get(&self, i: usize) -> &[u32] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.elements[start..self.ends[i]]
    }

    fn iter(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.len()).map(|i| self.get(i))
    }

    /// One more than the greatest element.
    fn element_count(&self) -> usize {
        self.elements.iter().max().map_or(0, |max| index(*max) + 1)
    }

    /// The same sets with elements renumbered by the number of sets that hold them, rarest first.
    fn rarest_first(&self) -> Self {
        let len = self.element_count();
        let mut holders = vec![0u32; len];
        for element in &self.elements {
            holders[index(*element)] += 1;
        }
        let mut order: Vec<u32> = (0..number(len)).collect();
        order.sort_by_key(|element| holders[index(*element)]);
        let mut ranks = vec![0; len];
        for (rank, element) in (0..).zip(order) {
            ranks[index(element)] = rank;
        }
        let mut ranked = Sets::default();
        for set in self.iter() {
            ranked.push(set.iter().map(|element| ranks[index(*element)]).collect());
        }
        ranked
    }
}

/// Numbers for shingles, in the order of their first occurrence.
#[derive(Debug, Default)]
pub(crate) struct ShingleNumbers(HashMap<String, u32>);

impl ShingleNumbers {
    /// The numbers of a text's shingles: every five consecutive words, or all words if there are fewer. A text
    /// without a word has none.
    pub(crate) fn of_text(&mut self, text: &str) -> Vec<u32> {
        let text = merge_blanks(text);
        let words: Vec<&str> = text.unicode_words().collect();
        let size = SHINGLE_WORDS.min(words.len()).max(1);
        // No word holds a blank, so different words are different strings.
        let shingles = words.windows(size).map(|words| words.join(" "));
        shingles.map(|shingle| self.number_of(shingle)).collect()
    }

    fn number_of(&mut self, shingle: String) -> u32 {
        let next = number(self.0.len());
        *self.0.entry(shingle).or_insert(next)
    }
}

fn merge_blanks(text: &str) -> String {
    let mut merged = String::with_capacity(text.len());
    for c in text.chars() {
        if !c.is_whitespace() {
            merged.push(c);
        } else if !merged.ends_with(' ') {
            merged.push(' ');
        }
    }
    merged
}

/// All pairs of sets whose similarity reaches `threshold`, by ascending rows. Empty sets have no pairs.
pub(crate) fn similar_pairs(sets: &Sets, threshold: f64) -> Vec<TruePair> {
    let distinct = Distinct::of(sets);
    let join = Join::of(distinct.sets.rarest_first(), threshold);
    let similar = (0..distinct.sets.len()).into_par_iter();
    let similar = similar.map_init(
        || vec![usize::MAX; distinct.sets.len()],
        |reached, a| join.earlier_sets_like(a, reached),
    );
    let between = similar.flatten_iter();
    let between = between.flat_map_iter(|(a, b, similarity)| distinct.rows(a, b, similarity));
    let within = (0..distinct.sets.len()).into_par_iter();
    let within = within.flat_map_iter(|a| distinct.rows(a, a, 1.0));
    let mut pairs: Vec<TruePair> = between.chain(within).collect();
    pairs.par_sort_unstable_by_key(|pair| (pair.lo, pair.hi));
    pairs
}

/// The distinct sets that are not empty, smallest first, and the rows that hold each.
#[derive(Debug)]
struct Distinct {
    sets: Sets,
    rows: Sets,
}

impl Distinct {
    fn of(sets: &Sets) -> Self {
        let set_of = |row: &u32| sets.get(index(*row));
        let mut rows: Vec<u32> = (0..number(sets.len())).collect();
        rows.retain(|row| !set_of(row).is_empty());
        rows.par_sort_by_key(|row| (set_of(row).len(), set_of(row)));
        let mut distinct = Distinct {
            sets: Sets::default(),
            rows: Sets::default(),
        };
        for same in rows.chunk_by(|a, b| set_of(a) == set_of(b)) {
            distinct.sets.push(set_of(&same[0]).to_vec());
            distinct.rows.push(same.to_vec());
        }
        distinct
    }

    /// The pairs of rows that have the sets `a` and `b`, which may be the same one.
    fn rows(&self, a: usize, b: usize, similarity: f64) -> impl Iterator<Item = TruePair> {
        let (rows_a, rows_b) = (self.rows.get(a), self.rows.get(b));
        let pairs = rows_a
            .iter()
            .flat_map(move |x| rows_b.iter().map(move |y| (*x, *y)));
        let pairs = pairs.filter(move |(x, y)| a != b || x < y);
        pairs.map(move |(x, y)| TruePair {
            lo: x.min(y),
            hi: x.max(y),
            similarity,
        })
    }
}

/// Sets whose elements are ordered, by ascending size, and the index of their prefixes.
#[derive(Debug)]
struct Join {
    sets: Sets,
    threshold: f64,
    /// The places of each element in prefixes, by ascending sets, and their ends.
    places: Vec<Posting>,
    ends: Vec<usize>,
}

/// The place of an element: its set, and the number of elements before it.
#[derive(Clone, Copy, Debug, Default)]
struct Posting {
    set: u32,
    position: u32,
}

impl Join {
    fn of(sets: Sets, threshold: f64) -> Self {
        let mut join = Join {
            sets,
            threshold,
            places: Vec::new(),
            ends: Vec::new(),
        };
        let len = join.sets.element_count();
        let mut starts = vec![0; len + 1];
        for set in 0..join.sets.len() {
            for element in join.prefix(set) {
                starts[index(*element) + 1] += 1;
            }
        }
        for element in 0..len {
            starts[element + 1] += starts[element];
        }
        let mut places = vec![Posting::default(); starts[len]];
        for set in 0..join.sets.len() {
            for (element, position) in join.prefix(set).iter().zip(0..) {
                let next = &mut starts[index(*element)];
                places[*next] = Posting {
                    set: number(set),
                    position,
                };
                *next += 1;
            }
        }
        // By now every element's start has moved to its end.
        join.ends = starts;
        join.places = places;
        join
    }

    /// The least number of elements that similar sets share if their union, or one of them, has `len` elements.
    /// Rounding may lower it by one, which costs only time.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it lies between 1 and the number of elements"
    )]
    fn least_shared(&self, len: f64) -> usize {
        const SLACK: f64 = 1e-9;
        (self.threshold * len * (1.0 - SLACK)).ceil().max(1.0) as usize
    }

    /// The prefix of a set: every similar set shares at least one of these elements.
    fn prefix(&self, set: usize) -> &[u32] {
        let elements = self.sets.get(set);
        &elements[..elements.len() - self.least_shared(elements.len() as f64) + 1]
    }

    fn places(&self, element: u32) -> &[Posting] {
        let element = index(element);
        let start = if element == 0 {
            0
        } else {
            self.ends[element - 1]
        };
        &self.places[start..self.ends[element]]
    }

    /// The sets before `a` that are similar to it. `reached` holds, for each set, the last `a` that reached it.
    fn earlier_sets_like(&self, a: usize, reached: &mut [usize]) -> Vec<(usize, usize, f64)> {
        let mut similar = Vec::new();
        let elements = self.sets.get(a);
        let least = self.least_shared(elements.len() as f64);
        for (i, element) in self.prefix(a).iter().enumerate() {
            let places = self.places(*element);
            // Sets ascend by size; those smaller than `least` share too little.
            let first =
                places.partition_point(|place| self.sets.get(index(place.set)).len() < least);
            for place in &places[first..] {
                let (b, j) = (index(place.set), index(place.position));
                if b >= a {
                    break;
                }
                // The first shared element bounds how many the two can share.
                if std::mem::replace(&mut reached[b], a) != a {
                    let (rest_a, rest_b) = (&elements[i..], &self.sets.get(b)[j..]);
                    let similarity = self.similarity(a, b, rest_a, rest_b);
                    similar.extend(similarity.map(|similarity| (a, b, similarity)));
                }
            }
        }
        similar
    }

    /// The similarity of two sets, if it reaches the threshold. All shared elements lie in `rest_a` and `rest_b`.
    fn similarity(&self, a: usize, b: usize, rest_a: &[u32], rest_b: &[u32]) -> Option<f64> {
        let total = self.sets.get(a).len() + self.sets.get(b).len();
        // shared >= t (total - shared)
        let least = self.least_shared(total as f64 / (1.0 + self.threshold));
        let shared = shared_elements(rest_a, rest_b, least)?;
        let similarity = shared as f64 / (total - shared) as f64;
        (similarity >= self.threshold).then_some(similarity)
    }
}

/// How many elements two ascending slices share, or `None` if fewer than `least`.
fn shared_elements(a: &[u32], b: &[u32], least: usize) -> Option<usize> {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        if shared + (a.len() - i).min(b.len() - j) < least {
            return None;
        }
        let (in_a, in_b) = (a[i] <= b[j], b[j] <= a[i]);
        shared += usize::from(in_a & in_b);
        i += usize::from(in_a);
        j += usize::from(in_b);
    }
    (shared >= least).then_some(shared)
}

fn index(number: u32) -> usize {
    number as usize
}

fn number(index: usize) -> u32 {
    u32::try_from(index).expect("a corpus has fewer than 2^32 documents and shingles")
}
