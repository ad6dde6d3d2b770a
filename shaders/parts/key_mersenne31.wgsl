// Keys of mersenne31 without 64-bit integers: nearly the high words of its sums, whose order is that of values.
// What is left out is as in key_64.wgsl.
const REACH = 0x20000u;

struct KeyTerms {
    a_high: vec4<u32>,
    a1: vec4<u32>,
    b: vec4<u32>,
}

fn key_terms(by: Coefficients) -> KeyTerms {
    return KeyTerms(by.a_high, by.a_low >> vec4(16u), by.b_high + vec4(REACH - 1));
}

fn keys(by: KeyTerms, x: u32) -> vec4<u32> {
    return by.a_high * x + (by.a1 * (x >> 16) + by.b);
}
