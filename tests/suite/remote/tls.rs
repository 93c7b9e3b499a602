//! Servers with TLS, whose certificate is trusted or not.

use std::net::TcpStream;
use std::sync::Arc;

use rcgen::CertifiedKey;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::server::{Reply, Server, Stream};
use super::{large, lint, whole};
use crate::tool::Sandbox;

/// Starts a server of one file, with a new certificate for this machine.
///
/// Returns the server, and the certificate as PEM.
fn secure(file: Vec<u8>) -> (Server, String) {
    let CertifiedKey { cert, signing_key } =
        rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
    let key = PrivateKeyDer::Pkcs8(signing_key.serialize_der().into());
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|config| config.with_no_client_auth().with_single_cert(vec![cert.der().clone()], key))
        .expect("the key belongs to the certificate");
    let config = Arc::new(config);
    let open = move |stream: TcpStream| -> Box<dyn Stream> {
        let connection = ServerConnection::new(config.clone()).expect("the configuration is complete");
        Box::new(StreamOwned::new(connection, stream))
    };
    let handler = move |request: &super::server::Request| Reply::file(request, &file, "\"1\"");
    (Server::over("https", open, handler), cert.pem())
}

#[test]
fn a_trusted_server_is_read_by_ranges() {
    let content = large();
    let (server, certificate) = secure(content.clone());
    let sandbox = Sandbox::new(&[]);
    sandbox.write("trusted.pem", certificate.as_bytes());
    let trusted = sandbox.path("trusted.pem");
    let url = server.url("model.onnx");
    let ran = lint(&sandbox, &[&url], &[("SSL_CERT_FILE", trusted.to_str().expect("UTF-8"))]);
    assert_eq!(ran, whole(&content, &url));
    assert!(server.sent() < 100_000);
}

#[test]
fn a_server_with_an_unknown_certificate_is_a_fault() {
    let (server, _) = secure(large());
    let ran = lint(&Sandbox::new(&[]), &["--deadline", "30", &server.url("model.onnx")], &[]);
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.stdout.contains("certificate"), "{ran:?}");
    assert!(server.requests().is_empty());
}
