//! A card behind a line that loses packets, breaks, and a card that restarts.

extern crate std;

use std::collections::VecDeque;
use std::vec::Vec;

use kairos_contracts::drtio::AuxiliaryPacket;
use kairos_proto::drtio::CONTENT_MAX;
use kairos_proto::intercore::BusTransfer;
use proptest::prelude::*;

use super::*;

const CARD: u8 = 5;
const LINK: u8 = 4;
const STEP: u64 = 10_000;

/// What a card remembers: it answers after `delay`, and only for what it has been told.
#[derive(Default)]
struct Card {
    has_time: bool,
    paths: Vec<(u8, [u8; 32])>,
    rank: Option<u8>,
    resets: u32,
    errors: VecDeque<Packet<'static>>,
    /// The value of each override.
    level: u8,
}

impl Card {
    fn answer(&mut self, packet: Packet<'static>) -> Option<Packet<'static>> {
        Some(match packet {
            Packet::EchoRequest {} => Packet::EchoReply {},
            Packet::RoutingSetPath { destination, hops } => {
                assert!(self.has_time, "paths come after the time");
                self.paths.push((destination, hops));
                Packet::RoutingAck {}
            }
            Packet::RoutingSetRank { rank } => {
                self.rank = Some(rank);
                Packet::RoutingAck {}
            }
            Packet::ResetRequest {} => {
                self.resets += 1;
                Packet::ResetAck {}
            }
            Packet::DestinationStatusRequest { destination } => {
                let (_, hops) = self.paths.iter().rfind(|(to, _)| *to == destination)?;
                if self.rank.is_none_or(|rank| hops[usize::from(rank)] != 0) {
                    return Some(Packet::DestinationDown {});
                }
                self.errors.pop_front().unwrap_or(Packet::DestinationOk {})
            }
            other => panic!("{other:?}"),
        })
    }
}

struct World {
    link: CardLink,
    card: Card,
    now: u64,
    line: bool,
    /// Packets on the way back, with the time of their arrival.
    way: VecDeque<(u64, Packet<'static>)>,
    delay: u64,
    /// Answers of which each is lost if true; afterwards none.
    losses: VecDeque<bool>,
    sent: Vec<Packet<'static>>,
    done: Vec<Action>,
    reachable: bool,
}

impl World {
    fn new() -> Self {
        Self {
            link: CardLink::new(CARD, LINK),
            card: Card::default(),
            now: 0,
            line: true,
            way: VecDeque::new(),
            delay: 3_000,
            losses: VecDeque::new(),
            sent: Vec::new(),
            done: Vec::new(),
            reachable: false,
        }
    }

    fn back(&mut self, packet: Option<Packet<'static>>) {
        let is_lost = self.losses.pop_front().unwrap_or(false);
        if let Some(packet) = packet.filter(|_| self.line && !is_lost) {
            self.way.push_back((self.now + self.delay, packet));
        }
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::Send(packet) => {
                self.sent.push(packet);
                let answer = self.card.answer(packet);
                self.back(answer);
            }
            Action::Ask(question) => {
                // The bytes are those of the table
                let packet = Packet::decode(question.content()).unwrap();
                let mut content = [0; CONTENT_MAX];
                let length = packet.encode(&mut content).unwrap();
                assert_eq!(question.content()[..], content[..length]);
                let answer = match packet {
                    Packet::MonitorRequest { channel, probe, .. } => Some(Packet::MonitorReply {
                        value: u64::from(channel) << 40 | u64::from(probe),
                    }),
                    Packet::InjectionRequest { value, .. } => {
                        self.card.level = value;
                        None
                    }
                    Packet::InjectionStatusRequest { .. } => {
                        Some(Packet::InjectionStatusReply { value: self.card.level })
                    }
                    Packet::I2cStartRequest { bus, .. } => Some(Packet::I2cBasicReply { succeeded: bus == 0 }),
                    Packet::I2cWriteRequest { data, .. } => Some(Packet::I2cWriteReply {
                        succeeded: true,
                        ack: data & 1 != 0,
                    }),
                    Packet::I2cReadRequest { .. } => Some(Packet::I2cReadReply {
                        succeeded: true,
                        data: 0xa5,
                    }),
                    Packet::I2cSwitchSelectRequest { address, mask, .. } => Some(Packet::I2cBasicReply {
                        succeeded: (address, mask) == (0x70, 4),
                    }),
                    other => panic!("{other:?}"),
                };
                self.back(answer);
            }
            Action::SetTime => {
                self.card.has_time = true;
                self.back(Some(Packet::TimeAck {}));
            }
            Action::Reachable(reachable) => self.reachable = reachable,
            Action::Cleared | Action::Report(..) => self.done.push(action),
        }
    }

