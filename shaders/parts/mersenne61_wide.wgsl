// mersenne61-wide with b + 1; Mersenne61Wide in src/simd/sign.rs explains how.
// CPU twin: mersenne61_wide (src/scheme/family.rs).
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
