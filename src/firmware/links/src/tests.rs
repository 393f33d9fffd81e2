//! Two ends connected by a line that loses packets, breaks and restarts.

extern crate std;

use core::task::{Context, Poll, Waker};
use std::boxed::Box;
use std::collections::VecDeque;
use std::vec::Vec;

use kairos_proto::link::PACKET_MAX;
use proptest::prelude::*;

use crate::end::{End, Event, Role, StreamLost, Streams, STREAMS};

const SERVICE: u8 = 1;
/// A downstream end with this session relays streams.
const RELAY: u16 = 11;
/// Transit time of a packet in microseconds.
const DELAY: u64 = 300;

fn descriptor() -> &'static [u8] {
    Vec::leak((0..5000u32).map(|n| ((n * n) >> 3) as u8).collect())
}

fn streams() -> &'static mut Streams {
    Box::leak(Box::default())
}

fn upstream(session: u16) -> End {
    let buffer = Box::leak(Box::new([0; 8192]));
    End::new(Role::Upstream { destination: 3, buffer }, session, streams())
}

fn downstream(session: u16) -> End {
    let (text, services) = ("Kairos satellite 1.2", &[SERVICE][..]);
    End::new(
        Role::Downstream {
            text,
            descriptor: descriptor(),
            services,
            relays: session == RELAY,
        },
        session,
        streams(),
    )
}

/// Both ends and the packets in transit, in each direction: (time of arrival, packet).
struct Line {
    ends: [End; 2],
    way: [VecDeque<(u64, Vec<u8>)>; 2],
    now: u64,
    /// Packets lost out of 100, selected by a separate generator.
    loss: u32,
    noise: u32,
}

impl Line {
    fn new(loss: u32, seed: u32) -> Self {
        let (ends, way) = ([upstream(7), downstream(9)], Default::default());
        Self {
            ends,
            way,
            now: 0,
            loss,
            noise: seed | 1,
        }
    }

    fn chance(&mut self) -> u32 {
        self.noise ^= self.noise << 13;
        self.noise ^= self.noise >> 17;
        self.noise ^= self.noise << 5;
        self.noise % 100
    }

    fn step(&mut self) {
        self.now += 100;
        for n in 0..2 {
            while self.way[n].front().is_some_and(|(at, _)| *at <= self.now) {
                let (_, packet) = self.way[n].pop_front().unwrap();
                self.ends[1 - n].receive(&packet, self.now);
            }
            let mut out = [0; PACKET_MAX];
            while let Some(length) = self.ends[n].poll(self.now, &mut out) {
                if self.chance() >= self.loss {
                    self.way[n].push_back((self.now + DELAY, out[..length].to_vec()));
                }
            }
        }
    }

    /// Runs until `condition`, for at most `limit` milliseconds.
    fn until(&mut self, limit: u64, condition: impl Fn(&Self) -> bool) -> bool {
        let end = self.now + 1000 * limit;
        while !condition(self) && self.now < end {
            self.step();
        }
        condition(self)
    }

    fn up(&mut self) {
        assert!(self.until(20_000, |line| line.ends.iter().all(End::is_up)));
    }
}

fn context() -> Context<'static> {
    Context::from_waker(Waker::noop())
}

/// Writes to a stream at one end and reads it at the other, until all has arrived.
fn carry(line: &mut Line, from: usize, numbers: [usize; 2], bytes: &[u8]) {
    let (mut sent, mut got) = (0, Vec::<u8>::new());
    while got.len() < bytes.len() {
        if let Poll::Ready(count) = line.ends[from].poll_write(numbers[from], &context(), &bytes[sent..]) {
            sent += count.unwrap();
        }
        let mut out = [0; 700];
        match line.ends[1 - from].poll_read(numbers[1 - from], &context(), &mut out) {
            Poll::Ready(Ok(count)) => got.extend(&out[..count]),
            Poll::Ready(Err(StreamLost)) => panic!("stream lost"),
            Poll::Pending => {}
        }
        line.step();
        assert!(line.now < 1_000_000_000, "{} of {}", got.len(), bytes.len());
    }
    assert_eq!(got, bytes);
}

fn stream(line: &mut Line) -> [usize; 2] {
    let near = line.ends[0].open(SERVICE, 3).unwrap();
    loop {
        line.step();
        if let Poll::Ready(far) = line.ends[1].poll_accept(SERVICE, &context()) {
            return [near, far];
        }
    }
}

