//! What the page of a search shows of its pairs: how similar they are, which of them to look at, and between which files
//! they are. One pass over the pairs, which are not held.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};

use super::lowest::{Lowest, pair_at_random};
use super::overview::{SHOWN, hundredths, placed};
use super::sources::with_most_documents;
use simgpu::error::Result;
use simgpu::search::{DocumentPair, Search};
use simgpu_io::{PairExample, PairsBin, PairsOfSources, PairsOverview, Places};

/// Examples with the same first document, at most.
const SHOWN_OF_DOCUMENT: usize = 2;

/// Distances are counted in so many bins, at most.
const BINS: u64 = 100;

/// Pairs of files that are listed, at most.
const LISTED: usize = 1000;

/// The pass over the pairs.
pub(super) struct PassingPairs<'a> {
    places: &'a Places,
    /// The width of a bin of distances; `None` for similarities.
    width: Option<u64>,
    /// The number of pairs in each bin.
    bins: Vec<u64>,
    nearest: Lowest<DocumentPair>,
    random: Lowest<DocumentPair>,
    /// The files that are counted; empty if no file is.
    listed: HashSet<usize>,
    file_pairs: HashMap<[usize; 2], u64>,
}

impl<'a> PassingPairs<'a> {
    pub(super) fn new(places: &'a Places, search: &Search) -> Self {
        let width = search.within.map(|within| within.most / BINS + 1);
        let documents = places.documents_of_files();
        let single = documents.iter().all(|documents| *documents <= 1);
        let has_several = documents.iter().filter(|documents| **documents > 0).count() > 1;
        let listed = if has_several && !single {
            with_most_documents(&documents).into_iter().collect()
        } else {
            HashSet::new()
        };
        PassingPairs {
            places,
            width,
            bins: vec![0; 101],
            nearest: Lowest::new(SHOWN, SHOWN_OF_DOCUMENT),
            // As many as may be among the nearest, too.
            random: Lowest::new(2 * SHOWN, 2 * SHOWN),
            listed,
            file_pairs: HashMap::new(),
        }
    }

    pub(super) fn add(&mut self, pair: &DocumentPair) {
        let bin = match (pair.distance, self.width) {
            (Some(distance), Some(width)) => usize::try_from(distance / width).ok(),
            _ => pair.similarity.map(|of| hundredths(of).into()),
        };
        if let Some(count) = bin.and_then(|bin| self.bins.get_mut(bin)) {
            *count += 1;
        }
        if !self.listed.is_empty() {
            let files = [pair.a, pair.b].map(|row| self.places.file_of(row));
            if files.iter().all(|file| self.listed.contains(file)) {
                *self.file_pairs.entry(files).or_insert(0) += 1;
            }
        }
        if pair.similarity.is_some_and(|of| of >= 1.0) || pair.distance == Some(0) {
            return;
        }
        let nearest = match (pair.similarity, pair.distance) {
            (Some(similarity), _) => Some(similarity.to_bits()),
            (None, distance) => distance.map(|distance| u64::MAX - distance),
        };
        if let Some(key) = nearest {
            self.nearest.offer(key, pair.a, *pair);
        }
        self.random
            .offer(pair_at_random(pair.a, pair.b), pair.a, *pair);
    }

    /// The pairs to look at, and why.
    fn examples(&self) -> Vec<(&'static str, DocumentPair)> {
        let nearest: Vec<DocumentPair> = self.nearest.items().copied().collect();
        let known: HashSet<[u32; 2]> = nearest.iter().map(|pair| [pair.a, pair.b]).collect();
        let random = self.random.items();
        // Nobody wants to look at a pair twice.
        let random = random.filter(|pair| !known.contains(&[pair.a, pair.b]));
        let nearest = nearest.iter().map(|pair| ("threshold", *pair));
        nearest
            .chain(random.take(SHOWN).map(|pair| ("random", *pair)))
            .collect()
    }

    /// The documents whose texts are shown.
    pub(super) fn shown(&self) -> Vec<u32> {
        let examples = self.examples().into_iter();
        examples.flat_map(|(_, pair)| [pair.a, pair.b]).collect()
    }

    /// What was found, for a report.
    pub(super) fn overview(&self) -> Result<PairsOverview> {
        let rows: BTreeSet<u32> = self.shown().into_iter().collect();
        let ids = self.places.ids_of(&rows)?;
        let examples = self.examples().into_iter().map(|(why, pair)| {
            Ok(PairExample {
                why,
                a: placed(pair.a, &ids, self.places)?,
                b: placed(pair.b, &ids, self.places)?,
                similarity: pair.similarity,
                distance: pair.distance,
            })
        });
        Ok(PairsOverview {
            examples: examples.collect::<Result<_>>()?,
            histogram: self.histogram(),
            sources: self.sources(),
        })
    }

    fn histogram(&self) -> Vec<PairsBin> {
        let bins = (0..).zip(&self.bins).filter(|(_, pairs)| **pairs > 0);
        bins.map(|(bin, pairs): (u64, &u64)| PairsBin {
            similarity: self.width.is_none().then(|| bin as f64 / 100.0),
            distance: self.width.map(|width| bin * width),
            pairs: *pairs,
        })
        .collect()
    }

    /// Those with the most pairs.
    fn sources(&self) -> Vec<PairsOfSources> {
        let places = self.places;
        let mut pairs: Vec<([usize; 2], u64)> = self
            .file_pairs
            .iter()
            .map(|(files, pairs)| (*files, *pairs))
            .collect();
        pairs.sort_unstable_by_key(|(files, pairs)| (Reverse(*pairs), *files));
        pairs.truncate(LISTED);
        let name = |file: usize| places.files[file].relative.clone();
        pairs
            .into_iter()
            .map(|([a, b], pairs)| PairsOfSources {
                source_a: (a >= places.reference_files).then(|| name(a)),
                source_b: name(b),
                pairs,
            })
            .collect()
    }
}
