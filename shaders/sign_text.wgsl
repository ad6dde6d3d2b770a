// Shingles and signs texts: the shingles of a row are the hashes of the windows of its bytes.
// Composed with parts/sign.wgsl, a family and parts/text.wgsl.
// CPU twins: murmur3_32 (crates/kernels/src/scheme/base_hash.rs), Scalar::sign_sets (src/backend/scalar.rs).

fn shingles(part: Part, i: u32) -> vec4<u32> {
    return within(part, i, four_windows(words_at(part.start + i).words));
}

@compute @workgroup_size(THREADS)
fn sign_text(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    sign_item(workgroup.x + workgroup.y * workgroups.x, workgroup.z, thread);
}
