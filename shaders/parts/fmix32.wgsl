// MurmurHash3's finaliser of 32 bits. CPU twin: fmix32 (crates/kernels/src/scheme/family.rs).
fn fmix32(hash: u32) -> u32 {
    var h = hash;
    h ^= h >> 16;
    h *= 0x85EBCA6Bu;
    h ^= h >> 13;
    h *= 0xC2B2AE35u;
    return h ^ (h >> 16);
}
