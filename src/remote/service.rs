//! HTTP requests: redirects to allowed places, and ranges as requested.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
};
use reqwest::header::{
    AUTHORIZATION, CONTENT_LENGTH, COOKIE, HeaderValue, LAST_MODIFIED, LOCATION, PROXY_AUTHORIZATION, RANGE,
};
use reqwest::{StatusCode, Url};

use super::address::{is_private_literal, leads_to_private};
use super::runtime::proxy;
use super::uri::is_loopback;
use super::{Failure, Scheme};

/// Maximum number of redirects of one request.
const MOST_REDIRECTS: usize = 8;

/// Length of a body whose length the server does not state.
pub const UNKNOWN_LENGTH: u64 = u64::MAX;

/// Time in which the metadata service of a cloud, a server in the local network, must respond.
const METADATA_TIMEOUT: Duration = Duration::from_secs(2);

/// Hosts of the metadata services that provide credentials to machines of a cloud.
const METADATA_HOSTS: [&str; 4] =
    ["169.254.169.254", "169.254.170.2", "metadata.google.internal", "[fd00:ec2::254]"];

/// Sends the requests of object stores.
#[derive(Clone, Debug)]
pub struct Service {
    /// Client for the URI that the user specifies, and for redirects by a proxy or of a private server.
    pub direct: reqwest::Client,
    /// Client for other redirects: it refuses private addresses.
    pub public: reqwest::Client,
    /// Value of the header `Authorization`, which redirects to other servers do not get.
    pub authorization: Option<HeaderValue>,
    pub scheme: Scheme,
    /// Whether HTTP without TLS is allowed to other machines than this one.
    pub allows_http: bool,
}

impl HttpConnector for Service {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}

impl HttpService for Service {
    fn call<'s, 'f>(
        &'s self,
        request: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'f>>
    where
        's: 'f,
        Self: 'f,
    {
        Box::pin(async move {
            let host = request.uri().host().unwrap_or("");
            if !METADATA_HOSTS.contains(&host) {
                return self.follow(request).await;
            }
            let response = tokio::time::timeout(METADATA_TIMEOUT, self.direct.call(request)).await;
            match response {
                Ok(Ok(response)) if response.status().is_success() => Ok(response),
                _ => Err(fail(Failure::NoCredentials(self.scheme))),
            }
        })
    }
}

/// Returns an error that is not retried.
fn fail(failure: Failure) -> HttpError {
    HttpError::new(HttpErrorKind::Unknown, failure)
}

impl Service {
    /// Sends a request and follows its redirects.
    async fn follow(&self, mut request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let start: Url = url_of(&request)?;
        if start.scheme() == "http" && !self.allows_http && !start.host_str().is_some_and(is_loopback) {
            return Err(fail(Failure::NoTls(self.scheme)));
        }
        if let Some(value) = &self.authorization {
            request.headers_mut().insert(AUTHORIZATION, value.clone());
        }
        let mut at = start.clone();
        for _ in 0..=MOST_REDIRECTS {
            let client = if at == start { &self.direct } else { self.client_for(&start).await };
            let response = client.call(request.clone()).await?;
            let Some(next) = target(&at, &response)? else { return checked(&request, response) };
            check_redirect(&start, &next).await?;
            if next.origin() != at.origin() {
                for name in [AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION] {
                    request.headers_mut().remove(name);
                }
            }
            *request.uri_mut() = next.as_str().parse().map_err(|_| redirect("an invalid address"))?;
            at = next;
        }
        Err(redirect("more than eight addresses in a row"))
    }

