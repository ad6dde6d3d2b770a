//! What is sent to a device at a time, and how documents are cut to fit it.
//!
//! A document becomes one part, or pieces of at most a tile; parts that share a tile are an item. A load
//! is a list of items within all bounds of a device. Long documents go on in the next load: the minimum
//! over pieces is the minimum over the set (MMDS 3.3.6), whichever loads they come back with.

use std::ops::Range;
use std::time::Duration;

use super::kernel::{BAND_THREADS, LANES};

/// What a load may hold, and how long it may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Shingles or text, in bytes.
    pub input_bytes: usize,
    /// Rows that are written, in bytes.
    pub row_bytes: usize,
    /// Number of parts.
    pub parts: usize,
    /// Updates, that is shingles times permutations: a display's driver ends what takes seconds.
    pub updates: u64,
    /// Bytes of shingle hashes that a workgroup stages.
    pub tile_bytes: usize,
    /// Workgroups in one dimension.
    pub groups: u32,
    /// Loads on their way at a time.
    pub loads: usize,
    /// How long an answer may take.
    pub timeout: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds {
            input_bytes: 8 << 20,
            row_bytes: 8 << 20,
            parts: 1 << 16,
            updates: 1 << 33,
            tile_bytes: 8 << 10,
            groups: u32::MAX,
            loads: 6,
            timeout: Duration::from_secs(60),
        }
    }
}

impl Bounds {
    /// The same, where a device allows it, for rows of so many bytes and hashes of `hash_bytes`.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "what exceeds the address space is no bound"
    )]
    pub(super) fn within(
        self,
        limits: &wgpu::Limits,
        is_software: bool,
        row_bytes: usize,
        hash_bytes: usize,
    ) -> Self {
        let binding = limits.max_storage_buffer_binding_size as usize;
        let buffer = limits.max_buffer_size as usize;
        // Each part and its item take 20 bytes, and a third of a buffer is room for them.
        let parts = self.parts.min(buffer / 64).min(binding / 16).max(1);
        let input = self.input_bytes.min(buffer / 4).min(binding - 16);
        let tile = self
            .tile_bytes
            .min(limits.max_compute_workgroup_storage_size as usize);
        Bounds {
            input_bytes: input.max(4 * LANES * hash_bytes),
            row_bytes: self.row_bytes.min(buffer).min(binding).max(row_bytes),
            parts,
            tile_bytes: tile.max(LANES * hash_bytes),
            groups: self
                .groups
                .min(limits.max_compute_workgroups_per_dimension)
                .max(1),
            loads: self.loads.max(1),
            // Software is slow, but nobody ends it.
            timeout: match is_software {
                true => self.timeout.saturating_mul(10),
                false => self.timeout,
            },
            ..self
        }
    }
}

/// A document as a device takes it: shingle i are the `window_bytes` bytes from byte `i * stride` on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Document<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) stride: usize,
    pub(super) window_bytes: usize,
    /// Number of shingles.
    pub(super) count: usize,
}

/// The loads of one signer: their bounds and the shape of a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) bounds: Bounds,
    /// Permutations of a row, padding included.
    pub(super) row_slots: usize,
    pub(super) slot_bytes: usize,
}

impl Shape {
    pub(super) fn row_bytes(&self) -> usize {
        self.row_slots * self.slot_bytes
    }

    /// Fours of shingles that a tile holds; hashes are as wide as slots.
    #[allow(clippy::cast_possible_truncation, reason = "a tile is a few KiB")]
    pub(super) fn tile_quads(&self) -> u32 {
        (self.bounds.tile_bytes / (LANES * self.slot_bytes)) as u32
    }

    fn tile_shingles(&self) -> usize {
        self.tile_quads() as usize * LANES
    }

    /// Parts of a load at most.
    pub(super) fn parts(&self) -> usize {
        self.bounds
            .parts
            .min(self.bounds.row_bytes / self.row_bytes())
    }

    /// Workgroups in two dimensions that make so many band keys.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the bounds of a load are below 2^32"
    )]
    pub(super) fn groups_for(&self, keys: usize) -> [u32; 2] {
        let groups = (keys as u32).div_ceil(BAND_THREADS);
        let columns = groups.min(self.bounds.groups).max(1);
        [columns, groups.div_ceil(columns)]
    }

    /// Entries of the list of items at most: its end, and what fills the last row of workgroups.
    pub(super) fn items(&self) -> usize {
        2 * self.parts() + 1
    }
}

/// A part as the kernel takes it: start, number of shingles, bytes of a window.
pub(super) type Part = [u32; 3];

/// The parts and items of a load, and whose they are.
#[derive(Debug, Default)]
pub(super) struct Load {
    pub(super) parts: Vec<Part>,
    /// The document of each part.
    pub(super) documents: Vec<usize>,
    /// Where items begin among the parts.
    items: Vec<u32>,
    /// Fours of shingles in the last item.
    item_quads: usize,
    pub(super) input_bytes: usize,
    updates: u64,
}

/// What a load takes of a document: shingles, and the bytes that are to be copied to the input.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) shingles: usize,
    pub(super) bytes: Range<usize>,
    /// Where the bytes go.
    pub(super) at: usize,
}

