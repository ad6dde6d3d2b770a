//! The way to a device and back: threads fill loads together, and a thread of its own sends them and waits for the rows.
//!
//! A load is open until it is full, or until its rows are wanted while the device has nothing else to do. A thread that
//! has written its documents goes on: it copies them without a lock, and never waits for a driver, of which some submit
//! nothing before the last submission has ended. It waits only where all slots are under way.
//!
//! **Why together.** Loads of each thread's own would be small, or hold up the numbering. Up to six loads are under
//! way; they grow from 8 to 64 MiB as long as one takes less than 2 ms.
//!
//! **One thread sends and receives.** wgpu frees the buffers of a lost device, mapped or not, when it is polled: only
//! this thread polls, and it copies rows before it polls again. A lock keeps out the threads of other schemes on the
//! same device. The thread polls briefly and sleeps in between, at most 0.2 ms, and a load that is handed over wakes
//! it (`trace` checks that it never sleeps while a load can be sent).
//!
//! **Input travels through wgpu's own staging memory**, which survives a loss, so that it is written without a lock.
//! Rings of mapped buffers were tried: to write to them needs the lock that polling takes.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::device::{Attempt, Device, Failure, lock};
use super::load::{Document, Load, LoadShape};
use super::slot::{Dispatch, SentSlot, Slot, WRITE_ALIGNMENT, Written};
#[cfg(test)]
use super::trace::{Event, Trace};
use crate::pipeline::DeviceUse;

/// The way to a device for one scheme. Dropping it ends the thread that waits.
pub(super) struct Channel(Arc<Shared>);

/// What the threads that fill loads and the one that sends them share.
struct Shared {
    device: Arc<Device>,
    coefficients: wgpu::Buffer,
    shape: LoadShape,
    state: Mutex<ChannelState>,
    /// A load came back or failed, or a slot is free.
    changed: Condvar,
    /// A load may be sent, or the channel is dropped.
    may_send: Condvar,
    counts: SentCounts,
    /// Loads until a test has the device lost.
    loads_until_loss: Option<AtomicU32>,
    #[cfg(test)]
    trace: Trace,
}

#[derive(Default)]
struct ChannelState {
    idle: Vec<Slot>,
    /// The number of slots, idle or not.
    made: usize,
    /// The load that threads fill.
    open: Option<Filling>,
    /// Full loads that a thread still writes into.
    closing: Vec<Filling>,
    /// Full loads to send.
    full: VecDeque<Filling>,
    /// The number of loads to send or sent, whose rows are not back.
    under_way: usize,
    /// The thread that sends, once there is one.
    sender: Option<JoinHandle<()>>,
    is_dropped: bool,
    /// Memory for rows, to use again.
    spare_rows: Vec<Vec<u64>>,
    /// How many times the least size loads have.
    scale: usize,
}

/// What was sent.
#[derive(Default)]
struct SentCounts {
    loads: AtomicU64,
    text_bytes: AtomicU64,
    hash_bytes: AtomicU64,
    most_under_way: AtomicUsize,
}

/// A load that is being filled.
struct Filling {
    slot: Slot,
    load: Load,
    dispatch: Dispatch,
    /// Threads that write into it.
    writers: usize,
    /// What they have written.
    input: Vec<Written>,
    result: Arc<LoadResult>,
    /// A write that failed.
    failure: Option<Failure>,
}

/// A load in flight.
struct InFlight {
    sent: SentSlot,
    result: Arc<LoadResult>,
    /// Bytes of input, and of the largest input.
    filled: (usize, usize),
    since: Instant,
}

/// The rows of a load, once they are back.
struct LoadResult {
    rows: OnceLock<Attempt<Vec<u64>>>,
    shared: Arc<Shared>,
}

impl Drop for LoadResult {
    fn drop(&mut self) {
        if let Some(Ok(rows)) = self.rows.take() {
            self.shared.lock().spare_rows.push(rows);
        }
    }
}

/// Documents that were sent together.
pub(super) struct Sent {
    segments: Vec<LoadSegment>,
    /// The documents that the CPU has to sign.
    pub(super) left: Vec<usize>,
    /// Why, if the device failed.
    pub(super) failure: Option<Failure>,
}

