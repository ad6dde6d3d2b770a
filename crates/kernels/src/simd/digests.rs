//! BLAKE3 of many short byte strings, one chunk or node per lane.
//!
//! BLAKE3 hashes chunks of 1,024 bytes, each block of 64 bytes after the one before it, and joins them in a tree. The crate
//! fills the lanes with the chunks of one string: one of 16 KiB or more. Most documents are shorter, and each block then
//! waits for the one before it. Here, lanes hold the chunks of different strings. On an AMD EPYC, the crate took a fifth of
//! all CPU time of a deduplication of abstracts of 1,200 bytes.
//!
//! Source: "BLAKE3: one function, fast everywhere" (O'Connor, Aumasson, Neves, Wilcox-O'Hearn, 2020), sections 2.1 to 2.4.

use super::isa::Isa;
use super::kernel::Kernel;
use super::lanes::{Lanes, ROWS, Row};
use crate::documents::digest;

/// Bytes of a chunk, and of a block.
const CHUNK: usize = 1024;
const BLOCK: usize = 64;

/// Strings of so many bytes fill all lanes alone.
const LONG: usize = 16 * CHUNK;

/// Bytes that are collected before they are hashed: they stay in the cache, and hold chunks enough of all lengths.
const ROOM: usize = 1 << 18;

/// With fewer strings, most lanes would be idle.
const FEWEST: usize = 3;

/// The words that a chunk or node begins with.
const START: [u32; 8] = [
    0x6A09_E667,
    0xBB67_AE85,
    0x3C6E_F372,
    0xA54F_F53A,
    0x510E_527F,
    0x9B05_688C,
    0x1F83_D9AB,
    0x5BE0_CD19,
];

const CHUNK_START: u32 = 1;
const CHUNK_END: u32 = 2;
const PARENT: u32 = 4;
const ROOT: u32 = 8;

/// Eight words: the value of a chunk or node.
type Value = [u32; 8];

/// Collects strings, and digests them together.
#[derive(Debug, Default)]
#[doc(hidden)]
pub struct DigestBatch {
    bytes: Vec<u8>,
    strings: Vec<Waiting>,
    digests: Vec<u128>,
    chunks: Vec<Chunk>,
    nodes: Vec<Value>,
}

/// A string that is collected.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    /// Where its digest goes.
    number: usize,
    start: usize,
    len: usize,
}

impl Waiting {
    fn chunks(&self) -> usize {
        self.len.div_ceil(CHUNK).max(1)
    }
}

/// A chunk to hash.
#[derive(Clone, Copy, Debug)]
struct Chunk {
    start: usize,
    len: usize,
    /// Its number in its string.
    number: u32,
    /// [`ROOT`] if its string has no other, else 0.
    root: u32,
    /// Where its value goes.
    node: usize,
}

impl Chunk {
    fn blocks(&self) -> usize {
        self.len.div_ceil(BLOCK).max(1)
    }
}

/// Two neighbours to join.
struct DigestPair {
    /// The nodes are this one and the next.
    left: usize,
    flags: u32,
    /// Where their value goes: not behind the left one.
    node: usize,
}

impl DigestBatch {
    /// Adds a string. Its digest follows that of the string before it.
    #[doc(hidden)]
    pub fn push(&mut self, isa: Isa, string: &[u8]) {
        let number = self.digests.len();
        if string.len() >= LONG {
            self.digests.push(digest(string));
            return;
        }
        self.strings.push(Waiting {
            number,
            start: self.bytes.len(),
            len: string.len(),
        });
        self.digests.push(0);
        self.bytes.extend_from_slice(string);
        if self.bytes.len() >= ROOM {
            self.hash(isa);
        }
    }

    /// Returns [`digest`] of each string, in order. No strings are left.
    #[doc(hidden)]
    pub fn finish(&mut self, isa: Isa) -> Vec<u128> {
        self.hash(isa);
        std::mem::take(&mut self.digests)
    }

    /// Digests the strings that are collected.
    fn hash(&mut self, isa: Isa) {
        if self.strings.len() < FEWEST {
            for string in self.strings.drain(..) {
                let bytes = &self.bytes[string.start..string.start + string.len];
                self.digests[string.number] = digest(bytes);
            }
        } else {
            self.hash_chunks(isa);
            self.join_nodes(isa);
            self.strings.clear();
        }
        self.bytes.clear();
    }

