//! An end of a link: of the board nearer to the master, which learns the identity of the other one
//! and opens streams, or of the satellite, which serves them.

use core::task::{Context, Poll};

use heapless::{String, Vec};
use kairos_proto::link::{
    Envelope, Message, DESTINATION_MASTER, MESSAGE_MAX, PACKET_MAX, PIECE_MAX, TEXT_MAX, VERSION,
};

use crate::reliable::ReliableTransport;
pub use crate::streams::{Accepted, StreamLost, Streams, STREAMS, WAITERS};

/// The role of an end.
pub enum Role {
    /// Nearer to the master. The other board has number `destination`; its descriptor is stored in
    /// `buffer`.
    Upstream { destination: u8, buffer: &'static mut [u8] },
    /// The satellite, with its description and the numbers of its services. Streams to other boards
    /// are accepted if it `relays`.
    Downstream {
        text: &'static str,
        descriptor: &'static [u8],
        services: &'static [u8],
        relays: bool,
    },
}

/// The known properties of the other board.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Peer {
    pub version: u16,
    pub text: String<TEXT_MAX>,
    /// Length of its descriptor in bytes, and the bytes received.
    pub descriptor: usize,
    pub received: usize,
}

impl Peer {
    /// Whether all of it has been received.
    pub fn is_complete(&self) -> bool {
        self.received == self.descriptor
    }
}

/// Events to be logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The link is established, and the other board known.
    Up,
    Down,
    /// The other board has another version of this protocol.
    Version(u16),
}

/// An end of a link.
pub struct End {
    role: Role,
    transport: ReliableTransport,
    epoch: u32,
    streams: &'static mut Streams,
    /// Destination of this board; on a satellite once it has been assigned.
    destination: Option<u8>,
    peer: Option<Peer>,
    /// Messages due to be sent.
    hello: bool,
    welcome: bool,
    describe: bool,
    description: Option<u32>,
    pong: Option<Vec<u8, TEXT_MAX>>,
    ping: Option<Vec<u8, TEXT_MAX>>,
    pub pongs: u32,
    reported_up: bool,
    event: Option<Event>,
}

impl End {
    /// `session`: see [`ReliableTransport::new`]. `streams`: unused ones.
    pub fn new(role: Role, session: u16, streams: &'static mut Streams) -> Self {
        Self {
            destination: matches!(role, Role::Upstream { .. }).then_some(DESTINATION_MASTER),
            hello: matches!(role, Role::Downstream { .. }),
            role,
            transport: ReliableTransport::new(session),
            epoch: 0,
            streams,
            peer: None,
            welcome: false,
            describe: false,
            description: None,
            pong: None,
            ping: None,
            pongs: 0,
            reported_up: false,
            event: None,
        }
    }

    /// Destination of this board, once known.
    pub fn destination(&self) -> Option<u8> {
        self.destination
    }

    /// The other board, once it has identified itself.
    pub fn peer(&self) -> Option<&Peer> {
        self.peer.as_ref()
    }

    /// The other board's descriptor, once complete.
    pub fn descriptor(&self) -> Option<&[u8]> {
        match (&self.role, &self.peer) {
            (Role::Upstream { buffer, .. }, Some(peer)) if peer.is_complete() => buffer.get(..peer.descriptor),
            _ => None,
        }
    }

    /// Whether the link is established and both boards know each other.
    pub fn is_up(&self) -> bool {
        self.transport.is_up()
            && match self.role {
                Role::Upstream { .. } => self.peer.as_ref().is_some_and(Peer::is_complete),
                Role::Downstream { .. } => self.destination.is_some(),
            }
    }

    /// The message layer, with its counts.
    pub fn transport(&self) -> &ReliableTransport {
        &self.transport
    }

    /// The event since the last call, if any.
    pub fn take_event(&mut self) -> Option<Event> {
        if self.event.is_none() && self.is_up() != self.reported_up {
            self.reported_up = !self.reported_up;
            return Some(if self.reported_up { Event::Up } else { Event::Down });
        }
        self.event.take()
    }