    fn step(&mut self) {
        self.now += STEP;
        while self.way.front().is_some_and(|(at, _)| *at <= self.now) {
            let (_, packet) = self.way.pop_front().unwrap();
            let mut content = [0; CONTENT_MAX];
            let length = packet.encode(&mut content).unwrap();
            if self.link.receive_answer(&content[..length]) {
                continue;
            }
            if let Some(action) = self.link.receive(self.now, &packet) {
                self.act(action);
            }
        }
        let mut actions = 0;
        while let Some(action) = self.link.poll(self.now, self.line) {
            self.act(action);
            actions += 1;
            assert!(actions < 10, "it does not come to rest");
        }
        assert!(self.line || !self.reachable, "reachable without a line");
        assert_eq!(self.reachable, self.link.is_reachable());
    }

    /// Steps until the card is reachable, at most for so many seconds.
    fn up_within(&mut self, seconds: u64) -> bool {
        let end = self.now + 1_000_000 * seconds;
        while !self.reachable && self.now < end {
            self.step();
        }
        self.reachable
    }

    /// The answer to a question of a service, which comes within half a second.
    fn ask(&mut self, question: Question) -> Answer {
        assert!(self.link.ask(question));
        for _ in 0..50 {
            self.step();
            if let Some(answer) = self.link.take_answer() {
                return answer;
            }
        }
        panic!("no answer to {question:?}")
    }

