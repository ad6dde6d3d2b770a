//! The keys of an index: any hashable Python objects, numbered as they come.

use std::collections::HashMap;

use pyo3::PyTraverseError;
use pyo3::gc::PyVisit;
use pyo3::prelude::*;

/// Keys by number, and an open-addressing table from hash to number.
///
/// It never calls Python's `==`, which may run any code, while the index is locked: see [`Keys::find`].
#[derive(Default)]
pub(crate) struct Keys {
    /// `None` for removed keys.
    objects: Vec<Option<Py<PyAny>>>,
    hashes: Vec<u32>,
    /// Numbers, or `NONE`. Entries of removed keys stay until the table grows.
    entries: Vec<u32>,
    taken: usize,
    /// Keys that are not removed, each counted once.
    live: usize,
    /// Numbers of keys that were inserted once more, by their first number.
    repeats: HashMap<u32, Vec<u32>>,
    first: HashMap<u32, u32>,
}

const NONE: u32 = u32::MAX;

/// The outcome of [`Keys::find`].
pub(crate) enum Lookup {
    Number(u32),
    Absent,
    /// Whether the key is there depends on whether it equals this one.
    Compare(Py<PyAny>),
}

/// A key, its hash, and the keys that it was compared with.
pub(crate) struct Sought<'py> {
    pub(crate) key: Bound<'py, PyAny>,
    hash: u32,
    compared: Vec<(Py<PyAny>, bool)>,
}

impl<'py> Sought<'py> {
    /// # Errors
    /// `TypeError` if the key is not hashable.
    pub(crate) fn new(key: Bound<'py, PyAny>) -> PyResult<Self> {
        let hash = mixed(key.hash()?);
        Ok(Sought {
            key,
            hash,
            compared: Vec::new(),
        })
    }

    /// Compares with a key of the index, for the next [`Keys::find`].
    pub(crate) fn compare(&mut self, other: Py<PyAny>) -> PyResult<()> {
        let is_equal = other.bind(self.key.py()).eq(&self.key)?;
        self.compared.push((other, is_equal));
        Ok(())
    }

    /// Whether the key is this object or equals it; `None` if not known yet.
    fn is(&self, other: &Py<PyAny>) -> Option<bool> {
        if other.is(&self.key) {
            return Some(true);
        }
        let mut compared = self.compared.iter();
        compared
            .find(|(known, _)| known.is(other))
            .map(|(_, is_equal)| *is_equal)
    }
}