    async fn client_for(&self, start: &Url) -> &reqwest::Client {
        // A proxy resolves the names of servers, and may itself have a private address.
        let is_exempt = proxy().is_some() || leads_to_private(start).await;
        if is_exempt { &self.direct } else { &self.public }
    }
}

fn url_of(request: &HttpRequest) -> Result<Url, HttpError> {
    let parsed = request.uri().to_string().parse();
    parsed.map_err(|_| fail(Failure::Configuration("the URL is invalid".to_owned())))
}

fn redirect(where_to: &str) -> HttpError {
    fail(Failure::Redirect(where_to.to_owned()))
}

/// Returns the target of a redirect, or `None` if the response is no redirect.
fn target(at: &Url, response: &HttpResponse) -> Result<Option<Url>, HttpError> {
    let status = response.status();
    if !status.is_redirection() || status == StatusCode::NOT_MODIFIED {
        return Ok(None);
    }
    let Some(location) = response.headers().get(LOCATION) else { return Err(fail(Failure::Region)) };
    let next = location.to_str().ok().and_then(|location| at.join(location).ok());
    next.map(Some).ok_or_else(|| redirect("an invalid address"))
}

/// Checks that a redirect keeps encryption, and does not lead to a private IP address.
///
/// A private server may redirect to another private server. The client resolves and checks host names.
async fn check_redirect(start: &Url, next: &Url) -> Result<(), HttpError> {
    let is_local = |url: &Url| url.scheme() == "http" && url.host_str().is_some_and(is_loopback);
    match next.scheme() {
        "https" => {}
        "http" if is_local(start) && is_local(next) => {}
        scheme => return Err(redirect(&format!("the scheme `{scheme}`"))),
    }
    if is_private_literal(next) && !leads_to_private(start).await {
        return Err(redirect("a private address"));
    }
    Ok(())
}

/// Checks that the response to a request with a range is partial.
///
/// Drops the body of an error, which may be endless.
fn checked(request: &HttpRequest, response: HttpResponse) -> Result<HttpResponse, HttpError> {
    let status = response.status();
    if !status.is_success() && status != StatusCode::RANGE_NOT_SATISFIABLE {
        let (parts, _) = response.into_parts();
        return Ok(HttpResponse::from_parts(parts, Bytes::new().into()));
    }
    if request.headers().contains_key(RANGE) {
        match status {
            StatusCode::PARTIAL_CONTENT => {}
            StatusCode::RANGE_NOT_SATISFIABLE => return Err(fail(Failure::PastEnd)),
            _ => return Err(fail(Failure::NoRanges(0))),
        }
    }
    Ok(with_length(response))
}

/// Adds headers that object_store requires and a server may omit: the length of the body, and a date.
fn with_length(mut response: HttpResponse) -> HttpResponse {
    let headers = response.headers_mut();
    // `Last-Modified` is not used, and not every server formats it as object_store requires.
    headers.insert(LAST_MODIFIED, HeaderValue::from_static("Thu, 01 Jan 1970 00:00:00 GMT"));
    headers.entry(CONTENT_LENGTH).or_insert(HeaderValue::from(UNKNOWN_LENGTH));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a redirect from `start` to `next`; `expected` describes the refused address, or is empty if
    /// the redirect is allowed.
    fn check(start: &str, next: &str, expected: &str) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let url = |text: &str| text.parse::<Url>().expect("a URL");
        let checked = runtime.block_on(check_redirect(&url(start), &url(next)));
        let message = checked.err().map_or(String::new(), |error| {
            let failure =
                std::error::Error::source(&error).and_then(|source| source.downcast_ref::<Failure>());
            failure.expect("the failure is the source").to_string()
        });
        let expected =
            if expected.is_empty() { String::new() } else { format!("the server redirects to {expected}") };
        assert_eq!(message, expected, "{start} to {next}");
    }

    #[test]
    fn redirects_keep_encryption_and_do_not_lead_into_private_networks() {
        check("https://1.1.1.1/m", "https://8.8.8.8/m", "");
        check("https://1.1.1.1/m", "http://8.8.8.8/m", "the scheme `http`");
        check("https://1.1.1.1/m", "file:///etc/passwd", "the scheme `file`");
        check("https://1.1.1.1/m", "https://127.0.0.1/m", "a private address");
        check("https://1.1.1.1/m", "https://localhost/m", "a private address");
        check("https://1.1.1.1/m", "https://[::ffff:10.0.0.1]/m", "a private address");
        check("https://1.1.1.1/m", "https://169.254.169.254/m", "a private address");
        check("https://10.0.0.1/m", "https://10.0.0.2/m", "");
        check("http://127.0.0.1:1/m", "http://127.0.0.1:2/m", "");
        check("http://127.0.0.1:1/m", "http://10.0.0.1/m", "the scheme `http`");
    }
}