    #[allow(
        clippy::cast_possible_truncation,
        reason = "a string has few chunks here"
    )]
    fn hash_chunks(&mut self, isa: Isa) {
        let DigestBatch {
            bytes,
            strings,
            chunks,
            nodes,
            ..
        } = self;
        chunks.clear();
        let mut node = 0;
        for string in strings.iter() {
            let count = string.chunks();
            chunks.extend((0..count).map(|number| Chunk {
                start: string.start + number * CHUNK,
                len: (string.len - number * CHUNK).min(CHUNK),
                number: number as u32,
                root: if count == 1 { ROOT } else { 0 },
                node: node + number,
            }));
            node += count;
        }
        // Chunks of equal length end together.
        chunks.sort_unstable_by_key(Chunk::blocks);
        nodes.clear();
        nodes.resize(node, [0; 8]);
        isa.run(HashChunks {
            bytes,
            chunks,
            nodes,
        });
    }

    /// Joins the nodes of each string until one is left: neighbours in pairs, and the last one of an odd number rises.
    /// So each left subtree is a full one, as large as it can be.
    fn join_nodes(&mut self, isa: Isa) {
        let mut trees = Vec::with_capacity(self.strings.len());
        let mut first = 0;
        for string in &self.strings {
            trees.push((first, string.chunks()));
            first += string.chunks();
        }
        let mut pairs = Vec::new();
        while trees.iter().any(|(_, nodes)| *nodes > 1) {
            pairs.clear();
            for (first, nodes) in &trees {
                let flags = match nodes {
                    2 => PARENT | ROOT,
                    _ => PARENT,
                };
                pairs.extend((0..nodes / 2).map(|i| DigestPair {
                    left: first + 2 * i,
                    flags,
                    node: first + i,
                }));
            }
            isa.run(JoinPairs {
                pairs: &pairs,
                nodes: &mut self.nodes,
            });
            for (first, nodes) in &mut trees {
                let joined = *nodes / 2;
                if *nodes % 2 == 1 {
                    self.nodes[*first + joined] = self.nodes[*first + *nodes - 1];
                }
                *nodes = nodes.div_ceil(2);
            }
        }
        for (string, (root, _)) in self.strings.iter().zip(trees) {
            let [a, b, c, d, ..] = self.nodes[root].map(u128::from);
            self.digests[string.number] = a | b << 32 | c << 64 | d << 96;
        }
    }
}

struct HashChunks<'a> {
    bytes: &'a [u8],
    chunks: &'a [Chunk],
    nodes: &'a mut [Value],
}

impl Kernel for HashChunks<'_> {
    type Output = ();

    #[allow(clippy::cast_possible_truncation, reason = "at most 64")]
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let mut rows = [[0; 16]; ROWS];
        for chunks in self.chunks.chunks(L::COUNT) {
            let mut counters = [0; ROWS];
            for (counter, chunk) in counters.iter_mut().zip(chunks) {
                *counter = chunk.number;
            }
            let counter = lanes.load(&counters);
            let mut value = START.map(|word| lanes.splat(word));
            let last = chunks.last().map_or(0, Chunk::blocks);
            for block in 0..last {
                let (mut lens, mut flags) = ([0; ROWS], [0; ROWS]);
                let is_first = if block == 0 { CHUNK_START } else { 0 };
                for (lane, chunk) in chunks.iter().enumerate() {
                    let at = (block * BLOCK).min(chunk.len);
                    let len = (chunk.len - at).min(BLOCK);
                    let start = chunk.start + at;
                    lanes.fill(&mut rows[lane], &self.bytes[start..start + len]);
                    lens[lane] = len as u32;
                    flags[lane] = if block + 1 == chunk.blocks() {
                        is_first | CHUNK_END | chunk.root
                    } else {
                        is_first
                    };
                }
                let parameters = [counter, lanes.load(&lens), lanes.load(&flags)];
                value = compress(lanes, value, message(lanes, &rows), parameters);
                let all = chunks.iter().enumerate();
                let ended = all.filter(|(_, chunk)| chunk.blocks() == block + 1);
                let mut ended = ended.map(|(lane, chunk)| (lane, chunk.node)).peekable();
                if ended.peek().is_some() {
                    put(lanes, value, ended, self.nodes);
                }
            }
        }
    }
}

