// Keys of affine64 and mersenne61-wide: nearly the high words of sums modulo 2^64, without 64-bit integers.
//
// With halves of 16 bits of the low words, a1 * x1 stands for the high word of a_low * x_low + b_low. That leaves out
// ((a1 * x0 + a0 * x1) * 2^16 + a0 * x0 + b_low) / 2^32, at least 0 and less than 2^17 - 1. So a key that is 2^17 - 1 more
// exceeds the high word by 1 to 2^17 - 1, and the place, the high word of 8 times a value at most, by one more.
const REACH = 0x20000u;

struct KeyTerms {
    a_low: vec4<u32>,
    a_high: vec4<u32>,
    a1: vec4<u32>,
    b: vec4<u32>,
}

fn key_terms(by: Coefficients) -> KeyTerms {
    let sum = placed(by);
    let low = vec4<u32>(sum.a);
    let b = vec4<u32>(sum.b >> vec4(32u)) + vec4(REACH - 1);
    return KeyTerms(low, vec4<u32>(sum.a >> vec4(32u)), low >> vec4(16u), b);
}

fn keys(by: KeyTerms, x: u64) -> vec4<u32> {
    let low = u32(x);
    return by.a_low * u32(x >> 32) + (by.a_high * low + (by.a1 * (low >> 16) + by.b));
}
