//! An end of a link: of the board nearer to the master, which learns the identity of the other one
//! and opens streams, or of the satellite, which serves them.

use core::task::{Context, Poll};

use heapless::{String, Vec};
use kairos_proto::link::{
    Envelope, Message, DESTINATION_MASTER, MESSAGE_MAX, PACKET_MAX, PIECE_MAX, TEXT_MAX, VERSION,
};

use crate::courier::Courier;
pub use crate::streams::{Gone, Streams, Taken, STREAMS, WAITERS};

/// The role of an end.
pub enum Role {
    /// Nearer to the master. The other board has number `destination`; its descriptor is stored in
    /// `room`.
    Near { destination: u8, room: &'static mut [u8] },
    /// The satellite, with its description and the numbers of its services. Streams to other boards
    /// are accepted if it `relays`.
    Far {
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
    pub come: usize,
}

impl Peer {
    /// Whether all of it has been received.
    pub fn is_complete(&self) -> bool {
        self.come == self.descriptor
    }
}

/// Events to be logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// The link is established, and the other board known.
    Up,
    Down,
    /// The other board has another version of this protocol.
    Version(u16),
}

/// An end of a link.
pub struct End {
    role: Role,
    courier: Courier,
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
    told_up: bool,
    news: Option<News>,
}

impl End {
    /// `session`: see [`Courier::new`]. `streams`: unused ones.
    pub fn new(role: Role, session: u16, streams: &'static mut Streams) -> Self {
        Self {
            destination: matches!(role, Role::Near { .. }).then_some(DESTINATION_MASTER),
            hello: matches!(role, Role::Far { .. }),
            role,
            courier: Courier::new(session),
            epoch: 0,
            streams,
            peer: None,
            welcome: false,
            describe: false,
            description: None,
            pong: None,
            ping: None,
            pongs: 0,
            told_up: false,
            news: None,
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
            (Role::Near { room, .. }, Some(peer)) if peer.is_complete() => room.get(..peer.descriptor),
            _ => None,
        }
    }

    /// Whether the link is established and both boards know each other.
    pub fn is_up(&self) -> bool {
        self.courier.is_up()
            && match self.role {
                Role::Near { .. } => self.peer.as_ref().is_some_and(Peer::is_complete),
                Role::Far { .. } => self.destination.is_some(),
            }
    }

    /// The message layer, with its counts.
    pub fn courier(&self) -> &Courier {
        &self.courier
    }

    /// The event since the last call, if any.
    pub fn take_news(&mut self) -> Option<News> {
        if self.news.is_none() && self.is_up() != self.told_up {
            self.told_up = !self.told_up;
            return Some(if self.told_up { News::Up } else { News::Down });
        }
        self.news.take()
    }

    /// Asks the other end to answer; [`Self::pongs`] counts the answers.
    pub fn ping(&mut self, bytes: &[u8]) {
        self.ping = Vec::from_slice(bytes).ok();
    }

    /// Changes the other board's destination, as assigned by its gateware: informs it, and restarts
    /// everything.
    pub fn rename(&mut self, name: u8) {
        if let Role::Near { destination, .. } = &mut self.role {
            if core::mem::replace(destination, name) != name {
                self.courier.leave();
                self.look_at_epoch();
            }
        }
    }

    /// Opens a stream to a service of the other end, or of a board behind it; `None` if there is no
    /// room or the link is down.
    pub fn open(&mut self, service: u8, destination: u8) -> Option<usize> {
        self.is_up().then(|| self.streams.open(service, destination)).flatten()
    }

    /// Accepts the next stream that the other end opens to a service of this one.
    pub fn poll_accept(&mut self, service: u8, cx: &Context) -> Poll<usize> {
        let own = self.destination;
        let taken = self.poll_take(cx, |to, wanted| Some(to) == own && wanted == service);
        taken.map(|taken| taken.number)
    }

    /// Accepts the next stream that the other end opens to another board.
    pub fn poll_accept_for_others(&mut self, cx: &Context) -> Poll<Taken> {
        let own = self.destination;
        self.poll_take(cx, |to, _| Some(to) != own)
    }

    fn poll_take(&mut self, cx: &Context, wanted: impl Fn(u8, u8) -> bool) -> Poll<Taken> {
        match self.streams.take(wanted) {
            Some(taken) => Poll::Ready(taken),
            None => {
                self.streams.wait(cx.waker());
                Poll::Pending
            }
        }
    }

    /// Whether there is a stream to a service.
    pub fn has_stream(&self, service: u8) -> bool {
        self.streams.has(service)
    }

