// Windows of texts, hashed by MurmurHash3_x86_32 with seed 0. Composed with parts/murmur3.wgsl.
// CPU twin: murmur3_32 (crates/kernels/src/scheme/base_hash.rs).
//
// The words under four windows are read once: 193 instructions for 32 quads at windows of nine on sm_90, where about 390
// were. Windows of characters take the same way where all bytes are ASCII.

// Units of a window: bytes, or characters. Known to the compiler, so that it unrolls all loops over a window.
override WINDOW: u32;

// Bytes of all parts back to back, four per word, and some more words.
@group(0) @binding(4) var<storage, read> text: array<u32>;

// Words that cover four windows of at most 64 bytes, and one more.
const WORDS = 18;

// The words from byte `at` on, as if it were the first of a word, and whether one of them has a byte of 128 or more.
struct Words {
    words: array<u32, WORDS>,
    is_ascii: bool,
}

// Reads the words of four windows of bytes from byte `at` on.
fn words_at(at: u32) -> Words {
    let bits = 8 * (at % 4);
    var aligned: Words;
    var all = 0u;
    var word = text[at / 4];
    for (var j = 0u; j < (WINDOW + 6) / 4; j++) {
        let next = text[at / 4 + j + 1];
        // Two shifts, since a shift by 32 shifts by 0.
        let joined = (word >> bits) | ((next << (31 - bits)) << 1);
        aligned.words[j] = joined;
        all |= joined;
        word = next;
    }
    aligned.is_ascii = (all & 0x80808080u) == 0;
    return aligned;
}

// The words at the first four bytes of two.
fn shifted(low: u32, high: u32) -> vec4<u32> {
    return vec4(low, (low >> 8) | (high << 24), (low >> 16) | (high << 16), (low >> 24) | (high << 8));
}

// Hashes the four windows of bytes that begin at the first four bytes.
fn four_windows(text_words: array<u32, WORDS>) -> vec4<u32> {
    // Indexed by a variable.
    var words = text_words;
    var h = vec4(0u);
    for (var j = 0u; j < WINDOW / 4; j++) {
        let block = shifted(words[j], words[j + 1]);
        h = vec4(mix_block(h.x, block.x), mix_block(h.y, block.y), mix_block(h.z, block.z), mix_block(h.w, block.w));
    }
    if WINDOW % 4 > 0 {
        let rest = shifted(words[WINDOW / 4], words[WINDOW / 4 + 1]) & vec4((1u << (8 * (WINDOW % 4))) - 1);
        h ^= vec4(scramble(rest.x), scramble(rest.y), scramble(rest.z), scramble(rest.w));
    }
    h ^= vec4(WINDOW);
    return vec4(fmix32(h.x), fmix32(h.y), fmix32(h.z), fmix32(h.w));
}

// Four shingles of a part from shingle i on. Repeats the first of them behind the last of the part, which changes no
// minimum.
fn within(part: Part, i: u32, four: vec4<u32>) -> vec4<u32> {
    return select(four, vec4(four.x), vec4(i, i + 1, i + 2, i + 3) >= vec4(part.count));
}
