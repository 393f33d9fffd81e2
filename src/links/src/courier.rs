//! Messages that arrive once and in order, one at a time in each direction, in packets that may be lost.
//!
//! Each end has a session, with a number that is not 0, and tells it with the number of the other
//! end's as it knows it. Both count from the first packet on that knows both. A packet of another
//! session says that the other end has begun anew: so does this one, and what was under way is gone
//! ([`Courier::epoch`]). After a second of silence it begins anew as well.

use heapless::Vec;
use kairos_proto::link::{Packet, MESSAGE_MAX, PACKET_MAX};

/// Microseconds until a message is sent again: at first, and at most.
const PATIENCE: u64 = 5_000;
const PATIENCE_MAX: u64 = 80_000;
/// Between packets if there is nothing to say: as long as the other end is not there, and then.
const CALL: u64 = 20_000;
const BEAT: u64 = 200_000;
/// Without a packet for so long the other end is gone.
const SILENCE: u64 = 1_000_000;

/// One end.
pub struct Courier {
    mine: u16,
    theirs: u16,
    /// Both know each other.
    up: bool,
    epoch: u32,
    /// Numbers of the newest message sent, and of the newest that has come.
    number: u8,
    come: u8,
    /// What has not been acknowledged.
    outgoing: Vec<u8, MESSAGE_MAX>,
    /// When it is sent, or sent again, and how long after that.
    due: u64,
    patience: u64,
    first: bool,
    offered: u64,
    answer_due: bool,
    heard: u64,
    /// When a packet is sent even if there is nothing to say.
    beat: u64,
    /// Messages sent again, packets that made no sense, and microseconds from a message's departure
    /// to its acknowledgement.
    pub resent: u32,
    pub malformed: u32,
    pub round_trip: u32,
}

impl Courier {
    /// session: other than that of the start before, if possible.
    pub fn new(session: u16) -> Self {
        Self {
            mine: session.max(1),
            theirs: 0,
            up: false,
            epoch: 0,
            number: 0,
            come: 0,
            outgoing: Vec::new(),
            due: 0,
            patience: PATIENCE,
            first: true,
            offered: 0,
            answer_due: false,
            heard: 0,
            beat: 0,
            resent: 0,
            malformed: 0,
            round_trip: 0,
        }
    }

    /// Whether the other end is there.
    pub fn is_up(&self) -> bool {
        self.up
    }

    /// Changes whenever what was under way is lost.
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// A message can be offered.
    pub fn is_free(&self) -> bool {
        self.up && self.outgoing.is_empty()
    }

    /// Takes over a message, if [`Self::is_free`]; an empty one is none.
    pub fn offer(&mut self, message: &[u8], now: u64) -> bool {
        if !self.is_free() || message.is_empty() || self.outgoing.extend_from_slice(message).is_err() {
            return false;
        }
        self.number = self.number.wrapping_add(1);
        (self.due, self.offered, self.patience) = (now, now, PATIENCE);
        true
    }

    /// What came. A message that has not come before is returned.
    pub fn receive<'a>(&mut self, bytes: &'a [u8], now: u64) -> Option<&'a [u8]> {
        let Ok(packet) = Packet::decode(bytes) else {
            self.malformed = self.malformed.saturating_add(1);
            return None;
        };
        self.heard = now;
        if packet.mine != self.theirs {
            self.begin_anew();
            self.theirs = packet.mine;
            if packet.theirs == self.mine && (packet.number, packet.come) != (0, 0) {
                // What it has counted was with this end before a restart, which has taken the same number.
                self.rename();
                self.theirs = packet.mine;
            }
        }
        if packet.theirs != self.mine {
            if self.up {
                // It knew this end, and no longer does: it has begun anew, though with the same number.
                self.rename();
                self.theirs = packet.mine;
            }
            // It is told who this is.
            self.answer_due = true;
            return None;
        }
        if !self.up {
            self.up = true;
            self.answer_due = true;
        }
        if !self.outgoing.is_empty() && packet.come == self.number {
            self.outgoing.clear();
            if self.first {
                self.round_trip = now.saturating_sub(self.offered).min(u64::from(u32::MAX)) as u32;
            }
        }
        if packet.message.is_empty() {
            return None;
        }
        self.answer_due = true;
        if packet.number != self.come.wrapping_add(1) {
            return None;
        }
        self.come = packet.number;
        Some(packet.message)
    }

    /// What is to be sent now; its length.
    pub fn poll(&mut self, now: u64, out: &mut [u8; PACKET_MAX]) -> Option<usize> {
        if self.up && now.saturating_sub(self.heard) >= SILENCE {
            self.rename();
        }
        let sends = self.up && !self.outgoing.is_empty() && now >= self.due;
        if !sends && !self.answer_due && now < self.beat {
            return None;
        }
        if sends {
            self.first = self.patience == PATIENCE;
            self.resent = self.resent.saturating_add(u32::from(!self.first));
            self.due = now + self.patience;
            self.patience = (2 * self.patience).min(PATIENCE_MAX);
        }
        self.answer_due = false;
        self.beat = now + if self.up { BEAT } else { CALL };
        let packet = Packet {
            mine: self.mine,
            theirs: self.theirs,
            number: self.number,
            come: self.come,
            message: if sends { &self.outgoing } else { &[] },
        };
        Some(packet.encode(out))
    }

    /// Begins anew, and so will the other end.
    pub fn leave(&mut self) {
        self.rename();
    }

    /// Begins anew under another number, so that the other end does, too.
    fn rename(&mut self) {
        self.begin_anew();
        self.mine = self.mine.wrapping_add(1).max(1);
        self.theirs = 0;
    }

    fn begin_anew(&mut self) {
        self.up = false;
        self.epoch = self.epoch.wrapping_add(1);
        (self.number, self.come) = (0, 0);
        self.outgoing.clear();
        self.beat = 0;
    }
}
