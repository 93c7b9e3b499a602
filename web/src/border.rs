//! What a page calls: it writes into memory that it asked for, and reads from memory that it is told of.

use std::sync::{Mutex, PoisonError};

/// The name of a file and its content, one behind the other.
static INPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// What was made of it.
static OUTPUT: Mutex<String> = Mutex::new(String::new());

/// Where to write `length` bytes.
#[unsafe(no_mangle)]
pub extern "C" fn room(length: usize) -> *mut u8 {
    let mut input = INPUT.lock().unwrap_or_else(PoisonError::into_inner);
    *input = vec![0; length];
    input.as_mut_ptr()
}

/// Lints what was written there, of which the first `name` bytes are a name; how long the page is.
#[unsafe(no_mangle)]
pub extern "C" fn lint(name: usize) -> usize {
    let mut model = std::mem::take(&mut *INPUT.lock().unwrap_or_else(PoisonError::into_inner));
    let rest = model.split_off(name.min(model.len()));
    let page = crate::page(&String::from_utf8_lossy(&model), rest);
    let mut output = OUTPUT.lock().unwrap_or_else(PoisonError::into_inner);
    *output = page;
    output.len()
}

/// Where the page stands.
#[unsafe(no_mangle)]
pub extern "C" fn page() -> *const u8 {
    OUTPUT.lock().unwrap_or_else(PoisonError::into_inner).as_ptr()
}
