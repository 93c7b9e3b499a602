//! The last resort against faults of our own: a panic over one file does not end the run.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    /// What the panic hook was last told on this thread.
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Keeps what a panic says, instead of printing it.
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

/// Runs `work`; what its panic said, should there be one.
pub fn guard<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    // What `work` had in its hands is dropped, so nobody sees it half done.
    panic::catch_unwind(AssertUnwindSafe(work)).map_err(|_| LAST.take())
}
