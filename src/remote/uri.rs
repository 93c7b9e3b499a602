//! URIs of remote files.

use std::fmt;
use std::sync::Arc;

/// Protocol of a URI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// `https://`; also `http://` to this machine.
    Http,
    /// `s3://BUCKET/KEY` in Amazon S3, or on a server with the same interface.
    S3,
    /// `gs://BUCKET/KEY` in Google Cloud Storage.
    Gs,
    /// `az://CONTAINER/KEY` in Azure Blob Storage.
    Az,
    /// `hf://ORG/REPOSITORY[@REVISION]/PATH` on Hugging Face.
    Hf,
}

/// URI of a remote file.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Uri {
    scheme: Scheme,
    /// The URI as given, which may contain credentials.
    text: Arc<str>,
    shown: Arc<str>,
}

impl Uri {
    /// Parses a URI. Returns `None` for text without a scheme, such as a path.
    ///
    /// # Errors
    /// The scheme is not supported, or `http://` names another machine; the message is meant for users.
    pub fn parse(text: &str) -> Option<Result<Uri, String>> {
        let (name, rest) = text.split_once("://")?;
        let is_scheme =
            name.len() > 1 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
        if !is_scheme {
            return None;
        }
        let shown = redacted(text);
        let scheme = match &*name.to_ascii_lowercase() {
            "https" => Scheme::Http,
            "http" if is_loopback(host(rest)) => Scheme::Http,
            "http" => {
                return Some(Err(format!(
                    "`{shown}`: `http` is supported for this machine only: use `https`"
                )));
            }
            "s3" => Scheme::S3,
            "gs" => Scheme::Gs,
            "az" => Scheme::Az,
            "hf" => Scheme::Hf,
            _ => {
                let known = "https, s3, gs, az and hf";
                return Some(Err(format!("`{shown}`: the scheme `{name}` is not supported: use {known}")));
            }
        };
        Some(Ok(Uri { scheme, text: Arc::from(text), shown: Arc::from(shown) }))
    }

    /// Returns the protocol.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Returns the URI as given, which may contain credentials and must not be shown.
    pub fn secret(&self) -> &str {
        &self.text
    }

    /// Returns the URI without user name, password, query and fragment.
    pub fn shown(&self) -> &Arc<str> {
        &self.shown
    }

    /// Returns true if a part is not shown: a query, a fragment, a user name or a password.
    pub fn has_secrets(&self) -> bool {
        self.text != self.shown
    }

    /// Returns the part after `://`, including a query and a fragment.
    pub fn rest(&self) -> &str {
        self.text.split_once("://").map_or("", |(_, rest)| rest)
    }

    /// Returns the URI of a file beside this one; `location` is relative and does not leave the directory.
    pub fn beside(&self, location: &str) -> Uri {
        let end = self.text.find(['?', '#']).unwrap_or(self.text.len());
        let (path, query) = self.text.split_at(end);
        let folder = path.rfind('/').map_or(path, |slash| &path[..=slash]);
        let location = location.replace('\\', "/");
        let encoded = if self.scheme == Scheme::Http { encoded(&location) } else { location };
        let text = format!("{folder}{encoded}{query}");
        Uri { scheme: self.scheme, shown: Arc::from(redacted(&text)), text: Arc::from(text) }
    }
}

impl fmt::Debug for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

/// Returns the host of an authority and path.
fn host(rest: &str) -> &str {
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or("");
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    match host.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or(""),
        None => host.split(':').next().unwrap_or(""),
    }
}

/// Returns true if a host is this machine.
pub(super) fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Removes user name, password, query and fragment.
fn redacted(text: &str) -> String {
    let plain = text.split(['?', '#']).next().unwrap_or("");
    let Some((scheme, rest)) = plain.split_once("://") else { return String::new() };
    let (authority, path) = rest.find(['/', '\\']).map_or((rest, ""), |slash| rest.split_at(slash));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let text = format!("{scheme}://{host}{path}");
    text.chars().map(|char| if char.is_control() { '\u{fffd}' } else { char }).collect()
}

/// Percent-encodes the bytes of a path, except slashes and unreserved characters.
fn encoded(path: &str) -> String {
    let mut text = String::new();
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                text.push(byte.into())
            }
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uri(text: &str) -> Uri {
        Uri::parse(text).expect("it has a scheme").expect("it is supported")
    }

    #[test]
    fn paths_are_no_uris() {
        for path in ["model.onnx", "/a/b.onnx", "C:\\a.onnx", "c://a.onnx", "a b://c"] {
            assert!(Uri::parse(path).is_none(), "{path}");
        }
    }

    #[test]
    fn other_schemes_and_other_machines_by_http_are_refused() {
        for text in
            ["ftp://a/b", "file:///etc/passwd", "http://example.com/m.onnx", "http://localhost@evil.com/m"]
        {
            assert!(matches!(Uri::parse(text), Some(Err(_))), "{text}");
        }
        for text in ["http://127.0.0.1:80/m", "http://localhost/m", "http://[::1]:8080/m", "HTTPS://a/m"] {
            assert_eq!(uri(text).scheme(), Scheme::Http, "{text}");
        }
    }

    #[test]
    fn credentials_are_not_shown() {
        let secret = uri("https://user:pass@word@host:1/a/m.onnx?X-Signature=abc#token");
        assert_eq!(&**secret.shown(), "https://host:1/a/m.onnx");
        assert_eq!(format!("{secret:?}"), "https://host:1/a/m.onnx");
        let refused = Uri::parse("ftp://user:secret@host/a?token=secret").expect("it has a scheme");
        assert!(refused.is_err_and(|why| !why.contains("secret")));
    }

    #[test]
    fn data_beside_a_model_has_its_query() {
        let model = uri("https://u:p@host/a/m.onnx?sig=1");
        assert_eq!(model.beside("w/x y.bin").secret(), "https://u:p@host/a/w/x%20y.bin?sig=1");
        assert_eq!(&**model.beside("w.bin").shown(), "https://host/a/w.bin");
        assert_eq!(uri("s3://bucket/a/m.onnx").beside("x y.bin").secret(), "s3://bucket/a/x y.bin");
        assert_eq!(uri("hf://org/net@v1/m.onnx").beside("w.bin").secret(), "hf://org/net@v1/w.bin");
    }
}
