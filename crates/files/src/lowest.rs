//! Examples to show: those with the lowest keys, of each group a few.

use serde::{Deserialize, Serialize};

use simgpu::scheme::fmix64;

/// The seed of what is shown at random.
const SEED: u64 = 42;

/// A key of a document at random, the same in every run.
pub(super) fn at_random(row: u32) -> u64 {
    fmix64(u64::from(row) << 32 | SEED)
}

/// The same of a pair.
#[doc(hidden)]
pub fn pair_at_random(a: u32, b: u32) -> u64 {
    fmix64(at_random(a) ^ u64::from(b))
}

/// What has the lowest keys; of equal ones, the first.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[doc(hidden)]
pub struct Lowest<T> {
    most: usize,
    /// The most of one group.
    of_group: usize,
    /// Keys, groups and what has them.
    found: Vec<(u64, u32, T)>,
}

impl<T> Lowest<T> {
    #[doc(hidden)]
    pub fn new(most: usize, per_group: usize) -> Self {
        Lowest {
            most,
            of_group: per_group,
            found: Vec::with_capacity(most + 1),
        }
    }

    #[doc(hidden)]
    pub fn offer(&mut self, key: u64, group: u32, item: T) {
        let at = self.found.partition_point(|(lower, ..)| *lower <= key);
        if at >= self.most {
            return;
        }
        let is_of_group = |(_, of, _): &(u64, u32, T)| *of == group;
        let same_group = self.found.iter().filter(|found| is_of_group(found));
        if same_group.count() >= self.of_group {
            match self.found.iter().rposition(is_of_group) {
                Some(last) if last >= at => {
                    self.found.remove(last);
                }
                _ => return,
            }
        }
        self.found.insert(at, (key, group, item));
        self.found.truncate(self.most);
    }

    /// By ascending keys.
    #[doc(hidden)]
    pub fn items(&self) -> impl Iterator<Item = &T> {
        self.found.iter().map(|(.., item)| item)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// The lowest keys by a sort of all, of which each group has as many as it may.
    #[test]
    fn the_lowest_are_those_of_a_sort() {
        for (most, per_group) in [(1, 1), (3, 1), (8, 2), (8, 8), (200, 3)] {
            let mut lowest = Lowest::new(most, per_group);
            let mut all: Vec<(u64, u32, u32)> = (0..100u32)
                .map(|row| (fmix64(row.into()) % 17, row, row * row % 7))
                .collect();
            for (key, row, group) in &all {
                lowest.offer(*key, *group, *row);
            }
            all.sort_unstable();
            let mut counts = BTreeMap::new();
            all.retain(|(_, _, group)| {
                let count = counts.entry(*group).or_insert(0);
                *count += 1;
                *count <= per_group
            });
            all.truncate(most);
            assert!(
                lowest.items().eq(all.iter().map(|(_, row, _)| row)),
                "{most}"
            );
        }
    }
}
