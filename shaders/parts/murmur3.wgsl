// The blocks of MurmurHash3_x86_32. CPU twin: murmur3_32 (crates/kernels/src/scheme/base_hash.rs).
fn scramble(block: u32) -> u32 {
    let k = block * 0xCC9E2D51u;
    return ((k << 15) | (k >> 17)) * 0x1B873593u;
}

fn mix_block(hash: u32, block: u32) -> u32 {
    let h = hash ^ scramble(block);
    return ((h << 13) | (h >> 19)) * 5 + 0xE6546B64u;
}
