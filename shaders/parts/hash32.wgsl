// Shingle hashes and slots of 32 bits.
alias Hash = u32;

const GREATEST: Hash = 0xFFFFFFFFu;

fn mix(h: Hash) -> Hash {
    return fmix32(h);
}
