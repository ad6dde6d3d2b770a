//! The few operations that kernels need of a vector of numbers.

use wide::{u32x8, u64x4};

/// A number, or a vector of them, in arithmetic modulo 2^32 or 2^64.
///
/// A plain number is a vector of one: arrays of them are what the compiler vectorises by itself
/// where the instructions are known to be there. The vectors of the `wide` crate are for the rest.
pub(super) trait Lanes: Copy {
    /// The number in a lane.
    type Number: Copy + Default;

    /// Numbers in the vector.
    const COUNT: usize;

    /// One number in all lanes.
    fn splat(number: Self::Number) -> Self;

    /// The numbers of a slice of [`Lanes::COUNT`].
    fn load(numbers: &[Self::Number]) -> Self;

    /// Writes them to a slice of [`Lanes::COUNT`].
    fn store(self, numbers: &mut [Self::Number]);

    fn add(self, other: Self) -> Self;

    fn mul(self, other: Self) -> Self;

    fn min(self, other: Self) -> Self;

    fn and(self, mask: Self::Number) -> Self;

    fn shift_right(self, bits: u32) -> Self;
}

macro_rules! impl_lanes_of_one {
    ($number:ty) => {
        impl Lanes for $number {
            type Number = $number;

            const COUNT: usize = 1;

            #[inline(always)]
            fn splat(number: $number) -> Self {
                number
            }

            #[inline(always)]
            fn load(numbers: &[$number]) -> Self {
                numbers[0]
            }

            #[inline(always)]
            fn store(self, numbers: &mut [$number]) {
                numbers[0] = self;
            }

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }

            #[inline(always)]
            fn min(self, other: Self) -> Self {
                Ord::min(self, other)
            }

            #[inline(always)]
            fn and(self, mask: $number) -> Self {
                self & mask
            }

            #[inline(always)]
            fn shift_right(self, bits: u32) -> Self {
                self >> bits
            }
        }
    };
}

impl_lanes_of_one!(u32);
impl_lanes_of_one!(u64);

macro_rules! impl_lanes_of_wide {
    ($vector:ty, $number:ty, $count:literal) => {
        impl Lanes for $vector {
            type Number = $number;

            const COUNT: usize = $count;

            #[inline(always)]
            fn splat(number: $number) -> Self {
                <$vector>::splat(number)
            }

            #[inline(always)]
            fn load(numbers: &[$number]) -> Self {
                let mut array = [0; $count];
                array.copy_from_slice(numbers);
                <$vector>::new(array)
            }

            #[inline(always)]
            fn store(self, numbers: &mut [$number]) {
                numbers.copy_from_slice(&self.to_array());
            }

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self + other
            }

            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                self * other
            }

            #[inline(always)]
            fn min(self, other: Self) -> Self {
                <$vector>::min(self, other)
            }

            #[inline(always)]
            fn and(self, mask: $number) -> Self {
                self & <$vector>::splat(mask)
            }

            #[inline(always)]
            fn shift_right(self, bits: u32) -> Self {
                self >> bits
            }
        }
    };
}

impl_lanes_of_wide!(u32x8, u32, 8);
impl_lanes_of_wide!(u64x4, u64, 4);
