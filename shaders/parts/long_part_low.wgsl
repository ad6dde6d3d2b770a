// Signs a part of any length under mersenne61, tile by tile, by the low words of its values: two to three times as fast
// as the values themselves, and no 64-bit integers in the loop.
//
// With s = a*x + b modulo 2^64, a value is the low word of s plus e modulo 2^32, with e in 0 .. 8. Let u be the low word
// plus 8, and m the least u of a tile. If m >= 8, no value wraps. Then the shingle with u = m has a value v in m - 8 .. m,
// and only one with u < v + 8 may have a lower one. There are few x with such a u; a bit map says which of them the tile
// holds, and errs only by a false yes. Where it leaves a doubt, a warp looks into the tile.
//
// By count, 2,048 shingles take about half of the instructions on sm_90. The tile has 4 KiB instead of 8, so that map and
// tile together leave room for 40 warps on sm_90, but for 10 of 16 waves on RDNA3.
// CPU twin: mersenne61 (src/scheme/family.rs).

// Slots of a block.
override SLOTS: u32;
// Threads of a warp, and warps of a workgroup.
override WARP: u32;
override WARPS: u32;

// 2^15 bits for 2^10 shingles of two bits each: 0.4 % of the tested x get a false yes.
const MAP_WORDS = 1024u;
// The same, so that each thread clears as many.
override MAP_SPAN: u32 = (MAP_WORDS + THREADS - 1) / THREADS * THREADS;

// At most 2^4 shingles have the same u; more if the low word of the factor has more trailing zeros.
const MOST_ZEROS = 4u;

// A tile of fewer quads costs less if all its values are computed.
const LEAST_QUADS = 64u;

var<workgroup> map: array<atomic<u32>, MAP_SPAN>;
// The least u of the tile, by slot.
var<workgroup> least_u: array<atomic<u32>, SLOTS>;
// The least value of all tiles so far, by slot.
var<workgroup> least: array<atomic<u32>, SLOTS>;
// The slots that the tile may lower.
var<workgroup> lowered: array<u32, SLOTS>;
var<workgroup> lowered_count: atomic<u32>;
// Those of which the map leaves a doubt.
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

// The addend of u: since b + 1 is stored, it is 7 more than the low word of that.
fn u_addends(by: Coefficients) -> vec4<u32> {
    return low_addends(by) + vec4(7u);
}

// The least u of an even number of quads of the tile: of every `step`-th one from `first` on. A turn takes four: what a turn
// itself costs is a tenth of two.
fn least_us(by: Coefficients, first: u32, count: u32, step: u32) -> vec4<u32> {
    let a = low_factors(by);
    let b = u_addends(by);
    var lowest = vec4(GREATEST);
    var at = first;
    for (var n = 4u; n <= count; n += 4) {
        lowest = min(lowest, least_of_two(a, b, tile[at], tile[at + step]));
        lowest = min(lowest, least_of_two(a, b, tile[at + 2 * step], tile[at + 3 * step]));
        at += 4 * step;
    }
    if count % 4 != 0 {
        lowest = min(lowest, least_of_two(a, b, tile[at], tile[at + step]));
    }
    return lowest;
}

fn least_of_two(a: vec4<u32>, b: vec4<u32>, x: vec4<u32>, y: vec4<u32>) -> vec4<u32> {
    var lowest = sums(a, x.x, b);
    lowest = min(lowest, sums(a, x.y, b));
    lowest = min(lowest, sums(a, x.z, b));
    lowest = min(lowest, sums(a, x.w, b));
    lowest = min(lowest, sums(a, y.x, b));
    lowest = min(lowest, sums(a, y.y, b));
    lowest = min(lowest, sums(a, y.z, b));
    return min(lowest, sums(a, y.w, b));
}

// The inverse of an odd number modulo 2^32, by Newton's method: the first guess has 5 bits.
fn inverse(odd: u32) -> u32 {
    var x = (3 * odd) ^ 2;
    x *= 2 - odd * x;
    x *= 2 - odd * x;
    return x * (2 - odd * x);
}

fn leave_open(slot: u32) {
    open[atomicAdd(&open_count, 1u)] = slot;
}

