// Keys of mersenne61: the low word of a*x + b, plus 8. A value is that low word plus 0 to 8, modulo 2^32, so its place is
// the value itself.
const REACH = 8u;

struct KeyTerms {
    a: vec4<u32>,
    b: vec4<u32>,
}

// b + 1 is stored.
fn key_terms(by: Coefficients) -> KeyTerms {
    return KeyTerms(low_factors(by), low_addends(by) + vec4(7u));
}

fn keys(by: KeyTerms, x: u32) -> vec4<u32> {
    return sums(by.a, x, by.b);
}
