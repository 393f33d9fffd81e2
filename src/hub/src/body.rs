//! The body of an answer that comes bit by bit: until it has ended, the call counts as one that is under way.

use std::pin::Pin;
use std::task::{ready, Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::HeaderMap;
use http_body::Frame;
use tokio::sync::OwnedSemaphorePermit;

/// A body, and the permission to have this call under way, which goes back when the body has ended
/// or nobody wants it any more.
pub struct Held {
    body: Body,
    permit: Option<OwnedSemaphorePermit>,
    /// How a body ends that breaks off; without, it breaks off.
    lost: Option<HeaderMap>,
}

impl Held {
    /// `lost`: what a client is told that has had a part of an answer, the rest of which does not come.
    pub fn new(body: Body, permit: OwnedSemaphorePermit, lost: Option<tonic::Status>) -> Self {
        let lost = lost.map(|status| status.into_http::<()>().into_parts().0.headers);
        Self {
            body,
            permit: Some(permit),
            lost,
        }
    }
}

impl HttpBody for Held {
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
        if let Some(Ok(frame)) = frame {
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
