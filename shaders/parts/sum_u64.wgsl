// The two words of a*x + b modulo 2^64, four permutations at a time, in 64-bit integers.
struct Coefficients {
    a: vec4<u64>,
    b: vec4<u64>,
}

struct Sum {
    low: vec4<u32>,
    high: vec4<u32>,
}

fn sum(by: Coefficients, x: u32) -> Sum {
    let s = by.a * u64(x) + by.b;
    return Sum(vec4<u32>(s), vec4<u32>(s >> vec4(32u)));
}

fn low_factors(by: Coefficients) -> vec4<u32> {
    return vec4<u32>(by.a);
}

fn low_addends(by: Coefficients) -> vec4<u32> {
    return vec4<u32>(by.b);
}

// One permutation of a quad, four times.
fn only(quad: u32, i: u32) -> Coefficients {
    return Coefficients(vec4(coefficients[quad].a[i]), vec4(coefficients[quad].b[i]));
}
