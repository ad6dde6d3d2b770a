//! The symbols of all documents, one after another.

use simgpu::simd::Isa;
use simgpu::simd::agreement::{agree_ahead, agree_behind};
use simgpu::simd::minima::Symbol;

/// Symbols per entry of the table that finds the document of a place.
const COARSE_BITS: u32 = 10;

/// The symbols of all documents.
#[derive(Debug)]
pub(super) struct Text<'a, S> {
    pub(super) isa: Isa,
    pub(super) symbols: &'a [S],
    /// Where each document ends.
    pub(super) ends: &'a [usize],
    /// By place in steps: the first document that ends behind it.
    coarse: Vec<usize>,
}

impl<'a, S: Symbol> Text<'a, S> {
    /// The documents that end at `ends`, which ascend to the number of symbols.
    pub(super) fn new(isa: Isa, symbols: &'a [S], ends: &'a [usize]) -> Self {
        let mut document = 0;
        let steps = 0..=symbols.len() >> COARSE_BITS;
        let coarse = steps.map(|step| {
            while ends
                .get(document)
                .is_some_and(|end| *end <= step << COARSE_BITS)
            {
                document += 1;
            }
            document
        });
        Text {
            isa,
            symbols,
            ends,
            coarse: coarse.collect(),
        }
    }

    /// The document that has the symbol at `place`.
    #[inline(always)]
    pub(super) fn document_at(&self, place: usize) -> usize {
        let mut document = self.coarse[place >> COARSE_BITS];
        while self.ends[document] <= place {
            document += 1;
        }
        document
    }

    /// The end of the document that has the symbol at `place`.
    #[inline(always)]
    pub(super) fn document_end(&self, place: usize) -> usize {
        self.ends[self.document_at(place)]
    }

    /// Where a document begins.
    pub(super) fn document_start(&self, document: usize) -> usize {
        match document.checked_sub(1) {
            Some(before) => self.ends[before],
            None => 0,
        }
    }

    #[inline(always)]
    pub(super) fn bytes(&self, from: usize, to: usize) -> &'a [u8] {
        bytemuck::cast_slice(&self.symbols[from..to])
    }

    /// The number of symbols from `a` and `b` on that agree, at most `limit`.
    #[inline(always)]
    pub(super) fn agree_ahead(&self, a: usize, b: usize, limit: usize) -> usize {
        let size = size_of::<S>();
        let text = bytemuck::cast_slice(self.symbols);
        agree_ahead(self.isa, text, [a * size, b * size], limit * size) / size
    }

    /// The number of symbols before `a` and `b` that agree, at most `limit`.
    #[inline(always)]
    pub(super) fn agree_behind(&self, a: usize, b: usize, limit: usize) -> usize {
        let size = size_of::<S>();
        let text = bytemuck::cast_slice(self.symbols);
        agree_behind(self.isa, text, [a * size, b * size], limit * size) / size
    }
}
