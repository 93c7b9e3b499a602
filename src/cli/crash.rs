//! Panic isolation: a panic while one file is processed does not end the run.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    /// The last panic message on this thread.
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Installs a panic hook that stores the message instead of printing it.
pub fn install_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        panic::set_hook(Box::new(|info| {
            let what = info.payload_as_str().unwrap_or("it panicked");
            let place = info.location().map(|location| format!(" ({}:{})", location.file(), location.line()));
            LAST.with_borrow_mut(|last| *last = format!("{what}{}", place.unwrap_or_default()));
        }));
    });
}

/// Runs `work` and returns the message of its panic as the error.
pub fn guard<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    // Unwinding drops the state that `work` owns; state that `work` borrows must be valid at every step.
    panic::catch_unwind(AssertUnwindSafe(work)).map_err(|_| LAST.take())
}