// With higher losses, five consecutive packets would occasionally be lost, which looks like a lost
// link.
proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn streams_over_lossy_line_carry_all_bytes(
        loss in 0u32..15, seed: u32, there in 1usize..20_000, back in 1usize..20_000,
    ) {
        let mut line = Line::new(loss, seed);
        line.up();
        assert_eq!(line.ends[0].descriptor(), Some(descriptor()));
        assert_eq!(line.ends[0].peer().unwrap().text, "Kairos satellite 1.2");
        assert_eq!(line.ends[1].destination(), Some(3));
        let bytes: Vec<u8> = (0..there.max(back)).map(|n| ((n * 7) >> 2) as u8).collect();
        for _ in 0..6 {
            let numbers = stream(&mut line);
            carry(&mut line, 0, numbers, &bytes[..there]);
            carry(&mut line, 1, numbers, &bytes[..back]);
            line.ends[0].close(numbers[0]);
            loop {
                line.step();
                if let Poll::Ready(read) = line.ends[1].poll_read(numbers[1], &context(), &mut [0; 9]) {
                    assert_eq!(read, Ok(0));
                    break;
                }
            }
            line.ends[1].close(numbers[1]);
            assert!(line.until(5000, |line| line.ends[0].transport().is_free()));
        }
    }

    #[test]
    fn restart_of_either_end_ends_streams_and_link_recovers(
        loss in 0u32..15, seed: u32, index in 0usize..2, same: bool,
    ) {
        let mut line = Line::new(loss, seed);
        line.up();
        while line.ends[1 - index].take_event().is_some() {}
        let numbers = stream(&mut line);
        // A restarted processor may choose the same number again.
        let session = if same { [7, 9][index] } else { 100 };
        line.ends[index] = if index == 0 { upstream(session) } else { downstream(session) };
        assert!(line.until(3000, |line| line.ends[index].is_up()));
        let other = 1 - index;
        let read = line.ends[other].poll_read(numbers[other], &context(), &mut [0; 9]);
        assert_eq!(read, Poll::Ready(Err(StreamLost)));
        line.ends[other].close(numbers[other]);
        line.up();
        let numbers = stream(&mut line);
        carry(&mut line, 0, numbers, &[1, 2, 3]);
    }
}

#[test]
fn silent_board_is_down_until_it_answers() {
    let mut line = Line::new(0, 1);
    line.up();
    assert_eq!(
        [line.ends[0].take_event(), line.ends[1].take_event()],
        [Some(Event::Up); 2]
    );
    line.loss = 100;
    assert!(line.until(1500, |line| line.ends.iter().all(|end| !end.is_up())));
    assert_eq!(
        [line.ends[0].take_event(), line.ends[1].take_event()],
        [Some(Event::Down); 2]
    );
    assert_eq!(line.ends[0].open(SERVICE, 3), None);
    line.loss = 0;
    line.up();
    assert_eq!(
        [line.ends[0].take_event(), line.ends[1].take_event()],
        [Some(Event::Up); 2]
    );
}

#[test]
fn ping_is_answered() {
    let mut line = Line::new(20, 5);
    line.up();
    line.ends[0].ping(b"there?");
    assert!(line.until(1000, |line| line.ends[0].pongs == 1));
}

#[test]
fn unknown_service_and_surplus_stream_are_refused() {
    let mut line = Line::new(0, 1);
    line.up();
    let unknown = line.ends[0].open(99, 3).unwrap();
    assert!(line.until(100, |line| line.now > 50_000));
    assert_eq!(
        line.ends[0].poll_read(unknown, &context(), &mut [0; 9]),
        Poll::Ready(Err(StreamLost))
    );
    line.ends[0].close(unknown);
    for _ in 0..STREAMS {
        stream(&mut line);
    }
    assert_eq!(line.ends[0].open(SERVICE, 3), None);
}

#[test]
fn unread_stream_does_not_block_another() {
    let mut line = Line::new(0, 1);
    line.up();
    let (slow, fast) = (stream(&mut line), stream(&mut line));
    for _ in 0..500 {
        let _ = line.ends[0].poll_write(slow[0], &context(), &[0; 1000]);
        line.step();
    }
    assert!(line.ends[0].poll_write(slow[0], &context(), &[0; 1000]).is_pending());
    let bytes: Vec<u8> = (0..30_000).map(|n| n as u8).collect();
    carry(&mut line, 0, fast, &bytes);
}

#[test]
fn stream_to_board_behind_is_accepted_only_by_a_relay() {
    let mut line = Line::new(10, 3);
    line.up();
    let refused = line.ends[0].open(SERVICE, 4).unwrap();
    assert!(line.until(1000, |line| line.now > 500_000));
    let read = line.ends[0].poll_read(refused, &context(), &mut [0; 9]);
    assert_eq!(read, Poll::Ready(Err(StreamLost)));
    line.ends[0].close(refused);
    line.ends[1] = downstream(RELAY);
    assert!(line.until(3000, |line| line.ends[1].is_up()));
    line.up();
    let number = line.ends[0].open(77, 4).unwrap();
    let own = line.ends[0].open(SERVICE, 3).unwrap();
    assert!(line.until(1000, |line| line.ends[1].has_stream(SERVICE)
        && line.ends[1].has_stream(77)));
    let Poll::Ready(accepted) = line.ends[1].poll_accept_for_others(&context()) else {
        panic!("not accepted");
    };
    assert_eq!((accepted.destination, accepted.service), (4, 77));
    assert!(line.ends[1].poll_accept_for_others(&context()).is_pending());
    assert!(line.ends[1].poll_accept(SERVICE, &context()).is_ready());
    carry(&mut line, 0, [number, accepted.number], &[4, 5, 6]);
    line.ends[0].close(own);
}

#[test]
fn new_destination_restarts_the_session() {
    let mut line = Line::new(0, 1);
    line.up();
    let epoch = line.ends[1].transport().epoch();
    line.ends[0].set_destination(3);
    assert!(line.ends[0].is_up());
    line.ends[0].set_destination(5);
    assert!(!line.ends[0].is_up());
    line.up();
    assert_eq!(line.ends[1].destination(), Some(5));
    assert_ne!(line.ends[1].transport().epoch(), epoch);
}
