//! The way to a device and back: threads fill loads together, and a thread of its own waits for what comes back.
//!
//! A load is open until it is full, or until its rows are wanted while the device has nothing else to do. A thread that
//! has written its documents goes on; nobody holds a lock while bytes are copied, but the one that keeps wgpu from freeing
//! them: it frees all memory of a lost device when it is polled.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::device::{Attempt, Device, Failure, lock};
use super::load::{Document, Load, LoadShape};
use super::slot::{Dispatch, SentSlot, Slot, WRITE_ALIGNMENT};
use crate::pipeline::DeviceUse;

/// The way to a device for one scheme. Dropping it ends the thread that waits.
pub(super) struct Link(Arc<Shared>);

/// What the threads that send and the one that waits share.
struct Shared {
    device: Arc<Device>,
    coefficients: wgpu::Buffer,
    shape: LoadShape,
    state: Mutex<State>,
    /// A load came back or was sent, or a slot is free.
    changed: Condvar,
    /// A load was sent, or the link is dropped.
    sent: Condvar,
    counts: Counts,
    /// Loads until a test has the device lost.
    loads_until_loss: Option<AtomicU32>,
}

#[derive(Default)]
struct State {
    idle: Vec<Slot>,
    /// The number of slots, idle or not.
    made: usize,
    /// The load that threads fill.
    open: Option<Filling>,
    /// Full loads that a thread still writes into.
    closing: Vec<Filling>,
    in_flight: VecDeque<InFlight>,
    /// The number of loads in flight; the waiting thread takes the first one out of the queue meanwhile.
    under_way: usize,
    has_waiter: bool,
    is_dropped: bool,
    /// Memory for rows, to use again.
    spare_rows: Vec<Vec<u64>>,
    /// How many times the least size loads have.
    scale: usize,
    numbers: u64,
}

/// What was sent.
#[derive(Default)]
struct Counts {
    loads: AtomicU64,
    text_bytes: AtomicU64,
    hash_bytes: AtomicU64,
    most_under_way: AtomicUsize,
}

/// A load that is being filled.
struct Filling {
    number: u64,
    slot: Slot,
    load: Load,
    dispatch: Dispatch,
    /// Threads that write into it.
    writers: usize,
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
    number: u64,
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
    segments: Vec<Segment>,
    /// The documents that the CPU has to sign.
    pub(super) left: Vec<usize>,
    /// Why, if the device failed.
    pub(super) failure: Option<Failure>,
}

/// Those of them that travel in one load.
struct Segment {
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

/// The waiting thread looks for finished loads this often at first, and while nothing comes back this often.
const PAUSES: [Duration; 2] = [Duration::from_micros(20), Duration::from_micros(200)];

impl Link {
    pub(super) fn new(
        device: Arc<Device>,
        coefficients: wgpu::Buffer,
        shape: LoadShape,
        loads_until_loss: Option<u32>,
    ) -> Self {
        Link(Arc::new(Shared {
            device,
            coefficients,
            shape,
            state: Mutex::new(State {
                scale: 1,
                ..State::default()
            }),
            changed: Condvar::new(),
            sent: Condvar::new(),
            counts: Counts::default(),
            loads_until_loss: loads_until_loss.map(AtomicU32::new),
        }))
    }

