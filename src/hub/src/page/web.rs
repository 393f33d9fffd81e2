//! Calls of browsers: gRPC-web, which needs neither HTTP/2 nor trailers.

use axum::body::Body;
use axum::extract::Request;
use axum::http::header;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tonic_web::GrpcWebLayer;
use tower::{Layer, ServiceExt};

/// Translates a call that is gRPC-web, and its response; passes others on.
pub async fn translate(request: Request, next: Next) -> Response {
    let kind = request.headers().get(header::CONTENT_TYPE);
    if !kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/grpc-web")) {
        return next.run(request).await;
    }
    let inner = tower::service_fn(move |request: axum::http::Request<tonic::body::Body>| {
        let next = next.clone();
        async move { Ok::<_, std::convert::Infallible>(next.run(request.map(Body::new)).await) }
    });
    match GrpcWebLayer::new().layer(inner).oneshot(request).await {
        Ok(response) => response.map(Body::new).into_response(),
        Err(never) => match never {},
    }
}
