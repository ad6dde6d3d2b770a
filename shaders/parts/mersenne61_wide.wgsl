// mersenne61-wide with b + 1; Mersenne61Wide in crates/kernels/src/simd/sign.rs explains how.
// CPU twin: mersenne61_wide (crates/kernels/src/scheme/family.rs).
const P61: u64 = 0x1FFFFFFFFFFFFFFFlu;

struct Coefficients {
    a: vec4<u64>,
    b: vec4<u64>,
}

fn value(by: Coefficients, x: u64) -> vec4<u64> {
    let s = by.a * x + by.b;
    return (s + (s >> vec4(61u))) & vec4(P61);
}

fn exact_value(by: Coefficients, x: u64) -> vec4<u64> {
    let s = by.a * x + (by.b - vec4(1lu));
    let t = (s & vec4(P61)) + (s >> vec4(61u));
    return t - select(vec4(0lu), vec4(P61), t >= vec4(P61));
}

// One permutation of a quad, four times.
fn only(quad: u32, i: u32) -> Coefficients {
    return Coefficients(vec4(coefficients[quad].a[i]), vec4(coefficients[quad].b[i]));
}

// The sum modulo 2^64 whose order is nearly that of values: 8 * (a*x + b + 8). Modulo 2^61, a value is a*x + b plus 0 to
// 7, and by p less where it reaches p; so the sum is 8 to 64 more than 8 times the value, modulo 2^64.
fn placed(by: Coefficients) -> Coefficients {
    return Coefficients(by.a << vec4(3u), (by.b + vec4(7lu)) << vec4(3u));
}
