//! A process without memory ends with one line that says what to do, and no backtrace.
//!
//! The standard library would print a backtrace and abort. It calls no hook that a stable compiler knows, so the allocator itself
//! reports an allocation that fails. It cannot recognise a call that could do without the memory, such as `try_reserve`: this program
//! has none that could then go on. The C library aborts by itself if it has no memory for a thread.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::c_int;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};

/// The allocator of the system. The process ends if it has no memory left.
pub(crate) struct Reporting;

// SAFETY: each method passes its arguments on to `System`, and returns what that returns, which is never null.
#[allow(unsafe_code, reason = "an allocator is unsafe to write")]
unsafe impl GlobalAlloc for Reporting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller promises of `layout` what `System` needs.
        let memory = unsafe { System.alloc(layout) };
        some(memory, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as in `alloc`.
        let memory = unsafe { System.alloc_zeroed(layout) };
        some(memory, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: `memory` is from this allocator, and so from `System`; the caller promises the rest.
        let memory = unsafe { System.realloc(memory, layout, size) };
        some(memory, size)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as in `realloc`.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// The memory, if there is any.
#[inline]
fn some(memory: *mut u8, bytes: usize) -> *mut u8 {
    if memory.is_null() {
        end(Some(bytes));
    }
    memory
}

/// Reports that an allocation of this size failed, and ends the process. It allocates nothing.
#[cold]
#[allow(unsafe_code, reason = "the standard library has no call for this")]
fn end(bytes: Option<usize>) -> ! {
    static IS_REPORTED: AtomicBool = AtomicBool::new(false);
    if !IS_REPORTED.swap(true, Ordering::Relaxed) {
        let mut digits = [0; 20];
        let unit: &[u8] = if bytes == Some(1) {
            b" byte"
        } else {
            b" bytes"
        };
        let parts: [&[u8]; 3] = match bytes {
            Some(bytes) => [b": cannot allocate ", decimal(bytes, &mut digits), unit],
            None => [b"", b"", b""],
        };
        let mut line = Line::default();
        line.push(b"simgpu: out of memory");
        parts.into_iter().for_each(|part| line.push(part));
        line.push(REMEDY);
        // SAFETY: the bytes are those of `line`, and `write` may be called by a signal handler.
        unsafe { libc::write(libc::STDERR_FILENO, line.bytes.as_ptr().cast(), line.len) };
        // SAFETY: it ends the process, and may be called by a signal handler.
        unsafe { libc::_exit(1) }
    }
    // Another thread reports, and ends this one.
    loop {
        // SAFETY: it waits.
        unsafe { libc::pause() };
    }
}

const REMEDY: &[u8] = b"; pass a smaller --memory or fewer --threads, or let the process use more (ulimit -v, or the limit of the container)\n";

/// A line that is written by one call.
struct Line {
    bytes: [u8; 256],
    len: usize,
}

impl Default for Line {
    fn default() -> Self {
        Line {
            bytes: [0; 256],
            len: 0,
        }
    }
}

impl Line {
    fn push(&mut self, part: &[u8]) {
        for (target, byte) in self.bytes[self.len..].iter_mut().zip(part) {
            *target = *byte;
            self.len += 1;
        }
    }
}

/// The digits of a number.
fn decimal(mut number: usize, digits: &mut [u8; 20]) -> &[u8] {
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b"0123456789"[number % 10];
        number /= 10;
        if number == 0 || start == 0 {
            return &digits[start..];
        }
    }
}

/// Ends the process in the same way where the C library aborts for want of memory.
#[allow(unsafe_code, reason = "the standard library has no call for this")]
pub(crate) fn report_aborts() {
    let handler: extern "C" fn(c_int) = on_abort;
    // SAFETY: the handler calls only what a handler may call.
    unsafe { libc::signal(libc::SIGABRT, handler as libc::sighandler_t) };
}

/// Ends the process in the same way where a library panics for want of memory: the standard library without memory for the stack of
/// a thread's signal handler, zstd without memory for a context, bzip2 by an assertion.
pub(crate) fn report_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if is_exhausted() || names_memory(&panic.to_string()) {
            end(None);
        }
        before(panic);
    }));
}

/// Whether the message of a panic says that memory is missing. By the time of the panic another thread may have released some.
fn names_memory(message: &str) -> bool {
    let phrases = ["alternative stack", "zstd returned null pointer"];
    phrases.iter().any(|phrase| message.contains(phrase))
}

extern "C" fn on_abort(_: c_int) {
    if is_exhausted() {
        end(None);
    }
    // There is memory: something else is wrong, and the process aborts after this returns.
}

/// Bytes without which the C library fails: it takes 1 MiB at a time.
const LITTLE: usize = 4 << 20;

/// Whether the system has too little memory for the C library to go on.
#[allow(unsafe_code, reason = "a handler calls the system directly")]
fn is_exhausted() -> bool {
    let (flags, access) = (libc::MAP_PRIVATE | libc::MAP_ANON, libc::PROT_READ);
    // SAFETY: it maps new memory, at no given address.
    let memory = unsafe { libc::mmap(null_mut(), LITTLE, access, flags, -1, 0) };
    if memory == libc::MAP_FAILED {
        return true;
    }
    // SAFETY: nothing points into what was mapped above.
    unsafe { libc::munmap(memory, LITTLE) };
    false
}
