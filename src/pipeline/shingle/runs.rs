//! Finds runs of word characters and of the characters that join them.

use std::collections::VecDeque;

use super::word_class::{Class, class_after, class_at, class_before};
use crate::simd::{Isa, Kernel, Lanes};

/// Bytes scanned per chunk.
pub(super) const CHUNK: usize = 4096;

/// Finds the starts and ends of runs, chunk by chunk.
#[derive(Debug, Default)]
pub(super) struct Runs {
    /// Alternating starts and ends, as offsets in the chunk. Entries past the count are unused.
    pub(super) changes: Vec<u32>,
    /// Offsets in the text of complex characters; only the first of adjacent ones.
    pub(super) complex: VecDeque<usize>,
    /// Whether the chunk contains an underscore. Underscores alone are not a word.
    pub(super) has_underscore: bool,
    blocks: Vec<Classes>,
}

/// State carried from one block of 64 bytes to the next: the classes of the last byte, one bit each, and the
/// bytes of a character that extends into the next block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Before {
    letter: u64,
    digit: u64,
    in_run: u64,
    spilled: NonAscii<u64>,
}

/// Bit masks of the bytes of non-ASCII characters.
#[derive(Clone, Copy, Debug, Default)]
struct NonAscii<T> {
    any: T,
    letter: T,
    /// Quotes that join their neighbours.
    joins: T,
    complex: T,
}

impl Runs {
    /// Finds the changes in the chunk `first..end` of the text and returns their number.
    pub(super) fn find(
        &mut self,
        isa: Isa,
        text: &[u8],
        first: usize,
        end: usize,
        before: &mut Before,
    ) -> usize {
        // Every byte may be a change, and the kernel writes past the last one.
        self.changes.resize(CHUNK + 64, 0);
        self.blocks.resize(CHUNK / 64, Classes::default());
        self.has_underscore = false;
        isa.run(Find {
            text,
            first,
            end,
            before,
            runs: self,
        })
    }
}

struct Find<'a> {
    text: &'a [u8],
    first: usize,
    end: usize,
    before: &'a mut Before,
    runs: &'a mut Runs,
}

impl Kernel for Find<'_> {
    type Output = usize;

    #[allow(clippy::cast_possible_truncation, reason = "a chunk is short")]
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> usize {
        let Find {
            text,
            first,
            end,
            runs,
            ..
        } = self;
        let mut before = *self.before;
        let (mut count, mut underscores) = (0, 0);
        // A separate loop without branches: for AVX2, the compiler extracts masks bit by bit if they are
        // computed on one side of a branch and used on the other.
        let (blocks, rest) = text[first..end].as_chunks::<64>();
        for (classes, block) in runs.blocks.iter_mut().zip(blocks) {
            *classes = Classes::of(lanes, block);
        }
        if !rest.is_empty() {
            let mut block = [0; 64];
            block[..rest.len()].copy_from_slice(rest);
            runs.blocks[blocks.len()] = Classes::of(lanes, &block);
        }
        let count_of_blocks = (end - first).div_ceil(64);
        for (i, classes) in runs.blocks[..count_of_blocks].iter().enumerate() {
            let at = first + 64 * i;
            let mut letter = classes.letter;
            let mut others = NonAscii::default();
            if classes.non_ascii != 0 {
                others = resolve(text, at, classes.non_ascii, &mut before, &mut runs.complex);
                letter |= others.letter;
            }
            let digit = classes.digit;
            let joins = classes.joins_letters | classes.joins_digits;
            // The character after the block matters only if the last byte joins.
            let mut after = Class::Other;
            if joins >> 63 == 1 {
                after = class_after_block(text, at + 64);
            }
            let is_after = |class| u64::from(after == class) << 63;
            // Bit k: byte k lies between two letters, between two digits, before a complex character.
            let letters = (letter << 1 | before.letter) & (letter >> 1 | is_after(Class::Letter));
            let digits = (digit << 1 | before.digit) & (digit >> 1 | is_after(Class::Digit));
            let complex_after = others.complex >> 1 | is_after(Class::Complex);
            let joined = classes.joins_letters & letters
                | classes.joins_digits & digits
                | joins & complex_after;
            let in_run =
                letter | digit | classes.underscore | joined | others.joins | others.complex;
            let changes = in_run ^ (in_run << 1 | before.in_run);
            if let Some(room) = runs.changes[count..].first_chunk_mut() {
                count += lanes.places(changes, (at - first) as u32, room);
            }
            underscores |= classes.underscore;
            before.letter = letter >> 63;
            before.digit = digit >> 63;
            before.in_run = in_run >> 63;
        }
        runs.has_underscore = underscores != 0;
        *self.before = before;
        count
    }
}