    /// Asks the other end to answer; [`Self::pongs`] counts the answers.
    pub fn ping(&mut self, bytes: &[u8]) {
        self.ping = Vec::from_slice(bytes).ok();
    }

    /// Changes the other board's destination, as assigned by its gateware: informs it, and restarts
    /// everything.
    pub fn set_destination(&mut self, new: u8) {
        if let Role::Upstream { destination, .. } = &mut self.role {
            if core::mem::replace(destination, new) != new {
                self.transport.restart();
                self.check_epoch();
            }
        }
    }

    /// Opens a stream to a service of the other end, or of a board behind it; `None` if no stream is
    /// free or the link is down.
    pub fn open(&mut self, service: u8, destination: u8) -> Option<usize> {
        self.is_up().then(|| self.streams.open(service, destination)).flatten()
    }

    /// Accepts the next stream that the other end opens to a service of this one.
    pub fn poll_accept(&mut self, service: u8, cx: &Context) -> Poll<usize> {
        let own = self.destination;
        let accepted = self.poll_accept_where(cx, |to, wanted| Some(to) == own && wanted == service);
        accepted.map(|accepted| accepted.number)
    }

    /// Accepts the next stream that the other end opens to another board.
    pub fn poll_accept_for_others(&mut self, cx: &Context) -> Poll<Accepted> {
        let own = self.destination;
        self.poll_accept_where(cx, |to, _| Some(to) != own)
    }

    fn poll_accept_where(&mut self, cx: &Context, wanted: impl Fn(u8, u8) -> bool) -> Poll<Accepted> {
        match self.streams.accept(wanted) {
            Some(accepted) => Poll::Ready(accepted),
            None => {
                self.streams.register_waker(cx.waker());
                Poll::Pending
            }
        }
    }

    /// Whether there is a stream to a service.
    pub fn has_stream(&self, service: u8) -> bool {
        self.streams.has(service)
    }

    /// See [`Streams::read`].
    pub fn poll_read(&mut self, stream: usize, cx: &Context, out: &mut [u8]) -> Poll<Result<usize, StreamLost>> {
        self.streams.read(stream, cx, out)
    }

    /// See [`Streams::write`].
    pub fn poll_write(&mut self, stream: usize, cx: &Context, bytes: &[u8]) -> Poll<Result<usize, StreamLost>> {
        self.streams.write(stream, cx, bytes)
    }

    /// Closes a stream on this side.
    pub fn close(&mut self, stream: usize) {
        self.streams.close(stream);
    }

    /// Processes a received packet.
    pub fn receive(&mut self, packet: &[u8], now: u64) {
        let message = self.transport.receive(packet, now);
        self.check_epoch();
        let Some(Ok(envelope)) = message.map(Envelope::decode) else {
            return;
        };
        match envelope.message {
            Message::Hello {
                version,
                descriptor,
                text,
            } => self.on_hello(version, descriptor, text),
            Message::Welcome { destination } => self.destination = Some(destination),
            Message::Describe { offset } => self.description = Some(offset),
            Message::Description { offset, bytes } => self.on_description(offset, bytes),
            Message::Ping(bytes) => self.pong = Vec::from_slice(bytes).ok(),
            Message::Pong(_) => self.pongs = self.pongs.wrapping_add(1),
            message => {
                let (services, relays) = match self.role {
                    Role::Downstream { services, relays, .. } => (services, relays),
                    Role::Upstream { .. } => (&[][..], false),
                };
                let own = self.destination;
                let accepts = |to, service| match Some(to) == own {
                    true => services.contains(&service),
                    false => relays && own.is_some(),
                };
                self.streams.receive(&message, accepts);
            }
        }
    }

