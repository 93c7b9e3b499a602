//! The last resort against faults of our own: a panic over one file does not end the run.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};

use super::{Failure, Status};

thread_local! {
    /// What the panic hook was last told on this thread.
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Keeps what a panic says, instead of printing it; for the start of `main`.
pub fn install_hook() {
    panic::set_hook(Box::new(|info| {
        let what = info.payload_as_str().unwrap_or("it panicked");
        let place = info.location().map(|location| format!(" ({}:{})", location.file(), location.line()));
        LAST.with_borrow_mut(|last| *last = format!("{what}{}", place.unwrap_or_default()));
    }));
}

/// Runs a tool: what panics outside of a file is said as a failure.
pub fn run(tool: &str, work: impl FnOnce() -> Result<Status, Failure>) -> Result<Status, Failure> {
    guard(work).unwrap_or_else(|what| Err(Failure::new(format!("{tool} failed: {what}; please report this"))))
}

/// Runs `work`; what its panic said, should there be one.
pub fn guard<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    // What `work` had in its hands is dropped, so nobody sees it half done.
    panic::catch_unwind(AssertUnwindSafe(work)).map_err(|_| LAST.take())
}
