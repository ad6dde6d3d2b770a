//! Slots as 64-bit numbers, in which an index compares them.

use std::borrow::Cow;

use simgpu::error::{Conflict, Result};
use simgpu::pipeline::Banding;
use simgpu::scheme::{SlotVec, Slots, Values, Width};

/// The slots of a signature that lie in bands: the first ones.
///
/// # Errors
/// [`Error::Conflict`](simgpu::Error::Conflict) if slots have another width than those of the index, or are too few.
pub(super) fn in_bands(
    signature: Slots<'_>,
    banding: Banding,
    width: Width,
) -> Result<Cow<'_, [u64]>> {
    banding.check_fits(signature.len())?;
    widened(signature.range(0..banding.bands() * banding.rows()), width)
}

/// Slots as numbers.
///
/// # Errors
/// [`Error::Conflict`](simgpu::Error::Conflict) if they have another width than those of the index.
pub(super) fn widened(slots: Slots<'_>, width: Width) -> Result<Cow<'_, [u64]>> {
    if slots.width() != width {
        return Err(Conflict::SlotWidths.into());
    }
    Ok(match slots {
        Values::U32(slots) => slots.iter().copied().map(u64::from).collect(),
        Values::U64(slots) => Cow::Borrowed(slots),
    })
}

/// The slots that [`widened`] made numbers of.
#[allow(clippy::cast_possible_truncation, reason = "slots of 32 bits")]
pub(super) fn narrowed(values: impl Iterator<Item = u64>, width: Width) -> SlotVec {
    match width {
        Width::U32 => Values::U32(values.map(|value| value as u32).collect()),
        Width::U64 => Values::U64(values.collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_behind_the_bands_are_left_out() {
        let banding = Banding::new(2, 2, 4).unwrap();
        let slots = [7, u32::MAX, 9, 1, 5];
        let values = in_bands(Values::U32(&slots), banding, Width::U32).unwrap();
        assert_eq!(*values, [7, u64::from(u32::MAX), 9, 1]);
        let exact = in_bands(Values::U32(&slots[..4]), banding, Width::U32).unwrap();
        assert_eq!(values, exact);
    }

    #[test]
    fn few_slots_and_other_widths_are_errors() {
        let banding = Banding::new(2, 2, 4).unwrap();
        assert!(in_bands(Values::U32(&[1, 2, 3]), banding, Width::U32).is_err());
        assert!(in_bands(Values::U64(&[1, 2, 3, 4]), banding, Width::U32).is_err());
        assert!(in_bands(Values::U32(&[1, 2, 3, 4]), banding, Width::U64).is_err());
    }

    #[test]
    fn narrowed_slots_are_the_same() {
        let narrow: SlotVec = vec![0, 3, u32::MAX].into();
        let wide: SlotVec = vec![0, 3, u64::MAX].into();
        for slots in [narrow, wide] {
            let values = widened(slots.view(), slots.width()).unwrap();
            assert_eq!(narrowed(values.iter().copied(), slots.width()), slots);
        }
    }
}
