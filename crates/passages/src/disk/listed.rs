//! The regions of all documents, as a first reading lists them.

use std::sync::Arc;

use super::super::known::MOST_SYMBOLS;
use super::super::pass::too_long;
use super::records::{HashedRegion, Links};
use super::regions::Regions;
use super::shared::PARTS;
use simgpu::error::Result;
use simgpu::store::spill::{Partitions, Spill, Stored, Streams};

/// The regions of all documents, on disk.
pub(super) struct ListedRegions {
    pub(super) regions: Partitions<6>,
    pub(super) repeats: Partitions<3>,
    /// The first place of each document, until all are listed.
    starts: Option<Streams>,
    /// The number of places so far.
    pub(super) places: usize,
}

impl ListedRegions {
    /// None yet, or those of the last checkpoint, with so many places.
    pub(super) fn new(spill: &Arc<Spill>, places: usize) -> Self {
        ListedRegions {
            regions: Partitions::new(spill, "regions", PARTS, 1 << 32, 2 * PARTS),
            repeats: Partitions::new(spill, "repeats", 1, 1 << 32, 2 * PARTS),
            starts: Some(Streams::new(spill, "starts", 1, 2 * PARTS)),
            places,
        }
    }

    /// Writes everything added so far, for a checkpoint.
    pub(super) fn flush(&mut self) -> Result<()> {
        self.regions.flush()?;
        self.repeats.flush()?;
        self.starts.as_mut().map_or(Ok(()), Streams::flush)
    }

    /// Ends the adding, and returns the first places of all documents.
    pub(super) fn end(&mut self) -> Result<Vec<usize>> {
        let mut all = Vec::new();
        let Some(starts) = self.starts.take() else {
            return Ok(all);
        };
        let starts = starts.finish_one()?;
        starts.for_each_block(|block| {
            let mut records = block.records(Stored::words);
            records.try_for_each(|record| {
                let [start]: [u64; 1] = bytemuck::cast::<[u32; 2], _>(record?);
                // They were places before.
                all.push(usize::try_from(start).map_err(|_| block.damaged())?);
                Ok(())
            })
        })?;
        // For a run that goes on.
        starts.keep();
        Ok(all)
    }

    /// Adds the regions of the next documents.
    pub(super) fn add(&mut self, found: &Regions) -> Result<()> {
        let base = self.places;
        if let Some(starts) = &mut self.starts {
            for start in &found.starts {
                let start = (base + start) as u64;
                starts.push(0, bytemuck::bytes_of(&start))?;
            }
        }
        for region in &found.regions {
            let first = base + region.first;
            self.regions
                .push(&HashedRegion { first, ..*region }.pack())?;
        }
        for links in &found.repeats {
            let first = base + links.first;
            self.repeats.push(&Links { first, ..*links }.pack())?;
        }
        self.places += found.places;
        if self.places > MOST_SYMBOLS {
            Err(too_long())
        } else {
            Ok(())
        }
    }
}
