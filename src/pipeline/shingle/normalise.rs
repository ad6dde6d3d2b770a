//! Normalises texts before they are cut into units.

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

use crate::simd::{Isa, Kernel, Lanes};

/// Differences between texts to remove before shingling. The default merges white space only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Normalise {
    /// Lowercases letters by Unicode's rules.
    pub lowercase: bool,
    /// Deletes punctuation: general category P and all ASCII punctuation.
    pub strip_punctuation: bool,
    /// Keeps white space unchanged; if false, each run of white space becomes one space.
    pub keep_whitespace: bool,
}

impl Normalise {
    /// Whether it changes more than white space.
    pub(super) fn changes_letters(self) -> bool {
        self.lowercase || self.strip_punctuation
    }

    /// Replaces the content of `out` by the normalised text: first lowercases, then strips punctuation, then
    /// merges white space.
    pub fn apply(self, text: &str, out: &mut String) {
        out.clear();
        out.reserve(text.len());
        if self.lowercase {
            self.strip_and_merge(&text.to_lowercase(), out);
        } else {
            self.strip_and_merge(text, out);
        }
    }

    /// Replaces the content of `out` by the bytes of the normalised text.
    pub(super) fn apply_to_bytes(self, isa: Isa, text: &str, out: &mut Bytes) {
        out.clear();
        self.append_to_bytes(isa, text, out);
    }

    /// Appends the bytes of the normalised text to `out`.
    pub(super) fn append_to_bytes(self, isa: Isa, text: &str, out: &mut Bytes) {
        let mut letters = std::mem::take(&mut out.letters);
        let text = if self.changes_letters() {
            self.apply(text, &mut letters);
            &letters
        } else {
            text
        };
        out.reserve(text.len());
        let free = &mut out.bytes[out.len..];
        out.len += if self.keep_whitespace || self.changes_letters() {
            free[..text.len()].copy_from_slice(text.as_bytes());
            text.len()
        } else {
            isa.run(MergeBlanks {
                text: text.as_bytes(),
                out: free,
            })
        };
        out.letters = letters;
    }

    fn strip_and_merge(self, text: &str, out: &mut String) {
        let mut after_blank = false;
        for c in text.chars() {
            if self.strip_punctuation && is_punctuation(c) {
                continue;
            }
            if !self.keep_whitespace && c.is_whitespace() {
                if !after_blank {
                    out.push(' ');
                }
                after_blank = true;
            } else {
                out.push(c);
                after_blank = false;
            }
        }
    }
}

/// Normalised text in the first `len` bytes. The rest is reused memory.
#[derive(Debug, Default)]
pub(super) struct Bytes {
    bytes: Vec<u8>,
    len: usize,
    /// For texts whose letters change.
    letters: String,
}

impl Bytes {
    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    /// Makes room for so many more bytes, and the excess that kernels write.
    pub(super) fn reserve(&mut self, bytes: usize) {
        let room = self.len + bytes + 64;
        if self.bytes.len() < room {
            self.bytes.resize(room, 0);
        }
    }

    pub(super) fn capacity(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// Writes a text with each run of white space as one space, and returns its length.
struct MergeBlanks<'a> {
    text: &'a [u8],
    /// At least 64 bytes longer than the text.
    out: &'a mut [u8],
}

impl Kernel for MergeBlanks<'_> {
    type Output = usize;

    #[allow(clippy::cast_possible_truncation, reason = "offsets in a block")]
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> usize {
        let MergeBlanks { text, out } = self;
        let (mut at, mut len, mut after_blank) = (0, 0, 0);
        let mut end = [0; 64];
        while at < text.len() {
            let block = match text[at..].first_chunk::<64>() {
                Some(block) => block,
                None => {
                    end[..text.len() - at].copy_from_slice(&text[at..]);
                    &end
                }
            };
            let mut taken = (text.len() - at).min(64);
            let c = lanes.load_bytes(block);
            let is_blank = lanes.or(lanes.is(c, b' '), lanes.is_among(c, b'\t', 5));
            let begins_wide = lanes.or(lanes.is(c, 0xC2), lanes.is_among(c, 0xE1, 3));
            let begins_wide = lanes.bits(begins_wide) & u64::MAX >> (64 - taken);
            let wide = wide_blank(text, at, begins_wide);
            if let Some((0, bytes)) = wide {
                out[len] = b' ';
                len += usize::from(after_blank == 0);
                after_blank = 1;
                at += bytes;
                continue;
            }
            if let Some((before, _)) = wide {
                taken = before;
            }
            let all = u64::MAX >> (64 - taken);
            let blanks = lanes.bits(is_blank) & all;
            let repeated = blanks & (blanks << 1 | after_blank);
            let c = lanes.put(c, is_blank, b' ');
            if let Some(room) = out[len..].first_chunk_mut() {
                lanes.store_bytes(c, room);
            }
            if repeated == 0 {
                len += taken;
            } else {
                // Writes 64 bytes per kept span. The next span overwrites the excess.
                let mut bytes = [0; 128];
                if let Some(room) = bytes.first_chunk_mut() {
                    lanes.store_bytes(c, room);
                }
                let mut kept = !repeated & all;
                while kept != 0 {
                    let first = kept.trailing_zeros() as usize;
                    let count = (kept >> first).trailing_ones() as usize;
                    out[len..len + 64].copy_from_slice(&bytes[first..first + 64]);
                    len += count;
                    kept &= u64::MAX.checked_shl((first + count) as u32).unwrap_or(0);
                }
            }
            after_blank = blanks >> (taken - 1);
            at += taken;
        }
        len
    }
}