/// Those of them that travel in one load.
struct LoadSegment {
    result: Arc<LoadResult>,
    first_row: usize,
    row_bytes: usize,
    /// The document of each row.
    documents: Vec<u32>,
}

/// Stands for a document of which not all pieces were sent.
const NO_DOCUMENT: u32 = u32::MAX;

/// What to write where.
struct Writing<'a> {
    at: usize,
    strings: Vec<&'a [u8]>,
}

/// Loads grow until one takes so long: then what it costs to send one is small.
const LONG_ENOUGH: Duration = Duration::from_millis(2);

/// How many times the least size loads have at most.
const MOST_SCALE: usize = 8;

/// Loads of fewer bytes are those of a test, and keep their size.
const LEAST_GROWING: usize = 1 << 20;

/// The thread that sends looks for finished loads this often at first, and while nothing comes back this often.
const PAUSES: [Duration; 2] = [Duration::from_micros(20), Duration::from_micros(200)];

/// The shingle that comes next into a load.
#[derive(Clone, Copy, Debug, Default)]
struct NextShingle {
    document: usize,
    shingle: usize,
}

impl NextShingle {
    fn first_of(document: usize) -> Self {
        NextShingle {
            document,
            shingle: 0,
        }
    }
}

impl Channel {
    pub(super) fn new(
        device: Arc<Device>,
        coefficients: wgpu::Buffer,
        shape: LoadShape,
        loads_until_loss: Option<u32>,
    ) -> Self {
        Channel(Arc::new(Shared {
            device,
            coefficients,
            shape,
            state: Mutex::new(ChannelState {
                scale: 1,
                ..ChannelState::default()
            }),
            changed: Condvar::new(),
            may_send: Condvar::new(),
            counts: SentCounts::default(),
            loads_until_loss: loads_until_loss.map(AtomicU32::new),
            #[cfg(test)]
            trace: Trace::default(),
        }))
    }

    /// When threads slept so far.
    #[cfg(test)]
    pub(super) fn summary(&self) -> super::trace::Summary {
        self.0.trace.summary()
    }

    /// What the device got so far.
    pub(super) fn device_use(&self) -> DeviceUse {
        let SentCounts {
            loads,
            text_bytes,
            hash_bytes,
            most_under_way,
        } = &self.0.counts;
        DeviceUse {
            device: self.0.device.name.clone(),
            loads: loads.load(Ordering::Relaxed),
            most_loads_in_flight: most_under_way.load(Ordering::Relaxed),
            text_bytes: text_bytes.load(Ordering::Relaxed),
            hash_bytes: hash_bytes.load(Ordering::Relaxed),
            failure: self.0.device.failure().map(|failure| failure.to_string()),
        }
    }

    /// Forgets what the device got so far: loads of a measurement are no part of a run.
    pub(super) fn forget_use(&self) {
        let counts = &self.0.counts;
        counts.most_under_way.store(0, Ordering::Relaxed);
        for sent in [&counts.loads, &counts.text_bytes, &counts.hash_bytes] {
            sent.store(0, Ordering::Relaxed);
        }
    }

    /// Makes the buffers of one load.
    pub(super) fn slot(&self) -> Attempt<Slot> {
        Slot::new(&self.0.device, self.0.shape, &self.0.coefficients)
    }

