//! Work on the blocks of a list, on all threads of the current pool.
//!
//! **One instance of rayon's machinery serves all lists.** Each chain of parallel iterators is compiled to ten functions of its
//! own, some 10 kB of machine code; a hundred chains were a seventh of the library's code. Here the work on a block is called
//! through a pointer, which costs nothing compared with a block of ten microseconds or more.
//!
//! Blocks do not depend on the number of threads unless the caller makes them so, and results are in the order of the list.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use crate::clock::in_parallel;

/// The length of the blocks of a list whose items differ much in their work: short enough that no thread has to wait for long
/// for the one with the last block.
pub fn even_block(len: usize) -> usize {
    const BLOCKS_PER_THREAD: usize = 16;
    len.div_ceil(BLOCKS_PER_THREAD * rayon::current_num_threads())
        .max(1)
}

/// Calls `work` with each block of `0..len`, in any order. All blocks but the last have the length `block`, which is not 0.
pub fn for_each_block(len: usize, block: usize, work: &(dyn Fn(Range<usize>) + Sync)) {
    let range = |number: usize| number * block..len.min((number + 1) * block);
    let blocks = len.div_ceil(block);
    in_parallel(|| {
        if blocks > 1 {
            (0..blocks)
                .into_par_iter()
                .for_each(|number| work(range(number)));
        } else if blocks == 1 {
            work(range(0));
        }
    });
}

/// Maps each block of `0..len`, and returns the results in order.
pub fn map_blocks<T: Send>(
    len: usize,
    block: usize,
    map: impl Fn(Range<usize>) -> T + Sync,
) -> Vec<T> {
    let results: Vec<Mutex<Option<T>>> =
        (0..len.div_ceil(block)).map(|_| Mutex::default()).collect();
    for_each_block(len, block, &|range| {
        let number = range.start / block;
        let result = map(range);
        *results[number]
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(result);
    });
    let results = results.into_iter();
    results
        .filter_map(|result| result.into_inner().unwrap_or_else(PoisonError::into_inner))
        .collect()
}

/// Maps each block of `0..len` to several results, and returns all of them in order.
pub fn collect_blocks<T: Send>(
    len: usize,
    block: usize,
    map: impl Fn(Range<usize>) -> Vec<T> + Sync,
) -> Vec<T> {
    joined(map_blocks(len, block, map))
}

/// The same for work that can fail.
///
/// # Errors
/// The first error, in order.
pub fn try_collect_blocks<T: Send, E: Send>(
    len: usize,
    block: usize,
    map: impl Fn(Range<usize>) -> Result<Vec<T>, E> + Sync,
) -> Result<Vec<T>, E> {
    let blocks: Result<Vec<Vec<T>>, E> = map_blocks(len, block, map).into_iter().collect();
    blocks.map(joined)
}

/// Lists one after the other. A list of one block is returned as it is.
fn joined<T>(mut blocks: Vec<Vec<T>>) -> Vec<T> {
    if blocks.len() == 1 {
        return blocks.remove(0);
    }
    let mut all = Vec::with_capacity(blocks.iter().map(Vec::len).sum());
    for mut block in blocks {
        all.append(&mut block);
    }
    all
}

/// Calls `work` with each chunk of a list and the number of its first item. All chunks but the last have the length `chunk`,
/// which is not 0. Allocates nothing.
pub fn for_each_chunk<T: Send>(
    items: &mut [T],
    chunk: usize,
    work: impl Fn(usize, &mut [T]) + Sync,
) {
    for_each_chunk_of(items, chunk, &work);
}

/// One instance for all lists of a type.
fn for_each_chunk_of<T: Send>(
    items: &mut [T],
    chunk: usize,
    work: &(dyn Fn(usize, &mut [T]) + Sync),
) {
    in_parallel(|| {
        if items.len() > chunk {
            let chunks = items.par_chunks_mut(chunk).enumerate();
            chunks.for_each(|(number, items)| work(number * chunk, items));
        } else if !items.is_empty() {
            work(0, items);
        }
    });
}

