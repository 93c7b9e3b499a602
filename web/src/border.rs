//! Functions that the page calls. Data is exchanged through the memory of the module.

use std::sync::{Mutex, PoisonError};

/// The name of a file, followed by its content.
static INPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// The report on the last file.
static OUTPUT: Mutex<String> = Mutex::new(String::new());

/// Allocates `length` bytes for the input and returns their address.
#[unsafe(no_mangle)]
pub extern "C" fn room(length: usize) -> *mut u8 {
    let mut input = INPUT.lock().unwrap_or_else(PoisonError::into_inner);
    *input = vec![0; length];
    input.as_mut_ptr()
}

/// Lints the input, whose first `name` bytes are the file name.
/// Returns the length of the report in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn lint(name: usize) -> usize {
    let mut model = std::mem::take(&mut *INPUT.lock().unwrap_or_else(PoisonError::into_inner));
    let rest = model.split_off(name.min(model.len()));
    let page = crate::page(&String::from_utf8_lossy(&model), rest);
    let mut output = OUTPUT.lock().unwrap_or_else(PoisonError::into_inner);
    *output = page;
    output.len()
}

/// Returns the address of the report.
#[unsafe(no_mangle)]
pub extern "C" fn page() -> *const u8 {
    OUTPUT.lock().unwrap_or_else(PoisonError::into_inner).as_ptr()
}
