// Signs sets of shingle hashes: slot k of a row is the least value of the row's shingles under permutation k.
// Composed with parts/sign.wgsl, a family and a width of hashes.
// CPU twin: Scalar::sign_sets (src/backend/scalar.rs).

@group(0) @binding(4) var<storage, read> hashes: array<Hash>;

// Loads four shingles of a part from shingle i on. Repeats the last one, which changes no minimum.
fn shingles(part: Part, i: u32) -> vec4<Hash> {
    let at = part.start + min(vec4(i, i + 1, i + 2, i + 3), vec4(part.count - 1));
    return vec4(hashes[at.x], hashes[at.y], hashes[at.z], hashes[at.w]);
}

@compute @workgroup_size(THREADS)
fn sign_hashes(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    sign_item(workgroup.x + workgroup.y * workgroups.x, workgroup.z, thread);
}
