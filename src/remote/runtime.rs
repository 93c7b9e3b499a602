//! Threads and HTTP clients that all remote files of a process share.

use std::env;
use std::ffi::OsString;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use object_store::ObjectStore;
use rustc_hash::FxHashMap;
use tokio::runtime;

use super::address::PublicOnly;
use super::{Failure, Scheme};

/// Time to establish a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum time without receiving a byte; after that, a request fails.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// Runtime for asynchronous requests, with the clients and object stores that they share.
#[derive(Debug)]
pub struct Runtime {
    pub tokio: runtime::Runtime,
    /// Client for URIs that the user specifies.
    pub direct: reqwest::Client,
    /// Client that refuses private addresses.
    pub public: reqwest::Client,
    /// Stores by bucket: each keeps its credentials.
    pub stores: Mutex<FxHashMap<(Scheme, String), Arc<dyn ObjectStore>>>,
}

/// Id of a process, and its runtime.
///
/// A forked process needs a new runtime, because a fork copies no threads.
static CURRENT: Mutex<Option<(u32, &'static Runtime)>> = Mutex::new(None);

/// Returns the runtime of this process.
///
/// # Errors
/// The threads or the TLS clients cannot be created.
pub fn current() -> Result<&'static Runtime, Failure> {
    let mut current = CURRENT.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if let Some((_, runtime)) = current.filter(|(owner, _)| *owner == process) {
        return Ok(runtime);
    }
    let runtime: &'static Runtime = Box::leak(Box::new(create()?));
    *current = Some((process, runtime));
    Ok(runtime)
}

/// Returns the proxy for HTTPS that the environment names.
pub fn proxy() -> Option<OsString> {
    ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"]
        .into_iter()
        .filter_map(env::var_os)
        .find(|proxy| !proxy.is_empty())
}

fn create() -> Result<Runtime, Failure> {
    let tokio = runtime::Builder::new_multi_thread().worker_threads(1).enable_io().enable_time().build();
    let tokio = tokio.map_err(|error| Failure::Connection(crate::diag::reason(&error)))?;
    // Another part of the process, such as a program that uses this library, may have set a provider before.
    drop(rustls::crypto::ring::default_provider().install_default());
    // HTTP without TLS is for this machine, metadata services and endpoints of the user: no proxy is used.
    let proxy = proxy().map(|proxy| reqwest::Proxy::https(proxy.to_string_lossy().as_ref())).transpose();
    let proxy = proxy.map_err(|_| Failure::Configuration("HTTPS_PROXY is not a URL".to_owned()))?;
    let client = || {
        let client = reqwest::Client::builder().no_proxy();
        let with_proxy = |proxy: &reqwest::Proxy| proxy.clone().no_proxy(reqwest::NoProxy::from_env());
        proxy
            .iter()
            .map(with_proxy)
            .fold(client, reqwest::ClientBuilder::proxy)
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT_TIMEOUT)
            .read_timeout(READ_TIMEOUT)
            .user_agent(concat!("onnx-lint/", env!("CARGO_PKG_VERSION")))
    };
    let built = |client: reqwest::ClientBuilder| {
        client.build().map_err(|_| Failure::Connection("TLS has no root certificates".to_owned()))
    };
    Ok(Runtime {
        tokio,
        direct: built(client())?,
        public: built(client().dns_resolver(PublicOnly))?,
        stores: Mutex::default(),
    })
}
