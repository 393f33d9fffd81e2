//! Compares two stacks that receive the same frames, one of them without the fast path: every frame
//! that they send, every byte that their tasks read, and the whole state of their sockets must be
//! equal.

extern crate std;

mod steps;

use core::future::Future;
use core::pin::pin;
use core::task::{Context, Poll, Waker};
use std::boxed::Box;
use std::collections::VecDeque;
use std::format;
use std::string::String;
use std::vec;
use std::vec::Vec;

use proptest::prelude::*;

use self::steps::{steps, Segment, Step};
use crate::frame::{ACK, FIN, PSH, SYN};
use crate::{Config, Instant, Ipv4, Ipv4Cidr, Ipv6Cidr, Socket, SocketStorage, Stack};

const PORT: u16 = 1381;
const CLIENT_PORT: u16 = 49152;
const OUR_MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];
const THEIR_MAC: [u8; 6] = [2, 0, 0, 0, 0, 2];
const OURS: [u8; 4] = [10, 0, 2, 15];
const THEIRS: [u8; 4] = [10, 0, 2, 2];

/// A stack with one socket, and its cable.
struct Side {
    stack: &'static Stack,
    socket: Socket,
    received: Received,
    sent: Sent,
}

#[derive(Default)]
struct Received(VecDeque<Vec<u8>>);

impl crate::Receive for Received {
    fn frame(&mut self) -> Option<&[u8]> {
        self.0.front().map(Vec::as_slice)
    }

    fn release(&mut self) {
        self.0.pop_front();
    }
}

struct Sent {
    frames: Vec<Vec<u8>>,
    space: usize,
}

impl crate::Transmit for Sent {
    fn ready(&mut self) -> bool {
        self.frames.len() < self.space
    }

    fn send<R>(&mut self, length: usize, fill: impl FnOnce(&mut [u8]) -> R) -> R {
        self.frames.push(vec![0; length]);
        fill(self.frames.last_mut().unwrap())
    }

    fn flush(&mut self) {}
}

/// The immediate result of a future.
fn poll_once<R>(future: impl Future<Output = R>) -> Option<R> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => Some(result),
        Poll::Pending => None,
    }
}

impl Side {
    fn new(fast_path: bool, case: &Case) -> Self {
        let config = Config {
            mac: OUR_MAC,
            ipv4: Ipv4::Static(Ipv4Cidr::new(OURS.into(), 24), None),
            ipv6: Ipv6Cidr::new("fd00::15".parse().unwrap(), 64),
            route6: None,
            seed: case.seed,
            fast_path,
        };
        let memory = || Box::leak(Box::new([SocketStorage::EMPTY]));
        let buffer = |length: usize| Box::leak(vec![0; length].into_boxed_slice());
        let stack: &'static Stack = Box::leak(Box::new(Stack::new(config, memory(), Instant::ZERO)));
        let mut socket = Socket::new(stack, PORT, memory(), buffer(case.receive), buffer(case.transmit));
        socket.set_times(5, 1);
        Self {
            stack,
            socket,
            received: Received::default(),
            sent: Sent {
                frames: vec![],
                space: usize::MAX,
            },
        }
    }

    /// Number of frames on the fast path, in both directions.
    fn fast(&self) -> usize {
        self.stack.0.borrow().slots[0].fast
    }

    /// The complete state of its socket.
    fn state(&self) -> String {
        format!("{:?}", self.stack.0.borrow_mut().slots[0].socket())
    }
}

struct Case {
    seed: u64,
    receive: usize,
    transmit: usize,
    first: u32,
    scale: u8,
}

/// The client, to the extent that the test needs.
struct Client {
    /// End of the bytes sent in order, and the part that the device has acknowledged.
    next: u32,
    acknowledged: u32,
    /// End of the device's bytes, and the part of them acknowledged to it.
    seen: u32,
    confirmed: u32,
    first: u32,
}

fn byte_at(sequence: u32) -> u8 {
    (sequence.wrapping_mul(0x9e37_79b1) >> 24) as u8
}

fn frame(sequence: u32, acknowledged: u32, flags: u8, window: u16, options: &[u8], payload: &[u8]) -> Vec<u8> {
    let mut frame = [OUR_MAC, THEIR_MAC].concat();
    let total = (40 + options.len() + payload.len()) as u16;
    frame.extend([8, 0, 0x45, 0]);
    frame.extend(total.to_be_bytes());
    frame.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
    frame.extend([THEIRS, OURS].concat());
    frame.extend([CLIENT_PORT.to_be_bytes(), PORT.to_be_bytes()].concat());
    frame.extend([sequence.to_be_bytes(), acknowledged.to_be_bytes()].concat());
    frame.extend([0x50 + ((options.len() as u8 / 4) << 4), flags]);
    frame.extend(window.to_be_bytes());
    frame.extend([0; 4]);
    frame.extend(options);
    frame.extend(payload);
    frame
}