// Lowers a slot by the least value of the tile, or leaves the slot open.
fn settle(slot: u32, quad: u32) {
    let m = atomicLoad(&least_u[slot]);
    let by = only(quad, slot % 4);
    let a = low_factors(by).x;
    let zeros = countTrailingZeros(a);
    if (m < 8) | (zeros > MOST_ZEROS) {
        leave_open(slot);
        return;
    }
    let odd_inverse = inverse(a >> zeros);
    let base = odd_inverse * ((m - u_addends(by).x) >> zeros);
    // The x with u = m, 2^zeros of them, and then those with the next u that is possible: with u < m + 8, eight in all,
    // or sixteen.
    let copies = 1u << zeros;
    var nearest = vec2(0u, 0u);
    var rivals = vec2(0u, 0u);
    for (var n = 0u; n < max(copies, 8u); n++) {
        // Two shifts, since a shift by 32 shifts by 0.
        let copy = ((n & (copies - 1)) << 1) << (31 - zeros);
        let x = ((base + (n >> zeros) * odd_inverse) & (0xFFFFFFFFu >> zeros)) | copy;
        let found = vec2(x, u32(may_hold(x)));
        if n < copies {
            nearest = select(nearest, vec2(x, nearest.y + 1), found.y == 1);
        } else {
            rivals = select(rivals, vec2(x, rivals.y + 1), found.y == 1);
        }
    }
    let value = exact_value(by, nearest.x).x;
    var is_open = (nearest.y > 1) | (rivals.y > 1);
    if rivals.y == 1 {
        is_open |= exact_value(by, rivals.x).x < value;
    }
    if is_open {
        leave_open(slot);
    } else {
        atomicMin(&least[slot], value);
    }
}

// Lowers an open slot by every `step`-th quad of the tile from `first` on.
fn look_for(slot: u32, quad: u32, first: u32, quads: u32, step: u32) {
    let by = only(quad, slot % 4);
    let m = atomicLoad(&least_u[slot]);
    let a = low_factors(by).x;
    let b = u_addends(by).x - m;
    // Where values may wrap, any may be the least.
    let limit = select(8u, GREATEST, m < 8);
    for (var i = first; i < quads; i += step) {
        let x = tile[i];
        let behind = a * x + b;
        if min(min(behind.x, behind.y), min(behind.z, behind.w)) <= limit {
            let first_two = min(exact_value(by, x.x).x, exact_value(by, x.y).x);
            let last_two = min(exact_value(by, x.z).x, exact_value(by, x.w).x);
            atomicMin(&least[slot], min(first_two, last_two));
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
    for (var at = 0u; at < part.count; at += LONG_TILE) {
        let count = min(part.count - at, LONG_TILE);
        let quads = quads_of(count);
        let is_low = quads >= LEAST_QUADS;
        for (var slot = share.thread; slot < SLOTS; slot += THREADS) {
            atomicStore(&least_u[slot], GREATEST);
        }
        for (var n = 0u; n < MAP_SPAN; n += THREADS) {
            atomicStore(&map[n + share.thread], 0u);
        }
        if share.thread == 0 {
            atomicStore(&lowered_count, 0u);
            atomicStore(&open_count, 0u);
        }
        workgroupBarrier();
        let of_slice = stage(part, at, count, share.thread);
        if is_low {
            // Each thread notes what it staged.
            for (var i = share.thread; i < quads; i += THREADS) {
                let x = tile[i];
                note(x.x);
                note(x.y);
                note(x.z);
                note(x.w);
            }
        }
        workgroupBarrier();
        if !is_low {
            if !share.is_idle {
                lower(share.lane, least_slots(coefficients[share.quad], share.slice, of_slice, SLICES));
            }
        } else {
            if !share.is_idle {
                let lowest = least_us(coefficients[share.quad], share.slice, of_slice, SLICES);
                atomicMin(&least_u[4 * share.lane], lowest.x);
                atomicMin(&least_u[4 * share.lane + 1], lowest.y);
                atomicMin(&least_u[4 * share.lane + 2], lowest.z);
                atomicMin(&least_u[4 * share.lane + 3], lowest.w);
            }
            workgroupBarrier();
            for (var slot = share.thread; slot < SLOTS; slot += THREADS) {
                let m = atomicLoad(&least_u[slot]);
                // No value of the tile is below m - 8.
                let is_lower = (m < 8) | (m - 8 < atomicLoad(&least[slot]));
                if (share.block + slot / 4 < row_quads) & is_lower {
                    lowered[atomicAdd(&lowered_count, 1u)] = slot;
                }
            }
            workgroupBarrier();
            let lowered_slots = atomicLoad(&lowered_count);
            for (var n = share.thread; n < lowered_slots; n += THREADS) {
                let slot = lowered[n];
                settle(slot, share.block + slot / 4);
            }
            workgroupBarrier();
            let open_slots = atomicLoad(&open_count);
            let own = select(share.thread / WARP, open_slots, share.thread / WARP >= WARPS);
            for (var n = own; n < open_slots; n += WARPS) {
                let slot = open[n];
                look_for(slot, share.block + slot / 4, share.thread % WARP, quads, WARP);
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