struct JoinPairs<'a> {
    pairs: &'a [DigestPair],
    nodes: &'a mut [Value],
}

impl Kernel for JoinPairs<'_> {
    type Output = ();

    #[allow(clippy::cast_possible_truncation, reason = "64")]
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let mut rows = [[0; 16]; ROWS];
        for pairs in self.pairs.chunks(L::COUNT) {
            let mut flags = [0; ROWS];
            for (lane, pair) in pairs.iter().enumerate() {
                rows[lane][..8].copy_from_slice(&self.nodes[pair.left]);
                rows[lane][8..].copy_from_slice(&self.nodes[pair.left + 1]);
                flags[lane] = pair.flags;
            }
            let parameters = [
                lanes.splat(0),
                lanes.splat(BLOCK as u32),
                lanes.load(&flags),
            ];
            let start = START.map(|word| lanes.splat(word));
            let value = compress(lanes, start, message(lanes, &rows), parameters);
            let joined = pairs.iter().map(|pair| pair.node).enumerate();
            put(lanes, value, joined, self.nodes);
        }
    }
}

/// The words of a block in each lane.
#[inline(always)]
fn message<L: Lanes>(lanes: L, rows: &[Row; ROWS]) -> [L::U32; 16] {
    let [a, b, c, d] = lanes.four_columns(rows, 0);
    let [e, f, g, h] = lanes.four_columns(rows, 4);
    let [i, j, k, l] = lanes.four_columns(rows, 8);
    let [m, n, o, p] = lanes.four_columns(rows, 12);
    [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]
}

/// Writes the values of some lanes to nodes.
#[inline(always)]
fn put<L: Lanes>(
    lanes: L,
    value: [L::U32; 8],
    to: impl Iterator<Item = (usize, usize)>,
    nodes: &mut [Value],
) {
    let mut words = [[0; ROWS]; 8];
    for (word, words) in value.into_iter().zip(&mut words) {
        lanes.store(word, words);
    }
    for (lane, node) in to {
        nodes[node] = words.each_ref().map(|words| words[lane]);
    }
}

/// The value after a block of `m`, from that before it. The block has a counter, a length and flags.
#[inline(always)]
fn compress<L: Lanes>(
    lanes: L,
    value: [L::U32; 8],
    m: [L::U32; 16],
    [counter, len, flags]: [L::U32; 3],
) -> [L::U32; 8] {
    let [a, b, c, d, e, f, g, h] = value;
    let [i, j, k, l, ..] = START.map(|word| lanes.splat(word));
    // The high half of the counter.
    let high = lanes.splat(0);
    let state = [
        a, b, c, d, e, f, g, h, i, j, k, l, counter, high, len, flags,
    ];
    let (state, m) = (round(lanes, state, m), permuted(m));
    let (state, m) = (round(lanes, state, m), permuted(m));
    let (state, m) = (round(lanes, state, m), permuted(m));
    let (state, m) = (round(lanes, state, m), permuted(m));
    let (state, m) = (round(lanes, state, m), permuted(m));
    let (state, m) = (round(lanes, state, m), permuted(m));
    let state = round(lanes, state, m);
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = state;
    [
        lanes.xor(a, i),
        lanes.xor(b, j),
        lanes.xor(c, k),
        lanes.xor(d, l),
        lanes.xor(e, m),
        lanes.xor(f, n),
        lanes.xor(g, o),
        lanes.xor(h, p),
    ]
}

/// The words of a message in the order of the next round.
#[inline(always)]
fn permuted<T: Copy>(m: [T; 16]) -> [T; 16] {
    [
        m[2], m[6], m[3], m[10], m[7], m[0], m[4], m[13], m[1], m[11], m[12], m[5], m[9], m[14],
        m[15], m[8],
    ]
}

