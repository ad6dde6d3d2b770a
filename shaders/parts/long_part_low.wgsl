// Signs a part of any length under mersenne61, tile by tile, by the low words of its values: two to three times as fast
// as the values themselves, and no 64-bit integers in the loop.
//
// With s = a*x + b modulo 2^64, a value is the low word of s plus e modulo 2^32, with e in 0 .. 8. Let u be the low word
// plus 8, and m the least u of a tile. If m >= 8, no value wraps, so the least value is that of a shingle with u in
// m .. m + 8. There are few x with such a u; a bit map says which of them the tile holds, and errs only by a false yes.
// If it says yes to one alone, that is the shingle. All threads together look for the others in the tile.
// CPU twin: mersenne61 (src/scheme/family.rs).

// Slots of a block.
override SLOTS: u32;

// 2^15 bits for 2^10 shingles of two bits each: 0.4 % of the tested x get a false yes.
const MAP_WORDS = 1024u;

// The factors whose low word has at most so many trailing zeros have at most 16 such x.
const MOST_ZEROS = 4u;

// A tile of fewer quads costs less if all its values are computed.
const LEAST_QUADS = 64u;

var<workgroup> map: array<atomic<u32>, MAP_WORDS>;
// The least u of the tile, by slot.
var<workgroup> least_u: array<atomic<u32>, SLOTS>;
// The least value of all tiles so far, by slot.
var<workgroup> least: array<atomic<u32>, SLOTS>;
// The slots that all threads look for in the tile.
var<workgroup> open: array<u32, SLOTS>;
var<workgroup> open_count: atomic<u32>;

// The two bits of a shingle. The x of one slot have low bits in common, so their products are taken.
fn places(x: u32) -> vec2<u32> {
    return vec2(x * 0x9E3779B1u, x * 0x85EBCA6Bu) >> vec2(17u);
}

fn note(x: u32) {
    let at = places(x);
    atomicOr(&map[at.x >> 5], 1u << (at.x & 31));
    atomicOr(&map[at.y >> 5], 1u << (at.y & 31));
}

fn may_hold(x: u32) -> bool {
    let at = places(x);
    let one = atomicLoad(&map[at.x >> 5]) >> (at.x & 31);
    let other = atomicLoad(&map[at.y >> 5]) >> (at.y & 31);
    return (one & other & 1) == 1;
}

// Factor and addend of u: since b + 1 is stored, the addend is 7 more than its low word.
struct LowWords {
    a: vec4<u32>,
    b: vec4<u32>,
}

fn low_words(by: Coefficients) -> LowWords {
    return LowWords(low_factors(by), low_addends(by) + vec4(7u));
}

fn least_low_words(by: LowWords, first: u32, end: u32, step: u32) -> vec4<u32> {
    var lowest = vec4(GREATEST);
    for (var i = first; i < end; i += step) {
        let x = tile[i];
        lowest = min(lowest, by.a * x.x + by.b);
        lowest = min(lowest, by.a * x.y + by.b);
        lowest = min(lowest, by.a * x.z + by.b);
        lowest = min(lowest, by.a * x.w + by.b);
    }
    return lowest;
}

// The inverse of an odd number modulo 2^32, by Newton's method: the first guess has 5 bits.
fn inverse(odd: u32) -> u32 {
    var x = (3 * odd) ^ 2;
    x *= 2 - odd * x;
    x *= 2 - odd * x;
    return x * (2 - odd * x);
}

// Lowers a slot by the shingle that has its least value in the tile, or leaves the slot open.
fn settle(slot: u32, quad: u32) {
    let m = atomicLoad(&least_u[slot]);
    // No value of the tile is below m - 8.
    if m >= 8 && m - 8 >= atomicLoad(&least[slot]) {
        return;
    }
    let by = coefficients[quad];
    let low = low_words(by);
    let a = low.a[slot % 4];
    let zeros = countTrailingZeros(a);
    if m >= 8 && zeros <= MOST_ZEROS {
        let odd_inverse = inverse(a >> zeros);
        let base = odd_inverse * ((m - low.b[slot % 4]) >> zeros);
        let copies = 1u << zeros;
        let count = ((8u >> zeros) + 1) * copies;
        var found = 0u;
        var x = 0u;
        for (var n = 0u; n < count; n++) {
            let of_residue = (base + (n >> zeros) * odd_inverse) & (0xFFFFFFFFu >> zeros);
            // Two shifts, since a shift by 32 shifts by 0.
            let tested = of_residue | (((n & (copies - 1)) << 1) << (31 - zeros));
            if may_hold(tested) {
                found++;
                x = tested;
            }
        }
        if found == 1 {
            atomicMin(&least[slot], exact_value(by, x)[slot % 4]);
            return;
        }
    }
    open[atomicAdd(&open_count, 1u)] = slot;
}

