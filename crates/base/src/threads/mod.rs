//! Work on all threads: on the blocks of a list (`blocks`), on inputs whose results come back in order, and alongside other work.
//!
//! **Threads take their work themselves; none reads for the others.** An input is a file, whose items are its chunks:
//! a thread decompresses 1 MiB, cuts it after a record, then parses, shingles and signs it. So one thread is one
//! thread; many files are decompressed at a time, and a single file by one thread at a time while the others sign.
//! With one reading thread and batches, two threads took 0.83 times the time of one on 100 files of short documents;
//! now they take 0.55 (`results/2026-11-22-amd-epyc-2-cores/cores.md`).
//!
//! **A job waits for neither a lock nor a result**, but for a frame that another thread decompresses, which calls nothing of
//! the pool (`io::frames`). rayon lets a thread that waits inside of a job begin another, perhaps of another run: two threads
//! could then wait for what lies suspended below each other.
//!
//! **The window is bounded, and a part of it belongs to the file whose results come next.** Threads that find this file
//! in use read later ones; the results of these fill their part of the window and stay there until the file ends. Without
//! a part of its own, its chunks were then taken one at a time: 16 cores read 36 files of 17 to 100 MB no faster than two.

mod blocks;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rayon::Scope;

pub use self::blocks::{
    collect_blocks, even_block, for_each_block, for_each_chunk, map_blocks, map_each_mut, sort,
    sort_by_key, try_collect_blocks, try_for_each_chunk,
};
use crate::clock::{alone, count_serial, in_parallel};

/// How far work may run ahead of the results that were passed on.
#[derive(Clone, Copy, Debug)]
pub struct Ahead<T> {
    /// The most results of later inputs that wait, beside one per thread. `OWN` per thread more may be of the input
    /// whose results come next.
    pub waiting: usize,
    /// The most inputs open at a time; each thread opens one at most.
    pub inputs: usize,
    /// As how many results an item counts, from when it is taken until its result is passed on: 1, or more for an item of
    /// many times the usual size, so that few such items are in memory at a time.
    pub weigh: fn(&T) -> usize,
}

/// The results per thread for which the input that comes next has room of its own: one that a thread works on, and one
/// that waits for an earlier one of the same input.
const OWN: usize = 2;

/// Maps the items of all inputs on the threads of the current rayon pool, and passes the results to `each` in order,
/// on the calling thread. An input is an iterator; `open` makes input number i of `inputs`.
///
/// A thread takes the next item of the earliest input that no other thread is reading, maps it, and starts again. So
/// threads that find an input in use read the next one meanwhile. No thread ever waits for a lock or for a result:
/// while one of them waits for other work inside of `map`, rayon may let it begin with another item. The calling thread
/// maps items, too, if it belongs to the pool. While no result comes, `each` is called with `None` every few
/// milliseconds.
///
/// # Errors
/// The first error of `map` or `each`, in order. Work in progress is completed, and the rest is dropped.
pub fn map_in_order<I, T, E>(
    inputs: usize,
    ahead: Ahead<I::Item>,
    open: impl Fn(usize) -> I + Sync,
    map: impl Fn(I::Item) -> Result<T, E> + Sync,
    mut each: impl FnMut(Option<T>) -> Result<(), E>,
) -> Result<(), E>
where
    I: Iterator + Send,
    I::Item: Send,
    T: Send,
    E: Send,
{
    let work = Work {
        inputs,
        ahead,
        threads: rayon::current_num_threads(),
        open,
        map,
        state: Mutex::new(QueueState {
            open: VecDeque::new(),
            opened: 0,
            queued: 0,
            running: 0,
            weight: 0,
            results: BTreeMap::new(),
            next: (0, 0),
            is_stopped: false,
        }),
        changed: Condvar::new(),
    };
    rayon::in_place_scope(|scope| {
        let _stop = StopIfPanicking(&work.state, &work.changed);
        work.start_jobs(scope, &mut work.lock());
        loop {
            let mut state = work.lock();
            let result = state.next_result();
            let is_end = state.is_stopped || state.next.0 == inputs;
            work.start_jobs(scope, &mut state);
            drop(state);
            if is_end {
                return Ok(());
            }
            if result.is_none() {
                in_parallel(|| work.help_or_wait());
            }
            if let Err(error) = result.transpose().and_then(&mut each) {
                work.lock().is_stopped = true;
                return Err(error);
            }
        }
    })
}

