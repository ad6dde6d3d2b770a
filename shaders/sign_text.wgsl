// Shingles and signs texts: the shingles of a row are the MurmurHash3_x86_32 hashes, with seed 0, of the
// windows of its bytes. Composed with parts/sign.wgsl, a family and parts/murmur3.wgsl.
// CPU twins: murmur3_32 (src/scheme/base_hash.rs), Scalar::sign_sets (src/backend/scalar.rs).

// Bytes of all parts back to back, four per word, and one more word.
@group(0) @binding(4) var<storage, read> text: array<u32>;

// Reads the four bytes from byte `at` on.
fn word(at: u32) -> u32 {
    let bits = 8 * (at % 4);
    // Two shifts, since a shift by 32 shifts by 0.
    return (text[at / 4] >> bits) | ((text[at / 4 + 1] << (31 - bits)) << 1);
}

// Hashes the window of `bytes` bytes at byte `at`.
fn window(at: u32, bytes: u32) -> u32 {
    var h = 0u;
    let whole = bytes & ~3u;
    for (var i = 0u; i < whole; i += 4) {
        h = mix_block(h, word(at + i));
    }
    let rest = bytes & 3;
    if rest > 0 {
        h ^= scramble(word(at + whole) & ((1u << (8 * rest)) - 1));
    }
    return fmix32(h ^ bytes);
}

// Computes four shingles of a part from shingle i on. Repeats the last one, which changes no minimum.
fn shingles(part: Part, i: u32) -> vec4<u32> {
    let at = part.start + min(vec4(i, i + 1, i + 2, i + 3), vec4(part.count - 1));
    let bytes = part.window_bytes;
    return vec4(window(at.x, bytes), window(at.y, bytes), window(at.z, bytes), window(at.w, bytes));
}

@compute @workgroup_size(THREADS)
fn sign_text(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    sign_item(workgroup.x + workgroup.y * workgroups.x, workgroup.z, thread);
}
