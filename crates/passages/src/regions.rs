//! The search for anchors alone, which is a stage of the search for passages.

use std::num::NonZeroUsize;

use super::lengths::grams;
use super::search::Symbols;
use simgpu::simd::Isa;
use simgpu::simd::minima::{Anchors, Symbol};

/// The number of regions of a text: runs of windows of so many symbols that choose the same anchor.
pub fn count_regions(isa: Isa, symbols: Symbols<'_>, min_length: NonZeroUsize) -> usize {
    match symbols {
        Symbols::Bytes(symbols) => count(isa, symbols, min_length),
        Symbols::U32(symbols) => count(isa, symbols, min_length),
        Symbols::U64(symbols) => count(isa, symbols, min_length),
    }
}

fn count<S: Symbol>(isa: Isa, symbols: &[S], min_length: NonZeroUsize) -> usize {
    let mut regions = 0;
    let grams = grams(min_length);
    Anchors::new(isa, grams).all_regions(symbols, |_| regions += 1);
    regions
}
