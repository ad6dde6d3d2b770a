// mersenne61 with b + 1, without masking or comparing; Mersenne61 in crates/kernels/src/simd/sign.rs explains how.
// CPU twin: mersenne61 (crates/kernels/src/scheme/family.rs).
fn value(by: Coefficients, x: u32) -> vec4<u32> {
    let s = sum(by, x);
    return s.low + (s.high >> vec4(29u));
}

// The value by the definition: the low word of r + q, plus one where r + q reaches p.
fn exact_value(by: Coefficients, x: u32) -> vec4<u32> {
    const MASK = vec4(0x1FFFFFFFu);
    let plus_one = sum(by, x);
    let low = plus_one.low - 1;
    let high = plus_one.high - select(vec4(0u), vec4(1u), plus_one.low == vec4(0u));
    let q = high >> vec4(29u);
    let t_low = low + q;
    let t_high = (high & MASK) + select(vec4(0u), vec4(1u), t_low < q);
    let reaches = (t_high > MASK) | ((t_high == MASK) & (t_low == vec4(0xFFFFFFFFu)));
    return t_low + select(vec4(0u), vec4(1u), reaches);
}
