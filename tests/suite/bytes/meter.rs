//! Measures the CPU time and the peak memory of a thread.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use cpu_time::ThreadTime;

/// The system allocator, with counters for each thread.
pub struct Counting;

thread_local! {
    /// Bytes that this thread currently holds, and their maximum.
    static HELD: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

fn count(bytes: isize) {
    // The counters no longer exist while a thread ends.
    let _ = HELD.try_with(|held| {
        let now = held.get().0 + bytes;
        held.set((now, held.get().1.max(now)));
    });
}

// SAFETY: all calls are forwarded to the system allocator, which fulfills the contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        // SAFETY: the caller fulfills the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        // SAFETY: the caller fulfills the contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-layout.size().cast_signed());
        // SAFETY: the caller fulfills the contract.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size.cast_signed() - layout.size().cast_signed());
        // SAFETY: the caller fulfills the contract.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// A measurement of the current thread, from the creation of the meter on.
pub struct Meter {
    held: isize,
    start: ThreadTime,
}

impl Meter {
    /// Starts measuring the current thread.
    pub fn start() -> Meter {
        let (held, _) = HELD.get();
        HELD.set((held, held));
        Meter { held, start: ThreadTime::now() }
    }

    /// Returns the CPU seconds since the start.
    pub fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// Returns the peak memory since the start, in bytes, relative to the start.
    pub fn most_bytes(&self) -> usize {
        usize::try_from(HELD.get().1 - self.held).unwrap_or(0)
    }
}