/// Offset and length of the first non-ASCII white space in the block at `at`. `begins` marks the bytes that may
/// begin one.
#[inline(always)]
fn wide_blank(text: &[u8], at: usize, mut begins: u64) -> Option<(usize, usize)> {
    while begins != 0 {
        let i = begins.trailing_zeros() as usize;
        let bytes = match text[at + i..] {
            [0xC2, 0x85 | 0xA0, ..] => 2,
            [0xE1, 0x9A, 0x80, ..]
            | [0xE2, 0x80, 0x80..=0x8A | 0xA8 | 0xA9 | 0xAF, ..]
            | [0xE2, 0x81, 0x9F, ..]
            | [0xE3, 0x80, 0x80, ..] => 3,
            _ => 0,
        };
        if bytes > 0 {
            return Some((i, bytes));
        }
        begins &= begins - 1;
    }
    None
}

fn is_punctuation(c: char) -> bool {
    if c.is_ascii() {
        c.is_ascii_punctuation()
    } else {
        c.general_category_group() == GeneralCategoryGroup::Punctuation
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalised(normalise: Normalise, text: &str) -> String {
        let mut out = String::new();
        normalise.apply(text, &mut out);
        out
    }

    #[test]
    fn white_space_becomes_one_space() {
        let merge = Normalise::default();
        assert_eq!(normalised(merge, " a\t\r\n b\u{3000}\u{a0}c "), " a b c ");
        let keep = Normalise {
            keep_whitespace: true,
            ..merge
        };
        assert_eq!(normalised(keep, "a \n b"), "a \n b");
    }

    #[test]
    fn lowercasing_and_stripping_punctuation() {
        let both = Normalise {
            lowercase: true,
            strip_punctuation: true,
            ..Normalise::default()
        };
        assert_eq!(normalised(both, "Don't — “STOP” – ΟΔΟΣ!"), "dont stop οδος");
    }

    #[allow(
        clippy::cast_possible_truncation,
        reason = "a truncated random number is still random"
    )]
    #[test]
    fn every_kernel_matches_the_definition() {
        // All white space, and characters that begin with the same bytes.
        let mut pieces: Vec<String> = ('\0'..='\u{3100}')
            .filter(|c| c.is_whitespace())
            .map(String::from)
            .collect();
        assert_eq!(pieces.len(), 25);
        let others = [
            "x", "é", "\u{a1}", "\u{1681}", "’", "\u{2060}", "。", "😀", "\u{1c}",
        ];
        pieces.extend(others.map(str::to_owned));
        pieces.push("word ".repeat(20));
        pieces.push("  \n\n ".repeat(30));
        let mut seed = 1;
        let mut below = |n: usize| {
            seed = crate::scheme::fmix64(seed + 1);
            seed as usize % n
        };
        let mut bytes = Bytes::default();
        for _ in 0..20_000 {
            let count = below(60);
            // Adjacent spaces, and spaces far apart.
            let kinds = if below(2) == 0 { pieces.len() } else { 3 };
            let text: String = (0..count)
                .map(|_| &*pieces[below(pieces.len()) % kinds])
                .collect();
            for keep_whitespace in [false, true] {
                let normalise = Normalise {
                    keep_whitespace,
                    ..Normalise::default()
                };
                let expected = normalised(normalise, &text);
                for isa in Isa::available() {
                    normalise.apply_to_bytes(*isa, &text, &mut bytes);
                    assert!(bytes.as_slice() == expected.as_bytes(), "{isa}: {text:?}");
                }
            }
        }
    }
}
