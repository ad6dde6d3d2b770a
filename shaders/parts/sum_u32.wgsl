// The two words of a*x + b modulo 2^64, four permutations at a time, without 64-bit integers. Products of 16-bit
// limbs, numbered from the lowest, make the high word of the product of low words. The limbs of b are added
// where a product of limbs has room for them: (2^16 - 1)^2 + 2 (2^16 - 1) = 2^32 - 1, so no sum carries.
struct Coefficients {
    a_low: vec4<u32>,
    a_high: vec4<u32>,
    b_low: vec4<u32>,
    b_high: vec4<u32>,
    // The limbs of the low words.
    a0: vec4<u32>,
    a1: vec4<u32>,
    b0: vec4<u32>,
    b1: vec4<u32>,
}

struct Sum {
    low: vec4<u32>,
    high: vec4<u32>,
}

fn sum(by: Coefficients, x: u32) -> Sum {
    let x0 = x & 0xFFFFu;
    let x1 = x >> 16;
    let t = by.a0 * x1 + ((by.a0 * x0 + by.b0) >> vec4(16u));
    let u = by.a1 * x0 + (t & vec4(0xFFFFu)) + by.b1;
    let carried = by.a1 * x1 + (t >> vec4(16u)) + (u >> vec4(16u));
    return Sum(by.a_low * x + by.b_low, by.a_high * x + by.b_high + carried);
}

fn low_factors(by: Coefficients) -> vec4<u32> {
    return by.a_low;
}

fn low_addends(by: Coefficients) -> vec4<u32> {
    return by.b_low;
}

// One permutation of a quad, four times.
fn only(quad: u32, i: u32) -> Coefficients {
    return Coefficients(
        vec4(coefficients[quad].a_low[i]),
        vec4(coefficients[quad].a_high[i]),
        vec4(coefficients[quad].b_low[i]),
        vec4(coefficients[quad].b_high[i]),
        vec4(coefficients[quad].a0[i]),
        vec4(coefficients[quad].a1[i]),
        vec4(coefficients[quad].b0[i]),
        vec4(coefficients[quad].b1[i]),
    );
}