fn arp() -> Vec<u8> {
    let mut frame = [OUR_MAC, THEIR_MAC].concat();
    frame.extend([8, 6, 0, 1, 8, 0, 6, 4, 0, 1]);
    frame.extend(THEIR_MAC);
    frame.extend(THEIRS);
    frame.extend([0; 6]);
    frame.extend(OURS);
    frame
}

impl Client {
    fn segment(&self, segment: &Segment) -> (u32, Vec<u8>) {
        let base = if segment.again { self.acknowledged } else { self.next };
        let sequence = base.wrapping_add(segment.offset as u32);
        let acknowledged = match segment.acknowledges {
            0..=5 => self.seen,
            6 => self.confirmed,
            7 => self.confirmed.wrapping_add(self.seen.wrapping_sub(self.confirmed) / 2),
            8 => self.seen.wrapping_add(1000),
            _ => self.confirmed.wrapping_sub(10),
        };
        let payload: Vec<u8> = (0..segment.length as u32)
            .map(|at| byte_at(sequence.wrapping_add(at)))
            .collect();
        let options = vec![1; 4 * segment.options];
        let mut frame = frame(
            sequence,
            acknowledged,
            segment.flags,
            segment.window,
            &options,
            &payload,
        );
        match segment.fault {
            0 => frame[47] |= 0x80, // CWR
            1 => frame[20] |= 0x20, // more fragments
            2 => frame[21] = 1,     // a later fragment
            3 => frame[11] ^= 4,    // another sender
            4 => frame[34] ^= 1,    // another connection
            5 => frame[16] += 4,    // longer than the frame
            6 => frame[46] = 0x40,  // a header too fast
            7 => frame.truncate(50),
            8 => frame[5] ^= 4,     // another destination
            9 => frame[23] = 17,    // UDP
            10 => frame[15] = 0x28, // another class of service
            11 => frame[46] |= 1,   // reserved bits
            _ => {}
        }
        frame.extend(vec![0xee; segment.padding]);
        (sequence.wrapping_add(segment.length as u32), frame)
    }

    /// Updates the state from a frame of the device.
    fn update(&mut self, frame: &[u8]) {
        if frame.len() < 54 || frame[12..14] != [8, 0] {
            return;
        }
        let word = |at: usize| u32::from_be_bytes(frame[at..at + 4].try_into().unwrap());
        let header = 14 + 20 + 4 * usize::from(frame[46] >> 4);
        let end = word(38).wrapping_add((frame.len() - header) as u32 + u32::from(frame[47] & (SYN | FIN) != 0));
        if frame[47] & SYN != 0 || (end.wrapping_sub(self.seen) as i32) > 0 {
            self.seen = end;
        }
        self.acknowledged = word(42);
    }
}

struct StackPair {
    sides: [Side; 2],
    client: Client,
    now: i64,
    read: u32,
    /// Whether the client has ended its stream, after which the numbers of its bytes are undefined.
    ended: bool,
    compare_state: bool,
}

impl StackPair {
    /// Creates both, with an established connection.
    fn new(case: &Case) -> Self {
        let mut comparison = Self {
            sides: [Side::new(true, case), Side::new(false, case)],
            client: Client {
                next: case.first.wrapping_add(1),
                acknowledged: case.first.wrapping_add(1),
                seen: 0,
                confirmed: 0,
                first: case.first,
            },
            now: 0,
            read: case.first.wrapping_add(1),
            ended: false,
            compare_state: case.receive + case.transmit < 8192,
        };
        for side in &mut comparison.sides {
            assert!(poll_once(side.socket.accept()).is_none());
        }
        comparison.take(&arp());
        let options = [2, 4, 5, 180, 3, 3, case.scale, 1];
        comparison.take(&frame(case.first, 0, SYN, 8192, &options, &[]));
        comparison.client.confirmed = comparison.client.seen;
        comparison.take(&frame(
            case.first.wrapping_add(1),
            comparison.client.seen,
            ACK,
            8192,
            &[],
            &[],
        ));
        assert!(comparison.sides[0].state().contains("Established"));
        comparison
    }

    /// Passes a frame to both, and lets them answer.
    fn take(&mut self, frame: &[u8]) {
        for side in &mut self.sides {
            side.received.0.push_back(frame.into());
        }
        self.run();
    }

