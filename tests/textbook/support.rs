//! Shingles as the book writes them.

use std::collections::BTreeSet;

use simgpu::pipeline::{Shingler, Shingling, Unit};
use simgpu::scheme::Hashes;
use simgpu::scheme::{BaseHash, Scheme, ShingleHash};

pub(crate) fn shingles_of(unit: Unit, size: Option<usize>, text: &str) -> BTreeSet<u32> {
    let mut shingling = Shingling::of(unit);
    if let Some(size) = size {
        shingling.size = size.try_into().unwrap();
    }
    // A hash of bytes, which `hashed` below can compute for the book's shingles.
    let hash = Some(BaseHash::Murmur3_32);
    let shingler = Shingler::new(shingling, &Scheme::default(), hash).unwrap();
    let batch = shingler.shingle(&[text]);
    let Hashes::U32(hashes) = batch.sets().hashes() else {
        panic!("affine32 hashes have 32 bits");
    };
    hashes.iter().copied().collect()
}

pub(crate) fn hashed<'a>(shingles: impl IntoIterator<Item = &'a str>) -> BTreeSet<u32> {
    let hash = |shingle: &str| u32::of_bytes(BaseHash::Murmur3_32, shingle.as_bytes());
    shingles.into_iter().map(hash).collect()
}

pub(crate) fn letters(k: usize, text: &str) -> BTreeSet<u32> {
    shingles_of(Unit::Chars, Some(k), text)
}
