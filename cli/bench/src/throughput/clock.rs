//! Time, and the current speed of the core.

use std::hint::black_box;
use std::time::Instant;

/// Times runs. Tests have a clock of their own.
pub(super) trait Clock: Sync {
    /// Seconds since a fixed moment.
    fn now_s(&self) -> f64;

    /// Runs a fixed loop of dependent instructions and returns its seconds, which show the clock rate of the core and
    /// its load by other programs.
    fn reference_s(&self) -> f64;
}

/// The monotonic clock of the system.
#[derive(Clone, Copy, Debug)]
pub(super) struct Monotonic {
    start: Instant,
}

impl Monotonic {
    /// A clock that starts at 0.
    pub(super) fn start() -> Self {
        Monotonic {
            start: Instant::now(),
        }
    }
}

/// Steps of the loop: half a millisecond at 3 GHz, with a product (three cycles) and an exclusive or (one) per step.
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
