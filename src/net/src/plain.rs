//! The short way for the frames that a connection mostly consists of: TCP segments in order,
//! without options, over IPv4. smoltcp processes and composes the segment
//! (`vendor/smoltcp/README.md`); the headers around it are here. They are those of frames of the
//! same connection that went smoltcp's general way not long ago.

use smoltcp::socket::tcp::{self, PlainDispatch, PlainSegment};
use smoltcp::time::{Duration, Instant};
use smoltcp::wire::TcpSeqNumber;

use crate::device::Transmit;
use crate::frame::{self, Flow, ACK, ETHERNET, HEADERS, MTU, PSH};

/// Longest payload of a frame with headers without options.
const LONGEST_PAYLOAD: usize = MTU - HEADERS;
/// Version of IPv4 with the length of its header, and that of TCP's, in words.
const IPV4_WITHOUT_OPTIONS: u8 = 0x45;
const TCP_WITHOUT_OPTIONS: u8 = 0x50;
/// So often smoltcp sees a frame of the connection, which is how it knows that the client's
/// hardware address still holds.
const PROVEN_FOR: Duration = Duration::from_secs(10);

/// What all plain frames of a connection have in common.
pub struct Plain {
    /// Headers of a frame to the client, as smoltcp has composed them.
    headers: [u8; HEADERS],
    /// What a frame of the client has where they have the same at other places: see [`marks`].
    marks: [u32; 7],
    /// Until then frames of the client may go the short way.
    proven_until: Instant,
}

/// The words in which the frames of one connection agree: hardware addresses, type, IP addresses and ports.
#[inline(always)]
fn marks(headers: &[u8; HEADERS]) -> [u32; 7] {
    let word = |at: usize| u32::from_ne_bytes([headers[at], headers[at + 1], headers[at + 2], headers[at + 3]]);
    [word(0), word(4), word(8), word(11), word(26), word(30), word(34)]
}

impl Plain {
    /// From the beginning of a frame that smoltcp has sent, if it went to the client of `flow` and
    /// can be repeated.
    pub fn from_sent(headers: &[u8; HEADERS], flow: &Flow, now: Instant) -> Option<Self> {
        let segment = frame::segment(headers)?;
        let repeatable = headers[12..15] == [8, 0, IPV4_WITHOUT_OPTIONS]
            && headers[46] == TCP_WITHOUT_OPTIONS
            && segment.is_plain()
            && segment.flow == flow.reversed();
        let mut received = *headers;
        for (ours, theirs, length) in [(0, 6, 6), (26, 30, 4), (34, 36, 2)] {
            received[ours..ours + length].copy_from_slice(&headers[theirs..theirs + length]);
            received[theirs..theirs + length].copy_from_slice(&headers[ours..ours + length]);
        }
        repeatable.then(|| Self {
            headers: *headers,
            marks: marks(&received),
            proven_until: now + PROVEN_FOR,
        })
    }

    /// A frame of the client has gone smoltcp's way.
    pub fn prove(&mut self, now: Instant) {
        self.proven_until = now + PROVEN_FOR;
    }

    /// The segment of a frame of the client, if it is plain.
    #[inline(always)]
    pub fn segment<'f>(&self, frame: &'f [u8], now: Instant) -> Option<PlainSegment<'f>> {
        let headers = frame.first_chunk::<HEADERS>()?;
        let half = |at: usize| u16::from_be_bytes([headers[at], headers[at + 1]]);
        let number = |at: usize| {
            let bytes = [headers[at], headers[at + 1], headers[at + 2], headers[at + 3]];
            TcpSeqNumber(i32::from_be_bytes(bytes))
        };
        let found = marks(headers);
        // Word by word: the derived comparison is of bytes, in a function.
        let differing = (0..found.len()).fold(0, |differing, index| differing | (found[index] ^ self.marks[index]));
        let plain = differing == 0
            && half(20) & frame::FRAGMENT == 0
            && headers[23] == frame::TCP
            && headers[46] == TCP_WITHOUT_OPTIONS
            && headers[47] & !PSH == ACK
            && now < self.proven_until;
        if !plain {
            return None;
        }
        Some(PlainSegment {
            seq_number: number(38),
            ack_number: number(42),
            window_len: half(48),
            push: headers[47] & PSH != 0,
            // A frame may have padding.
            payload: frame.get(HEADERS..ETHERNET + usize::from(half(16)))?,
        })
    }

    /// Sends what the socket has to say, if that is a plain segment: whether more is waiting behind it.
    #[inline(always)]
    pub fn dispatch(&self, socket: &mut tcp::Socket, now: Instant, device: &mut impl Transmit) -> PlainDispatch<bool> {
        socket.dispatch_plain(now, LONGEST_PAYLOAD, |segment| {
            let length = HEADERS + segment.payload.len();
            device.send(length, |frame| self.compose(frame, &segment));
            !segment.payload.is_empty() && !segment.push
        })
    }

    /// Writes the frame of a segment. Checksums are the controller's.
    #[inline(always)]
    fn compose(&self, frame: &mut [u8], segment: &PlainSegment) {
        let Some((headers, payload)) = frame.split_first_chunk_mut::<HEADERS>() else {
            return;
        };
        *headers = self.headers;
        let length = (HEADERS - ETHERNET + segment.payload.len()) as u16;
        headers[16..18].copy_from_slice(&length.to_be_bytes());
        headers[38..42].copy_from_slice(&segment.seq_number.0.to_be_bytes());
        headers[42..46].copy_from_slice(&segment.ack_number.0.to_be_bytes());
        headers[47] = if segment.push { ACK | PSH } else { ACK };
        headers[48..50].copy_from_slice(&segment.window_len.to_be_bytes());
        payload.copy_from_slice(segment.payload);
    }
}
