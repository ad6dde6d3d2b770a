// Makes band keys of signatures: 64 bits a band, the low word first. Slots of 64 bits are two words.
// Composed with parts/murmur3.wgsl.
// CPU twin: band_key (src/pipeline/band.rs).

override THREADS: u32;
// Number of bands, words of a band, and words of a row, padding included.
override BANDS: u32;
override BAND_WORDS: u32;
override ROW_WORDS: u32;

@group(0) @binding(0) var<storage, read> rows: array<u32>;
@group(0) @binding(1) var<storage, read_write> keys: array<vec2<u32>>;

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
    let band = key % BANDS;
    let first = key / BANDS * ROW_WORDS + band * BAND_WORDS;
    var low = band;
    var high = band ^ 0x9E3779B9u;
    for (var i = 0u; i < BAND_WORDS; i++) {
        let slot = rows[first + i];
        low = mix_block(low, slot);
        high = mix_block(high, slot);
    }
    keys[key] = vec2(fmix32(low ^ (4 * BAND_WORDS)), fmix32(high ^ (4 * BAND_WORDS)));
}
