// mersenne31 by multiply-shift, with scaled coefficients; Mersenne31 in crates/kernels/src/simd/sign.rs explains how.
// CPU twin: mersenne31 (crates/kernels/src/scheme/family.rs).
fn value(by: Coefficients, x: u32) -> vec4<u32> {
    return sum(by, x).high;
}

// (f*p + 2^31) >> 32: f/2, and one less for even f above 2^31.
fn finish(by: Coefficients, least: vec4<u32>, first: u32, count: u32, step: u32) -> vec4<u32> {
    let is_less = ((least & vec4(1u)) == vec4(0u)) & (least > vec4(0x80000000u));
    return (least >> vec4(1u)) - select(vec4(0u), vec4(1u), is_less);
}