    /// See [`Streams::read`].
    pub fn poll_read(&mut self, stream: usize, cx: &Context, out: &mut [u8]) -> Poll<Result<usize, Gone>> {
        self.streams.read(stream, cx, out)
    }

    /// See [`Streams::write`].
    pub fn poll_write(&mut self, stream: usize, cx: &Context, bytes: &[u8]) -> Poll<Result<usize, Gone>> {
        self.streams.write(stream, cx, bytes)
    }

    /// Closes a stream on this side.
    pub fn close(&mut self, stream: usize) {
        self.streams.close(stream);
    }

    /// Processes a received packet.
    pub fn receive(&mut self, packet: &[u8], now: u64) {
        let message = self.courier.receive(packet, now);
        self.look_at_epoch();
        let Some(Ok(envelope)) = message.map(Envelope::decode) else {
            return;
        };
        match envelope.message {
            Message::Hello {
                version,
                descriptor,
                text,
            } => self.greet(version, descriptor, text),
            Message::Welcome { destination } => self.destination = Some(destination),
            Message::Describe { offset } => self.description = Some(offset),
            Message::Description { offset, bytes } => self.described(offset, bytes),
            Message::Ping(bytes) => self.pong = Vec::from_slice(bytes).ok(),
            Message::Pong(_) => self.pongs = self.pongs.wrapping_add(1),
            message => {
                let (services, relays) = match self.role {
                    Role::Far { services, relays, .. } => (services, relays),
                    Role::Near { .. } => (&[][..], false),
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
        if self.courier.is_free() {
            let mut room = [0; PIECE_MAX];
            let mut text = [0; MESSAGE_MAX];
            let (to, from) = (self.others_name(), self.destination.unwrap_or(DESTINATION_MASTER));
            if let Some(message) = self.next(&mut room) {
                let length = Envelope { to, from, message }.encode(&mut text);
                self.courier.offer(&text[..length], now);
            }
        }
        let length = self.courier.poll(now, out);
        self.look_at_epoch();
        length
    }

    fn others_name(&self) -> u8 {
        match self.role {
            Role::Near { destination, .. } => destination,
            Role::Far { .. } => DESTINATION_MASTER,
        }
    }

    /// Restarts everything if the message layer has restarted.
    fn look_at_epoch(&mut self) {
        if self.epoch == self.courier.epoch() {
            return;
        }
        self.epoch = self.courier.epoch();
        self.streams.lose();
        self.peer = None;
        (self.welcome, self.describe) = (false, false);
        (self.description, self.pong, self.ping) = (None, None, None);
        if matches!(self.role, Role::Far { .. }) {
            (self.hello, self.destination) = (true, None);
        }
    }

    fn greet(&mut self, version: u16, descriptor: u32, text: &str) {
        let Role::Near { room, .. } = &self.role else { return };
        if version != VERSION {
            self.news = Some(News::Version(version));
            return;
        }
        // A descriptor without room for it counts as absent.
        let descriptor = usize::try_from(descriptor).unwrap_or(0);
        let descriptor = if descriptor <= room.len() { descriptor } else { 0 };
        self.peer = Some(Peer {
            version,
            text: String::try_from(text).unwrap_or_default(),
            descriptor,
            come: 0,
        });
        (self.welcome, self.describe) = (true, descriptor > 0);
    }

    fn described(&mut self, offset: u32, bytes: &[u8]) {
        let (Role::Near { room, .. }, Some(peer)) = (&mut self.role, &mut self.peer) else {
            return;
        };
        let end = peer.come + bytes.len();
        if offset as usize == peer.come && end <= peer.descriptor {
            room[peer.come..end].copy_from_slice(bytes);
            peer.come = end;
        }
        self.describe = !peer.is_complete();
    }

    /// The next message to be sent.
    fn next<'a>(&mut self, room: &'a mut [u8; PIECE_MAX]) -> Option<Message<'a>> {
        match &self.role {
            Role::Far { text, descriptor, .. } => {
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
            Role::Near { destination, .. } => {
                if core::mem::take(&mut self.welcome) {
                    return Some(Message::Welcome {
                        destination: *destination,
                    });
                }
                if let (true, Some(peer)) = (core::mem::take(&mut self.describe), &self.peer) {
                    return Some(Message::Describe {
                        offset: peer.come as u32,
                    });
                }
            }
        }
        for (due, answer) in [(self.pong.take(), true), (self.ping.take(), false)] {
            let Some(bytes) = due else { continue };
            let bytes = {
                room[..bytes.len()].copy_from_slice(&bytes);
                &room[..bytes.len()]
            };
            return Some(if answer {
                Message::Pong(bytes)
            } else {
                Message::Ping(bytes)
            });
        }
        self.streams.next(room)
    }
}
