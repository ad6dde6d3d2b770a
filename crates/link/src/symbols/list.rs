//! The symbols of one record as a vector, and the cosine of two.

/// The least cosine that differs from 1 by more than rounding.
const NEARLY_ONE: f64 = 1.0 - 1e-10;

/// The symbols of a record, or of one of its fields.
#[derive(Clone, Debug, Default)]
pub(crate) struct List {
    /// The numbered ones, in ascending order: rare symbols come first.
    pub(crate) numbers: Vec<u32>,
    /// The length of the vector of the weights of all symbols.
    pub(crate) norm: f64,
}

impl List {
    /// The cosine of the angle between the vectors of the weights of two lists; 0 if either is empty.
    pub(crate) fn cosine(&self, other: &List, squares: &[f64]) -> f64 {
        self.vector().cosine(other.vector(), squares)
    }

    fn vector(&self) -> SymbolVector<'_> {
        SymbolVector {
            numbers: &self.numbers,
            norm: self.norm,
        }
    }
}

/// The weights of a list's symbols, as a vector.
#[derive(Clone, Copy)]
pub(super) struct SymbolVector<'a> {
    /// The numbered symbols, in ascending order.
    pub(super) numbers: &'a [u32],
    /// The length of the vector.
    pub(super) norm: f64,
}

impl SymbolVector<'_> {
    /// The cosine of two vectors. Sums from the rarest symbol on.
    pub(super) fn cosine(self, other: SymbolVector<'_>, squares: &[f64]) -> f64 {
        let mut dot = 0.0;
        for_each_shared(self.numbers, other.numbers, |number| {
            dot += squares[number as usize];
        });
        quotient(dot, self.norm, other.norm)
    }
}

/// The cosine for a sum of squares of shared weights. It is 1 for equal values, and for no others: a value alone makes a
/// greater difference than rounding.
pub(crate) fn quotient(dot: f64, a: f64, b: f64) -> f64 {
    match dot / (a * b) {
        nearly if nearly >= NEARLY_ONE => 1.0,
        cosine if dot > 0.0 => cosine,
        _ => 0.0,
    }
}

/// Calls `each` with the symbols in both lists, in ascending order.
pub(crate) fn for_each_shared(a: &[u32], b: &[u32], mut each: impl FnMut(u32)) {
    let (mut i, mut j) = (0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        if x == y {
            each(*x);
        }
        // Steps without branches: which of two numbers is the lower one cannot be foreseen.
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
}
