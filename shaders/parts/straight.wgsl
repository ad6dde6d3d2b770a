// Signs a part of any length, tile by tile, on all slices, by the values of all shingles.
fn sign_straight(p: u32, share: Share) {
    let part = parts[p];
    let row_quads = arrayLength(&coefficients);
    let by = coefficients[min(share.quad, row_quads - 1)];
    var least = vec4(GREATEST);
    for (var at = 0u; at < part.count; at += LONG_TILE) {
        let of_slice = stage(part, at, min(part.count - at, LONG_TILE), share.thread);
        workgroupBarrier();
        if !share.is_idle {
            least = min(least, least_slots(by, share.slice, of_slice, SLICES));
        }
        workgroupBarrier();
    }
    if SLICES > 1 {
        tile[share.thread] = least;
        workgroupBarrier();
    }
    if share.is_idle | (share.slice > 0) {
        return;
    }
    for (var slice = 1u; slice < SLICES; slice++) {
        least = min(least, tile[slice * SLICE_THREADS + share.lane]);
    }
    rows[p * row_quads + share.quad] = least;
}
