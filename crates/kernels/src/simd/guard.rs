//! Memory between two guard pages, for tests: a kernel that reads or writes out of bounds is killed at once.
#![allow(unsafe_code, reason = "maps pages and protects them")]

use std::ptr::NonNull;

/// Numbers that end, or begin, exactly where a guard page begins, or ends.
pub(crate) struct Guarded<T> {
    pages: NonNull<u8>,
    page_bytes: usize,
    numbers: NonNull<T>,
    len: usize,
}

/// The end of the memory that the numbers touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Against {
    Start,
    End,
}

const PAGE: usize = 1 << 16; // The largest page size of any system.

impl<T: bytemuck::Pod> Guarded<T> {
    pub(crate) fn new(numbers: &[T], against: Against) -> Self {
        let bytes = size_of_val(numbers);
        let inner = bytes.next_multiple_of(PAGE).max(PAGE);
        let page_bytes = inner + 2 * PAGE;
        // SAFETY: new anonymous memory, at no particular address, and then the protection of its first
        // and last page.
        let pages = unsafe {
            let pages = libc::mmap(
                std::ptr::null_mut(),
                page_bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            assert_ne!(pages, libc::MAP_FAILED);
            assert_eq!(libc::mprotect(pages, PAGE, libc::PROT_NONE), 0);
            let last = pages.byte_add(page_bytes - PAGE);
            assert_eq!(libc::mprotect(last, PAGE, libc::PROT_NONE), 0);
            NonNull::new(pages.cast::<u8>()).expect("memory is not at 0")
        };
        let at = match against {
            Against::Start => PAGE,
            Against::End => PAGE + inner - bytes,
        };
        // SAFETY: `at` lies between the guard pages, with room for all numbers, and is aligned since
        // pages are and numbers are as large as their alignment.
        let start = unsafe { pages.add(at) };
        let mut guarded = Guarded {
            pages,
            page_bytes,
            numbers: start.cast(),
            len: numbers.len(),
        };
        guarded.copy_from_slice(numbers);
        guarded
    }
}

impl<T> std::ops::Deref for Guarded<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: `new` wrote `len` numbers there, which live as long as `self`.
        unsafe { std::slice::from_raw_parts(self.numbers.as_ptr(), self.len) }
    }
}

impl<T> std::ops::DerefMut for Guarded<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`, and borrowed exclusively; fresh memory is zero, a valid number.
        unsafe { std::slice::from_raw_parts_mut(self.numbers.as_ptr(), self.len) }
    }
}

impl<T> Drop for Guarded<T> {
    fn drop(&mut self) {
        // SAFETY: the pages that `new` mapped, which nothing borrows any longer.
        unsafe {
            libc::munmap(self.pages.as_ptr().cast(), self.page_bytes);
        }
    }
}
