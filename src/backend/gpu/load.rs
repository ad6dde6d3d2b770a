//! A load: what is sent to a device at a time, and how documents are cut to fit it.
//!
//! A document becomes one part, or several if it is long. An item is one part, or a run of short ones that share a
//! tile. A load is a list of items within all bounds of a device. Long documents continue in the next load: the
//! minimum over pieces is the minimum over the set (MMDS, exercise 3.3.7), whichever loads the pieces travel in.

use std::ops::Range;

use super::bounds::Bounds;
use super::shader::BAND_THREADS;
use super::workgroup::{QUAD, Workgroup};

/// A document in a device's layout: shingle i begins at byte `i * stride`, and has at most `window_bytes` bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Document<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) stride: usize,
    pub(super) window_bytes: usize,
    /// Number of shingles.
    pub(super) count: usize,
}

/// What all loads of one signer have in common: their bounds and the shape of a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoadShape {
    pub(super) bounds: Bounds,
    /// Slots of a row, padding included.
    pub(super) row_slots: usize,
    pub(super) slot_bytes: usize,
    pub(super) workgroup: Workgroup,
}

impl LoadShape {
    pub(super) fn row_bytes(&self) -> usize {
        self.row_slots * self.slot_bytes
    }

    /// Quads of shingles that a tile holds; hashes are as wide as slots.
    #[allow(clippy::cast_possible_truncation, reason = "a tile is a few KiB")]
    pub(super) fn tile_quads(&self) -> u32 {
        (self.bounds.tile_bytes / (QUAD * self.slot_bytes)) as u32
    }

    /// Most shingles of a part that shares an item. Of such parts, each slice of a workgroup gets several.
    fn short_shingles(&self) -> usize {
        let tile_shingles = self.tile_quads() as usize * QUAD;
        tile_shingles / (2 * self.workgroup.slices as usize)
    }

    /// The shape of loads that are so many times as large.
    pub(super) fn scaled(self, scale: usize) -> Self {
        let Bounds {
            input_bytes,
            row_bytes,
            ..
        } = self.bounds;
        let bounds = Bounds {
            input_bytes: input_bytes * scale,
            row_bytes: row_bytes * scale,
            ..self.bounds
        };
        LoadShape { bounds, ..self }
    }

    /// Whether a device takes buffers of that size.
    pub(super) fn fits(&self, limits: &wgpu::Limits) -> bool {
        let bounds = &self.bounds;
        // As much again is room for the parts and items of a load.
        let most = 2 * bounds.input_bytes.max(bounds.row_bytes) as u64;
        most <= limits.max_buffer_size && most <= limits.max_storage_buffer_binding_size
    }

    /// Most parts of a load.
    pub(super) fn parts(&self) -> usize {
        self.bounds
            .parts
            .min(self.bounds.row_bytes / self.row_bytes())
    }

    /// Workgroups in two dimensions for a number of band keys.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the bounds of a load are below 2^32"
    )]
    pub(super) fn groups_for(&self, keys: usize) -> [u32; 2] {
        let groups = (keys as u32).div_ceil(BAND_THREADS);
        let columns = groups.min(self.bounds.groups).max(1);
        [columns, groups.div_ceil(columns)]
    }

    /// Most entries of the list of items: the items, its end, and empty ones that fill the last row of
    /// workgroups.
    pub(super) fn items(&self) -> usize {
        2 * self.parts() + 1
    }
}

/// A part in the shader's layout: start, number of shingles, first quad of its place in the tile.
pub(super) type PartLayout = [u32; 3];

/// The parts and items of a load, and the documents they belong to.
#[derive(Debug, Default)]
pub(super) struct Load {
    pub(super) parts: Vec<PartLayout>,
    /// The first part of each document.
    starts: Vec<u32>,
    /// Where items begin among the parts.
    items: Vec<u32>,
    /// Quads of the tile that the parts of the last item take.
    item_quads: usize,
    pub(super) input_bytes: usize,
    updates: u64,
    is_text: bool,
}

/// What a load adds of a document: shingles, and the bytes to copy into the input.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Added {
    pub(super) shingles: usize,
    pub(super) bytes: Range<usize>,
    /// Where the bytes belong in the input.
    pub(super) at: usize,
}

