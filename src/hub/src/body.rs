//! Bodies of responses: of a forwarded one, whose call counts as under way until it has ended, and whose status may be
//! that of a process that ended meanwhile; and of any one, marked as the hub's.

use std::pin::Pin;
use std::task::{ready, Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use http_body::Frame;
use http_body_util::BodyExt;
use tokio::sync::OwnedSemaphorePermit;

/// Metadata at the end of each response: a client that finds it knows that the hub has answered. Without it a status
/// such as UNAVAILABLE is the client's own, of a connection that failed.
const MARK: &str = "kairos-hub";
/// What a server of gRPC's Python library says, as UNAVAILABLE or CANCELLED, of calls that it cuts when it ends.
const CUT: &[u8] = b"Cancelling all calls";

/// Whether this is the status of a call that was cut because its process ended.
pub fn is_cut(headers: &HeaderMap) -> bool {
    let text = headers.get("grpc-message");
    text.is_some_and(|text| text.as_bytes() == CUT || text.as_bytes() == b"Cancelling%20all%20calls")
}

/// Marks a response as the hub's.
pub async fn mark(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    if response.headers().contains_key("grpc-status") {
        response.headers_mut().insert(MARK, HeaderValue::from_static("1"));
        return response;
    }
    response.map(|body| {
        Body::new(body.map_frame(|mut frame| {
            if let Some(trailers) = frame.trailers_mut() {
                trailers.insert(MARK, HeaderValue::from_static("1"));
            }
            frame
        }))
    })
}

/// A body with the permit for its call, which is released when the body ends or is dropped.
pub struct PermitBody {
    body: Body,
    permit: Option<OwnedSemaphorePermit>,
    /// Trailers with which a body ends that was aborted, or whose call was cut; if None, they are passed on.
    lost: Option<HeaderMap>,
}

impl PermitBody {
    /// `lost`: the status for a client that received a part of an answer whose rest is lost.
    pub fn new(body: Body, permit: OwnedSemaphorePermit, lost: Option<tonic::Status>) -> Self {
        let lost = lost.map(|status| status.into_http::<()>().into_parts().0.headers);
        Self {
            body,
            permit: Some(permit),
            lost,
        }
    }
}

impl HttpBody for PermitBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.permit.is_none() {
            return Poll::Ready(None);
        }
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        if let Some(Ok(mut frame)) = frame {
            if let (Some(trailers), Some(lost)) = (frame.trailers_mut(), &self.lost) {
                if is_cut(trailers) {
                    *trailers = lost.clone();
                }
            }
            return Poll::Ready(Some(Ok(frame)));
        }
        self.permit = None;
        Poll::Ready(match (frame, self.lost.take()) {
            (Some(Err(_)), Some(trailers)) => Some(Ok(Frame::trailers(trailers))),
            (frame, _) => frame,
        })
    }

    fn is_end_stream(&self) -> bool {
        self.permit.is_none() || self.body.is_end_stream()
    }
}
