//! Time and processor time of a run, and how much of this one thread alone spends.
//!
//! **What nobody marks is serial.** Serial is the processor time of the thread that executes a run, without what it spends
//! on work that the pool shares (`in_parallel`), and that of work which one other thread does beside it (`alone`). So a
//! section without a mark is counted too high, never too low. A mark costs two calls of the system, .3 µs each, and stands
//! around work on a chunk or on a list as a whole.

use std::cell::Cell;
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// A moment, from which the time of a run or of a stage is counted.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    at: Instant,
    /// The thread on which it was, and the processor time up to it; `None` where the system does not tell.
    cpu: Option<(ThreadId, CpuTime)>,
}

/// Processor time, of the user and of the system, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuTime {
    /// Of all threads of the process.
    pub total_s: f64,
    /// Of sections that one thread alone can be in, whether others work beside it or not.
    pub serial_s: f64,
}

impl Moment {
    /// This moment.
    pub fn now() -> Self {
        Moment {
            at: Instant::now(),
            cpu: CpuTime::so_far().map(|cpu| (thread::current().id(), cpu)),
        }
    }

    /// The time since.
    pub fn elapsed(&self) -> Duration {
        self.at.elapsed()
    }

    /// The processor time since; `None` on another thread than that of the moment, and outside of Linux and macOS.
    pub fn cpu_time(&self) -> Option<CpuTime> {
        let (thread, before) = self.cpu?;
        let now = CpuTime::so_far().filter(|_| thread::current().id() == thread)?;
        Some(now.without(before))
    }
}

impl CpuTime {
    /// That of this process and of this thread so far.
    fn so_far() -> Option<Self> {
        Some(CpuTime {
            total_s: seconds(Clock::Process)?,
            serial_s: seconds(Clock::Thread)? - SHARED.get().s,
        })
    }

    fn without(self, other: CpuTime) -> Self {
        CpuTime {
            total_s: (self.total_s - other.total_s).max(0.0),
            serial_s: (self.serial_s - other.serial_s).max(0.0),
        }
    }

    /// What is left of it without those of some stages; `None` if one of them is unknown.
    #[doc(hidden)]
    pub fn without_all(self, stages: impl Iterator<Item = Option<Self>>) -> Option<Self> {
        Some(self.without(CpuTime::sum(stages)?))
    }

    /// The sum; `None` if one is unknown.
    #[doc(hidden)]
    pub fn sum(times: impl Iterator<Item = Option<Self>>) -> Option<Self> {
        let mut sum = CpuTime::default();
        for time in times {
            let time = time?;
            sum.total_s += time.total_s;
            sum.serial_s += time.serial_s;
        }
        Some(sum)
    }
}

/// Does work that the threads of the pool share, and waits for them. What this thread spends on it is not serial.
#[doc(hidden)]
pub fn in_parallel<T>(work: impl FnOnce() -> T) -> T {
    let before = SHARED.get();
    if before.is_inside {
        return work();
    }
    SHARED.set(Shared {
        is_inside: true,
        ..before
    });
    let start_s = seconds(Clock::Thread);
    let _end = EndShared { before, start_s };
    work()
}

/// Does work that one thread does, perhaps beside that which executes the run, and returns what [`count_serial`] takes there.
#[doc(hidden)]
pub fn alone<T>(work: impl FnOnce() -> T) -> (T, Option<f64>) {
    let outside = SHARED.replace(Shared::default());
    let start_s = seconds(Clock::Thread);
    let result = work();
    let end_s = seconds(Clock::Thread);
    let shared_s = SHARED.replace(outside).s;
    let serial_s = start_s
        .zip(end_s)
        .map(|(start, end)| end - start - shared_s);
    (result, serial_s)
}

/// Adds serial time of another thread to that of this one.
#[doc(hidden)]
pub fn count_serial(s: Option<f64>) {
    let shared = SHARED.get();
    SHARED.set(Shared {
        s: shared.s - s.unwrap_or(0.0),
        ..shared
    });
}

thread_local! {
    static SHARED: Cell<Shared> = const { Cell::new(Shared { is_inside: false, s: 0.0 }) };
}

/// What a thread spent on shared work.
#[derive(Clone, Copy, Debug, Default)]
struct Shared {
    /// Whether it does so now.
    is_inside: bool,
    /// Its seconds of processor time, less serial ones of other threads.
    s: f64,
}

/// Ends shared work, even after a panic.
struct EndShared {
    before: Shared,
    start_s: Option<f64>,
}

impl Drop for EndShared {
    fn drop(&mut self) {
        let spent_s = self.start_s.zip(seconds(Clock::Thread));
        let spent_s = spent_s.map_or(0.0, |(start, end)| end - start);
        SHARED.set(Shared {
            s: self.before.s + spent_s,
            ..self.before
        });
    }
}

/// Whose processor time is asked for.
#[derive(Clone, Copy, Debug)]
enum Clock {
    Process,
    Thread,
}

/// The processor time so far in seconds; `None` if unknown.
#[cfg(any(target_os = "linux", target_os = "macos"))]
fn seconds(of: Clock) -> Option<f64> {
    use rustix::time::{ClockId, clock_gettime};

    let time = clock_gettime(match of {
        Clock::Process => ClockId::ProcessCPUTime,
        Clock::Thread => ClockId::ThreadCPUTime,
    });
    Duration::try_from(time).ok().map(|time| time.as_secs_f64())
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn seconds(_: Clock) -> Option<f64> {
    None
}

#[cfg(test)]
#[cfg(any(target_os = "linux", target_os = "macos"))]
mod tests {
    use super::*;

    /// Spends so many seconds of processor time.
    fn spend(s: f64) {
        let start = seconds(Clock::Thread).unwrap();
        while seconds(Clock::Thread).unwrap() < start + s {}
    }

    /// Whether it is this time, about. Other tests run beside, so that the total is no less.
    fn is_about(time: CpuTime, serial_s: f64, total_s: f64) -> bool {
        (serial_s..serial_s + 0.009).contains(&time.serial_s) && time.total_s >= total_s
    }

    #[test]
    fn shared_work_is_not_serial() {
        let start = Moment::now();
        spend(0.01);
        in_parallel(|| {
            spend(0.01);
            in_parallel(|| spend(0.01));
        });
        let time = start.cpu_time().unwrap();
        assert!(is_about(time, 0.01, 0.03), "{time:?}");
    }

    #[test]
    fn work_alone_is_serial_wherever_it_is() {
        let start = Moment::now();
        let work = || {
            alone(|| {
                in_parallel(|| spend(0.01));
                spend(0.01);
            })
        };
        count_serial(thread::spawn(work).join().unwrap().1);
        // A thread that helps others begins it.
        count_serial(in_parallel(work).1);
        let time = start.cpu_time().unwrap();
        assert!(is_about(time, 0.02, 0.04), "{time:?}");
        assert!(
            thread::spawn(move || start.cpu_time())
                .join()
                .unwrap()
                .is_none()
        );
    }
}