    /// Sends documents; `None` stands for one that the CPU has to sign. Waits where all slots are in flight, unless the
    /// CPU takes the rest (`is_hybrid`).
    pub(super) fn send(
        &self,
        documents: &[Option<Document<'_>>],
        dispatch: &Dispatch,
        is_hybrid: bool,
    ) -> Sent {
        let shared = &self.0;
        let mut sent = Sent {
            segments: Vec::new(),
            left: Vec::new(),
            failure: None,
        };
        let mut next = NextShingle::default();
        while next.document < documents.len() {
            let (writing, segment) = {
                let state = match shared.open(dispatch, is_hybrid) {
                    Ok(Some(state)) => state,
                    other => {
                        sent.give_up(next.document);
                        sent.left.extend(next.document..documents.len());
                        sent.failure = other.err();
                        break;
                    }
                };
                shared.fill(state, documents, &mut next, &mut sent.left)
            };
            if let Some(writing) = writing {
                shared.write(&segment.result, &writing);
            }
            if !segment.documents.is_empty() {
                sent.segments.push(segment);
            }
        }
        let is_missing = |i: &usize| documents[*i].is_none_or(|document| document.count > 0);
        sent.left.retain(is_missing);
        sent
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.is_dropped = true;
        // Nobody wants these rows. A slot keeps nothing alive that would keep the channel alive.
        state.open = None;
        state.closing.clear();
        state.idle.clear();
        let sender = state.sender.take();
        drop(state);
        self.0.may_send.notify_all();
        // A thread that frees buffers while the process ends calls a driver that has ended: NVIDIA's then crashes. A
        // device that hangs may never let its thread go.
        if !matches!(self.0.device.failure(), Some(Failure::Hung(_))) {
            // A panic of the thread was printed, and its rows are missing already.
            let _ = sender.map(JoinHandle::join);
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, ChannelState> {
        lock(&self.state)
    }

    /// Waits until something changes. If nothing does for so long, the device hangs, or this is a forked process, which
    /// has no thread that sends.
    fn wait<'g>(
        &self,
        state: MutexGuard<'g, ChannelState>,
    ) -> Attempt<MutexGuard<'g, ChannelState>> {
        // The thread that sends has half the limit.
        let limit = self.shape.bounds.timeout.saturating_mul(2);
        let waited = self.changed.wait_timeout(state, limit.max(PAUSES[1]));
        let (state, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() {
            Err(self.device.give_up(&Failure::Hung(limit)))
        } else {
            Ok(state)
        }
    }

    /// The state with an open load for this dispatch. `None` if the CPU shall go on instead.
    fn open(
        self: &Arc<Self>,
        dispatch: &Dispatch,
        is_hybrid: bool,
    ) -> Attempt<Option<MutexGuard<'_, ChannelState>>> {
        let mut state = self.lock();
        loop {
            if let Some(failure) = self.device.failure() {
                return Err(failure);
            }
            if let Some(open) = &state.open {
                if open.dispatch.is_same(dispatch) {
                    return Ok(Some(state));
                }
                self.close(&mut state);
                continue;
            }
            match self.take_slot(&mut state)? {
                Some(slot) => {
                    state.open = Some(Filling {
                        slot,
                        load: Load::default(),
                        dispatch: dispatch.clone(),
                        writers: 0,
                        input: Vec::new(),
                        result: Arc::new(LoadResult {
                            rows: OnceLock::new(),
                            shared: Arc::clone(self),
                        }),
                        failure: None,
                    });
                }
                None if is_hybrid => return Ok(None),
                None => {
                    #[cfg(test)]
                    self.trace.note(Event::FillerSleeps {
                        free_slots: state.idle.len() + self.shape.bounds.loads - state.made,
                    });
                    state = self.wait(state)?;
                    #[cfg(test)]
                    self.trace.note(Event::FillerWakes);
                }
            }
        }
    }

    /// Takes an idle slot of the size that loads have now, or makes one; `None` if all are in use.
    fn take_slot(&self, state: &mut ChannelState) -> Attempt<Option<Slot>> {
        let shape = self.shape.scaled(state.scale);
        while let Some(slot) = state.idle.pop() {
            if slot.shape.bounds.input_bytes == shape.bounds.input_bytes {
                return Ok(Some(slot));
            }
            state.made -= 1;
        }
        if state.made >= self.shape.bounds.loads {
            return Ok(None);
        }
        match Slot::new(&self.device, shape, &self.coefficients) {
            Ok(slot) => {
                state.made += 1;
                Ok(Some(slot))
            }
            // Without memory for more, the existing ones must do.
            Err(Failure::OutOfMemory) if state.made > 0 => Ok(None),
            Err(Failure::OutOfMemory) if state.scale > 1 => {
                state.scale = 1;
                self.take_slot(state)
            }
            Err(failure) => Err(failure),
        }
    }

    /// Adds documents to the open load from `next` on, as many as fit, and closes it if it is full.
    fn fill<'d>(
        self: &Arc<Self>,
        mut state: MutexGuard<'_, ChannelState>,
        documents: &[Option<Document<'d>>],
        next: &mut NextShingle,
        left: &mut Vec<usize>,
    ) -> (Option<Writing<'d>>, LoadSegment) {
        let Some(Filling {
            slot,
            load,
            dispatch,
            writers,
            result,
            ..
        }) = &mut state.open
        else {
            unreachable!("the caller opened a load")
        };
        let shape = &slot.shape;
        let is_whole = dispatch.key_pass.is_some();
        let mut segment = LoadSegment {
            result: Arc::clone(result),
            first_row: dispatch.rows(load),
            row_bytes: dispatch.row_bytes(shape),
            documents: Vec::new(),
        };
        let mut writing = Writing {
            at: load.align(WRITE_ALIGNMENT),
            strings: Vec::new(),
        };
        let mut is_full = false;
        while next.document < documents.len() && !is_full {
            let NextShingle {
                document: index,
                shingle: from,
            } = *next;
            let Some(document) = documents[index].filter(|document| document.count > 0) else {
                left.push(index);
                *next = NextShingle::first_of(index + 1);
                continue;
            };
            if is_whole && Load::default().room(shape, &document) < document.count {
                // A row needs the whole document, which fits no load.
                left.push(index);
                *next = NextShingle::first_of(index + 1);
                continue;
            }
            let rows_before = dispatch.rows(load);
            match load.add(shape, &document, from, is_whole) {
                Some(added) => {
                    let new_rows = dispatch.rows(load) - rows_before;
                    #[allow(clippy::cast_possible_truncation, reason = "rows of a batch in memory")]
                    let rows = std::iter::repeat_n(index as u32, new_rows);
                    segment.documents.extend(rows);
                    writing.strings.push(&document.bytes[added.bytes]);
                    *next = match from + added.shingles {
                        end if end == document.count => NextShingle::first_of(index + 1),
                        end => NextShingle {
                            document: index,
                            shingle: end,
                        },
                    };
                }
                None => is_full = true,
            }
        }
        let has_text = !writing.strings.is_empty();
        *writers += usize::from(has_text);
        if is_full {
            self.close(&mut state);
        }
        (has_text.then_some(writing), segment)
    }

    /// Closes the open load: it is sent as soon as no thread writes into it.
    fn close(self: &Arc<Self>, state: &mut ChannelState) {
        match state.open.take() {
            Some(open) if open.writers > 0 => state.closing.push(open),
            Some(open) => self.hand_over(state, open),
            None => {}
        }
    }

    /// Writes documents into their load.
    fn write(self: &Arc<Self>, result: &Arc<LoadResult>, writing: &Writing<'_>) {
        let input = self
            .filling(&mut self.lock(), result)
            .map(|own| own.slot.input());
        let Some(input) = input else { return };
        let strings = writing.strings.iter().copied();
        let written = input.write(&self.device, writing.at, strings);
        let mut state = self.lock();
        let Some(own) = self.filling(&mut state, result) else {
            return;
        };
        own.writers -= 1;
        match written {
            Ok(written) => own.input.push(written),
            Err(failure) => own.failure = Some(failure),
        }
        let is_last = own.writers == 0;
        let mut closing = state.closing.iter();
        let at = closing.position(|filling| Arc::ptr_eq(&filling.result, result));
        if let Some(at) = at.filter(|_| is_last) {
            let full = state.closing.swap_remove(at);
            self.hand_over(&mut state, full);
        }
    }

    /// The load with this result, which a thread still writes into.
    fn filling<'s>(
        &self,
        state: &'s mut ChannelState,
        result: &Arc<LoadResult>,
    ) -> Option<&'s mut Filling> {
        let mut filling = state.open.iter_mut().chain(&mut state.closing);
        filling.find(|filling| Arc::ptr_eq(&filling.result, result))
    }

    /// Hands a load that nobody writes into to the thread that sends.
    fn hand_over(self: &Arc<Self>, state: &mut ChannelState, full: Filling) {
        if full.load.is_empty() {
            state.idle.push(full.slot);
            self.changed.notify_all();
            return;
        }
        state.full.push_back(full);
        #[cfg(test)]
        self.trace.note(Event::Handed);
        state.under_way += 1;
        self.counts
            .most_under_way
            .fetch_max(state.under_way, Ordering::Relaxed);
        if state.sender.is_none() {
            let shared = Arc::clone(self);
            let thread = thread::Builder::new().name("simgpu-device".to_owned());
            match thread.spawn(move || shared.send_and_receive()) {
                Ok(sender) => state.sender = Some(sender),
                Err(error) => {
                    let failure = Failure::Refused(format!("no thread can send: {error}"));
                    let failure = self.device.give_up(&failure);
                    for lost in std::mem::take(&mut state.full) {
                        let _ = lost.result.rows.set(Err(failure.clone()));
                    }
                    state.under_way = 0;
                }
            }
        }
        self.may_send.notify_all();
    }

    /// Waits for the rows of a load. Sends it if it is open, and the device has nothing else to do.
    fn wait_for(self: &Arc<Self>, result: &Arc<LoadResult>) -> Attempt<()> {
        let mut state = self.lock();
        while result.rows.get().is_none() {
            let is_open = state.open.as_ref();
            let is_open = is_open.is_some_and(|open| Arc::ptr_eq(&open.result, result));
            let is_idle = state.under_way == 0 || self.device.failure().is_some();
            if is_open && is_idle {
                self.close(&mut state);
            } else {
                state = self.wait(state)?;
            }
        }
        Ok(())
    }

    /// Sends full loads, and receives their rows in the same order, until the channel is dropped.
    fn send_and_receive(&self) {
        let mut in_flight: VecDeque<InFlight> = VecDeque::new();
        let mut last_done = Instant::now();
        let mut pause = PAUSES[0];
        loop {
            let full = {
                let mut state = self.lock();
                while in_flight.is_empty() && state.full.is_empty() {
                    if state.is_dropped {
                        return;
                    }
                    state = self.sleep(state, None);
                }
                let full = state.full.pop_front();
                #[cfg(test)]
                full.iter().for_each(|_| self.trace.note(Event::Taken));
                full
            };
            let has_sent = full.is_some();
            if let Some(full) = full {
                in_flight.extend(self.send(full));
            }
            self.device.poll();
            let Some(first) = in_flight.front_mut() else {
                continue;
            };
            match self.outcome(first, last_done) {
                Some(outcome) => {
                    if let Some(first) = in_flight.pop_front() {
                        let begun = first.since.max(last_done);
                        self.receive(first, outcome, begun);
                    }
                    last_done = Instant::now();
                    pause = PAUSES[0];
                }
                None if has_sent => {}
                None => {
                    // wgpu has no wait during which it is safe to read mapped memory elsewhere.
                    let state = self.lock();
                    if state.full.is_empty() {
                        drop(self.sleep(state, Some(pause)));
                        pause = (pause * 2).min(PAUSES[1]);
                    }
                }
            }
        }
    }

    /// Has the thread that sends sleep until there may be a load to send, or for a pause.
    fn sleep<'g>(
        &self,
        state: MutexGuard<'g, ChannelState>,
        pause: Option<Duration>,
    ) -> MutexGuard<'g, ChannelState> {
        #[cfg(test)]
        self.trace.note(Event::SenderSleeps);
        let state = match pause {
            None => self.may_send.wait(state),
            Some(pause) => match self.may_send.wait_timeout(state, pause) {
                Ok((state, _)) => Ok(state),
                Err(poisoned) => Ok(poisoned.into_inner().0),
            },
        };
        #[cfg(test)]
        self.trace.note(Event::SenderWakes);
        state.unwrap_or_else(PoisonError::into_inner)
    }

    /// What became of a load: `None` as long as the device is at it.
    fn outcome(&self, load: &mut InFlight, last_done: Instant) -> Option<Attempt<()>> {
        let timeout = self.shape.bounds.timeout;
        if load.sent.is_done() {
            Some(Ok(()))
        } else if let Some(failure) = self.device.failure() {
            Some(Err(failure))
        } else if load.since.max(last_done).elapsed() >= timeout {
            Some(Err(self.device.give_up(&Failure::Hung(timeout))))
        } else {
            None
        }
    }

    /// Sends a load.
    fn send(&self, full: Filling) -> Option<InFlight> {
        let Filling {
            slot,
            load,
            dispatch,
            input,
            result,
            failure,
            ..
        } = full;
        let filled = (load.input_bytes, slot.shape.bounds.input_bytes);
        let sent = match failure {
            None => slot.send(&self.device, &load, input, &dispatch),
            Some(failure) => Err(failure),
        };
        let sent = match sent {
            Ok(sent) => sent,
            Err(failure) => {
                self.end(&result, Err(failure), None);
                return None;
            }
        };
        self.counts.loads.fetch_add(1, Ordering::Relaxed);
        let bytes = if load.is_text() {
            &self.counts.text_bytes
        } else {
            &self.counts.hash_bytes
        };
        bytes.fetch_add(load.input_bytes as u64, Ordering::Relaxed);
        if let Some(loads) = &self.loads_until_loss
            && loads.fetch_sub(1, Ordering::Relaxed) == 1
        {
            self.device.lose();
        }
        Some(InFlight {
            sent,
            result,
            filled,
            since: Instant::now(),
        })
    }

    /// Receives a load that came back, or failed.
    fn receive(&self, load: InFlight, outcome: Attempt<()>, begun: Instant) {
        let InFlight {
            sent,
            result,
            filled: (filled, most),
            ..
        } = load;
        let mut rows = self.lock().spare_rows.pop().unwrap_or_default();
        match outcome.and_then(|()| sent.receive(&self.device, &mut rows)) {
            Ok(slot) => {
                let is_full = most >= LEAST_GROWING && filled >= most / 4 * 3;
                if is_full && begun.elapsed() < LONG_ENOUGH {
                    let mut state = self.lock();
                    let scale = (2 * state.scale).min(MOST_SCALE);
                    if self.shape.scaled(scale).fits(&self.device.limits) {
                        state.scale = scale;
                    }
                }
                self.end(&result, Ok(rows), Some(slot));
            }
            Err(failure) => self.end(&result, Err(failure), None),
        }
    }

    /// Ends a load: with its rows and its slot, or with a failure.
    fn end(&self, result: &LoadResult, rows: Attempt<Vec<u64>>, slot: Option<Slot>) {
        let rows = rows.map_err(|failure| self.device.give_up(&failure));
        let mut state = self.lock();
        state.under_way -= 1;
        match slot {
            Some(slot) => state.idle.push(slot),
            None => state.made -= 1,
        }
        let _ = result.rows.set(rows);
        drop(state);
        self.changed.notify_all();
    }
}

