//! `/live`: the streams of a page, multiplexed over one WebSocket, because browsers allow six
//! connections to a host (`proto/kairos/hub/v1/live.proto`).
//!
//! A stream is a call of the hub's own methods with the rights of the browser. Its next response is
//! read only against credit: what a slow page does not read waits where it comes from.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{close_code, CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::extract::State;
use axum::http::{header, HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::Router;
use bytes::{Buf, BufMut, Bytes};
use prost::Message as _;
use tokio::sync::{mpsc, Semaphore};
use tokio::task::AbortHandle;
use tonic::client::Grpc;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::metadata::MetadataMap;
use tonic::{Code, Status};

use super::Page;
use crate::access::is_foreign;
use crate::access::revocation::Revocation;
use crate::v1::live_request::Action;
use crate::v1::live_response::Event;
use crate::v1::{LiveCall, LiveEnd, LiveRequest, LiveResponse};

/// Maximum size of a message from the page.
const REQUEST_MAX: usize = 1 << 20;
/// Maximum number of streams of a page.
const STREAMS_MAX: usize = 256;
/// Maximum credit of a stream.
const CREDIT_MAX: u32 = 64;
/// Responses that may wait for the WebSocket, of all streams.
const WAITING: usize = 16;
/// Maximum size of the reason for closing a WebSocket, in bytes.
const REASON_MAX: usize = 123;
/// Interval of pings. A page that answers none of two is disconnected.
const PING: Duration = Duration::from_secs(15);

/// Accepts the WebSocket of a page of this hub.
pub async fn live(State(page): State<Page>, uri: Uri, headers: HeaderMap, upgrade: WebSocketUpgrade) -> Response {
    if is_foreign(&uri, &headers, &page.gate) {
        return StatusCode::FORBIDDEN.into_response();
    }
    // From before the check on, so that no change is missed.
    let Ok(revocation) = page.gate.visit(&headers) else {
        return StatusCode::UNAUTHORIZED.into_response();
    };
    let mut credentials = HeaderMap::new();
    for name in [header::AUTHORIZATION, header::COOKIE] {
        if let Some(value) = headers.get(&name) {
            credentials.insert(name, value.clone());
        }
    }
    upgrade
        .max_message_size(REQUEST_MAX)
        .on_upgrade(move |socket| Session::new(page.calls, credentials).serve(socket, revocation))
}

struct Session {
    calls: Router,
    /// The headers that identify the client.
    credentials: HeaderMap,
    streams: HashMap<u32, (Arc<Semaphore>, AbortHandle)>,
    sender: mpsc::Sender<LiveResponse>,
    responses: mpsc::Receiver<LiveResponse>,
}

impl Drop for Session {
    fn drop(&mut self) {
        self.streams.values().for_each(|(_, task)| task.abort());
    }
}

impl Session {
    fn new(calls: Router, credentials: HeaderMap) -> Self {
        let (sender, responses) = mpsc::channel(WAITING);
        Self {
            calls,
            credentials,
            streams: HashMap::new(),
            sender,
            responses,
        }
    }

    /// Serves until the page is gone, or its token.
    async fn serve(mut self, mut socket: WebSocket, mut revocation: Revocation) {
        let mut ping = tokio::time::interval(PING);
        let mut unanswered = 0;
        loop {
            let message = tokio::select! {
                status = &mut revocation => return self.end(socket, &status).await,
                said = socket.recv() => {
                    unanswered = 0;
                    match said {
                        Some(Ok(Message::Binary(said))) if self.take(&said).is_ok() => continue,
                        Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
                        _ => return,
                    }
                }
                Some(response) = self.responses.recv() => {
                    if let Some(Event::End(_)) = response.event {
                        self.streams.remove(&response.stream);
                    }
                    Message::Binary(response.encode_to_vec().into())
                }
                _ = ping.tick() => {
                    unanswered += 1;
                    if unanswered > 2 {
                        return;
                    }
                    Message::Ping(Bytes::new())
                }
            };
            // A page that does not read is as one that does not answer.
            if !matches!(tokio::time::timeout(2 * PING, socket.send(message)).await, Ok(Ok(()))) {
                return;
            }
        }
    }

    /// Ends all streams and the connection, with the reason.
    async fn end(mut self, mut socket: WebSocket, status: &Status) {
        let mut messages = Vec::new();
        for (stream, (_, task)) in self.streams.drain() {
            task.abort();
            let event = Some(Event::End(ended(status)));
            messages.push(Message::Binary(LiveResponse { stream, event }.encode_to_vec().into()));
        }
        messages.push(Message::Close(Some(CloseFrame {
            code: close_code::POLICY,
            reason: shortened(status.message()).into(),
        })));
        for message in messages {
            if !matches!(tokio::time::timeout(PING, socket.send(message)).await, Ok(Ok(()))) {
                return;
            }
        }
    }

    /// Does what the page asks for. An error ends the connection: the page does not know the protocol.
    fn take(&mut self, said: &[u8]) -> Result<(), ()> {
        let LiveRequest { stream, action } = LiveRequest::decode(said).map_err(drop)?;
        match action {
            Some(Action::Call(call)) => {
                if self.streams.contains_key(&stream) || self.streams.len() >= STREAMS_MAX {
                    return Err(());
                }
                let credit = Arc::new(Semaphore::new(call.credit.min(CREDIT_MAX) as usize));
                let task = tokio::spawn(follow(
                    self.calls.clone(),
                    self.credentials.clone(),
                    call,
                    credit.clone(),
                    self.sender.clone(),
                    stream,
                ));
                self.streams.insert(stream, (credit, task.abort_handle()));
            }
            Some(Action::Credit(more)) => {
                // The stream may have ended meanwhile.
                if let Some((credit, _)) = self.streams.get(&stream) {
                    let room = (CREDIT_MAX as usize).saturating_sub(credit.available_permits());
                    credit.add_permits(room.min(more as usize));
                }
            }
            Some(Action::Cancel(_)) => {
                if let Some((_, task)) = self.streams.remove(&stream) {
                    task.abort();
                }
            }
            None => return Err(()),
        }
        Ok(())
    }
}

/// Makes a call and sends its responses.
async fn follow(
    calls: Router,
    credentials: HeaderMap,
    call: LiveCall,
    credit: Arc<Semaphore>,
    sender: mpsc::Sender<LiveResponse>,
    stream: u32,
) {
    let status = match responses(calls, credentials, call, &credit, &sender, stream).await {
        Ok(()) => Status::new(Code::Ok, ""),
        Err(status) => status,
    };
    let event = Some(Event::End(ended(&status)));
    // Without a receiver the page is gone.
    let _ = sender.send(LiveResponse { stream, event }).await;
}

/// As much of a text as the reason for closing a WebSocket may have.
fn shortened(text: &str) -> &str {
    let mut end = text.len().min(REASON_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

fn ended(status: &Status) -> LiveEnd {
    LiveEnd {
        code: status.code() as u32,
        text: status.message().into(),
    }
}

async fn responses(
    calls: Router,
    credentials: HeaderMap,
    call: LiveCall,
    credit: &Semaphore,
    sender: &mpsc::Sender<LiveResponse>,
    stream: u32,
) -> Result<(), Status> {
    let path = call
        .method
        .parse()
        .map_err(|_| Status::unimplemented("there is no such method"))?;
    let mut request = tonic::Request::new(call.request);
    *request.metadata_mut() = MetadataMap::from_headers(credentials);
    let mut client = Grpc::new(calls).max_decoding_message_size(usize::MAX);
    let mut found = client.server_streaming(request, path, Raw).await?.into_inner();
    loop {
        match credit.acquire().await {
            Ok(permit) => permit.forget(),
            Err(_) => return Ok(()),
        }
        let Some(message) = found.message().await? else {
            return Ok(());
        };
        let event = Some(Event::Message(message));
        if sender.send(LiveResponse { stream, event }).await.is_err() {
            return Ok(());
        }
    }
}

/// Passes messages on as they are encoded.
#[derive(Clone, Copy)]
struct Raw;

impl Codec for Raw {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, item: Bytes, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put(item);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(buffer.copy_to_bytes(buffer.remaining())))
    }
}
