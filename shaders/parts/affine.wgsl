// affine32, affine32-even and affine64: a*x + b modulo 2^32 or 2^64, four permutations at a time.
// CPU twins: affine32, affine32_even, affine64 (crates/kernels/src/scheme/family.rs).
struct Coefficients {
    a: vec4<Hash>,
    b: vec4<Hash>,
}

fn value(by: Coefficients, x: Hash) -> vec4<Hash> {
    return sums(by.a, x, by.b);
}

fn finish(by: Coefficients, least: vec4<Hash>, first: u32, count: u32, step: u32) -> vec4<Hash> {
    return least;
}

// One permutation of a quad, four times.
fn only(quad: u32, i: u32) -> Coefficients {
    return Coefficients(vec4(coefficients[quad].a[i]), vec4(coefficients[quad].b[i]));
}

// The sum modulo 2^64 whose order is that of values: itself.
fn placed(by: Coefficients) -> Coefficients {
    return by;
}
