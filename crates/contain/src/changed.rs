//! What an action makes of documents.

use std::borrow::Cow;
use std::ops::Range;

use crate::action::Fate;
use crate::class::Class;
use simgpu::error::Result;
use simgpu_passages::{Cuts, CutsOfRows};

/// The documents that are left out or changed, by ascending rows.
#[derive(Debug, Default)]
pub(super) struct Changed {
    /// Those left out, and the first class of each.
    pub(super) removed: Vec<(u32, Class)>,
    /// Bytes of their texts.
    pub(super) removed_bytes: u64,
    /// Those of which something is cut or marked, and what.
    pub(super) places: Vec<(u32, Vec<Range<usize>>)>,
}

impl CutsOfRows for Changed {
    fn rows(&self, rows: Range<usize>) -> Result<(Cow<'_, Cuts>, usize)> {
        let mut cuts = Cuts::default();
        let removed = self
            .removed
            .partition_point(|(row, _)| (*row as usize) < rows.start);
        let mut removed = self.removed[removed..].iter().peekable();
        let places = self
            .places
            .partition_point(|(row, _)| (*row as usize) < rows.start);
        let mut places = self.places[places..].iter().peekable();
        for row in rows.clone() {
            if removed
                .next_if(|(removed, _)| *removed as usize == row)
                .is_some()
            {
                cuts.push_dropped();
                continue;
            }
            let changed = places.next_if(|(changed, _)| *changed as usize == row);
            cuts.push(
                changed
                    .map_or(&[][..], |(_, places)| places)
                    .iter()
                    .cloned(),
            );
        }
        Ok((Cow::Owned(cuts), rows.start))
    }
}

impl Changed {
    /// Adds what becomes of the next document, whose text has so many bytes.
    pub(super) fn add(&mut self, row: u32, bytes: usize, fate: &Fate) {
        match fate {
            Fate::Removed(class) => {
                self.removed.push((row, *class));
                self.removed_bytes += bytes as u64;
            }
            Fate::Kept(places) if !places.is_empty() => self.places.push((row, places.clone())),
            Fate::Kept(_) => {}
        }
    }
}