/// Mixes the columns of the state, and then its diagonals.
#[inline(always)]
fn round<L: Lanes>(lanes: L, state: [L::U32; 16], m: [L::U32; 16]) -> [L::U32; 16] {
    let [a, b, c, d, e, f, g, h, i, j, k, l, o, p, q, r] = state;
    let [a, e, i, o] = mix(lanes, [a, e, i, o], [m[0], m[1]]);
    let [b, f, j, p] = mix(lanes, [b, f, j, p], [m[2], m[3]]);
    let [c, g, k, q] = mix(lanes, [c, g, k, q], [m[4], m[5]]);
    let [d, h, l, r] = mix(lanes, [d, h, l, r], [m[6], m[7]]);
    let [a, f, k, r] = mix(lanes, [a, f, k, r], [m[8], m[9]]);
    let [b, g, l, o] = mix(lanes, [b, g, l, o], [m[10], m[11]]);
    let [c, h, i, p] = mix(lanes, [c, h, i, p], [m[12], m[13]]);
    let [d, e, j, q] = mix(lanes, [d, e, j, q], [m[14], m[15]]);
    [a, b, c, d, e, f, g, h, i, j, k, l, o, p, q, r]
}

/// The function G.
#[inline(always)]
fn mix<L: Lanes>(lanes: L, [a, b, c, d]: [L::U32; 4], m: [L::U32; 2]) -> [L::U32; 4] {
    let a = lanes.add(lanes.add(a, b), m[0]);
    let d = lanes.rotate_left(lanes.xor(d, a), 16);
    let c = lanes.add(c, d);
    let b = lanes.rotate_left(lanes.xor(b, c), 20);
    let a = lanes.add(lanes.add(a, b), m[1]);
    let d = lanes.rotate_left(lanes.xor(d, a), 24);
    let c = lanes.add(c, d);
    let b = lanes.rotate_left(lanes.xor(b, c), 25);
    [a, b, c, d]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::fmix64;

    fn string(len: usize, seed: u64) -> Vec<u8> {
        let byte = |i: u64| fmix64(seed << 32 | i).to_le_bytes()[0];
        (0..len as u64).map(byte).collect()
    }

    /// Digests of the strings on all instruction sets are those of the crate.
    fn check(strings: &[Vec<u8>]) {
        let expected: Vec<u128> = strings.iter().map(|string| digest(string)).collect();
        for isa in Isa::available().iter().copied() {
            let mut batch = DigestBatch::default();
            for _ in 0..2 {
                strings.iter().for_each(|string| batch.push(isa, string));
                assert_eq!(batch.finish(isa), expected, "{isa:?}");
            }
        }
    }

    #[test]
    fn every_length_around_blocks_and_chunks() {
        let near = |of: usize| of.saturating_sub(2)..of + 3;
        let blocks = (0..36).flat_map(|i| near(i * BLOCK));
        let chunks = (5..18).flat_map(|i| near(i * CHUNK));
        let lens = blocks.chain(chunks);
        check(&lens.map(|len| string(len, len as u64)).collect::<Vec<_>>());
    }

    #[test]
    fn batches_of_any_size_and_order() {
        for count in 0..40 {
            let len = |seed: u64| (fmix64(seed << 8 | count) % 6_000) as usize;
            check(
                &(0..count)
                    .map(|seed| string(len(seed), seed))
                    .collect::<Vec<_>>(),
            );
        }
        check(&vec![string(3 * CHUNK, 1); 200]);
    }

    /// From the published test vectors of BLAKE3: bytes 0, 1, … 250, 0, 1, …
    #[test]
    fn digests_equal_the_published_ones() {
        let published = [
            (0, "af1349b9f5f9a1a6a0404dea36dcc949"),
            (1, "2d3adedff11b61f14c886e35afa03673"),
            (1023, "10108970eeda3eb932baac1428c7a216"),
            (1024, "42214739f095a406f3fc83deb889744a"),
            (1025, "d00278ae47eb27b34faecf67b4fe263f"),
            (2049, "5f4d72f40d7a5f82b15ca2b2e44b1de3"),
            (8193, "bab6c09cb8ce8cf459261398d2e7aef3"),
        ];
        let string = |len: usize| -> Vec<u8> { (0..=250).cycle().take(len).collect() };
        for isa in Isa::available().iter().copied() {
            let mut batch = DigestBatch::default();
            let strings = published.map(|(len, _)| string(len));
            strings.iter().for_each(|string| batch.push(isa, string));
            let hex = |digest: u128| format!("{:032x}", digest.swap_bytes());
            let digests: Vec<String> = batch.finish(isa).into_iter().map(hex).collect();
            assert_eq!(digests, published.map(|(_, hex)| hex), "{isa:?}");
        }
    }
}
