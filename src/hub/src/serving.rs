//! Serving HTTP on accepted connections: TLS, HTTP/1.1 and HTTP/2 with their limits, WebSockets.
//!
//! tonic's own server closes a connection that asks for a WebSocket.

use std::future::Future;
use std::io::Error;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::Router;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::TlsAcceptor;
use tokio_stream::{Stream, StreamExt};
use tonic::transport::server::{Connected, TcpConnectInfo};
use tower::ServiceExt;

use crate::connections::Connection;
use crate::settings::Tls;

/// Interval of keepalive pings. A client that does not answer in time is disconnected, which ends
/// its streams.
pub const PING: Duration = Duration::from_secs(30);
/// Time limit for the answer to a ping.
const PONG: Duration = Duration::from_secs(20);
/// Time limit for the TLS handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Maximum HTTP/2 frame size from clients: large, so that streams to buffers need few frames.
pub const FRAME_MAX: u32 = 256 * 1024;
/// Maximum number of concurrent calls per connection.
pub const STREAMS_MAX: u32 = 128;

/// TLS with this certificate. The error is a line for the user.
pub fn acceptor(tls: &Tls) -> Result<TlsAcceptor, String> {
    let wrong = |error: &dyn std::fmt::Display| format!("[tls]: no PEM certificate with its key: {error}");
    let chain: Vec<_> = CertificateDer::pem_slice_iter(&tls.certificate)
        .collect::<Result<_, _>>()
        .map_err(|error| wrong(&error))?;
    let key = PrivateKeyDer::from_pem_slice(&tls.key).map_err(|error| wrong(&error))?;
    let mut config =
        ServerConfig::builder_with_provider(Arc::new(tokio_rustls::rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| wrong(&error))?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(|error| wrong(&error))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Serves connections until `ended`, then waits for the calls under way.
pub async fn serve(
    mut incoming: impl Stream<Item = Result<Connection, Error>> + Unpin,
    tls: Option<TlsAcceptor>,
    router: Router,
    ended: impl Future<Output = ()>,
) {
    let (end, _) = watch::channel(());
    let mut connections = JoinSet::new();
    tokio::pin!(ended);
    loop {
        tokio::select! {
            accepted = incoming.next() => match accepted {
                Some(Ok(connection)) => {
                    connections.spawn(handle(connection, tls.clone(), router.clone(), end.subscribe()));
                }
                Some(Err(_)) => {}
                None => break,
            },
            Some(_) = connections.join_next() => {}
            () = &mut ended => break,
        }
    }
    end.send_replace(());
    while connections.join_next().await.is_some() {}
}

async fn handle(connection: Connection, tls: Option<TlsAcceptor>, router: Router, end: watch::Receiver<()>) {
    let from = connection.connect_info();
    let Some(tls) = tls else {
        return http(connection, from, router, end).await;
    };
    match tokio::time::timeout(HANDSHAKE, tls.accept(connection)).await {
        Ok(Ok(stream)) => http(stream, from, router, end).await,
        Ok(Err(error)) => tracing::debug!("a TLS handshake has failed: {error}"),
        Err(_) => tracing::debug!("a TLS handshake was not completed in time"),
    }
}

async fn http<S>(stream: S, from: TcpConnectInfo, router: Router, mut end: watch::Receiver<()>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(move |request: axum::http::Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(from.clone());
        router.clone().oneshot(request)
    });
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new());
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS_MAX)
        .max_frame_size(FRAME_MAX)
        .keep_alive_interval(PING)
        .keep_alive_timeout(PONG);
    let connection = builder.serve_connection_with_upgrades(TokioIo::new(stream), service);
    tokio::pin!(connection);
    tokio::select! {
        result = connection.as_mut() => return report(result),
        _ = end.changed() => connection.as_mut().graceful_shutdown(),
    }
    report(connection.await);
}

fn report(result: Result<(), Box<dyn std::error::Error + Send + Sync>>) {
    if let Err(error) = result {
        tracing::debug!("a connection has ended: {error}");
    }
}
