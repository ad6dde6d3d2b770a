//! First places on disk: from the file that a search made of them.
//!
//! If windows must occur several times, or the first occurrence is a passage, too, a second file says of each first place
//! whether its windows count, and where they stand next.

use std::ops::Range;

use super::super::first_places::{FirstPlaces, WindowSegment};
use super::map::{Walker, WindowMap};
use super::records::{LinkTarget, Links};
use simgpu::error::Result;

/// What a search found of all windows.
pub(super) struct WindowMaps {
    /// By window, the first place.
    pub(super) firsts: WindowMap,
    /// By first place, the next place. Windows that it lacks are no passages. `None` if all count, and the next place does
    /// not matter.
    pub(super) others: Option<WindowMap>,
    /// The first place of each document.
    pub(super) starts: Vec<usize>,
    /// The number of places.
    pub(super) places: usize,
}

impl WindowMaps {
    /// Bytes of the files.
    pub(super) fn bytes(&self) -> u64 {
        self.firsts.bytes() + self.others.as_ref().map_or(0, WindowMap::bytes)
    }

    /// Bytes read from the files.
    pub(super) fn read_bytes(&self) -> u64 {
        self.firsts.read_bytes() + self.others.as_ref().map_or(0, WindowMap::read_bytes)
    }
}

/// The first places of texts on disk.
pub(super) struct MappedPlaces<'a> {
    pub(super) firsts: &'a mut WindowMap,
    others: Option<&'a mut WindowMap>,
    // Each walks through a part of a file in order.
    own: Walker,
    source: Walker,
    other: Walker,
}

impl<'a> MappedPlaces<'a> {
    pub(super) fn new(firsts: &'a mut WindowMap, others: Option<&'a mut WindowMap>) -> Self {
        MappedPlaces {
            firsts,
            others,
            own: Walker::default(),
            source: Walker::default(),
            other: Walker::default(),
        }
    }
}

impl FirstPlaces for MappedPlaces<'_> {
    fn segment(&mut self, window: usize, end: usize) -> Result<WindowSegment> {
        self.own.segment(self.firsts, window, end)
    }

    fn period_end(&mut self, window: usize) -> Result<Option<usize>> {
        let back = self.own.back(self.firsts, window)?;
        Ok(back.map(Links::end))
    }

    fn frequent(&mut self, places: Range<usize>) -> Result<Option<Range<usize>>> {
        let Some(others) = &mut self.others else {
            return Ok(Some(places));
        };
        let next = self.other.at_or_behind(others, places.start)?;
        let next = next.map(|next| next.first.max(places.start)..next.end().min(places.end));
        Ok(next.filter(|next| next.start < next.end))
    }

    fn next_place(&mut self, place: usize) -> Result<Option<usize>> {
        let Some(others) = &mut self.others else {
            return Ok(None);
        };
        Ok(match self.other.at_or_behind(others, place)? {
            Some(Links {
                first,
                link: LinkTarget::Place(next),
                ..
            }) if first <= place => Some(next + (place - first)),
            _ => None,
        })
    }

    fn agreeing(&mut self, window: usize, source: usize, end: usize) -> Result<usize> {
        let mut count = 0;
        while window + count < end {
            let (here, there) = (window + count, source + count);
            // Windows that repeat with a period, and their source some periods before, agree to the end of the repeats.
            if let Some(back) = self.own.back(self.firsts, here)?
                && let LinkTarget::Back(period) = back.link
                && there < here
                && (here - there).is_multiple_of(period)
                && there + period >= back.first
            {
                count = end.min(back.end()) - window;
                continue;
            }
            let here = self.own.segment(self.firsts, here, end)?;
            let rest = end - here.first;
            let there = self.source.segment(self.firsts, there, there + rest)?;
            // Windows are equal if their first places are.
            if here.place != there.place {
                break;
            }
            count += here.len.min(there.len);
        }
        Ok(count)
    }
}