impl Load {
    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// How many shingles of a document there is room for; in an empty load for at least one.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the bounds of a load are below 2^32"
    )]
    pub(super) fn room(&self, shape: &Shape, document: &Document<'_>) -> usize {
        let bounds = &shape.bounds;
        let left = bounds.input_bytes - self.input_bytes;
        let by_bytes = match left.checked_sub(document.window_bytes) {
            Some(left) => left / document.stride + 1,
            None => 0,
        };
        // No more rows of workgroups than there may be.
        let groups = bounds.groups as usize;
        let most_items = groups.saturating_mul(groups);
        let items_left = most_items.saturating_sub(self.items.len());
        let parts_left = (shape.parts() - self.parts.len()).min(items_left);
        let by_parts = parts_left.saturating_mul(shape.tile_shingles());
        let updates_left = bounds.updates.saturating_sub(self.updates);
        let by_updates = (updates_left / shape.row_slots as u64) as usize;
        let at_least = usize::from(self.is_empty());
        by_bytes.min(by_parts).min(by_updates.max(at_least))
    }

    /// Takes as many shingles of a document from shingle `from` on as there is room for; none if a
    /// new load is the better place, which it is for a document that is to stay whole, and for a short
    /// one.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the bounds of a load are below 2^32"
    )]
    pub(super) fn take(
        &mut self,
        shape: &Shape,
        index: usize,
        document: &Document<'_>,
        from: usize,
        is_whole: bool,
    ) -> Option<Taken> {
        let tile = shape.tile_shingles();
        let Document {
            stride,
            window_bytes,
            ..
        } = *document;
        let rest = document.count - from;
        let shingles = rest.min(self.room(shape, document));
        let is_cut = shingles < rest;
        let is_better_off = is_whole || rest <= tile;
        if shingles == 0 || is_cut && is_better_off && !self.is_empty() {
            return None;
        }
        let start = self.input_bytes / stride;
        for first in (0..shingles).step_by(tile) {
            let count = tile.min(shingles - first);
            let quads = count.div_ceil(LANES);
            if self.items.is_empty() || self.item_quads + quads > tile / LANES {
                self.items.push(self.parts.len() as u32);
                self.item_quads = 0;
            }
            self.item_quads += quads;
            self.parts
                .push([(start + first) as u32, count as u32, window_bytes as u32]);
            self.documents.push(index);
        }
        let bytes = from * stride..(from + shingles - 1) * stride + window_bytes;
        let at = self.input_bytes;
        self.input_bytes += bytes.len();
        self.updates += shingles as u64 * shape.row_slots as u64;
        Some(Taken {
            shingles,
            bytes,
            at,
        })
    }

    /// The documents of the load, each once, and the list of where their parts begin, with its end.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the bounds of a load are below 2^32"
    )]
    pub(super) fn whole_documents(&self) -> (Vec<usize>, Vec<u32>) {
        let mut documents = self.documents.clone();
        documents.dedup();
        let mut starts = Vec::with_capacity(documents.len() + 1);
        for (part, document) in self.documents.iter().enumerate() {
            if part == 0 || self.documents[part - 1] != *document {
                starts.push(part as u32);
            }
        }
        starts.push(self.parts.len() as u32);
        (documents, starts)
    }

    /// The list of items with its end, filled up with empty ones to whole rows of workgroups, and the
    /// numbers of workgroups in two dimensions.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the bounds of a load are below 2^32"
    )]
    pub(super) fn items(&self, shape: &Shape) -> (Vec<u32>, [u32; 2]) {
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

    fn shape(bounds: Bounds, row_slots: usize) -> Shape {
        Shape {
            bounds,
            row_slots,
            slot_bytes: 4,
        }
    }

    fn cut(shape: &Shape, document: &Document<'_>) -> Vec<(Load, Taken)> {
        let mut cut = Vec::new();
        let mut from = 0;
        while from < document.count {
            let mut load = Load::default();
            let taken = load.take(shape, 7, document, from, false).unwrap();
            from += taken.shingles;
            cut.push((load, taken));
        }
        assert_eq!(from, document.count);
        cut
    }

    #[test]
    fn pieces_cover_a_text_and_overlap_by_a_window() {
        let bounds = Bounds {
            input_bytes: 100,
            tile_bytes: 64,
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
        for (load, taken) in cut(&shape, &document) {
            assert_eq!(taken.bytes.start, next);
            assert_eq!(taken.bytes.len(), taken.shingles + 8);
            next += taken.shingles;
            assert!(load.parts.iter().all(|part| part[1] <= 16));
            let shingles: u32 = load.parts.iter().map(|part| part[1]).sum();
            assert_eq!(shingles as usize, taken.shingles);
            assert!(load.input_bytes <= 100);
        }
    }

    #[test]
    fn every_bound_ends_a_load() {
        let unbounded = Bounds::default();
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
    fn short_documents_share_an_item_and_workgroups_fill_rows() {
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
        for (i, count) in [5, 1, 1024, 1024, 1024, 1024, 7, 1024, 1024]
            .into_iter()
            .enumerate()
        {
            load.take(&shape, i, &document(count), 0, false).unwrap();
        }
        // A tile holds 2048, and 5 and 1 take 8 and 4 of it.
        let (items, groups) = load.items(&shape);
        assert_eq!(load.items, [0, 3, 5, 7]);
        assert_eq!((items, groups), (vec![0, 3, 5, 7, 9, 9, 9], [3, 2]));
    }
}
