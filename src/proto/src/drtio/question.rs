//! Questions of services to a card that speaks DRTIO, and its answers: packets of few bytes each, read and written here,
//! since a [`Packet`](super::Packet) needs the code for all types.

use kairos_contracts::drtio::AuxiliaryPacket;

use crate::intercore::BusTransfer;

/// Longest content of a question.
const QUESTION_MAX: usize = 12;

/// Content of those with two fields of a byte at most beside the destination: I2C without `I2cSwitchSelectRequest`.
const SHORT: usize = 4;
const SHORT_FIRST: u8 = AuxiliaryPacket::I2cStartRequest as u8;
const SHORT_LAST: u8 = AuxiliaryPacket::I2cReadRequest as u8;

/// A question of a service to the card, or an order to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question([u8; QUESTION_MAX]);

impl Question {
    /// The value of a probe.
    pub fn probe(destination: u8, channel: u16, probe: u8) -> Self {
        Self::about(AuxiliaryPacket::MonitorRequest, destination, channel, probe, 0)
    }

    /// The value of an override.
    pub fn injected(destination: u8, channel: u16, place: u8) -> Self {
        Self::about(AuxiliaryPacket::InjectionStatusRequest, destination, channel, place, 0)
    }

    /// To set the value of an override; is answered at once.
    pub fn inject(destination: u8, channel: u16, place: u8, value: u8) -> Self {
        Self::about(AuxiliaryPacket::InjectionRequest, destination, channel, place, value)
    }

    fn about(kind: AuxiliaryPacket, destination: u8, channel: u16, place: u8, value: u8) -> Self {
        let [low, high] = channel.to_le_bytes();
        let mut content = [0; QUESTION_MAX];
        content[..6].copy_from_slice(&[kind as u8, destination, low, high, place, value]);
        Self(content)
    }

    /// About I2C, as a kernel asks it.
    pub fn of_bus(transfer: &BusTransfer) -> Self {
        let mut content = [0; QUESTION_MAX];
        let BusTransfer {
            packet,
            destination,
            bus,
            first,
            second,
        } = *transfer;
        content[..5].copy_from_slice(&[packet, destination, bus, first, second]);
        Self(content)
    }

    /// The card that is asked.
    pub fn destination(&self) -> u8 {
        self.0[1]
    }

    /// The content of its packet.
    pub fn content(&self) -> &[u8] {
        let is_short = (SHORT_FIRST..=SHORT_LAST).contains(&self.0[0]);
        &self.0[..if is_short { SHORT } else { QUESTION_MAX }]
    }

    /// Whether the card gives no answer.
    pub fn is_order(&self) -> bool {
        self.0[0] == AuxiliaryPacket::InjectionRequest as u8
    }
}

/// Answer to the question of a service: a value, the state of an override, a byte or acknowledge bit, or 0; `None` if the
/// card has not answered, or has not succeeded.
pub type Answer = Option<u64>;

/// The answer in a content; `None` if it is another packet.
pub fn answer_in(content: &[u8]) -> Option<Answer> {
    let &[kind, first, second, ..] = content else {
        return None;
    };
    let is = |packet: AuxiliaryPacket| kind == packet as u8;
    if is(AuxiliaryPacket::MonitorReply) {
        return content[1..].first_chunk().map(|value| Some(u64::from_le_bytes(*value)));
    }
    if is(AuxiliaryPacket::InjectionStatusReply) {
        return Some(Some(first.into()));
    }
    let of_bus =
        is(AuxiliaryPacket::I2cBasicReply) || is(AuxiliaryPacket::I2cWriteReply) || is(AuxiliaryPacket::I2cReadReply);
    // That of `I2cBasicReply` is one of the zeros at its end
    of_bus.then(|| (first != 0).then_some(second.into()))
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::super::{Packet, CONTENT_MAX};
    use super::*;

    fn is_of(question: Question, packet: &Packet) {
        let mut out = [0; CONTENT_MAX];
        let length = packet.encode(&mut out).unwrap();
        assert_eq!(question.content(), &out[..length]);
        assert_eq!(question.destination(), 3);
    }

    #[test]
    fn questions_have_the_bytes_of_their_packets() {
        let (destination, channel) = (3, 0x0102);
        let probe = Packet::MonitorRequest {
            destination,
            channel,
            probe: 4,
        };
        is_of(Question::probe(3, channel, 4), &probe);
        let injected = Packet::InjectionStatusRequest {
            destination,
            channel,
            place: 4,
        };
        is_of(Question::injected(3, channel, 4), &injected);
        let inject = Packet::InjectionRequest {
            destination,
            channel,
            place: 4,
            value: 5,
        };
        is_of(Question::inject(3, channel, 4, 5), &inject);
        for (kind, packet) in [
            (
                AuxiliaryPacket::I2cWriteRequest,
                Packet::I2cWriteRequest {
                    destination,
                    bus: 1,
                    data: 6,
                },
            ),
            (
                AuxiliaryPacket::I2cSwitchSelectRequest,
                Packet::I2cSwitchSelectRequest {
                    destination,
                    bus: 1,
                    address: 6,
                    mask: 2,
                },
            ),
        ] {
            let transfer = BusTransfer {
                packet: kind as u8,
                destination,
                bus: 1,
                first: 6,
                second: if kind == AuxiliaryPacket::I2cWriteRequest { 0 } else { 2 },
            };
            is_of(Question::of_bus(&transfer), &packet);
        }
    }

    #[test]
    fn answers_are_read_from_the_bytes_of_their_packets() {
        let answer = |packet: &Packet| {
            let mut out = [0; CONTENT_MAX];
            let length = packet.encode(&mut out).unwrap();
            answer_in(&out[..length])
        };
        assert_eq!(answer(&Packet::MonitorReply { value: 1 << 40 }), Some(Some(1 << 40)));
        assert_eq!(answer(&Packet::InjectionStatusReply { value: 1 }), Some(Some(1)));
        let write = |succeeded| Packet::I2cWriteReply { succeeded, ack: true };
        assert_eq!(answer(&write(true)), Some(Some(1)));
        assert_eq!(answer(&write(false)), Some(None));
        assert_eq!(answer(&Packet::I2cBasicReply { succeeded: true }), Some(Some(0)));
        assert_eq!(answer(&Packet::EchoReply {}), None);
    }

    proptest::proptest! {
        #[test]
        fn arbitrary_content_never_panics(bytes: std::vec::Vec<u8>) {
            let _ = answer_in(&bytes);
        }
    }
}
