//! Connections to the processes to which calls are forwarded. All calls to a process share one connection, and a
//! client that does not read its stream must not stop the others.
//!
//! HTTP/2 lets the other side send only what this one has room for: each stream has its window, and the connection has
//! one for all of them together. The hub takes from a stream what its client reads; the rest fills the stream's window,
//! where it stays as long as the client does not read. The window of the connection is therefore as large as those of
//! all calls that may be under way together. What does not fit waits at the process, which sends the newest state
//! again when there is room.

use tonic::transport::Endpoint;

/// Bytes that wait in the hub for the client of a call, at most.
const WINDOW: u32 = 256 << 10;

/// How to connect to a process that has at most `calls` calls under way.
pub fn endpoint(calls: usize) -> Endpoint {
    let together = u64::from(WINDOW) * calls as u64;
    // The address is required, but not used. The limit is that of HTTP/2.
    Endpoint::from_static("http://process")
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(together.min((1 << 31) - 1) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    use axum::body::{Body, Bytes};
    use axum::routing::any;
    use axum::Router;
    use http_body_util::BodyExt;
    use hyper_util::rt::TokioIo;
    use tokio::net::{UnixListener, UnixStream};
    use tokio_stream::wrappers::UnixListenerStream;
    use tonic::service::Routes;
    use tonic::transport::{Channel, Server};
    use tower::{Service, ServiceExt};

    const CALLS: usize = 64;

    fn endless() -> Body {
        Body::from_stream(tokio_stream::iter(std::iter::repeat_with(|| {
            Ok::<_, Infallible>(Bytes::from_static(&[0; 65536]))
        })))
    }

    async fn call(channel: &mut Channel, path: &str) -> tonic::body::Body {
        let request = axum::http::Request::post(path)
            .body(tonic::body::Body::empty())
            .unwrap();
        let response = channel.ready().await.unwrap().call(request).await.unwrap();
        response.into_body()
    }

    #[tokio::test]
    async fn streams_that_are_not_read_leave_room_for_the_last_call() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let listener = UnixListener::bind(&socket).unwrap();
        let routes = Router::new()
            .route("/endless", any(|| async { endless() }))
            .route("/short", any(|| async { Body::from(vec![1; 4 * WINDOW as usize]) }));
        let served = Server::builder().add_routes(Routes::from(routes));
        tokio::spawn(served.serve_with_incoming(UnixListenerStream::new(listener)));
        let connect = tower::service_fn(move |_| {
            let socket = socket.clone();
            async move { UnixStream::connect(socket).await.map(TokioIo::new) }
        });
        let mut channel = endpoint(CALLS).connect_with_connector_lazy(connect);
        let mut unread = Vec::new();
        for _ in 1..CALLS {
            let mut body = call(&mut channel, "/endless").await;
            body.frame().await.unwrap().unwrap();
            unread.push(body);
        }
        // Until the windows of all streams are full, others are served; and then, too.
        for _ in 0..20 {
            let body = call(&mut channel, "/short").await.collect();
            let limit = std::time::Duration::from_secs(30);
            let bytes = tokio::time::timeout(limit, body).await.expect("it waits").unwrap();
            assert_eq!(bytes.to_bytes().len(), 4 * WINDOW as usize);
        }
        // Whoever reads again gets more than was waiting.
        let mut read = 0;
        while read < 8 * WINDOW as usize {
            read += unread[0].frame().await.unwrap().unwrap().into_data().unwrap().len();
        }
    }
}
