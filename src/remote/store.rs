//! The object store of a URI, configured by the environment.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::http::HttpBuilder;
use object_store::path::Path;
use object_store::{BackoffConfig, ObjectStore, RetryConfig};
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderValue};

use super::runtime::Runtime;
use super::service::Service;
use super::{Failure, Scheme, Uri};

/// Location of a file: its store, and its path in the store.
pub type Located = (Arc<dyn ObjectStore>, Path);

/// Server of Hugging Face, unless `HF_ENDPOINT` names another one.
const HUGGING_FACE: &str = "https://huggingface.co";

/// Returns where the file of a URI is.
///
/// # Errors
/// The URI or the environment is incomplete.
pub fn locate(uri: &Uri, runtime: &Runtime) -> Result<Located, Failure> {
    match uri.scheme() {
        Scheme::Http => http(uri.secret(), None, uri.scheme(), runtime),
        Scheme::Hf => {
            let token = std::env::var("HF_TOKEN").ok().filter(|token| !token.trim().is_empty());
            let authorization = token.map(|token| secret(&format!("Bearer {}", token.trim()))).transpose()?;
            http(&hugging_face(uri)?, authorization, uri.scheme(), runtime)
        }
        Scheme::S3 | Scheme::Gs | Scheme::Az => {
            let (bucket, key) = uri.rest().split_once('/').unwrap_or((uri.rest(), ""));
            if bucket.is_empty() || key.is_empty() {
                return Err(Failure::Configuration("the URI names no file in a bucket".to_owned()));
            }
            let path = Path::parse(key).map_err(|_| {
                Failure::Configuration("the key of the URI has empty, `.` or `..` parts".to_owned())
            })?;
            Ok((bucket_store(uri, bucket, runtime)?, path))
        }
    }
}

/// Returns a header value that is not printed.
fn secret(text: &str) -> Result<HeaderValue, Failure> {
    let mut value = HeaderValue::from_str(text)
        .map_err(|_| Failure::Configuration("the token has invalid characters".to_owned()))?;
    value.set_sensitive(true);
    Ok(value)
}

fn http(
    url: &str,
    authorization: Option<HeaderValue>,
    scheme: Scheme,
    runtime: &Runtime,
) -> Result<Located, Failure> {
    let invalid = |_| Failure::Configuration("the URL is invalid".to_owned());
    let url: Url = url.parse().map_err(invalid)?;
    // reqwest moves the user name and the password of the URL to a header, which no other server gets.
    let request = runtime
        .direct
        .get(url.clone())
        .build()
        .map_err(|_| Failure::Configuration("the URL is invalid".to_owned()))?;
    let authorization = authorization.or_else(|| request.headers().get(AUTHORIZATION).cloned());
    let mut url = request.url().clone();
    url.set_fragment(None);
    let service = service(runtime, authorization, scheme);
    let store = HttpBuilder::new().with_url(url).with_retry(retries()).with_http_connector(service).build();
    Ok((
        Arc::new(store.map_err(|_| Failure::Configuration("the URL is invalid".to_owned()))?),
        Path::default(),
    ))
}

fn service(runtime: &Runtime, authorization: Option<HeaderValue>, scheme: Scheme) -> Service {
    let (direct, public) = (runtime.direct.clone(), runtime.public.clone());
    Service { direct, public, authorization, scheme, allows_http: allows_http(scheme) }
}

/// Returns the URL of a file of Hugging Face.
fn hugging_face(uri: &Uri) -> Result<String, Failure> {
    let form = || Failure::Configuration("write it as hf://ORG/REPOSITORY[@REVISION]/PATH".to_owned());
    let endpoint = std::env::var("HF_ENDPOINT").ok().filter(|endpoint| !endpoint.is_empty());
    let endpoint = endpoint.unwrap_or_else(|| HUGGING_FACE.to_owned());
    let shown = match Uri::parse(&endpoint) {
        Some(Ok(parsed)) if parsed.scheme() == Scheme::Http => parsed,
        _ => return Err(Failure::Configuration("HF_ENDPOINT is not the address of a server".to_owned())),
    };
    let plain = uri.rest().split(['?', '#']).next().unwrap_or("");
    let mut parts = plain.splitn(3, '/').filter(|part| !part.is_empty());
    let (Some(owner), Some(repository), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
        return Err(form());
    };
    let (name, revision) = repository.split_once('@').unwrap_or((repository, "main"));
    let mut url: Url = shown.secret().parse().map_err(|_| form())?;
    let mut segments = url.path_segments_mut().map_err(|()| form())?;
    // `push` encodes a slash in a revision, as the server requires.
    segments.pop_if_empty().push(owner).push(name).push("resolve").push(revision).extend(path.split('/'));
    drop(segments);
    Ok(url.into())
}

/// Returns the object store of a bucket, with credentials from the environment.
fn bucket_store(uri: &Uri, bucket: &str, runtime: &Runtime) -> Result<Arc<dyn ObjectStore>, Failure> {
    let key = (uri.scheme(), bucket.to_owned());
    let mut stores = runtime.stores.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(store) = stores.get(&key) {
        return Ok(store.clone());
    }
    let service = service(runtime, None, uri.scheme());
    let store: Arc<dyn ObjectStore> = match uri.scheme() {
        Scheme::Gs => {
            let store = GoogleCloudStorageBuilder::from_env().with_bucket_name(bucket);
            Arc::new(store.with_retry(retries()).with_http_connector(service).build().map_err(|_| {
                Failure::Configuration("the environment variables of Google Cloud are invalid".to_owned())
            })?)
        }
        Scheme::Az => {
            let store = MicrosoftAzureBuilder::from_env().with_container_name(bucket);
            Arc::new(store.with_retry(retries()).with_http_connector(service).build().map_err(|_| {
                Failure::Configuration("set AZURE_STORAGE_ACCOUNT_NAME and a credential of Azure".to_owned())
            })?)
        }
        _ => {
            let store = AmazonS3Builder::from_env().with_bucket_name(bucket);
            Arc::new(store.with_retry(retries()).with_http_connector(service).build().map_err(|_| {
                Failure::Configuration("the environment variables of AWS are invalid".to_owned())
            })?)
        }
    };
    stores.insert(key, store.clone());
    Ok(store)
}

/// Returns true if the environment allows HTTP without TLS to other machines.
fn allows_http(scheme: Scheme) -> bool {
    let name = match scheme {
        Scheme::S3 => "AWS_ALLOW_HTTP",
        Scheme::Az => "AZURE_ALLOW_HTTP",
        Scheme::Gs | Scheme::Hf | Scheme::Http => return false,
    };
    std::env::var(name).is_ok_and(|value| matches!(&*value.to_ascii_lowercase(), "true" | "1" | "yes"))
}

/// Returns the number of attempts, and the time between them.
fn retries() -> RetryConfig {
    RetryConfig {
        backoff: BackoffConfig {
            init_backoff: Duration::from_millis(100),
            max_backoff: Duration::from_secs(2),
            base: 2.0,
        },
        max_retries: 3,
        retry_timeout: Duration::from_secs(60),
    }
}