    fn run(&mut self) {
        let at = Instant::from_micros(self.now);
        for side in &mut self.sides {
            for _ in 0..100 {
                let again = side.stack.poll(at, &mut side.received, &mut side.sent);
                if !again && !side.stack.is_due() && side.received.0.is_empty()
                    || side.sent.frames.len() >= side.sent.space
                {
                    break;
                }
            }
        }
        self.compare();
    }

    fn compare(&mut self) {
        let [fast, general] = &mut self.sides;
        let frames = core::mem::take(&mut fast.sent.frames);
        assert_eq!(frames, core::mem::take(&mut general.sent.frames), "frames sent");
        assert_eq!(fast.stack.deadline(), general.stack.deadline());
        assert_eq!(fast.stack.is_due(), general.stack.is_due());
        if self.compare_state {
            assert_eq!(fast.state(), general.state());
        }
        for frame in frames {
            self.client.update(&frame);
        }
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Segment(segment) => {
                let (end, frame) = self.client.segment(segment);
                self.ended |= segment.flags & FIN != 0;
                self.take(&frame);
                if segment.offset == 0 && segment.fault > 11 {
                    self.client.next = end;
                    self.client.confirmed = self.client.seen;
                }
            }
            Step::Read(length) => {
                let mut pieces = [vec![0; *length], vec![0; *length]];
                let mut results = vec![];
                for (side, piece) in self.sides.iter_mut().zip(&mut pieces) {
                    results.push(poll_once(side.socket.read(piece)));
                }
                assert_eq!(results[0], results[1]);
                assert_eq!(pieces[0], pieces[1]);
                if let Some(Ok(length)) = results[0] {
                    for byte in &pieces[0][..length] {
                        let position = self.read.wrapping_sub(self.client.first);
                        assert!(
                            self.ended || *byte == byte_at(self.read),
                            "byte {position} of the client"
                        );
                        self.read = self.read.wrapping_add(1);
                    }
                }
                self.run();
            }
            Step::Write(length) => {
                let bytes: Vec<u8> = (0..*length).map(|at| at as u8).collect();
                let results: Vec<_> = self
                    .sides
                    .iter_mut()
                    .map(|side| {
                        poll_once(side.socket.write_with(|space| {
                            let length = bytes.len().min(space.len());
                            space[..length].copy_from_slice(&bytes[..length]);
                            (length, length)
                        }))
                    })
                    .collect();
                assert_eq!(results[0], results[1]);
                self.run();
            }
            Step::Pass(time) => {
                self.now += time;
                self.run();
            }
            Step::Space(space) => {
                for side in &mut self.sides {
                    side.sent.space = *space;
                }
                self.run();
            }
            Step::Arp => self.take(&arp()),
            Step::Close => {
                for side in &mut self.sides {
                    side.socket.close();
                }
                self.run();
            }
        }
    }
}

fn sizes() -> impl Strategy<Value = (usize, usize)> {
    prop_oneof![3 => (1usize..4000, 1usize..4000), 1 => (Just(70_000usize), Just(70_000usize))]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn fast_path_behaves_like_smoltcp(
        seed in any::<u64>(),
        (receive, transmit) in sizes(),
        first in prop_oneof![any::<u32>(), (0u32..5000).prop_map(|before| before.wrapping_neg())],
        scale in 0u8..8,
        steps in prop::collection::vec(steps(), 1..80),
    ) {
        let mut comparison = StackPair::new(&Case { seed, receive, transmit, first, scale });
        for step in &steps {
            comparison.step(step);
        }
        let [fast, general] = &comparison.sides;
        prop_assert_eq!(fast.state(), general.state());
    }
}

/// In an orderly conversation, like that of a session, only the beginning takes the general path.
#[test]
fn orderly_connection_uses_the_fast_path() {
    let case = Case {
        seed: 1,
        receive: 4000,
        transmit: 4000,
        first: 5000u32.wrapping_neg(),
        scale: 7,
    };
    let mut comparison = StackPair::new(&case);
    let segment = |length, flags| {
        Step::Segment(Segment {
            again: false,
            offset: 0,
            length,
            flags,
            acknowledges: 0,
            window: 500,
            options: 0,
            fault: 99,
            padding: 0,
        })
    };
    for round in 0..100 {
        comparison.step(&Step::Write(30));
        comparison.step(&segment(0, ACK));
        comparison.step(&segment(100 + round, ACK | PSH));
        comparison.step(&Step::Read(4000));
        comparison.step(&Step::Pass(1000));
    }
    // Of 300 frames, those before the first one that smoltcp sends take the general path.
    assert!(comparison.sides[0].fast() >= 298, "{}", comparison.sides[0].fast());
    assert_eq!(comparison.sides[1].fast(), 0);
}
