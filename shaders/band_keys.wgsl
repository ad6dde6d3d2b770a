// Makes the band keys of documents: 64 bits per band, the low word first. Slots of 64 bits are two words, the
// low one first. A slot of a document is the least slot of its parts.
// Composed with parts/murmur3.wgsl.
// CPU twin: band_key (src/pipeline/banding.rs).

override THREADS: u32;
// Number of bands, slots per band, words per slot, and words per row with its padding.
override BANDS: u32;
override BAND_SLOTS: u32;
override SLOT_WORDS: u32;
override ROW_WORDS: u32;

// Document i consists of the parts documents[i] .. documents[i + 1].
@group(0) @binding(0) var<storage, read> documents: array<u32>;
@group(0) @binding(1) var<storage, read> rows: array<u32>;
// The keys of all bands of each document. The list of documents is padded with empty ones to the length of
// this buffer.
@group(0) @binding(2) var<storage, read_write> keys: array<vec2<u32>>;

// The least of the slots `at` words into the rows of some parts: low and high word.
fn least_slot(first: u32, end: u32, at: u32) -> vec2<u32> {
    var least = vec2(0xFFFFFFFFu);
    for (var part = first; part < end; part++) {
        let word = part * ROW_WORDS + at;
        var slot = vec2(rows[word], 0u);
        if SLOT_WORDS == 2 {
            slot.y = rows[word + 1];
        }
        if slot.y < least.y || (slot.y == least.y && slot.x < least.x) {
            least = slot;
        }
    }
    return least;
}

@compute @workgroup_size(THREADS)
fn band_keys(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let key = (workgroup.x + workgroup.y * workgroups.x) * THREADS + thread;
    if key >= arrayLength(&keys) {
        return;
    }
    let document = key / BANDS;
    let first = documents[document];
    let end = documents[document + 1];
    if first == end {
        return;
    }
    let band = key % BANDS;
    var low = band;
    var high = band ^ 0x9E3779B9u;
    for (var i = band * BAND_SLOTS; i < (band + 1) * BAND_SLOTS; i++) {
        let slot = least_slot(first, end, i * SLOT_WORDS);
        low = mix_block(low, slot.x);
        high = mix_block(high, slot.x);
        if SLOT_WORDS == 2 {
            low = mix_block(low, slot.y);
            high = mix_block(high, slot.y);
        }
    }
    let bytes = 4 * SLOT_WORDS * BAND_SLOTS;
    keys[key] = vec2(fmix32(low ^ bytes), fmix32(high ^ bytes));
}