impl Sent {
    /// Leaves all documents to the CPU.
    pub(super) fn none(documents: &[Option<Document<'_>>], failure: &Failure) -> Self {
        let all = 0..documents.len();
        let has_shingles = |i: &usize| documents[*i].is_none_or(|document| document.count > 0);
        Sent {
            segments: Vec::new(),
            left: all.filter(has_shingles).collect(),
            failure: Some(failure.clone()),
        }
    }

    /// Ignores the rows of a document of which not all pieces are sent.
    fn give_up(&mut self, document: usize) {
        for segment in &mut self.segments {
            let rows = segment.documents.iter_mut();
            let same_document = rows.filter(|of| **of as usize == document);
            same_document.for_each(|of| *of = NO_DOCUMENT);
        }
    }

    /// Whether all rows are back.
    pub(super) fn is_ready(&self) -> bool {
        let mut segments = self.segments.iter();
        segments.all(|segment| segment.result.rows.get().is_some())
    }

    /// Waits for the rows, and passes each with the number of its document to `take`. A long document may have several.
    /// The documents of loads that failed are `left` then.
    pub(super) fn collect(&mut self, mut take: impl FnMut(usize, &[u8])) {
        for segment in std::mem::take(&mut self.segments) {
            let LoadSegment {
                result,
                first_row,
                row_bytes,
                documents,
            } = segment;
            let waited = result.shared.wait_for(&result);
            let rows = waited.and_then(|()| match result.rows.get() {
                Some(Ok(rows)) => Ok(rows),
                Some(Err(failure)) => Err(failure.clone()),
                None => Err(Failure::Lost(String::new())),
            });
            match rows {
                Ok(rows) => {
                    let bytes: &[u8] = bytemuck::cast_slice(rows);
                    let rows = bytes.chunks_exact(row_bytes).skip(first_row);
                    for (document, row) in documents.iter().zip(rows) {
                        if *document != NO_DOCUMENT {
                            take(*document as usize, row);
                        }
                    }
                }
                Err(failure) => {
                    let failed = documents.iter().filter(|of| **of != NO_DOCUMENT);
                    self.left.extend(failed.map(|document| *document as usize));
                    self.failure.get_or_insert(failure);
                }
            }
        }
        self.left.sort_unstable();
        self.left.dedup();
    }
}
