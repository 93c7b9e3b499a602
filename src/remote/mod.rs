//! Files at URIs: `https://`, `s3://`, `gs://`, `az://` and `hf://`, which are read in ranges.
//!
//! [`Uri`] names a file, and [`open`] reads its start. A [`RemoteFile`] reads further ranges when they are needed.
//! Without the feature `remote`, every URI is refused.
//!
//! No message contains a credential: URIs are shown without user name, password and query, and bodies of
//! responses are never shown.

mod failure;
mod limits;
mod source;
mod uri;

#[cfg(feature = "remote")]
mod address;
#[cfg(feature = "remote")]
mod blocks;
#[cfg(feature = "remote")]
mod cache;
#[cfg(feature = "remote")]
mod classify;
#[cfg(feature = "remote")]
mod download;
#[cfg(feature = "remote")]
mod file;
#[cfg(feature = "remote")]
mod request;
#[cfg(feature = "remote")]
mod runtime;
#[cfg(feature = "remote")]
mod service;
#[cfg(feature = "remote")]
mod store;

pub use failure::Failure;
pub use limits::Limits;
pub use source::Source;
pub use uri::{Scheme, Uri};

#[cfg(feature = "remote")]
pub use download::download;
#[cfg(feature = "remote")]
pub use file::{RemoteFile, open};

#[cfg(not(feature = "remote"))]
pub use absent::{RemoteFile, download, open};

/// Replacements for builds without the feature `remote`.
#[cfg(not(feature = "remote"))]
mod absent;
