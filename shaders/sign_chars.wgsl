// Shingles and signs texts: the shingles of a row are the hashes of the windows of its characters, in UTF-8. Composed
// with parts/sign.wgsl, a family and parts/text.wgsl.
// CPU twins: murmur3_32 (crates/kernels/src/scheme/base_hash.rs), Scalar::sign_sets (src/backend/scalar.rs).
//
// Shingle i is the window that begins at byte i, or at the next character where byte i is inside of one: such a byte
// repeats a shingle, which changes no minimum.

fn byte_at(at: u32) -> u32 {
    return (text[at / 4] >> (8 * (at % 4))) & 0xFFu;
}

// Reads the four bytes from byte `at` on.
fn word_at(at: u32) -> u32 {
    let bits = 8 * (at % 4);
    return (text[at / 4] >> bits) | ((text[at / 4 + 1] << (31 - bits)) << 1);
}

// Hashes the window of characters at byte `at`, or at the next character.
fn char_window(at: u32) -> u32 {
    var start = at;
    while (byte_at(start) & 0xC0u) == 0x80u {
        start++;
    }
    var end = start;
    for (var left = WINDOW; left > 0; left--) {
        let lead = byte_at(end);
        end += 1 + u32(lead >= 0xC0u) + u32(lead >= 0xE0u) + u32(lead >= 0xF0u);
    }
    var h = 0u;
    var i = start;
    for (; i + 4 <= end; i += 4) {
        h = mix_block(h, word_at(i));
    }
    if i < end {
        h ^= scramble(word_at(i) & ((1u << (8 * (end - i))) - 1));
    }
    return fmix32(h ^ (end - start));
}

fn shingles(part: Part, i: u32) -> vec4<u32> {
    let at = part.start + i;
    let aligned = words_at(at);
    if aligned.is_ascii {
        return within(part, i, four_windows(aligned.words));
    }
    // None begins behind the last shingle of the part.
    let last = part.start + part.count - 1;
    let starts = min(vec4(at, at + 1, at + 2, at + 3), vec4(last));
    return vec4(char_window(starts.x), char_window(starts.y), char_window(starts.z), char_window(starts.w));
}

@compute @workgroup_size(THREADS)
fn sign_chars(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    sign_item(workgroup.x + workgroup.y * workgroups.x, workgroup.z, thread);
}
