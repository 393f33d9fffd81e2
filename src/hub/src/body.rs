//! The body of a streamed response: the call counts as under way until the body has ended.

use std::pin::Pin;
use std::task::{ready, Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::HeaderMap;
use http_body::Frame;
use tokio::sync::OwnedSemaphorePermit;

/// A body with the permit for its call, which is released when the body ends or is dropped.
pub struct PermitBody {
    body: Body,
    permit: Option<OwnedSemaphorePermit>,
    /// Trailers with which an aborted body ends; if None, the error is passed on.
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
