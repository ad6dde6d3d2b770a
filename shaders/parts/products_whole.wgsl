// a*x + b modulo 2^32 or 2^64, four permutations at a time, by multiplications as wide as that.
fn sums(a: vec4<Hash>, x: Hash, b: vec4<Hash>) -> vec4<Hash> {
    return a * x + b;
}
