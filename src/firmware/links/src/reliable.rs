//! Reliable, ordered messages, one at a time in each direction, carried by packets that may be
//! lost.
//!
//! Each end has a nonzero session number, and sends it together with the other end's number as
//! known. Both count messages from the first packet with both numbers on. A packet of another
//! session means that the other end has restarted its session: this end then restarts too, and
//! messages in flight are lost ([`ReliableTransport::epoch`]). It also restarts after a second of silence.

use heapless::Vec;
use kairos_proto::link::{Packet, MESSAGE_MAX, PACKET_MAX};

/// Microseconds until a message is retransmitted: initially, and at most.
const RETRANSMIT_FIRST: u64 = 5_000;
const RETRANSMIT_MAX: u64 = 80_000;
/// Interval between packets without a message: while the link is down, and while it is up.
const INTERVAL_DOWN: u64 = 20_000;
const INTERVAL_UP: u64 = 200_000;
/// Without a packet for this long the link is considered down.
const SILENCE: u64 = 1_000_000;

/// One end.
pub struct ReliableTransport {
    local: u16,
    remote: u16,
    /// Whether the link is established: both ends know each other's number.
    up: bool,
    epoch: u32,
    /// Numbers of the newest message sent, and of the newest received.
    number: u8,
    received: u8,
    /// The unacknowledged message.
    outgoing: Vec<u8, MESSAGE_MAX>,
    /// When it is to be (re)transmitted, and the interval after that.
    due: u64,
    interval: u64,
    first: bool,
    sent_at: u64,
    answer_due: bool,
    last_packet: u64,
    /// When a packet is sent even without a message.
    idle_due: u64,
    /// Retransmitted messages, invalid packets, and the microseconds from a message's departure to
    /// its acknowledgement.
    pub resent: u32,
    pub malformed: u32,
    pub round_trip: u32,
}

impl ReliableTransport {
    /// `session` should differ from that of the previous start.
    pub fn new(session: u16) -> Self {
        Self {
            local: session.max(1),
            remote: 0,
            up: false,
            epoch: 0,
            number: 0,
            received: 0,
            outgoing: Vec::new(),
            due: 0,
            interval: RETRANSMIT_FIRST,
            first: true,
            sent_at: 0,
            answer_due: false,
            last_packet: 0,
            idle_due: 0,
            resent: 0,
            malformed: 0,
            round_trip: 0,
        }
    }

    /// Whether the link is established.
    pub fn is_up(&self) -> bool {
        self.up
    }

    /// Changes whenever messages in flight are lost.
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Whether a message can be sent.
    pub fn is_free(&self) -> bool {
        self.up && self.outgoing.is_empty()
    }

    /// Accepts a message if [`Self::is_free`]; an empty one is rejected.
    pub fn send(&mut self, message: &[u8], now: u64) -> bool {
        if !self.is_free() || message.is_empty() || self.outgoing.extend_from_slice(message).is_err() {
            return false;
        }
        self.number = self.number.wrapping_add(1);
        (self.due, self.sent_at, self.interval) = (now, now, RETRANSMIT_FIRST);
        true
    }

    /// Processes a received packet; returns its message if it is new.
    pub fn receive<'a>(&mut self, bytes: &'a [u8], now: u64) -> Option<&'a [u8]> {
        let Ok(packet) = Packet::decode(bytes) else {
            self.malformed = self.malformed.saturating_add(1);
            return None;
        };
        self.last_packet = now;
        if packet.mine != self.remote {
            self.reset();
            self.remote = packet.mine;
            if packet.theirs == self.local && (packet.number, packet.acknowledged) != (0, 0) {
                // The other end has counted messages with this end before a restart that chose the
                // same number.
                self.restart();
                self.remote = packet.mine;
            }
        }
        if packet.theirs != self.local {
            if self.up {
                // The other end does not know this end any more: it has restarted, with the same
                // number.
                self.restart();
                self.remote = packet.mine;
            }
            // Inform it of this end's number.
            self.answer_due = true;
            return None;
        }
        if !self.up {
            self.up = true;
            self.answer_due = true;
        }
        if !self.outgoing.is_empty() && packet.acknowledged == self.number {
            self.outgoing.clear();
            if self.first {
                self.round_trip = now.saturating_sub(self.sent_at).min(u64::from(u32::MAX)) as u32;
            }
        }
        if packet.message.is_empty() {
            return None;
        }
        self.answer_due = true;
        if packet.number != self.received.wrapping_add(1) {
            return None;
        }
        self.received = packet.number;
        Some(packet.message)
    }

    /// Writes the packet to be sent now, if any; returns its length.
    pub fn poll(&mut self, now: u64, out: &mut [u8; PACKET_MAX]) -> Option<usize> {
        if self.up && now.saturating_sub(self.last_packet) >= SILENCE {
            self.restart();
        }
        let sends = self.up && !self.outgoing.is_empty() && now >= self.due;
        if !sends && !self.answer_due && now < self.idle_due {
            return None;
        }
        if sends {
            self.first = self.interval == RETRANSMIT_FIRST;
            self.resent = self.resent.saturating_add(u32::from(!self.first));
            self.due = now + self.interval;
            self.interval = (2 * self.interval).min(RETRANSMIT_MAX);
        }
        self.answer_due = false;
        self.idle_due = now + if self.up { INTERVAL_UP } else { INTERVAL_DOWN };
        let packet = Packet {
            mine: self.local,
            theirs: self.remote,
            number: self.number,
            acknowledged: self.received,
            message: if sends { &self.outgoing } else { &[] },
        };
        Some(packet.encode(out))
    }

    /// Restarts the session under another number, so that the other end restarts, too.
    pub fn restart(&mut self) {
        self.reset();
        self.local = self.local.wrapping_add(1).max(1);
        self.remote = 0;
    }

    fn reset(&mut self) {
        self.up = false;
        self.epoch = self.epoch.wrapping_add(1);
        (self.number, self.received) = (0, 0);
        self.outgoing.clear();
        self.idle_due = 0;
    }
}