impl Load {
    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Number of a document's shingles that fit; at least one fits an empty load.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the bounds of a load are below 2^32"
    )]
    pub(super) fn room(&self, shape: &LoadShape, document: &Document<'_>) -> usize {
        let bounds = &shape.bounds;
        let bytes_left = bounds.input_bytes.saturating_sub(self.input_bytes);
        let byte_limit = match bytes_left.checked_sub(document.window_bytes) {
            Some(behind_first) => behind_first / document.stride + 1,
            None => 0,
        };
        // No more rows of workgroups than the bounds allow.
        let groups = bounds.groups as usize;
        let most_items = groups.saturating_mul(groups);
        let items_left = most_items.saturating_sub(self.items.len());
        let parts_left = (shape.parts() - self.parts.len()).min(items_left);
        let part_limit = parts_left.saturating_mul(bounds.part_shingles);
        let updates_left = bounds.updates.saturating_sub(self.updates);
        let update_limit = (updates_left / shape.row_slots as u64) as usize;
        let at_least = usize::from(self.is_empty());
        byte_limit.min(part_limit).min(update_limit.max(at_least))
    }

    /// Adds the shingles of a document that fit, from shingle `from` on. Adds none where a new load suits
    /// better: if the document must stay whole or is short, and does not fit.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the bounds of a load are below 2^32"
    )]
    pub(super) fn add(
        &mut self,
        shape: &LoadShape,
        document: &Document<'_>,
        from: usize,
        is_whole: bool,
    ) -> Option<Added> {
        let part = shape.bounds.part_shingles;
        let Document {
            stride,
            window_bytes,
            ..
        } = *document;
        let rest = document.count - from;
        let shingles = rest.min(self.room(shape, document));
        let is_cut = shingles < rest;
        let is_better_off = is_whole || rest <= part;
        if shingles == 0 || is_cut && is_better_off && !self.is_empty() {
            return None;
        }
        let start = self.input_bytes / stride;
        self.is_text = stride == 1;
        self.starts.push(self.parts.len() as u32);
        let tile_quads = shape.tile_quads() as usize;
        for first in (0..shingles).step_by(part) {
            let count = part.min(shingles - first);
            // A long part fills its item.
            let quads = if count <= shape.short_shingles() {
                count.div_ceil(QUAD).next_multiple_of(2)
            } else {
                tile_quads
            };
            if self.items.is_empty() || self.item_quads + quads > tile_quads {
                self.items.push(self.parts.len() as u32);
                self.item_quads = 0;
            }
            self.parts
                .push([(start + first) as u32, count as u32, self.item_quads as u32]);
            self.item_quads += quads;
        }
        let end = (from + shingles - 1) * stride + window_bytes;
        let bytes = from * stride..end.min(document.bytes.len());
        let at = self.input_bytes;
        self.input_bytes += bytes.len();
        self.updates += shingles as u64 * shape.row_slots as u64;
        Some(Added {
            shingles,
            bytes,
            at,
        })
    }

    /// Whether the input is text. Otherwise, it is hashes.
    pub(super) fn is_text(&self) -> bool {
        self.is_text
    }

    /// Number of documents, with those of which only a piece is in the load.
    pub(super) fn documents(&self) -> usize {
        self.starts.len()
    }

    /// Where the parts of each document begin, with the end. Padded with empty documents for the threads behind the last
    /// band key.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the bounds of a load are below 2^32"
    )]
    pub(super) fn document_starts(&self, shape: &LoadShape, bands: usize) -> Vec<u32> {
        let [columns, rows] = shape.groups_for(self.documents() * bands);
        let threads = (columns * rows * BAND_THREADS) as usize;
        let mut starts = self.starts.clone();
        let padded = threads.div_ceil(bands) + 1;
        starts.resize(padded.min(shape.parts() + 1), self.parts.len() as u32);
        starts
    }

    /// Begins the next documents at a multiple of `alignment`, and returns it.
    pub(super) fn align(&mut self, alignment: usize) -> usize {
        self.input_bytes = self.input_bytes.next_multiple_of(alignment);
        self.input_bytes
    }

    /// The list of items with its end, padded with empty items to whole rows of workgroups, and the numbers
    /// of workgroups in two dimensions.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the bounds of a load are below 2^32"
    )]
    pub(super) fn items(&self, shape: &LoadShape) -> (Vec<u32>, [u32; 2]) {
        let count = self.items.len() as u32;
        let columns = count.min(shape.bounds.groups).max(1);
        let rows = count.div_ceil(columns);
        let mut items = self.items.clone();
        items.resize((columns * rows) as usize + 1, self.parts.len() as u32);
        (items, [columns, rows])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(bounds: Bounds, row_slots: usize) -> LoadShape {
        LoadShape {
            bounds,
            row_slots,
            slot_bytes: 4,
            workgroup: Workgroup::new(row_slots, 256),
        }
    }

    fn cut(shape: &LoadShape, document: &Document<'_>) -> Vec<(Load, Added)> {
        let mut cut = Vec::new();
        let mut from = 0;
        while from < document.count {
            let mut load = Load::default();
            let added = load.add(shape, document, from, false).unwrap();
            from += added.shingles;
            cut.push((load, added));
        }
        assert_eq!(from, document.count);
        cut
    }

    #[test]
    fn pieces_of_a_text_overlap_by_a_window() {
        let bounds = Bounds {
            input_bytes: 100,
            part_shingles: 16,
            ..Bounds::default()
        };
        let text = [0; 1000];
        let document = Document {
            bytes: &text,
            stride: 1,
            window_bytes: 9,
            count: 992,
        };
        let shape = shape(bounds, 8);
        let mut next = 0;
        for (load, added) in cut(&shape, &document) {
            assert_eq!(added.bytes.start, next);
            assert_eq!(added.bytes.len(), added.shingles + 8);
            next += added.shingles;
            assert!(load.parts.iter().all(|part| part[1] <= 16));
            let shingles: u32 = load.parts.iter().map(|part| part[1]).sum();
            assert_eq!(shingles as usize, added.shingles);
            assert!(load.input_bytes <= 100);
        }
    }

    #[test]
    fn every_bound_ends_a_load() {
        let unbounded = Bounds {
            part_shingles: 2048,
            ..Bounds::default()
        };
        let hashes = [0; 4 * 4096];
        let document = Document {
            bytes: &hashes,
            stride: 4,
            window_bytes: 4,
            count: 4096,
        };
        for (bounds, loads) in [
            (unbounded, 1),
            (
                Bounds {
                    input_bytes: 4096,
                    ..unbounded
                },
                4,
            ),
            (
                Bounds {
                    row_bytes: 512,
                    ..unbounded
                },
                2,
            ),
            (
                Bounds {
                    parts: 1,
                    ..unbounded
                },
                2,
            ),
            (
                Bounds {
                    updates: 128 * 1000,
                    ..unbounded
                },
                5,
            ),
            (
                Bounds {
                    updates: 1,
                    ..unbounded
                },
                4096,
            ),
            (
                Bounds {
                    groups: 1,
                    ..unbounded
                },
                2,
            ),
        ] {
            assert_eq!(
                cut(&shape(bounds, 128), &document).len(),
                loads,
                "{bounds:?}"
            );
        }
    }

    #[test]
    fn short_documents_share_items_and_workgroups_fill_rows() {
        let bounds = Bounds {
            groups: 3,
            ..Bounds::default()
        };
        let shape = shape(bounds, 4);
        let hashes = [0; 4 * 1024];
        let document = |count: usize| Document {
            bytes: &hashes[..4 * count],
            stride: 4,
            window_bytes: 4,
            count,
        };
        let mut load = Load::default();
        for count in [5, 1, 1024, 1024, 1024, 1024, 7, 1024, 1024] {
            load.add(&shape, &document(count), 0, false).unwrap();
        }
        // Parts of at most 8 shingles share an item: then each of 128 slices has two of them.
        let (items, groups) = load.items(&shape);
        assert_eq!(load.items, [0, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(
            (items, groups),
            (vec![0, 2, 3, 4, 5, 6, 7, 8, 9, 9], [3, 3])
        );
        // The second one is staged behind the two quads of the first.
        assert_eq!(load.parts[..2], [[0, 5, 0], [5, 1, 2]]);
    }
}
