//! `words-v1`: hashes of the words of a text, and of shingles from the hashes of their words.
//!
//! Words are found first, by the pipeline, and hashed afterwards, 4 KiB of text at a time, which stays in the
//! first-level cache. No loop branches on the value of a character.

use super::isa::Isa;
use super::kernel::Kernel;
use super::lanes::Lanes;
use crate::scheme::{ShingleHash, words_v1};

/// A word of at most 16 bytes, as its two chunks padded with zeros.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShortWord([u64; 2]);

/// Masks of the two chunks that keep the bytes of a word, per length.
#[allow(clippy::cast_possible_truncation, reason = "both halves are kept")]
static MASKS: [[u64; 2]; ShortWord::LEN + 1] = {
    let mut masks = [[0; 2]; ShortWord::LEN + 1];
    let mut len = 1;
    while len <= ShortWord::LEN {
        let bits = u128::MAX >> (128 - 8 * len);
        masks[len] = [bits as u64, (bits >> 64) as u64];
        len += 1;
    }
    masks
};

impl ShortWord {
    /// The greatest length of a word in bytes.
    const LEN: usize = 16;

    /// Reads the word of `len` bytes at `start`; `None` for a longer word, or where the text ends within
    /// 16 bytes.
    ///
    /// Always reads 16 bytes and masks what follows the word: most words are short, and a copy of
    /// variable length costs a mispredicted branch per word.
    #[inline(always)]
    pub(crate) fn read(text: &[u8], start: usize, len: usize) -> Option<Self> {
        let masks = MASKS.get(len)?;
        let [first, second] = text.get(start..start + 16)?.as_chunks::<8>().0 else {
            return None;
        };
        Some(ShortWord([
            u64::from_le_bytes(*first) & masks[0],
            u64::from_le_bytes(*second) & masks[1],
        ]))
    }

    /// [`words_v1::word`] of the word, whose length is `len` and not 0.
    #[inline(always)]
    fn hash(self, len: usize) -> u64 {
        let ShortWord([first, second]) = self;
        let one = words_v1::fold(len as u64 ^ words_v1::SEED ^ first);
        let two = words_v1::fold(one ^ second);
        // Computing both and choosing is cheaper than branching on a length.
        std::hint::select_unpredictable(len > 8, two, one)
    }
}

/// Appends the hashes of words, which are passed as starts and ends in a text.
#[doc(hidden)]
pub fn hash_words(isa: Isa, text: &[u8], words: &[[u32; 2]], hashes: &mut Vec<u64>) {
    let first = hashes.len();
    hashes.resize(first + words.len(), 0);
    isa.run(HashWords {
        text,
        words,
        hashes: &mut hashes[first..],
    });
}

struct HashWords<'a> {
    text: &'a [u8],
    words: &'a [[u32; 2]],
    hashes: &'a mut [u64],
}

impl Kernel for HashWords<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        for (word, hash) in self.words.iter().zip(self.hashes) {
            let (start, len) = span(word);
            *hash = match ShortWord::read(self.text, start, len) {
                Some(word) => word.hash(len),
                None => long_word(self.text, start, len),
            };
        }
    }
}

#[cold]
#[inline(never)]
fn long_word(text: &[u8], start: usize, len: usize) -> u64 {
    words_v1::word(&text[start..start + len])
}

/// Start and length of a word.
#[inline(always)]
fn span([start, end]: &[u32; 2]) -> (usize, usize) {
    (*start as usize, end.wrapping_sub(*start) as usize)
}

/// A `words-v1` shingle hash of either width.
#[doc(hidden)]
pub trait WordShingle: ShingleHash + Default {
    /// Stores half of [`Lanes::COUNT`] hashes, cut from 64-bit values.
    fn store<L: Lanes>(lanes: L, values: L::U64, hashes: &mut [Self]);
}

impl WordShingle for u32 {
    #[inline(always)]
    fn store<L: Lanes>(lanes: L, values: L::U64, hashes: &mut [u32]) {
        lanes.store_high(values, hashes);
    }
}

impl WordShingle for u64 {
    #[inline(always)]
    fn store<L: Lanes>(lanes: L, values: L::U64, hashes: &mut [u64]) {
        lanes.store64(values, hashes);
    }
}

/// Greatest size of a shingle that is computed from all its words; longer ones roll along.
const LONGEST_DIRECT: usize = 8;

