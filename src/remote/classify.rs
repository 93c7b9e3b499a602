//! Turns errors of the object store into failures, without the URLs and bodies that they contain.

use std::error::Error;
use std::io;

use super::{Failure, Scheme};

/// Returns the failure that an error describes.
pub fn failure(error: &object_store::Error, scheme: Scheme) -> Failure {
    let mut texts: Vec<String> = Vec::new();
    let mut next: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = next {
        if let Some(failure) = error.downcast_ref::<Failure>() {
            return failure.clone();
        }
        if let Some(error) = error.downcast_ref::<io::Error>() {
            // An I/O error can wrap an error that `source()` of the I/O error skips.
            if let Some(inner) = error.get_ref() {
                if let Some(failure) = inner.downcast_ref::<Failure>() {
                    return failure.clone();
                }
            } else {
                texts.push(crate::diag::reason(error));
                break;
            }
        }
        if error.downcast_ref::<reqwest::Error>().is_some_and(reqwest::Error::is_timeout) {
            return Failure::Timeout;
        }
        texts.push(error.to_string());
        next = error.source();
    }
    match error {
        object_store::Error::NotFound { .. } => return Failure::NotFound,
        object_store::Error::PermissionDenied { .. } | object_store::Error::Unauthenticated { .. } => {
            return Failure::Denied(scheme);
        }
        object_store::Error::Precondition { .. } | object_store::Error::NotModified { .. } => {
            return Failure::Changed;
        }
        _ => {}
    }
    let text = texts.join("\n");
    if let Some(status) = status(&text) {
        return Failure::Status(status);
    }
    // The private errors of object_store about the header `Content-Range` contain these texts.
    if text.contains("Content-Range") || text.contains("CONTENT_RANGE") || text.contains("Requested ") {
        return Failure::WrongRange;
    }
    let deepest = texts.pop().unwrap_or_default();
    let is_safe = !deepest.contains("://") && deepest.len() < 200;
    Failure::Connection(if is_safe { deepest } else { "the request failed".to_owned() })
}

/// Returns the status code in the text of object_store's private error.
fn status(text: &str) -> Option<u16> {
    let (_, rest) = text.split_once("status code: ")?;
    rest.get(..3)?.parse().ok()
}
