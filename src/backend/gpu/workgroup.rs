//! How the threads of a workgroup share permutations and shingles.
//!
//! **A workgroup has slices.** A slice has a thread for each four permutations of a block; the slices share the
//! shingles of a long document, tile by tile, or take the documents of a run of short ones. So a document of up to 32
//! Ki shingles has one row, any number of permutations fills the lanes (87 % at 260, all at 64 and 128), and an RDNA3
//! holds 16 of 16 waves; with one warp per workgroup it held 4. All slices loop alike, because the tile is filled with
//! repeats: NVK's code took a third more where they left the loop at different turns.

/// Permutations per thread, and shingles that a shader loads at a time.
pub(super) const QUAD: usize = 4;

/// The threads of a workgroup that signs. A slice has a thread for each four permutations of a block; the slices share
/// the shingles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Workgroup {
    pub(super) threads: u32,
    pub(super) slice_threads: u32,
    pub(super) slices: u32,
    /// Blocks of permutations, one per workgroup.
    pub(super) blocks: u32,
}

/// Threads that devices run together: 32 on most, 64 on some.
const WARP: u32 = 32;

/// Threads per workgroup at which devices hold as many workgroups as threads: with 32, an RDNA3 holds 4 of 16 waves.
const THREADS: u32 = 128;

impl Workgroup {
    /// The workgroup in which the fewest threads are idle, of at most `most` threads.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "there are at most 2^14 permutations"
    )]
    pub(super) fn new(row_slots: usize, most: u32) -> Self {
        let quads = (row_slots / QUAD) as u32;
        let most = most.clamp(1, 2 * THREADS);
        let blocks = quads.div_ceil(most.min(THREADS));
        let slice_threads = quads.div_ceil(blocks);
        let with_threads = |threads| Workgroup {
            threads,
            slice_threads,
            slices: threads / slice_threads,
            blocks,
        };
        let least = slice_threads.next_multiple_of(WARP);
        let all = (least..=most).step_by(WARP as usize).map(with_threads);
        let is_better = |one: &Workgroup, other: &Workgroup| {
            let [one_threads, other_threads] =
                [one, other].map(|it| u64::from(it.slices * slice_threads));
            let busy = one_threads * u64::from(other.threads);
            let busy_of_other = other_threads * u64::from(one.threads);
            let distance = |it: &Workgroup| it.threads.abs_diff(THREADS);
            (busy, distance(other)) > (busy_of_other, distance(one))
        };
        let best = all.reduce(|best, next| if is_better(&next, &best) { next } else { best });
        best.unwrap_or_else(|| with_threads(most.max(slice_threads)))
    }

    /// The slots of a block.
    #[allow(clippy::cast_possible_truncation, reason = "a quad is four")]
    pub(super) fn slots(self) -> u32 {
        self.slice_threads * QUAD as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_threads_are_idle() {
        for (num_perm, threads, slices, blocks) in [
            (128, 128, 4, 1),
            (64, 128, 8, 1),
            (16, 128, 32, 1),
            (4, 128, 128, 1),
            (112, 224, 8, 1),
            (256, 128, 2, 1),
            (260, 224, 3, 1),
            (512, 128, 1, 1),
            (520, 224, 3, 2),
            (1 << 14, 128, 1, 32),
        ] {
            let workgroup = Workgroup::new(num_perm, 256);
            let is = (workgroup.threads, workgroup.slices, workgroup.blocks);
            assert_eq!(is, (threads, slices, blocks), "{num_perm}");
            assert!(workgroup.slots() as usize * workgroup.blocks as usize >= num_perm);
            assert!(workgroup.slice_threads * workgroup.slices <= workgroup.threads);
        }
    }

    #[test]
    fn small_devices_take_smaller_workgroups() {
        for most in [1, 2, 31, 64, 100] {
            for num_perm in [4, 128, 260, 4096] {
                let workgroup = Workgroup::new(num_perm, most);
                assert!(workgroup.threads <= most, "{most} {num_perm}");
                assert!(workgroup.slices >= 1, "{most} {num_perm}");
                assert!(workgroup.slots() as usize * workgroup.blocks as usize >= num_perm);
            }
        }
    }
}
