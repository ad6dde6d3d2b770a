// Slots of the families that compute values plus one, which are inexact below 8. Computes a least value below
// 8 again by the definition: one slot in 130,000 for 4096 shingles.
fn finish(by: Coefficients, least: vec4<Hash>, first: u32, count: u32, step: u32) -> vec4<Hash> {
    if all(least >= vec4(Hash(8))) {
        return least - vec4(Hash(1));
    }
    var exact = vec4(GREATEST);
    for (var n = 0u; n < count; n++) {
        let x = tile[first + n * step];
        exact = min(exact, min(exact_value(by, x.x), exact_value(by, x.y)));
        exact = min(exact, min(exact_value(by, x.z), exact_value(by, x.w)));
    }
    return exact;
}