    /// What the device got so far.
    pub(super) fn device_use(&self) -> DeviceUse {
        let Counts {
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

    /// Makes the buffers of one load.
    #[cfg(feature = "internals")]
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
        // The next document, and its shingle.
        let mut next = (0, 0);
        while next.0 < documents.len() {
            let (writing, segment) = {
                let state = match shared.open(dispatch, is_hybrid) {
                    Ok(Some(state)) => state,
                    other => {
                        sent.give_up(next.0);
                        sent.left.extend(next.0..documents.len());
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

impl Drop for Link {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.is_dropped = true;
        // Nobody wants these rows. A slot keeps nothing alive that would keep the link alive.
        state.open = None;
        state.idle.clear();
        drop(state);
        self.0.sent.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Waits until something changes. If nothing does for so long, the device hangs, or this is a forked process, which
    /// has no thread that waits for it.
    fn wait<'g>(&self, state: MutexGuard<'g, State>) -> Attempt<MutexGuard<'g, State>> {
        // The waiting thread has the same limit, and says more.
        let limit = self.shape.bounds.timeout.saturating_mul(2);
        let waited = self.changed.wait_timeout(state, limit.max(PAUSES[1]));
        let (state, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        match waited.timed_out() {
            true => Err(self.device.give_up(&Failure::Hung(limit))),
            false => Ok(state),
        }
    }

    /// The state with an open load for this dispatch. `None` if the CPU shall go on instead.
    fn open(
        self: &Arc<Self>,
        dispatch: &Dispatch,
        is_hybrid: bool,
    ) -> Attempt<Option<MutexGuard<'_, State>>> {
        let mut state = self.lock();
        loop {
            if let Some(failure) = self.device.failure() {
                return Err(failure);
            }
            if let Some(open) = &state.open {
                if open.dispatch.is_same(dispatch) {
                    return Ok(Some(state));
                }
                state = self.close(state);
                continue;
            }
            match self.take_slot(&mut state)? {
                Some(slot) => {
                    state.numbers += 1;
                    let number = state.numbers;
                    state.open = Some(Filling {
                        number,
                        slot,
                        load: Load::default(),
                        dispatch: dispatch.clone(),
                        writers: 0,
                        result: Arc::new(LoadResult {
                            number,
                            rows: OnceLock::new(),
                            shared: Arc::clone(self),
                        }),
                        failure: None,
                    });
                }
                None if is_hybrid => return Ok(None),
                None => state = self.wait(state)?,
            }
        }
    }

    /// Takes an idle slot of the size that loads have now, or makes one; `None` if all are in use.
    fn take_slot(&self, state: &mut State) -> Attempt<Option<Slot>> {
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
        mut state: MutexGuard<'_, State>,
        documents: &[Option<Document<'d>>],
        next: &mut (usize, usize),
        left: &mut Vec<usize>,
    ) -> (Option<Writing<'d>>, Segment) {
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
        let mut segment = Segment {
            result: Arc::clone(result),
            first_row: load.rows(dispatch),
            row_bytes: dispatch.row_bytes(shape),
            documents: Vec::new(),
        };
        let mut writing = Writing {
            at: load.align(WRITE_ALIGNMENT),
            strings: Vec::new(),
        };
        let mut is_full = false;
        while next.0 < documents.len() && !is_full {
            let (index, from) = *next;
            let Some(document) = documents[index].filter(|document| document.count > 0) else {
                left.push(index);
                *next = (index + 1, 0);
                continue;
            };
            if is_whole && Load::default().room(shape, &document) < document.count {
                // A row needs the whole document, which fits no load.
                left.push(index);
                *next = (index + 1, 0);
                continue;
            }
            let rows_before = load.rows(dispatch);
            match load.add(shape, &document, from, is_whole) {
                Some(added) => {
                    let new_rows = load.rows(dispatch) - rows_before;
                    #[allow(clippy::cast_possible_truncation, reason = "rows of a batch in memory")]
                    let of_rows = std::iter::repeat_n(index as u32, new_rows);
                    segment.documents.extend(of_rows);
                    writing.strings.push(&document.bytes[added.bytes]);
                    *next = match from + added.shingles {
                        end if end == document.count => (index + 1, 0),
                        end => (index, end),
                    };
                }
                None => is_full = true,
            }
        }
        let has_text = !writing.strings.is_empty();
        *writers += usize::from(has_text);
        if is_full {
            drop(self.close(state));
        }
        (has_text.then_some(writing), segment)
    }

    /// Closes the open load. Sends it, unless a thread still writes into it, and will send it.
    fn close<'g>(self: &'g Arc<Self>, mut state: MutexGuard<'g, State>) -> MutexGuard<'g, State> {
        match state.open.take() {
            Some(open) if open.writers > 0 => {
                state.closing.push(open);
                state
            }
            Some(open) => {
                drop(state);
                self.send(open);
                self.lock()
            }
            None => state,
        }
    }

    /// Writes documents into their load, and sends it if it is closed and no other thread writes into it.
    fn write(self: &Arc<Self>, result: &LoadResult, writing: &Writing<'_>) {
        let staging = {
            let state = self.lock();
            let mut filling = state.open.iter().chain(&state.closing);
            let own = filling.find(|filling| filling.number == result.number);
            own.map(|filling| filling.slot.staging())
        };
        let Some(staging) = staging else { return };
        let strings = writing.strings.iter().copied();
        let written = staging.write(&self.device, writing.at, strings);
        let mut state = self.lock();
        let State { open, closing, .. } = &mut *state;
        let mut filling = open.iter_mut().chain(closing.iter_mut());
        let Some(own) = filling.find(|filling| filling.number == result.number) else {
            return;
        };
        own.writers -= 1;
        own.failure = own.failure.take().or(written.err());
        let is_last = own.writers == 0;
        let at = closing
            .iter()
            .position(|filling| filling.number == result.number);
        let Some(at) = at.filter(|_| is_last) else {
            return;
        };
        let full = state.closing.swap_remove(at);
        drop(state);
        self.send(full);
    }

    /// Sends a load that nobody writes into.
    fn send(self: &Arc<Self>, filling: Filling) {
        let Filling {
            slot,
            load,
            dispatch,
            result,
            failure,
            ..
        } = filling;
        let filled = (load.input_bytes, slot.shape.bounds.input_bytes);
        if load.is_empty() {
            self.lock().idle.push(slot);
            self.changed.notify_all();
            return;
        }
        let sent = match failure {
            None => slot.send(&self.device, &load, &dispatch),
            Some(failure) => Err(failure),
        };
        let mut state = self.lock();
        match sent {
            Ok(sent) => {
                state.under_way += 1;
                state.in_flight.push_back(InFlight {
                    sent,
                    result,
                    filled,
                    since: Instant::now(),
                });
                self.counts.loads.fetch_add(1, Ordering::Relaxed);
                let bytes = match load.is_text() {
                    true => &self.counts.text_bytes,
                    false => &self.counts.hash_bytes,
                };
                bytes.fetch_add(load.input_bytes as u64, Ordering::Relaxed);
                self.counts
                    .most_under_way
                    .fetch_max(state.under_way, Ordering::Relaxed);
                self.start_waiter(&mut state);
            }
            Err(failure) => {
                state.made -= 1;
                let _ = result.rows.set(Err(self.device.give_up(&failure)));
            }
        }
        drop(state);
        self.sent.notify_all();
        self.changed.notify_all();
        if let Some(loads) = &self.loads_until_loss
            && loads.fetch_sub(1, Ordering::Relaxed) == 1
        {
            self.device.lose();
        }
    }
    /// Waits for the rows of a load. Sends it if it is open, and the device has nothing else to do.
    fn wait_for(self: &Arc<Self>, result: &LoadResult) -> Attempt<()> {
        let mut state = self.lock();
        while result.rows.get().is_none() {
            let is_open = state.open.as_ref();
            let is_open = is_open.is_some_and(|open| open.number == result.number);
            let is_idle = state.under_way == 0 || self.device.failure().is_some();
            state = match is_open && is_idle {
                true => self.close(state),
                false => self.wait(state)?,
            };
        }
        Ok(())
    }

    fn start_waiter(self: &Arc<Self>, state: &mut State) {
        if state.has_waiter {
            return;
        }
        let shared = Arc::clone(self);
        let thread = thread::Builder::new().name("simgpu-device".to_owned());
        match thread.spawn(move || shared.receive_all()) {
            Ok(_) => state.has_waiter = true,
            Err(error) => {
                let failure = Failure::Refused(format!("no thread can wait for it: {error}"));
                let failure = self.device.give_up(&failure);
                for lost in state.in_flight.drain(..) {
                    let _ = lost.result.rows.set(Err(failure.clone()));
                }
                state.under_way = 0;
            }
        }
    }

    /// Receives loads in the order in which they were sent, until the link is dropped.
    fn receive_all(&self) {
        let mut last_done = Instant::now();
        let mut pause = PAUSES[0];
        loop {
            let mut first = {
                let mut state = self.lock();
                loop {
                    if let Some(first) = state.in_flight.pop_front() {
                        break first;
                    }
                    if state.is_dropped {
                        return;
                    }
                    let waited = self.sent.wait(state);
                    state = waited.unwrap_or_else(PoisonError::into_inner);
                }
            };
            self.device.poll();
            let begun = first.since.max(last_done);
            let timeout = self.shape.bounds.timeout;
            let failure = if first.sent.is_done() {
                None
            } else if let Some(failure) = self.device.failure() {
                Some(failure)
            } else if begun.elapsed() >= timeout {
                Some(self.device.give_up(&Failure::Hung(timeout)))
            } else {
                let mut state = self.lock();
                state.in_flight.push_front(first);
                // wgpu has no wait during which mapped memory is safe from being freed.
                drop(self.sent.wait_timeout(state, pause));
                pause = (pause * 2).min(PAUSES[1]);
                continue;
            };
            self.receive(first, failure, begun);
            last_done = Instant::now();
            pause = PAUSES[0];
        }
    }

    /// Receives a load that came back, or failed.
    fn receive(&self, load: InFlight, failure: Option<Failure>, begun: Instant) {
        let InFlight {
            sent,
            result,
            filled: (filled, most),
            ..
        } = load;
        let mut rows = self.lock().spare_rows.pop().unwrap_or_default();
        let received = match failure {
            None => sent.receive(&self.device, &mut rows),
            Some(failure) => Err(failure),
        };
        let mut state = self.lock();
        state.under_way -= 1;
        let _ = match received {
            Ok(slot) => {
                let is_full = filled >= most / 4 * 3;
                let may_grow = is_full && most >= LEAST_GROWING && state.scale < MOST_SCALE;
                if may_grow && begun.elapsed() < LONG_ENOUGH {
                    state.scale *= 2;
                }
                state.idle.push(slot);
                result.rows.set(Ok(rows))
            }
            Err(failure) => {
                state.made -= 1;
                result.rows.set(Err(self.device.give_up(&failure)))
            }
        };
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
            let of_document = rows.filter(|of| **of as usize == document);
            of_document.for_each(|of| *of = NO_DOCUMENT);
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
            let Segment {
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
