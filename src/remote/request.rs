//! One request for bytes of a file, bounded in length.

use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use object_store::{GetOptions, GetRange, ObjectMeta};

use super::service::UNKNOWN_LENGTH;
use super::store::Located;
use super::{Failure, Scheme, classify};

/// Bytes of a response, with the size and the ETag of the file.
#[derive(Debug)]
pub struct Response {
    pub bytes: Bytes,
    pub meta: ObjectMeta,
}

/// Conditions of a request.
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    /// ETag that the file must have.
    pub same: Option<String>,
    /// ETag that the file must not have.
    pub other: Option<String>,
}

/// Requests `len` bytes from `offset` on, or fewer at the end of the file.
pub async fn range(
    (store, path): &Located,
    offset: u64,
    len: u64,
    conditions: Conditions,
    scheme: Scheme,
) -> Result<Response, Failure> {
    let options = GetOptions {
        range: Some(GetRange::Bounded(offset..offset + len)),
        if_match: conditions.same,
        if_none_match: conditions.other,
        ..GetOptions::default()
    };
    let found = store.get_opts(path, options).await.map_err(|error| classify::failure(&error, scheme))?;
    let expected = found.range.end - found.range.start;
    let meta = found.meta.clone();
    let mut stream = found.into_stream();
    let mut bytes = BytesMut::new();
    while let Some(piece) = stream.next().await {
        let piece = piece.map_err(|error| body_failure(&error, bytes.len() as u64, expected, scheme))?;
        bytes.extend_from_slice(&piece);
        if bytes.len() as u64 > expected {
            return Err(Failure::TooLong);
        }
    }
    let got = bytes.len() as u64;
    if got < expected {
        return Err(Failure::TooShort(got, expected));
    }
    Ok(Response { bytes: bytes.freeze(), meta })
}

/// Requests the whole file, and passes it to `sink` piece by piece.
///
/// Returns the metadata of the file; its size is the number of received bytes.
pub async fn whole(
    (store, path): &Located,
    mut sink: impl FnMut(&[u8]) -> Result<(), Failure>,
    scheme: Scheme,
) -> Result<ObjectMeta, Failure> {
    let found = store.get_opts(path, GetOptions::default()).await;
    let found = found.map_err(|error| classify::failure(&error, scheme))?;
    let meta = found.meta.clone();
    let mut stream = found.into_stream();
    let mut got = 0;
    while let Some(piece) = stream.next().await {
        let piece = piece.map_err(|error| body_failure(&error, got, meta.size, scheme))?;
        got += piece.len() as u64;
        sink(&piece)?;
    }
    if meta.size != UNKNOWN_LENGTH && got != meta.size {
        return Err(Failure::TooShort(got, meta.size));
    }
    Ok(ObjectMeta { size: got, ..meta })
}

/// Returns the failure of a body after `got` of `expected` bytes.
fn body_failure(error: &object_store::Error, got: u64, expected: u64, scheme: Scheme) -> Failure {
    match classify::failure(error, scheme) {
        Failure::Connection(_) if expected != UNKNOWN_LENGTH => Failure::TooShort(got, expected),
        other => other,
    }
}
