//! Hashes units, with SIMD kernels for the common cases, and collects the hashes.

use super::scratch::Scratch;
use super::words::WordSink;
use crate::scheme::{BaseHash, Copies, sha1, words_v1};
use crate::simd::Isa;
use crate::simd::sha1::Sha1Batch;
use crate::simd::strings::Murmur3Batch;
use crate::simd::windows::Windows;
use crate::simd::words::{WordShingle, hash_shingles, hash_words};

/// Collects the hashes of a document in a list, which is flushed whenever it holds `piece` hashes.
pub(super) struct Out<'a, H> {
    hashes: &'a mut Vec<H>,
    piece: usize,
    flush: Option<&'a mut Flush<'a, H>>,
}

/// Consumes the hashes and clears the list.
type Flush<'a, H> = dyn FnMut(&mut Vec<H>) + 'a;

impl<'a, H> Out<'a, H> {
    /// Collects all hashes in the list.
    pub(super) fn all(hashes: &'a mut Vec<H>) -> Self {
        Out {
            hashes,
            piece: usize::MAX,
            flush: None,
        }
    }

    /// Calls `flush` whenever the list holds `piece` hashes. `flush` must clear it.
    pub(super) fn pieces(
        hashes: &'a mut Vec<H>,
        piece: usize,
        flush: &'a mut (dyn FnMut(&mut Vec<H>) + 'a),
    ) -> Self {
        Out {
            hashes,
            piece,
            flush: Some(flush),
        }
    }

    /// The list to append to, flushed first if it is full.
    #[inline]
    pub(super) fn room(&mut self) -> &mut Vec<H> {
        if self.hashes.len() >= self.piece
            && let Some(flush) = &mut self.flush
        {
            flush(self.hashes);
        }
        self.hashes
    }

    /// Appends hashes of 32 bits.
    #[inline]
    fn extend(&mut self, hashes: &[u32])
    where
        H: From<u32>,
    {
        self.room().extend(hashes.iter().copied().map(H::from));
    }
}

/// Calls `emit` with every window of `size` bytes. A shorter text is one window, an empty text none.
pub(super) fn for_each_window(bytes: &[u8], size: usize, mut emit: impl FnMut(&[u8])) {
    if bytes.is_empty() {
    } else if bytes.len() <= size {
        emit(bytes);
    } else {
        bytes.windows(size).for_each(emit);
    }
}

/// Calls `emit` with every window of `size` characters of UTF-8 text. A shorter text is one window, an empty
/// text none.
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

/// Hashes shingles given as bytes: by SHA-1, and by murmur3-32 where that is faster, as many at a time as there are lanes.
pub(super) struct HashesOfBytes<'a, 'b, H> {
    hash: BaseHash,
    lanes: Batch,
    out: &'a mut Out<'b, H>,
}

/// Shingles that wait for a full vector.
enum Batch {
    Sha1(Sha1Batch),
    Murmur3(Murmur3Batch),
    /// Shingles are hashed one by one.
    None,
}

impl<'a, 'b, H: TextHash> HashesOfBytes<'a, 'b, H> {
    pub(super) fn new(isa: Isa, hash: BaseHash, out: &'a mut Out<'b, H>) -> Self {
        let lanes = match hash {
            BaseHash::Sha1_32 | BaseHash::Sha1_64 => Batch::Sha1(Sha1Batch::new(isa)),
            BaseHash::Murmur3_32 => Murmur3Batch::new(isa).map_or(Batch::None, Batch::Murmur3),
            _ => Batch::None,
        };
        HashesOfBytes { hash, lanes, out }
    }

    #[inline]
    pub(super) fn push(&mut self, shingle: &[u8]) {
        match &mut self.lanes {
            Batch::Sha1(sha1) => sha1.push(shingle, &mut |digest| {
                self.out.room().push(H::from_sha1(self.hash, digest));
            }),
            Batch::Murmur3(murmur3) => {
                murmur3.push(shingle, &mut |hashes| self.out.extend(hashes));
            }
            Batch::None => self.out.room().push(H::of_bytes(self.hash, shingle)),
        }
    }

