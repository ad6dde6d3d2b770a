// a*x + b modulo 2^32, four permutations at a time, without multiplications of 32 bits: for devices, as those of AMD, that
// multiply 24 bits four times as fast.
//
// With al, xl the low 24 bits, and ah, xh the high 8: a*x = al*xl + ((ah*xl + al*xh) << 24) modulo 2^32. Of al and xl in
// the brackets, the low bytes suffice, so that the brackets are a dot product: of the bytes of x, and of ah, 0, 0 and the
// low byte of al.
fn sums(a: vec4<u32>, x: u32, b: vec4<u32>) -> vec4<u32> {
    let ends = (a >> vec4(24u)) | (a << vec4(24u));
    let high = vec4(
        dot_of_bytes(ends.x, x),
        dot_of_bytes(ends.y, x),
        dot_of_bytes(ends.z, x),
        dot_of_bytes(ends.w, x),
    );
    return (a & vec4(0xFFFFFFu)) * (x & 0xFFFFFFu) + b + (high << vec4(24u));
}

// A function of its own: naga's Metal declares a name twice where one function has two such products.
fn dot_of_bytes(one: u32, other: u32) -> u32 {
    return dot4U8Packed(one, other);
}