    /// Writes the packet to be sent now, if any; returns its length.
    pub fn poll(&mut self, now: u64, out: &mut [u8; PACKET_MAX]) -> Option<usize> {
        if self.transport.is_free() {
            let mut buffer = [0; PIECE_MAX];
            let mut text = [0; MESSAGE_MAX];
            let (to, from) = (self.peer_destination(), self.destination.unwrap_or(DESTINATION_MASTER));
            if let Some(message) = self.next(&mut buffer) {
                let length = Envelope { to, from, message }.encode(&mut text);
                self.transport.send(&text[..length], now);
            }
        }
        let length = self.transport.poll(now, out);
        self.check_epoch();
        length
    }

    fn peer_destination(&self) -> u8 {
        match self.role {
            Role::Upstream { destination, .. } => destination,
            Role::Downstream { .. } => DESTINATION_MASTER,
        }
    }

    /// Restarts everything if the message layer has restarted.
    fn check_epoch(&mut self) {
        if self.epoch == self.transport.epoch() {
            return;
        }
        self.epoch = self.transport.epoch();
        self.streams.lose_all();
        self.peer = None;
        (self.welcome, self.describe) = (false, false);
        (self.description, self.pong, self.ping) = (None, None, None);
        if matches!(self.role, Role::Downstream { .. }) {
            (self.hello, self.destination) = (true, None);
        }
    }

    fn on_hello(&mut self, version: u16, descriptor: u32, text: &str) {
        let Role::Upstream { buffer, .. } = &self.role else {
            return;
        };
        if version != VERSION {
            self.event = Some(Event::Version(version));
            return;
        }
        // A descriptor longer than the buffer counts as absent.
        let descriptor = usize::try_from(descriptor).unwrap_or(0);
        let descriptor = if descriptor <= buffer.len() { descriptor } else { 0 };
        self.peer = Some(Peer {
            version,
            text: String::try_from(text).unwrap_or_default(),
            descriptor,
            received: 0,
        });
        (self.welcome, self.describe) = (true, descriptor > 0);
    }

    fn on_description(&mut self, offset: u32, bytes: &[u8]) {
        let (Role::Upstream { buffer, .. }, Some(peer)) = (&mut self.role, &mut self.peer) else {
            return;
        };
        let end = peer.received + bytes.len();
        if offset as usize == peer.received && end <= peer.descriptor {
            buffer[peer.received..end].copy_from_slice(bytes);
            peer.received = end;
        }
        self.describe = !peer.is_complete();
    }

    /// The next message to be sent.
    fn next<'a>(&mut self, buffer: &'a mut [u8; PIECE_MAX]) -> Option<Message<'a>> {
        match &self.role {
            Role::Downstream { text, descriptor, .. } => {
                if core::mem::take(&mut self.hello) {
                    let descriptor = descriptor.len() as u32;
                    return Some(Message::Hello {
                        version: VERSION,
                        descriptor,
                        text,
                    });
                }
                if let Some(offset) = self.description.take() {
                    let rest = descriptor.get(offset as usize..).unwrap_or(&[]);
                    let bytes = &rest[..rest.len().min(PIECE_MAX)];
                    return Some(Message::Description { offset, bytes });
                }
            }
            Role::Upstream { destination, .. } => {
                if core::mem::take(&mut self.welcome) {
                    return Some(Message::Welcome {
                        destination: *destination,
                    });
                }
                if let (true, Some(peer)) = (core::mem::take(&mut self.describe), &self.peer) {
                    return Some(Message::Describe {
                        offset: peer.received as u32,
                    });
                }
            }
        }
        for (due, answer) in [(self.pong.take(), true), (self.ping.take(), false)] {
            let Some(bytes) = due else { continue };
            let bytes = {
                buffer[..bytes.len()].copy_from_slice(&bytes);
                &buffer[..bytes.len()]
            };
            return Some(if answer {
                Message::Pong(bytes)
            } else {
                Message::Ping(bytes)
            });
        }
        self.streams.next(buffer)
    }
}