    fn run(&mut self, milliseconds: u64) {
        for _ in 0..1000 * milliseconds / STEP {
            self.step();
        }
    }
}

#[test]
fn link_to_card_comes_up_in_the_specified_order() {
    let mut world = World::new();
    assert!(world.up_within(5));
    assert_eq!(world.sent[0], Packet::EchoRequest {});
    let paths: Vec<u8> = world.card.paths.iter().map(|(to, _)| *to).collect();
    assert_eq!(paths, (0..=255).collect::<Vec<_>>());
    for (to, hops) in &world.card.paths {
        let (own, rest) = match *to {
            0 => (&[0][..], 1),
            CARD => (&[LINK, 0][..], 2),
            _ => (&[][..], 0),
        };
        assert_eq!(&hops[..own.len()], own);
        assert!(hops[rest..].iter().all(|hop| *hop == NO_HOP));
    }
    assert_eq!(world.card.rank, Some(1));
    assert_eq!(
        world.sent[257..259],
        [
            Packet::RoutingSetRank { rank: 1 },
            Packet::DestinationStatusRequest { destination: CARD }
        ]
    );
}

#[test]
fn silent_card_is_asked_a_hundred_times_and_again_later() {
    let mut world = World::new();
    world.losses = std::iter::repeat_n(true, 205).collect();
    world.run(20_000);
    assert_eq!(world.sent.len(), 100);
    assert!(world.up_within(30) && world.sent[204] == Packet::EchoRequest {});
}

#[test]
fn late_echoes_answer_no_later_request() {
    let mut world = World::new();
    world.delay = 650_000;
    world.run(900);
    world.delay = 1_000;
    assert!(world.up_within(10));
    assert!(
        world
            .sent
            .iter()
            .filter(|sent| **sent == Packet::EchoRequest {})
            .count()
            >= 4
    );
}

#[test]
fn counter_that_is_not_set_restarts_the_bring_up() {
    let mut world = World::new();
    world.losses = [false, true].into();
    world.run(10_000);
    assert_eq!(world.sent.len(), 1, "it waits ten seconds");
    assert!(world.up_within(5));
    assert_eq!(world.sent[1], Packet::EchoRequest {});
}

#[test]
fn errors_of_channels_are_reported_and_the_card_stays_reachable() {
    let mut world = World::new();
    world.card.errors.extend([
        Packet::DestinationBusy { channel: 7 },
        Packet::DestinationCollision { channel: 8 },
        Packet::DestinationSequenceError { channel: 9 },
    ]);
    assert!(world.up_within(5));
    world.run(1000);
    assert_eq!(
        world.done,
        [
            Action::Report(ChannelError::Busy, 7),
            Action::Report(ChannelError::Collision, 8),
            Action::Report(ChannelError::Sequence, 9)
        ]
    );
    assert!(world.reachable);
}

#[test]
fn card_that_reports_down_is_asked_again() {
    let mut world = World::new();
    assert!(world.up_within(5));
    world.card.errors.push_back(Packet::DestinationDown {});
    while world.reachable {
        world.step();
    }
    let sent = world.sent.len();
    assert!(world.up_within(1));
    assert_eq!(world.sent.len(), sent + 1, "without a new bring-up");
}

#[test]
fn lost_line_ends_reachability_at_once_and_comes_back() {
    let mut world = World::new();
    assert!(world.up_within(5));
    world.line = false;
    world.step();
    assert!(!world.reachable);
    let sent = world.sent.len();
    world.run(1000);
    assert_eq!(world.sent.len(), sent, "nothing is sent");
    world.card = Card::default();
    world.line = true;
    assert!(world.up_within(5) && world.card.paths.len() == 256);
}

#[test]
fn one_lost_answer_is_no_loss_and_three_in_a_row_are() {
    for (lost, is_up) in [(1, true), (2, true), (3, false)] {
        let mut world = World::new();
        assert!(world.up_within(5));
        let sent = world.sent.len();
        world.losses = std::iter::repeat_n(true, lost).collect();
        world.run(1100);
        let restarted = world.sent[sent..].contains(&Packet::EchoRequest {});
        assert_eq!((world.reachable, restarted), (is_up, !is_up), "{lost} lost");
    }
}

#[test]
fn reset_reaches_the_card_once_it_is_up() {
    let mut world = World::new();
    world.link.reset();
    assert!(world.up_within(5));
    assert_eq!((world.card.resets, &world.done[..]), (1, &[Action::Cleared][..]));
    world.losses = [true].into();
    world.link.reset();
    world.run(1000);
    assert_eq!(world.done.len(), 2);
    assert!(world.card.resets >= 2 && world.reachable);
}

fn probe(channel: u16) -> Question {
    Question::probe(CARD, channel, 1)
}

#[test]
fn questions_of_services_are_answered_and_the_state_is_still_asked_for() {
    let mut world = World::new();
    assert!(!world.link.ask(probe(0)), "it is not reachable yet");
    assert!(world.up_within(5));
    let sent = world.sent.len();
    for channel in 0..100 {
        assert_eq!(world.ask(probe(channel)), Some(u64::from(channel) << 40 | 1));
    }
    let questions = |sent: &[Packet]| {
        let is_status = |packet: &&Packet| matches!(packet, Packet::DestinationStatusRequest { .. });
        sent.iter().filter(is_status).count()
    };
    assert!(questions(&world.sent[sent..]) >= 4, "every 200 ms");
    let (injection, status) = (Question::inject(CARD, 2, 0, 1), Question::injected(CARD, 2, 0));
    assert_eq!((world.ask(injection), world.ask(status)), (Some(0), Some(1)));
}

#[test]
fn questions_about_a_bus_have_the_bytes_of_their_packets() {
    let mut world = World::new();
    assert!(world.up_within(5));
    for (packet, fields, answer) in [
        (AuxiliaryPacket::I2cStartRequest, [0, 0, 0], Some(0)),
        (AuxiliaryPacket::I2cStartRequest, [1, 0, 0], None),
        (AuxiliaryPacket::I2cWriteRequest, [0, 0xa1, 0], Some(1)),
        (AuxiliaryPacket::I2cWriteRequest, [0, 0xa0, 0], Some(0)),
        (AuxiliaryPacket::I2cReadRequest, [0, 1, 0], Some(0xa5)),
        (AuxiliaryPacket::I2cSwitchSelectRequest, [0, 0x70, 4], Some(0)),
    ] {
        let [bus, first, second] = fields;
        assert_eq!(
            world.ask(Question::of_bus(&BusTransfer {
                packet: packet as u8,
                destination: CARD,
                bus,
                first,
                second
            })),
            answer
        );
    }
}

#[test]
fn lost_or_late_answer_to_a_service_answers_no_later_question() {
    let mut world = World::new();
    assert!(world.up_within(5));
    world.run(50);
    world.losses = [true].into();
    assert_eq!(world.ask(probe(1)), None);
    assert_eq!(world.ask(probe(2)), Some(2 << 40 | 1));
    world.run(50);
    world.delay = 300_000;
    assert_eq!(world.ask(probe(3)), None);
    world.delay = 3_000;
    assert_eq!(world.ask(probe(4)), Some(4 << 40 | 1));
    assert!(world.reachable);
    assert!(world.link.ask(probe(5)) && !world.link.ask(probe(6)), "one at a time");
    world.line = false;
    world.step();
    assert_eq!(world.link.take_answer(), Some(None));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Any answers lost, any cuts, strange packets in between: it comes up when they end.
    #[test]
    fn card_comes_up_after_any_disturbance(
        losses in prop::collection::vec(any::<bool>(), 0..16),
        // A cut lasts a step at least, so that it is noticed
        cuts in prop::collection::vec((STEP / 1000..400, any::<bool>()), 0..8),
        strays in prop::collection::vec(0usize..5, 0..20),
        delay in 0u64..150_000,
    ) {
        let mut world = World::new();
        world.losses = losses.into();
        for (time, line) in cuts {
            world.run(time);
            if line && !world.line {
                world.card = Card::default();
            }
            world.line = line;
        }
        for stray in strays {
            let packet = [
                Packet::RoutingAck {},
                Packet::TimeAck {},
                Packet::DmaPlaybackStatus {
                    source: CARD, destination: 0, id: 1, error: 0, channel: 0, timestamp: 0,
                },
                Packet::ResetAck {},
                Packet::MonitorReply { value: 1 },
            ][stray];
            world.link.ask(probe(1));
            world.way.push_back((world.now, packet));
            world.step();
        }
        world.line = true;
        world.delay = delay;
        prop_assert!(world.up_within(300));
        world.run(3000);
        prop_assert!(world.reachable);
    }
}