    /// Hashes the shingles that `pass` passes on.
    pub(super) fn push_all<E>(
        &mut self,
        pass: impl FnOnce(&mut dyn FnMut(&[u8])) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        // A function of its own has no code of other hashes, for which it would save and restore registers.
        if let Batch::Murmur3(murmur3) = &mut self.lanes {
            return pass(&mut |shingle| {
                murmur3.push(shingle, &mut |hashes| self.out.extend(hashes));
            });
        }
        pass(&mut |shingle| self.push(shingle))
    }

    /// Hashes the shingles that still wait for a full vector.
    pub(super) fn finish(mut self) {
        match &mut self.lanes {
            Batch::Sha1(sha1) => {
                sha1.finish(&mut |digest| self.out.room().push(H::from_sha1(self.hash, digest)));
            }
            Batch::Murmur3(murmur3) => murmur3.finish(&mut |hashes| self.out.extend(hashes)),
            Batch::None => {}
        }
    }
}

/// A shingle hash of either width.
pub(super) trait TextHash: WordShingle + Copies + From<u32> + Into<u64> {
    /// The reusable list for pieces of this width.
    fn pieces(scratch: &mut Scratch) -> &mut Vec<Self>;

    /// The base hash `hash`, which is one of SHA-1, from the first two words of a digest.
    fn from_sha1(hash: BaseHash, digest: [u32; 2]) -> Self;

    /// Appends `hash` of every window of `size` bytes. A shorter text is one window, an empty text none.
    fn push_windows(
        isa: Isa,
        hash: BaseHash,
        bytes: &[u8],
        size: usize,
        _: &mut Windows,
        out: &mut Out<'_, Self>,
    ) {
        push_each_window(isa, hash, bytes, size, out);
    }
}

fn push_each_window<H: TextHash>(
    isa: Isa,
    hash: BaseHash,
    bytes: &[u8],
    size: usize,
    out: &mut Out<'_, H>,
) {
    let mut hashes = HashesOfBytes::new(isa, hash, out);
    for_each_window(bytes, size, |window| hashes.push(window));
    hashes.finish();
}

impl TextHash for u32 {
    fn pieces(scratch: &mut Scratch) -> &mut Vec<u32> {
        &mut scratch.narrow_pieces
    }

    fn from_sha1(_: BaseHash, [first, _]: [u32; 2]) -> u32 {
        first
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
            _ => push_each_window(isa, hash, bytes, size, out),
        }
    }
}

impl TextHash for u64 {
    fn pieces(scratch: &mut Scratch) -> &mut Vec<u64> {
        &mut scratch.wide_pieces
    }

    fn from_sha1(hash: BaseHash, digest: [u32; 2]) -> u64 {
        match hash {
            BaseHash::Sha1_32 => digest[0].into(),
            _ => sha1::joined(digest),
        }
    }
}

/// Word hashes collected before combining them into shingles: many per call, yet within the first-level cache.
const PENDING_WORDS: usize = 1024;

/// Combines words into `words-v1` shingles.
pub(super) struct HashesOfWords<'a, 'b, H> {
    isa: Isa,
    size: usize,
    /// Hashes of the last consecutive words.
    words: &'a mut Vec<u64>,
    out: &'a mut Out<'b, H>,
    /// Whether shingles were made already. Then the first `size - 1` of `words` belong to them.
    has_shingles: bool,
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
            out,
            has_shingles: false,
        }
    }

    #[inline]
    fn shingle_if_many(&mut self) {
        if self.words.len() >= PENDING_WORDS.saturating_add(self.size.saturating_mul(2)) {
            hash_shingles(self.isa, self.words, self.size, self.out.room());
            let shingled = self.words.len() - (self.size - 1);
            self.words.copy_within(shingled.., 0);
            self.words.truncate(self.size - 1);
            self.has_shingles = true;
        }
    }

    /// Combines the remaining words.
    pub(super) fn finish(self) {
        if !self.has_shingles || self.words.len() >= self.size {
            hash_shingles(self.isa, self.words, self.size, self.out.room());
        }
    }
}

impl<H: TextHash> WordSink for HashesOfWords<'_, '_, H> {
    fn words(&mut self, text: &[u8], words: &[[u32; 2]]) {
        hash_words(self.isa, text, words, self.words);
        self.shingle_if_many();
    }

    fn word(&mut self, word: &[u8]) {
        self.words.push(words_v1::word(word));
        self.shingle_if_many();
    }
}
