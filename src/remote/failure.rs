//! Reasons for which a remote file cannot be read.

use std::fmt;

use super::Scheme;

/// Reason for which a remote file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// The server has no such file.
    NotFound,
    /// The server refuses access.
    Denied(Scheme),
    /// There are no credentials in the environment.
    NoCredentials(Scheme),
    /// The URI or the environment is incomplete.
    Configuration(String),
    /// The endpoint in the environment is another machine and has no TLS.
    NoTls(Scheme),
    /// The server does not support ranges, and the file exceeds this limit, in bytes.
    NoRanges(u64),
    /// The server sends a range other than the requested range, or no range although it supports ranges.
    WrongRange,
    /// The server has no bytes in the requested range.
    PastEnd,
    /// The server sends more bytes than requested.
    TooLong,
    /// The response ends early; contains the numbers of received and of expected bytes.
    TooShort(u64, u64),
    /// The file still has the ETag that the caller knows, so that it is not read.
    Known,
    /// The file changed while it was read.
    Changed,
    /// More bytes are needed than the limit allows.
    Memory(u64),
    /// The file is larger than the limit of a download, in bytes.
    TooLarge(u64),
    /// The server redirects to an address that is not allowed; contains the reason.
    Redirect(String),
    /// The store is in another region.
    Region,
    /// The server responds with an error status.
    Status(u16),
    /// The deadline has passed; contains the time limit in seconds.
    Deadline(u64),
    /// The server does not respond in time.
    Timeout,
    /// The connection fails; contains the reason.
    Connection(String),
    /// This build does not support URIs.
    Unsupported,
}

impl fmt::Display for Failure {
    /// Writes a clause that follows "cannot be read: ".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::NotFound => f.write_str("the server has no such file"),
            Failure::Denied(scheme) => {
                write!(f, "the server refuses access: {}", credentials(*scheme))
            }
            Failure::NoCredentials(scheme) => {
                write!(f, "there are no credentials in the environment: {}", credentials(*scheme))
            }
            Failure::Configuration(why) => f.write_str(why),
            Failure::NoTls(scheme) => {
                f.write_str("the endpoint has no TLS")?;
                match scheme {
                    Scheme::S3 => f.write_str(": set AWS_ALLOW_HTTP=true to send credentials without it"),
                    Scheme::Az => f.write_str(": set AZURE_ALLOW_HTTP=true to send credentials without it"),
                    Scheme::Gs | Scheme::Hf | Scheme::Http => Ok(()),
                }
            }
            Failure::NoRanges(limit) => write!(
                f,
                "the server does not support ranges, and the file is larger than {}: download it first",
                megabytes(*limit)
            ),
            Failure::WrongRange => f.write_str("the server sends another range than the requested one"),
            Failure::PastEnd => f.write_str("the file ends before the requested range"),
            Failure::TooLong => f.write_str("the server sends more bytes than requested"),
            Failure::TooShort(got, expected) => {
                write!(f, "the response ends after {got} of {expected} bytes")
            }
            Failure::Known => f.write_str("the file still has the known ETag"),
            Failure::Changed => f.write_str("the file changed while it was read"),
            Failure::Memory(limit) => {
                write!(f, "more than {} are needed, which is the limit", megabytes(*limit))
            }
            Failure::TooLarge(limit) => write!(f, "the file is larger than {}", megabytes(*limit)),
            Failure::Redirect(why) => write!(f, "the server redirects to {why}"),
            Failure::Region => {
                f.write_str("the bucket is in another region: set AWS_REGION or AWS_ENDPOINT_URL")
            }
            Failure::Status(status) => write!(f, "the server responds with status {status}"),
            Failure::Deadline(seconds) => write!(f, "the deadline of {seconds} seconds is over"),
            Failure::Timeout => f.write_str("the server does not respond in time"),
            Failure::Connection(why) => write!(f, "the connection fails: {why}"),
            Failure::Unsupported => f.write_str(
                "this build reads no URIs: build it with `--features remote`, or download the file",
            ),
        }
    }
}

impl std::error::Error for Failure {}

fn megabytes(bytes: u64) -> String {
    format!("{} MB", bytes >> 20)
}

/// Returns advice on the credentials of a protocol.
fn credentials(scheme: Scheme) -> &'static str {
    match scheme {
        Scheme::Http => "the URL may contain USER:PASSWORD@ or a signed query",
        Scheme::S3 => {
            "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_SKIP_SIGNATURE=true for a public bucket"
        }
        Scheme::Gs => "set GOOGLE_APPLICATION_CREDENTIALS, or GOOGLE_SKIP_SIGNATURE=true for a public bucket",
        Scheme::Az => {
            "set AZURE_STORAGE_ACCOUNT_KEY or another credential, or AZURE_SKIP_SIGNATURE=true for a public container"
        }
        Scheme::Hf => "set HF_TOKEN",
    }
}
