//! What a thread costs: its CPU time, and the most memory that it holds.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use cpu_time::ThreadTime;

/// The system's allocator, which counts for each thread.
pub struct Counting;

thread_local! {
    /// Bytes that this thread has allocated and not given back, and the most there were.
    static HELD: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

fn count(bytes: isize) {
    // A thread that ends has no such value any more.
    let _ = HELD.try_with(|held| {
        let now = held.get().0 + bytes;
        held.set((now, held.get().1.max(now)));
    });
}

// SAFETY: everything is done by the system's allocator, which keeps the contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-layout.size().cast_signed());
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size.cast_signed() - layout.size().cast_signed());
        // SAFETY: the caller keeps the contract.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Measures what the thread does from here on.
pub struct Meter {
    held: isize,
    start: ThreadTime,
}

impl Meter {
    pub fn start() -> Meter {
        let (held, _) = HELD.get();
        HELD.set((held, held));
        Meter { held, start: ThreadTime::now() }
    }

    pub fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    pub fn most_bytes(&self) -> usize {
        usize::try_from(HELD.get().1 - self.held).unwrap_or(0)
    }
}
