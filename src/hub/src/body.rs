//! Bodies of responses: of a forwarded one, whose call counts as under way until it has ended, and whose status may be
//! that of a process that ended meanwhile; and of any one, marked as the hub's.

use std::pin::Pin;
use std::task::{ready, Context, Poll};
use std::time::{Duration, Instant};

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
/// By how much a process may cut a call too early whose time is up.
const ROUNDING: Duration = Duration::from_millis(5);

/// Whether this is the status of a call that was cut because its process ended.
pub fn is_cut(headers: &HeaderMap) -> bool {
    let text = headers.get("grpc-message");
    text.is_some_and(|text| text.as_bytes() == CUT || text.as_bytes() == b"Cancelling%20all%20calls")
}

/// What tonic says, as INTERNAL, of a request that cannot be decoded: but it is the client's fault, not the hub's.
const UNDECODED: &str = "failed to decode Protobuf message";

/// Has a call whose request could not be decoded end as one with an invalid request.
fn blame(headers: &mut HeaderMap) {
    let text = headers.get("grpc-message").and_then(|text| text.to_str().ok());
    let is_undecoded = text.is_some_and(|text| text.replace("%20", " ").starts_with(UNDECODED));
    if is_undecoded && headers.get("grpc-status").is_some_and(|status| status == "13") {
        headers.insert("grpc-status", HeaderValue::from_static("3"));
    }
}

/// Marks a response as the hub's.
pub async fn mark(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    if response.headers().contains_key("grpc-status") {
        blame(response.headers_mut());
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
    /// The status of a body that was aborted, or whose call was cut; if None, they are passed on.
    lost: Option<Lost>,
}

/// What becomes of a call whose process has cut it.
#[derive(Debug)]
pub struct Lost {
    /// If the process is lost.
    status: tonic::Status,
    /// The process itself cuts a call whose time is up.
    deadline: Option<Instant>,
}

impl Lost {
    /// `status`: if the process is lost. `headers`: those of the request.
    pub fn new(status: tonic::Status, headers: &HeaderMap) -> Self {
        let limit = headers
            .get("grpc-timeout")
            .and_then(|value| time_limit(value.to_str().ok()?));
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        Self { status, deadline }
    }

    /// The status of a call that is cut now.
    pub fn status(&self) -> tonic::Status {
        match self.deadline {
            Some(deadline) if deadline <= Instant::now() + ROUNDING => {
                tonic::Status::deadline_exceeded("the call has not ended within the time that its client gave it")
            }
            _ => self.status.clone(),
        }
    }

    fn trailers(&self) -> HeaderMap {
        self.status().into_http::<()>().into_parts().0.headers
    }
}

/// Parses the time that a client gives a call, in gRPC's format: up to eight digits and a unit.
fn time_limit(text: &str) -> Option<Duration> {
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let number: u64 = digits.parse().ok().filter(|_| digits.len() <= 8)?;
    Some(match unit {
        "H" => Duration::from_secs(number * 3600),
        "M" => Duration::from_secs(number * 60),
        "S" => Duration::from_secs(number),
        "m" => Duration::from_millis(number),
        "u" => Duration::from_micros(number),
        "n" => Duration::from_nanos(number),
        _ => return None,
    })
}

impl PermitBody {
    /// `lost`: the status for a client that received a part of an answer whose rest is lost.
    pub fn new(body: Body, permit: OwnedSemaphorePermit, lost: Option<Lost>) -> Self {
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
                    *trailers = lost.trailers();
                }
            }
            return Poll::Ready(Some(Ok(frame)));
        }
        self.permit = None;
        Poll::Ready(match (frame, self.lost.take()) {
            (Some(Err(_)), Some(lost)) => Some(Ok(Frame::trailers(lost.trailers()))),
            (frame, _) => frame,
        })
    }

    fn is_end_stream(&self) -> bool {
        self.permit.is_none() || self.body.is_end_stream()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_of_a_call_is_read_in_the_format_of_grpc() {
        for (text, expected) in [
            ("1H", Some(Duration::from_secs(3600))),
            ("99999999S", Some(Duration::from_secs(99_999_999))),
            ("200m", Some(Duration::from_millis(200))),
            ("7u", Some(Duration::from_micros(7))),
            ("7n", Some(Duration::from_nanos(7))),
            ("", None),
            ("S", None),
            ("1", None),
            ("1é", None),
            ("-1S", None),
            ("100000000S", None),
        ] {
            assert_eq!(time_limit(text), expected, "{text}");
        }
    }
}
