// The signing loop of all families.
//
// A part is a document, or a piece of a long one, and has its own row. An item is one part, or a run of short ones. A
// workgroup signs one item under one block of permutations. It stages shingles in workgroup memory, where all threads of
// a slice read the same ones at a time; each thread keeps four permutations and their minima in registers. The slices of
// a workgroup share the shingles of a single part, or the parts of a run. No two workgroups write the same slots, and a
// minimum has no order, so no result depends on one.
//
// Four permutations are a vec4, so that the type unrolls the loop in every shading language that naga generates. The
// last shingle of a document is repeated to fill its quad, so that the loop has no tail. A turn takes two quads.

// Threads of a workgroup.
override THREADS: u32;
// Threads of a slice: each signs four permutations of the block.
override SLICE_THREADS: u32;
// Slices of a workgroup. The threads behind the last one only stage.
override SLICES: u32;
// Whether to mix the shingles first.
override IS_MIXED: bool;
// Quads of shingles of a tile: at least one per thread, and two per slice.
override TILE_QUADS: u32;
// Most shingles that a tile takes of a long part: as many pairs of quads for each slice.
override LONG_TILE: u32 = 4 * (TILE_QUADS - TILE_QUADS % (2 * SLICES));

struct Part {
    // The first shingle, or in texts the byte where the first window begins.
    start: u32,
    // Number of shingles, never 0.
    count: u32,
    // Where the shingles of a part of a run are staged: the first quad.
    first: u32,
}

// Item i consists of the parts items[i] .. items[i + 1].
@group(0) @binding(0) var<storage, read> items: array<u32>;
@group(0) @binding(1) var<storage, read> parts: array<Part>;
// One entry per four permutations.
@group(0) @binding(2) var<storage, read> coefficients: array<Coefficients>;
@group(0) @binding(3) var<storage, read_write> rows: array<vec4<Hash>>;

var<workgroup> tile: array<vec4<Hash>, TILE_QUADS>;

// A thread's share of a workgroup.
struct Share {
    thread: u32,
    // The first quad of permutations of the block.
    block: u32,
    slice: u32,
    // The thread's place in its slice.
    lane: u32,
    // Its quad of permutations.
    quad: u32,
    // Whether there is no such slice or quad. Such a thread only stages.
    is_idle: bool,
}

fn share_of(block: u32, thread: u32) -> Share {
    let slice = thread / SLICE_THREADS;
    let lane = thread % SLICE_THREADS;
    let first = block * SLICE_THREADS;
    let quad = first + lane;
    return Share(thread, first, slice, lane, quad, (slice >= SLICES) | (quad >= arrayLength(&coefficients)));
}

fn quads_of(count: u32) -> u32 {
    return (count + 3) / 4;
}

// The next even number: a turn of the loop takes two quads. The last one is repeated, which changes no minimum.
fn even(quads: u32) -> u32 {
    return (quads + 1) & ~1u;
}

// Four shingles of a part from shingle i on, mixed where the family wants it.
fn staged(part: Part, i: u32) -> vec4<Hash> {
    let x = shingles(part, i);
    if IS_MIXED {
        return vec4(mix(x.x), mix(x.y), mix(x.z), mix(x.w));
    }
    return x;
}

// The least slots of an even number of quads of the tile: of every `step`-th one from `first` on.
fn least_slots(by: Coefficients, first: u32, count: u32, step: u32) -> vec4<Hash> {
    return finish(by, least_value(by, first, count, step), first, count, step);
}

fn least_value(by: Coefficients, first: u32, count: u32, step: u32) -> vec4<Hash> {
    var least = vec4(GREATEST);
    for (var n = 0u; n < count; n += 2) {
        let x = tile[first + n * step];
        let y = tile[first + n * step + step];
        least = min(least, value(by, x.x));
        least = min(least, value(by, x.y));
        least = min(least, value(by, x.z));
        least = min(least, value(by, x.w));
        least = min(least, value(by, y.x));
        least = min(least, value(by, y.y));
        least = min(least, value(by, y.z));
        least = min(least, value(by, y.w));
    }
    return least;
}

// Stages shingles `at` .. `at + count` of a part for all slices, and returns the quads of each: as many for one as for
// another, so that all threads loop alike.
fn stage(part: Part, at: u32, count: u32, thread: u32) -> u32 {
    let quads = quads_of(count);
    let of_slice = even((quads + SLICES - 1) / SLICES);
    for (var i = thread; i < of_slice * SLICES; i += THREADS) {
        tile[i] = staged(part, at + 4 * min(i, quads - 1));
    }
    return of_slice;
}

fn sign_item(item: u32, block: u32, thread: u32) {
    let share = share_of(block, thread);
    let first = items[item];
    let end = items[item + 1];
    if end == first + 1 {
        sign_part(first, share);
    } else {
        sign_run(first, end, share);
    }
}

// Signs short parts, each on one slice.
fn sign_run(first: u32, end: u32, share: Share) {
    // A thread behind the last slice takes none.
    let own = select(first + share.slice, end, share.slice >= SLICES);
    for (var p = own; p < end; p += SLICES) {
        let part = parts[p];
        let quads = quads_of(part.count);
        for (var i = share.lane; i < even(quads); i += SLICE_THREADS) {
            tile[part.first + i] = staged(part, 4 * min(i, quads - 1));
        }
    }
    workgroupBarrier();
    if share.is_idle {
        return;
    }
    let by = coefficients[share.quad];
    let row_quads = arrayLength(&coefficients);
    for (var p = own; p < end; p += SLICES) {
        let part = parts[p];
        rows[p * row_quads + share.quad] = least_slots(by, part.first, even(quads_of(part.count)), 1u);
    }
}
