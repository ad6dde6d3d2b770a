//! datasketch's permutation schemes.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use simgpu::scheme::{Draws, Family, Scheme, Values};

/// A permutation scheme of datasketch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// datasketch's before 2.0: 32-bit values, kept as uint64.
    Legacy,
    /// The default since 2.0.
    Affine32,
    /// The same in 64 bits.
    Affine64,
}

impl Kind {
    /// Reads the argument `scheme`.
    pub(crate) fn of_argument(scheme: &Bound<'_, PyAny>) -> PyResult<Self> {
        let known = [Kind::Affine32, Kind::Affine64, Kind::Legacy];
        let name = scheme.extract::<&str>().ok();
        let kind = known.into_iter().find(|kind| name == Some(kind.name()));
        let Some(kind) = kind else {
            let message = format!(
                "scheme must be one of affine32, affine64, legacy, got {}",
                scheme.repr()?
            );
            return Err(PyValueError::new_err(message));
        };
        Ok(kind)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Legacy => "legacy",
            Kind::Affine32 => "affine32",
            Kind::Affine64 => "affine64",
        }
    }

    /// The scheme's number in byte formats. Those of the legacy scheme have none, and 0 stands for it here.
    pub(crate) fn code(self) -> u8 {
        match self {
            Kind::Legacy => 0,
            Kind::Affine32 => 1,
            Kind::Affine64 => 2,
        }
    }

    /// The affine scheme of this number.
    pub(crate) fn of_code(code: u8) -> PyResult<Self> {
        let affine = [Kind::Affine32, Kind::Affine64];
        let known = affine.into_iter().find(|kind| kind.code() == code);
        known.ok_or_else(|| {
            PyValueError::new_err(format!("Unknown permutation scheme code: {code}"))
        })
    }

    /// The greatest hash, which is every slot of the empty set.
    pub(crate) fn greatest(self) -> u64 {
        match self {
            Kind::Legacy | Kind::Affine32 => u64::from(u32::MAX),
            Kind::Affine64 => u64::MAX,
        }
    }

    /// Bytes of a slot in the formats of LeanMinHash.
    pub(crate) fn stored_bytes(self) -> usize {
        match self {
            Kind::Legacy | Kind::Affine32 => 4,
            Kind::Affine64 => 8,
        }
    }

    /// The numpy type of hash values.
    pub(crate) fn dtype_name(self) -> &'static str {
        match self {
            Kind::Affine32 => "uint32",
            Kind::Legacy | Kind::Affine64 => "uint64",
        }
    }

    pub(crate) fn family(self) -> Family {
        match self {
            Kind::Legacy => Family::Mersenne61,
            Kind::Affine32 => Family::Affine32,
            Kind::Affine64 => Family::Affine64,
        }
    }

    pub(crate) fn draws(self) -> Draws {
        match self {
            Kind::Legacy => Draws::Interleaved,
            Kind::Affine32 | Kind::Affine64 => Draws::AllAThenAllB,
        }
    }

    /// The preset of the library with the same values.
    pub(crate) fn preset(self) -> simgpu::Result<Scheme> {
        Scheme::named(match self {
            Kind::Legacy => "datasketch-legacy",
            Kind::Affine32 => "datasketch",
            Kind::Affine64 => "datasketch64",
        })
    }
}

/// The slots of a sketch: uint32 for affine32, else uint64.
pub(crate) type SlotVec = Values<Vec<u32>, Vec<u64>>;

/// `count` slots of the empty set.
pub(crate) fn empty_slots(kind: Kind, count: usize) -> SlotVec {
    match kind {
        Kind::Affine32 => Values::U32(vec![u32::MAX; count]),
        Kind::Legacy | Kind::Affine64 => Values::U64(vec![kind.greatest(); count]),
    }
}

/// Lowers each slot to the same slot of `other`. Both have the same kind and length.
pub(crate) fn lower_slots(slots: &mut SlotVec, other: &SlotVec) {
    match (slots, other) {
        (Values::U32(slots), Values::U32(other)) => lower(slots, other.iter().copied()),
        (Values::U64(slots), Values::U64(other)) => lower(slots, other.iter().copied()),
        _ => unreachable!("slots of one scheme have one width"),
    }
}

/// Lowers each slot to a value.
pub(crate) fn lower<S: Copy + Ord>(slots: &mut [S], values: impl Iterator<Item = S>) {
    for (slot, value) in slots.iter_mut().zip(values) {
        *slot = (*slot).min(value);
    }
}
