//! Connected components.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::error::{Result, row_number};

/// Union-find over numbers from 0. The root of a component is its least index.
#[derive(Debug, Default)]
#[doc(hidden)]
pub struct Components {
    parents: Vec<u32>,
}

impl Components {
    /// Components of one number each, below `numbers`.
    #[doc(hidden)]
    pub fn new(numbers: usize) -> Self {
        Components {
            parents: (0..).take(numbers).collect(),
        }
    }

    /// Adds a component of one number, the next one.
    ///
    /// # Errors
    /// [`Error::TooManyDocuments`](crate::Error::TooManyDocuments) if all numbers are taken.
    #[doc(hidden)]
    pub fn add(&mut self) -> Result<u32> {
        let number = row_number(self.parents.len())?;
        self.parents.push(number);
        Ok(number)
    }

    /// The number of indexes.
    #[doc(hidden)]
    #[allow(
        clippy::len_without_is_empty,
        reason = "no caller asks whether there is none"
    )]
    pub fn len(&self) -> usize {
        self.parents.len()
    }

    /// The root of a component.
    #[doc(hidden)]
    pub fn root(&self, mut index: u32) -> u32 {
        while self.parents[index as usize] != index {
            index = self.parents[index as usize];
        }
        index
    }

    /// Unites two components. Returns whether they were different.
    #[doc(hidden)]
    pub fn unite(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.halve(a), self.halve(b));
        self.parents[a.max(b) as usize] = a.min(b);
        a != b
    }

    /// The root of a component. Halves the path to it.
    fn halve(&mut self, mut index: u32) -> u32 {
        while self.parents[index as usize] != index {
            let above = self.parents[self.parents[index as usize] as usize];
            self.parents[index as usize] = above;
            index = above;
        }
        index
    }
}

/// Union-find that threads share: numbers are united in any order, and the components are the same. The root of a
/// component is its least number.
#[derive(Debug)]
pub(crate) struct SharedComponents {
    parents: Vec<AtomicU32>,
}

impl SharedComponents {
    /// Components of one number each, below `numbers`.
    pub(crate) fn new(numbers: usize) -> Self {
        SharedComponents {
            parents: (0..).take(numbers).map(AtomicU32::new).collect(),
        }
    }

    /// The root of a component. Halves the path to it.
    pub(crate) fn root(&self, mut number: u32) -> u32 {
        let parent = |number: u32| self.parents[number as usize].load(Ordering::Relaxed);
        loop {
            let above = parent(number);
            let next = parent(above);
            if above == next {
                return above;
            }
            // A parent only ever becomes less, so that an older value does no harm.
            let entry = &self.parents[number as usize];
            let _ = entry.compare_exchange(above, next, Ordering::Relaxed, Ordering::Relaxed);
            number = next;
        }
    }

    /// Unites two components.
    pub(crate) fn unite(&self, a: u32, b: u32) {
        loop {
            let (a, b) = (self.root(a), self.root(b));
            if a == b {
                return;
            }
            // Fails if another thread has put this root below another one.
            let entry = &self.parents[a.max(b) as usize];
            let united =
                entry.compare_exchange(a.max(b), a.min(b), Ordering::Relaxed, Ordering::Relaxed);
            if united.is_ok() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rayon::prelude::*;

    use super::*;
    use crate::scheme::fmix64;

    #[test]
    #[allow(clippy::cast_possible_truncation, reason = "made-up numbers")]
    fn threads_find_the_components_of_one_thread() {
        for edges in [0, 300, 900, 3_000] {
            let of = |i: u64| {
                let hash = fmix64(i);
                ((hash % 1_000) as u32, (hash >> 32) as u32 % 1_000)
            };
            let shared = SharedComponents::new(1_000);
            let edges: Vec<(u32, u32)> = (0..edges).map(of).collect();
            edges.par_iter().for_each(|(a, b)| shared.unite(*a, *b));
            let mut alone = Components::new(1_000);
            for (a, b) in &edges {
                alone.unite(*a, *b);
            }
            for number in 0..1_000 {
                assert_eq!(shared.root(number), alone.root(number));
            }
        }
    }
}
