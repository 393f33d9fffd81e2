//! The mailbox of a link, which sends and receives packets.

use kairos_contracts::registers::mailbox;
use kairos_pl::Register;
use kairos_proto::descriptor::Descriptor;
use kairos_proto::link::PACKET_MAX;

/// Registers of a mailbox.
pub(super) struct Mailbox {
    send: Register,
    go: Register,
    state: Register,
    waiting: Register,
    receive: Register,
    release: Register,
    /// Received packets that were dropped.
    pub(super) dropped: Register,
}

impl Mailbox {
    /// Finds the mailbox of the link with this number.
    pub(super) fn find(descriptor: &Descriptor, number: usize) -> Option<Self> {
        let find = |name| Register::find_numbered(descriptor, name, number);
        Some(Self {
            send: find(mailbox::SEND)?,
            go: find(mailbox::GO)?,
            state: find(mailbox::STATE)?,
            waiting: find(mailbox::WAITING)?,
            receive: find(mailbox::RECEIVE)?,
            release: find(mailbox::RELEASE)?,
            dropped: find(mailbox::DROPPED)?,
        })
    }

    /// Whether the last packet sent has not left yet.
    pub(super) fn is_busy(&self) -> bool {
        self.state.read() & mailbox::STATE_BUSY_BIT != 0
    }

    /// Whether the link is up.
    pub(super) fn has_line(&self) -> bool {
        self.state.read() & mailbox::STATE_LINE_BIT != 0
    }

    /// Sends a packet of whole words.
    pub(super) fn send(&self, packet: &[u8]) {
        for word in packet.as_chunks::<4>().0 {
            self.send.write(u32::from_le_bytes(*word));
        }
        self.go.write(1);
    }

    /// Takes the oldest packet; returns its length.
    pub(super) fn take(&self, out: &mut [u8; PACKET_MAX]) -> Option<usize> {
        let words = self.waiting.read() as usize;
        if words == 0 {
            return None;
        }
        for word in out.as_chunks_mut::<4>().0.iter_mut().take(words) {
            *word = self.receive.read().to_le_bytes();
        }
        self.release.write(1);
        Some((4 * words).min(PACKET_MAX))
    }
}
