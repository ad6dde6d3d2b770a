//! Hits that a page shows beside their items.

use crate::class::{Class, Hit};
use crate::report::Sample;
use simgpu_files::{Lowest, pair_at_random};

/// Hits of a class that are shown.
const SHOWN: usize = 8;

/// How much is shown of a document: bytes around what was found, and of it.
const AROUND: usize = 240;
const FOUND: usize = 2_000;

/// A hit to show.
#[derive(Clone, Debug)]
pub(super) struct ShownHit {
    pub(super) row: u32,
    pub(super) hit: Hit,
    pub(super) sample: Sample,
}

/// Near misses and other hits of each class, the same in every run, of different items.
#[derive(Debug)]
pub(super) struct Examples {
    classes: Vec<Lowest<ShownHit>>,
    near_misses: Lowest<ShownHit>,
}

impl Default for Examples {
    fn default() -> Self {
        let lowest = Class::ALL.iter().map(|_| Lowest::new(SHOWN, 1));
        Examples {
            classes: lowest.collect(),
            near_misses: Lowest::new(SHOWN, 1),
        }
    }
}

impl Examples {
    /// The part of a text that is shown.
    pub(super) fn sample(text: &str, hit: &Hit) -> Sample {
        Sample::new(text, hit, AROUND, FOUND)
    }

    pub(super) fn offer(&mut self, row: u32, hit: &Hit, sample: &Sample) {
        let Ok(item) = u32::try_from(hit.item) else {
            return;
        };
        let shown = || ShownHit {
            row,
            hit: hit.clone(),
            sample: sample.clone(),
        };
        if hit.near_miss().is_some() {
            let lowest = &mut self.near_misses;
            return lowest.offer(pair_at_random(row, item), item, shown());
        }
        let examples = Class::ALL.iter().zip(&mut self.classes);
        for (_, lowest) in examples.filter(|(class, _)| **class == hit.class) {
            lowest.offer(pair_at_random(row, item), item, shown());
        }
    }

    /// Hits that lack one condition of a contaminated document, and are no others.
    pub(super) fn near_misses(&self) -> impl Iterator<Item = &ShownHit> {
        self.near_misses.items()
    }

    /// The hits of a class, near misses apart.
    pub(super) fn with_class(&self, class: Class) -> impl Iterator<Item = &ShownHit> {
        let examples = Class::ALL.iter().zip(&self.classes);
        let examples = examples.filter(move |(of, _)| **of == class);
        examples.flat_map(|(_, lowest)| lowest.items())
    }

    /// The rows of all hits.
    pub(super) fn rows(&self) -> impl Iterator<Item = u32> {
        let all = self.classes.iter().chain([&self.near_misses]);
        all.flat_map(|lowest| lowest.items().map(|hit| hit.row))
    }
}
