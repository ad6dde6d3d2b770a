// The signing loop of all families.
//
// A part is a document, or a piece of a long one, and has its own row. An item is a run of parts that fit the
// tile. A workgroup signs one item under one block of permutations. It stages the shingles of the item in
// workgroup memory, where all threads read the same one at a time; each thread keeps four permutations and
// their minima in registers. No values cross lanes, and no two workgroups write the same slots, so no result
// depends on their order.

// Threads of a workgroup.
override THREADS: u32;
// Whether to mix the shingles first.
override IS_MIXED: bool;
// Most quads of shingles of an item.
override TILE_QUADS: u32;

struct Part {
    // The first shingle, or in texts the byte where the first window begins.
    start: u32,
    // Number of shingles, never 0.
    count: u32,
    // In texts, bytes of a window.
    window_bytes: u32,
}

// Item i consists of the parts items[i] .. items[i + 1].
@group(0) @binding(0) var<storage, read> items: array<u32>;
@group(0) @binding(1) var<storage, read> parts: array<Part>;
// One entry per four permutations.
@group(0) @binding(2) var<storage, read> coefficients: array<Coefficients>;
@group(0) @binding(3) var<storage, read_write> rows: array<vec4<Hash>>;

var<workgroup> tile: array<vec4<Hash>, TILE_QUADS>;

fn quads_of(part: Part) -> u32 {
    return (part.count + 3) / 4;
}

fn sign_item(item: u32, block: u32, thread: u32) {
    let parts_end = items[item + 1];
    var first = 0u;
    for (var p = items[item]; p < parts_end; p++) {
        let part = parts[p];
        let quads = quads_of(part);
        for (var i = thread; i < quads; i += THREADS) {
            var x = shingles(part, 4 * i);
            if IS_MIXED {
                x = vec4(mix(x.x), mix(x.y), mix(x.z), mix(x.w));
            }
            tile[first + i] = x;
        }
        first += quads;
    }
    workgroupBarrier();

    let quad = block * THREADS + thread;
    let row_quads = arrayLength(&coefficients);
    if quad >= row_quads {
        return;
    }
    let by = coefficients[quad];
    first = 0u;
    for (var p = items[item]; p < parts_end; p++) {
        let end = first + quads_of(parts[p]);
        rows[p * row_quads + quad] = finish(by, least_value(by, first, end), first, end);
        first = end;
    }
}

fn least_value(by: Coefficients, first: u32, end: u32) -> vec4<Hash> {
    var least = vec4(GREATEST);
    for (var i = first; i < end; i++) {
        let x = tile[i];
        least = min(least, value(by, x.x));
        least = min(least, value(by, x.y));
        least = min(least, value(by, x.z));
        least = min(least, value(by, x.w));
    }
    return least;
}
