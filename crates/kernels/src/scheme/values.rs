//! Shingle hashes and slots of 32 or 64 bits behind one type.

use std::fmt;

use bytemuck::Pod;

use super::width::Width;

/// Values of 32 or of 64 bits in a container. Use its aliases [`Hashes`], [`Slots`], [`SlotsMut`] and
/// [`SlotVec`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values<Narrow, Wide> {
    /// 32 bits each.
    U32(Narrow),
    /// 64 bits each.
    U64(Wide),
}

/// Shingle hashes, borrowed.
pub type Hashes<'a> = Values<&'a [u32], &'a [u64]>;

/// Slots of signatures, borrowed.
pub type Slots<'a> = Values<&'a [u32], &'a [u64]>;

/// Slots of signatures, mutably borrowed.
pub type SlotsMut<'a> = Values<&'a mut [u32], &'a mut [u64]>;

/// Slots of signatures, owned.
pub type SlotVec = Values<Vec<u32>, Vec<u64>>;

/// The type of a value, a shingle hash or a slot: u32 or u64, and nothing else.
pub trait Word: sealed::Sealed + Pod + Ord + fmt::Debug + Default + Send + Sync {
    /// The width of the type.
    const WIDTH: Width;

    /// The greatest value.
    const GREATEST: Self;

    /// The low bits of a value.
    fn cut(value: u64) -> Self;

    /// Borrows values of this type as values of either.
    fn view(values: &[Self]) -> Slots<'_>;

    /// Borrows values of this type, to be written, as values of either.
    fn view_mut(values: &mut [Self]) -> SlotsMut<'_>;
}

impl Word for u32 {
    const WIDTH: Width = Width::U32;

    const GREATEST: u32 = u32::MAX;

    #[allow(clippy::cast_possible_truncation, reason = "the low bits are kept")]
    #[inline]
    fn cut(value: u64) -> u32 {
        value as u32
    }

    fn view(values: &[u32]) -> Slots<'_> {
        Values::U32(values)
    }

    fn view_mut(values: &mut [u32]) -> SlotsMut<'_> {
        Values::U32(values)
    }
}

impl Word for u64 {
    const WIDTH: Width = Width::U64;

    const GREATEST: u64 = u64::MAX;

    #[inline]
    fn cut(value: u64) -> u64 {
        value
    }

    fn view(values: &[u64]) -> Slots<'_> {
        Values::U64(values)
    }

    fn view_mut(values: &mut [u64]) -> SlotsMut<'_> {
        Values::U64(values)
    }
}

mod sealed {
    /// Keeps other types from being words.
    pub trait Sealed {}

    impl Sealed for u32 {}

    impl Sealed for u64 {}
}

impl<Narrow: AsRef<[u32]>, Wide: AsRef<[u64]>> Values<Narrow, Wide> {
    /// The values, borrowed.
    pub fn view(&self) -> Slots<'_> {
        match self {
            Values::U32(values) => Values::U32(values.as_ref()),
            Values::U64(values) => Values::U64(values.as_ref()),
        }
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Values::U32(values) => values.as_ref().len(),
            Values::U64(values) => values.as_ref().len(),
        }
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Width of a value.
    pub fn width(&self) -> Width {
        match self {
            Values::U32(_) => Width::U32,
            Values::U64(_) => Width::U64,
        }
    }
}

impl<'a> Slots<'a> {
    /// The values in `range`.
    ///
    /// # Panics
    /// If the range is out of bounds.
    pub fn range(self, range: std::ops::Range<usize>) -> Slots<'a> {
        match self {
            Values::U32(values) => Values::U32(&values[range]),
            Values::U64(values) => Values::U64(&values[range]),
        }
    }
}

impl<'a> SlotsMut<'a> {
    /// The first `len` values, and the others.
    ///
    /// # Panics
    /// If there are fewer values.
    pub fn split_at(self, len: usize) -> (SlotsMut<'a>, SlotsMut<'a>) {
        match self {
            Values::U32(values) => {
                let (first, others) = values.split_at_mut(len);
                (Values::U32(first), Values::U32(others))
            }
            Values::U64(values) => {
                let (first, others) = values.split_at_mut(len);
                (Values::U64(first), Values::U64(others))
            }
        }
    }

    /// Borrows the same values again, so that `self` can be used afterwards.
    pub fn reborrow(&mut self) -> SlotsMut<'_> {
        match self {
            Values::U32(values) => Values::U32(values),
            Values::U64(values) => Values::U64(values),
        }
    }
}

impl SlotVec {
    #[doc(hidden)]
    pub fn new(width: Width) -> Self {
        match width {
            Width::U32 => Values::U32(Vec::new()),
            Width::U64 => Values::U64(Vec::new()),
        }
    }

    /// Truncates, or appends zeros.
    #[doc(hidden)]
    pub fn resize(&mut self, len: usize) {
        fn resize<T: Word>(values: &mut Vec<T>, len: usize) {
            match values.capacity() {
                // Zeroed memory of the system is not touched before it is written.
                0 => *values = vec![T::default(); len],
                _ => values.resize(len, T::default()),
            }
        }
        match self {
            Values::U32(values) => resize(values, len),
            Values::U64(values) => resize(values, len),
        }
    }

    /// Mutably borrows the values from `start` on.
    #[doc(hidden)]
    pub fn view_mut(&mut self, start: usize) -> SlotsMut<'_> {
        match self {
            Values::U32(values) => Values::U32(&mut values[start..]),
            Values::U64(values) => Values::U64(&mut values[start..]),
        }
    }

    /// Keeps the rows of `width` values that are marked in `is_kept`.
    #[doc(hidden)]
    pub fn retain_rows(&mut self, width: usize, is_kept: &[bool]) {
        fn retain<T: Copy>(values: &mut Vec<T>, width: usize, is_kept: &[bool]) {
            let mut end = 0;
            for (i, _) in is_kept.iter().enumerate().filter(|(_, is_kept)| **is_kept) {
                values.copy_within(i * width..(i + 1) * width, end);
                end += width;
            }
            values.truncate(end);
        }
        match self {
            Values::U32(values) => retain(values, width, is_kept),
            Values::U64(values) => retain(values, width, is_kept),
        }
    }
}

impl From<Vec<u32>> for SlotVec {
    fn from(values: Vec<u32>) -> Self {
        Values::U32(values)
    }
}

impl From<Vec<u64>> for SlotVec {
    fn from(values: Vec<u64>) -> Self {
        Values::U64(values)
    }
}

impl<'a> From<&'a [u32]> for Slots<'a> {
    fn from(values: &'a [u32]) -> Self {
        Values::U32(values)
    }
}

impl<'a> From<&'a [u64]> for Slots<'a> {
    fn from(values: &'a [u64]) -> Self {
        Values::U64(values)
    }
}
