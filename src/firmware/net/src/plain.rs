//! The fast path for the most frequent frames of a connection: TCP segments in order, without
//! options, over IPv4. smoltcp processes and composes the segment (`vendor/smoltcp/README.md`);
//! this module handles the headers around it. They are copied from recent frames of the same
//! connection that took smoltcp's general path.

use smoltcp::socket::tcp::{self, PlainDispatch, PlainSegment};
use smoltcp::time::{Duration, Instant};
use smoltcp::wire::TcpSeqNumber;

use crate::device::Transmit;
use crate::frame::{self, Flow, ACK, ETHERNET, HEADERS, MTU, PSH};

/// Longest payload of a frame with headers without options.
const LONGEST_PAYLOAD: usize = MTU - HEADERS;
/// First byte of an IPv4 header without options (version and length), and the length field of such
/// a TCP header.
const IPV4_WITHOUT_OPTIONS: u8 = 0x45;
const TCP_WITHOUT_OPTIONS: u8 = 0x50;
/// Interval at which smoltcp must see a frame of the connection, which confirms that the client's
/// hardware address is still valid.
const PROVEN_FOR: Duration = Duration::from_secs(10);

/// The common part of all plain frames of a connection.
pub struct Plain {
    /// Headers of a frame to the client, as smoltcp has composed them.
    headers: [u8; HEADERS],
    /// The words of the client's frames that correspond to [`marks`].
    marks: [u32; 7],
    /// Until when frames of the client may take the fast path.
    proven_until: Instant,
}

/// The words that are constant in a connection: hardware addresses, type, IP addresses and ports.
#[inline(always)]
fn marks(headers: &[u8; HEADERS]) -> [u32; 7] {
    let word = |at: usize| u32::from_ne_bytes([headers[at], headers[at + 1], headers[at + 2], headers[at + 3]]);
    [word(0), word(4), word(8), word(11), word(26), word(30), word(34)]
}

impl Plain {
    /// Creates the state from the start of a frame sent by smoltcp, if it went to the client of
    /// `flow` and its headers can be reused.
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

    /// Records that a frame of the client has taken smoltcp's path.
    pub fn prove(&mut self, now: Instant) {
        self.proven_until = now + PROVEN_FOR;
    }

    /// The segment of a frame of the client, if plain.
    #[inline(always)]
    pub fn segment<'f>(&self, frame: &'f [u8], now: Instant) -> Option<PlainSegment<'f>> {
        let headers = frame.first_chunk::<HEADERS>()?;
        let half = |at: usize| u16::from_be_bytes([headers[at], headers[at + 1]]);
        let number = |at: usize| {
            let bytes = [headers[at], headers[at + 1], headers[at + 2], headers[at + 3]];
            TcpSeqNumber(i32::from_be_bytes(bytes))
        };
        let found = marks(headers);
        // Word by word: the derived comparison would call a function on bytes.
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

    /// Sends the socket's next segment if it is plain; returns whether more is waiting.
    #[inline(always)]
    pub fn dispatch(&self, socket: &mut tcp::Socket, now: Instant, device: &mut impl Transmit) -> PlainDispatch<bool> {
        socket.dispatch_plain(now, LONGEST_PAYLOAD, |segment| {
            let length = HEADERS + segment.payload.len();
            device.send(length, |frame| self.compose(frame, &segment));
            !segment.payload.is_empty() && !segment.push
        })
    }

    /// Writes the frame of a segment. The controller adds checksums.
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
