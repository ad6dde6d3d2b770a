// Signs a part of any length, tile by tile, on all slices.
fn sign_part(p: u32, share: Share) {
    let part = parts[p];
    let row_quads = arrayLength(&coefficients);
    let by = coefficients[min(share.quad, row_quads - 1)];
    var least = vec4(GREATEST);
    for (var at = 0u; at < part.count; at += 4 * TILE_QUADS) {
        let quads = quads_of(min(part.count - at, 4 * TILE_QUADS));
        for (var i = share.thread; i < quads; i += THREADS) {
            tile[i] = staged(part, at + 4 * i);
        }
        workgroupBarrier();
        if !share.is_idle {
            least = min(least, least_slots(by, share.slice, quads, SLICES));
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