/// Runs `other` as a job of the current rayon pool beside `main`, which runs on the calling thread. Then calls `look`
/// until the job has ended. Sets the flag that `other` receives if it is to stop: `main` or `look` has failed.
///
/// # Errors
/// That of `main`, `look` or `other`, whichever failed first of them in this order.
pub fn beside<A, E: Send>(
    other: impl FnOnce(&AtomicBool) -> Result<(), E> + Send,
    main: impl FnOnce() -> Result<A, E>,
    mut look: impl FnMut() -> Result<(), E>,
) -> Result<A, E> {
    let (is_stopped, has_ended) = (AtomicBool::new(false), AtomicBool::new(false));
    let (mut other_result, mut serial_s) = (Ok(()), None);
    let main_result = rayon::in_place_scope(|scope| {
        scope.spawn(|_| {
            let _ended = SetOnDrop(&has_ended);
            (other_result, serial_s) = alone(|| other(&is_stopped));
        });
        let _stopped = SetOnDrop(&is_stopped);
        let result = main()?;
        while !has_ended.load(Ordering::Relaxed) {
            look()?;
            if !help() {
                thread::sleep(WAIT / 5);
            }
        }
        Ok(result)
    });
    count_serial(serial_s);
    main_result.and_then(|result| other_result.map(|()| result))
}

/// Executes a job of the current rayon pool that no thread has begun, and returns whether there was one. Whoever waits for a
/// result calls this: the calling thread may be the only one of the pool.
pub fn help() -> bool {
    in_parallel(|| rayon::yield_now() == Some(rayon::Yield::Executed))
}

/// Sets a flag at the end of a scope, even after a panic.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// How long the calling thread waits before it calls `each` again.
const WAIT: Duration = Duration::from_millis(5);

struct Work<I: Iterator, T, O, M> {
    inputs: usize,
    ahead: Ahead<I::Item>,
    threads: usize,
    open: O,
    map: M,
    state: Mutex<QueueState<I, T>>,
    /// A result has come, or a job was started.
    changed: Condvar,
}

struct QueueState<I, T> {
    /// The open inputs, in order.
    open: VecDeque<Open<I>>,
    /// The number of inputs opened so far.
    opened: usize,
    /// Jobs that were started and have not begun.
    queued: usize,
    /// Jobs that were started and have not ended.
    running: usize,
    /// The weight of all items that were taken, and whose results were not passed on.
    weight: usize,
    /// The results that wait, and their weights, by input and item; `None` is the end of the input.
    results: BTreeMap<(usize, u64), (Option<T>, usize)>,
    /// The input and item of the result that comes next.
    next: (usize, u64),
    /// Whether nothing more is to be done, after an error or a panic.
    is_stopped: bool,
}

/// An open input.
struct Open<I> {
    number: usize,
    /// The items taken so far.
    taken: u64,
    /// `None` while a job reads it.
    input: Option<I>,
}

impl<I, T> QueueState<I, T> {
    /// The next result in order, if it is there.
    fn next_result(&mut self) -> Option<T> {
        loop {
            let (result, weight) = self.results.remove(&self.next)?;
            self.weight -= weight;
            self.next = match result {
                Some(_) => (self.next.0, self.next.1 + 1),
                None => (self.next.0 + 1, 0),
            };
            if result.is_some() {
                return result;
            }
        }
    }
}

