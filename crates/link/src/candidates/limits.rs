//! How far the search for candidates goes.

/// The least cosine of a candidate, unless that makes too many.
pub(crate) const LEAST_COSINE: f64 = 0.1;

/// Records searched between two calls of [`Progress::advance`](simgpu::progress::Progress::advance).
pub(super) const BLOCK: usize = 1 << 13;

/// How far the search goes. Depends on the number of records alone, so that results do not depend on the machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The least cosine of a candidate.
    pub(crate) floor: f64,
    /// The most entries of lists that are looked up for a record.
    pub(crate) entries: usize,
    /// The most candidates of a record whose common symbols were left out.
    pub(crate) compared: usize,
    /// The most candidates of any other record.
    pub(crate) candidates: usize,
    /// The number of pairs above which the floor rises.
    pub(crate) pairs: usize,
}

impl Limits {
    /// Looks up 2^31 entries in all: a minute on two cores.
    pub(crate) fn new(records: usize) -> Self {
        Limits {
            floor: LEAST_COSINE,
            entries: (1 << 31) / records.max(1),
            compared: 64,
            candidates: 1024,
            pairs: (16 * records).max(1 << 20),
        }
    }
}
