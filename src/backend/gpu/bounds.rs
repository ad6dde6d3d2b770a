//! Limits of what is sent to a device at a time.

use std::time::Duration;

use super::workgroup::{QUAD, Workgroup};

/// Limits of one load, and how long it may take.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Shingles or text, in bytes.
    pub input_bytes: usize,
    /// Rows that are written, in bytes.
    pub row_bytes: usize,
    /// Number of parts.
    pub parts: usize,
    /// Updates, that is shingles times permutations: the driver of a display ends work that lasts seconds.
    pub updates: u64,
    /// Bytes of shingle hashes that a workgroup stages.
    pub tile_bytes: usize,
    /// Shingles of a part, at most: a longer document has several rows.
    pub part_shingles: usize,
    /// Workgroups in one dimension.
    pub groups: u32,
    /// Loads in flight at a time.
    pub loads: usize,
    /// Time until a load counts as failed.
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
            part_shingles: 32 << 10,
            groups: u32::MAX,
            loads: 6,
            timeout: Duration::from_secs(60),
        }
    }
}

impl Bounds {
    /// Narrows the limits to what a device allows, for rows of `row_bytes` and hashes of `hash_bytes`.
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
        workgroup: Workgroup,
    ) -> Self {
        let binding = limits.max_storage_buffer_binding_size as usize;
        let buffer = limits.max_buffer_size as usize;
        // A part and its item fill 20 bytes, and a third of a buffer is room for them.
        let parts = self.parts.min(buffer / 64).min(binding / 16).max(1);
        let input = self.input_bytes.min(buffer / 4).min(binding - 16);
        let least_quads = workgroup.threads.max(2 * workgroup.slices);
        let tile = self
            .tile_bytes
            .min(limits.max_compute_workgroup_storage_size as usize);
        Bounds {
            input_bytes: input.max(4 * QUAD * hash_bytes),
            row_bytes: self.row_bytes.min(buffer).min(binding).max(row_bytes),
            parts,
            // Each thread has a place in the tile, and each slice two.
            tile_bytes: tile.max(least_quads as usize * QUAD * hash_bytes),
            part_shingles: self.part_shingles.max(1),
            groups: self
                .groups
                .min(limits.max_compute_workgroups_per_dimension)
                .max(1),
            loads: self.loads.max(1),
            // Software is slow, but no driver ends its work.
            timeout: if is_software {
                self.timeout.saturating_mul(10)
            } else {
                self.timeout
            },
            ..self
        }
    }
}