// Lowers an open slot by the shingles of one thread.
fn look_for(slot: u32, quad: u32, share: Share, quads: u32) {
    let by = coefficients[quad];
    let low = low_words(by);
    let m = atomicLoad(&least_u[slot]);
    let a = low.a[slot % 4];
    let b = low.b[slot % 4] - m;
    // Where values may wrap, any may be the least.
    let limit = select(8u, GREATEST, m < 8);
    for (var i = share.thread; i < quads; i += THREADS) {
        let x = tile[i];
        if any(a * x + b <= vec4(limit)) {
            let first = min(exact_value(by, x.x), exact_value(by, x.y));
            let second = min(exact_value(by, x.z), exact_value(by, x.w));
            atomicMin(&least[slot], min(first, second)[slot % 4]);
        }
    }
}

fn lower(lane: u32, values: vec4<u32>) {
    atomicMin(&least[4 * lane], values.x);
    atomicMin(&least[4 * lane + 1], values.y);
    atomicMin(&least[4 * lane + 2], values.z);
    atomicMin(&least[4 * lane + 3], values.w);
}

fn sign_part(p: u32, share: Share) {
    let part = parts[p];
    let row_quads = arrayLength(&coefficients);
    for (var slot = share.thread; slot < SLOTS; slot += THREADS) {
        atomicStore(&least[slot], GREATEST);
    }
    for (var at = 0u; at < part.count; at += 4 * TILE_QUADS) {
        let quads = quads_of(min(part.count - at, 4 * TILE_QUADS));
        let is_low = quads >= LEAST_QUADS;
        for (var slot = share.thread; slot < SLOTS; slot += THREADS) {
            atomicStore(&least_u[slot], GREATEST);
        }
        for (var word = share.thread; word < MAP_WORDS && is_low; word += THREADS) {
            atomicStore(&map[word], 0u);
        }
        if share.thread == 0 {
            atomicStore(&open_count, 0u);
        }
        workgroupBarrier();
        for (var i = share.thread; i < quads; i += THREADS) {
            let x = staged(part, at + 4 * i);
            tile[i] = x;
            if is_low {
                note(x.x);
                note(x.y);
                note(x.z);
                note(x.w);
            }
        }
        workgroupBarrier();
        if !is_low {
            if !share.is_idle {
                lower(share.lane, least_slots(coefficients[share.quad], share.slice, quads, SLICES));
            }
        } else {
            if !share.is_idle {
                let by = low_words(coefficients[share.quad]);
                let lowest = least_low_words(by, share.slice, quads, SLICES);
                atomicMin(&least_u[4 * share.lane], lowest.x);
                atomicMin(&least_u[4 * share.lane + 1], lowest.y);
                atomicMin(&least_u[4 * share.lane + 2], lowest.z);
                atomicMin(&least_u[4 * share.lane + 3], lowest.w);
            }
            workgroupBarrier();
            for (var slot = share.thread; slot < SLOTS; slot += THREADS) {
                if share.block + slot / 4 < row_quads {
                    settle(slot, share.block + slot / 4);
                }
            }
            workgroupBarrier();
            let count = atomicLoad(&open_count);
            for (var n = 0u; n < count; n++) {
                let slot = open[n];
                look_for(slot, share.block + slot / 4, share, quads);
            }
        }
        workgroupBarrier();
    }
    for (var lane = share.thread; lane < SLICE_THREADS; lane += THREADS) {
        if share.block + lane < row_quads {
            rows[p * row_quads + share.block + lane] = vec4(
                atomicLoad(&least[4 * lane]),
                atomicLoad(&least[4 * lane + 1]),
                atomicLoad(&least[4 * lane + 2]),
                atomicLoad(&least[4 * lane + 3]),
            );
        }
    }
}