/// Spreads Python's hash, which is the number itself for small numbers, over 32 bits.
#[allow(clippy::cast_possible_truncation, reason = "takes the upper half")]
fn mixed(hash: isize) -> u32 {
    ((hash as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
}

impl Keys {
    /// Looks for a key. If the answer is [`Lookup::Compare`], unlock the index, compare and ask again.
    pub(crate) fn find(&self, sought: &Sought<'_>) -> Lookup {
        if self.entries.is_empty() {
            return Lookup::Absent;
        }
        let mut place = self.home(sought.hash);
        loop {
            let number = self.entries[place];
            if number == NONE {
                return Lookup::Absent;
            }
            if self.hashes[number as usize] == sought.hash
                && let Some(key) = &self.objects[number as usize]
            {
                match sought.is(key) {
                    Some(true) => return Lookup::Number(number),
                    Some(false) => {}
                    None => return Lookup::Compare(key.clone_ref(sought.key.py())),
                }
            }
            place = (place + 1) % self.entries.len();
        }
    }

    /// Adds a key that is absent, or present at the number `first`.
    pub(crate) fn push(&mut self, sought: &Sought<'_>, first: Option<u32>) {
        let number = u32::try_from(self.objects.len()).unwrap_or(NONE);
        push_tightly(&mut self.objects, Some(sought.key.clone().unbind()));
        push_tightly(&mut self.hashes, sought.hash);
        self.live += usize::from(first.is_none());
        match first {
            Some(first) => {
                self.repeats.entry(first).or_default().push(number);
                self.first.insert(number, first);
            }
            None if self.taken < self.entries.len() / 4 * 3 => self.enter(number),
            None => self.rebuild(),
        }
    }

    /// All numbers of the key whose first number this is.
    pub(crate) fn numbers_of(&self, first: u32) -> impl Iterator<Item = u32> {
        let more = self.repeats.get(&first).map_or(&[][..], Vec::as_slice);
        std::iter::once(first).chain(more.iter().copied())
    }

    /// Removes a key with all its numbers. Drop the result after unlocking: dropping may run Python code.
    pub(crate) fn remove(&mut self, first: u32) -> Vec<Py<PyAny>> {
        let numbers: Vec<u32> = self.numbers_of(first).collect();
        self.repeats.remove(&first);
        self.live -= 1;
        let mut removed = Vec::with_capacity(numbers.len());
        for number in numbers {
            self.first.remove(&number);
            removed.extend(self.objects[number as usize].take());
        }
        removed
    }

    /// The first number of each key that has one of these, ascending.
    pub(crate) fn firsts_of(&self, mut numbers: Vec<u32>) -> Vec<u32> {
        if !self.first.is_empty() {
            for number in &mut numbers {
                *number = self.first.get(number).copied().unwrap_or(*number);
            }
            numbers.sort_unstable();
            numbers.dedup();
        }
        numbers
    }

    /// The key with a number that is not removed.
    pub(crate) fn get(&self, py: Python<'_>, number: u32) -> Option<Py<PyAny>> {
        self.objects[number as usize]
            .as_ref()
            .map(|key| key.clone_ref(py))
    }

    /// The first numbers of all keys, in order.
    pub(crate) fn firsts(&self) -> impl Iterator<Item = u32> {
        let count = u32::try_from(self.objects.len()).unwrap_or(NONE);
        (0..count).filter(|number| {
            self.objects[*number as usize].is_some() && !self.first.contains_key(number)
        })
    }

    /// Keys that are not removed, each counted once.
    pub(crate) fn len(&self) -> usize {
        self.live
    }

    /// All keys that are not removed, repeated ones repeated.
    pub(crate) fn objects(&self, py: Python<'_>) -> Vec<Py<PyAny>> {
        self.objects
            .iter()
            .flatten()
            .map(|key| key.clone_ref(py))
            .collect()
    }

    /// Forgets removed keys: the others move up in order.
    pub(crate) fn compact(&mut self) {
        let mut moved = vec![NONE; self.objects.len()];
        let live = (0..self.objects.len()).filter(|number| self.objects[*number].is_some());
        for (new, old) in (0..).zip(live) {
            moved[old] = new;
        }
        let moved_to = |old: &u32| moved[*old as usize];
        let repeats = std::mem::take(&mut self.repeats);
        self.repeats = repeats
            .iter()
            .map(|(first, more)| (moved_to(first), more.iter().map(moved_to).collect()))
            .collect();
        let first = std::mem::take(&mut self.first);
        self.first = first
            .iter()
            .map(|(number, first)| (moved_to(number), moved_to(first)))
            .collect();
        let mut number = 0;
        self.hashes.retain(|_| {
            number += 1;
            self.objects[number - 1].is_some()
        });
        self.objects.retain(Option::is_some);
        self.objects.shrink_to_fit();
        self.hashes.shrink_to_fit();
        self.rebuild();
    }

    /// Visits the keys for Python's garbage collector.
    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.objects
            .iter()
            .flatten()
            .try_for_each(|key| visit.call(key))
    }

    fn rebuild(&mut self) {
        self.entries = vec![NONE; 16 + 2 * self.live];
        self.taken = 0;
        let firsts: Vec<u32> = self.firsts().collect();
        firsts.into_iter().for_each(|number| self.enter(number));
    }

    fn enter(&mut self, number: u32) {
        let mut place = self.home(self.hashes[number as usize]);
        while self.entries[place] != NONE {
            place = (place + 1) % self.entries.len();
        }
        self.entries[place] = number;
        self.taken += 1;
    }

    #[allow(
        clippy::cast_possible_truncation,
        reason = "below the number of entries"
    )]
    fn home(&self, hash: u32) -> usize {
        ((u64::from(hash) * self.entries.len() as u64) >> 32) as usize
    }
}

/// Pushes without doubling: large vectors grow by a sixteenth, which the allocator does in place.
fn push_tightly<T>(vec: &mut Vec<T>, value: T) {
    if vec.capacity() == vec.len() {
        vec.reserve_exact(65 + vec.len() / 16);
    }
    vec.push(value);
}
