//! Words of memory that grow and never move, so that threads read some while others write more.
//!
//! They lie in pieces, eight of each size, so that no piece is much more than what is needed.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// The binary logarithm of the words of the first eight pieces.
const FIRST_BITS: u32 = 13;

/// The binary logarithm of the number of pieces of one size.
const SAME_SIZE_BITS: u32 = 3;

/// Words that a thread reserves at a time.
const ROOM: usize = 512;

/// What is alone on a line of the cache, and on the next, which processors load beside it.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct OnLine<T>(pub(super) T);

/// Words that grow and never move.
#[derive(Debug)]
pub(super) struct GrowingWords {
    pieces: Vec<OnceLock<Box<[AtomicU64]>>>,
    next: OnLine<AtomicUsize>,
    most: usize,
}

/// Words that one thread has reserved.
#[derive(Debug, Default)]
pub(crate) struct ReservedWords {
    next: usize,
    end: usize,
}

impl ReservedWords {
    /// Leaves the last word taken for the next one.
    pub(super) fn give_back(&mut self) {
        self.next -= 1;
    }
}

/// The piece of a word, its size, and the place of the word in it.
#[inline(always)]
fn place(at: usize) -> (usize, usize, usize) {
    let at = at + (1 << FIRST_BITS);
    let top = at.ilog2();
    let size = 1 << (top - SAME_SIZE_BITS);
    let in_size = (at >> (top - SAME_SIZE_BITS)) & ((1 << SAME_SIZE_BITS) - 1);
    let piece = ((top - FIRST_BITS) << SAME_SIZE_BITS) as usize + in_size;
    (piece, size, at & (size - 1))
}

impl GrowingWords {
    /// No words yet, of at most so many.
    pub(super) fn new(most: usize) -> Self {
        let mut pieces = Vec::new();
        pieces.resize_with(place(most).0 + 1, OnceLock::new);
        GrowingWords {
            pieces,
            next: OnLine::default(),
            most,
        }
    }

    /// Bytes of memory.
    pub(super) fn bytes(&self) -> u64 {
        8 * self.next.0.load(Ordering::Relaxed) as u64
    }

    /// All words of a piece from a reserved one on.
    #[inline(always)]
    pub(super) fn from(&self, at: usize) -> &[AtomicU64] {
        let (piece, size, at) = place(at);
        // Memory that is zero without being written.
        let zeros = || bytemuck::zeroed_slice_box(size);
        &self.pieces[piece].get_or_init(zeros)[at..]
    }

    /// Takes so many words side by side; `None` if there are too many.
    pub(super) fn take(&self, room: &mut ReservedWords, words: usize) -> Option<usize> {
        if room.end - room.next < words {
            let reserved = words.max(ROOM);
            room.next = self.reserve(reserved)?;
            room.end = room.next + reserved;
        }
        let at = room.next;
        room.next += words;
        Some(at)
    }

    fn reserve(&self, words: usize) -> Option<usize> {
        // Not across two pieces.
        let fitted = |next: usize| {
            let mut at = next;
            loop {
                let (_, size, within) = place(at);
                if within + words <= size || at > self.most {
                    return at;
                }
                at += size - within;
            }
        };
        let end = |next: usize| fitted(next) + words;
        let update = |next: usize| (end(next) <= self.most).then(|| end(next));
        let ordering = Ordering::Relaxed;
        let next = self.next.0.fetch_update(ordering, ordering, update);
        next.ok().map(fitted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_reservation_are_side_by_side() {
        let words = GrowingWords::new(1 << 20);
        let mut rooms = [ReservedWords::default(), ReservedWords::default()];
        let mut taken = Vec::new();
        for (i, len) in (1..3_000_usize).chain([100_000]).enumerate().step_by(7) {
            let Some(at) = words.take(&mut rooms[i % 2], len) else {
                break;
            };
            let of = &words.from(at)[..len];
            of.iter()
                .for_each(|word| word.store(i as u64, Ordering::Relaxed));
            taken.push((at, len, i));
        }
        assert!(taken.len() > 300);
        for (at, len, i) in taken {
            let of = &words.from(at)[..len];
            assert!(
                of.iter()
                    .all(|word| word.load(Ordering::Relaxed) == i as u64)
            );
        }
        assert_eq!(words.take(&mut ReservedWords::default(), 1 << 20), None);
    }
}
