// Signs a part of any length by the values of all its shingles.
fn sign_part(p: u32, share: Share) {
    sign_straight(p, share);
}
