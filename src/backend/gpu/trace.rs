//! Records when the threads of a channel sleep, and which loads wait to be sent meanwhile.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::device::lock;

/// What happened on a channel, in order: it is noted while the channel's state is locked.
#[derive(Debug, Default)]
pub(super) struct Trace(Mutex<Vec<(Instant, Event)>>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A full load is handed to the thread that sends.
    Handed,
    /// That thread begins to send a load.
    Taken,
    /// That thread falls asleep.
    SenderSleeps,
    SenderWakes,
    /// A thread that has documents falls asleep, since no load is open; so many slots are idle or may be made.
    FillerSleeps {
        free_slots: usize,
    },
    FillerWakes,
}

/// What a trace comes to.
#[derive(Debug, Default)]
pub(super) struct Summary {
    pub(super) loads: usize,
    pub(super) sleeps: usize,
    /// Sleeps that began although a load waited or a slot was free.
    pub(super) wrong_sleeps: usize,
    pub(super) asleep: Duration,
    /// How long the thread that sends slept on after a load was handed to it: what it takes to wake up.
    pub(super) waking: Duration,
}

impl Trace {
    pub(super) fn note(&self, event: Event) {
        lock(&self.0).push((Instant::now(), event));
    }

    pub(super) fn summary(&self) -> Summary {
        let mut summary = Summary::default();
        let mut waiting = 0;
        let mut asleep_since = None;
        let mut handed_asleep = None;
        for (at, event) in lock(&self.0).iter() {
            match *event {
                Event::Handed => {
                    waiting += 1;
                    if asleep_since.is_some() {
                        handed_asleep.get_or_insert(*at);
                    }
                }
                Event::Taken => {
                    waiting -= 1;
                    summary.loads += 1;
                }
                Event::SenderSleeps => {
                    summary.sleeps += 1;
                    summary.wrong_sleeps += usize::from(waiting > 0);
                    asleep_since = Some(*at);
                }
                Event::SenderWakes => {
                    let since = asleep_since.take().map(|since| at.duration_since(since));
                    summary.asleep += since.unwrap_or_default();
                    let since = handed_asleep.take().map(|since| at.duration_since(since));
                    summary.waking += since.unwrap_or_default();
                }
                Event::FillerSleeps { free_slots } => {
                    summary.sleeps += 1;
                    summary.wrong_sleeps += usize::from(free_slots > 0);
                }
                Event::FillerWakes => {}
            }
        }
        summary
    }
}