/// Appends the hashes of all shingles of `size` words, from the words' hashes. Fewer words form one shingle; no
/// words form none.
#[doc(hidden)]
pub fn hash_shingles<H: WordShingle>(isa: Isa, words: &[u64], size: usize, hashes: &mut Vec<H>) {
    if words.is_empty() {
        return;
    }
    let size = size.min(words.len());
    let first = hashes.len();
    hashes.resize(first + words.len() - size + 1, H::default());
    let hashes = &mut hashes[first..];
    isa.run(HashShingles {
        words,
        size,
        hashes,
    });
}

struct HashShingles<'a, H> {
    words: &'a [u64],
    size: usize,
    /// One per word except the first `size - 1`.
    hashes: &'a mut [H],
}

impl<H: WordShingle> Kernel for HashShingles<'_, H> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let HashShingles {
            words,
            size,
            hashes,
        } = self;
        let mut done = 0;
        if L::MULTIPLIES_64 && size <= LONGEST_DIRECT {
            let count = L::COUNT / 2;
            // Independent products; those of Horner's rule would wait for one another.
            let mut power = 1u64;
            let mut powers = [lanes.splat64(1); LONGEST_DIRECT];
            for word in (0..size).rev() {
                powers[word] = lanes.splat64(power);
                power = power.wrapping_mul(words_v1::STEP);
            }
            done = hashes.len() - hashes.len() % count;
            for at in (0..done).step_by(count) {
                let mut sum = lanes.load64(&words[at + size - 1..]);
                for (word, power) in powers[..size - 1].iter().enumerate() {
                    let word = lanes.load64(&words[at + word..]);
                    sum = lanes.add64(sum, lanes.mul64(word, *power));
                }
                H::store(lanes, mix(lanes, sum), &mut hashes[at..]);
            }
        }
        let mut rest = hashes[done..].iter_mut();
        if rest.len() > 0 {
            words_v1::for_each_shingle(&words[done..], size, |value| {
                if let Some(hash) = rest.next() {
                    *hash = H::of_words(value);
                }
            });
        }
    }
}

/// `fmix64` in every lane.
#[inline(always)]
fn mix<L: Lanes>(lanes: L, h: L::U64) -> L::U64 {
    let xor_shift = |h| lanes.xor64(h, lanes.shift_right64(h, 33));
    let h = lanes.mul64(xor_shift(h), lanes.splat64(0xFF51_AFD7_ED55_8CCD));
    let h = lanes.mul64(xor_shift(h), lanes.splat64(0xC4CE_B9FE_1A85_EC53));
    xor_shift(h)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::fmix64;

    #[test]
    fn bytes_after_a_word_do_not_count() {
        let text: Vec<u8> = (1..80).collect();
        for len in 1..=ShortWord::LEN {
            for start in 0..text.len() - ShortWord::LEN {
                let read = ShortWord::read(&text, start, len).unwrap();
                let expected = words_v1::word(&text[start..start + len]);
                assert_eq!(read.hash(len), expected, "{len} at {start}");
            }
        }
        assert!(ShortWord::read(&text, text.len() - 15, 1).is_none());
        assert!(ShortWord::read(&text, 0, 17).is_none());
    }

    #[allow(clippy::cast_possible_truncation, reason = "short texts")]
    #[test]
    fn words_equal_the_definition() {
        let text: Vec<u8> = (1..=120).collect();
        for isa in Isa::available() {
            for len in 1..40 {
                let starts = 0..=text.len() - len;
                let spans: Vec<[u32; 2]> = starts.map(|s| [s as u32, (s + len) as u32]).collect();
                let words = || spans.iter().map(|[s, e]| &text[*s as usize..*e as usize]);
                let expected: Vec<u64> = words().map(words_v1::word).collect();
                let mut hashes = Vec::new();
                hash_words(*isa, &text, &spans, &mut hashes);
                assert!(hashes == expected, "{isa} {len}");
            }
        }
    }

    #[test]
    fn shingles_equal_the_definition() {
        let words: Vec<u64> = (0..70).map(fmix64).collect();
        for isa in Isa::available() {
            for size in 1..12 {
                for len in 0..words.len() {
                    let words = &words[..len];
                    let (mut narrow, mut wide) = (vec![1u32], vec![1u64]);
                    hash_shingles(*isa, words, size, &mut narrow);
                    hash_shingles(*isa, words, size, &mut wide);
                    let mut expected = vec![1];
                    words_v1::for_each_shingle(words, size, |value| expected.push(value));
                    assert!(wide == expected, "{isa}: {size} of {len}");
                    let high = expected[1..].iter().map(|value| u32::of_words(*value));
                    assert!(
                        narrow[1..].iter().copied().eq(high),
                        "{isa}: {size} of {len}"
                    );
                }
            }
        }
    }
}
