//! Time, and how fast the core is while it passes.

use std::hint::black_box;
use std::time::Instant;

/// What runs are timed by. Tests have one that goes by itself.
pub(super) trait Clock: Sync {
    /// Seconds since a moment that stays the same.
    fn now_s(&self) -> f64;

    /// Runs a fixed loop of dependent instructions, and gives the seconds that it took: the clock of the core,
    /// and what others take of it.
    fn reference_s(&self) -> f64;
}

/// The clock of the system, which never goes back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Monotonic {
    start: Instant,
}

impl Monotonic {
    /// A clock that begins at 0.
    pub(super) fn start() -> Self {
        Monotonic {
            start: Instant::now(),
        }
    }
}

/// Steps of the loop: half a millisecond at 3 GHz, with a product of three cycles and a sum of one in each.
const STEPS: u32 = 400_000;

impl Clock for Monotonic {
    fn now_s(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    fn reference_s(&self) -> f64 {
        let start = self.now_s();
        let mut x = black_box(1u64);
        for _ in 0..STEPS {
            x = x.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD6E8_FEB8;
        }
        black_box(x);
        self.now_s() - start
    }
}
