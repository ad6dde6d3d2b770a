//! The pass over all documents, on all threads.
//!
//! Threads take parts of the text, in order, and share what they know. The last parts are small, so that all threads end at
//! about the same time; the first ones are large, since documents that follow each other are often alike, and one thread
//! passes over repeats faster than two that meet them at the same time.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard};

use super::items::Match;
use super::known::KnownWindows;
use super::lengths::Lengths;
use super::scan::Scan;
use super::text::Text;
use simgpu::clock::in_parallel;
use simgpu::error::{Conflict, Error, Result};
use simgpu::progress::{Progress, advance};
use simgpu::simd::minima::Symbol;

/// Symbols between two looks at whether to stop.
const LOOK: usize = 1 << 20;

/// Symbols of the smallest part.
const SMALLEST_PART: usize = 1 << 18;

/// Matches that cover every window with an earlier twin.
#[derive(Default)]
pub(super) struct Matches {
    /// By part of the text, each in order of first symbols.
    in_parts: Vec<(usize, Vec<Match>)>,
    /// Of all parts, in order of first symbols.
    later: Vec<Match>,
}

impl Matches {
    /// All matches, by their first symbols.
    pub(super) fn in_order(&self) -> impl Iterator<Item = Match> + '_ {
        let in_parts = self.in_parts.iter().flat_map(|(_, matches)| matches);
        let mut in_parts = in_parts.copied().peekable();
        let mut later = self.later.iter().copied().peekable();
        std::iter::from_fn(move || match later.peek() {
            None => in_parts.next(),
            Some(later_one) => {
                let next = in_parts.next_if(|matched| matched.from <= later_one.from);
                next.or_else(|| later.next())
            }
        })
    }

    /// Bytes of memory.
    fn bytes(&self) -> u64 {
        let in_parts = self.in_parts.iter().map(|(_, matches)| matches.capacity());
        (size_of::<Match>() * in_parts.sum::<usize>()) as u64
    }

    fn add(&mut self, other: Matches) {
        self.in_parts.extend(other.in_parts);
        self.later.extend(other.later);
    }
}

/// The matches of a text, on the threads of the current rayon pool.
pub(super) fn matches<S: Symbol>(
    text: &Text<'_, S>,
    lengths: &Lengths,
    memory: u64,
    progress: &dyn Progress,
) -> Result<Matches> {
    let threads = rayon::current_num_threads();
    let parts = parts(text, threads);
    let threads = threads.min(parts.len());
    let pass = Pass {
        text,
        lengths,
        parts,
        next: AtomicUsize::new(0),
        known: RwLock::new(KnownWindows::new(lengths, text.symbols.len(), threads)),
        growing: Mutex::default(),
        memory,
        held: AtomicU64::new(0),
    };
    let mut others: Vec<Option<Result<Matches>>> = Vec::new();
    others.resize_with(threads.saturating_sub(1), || None);
    let run = || {
        rayon::in_place_scope(|scope| {
            for other in &mut others {
                let pass = &pass;
                scope.spawn(move |_| {
                    *other = Some(pass.run(&mut |_| {
                        if progress.is_stopped() {
                            Err(Error::Stopped)
                        } else {
                            Ok(())
                        }
                    }));
                });
            }
            pass.run(&mut |to| {
                let documents = text.document_at(to.min(text.symbols.len() - 1));
                advance(progress, to as u64, documents as u64, 0)
            })
        })
    };
    let first = in_parallel(run);
    let mut all = Matches::default();
    for found in std::iter::once(Some(first)).chain(others).flatten() {
        all.add(found?);
    }
    // Threads took parts in no order.
    all.in_parts.sort_unstable_by_key(|(part, _)| *part);
    all.later
        .sort_unstable_by_key(|matched| (matched.from, matched.source));
    advance(
        progress,
        text.symbols.len() as u64,
        text.ends.len() as u64,
        0,
    )?;
    Ok(all)
}

/// Documents in parts, each a share of what is left.
fn parts<S: Symbol>(text: &Text<'_, S>, threads: usize) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let (mut document, mut from) = (0, 0);
    while document < text.ends.len() {
        let left = text.symbols.len() - from;
        let size = match threads {
            ..=1 => left,
            threads => (left / (4 * threads)).max(SMALLEST_PART.min(left / threads)),
        };
        // A document is in one part.
        let end = text.ends.partition_point(|end| *end < from + size);
        let end = (end + 1).clamp(document + 1, text.ends.len());
        from = text.ends[end - 1];
        parts.push(document..end);
        document = end;
    }
    parts
}

/// What all threads share.
struct Pass<'a, S> {
    text: &'a Text<'a, S>,
    lengths: &'a Lengths,
    parts: Vec<Range<usize>>,
    /// The next part.
    next: AtomicUsize,
    known: RwLock<KnownWindows>,
    growing: Mutex<()>,
    memory: u64,
    /// Bytes of memory of what threads hold.
    held: AtomicU64,
}

impl<S: Symbol> Pass<'_, S> {
    /// Passes over parts until none is left. Calls `each` now and then with where it is.
    fn run(&self, each: &mut dyn FnMut(usize) -> Result<()>) -> Result<Matches> {
        let mut scan = Scan::new(self.text, self.lengths);
        let mut found = Matches::default();
        let mut known = self.known();
        let (mut looked, mut own) = (0, 0);
        loop {
            let part = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(documents) = self.parts.get(part) else {
                break;
            };
            for document in documents.clone() {
                let end = self.text.ends[document];
                let mut next = self.text.document_start(document);
                while let Some(rest) = scan.scan(&known, next, end) {
                    next = rest;
                    // No thread may read a table that is made larger.
                    drop(known);
                    self.grow();
                    known = self.known();
                    if known.is_full() {
                        return Err(too_long());
                    }
                }
                if end >= looked + LOOK {
                    looked = end;
                    // Each thread adds what it holds more than when it looked last.
                    let bytes = scan.bytes() + found.bytes();
                    let held = self.held.fetch_add(bytes - own, Ordering::Relaxed) + (bytes - own);
                    own = bytes;
                    if held + known.bytes() > self.memory {
                        return Err(too_large(self.memory));
                    }
                    each(end)?;
                }
            }
            let mut matches = std::mem::take(&mut scan.matches);
            settle(&mut matches);
            found.in_parts.push((part, matches));
        }
        found.later = scan.later;
        if known.is_full() {
            Err(too_long())
        } else {
            Ok(found)
        }
    }

    fn known(&self) -> RwLockReadGuard<'_, KnownWindows> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the table larger, unless another thread did. Only one thread at a time asks for the table alone, and only while
    /// it is crowded, so that all others come here: else it would wait for readers that need no larger table.
    fn grow(&self) {
        let _growing = self.growing.lock().unwrap_or_else(PoisonError::into_inner);
        if self.known().is_crowded() {
            let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
            known.grow();
        }
    }
}

/// Sorts matches that are in order but for those of one anchor.
fn settle(matches: &mut [Match]) {
    for i in 1..matches.len() {
        let mut at = i;
        while at > 0 && matches[at - 1].from > matches[at].from {
            matches.swap(at - 1, at);
            at -= 1;
        }
    }
}

/// The error of a search that needs more memory than these bytes.
pub(super) fn too_large(memory: u64) -> Error {
    let mib = memory >> 20;
    Error::Conflict(Conflict::PassageMemory { mib })
}

pub(super) fn too_long() -> Error {
    Error::Parameter {
        name: "INPUT",
        value: "too long for one search".to_owned(),
        expected: "less text, in several runs".to_owned(),
    }
}
