// Shingle hashes and slots of 64 bits.
alias Hash = u64;

const GREATEST: Hash = 0xFFFFFFFFFFFFFFFFlu;

// CPU twin: fmix64 (crates/kernels/src/scheme/family.rs).
fn mix(hash: Hash) -> Hash {
    var h = hash;
    h ^= h >> 33;
    h *= 0xFF51AFD7ED558CCDlu;
    h ^= h >> 33;
    h *= 0xC4CEB9FE1A85EC53lu;
    return h ^ (h >> 33);
}
