//! Functions that the scripts of the web page and of the npm package call.
//! Data is exchanged through the memory of the WebAssembly module.

use std::sync::{Mutex, PoisonError};

/// The name of a file, followed by its content.
static INPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// The report on the last file, or the fixed model.
static OUTPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

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
    let (name, model) = taken(name);
    kept(crate::page(&name, model).into_bytes())
}

/// Fixes the input, whose first `name` bytes are the file name.
/// Returns the length in bytes of the fixed model, in the format of the input, or 0 on failure.
#[unsafe(no_mangle)]
pub extern "C" fn fix(name: usize) -> usize {
    let (name, model) = taken(name);
    kept(crate::fixed(&name, model).unwrap_or_default())
}

/// Takes the input as a name and a model.
fn taken(name: usize) -> (String, Vec<u8>) {
    let mut input = std::mem::take(&mut *INPUT.lock().unwrap_or_else(PoisonError::into_inner));
    let model = input.split_off(name.min(input.len()));
    (String::from_utf8_lossy(&input).into_owned(), model)
}

/// Keeps the output for [`page`], and returns its length.
fn kept(bytes: Vec<u8>) -> usize {
    let mut output = OUTPUT.lock().unwrap_or_else(PoisonError::into_inner);
    *output = bytes;
    output.len()
}

/// Returns the address of the report or the fixed model.
#[unsafe(no_mangle)]
pub extern "C" fn page() -> *const u8 {
    OUTPUT.lock().unwrap_or_else(PoisonError::into_inner).as_ptr()
}
