//! Units to hashes: the ways that are worth a kernel, and where hashes go.

use super::scratch::Scratch;
use super::sequence::UnitSequence;
use super::words::WordSink;
use crate::scheme::{BaseHash, words_v1};
use crate::simd::Isa;
use crate::simd::windows::Windows;
use crate::simd::words::{WordShingle, hash_shingles, hash_words};

/// Where the hashes of a document go: into one list, which is given away whenever it is long enough.
pub(super) struct Out<'a, H> {
    hashes: &'a mut Vec<H>,
    piece: usize,
    give: Option<&'a mut Give<'a, H>>,
}

/// Takes hashes away and clears the list.
type Give<'a, H> = dyn FnMut(&mut Vec<H>) + 'a;

impl<'a, H> Out<'a, H> {
    /// All hashes stay in the list.
    pub(super) fn all(hashes: &'a mut Vec<H>) -> Self {
        Out {
            hashes,
            piece: usize::MAX,
            give: None,
        }
    }

    /// The list is given away, to be cleared, whenever `piece` hashes are in it.
    pub(super) fn pieces(
        hashes: &'a mut Vec<H>,
        piece: usize,
        give: &'a mut (dyn FnMut(&mut Vec<H>) + 'a),
    ) -> Self {
        Out {
            hashes,
            piece,
            give: Some(give),
        }
    }

    /// The list, for some more hashes.
    #[inline]
    pub(super) fn room(&mut self) -> &mut Vec<H> {
        if self.hashes.len() >= self.piece
            && let Some(give) = &mut self.give
        {
            give(self.hashes);
        }
        self.hashes
    }
}

/// Calls `emit` with every window of `size` bytes; a shorter text is one window, an empty one none.
pub(super) fn for_each_window(bytes: &[u8], size: usize, mut emit: impl FnMut(&[u8])) {
    if bytes.is_empty() {
    } else if bytes.len() <= size {
        emit(bytes);
    } else {
        bytes.windows(size).for_each(emit);
    }
}

/// The same for windows of `size` characters of text in UTF-8.
pub(super) fn for_each_char_window(text: &[u8], size: usize, mut emit: impl FnMut(&[u8])) {
    let starts = || {
        let is_start = |(at, byte): (usize, &u8)| (byte & 0xC0 != 0x80).then_some(at);
        text.iter().enumerate().filter_map(is_start)
    };
    let ends = starts().skip(size).chain([text.len()]);
    for (start, end) in starts().zip(ends) {
        emit(&text[start..end]);
    }
}

/// A shingle hash with its own way through a text.
pub(super) trait TextHash: WordShingle {
    /// The list that pieces are made in.
    fn pieces(scratch: &mut Scratch) -> &mut Vec<Self>;

    /// Appends `hash` of every window of `size` bytes; a shorter text is one window, an empty one
    /// none.
    fn push_windows(
        _: Isa,
        hash: BaseHash,
        bytes: &[u8],
        size: usize,
        _: &mut Windows,
        out: &mut Out<'_, Self>,
    ) {
        push_each_window(hash, bytes, size, out);
    }
}

fn push_each_window<H: TextHash>(hash: BaseHash, bytes: &[u8], size: usize, out: &mut Out<'_, H>) {
    for_each_window(bytes, size, |window| {
        out.room().push(H::of_bytes(hash, window));
    });
}

impl TextHash for u32 {
    fn pieces(scratch: &mut Scratch) -> &mut Vec<u32> {
        &mut scratch.narrow_pieces
    }

    fn push_windows(
        isa: Isa,
        hash: BaseHash,
        bytes: &[u8],
        size: usize,
        windows: &mut Windows,
        out: &mut Out<'_, u32>,
    ) {
        match hash {
            BaseHash::Murmur3_32 => windows.hash(isa, bytes, size, 0, |hashes| {
                out.room().extend_from_slice(hashes);
            }),
            _ => push_each_window(hash, bytes, size, out),
        }
    }
}

impl TextHash for u64 {
    fn pieces(scratch: &mut Scratch) -> &mut Vec<u64> {
        &mut scratch.wide_pieces
    }
}

/// Words whose hashes wait, so that shingles are made of many at a time and all stays in the
/// first-level cache.
const WAITING: usize = 1024;

/// Makes `words-v1` shingles of words.
pub(super) struct HashesOfWords<'a, 'b, H> {
    isa: Isa,
    size: usize,
    /// Of words in a row, the last ones so far.
    words: &'a mut Vec<u64>,
    sequence: Option<&'a mut UnitSequence>,
    out: &'a mut Out<'b, H>,
    /// Whether all but the last `size - 1` words have had their shingles.
    has_begun: bool,
}

impl<'a, 'b, H: TextHash> HashesOfWords<'a, 'b, H> {
    pub(super) fn new(
        isa: Isa,
        size: usize,
        scratch: &'a mut Scratch,
        out: &'a mut Out<'b, H>,
    ) -> Self {
        scratch.word_hashes.clear();
        HashesOfWords {
            isa,
            size,
            words: &mut scratch.word_hashes,
            sequence: scratch.is_digested.then_some(&mut scratch.sequence),
            out,
            has_begun: false,
        }
    }

    #[inline]
    fn shingle_if_many(&mut self) {
        if self.words.len() >= WAITING.saturating_add(self.size.saturating_mul(2)) {
            hash_shingles(self.isa, self.words, self.size, self.out.room());
            let shingled = self.words.len() - (self.size - 1);
            self.words.copy_within(shingled.., 0);
            self.words.truncate(self.size - 1);
            self.has_begun = true;
        }
    }

    /// Makes the last shingles.
    pub(super) fn finish(self) {
        if !self.has_begun || self.words.len() >= self.size {
            hash_shingles(self.isa, self.words, self.size, self.out.room());
        }
    }
}

impl<H: TextHash> WordSink for HashesOfWords<'_, '_, H> {
    fn words(&mut self, text: &[u8], words: &[[u32; 2]]) {
        let ([[start, _], ..], [.., [_, end]]) = (words, words) else {
            return;
        };
        let sequence = &mut self.sequence;
        let len = (end - start) as usize;
        let sequence = sequence
            .as_mut()
            .map(|sequence| sequence.room_for_words(len));
        hash_words(self.isa, text, words, sequence, self.words);
        self.shingle_if_many();
    }

    fn word(&mut self, word: &[u8]) {
        if let Some(sequence) = &mut self.sequence {
            sequence.push_word(word);
        }
        self.words.push(words_v1::word(word));
        self.shingle_if_many();
    }
}