#[cold]
#[inline(never)]
fn class_after_block(text: &[u8], end: usize) -> Class {
    class_after(text, end)
}

/// Classes of 64 bytes under the word-boundary rules, one bit per byte.
#[derive(Clone, Copy, Debug, Default)]
struct Classes {
    letter: u64,
    digit: u64,
    /// Joins letters and digits, but is not a word alone.
    underscore: u64,
    non_ascii: u64,
    /// `'`, `.` and `:` between two letters.
    joins_letters: u64,
    /// `'`, `.`, `,` and `;` between two digits.
    joins_digits: u64,
}

impl Classes {
    #[inline(always)]
    fn of<L: Lanes>(lanes: L, block: &[u8; 64]) -> Self {
        let c = lanes.load_bytes(block);
        let is = |byte| lanes.is(c, byte);
        let joins_both = lanes.or(is(b'\''), is(b'.'));
        let joins_digits = lanes.or(is(b','), is(b';'));
        Classes {
            letter: lanes.bits(lanes.is_among(lanes.with_bits(c, 0x20), b'a', 26)),
            digit: lanes.bits(lanes.is_among(c, b'0', 10)),
            underscore: lanes.bits(is(b'_')),
            non_ascii: lanes.bits(lanes.is_among(c, 0x80, 128)),
            joins_letters: lanes.bits(lanes.or(joins_both, is(b':'))),
            joins_digits: lanes.bits(lanes.or(joins_both, joins_digits)),
        }
    }
}

/// Classifies the non-ASCII characters of a block and finds the quotes that join their neighbours.
#[allow(
    clippy::cast_possible_truncation,
    reason = "a mask is split into halves"
)]
#[inline(never)]
fn resolve(
    text: &[u8],
    block: usize,
    non_ascii: u64,
    before: &mut Before,
    complex: &mut VecDeque<usize>,
) -> NonAscii<u64> {
    let spilled = std::mem::take(&mut before.spilled);
    let mut found = NonAscii {
        any: u128::from(spilled.any),
        letter: u128::from(spilled.letter),
        joins: u128::from(spilled.joins),
        complex: u128::from(spilled.complex),
    };
    loop {
        let remaining = non_ascii & !(found.any as u64);
        if remaining == 0 {
            break;
        }
        let at = block + remaining.trailing_zeros() as usize;
        let (class, len) = class_at(text, at);
        let bytes = ((1u128 << len) - 1) << remaining.trailing_zeros();
        found.any |= bytes;
        match class {
            Class::Letter => found.letter |= bytes,
            Class::Quote => {
                let (previous, next) = (class_before(text, at), class_after(text, at + len));
                let is_inside =
                    previous == next && matches!(previous, Class::Letter | Class::Digit);
                if is_inside || next == Class::Complex {
                    found.joins |= bytes;
                }
            }
            Class::Complex => {
                if bytes >> 1 & found.complex == 0 {
                    complex.push_back(at);
                }
                found.complex |= bytes;
            }
            Class::Digit | Class::Other => {}
        }
    }
    before.spilled = NonAscii {
        any: (found.any >> 64) as u64,
        letter: (found.letter >> 64) as u64,
        joins: (found.joins >> 64) as u64,
        complex: (found.complex >> 64) as u64,
    };
    NonAscii {
        any: found.any as u64,
        letter: found.letter as u64,
        joins: found.joins as u64,
        complex: found.complex as u64,
    }
}