impl<I, T, O, M> Work<I, T, O, M>
where
    I: Iterator + Send,
    I::Item: Send,
    T: Send,
    O: Fn(usize) -> I + Sync,
    M: Fn(I::Item) -> T + Sync,
{
    fn lock(&self) -> MutexGuard<'_, QueueState<I, T>> {
        lock(&self.state)
    }

    /// Starts as many jobs as there are threads and items that may be taken.
    fn start_jobs<'s>(&'s self, scope: &Scope<'s>, state: &mut QueueState<I, T>) {
        while state.running < self.threads && !state.is_stopped {
            let Some((number, input)) = self.choose(state) else {
                return;
            };
            state.running += 1;
            state.weight += 1;
            state.queued += 1;
            scope.spawn(move |scope| self.run_job(scope, number, input));
            self.changed.notify_all();
        }
    }

    /// The earliest input that may be read now, with its number; `None` if it is to be opened.
    fn choose(&self, state: &mut QueueState<I, T>) -> Option<(usize, Option<I>)> {
        let (weight, next) = (state.weight, state.next);
        let has_room = |number| {
            let own = if number == next.0 { OWN } else { 0 };
            weight < self.ahead.waiting + (1 + own) * self.threads
        };
        // The result that all others wait for needs no room.
        let may_be_taken =
            |open: &&mut Open<I>| has_room(open.number) || (open.number, open.taken) == next;
        let idle = state.open.iter_mut().filter(|open| open.input.is_some());
        if let Some(open) = idle.into_iter().find(may_be_taken) {
            return Some((open.number, open.input.take()));
        }
        let number = state.opened;
        let may_open =
            state.open.len() < self.ahead.inputs && (has_room(number) || number == next.0);
        (number < self.inputs && may_open).then(|| {
            state.opened += 1;
            state.open.push_back(Open {
                number,
                taken: 0,
                input: None,
            });
            (number, None)
        })
    }

    /// Takes an item of an input, and maps it.
    fn run_job<'s>(&'s self, scope: &Scope<'s>, number: usize, input: Option<I>) {
        let is_stopped = {
            let mut state = self.lock();
            state.queued -= 1;
            state.is_stopped
        };
        if is_stopped {
            return;
        }
        let _stop = StopIfPanicking(&self.state, &self.changed);
        let mut input = input.unwrap_or_else(|| (self.open)(number));
        let item = input.next();
        let mut state = self.lock();
        // The input stays in the list until a job finds its end.
        let Some(at) = state.open.iter().position(|open| open.number == number) else {
            return;
        };
        let place = (number, state.open[at].taken);
        if item.is_some() {
            state.open[at].taken += 1;
            state.open[at].input = Some(input);
        } else {
            state.open.remove(at);
        }
        let mut weight = 1;
        let result = match item {
            None => None,
            Some(item) => {
                weight = (self.ahead.weigh)(&item).max(1);
                state.weight += weight - 1;
                self.start_jobs(scope, &mut state);
                drop(state);
                let result = (self.map)(item);
                state = self.lock();
                Some(result)
            }
        };
        state.running -= 1;
        state.results.insert(place, (result, weight));
        self.start_jobs(scope, &mut state);
        drop(state);
        self.changed.notify_all();
    }

    /// Executes a job on the calling thread if it belongs to the pool, or waits until something changes.
    fn help_or_wait(&self) {
        if help() {
            return;
        }
        let state = self.lock();
        let is_idle = !state.results.contains_key(&state.next) && !state.is_stopped;
        if is_idle && (state.queued == 0 || rayon::current_thread_index().is_none()) {
            drop(self.changed.wait_timeout(state, WAIT));
        } else {
            drop(state);
            thread::yield_now();
        }
    }
}

fn lock<S>(state: &Mutex<S>) -> MutexGuard<'_, S> {
    // No code panics while it holds the lock.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Stops all work if its thread panics.
struct StopIfPanicking<'a, I, T>(&'a Mutex<QueueState<I, T>>, &'a Condvar);

impl<I, T> Drop for StopIfPanicking<'_, I, T> {
    fn drop(&mut self) {
        if thread::panicking() {
            lock(self.0).is_stopped = true;
            self.1.notify_all();
        }
    }
}