/// The same for work that can fail.
///
/// # Errors
/// The first error, in order.
pub fn try_for_each_chunk<T: Send, E: Send>(
    items: &mut [T],
    chunk: usize,
    work: impl Fn(usize, &mut [T]) -> Result<(), E> + Sync,
) -> Result<(), E> {
    // The least number of a chunk whose work has failed, and its error.
    let failed: Mutex<Option<(usize, E)>> = Mutex::new(None);
    for_each_chunk(items, chunk, |first, items| {
        if let Err(error) = work(first, items) {
            let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
            if failed.as_ref().is_none_or(|(before, _)| first < *before) {
                *failed = Some((first, error));
            }
        }
    });
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    failed.map_or(Ok(()), |(_, error)| Err(error))
}

/// Maps each item of a list, which may change it, and its number. Returns the results in order.
pub fn map_each_mut<I: Send, T: Send>(
    items: &mut [I],
    map: impl Fn(usize, &mut I) -> T + Sync,
) -> Vec<T> {
    // Each item is taken once: no lock is ever waited for.
    let items: Vec<Mutex<&mut I>> = items.iter_mut().map(Mutex::new).collect();
    map_blocks(items.len(), 1, |range| {
        let number = range.start;
        let mut item = items[number].lock().unwrap_or_else(PoisonError::into_inner);
        map(number, &mut item)
    })
}

/// Sorts a list. Equal items may change places.
pub fn sort<T: Ord + Send>(items: &mut [T]) {
    in_parallel(|| items.par_sort_unstable());
}

/// Sorts a list by a key of each item. Items with equal keys may change places.
pub fn sort_by_key<T: Send, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K + Sync) {
    in_parallel(|| items.par_sort_unstable_by_key(key));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on_threads<R: Send>(threads: usize, run: impl FnOnce() -> R + Send) -> R {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(run)
    }

    #[test]
    fn every_item_is_in_one_block() {
        for threads in [1, 3] {
            for len in [0, 1, 7, 8, 9, 1_000] {
                for block in [1, 8, 2_000] {
                    let (numbers, lengths) = on_threads(threads, || {
                        let numbers = collect_blocks(len, block, |range| range.collect());
                        (numbers, map_blocks(len, block, |range| range.len()))
                    });
                    assert_eq!(numbers, (0..len).collect::<Vec<_>>());
                    assert_eq!(lengths.len(), len.div_ceil(block));
                    assert!(lengths.iter().all(|length| (1..=block).contains(length)));
                }
            }
        }
    }

    #[test]
    fn chunks_know_where_they_begin() {
        for (len, chunk) in [(0, 3), (2, 3), (10, 3), (9, 3)] {
            let mut items = vec![0; len];
            on_threads(2, || {
                for_each_chunk(&mut items, chunk, |first, items| {
                    assert!(items.len() <= chunk);
                    items
                        .iter_mut()
                        .zip(first..)
                        .for_each(|(item, number)| *item = number);
                });
            });
            assert_eq!(items, (0..len).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_first_error_in_order_is_returned() {
        let map = |range: Range<usize>| {
            if range.contains(&40) || range.contains(&90) {
                Err(range.start)
            } else {
                Ok(range.collect())
            }
        };
        assert_eq!(on_threads(3, || try_collect_blocks(100, 10, map)), Err(40));
        let mut items = [0; 100];
        let failed =
            try_for_each_chunk(&mut items, 10, |first, _| map(first..first + 10).map(drop));
        assert_eq!(failed, Err(40));
    }

    #[test]
    fn a_panic_reaches_the_caller() {
        let run = || map_blocks(10, 1, |range| assert_ne!(range.start, 7));
        assert!(std::panic::catch_unwind(run).is_err());
    }
}
