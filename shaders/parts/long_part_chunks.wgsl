// Signs a part of any length by chunks: a cheap key of 32 bits for each shingle, and the values of the chunks that can hold
// the least one.
//
// Keys have nearly the order of values. A place is what a family says, and greater for no lesser value; a key is a place
// plus an error of 0 to REACH, modulo 2^32.
//
// 1. A key that wraps is below REACH. Such keys are silent: they say nothing.
// 2. Where neither wraps, a lesser value's key is at most REACH more than the other one's.
// 3. So the least value is in a chunk whose least key is silent, or at most REACH more than the least key of any chunk that
//    is not. Those chunks are near, and all of them are evaluated: one of a tile, two under one permutation in 16 where REACH
//    is 2^17, and more where shingles are repeated.
//
// The least key is kept from tile to tile, so that later tiles evaluate less: under a half of the permutations, a third,
// and so on. A thread takes four permutations and one slice of the tile, as in the loop over values, for keys; and for
// values one slot, so that no two threads write the same.
// CPU twin: crates/kernels/src/simd/chunks.rs.

// Slots of a block.
override SLOTS: u32;

// Quads of a slice that are a chunk: what ends a chunk costs as much as what evaluates it.
const CHUNK = 8u;

// A part of fewer shingles costs less if all its values are computed.
const LEAST_SHINGLES = 256u;

// By slot: the least key that is not silent, or the greatest one that is REACH below the greatest number.
var<workgroup> least_key: array<atomic<u32>, SLOTS>;
// The near chunks of the tile. Bit i stands for chunk i, and those 32, 64 and so on behind it.
var<workgroup> near: array<atomic<u32>, SLOTS>;
// The least value.
var<workgroup> least: array<Hash, SLOTS>;

// What a slice of the tile says of four permutations.
struct Found {
    // The least key of any chunk that is not silent, in this slice and those before.
    key: vec4<u32>,
    // The chunks that are near it, and those that are silent.
    chunks: vec4<u32>,
    silent: vec4<u32>,
}

// The least keys of quads `at` .. `end` of a slice, an even number.
fn least_keys(by: KeyTerms, slice: u32, at: u32, end: u32) -> vec4<u32> {
    var least = vec4(0xFFFFFFFFu);
    for (var n = at; n < end; n += 2) {
        let x = tile[slice + n * SLICES];
        let y = tile[slice + n * SLICES + SLICES];
        least = min(least, keys(by, x.x));
        least = min(least, keys(by, x.y));
        least = min(least, keys(by, x.z));
        least = min(least, keys(by, x.w));
        least = min(least, keys(by, y.x));
        least = min(least, keys(by, y.y));
        least = min(least, keys(by, y.z));
        least = min(least, keys(by, y.w));
    }
    return least;
}

// Finds the near chunks of a slice. A slice's chunks are SLICES apart.
fn find(share: Share, of_slice: u32) -> Found {
    let by = key_terms(coefficients[share.quad]);
    let slot = 4 * share.lane;
    let known = vec4(
        atomicLoad(&least_key[slot]),
        atomicLoad(&least_key[slot + 1]),
        atomicLoad(&least_key[slot + 2]),
        atomicLoad(&least_key[slot + 3]),
    );
    var found = Found(known, vec4(0u), vec4(0u));
    for (var at = 0u; at < of_slice; at += CHUNK) {
        let bit = vec4(1u << ((at / CHUNK * SLICES + share.slice) % 32));
        var key = least_keys(by, share.slice, at, min(at + CHUNK, of_slice));
        let is_silent = key < vec4(REACH);
        if any(is_silent) {
            found.silent |= select(vec4(0u), bit, is_silent);
            key = select(key, vec4(0xFFFFFFFFu), is_silent);
        }
        let is_less = key < found.key;
        let is_far = key - found.key + vec4(REACH) > vec4(2 * REACH);
        found.chunks = select(found.chunks | bit, select(found.chunks, bit, is_less), is_far);
        found.key = min(found.key, key);
    }
    return found;
}

// Marks the near chunks of a slice, once all slices have lowered the least key.
fn mark(slot: u32, key: u32, chunks: u32, silent: u32) {
    let is_near = key <= atomicLoad(&least_key[slot]) + REACH;
    let marked = silent | select(0u, chunks, is_near);
    if marked != 0 {
        atomicOr(&near[slot], marked);
    }
}

// Lowers a slot by the values of its near chunks.
fn evaluate(slot: u32, quad: u32, of_slice: u32) {
    let by = only(quad, slot % 4);
    let chunks = (of_slice + CHUNK - 1) / CHUNK * SLICES;
    for (var left = atomicLoad(&near[slot]); left != 0; left &= left - 1) {
        for (var chunk = countTrailingZeros(left); chunk < chunks; chunk += 32) {
            let at = chunk / SLICES * CHUNK;
            let first = chunk % SLICES + at * SLICES;
            let count = min(CHUNK, of_slice - at);
            // The four values are the same: taking one tells so to compilers.
            let value = least_value(by, first, count, SLICES).x;
            least[slot] = min(least[slot], finish(by, vec4(value), first, count, SLICES).x);
        }
    }
}

fn sign_part(p: u32, share: Share) {
    let part = parts[p];
    if part.count < LEAST_SHINGLES {
        sign_straight(p, share);
        return;
    }
    let row_quads = arrayLength(&coefficients);
    for (var slot = share.thread; slot < SLOTS; slot += THREADS) {
        atomicStore(&least_key[slot], 0xFFFFFFFFu - REACH);
        least[slot] = GREATEST;
    }
    for (var at = 0u; at < part.count; at += LONG_TILE) {
        for (var slot = share.thread; slot < SLOTS; slot += THREADS) {
            atomicStore(&near[slot], 0u);
        }
        let of_slice = stage(part, at, min(part.count - at, LONG_TILE), share.thread);
        workgroupBarrier();
        let slot = 4 * share.lane;
        var found = Found();
        if !share.is_idle {
            found = find(share, of_slice);
            atomicMin(&least_key[slot], found.key.x);
            atomicMin(&least_key[slot + 1], found.key.y);
            atomicMin(&least_key[slot + 2], found.key.z);
            atomicMin(&least_key[slot + 3], found.key.w);
        }
        workgroupBarrier();
        if !share.is_idle {
            mark(slot, found.key.x, found.chunks.x, found.silent.x);
            mark(slot + 1, found.key.y, found.chunks.y, found.silent.y);
            mark(slot + 2, found.key.z, found.chunks.z, found.silent.z);
            mark(slot + 3, found.key.w, found.chunks.w, found.silent.w);
        }
        workgroupBarrier();
        for (var slot = share.thread; slot < SLOTS; slot += THREADS) {
            evaluate(slot, min(share.block + slot / 4, row_quads - 1), of_slice);
        }
        workgroupBarrier();
    }
    for (var lane = share.thread; lane < SLICE_THREADS; lane += THREADS) {
        if share.block + lane < row_quads {
            let slot = 4 * lane;
            rows[p * row_quads + share.block + lane] = vec4(least[slot], least[slot + 1], least[slot + 2], least[slot + 3]);
        }
    }
}
